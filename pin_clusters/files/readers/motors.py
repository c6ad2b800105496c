"""Motors that are stated beside a robot, in a file or a mapping: checked by the table of keys, made into rotors."""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np

from ...constraints import Motor, Rotor
from ...constraints.motor_catalogue import motor_of
from ...errors import LoadError, did_you_mean
from ...model import ClusterModel
from ..motor_keys import FILE, FRICTION, GEAR, MOTOR, TEXT, Key, Number
from ._arguments import read_file
from ._numbers import number
from ._xml import in_words_of
from ._yaml import read_yaml


class Given(NamedTuple):
    """A value as it is given, and where: None, text, ``dict[str, Given]`` or ``list[Given]``."""

    value: Any
    where: str


_OF_MOTOR = {f.name for f in fields(Motor)}.intersection({*MOTOR, *FRICTION, *GEAR}) - {
    "name",
    "source",
    "ratio",
    "rotor_inertia",
}
Motors = str | os.PathLike[str] | Mapping[str, Any]


def with_motors(model: ClusterModel, motors: Motors, where: str = "motors") -> ClusterModel:
    """Return a robot with motors, given by a file or by what would stand in one, on its joints.

    Each is a `Rotor`, each further stage with an inertia another one that no motor drives. What does not fit the table
    of keys, or the robot, is a ``LoadError`` with its line.
    """
    if isinstance(motors, Mapping):
        given = _of_python(motors, where)
    else:
        path, text = read_file(motors, "a .motors.yaml")
        given = _of_node(read_yaml(text, repr(str(path)), nodes=True), repr(str(path)))
    tree, rotors, stated = model.own_tree.copy(), list[Rotor](), dict[str, str]()
    taken = {r.drivers[0][0]: r.name for r in model.rotors if len(r.drivers) == 1}
    limits = {"effort": np.array(tree.effortLimit), "velocity": np.array(tree.velocityLimit)}
    for motor in _table(given, FILE, "")["motors"]:
        where, told = str(motor["where"]), motor.get("limits", {})
        for joint in _joints(model, motor["joint"], where):
            i = tree.idx_vs[tree.getJointId(joint)]
            if i in taken:
                raise LoadError(f"{where}: joint {joint!r} has a rotor in the robot's file, {taken[i]!r}. Keep one.")
            with in_words_of(where):
                rotors += (made := list(_rotors(joint, motor)))
                made[0].resolve(tree)  # which asks what armature means
            for what in (*(f"motor {r.name!r}" for r in made), *[f"limits of joint {joint!r}"] * bool(told)):
                if what in stated:
                    raise LoadError(f"{where}: there is {what} already, {stated[what]}. Keep one, or name them apart.")
                stated[what] = where
            gear = abs(made[0].ratios[0]) if told.get("at") == "motor" else 1.0  # type: ignore[index]
            for key in limits.keys() & told.keys():
                limits[key][i] = told[key] * (gear if key == "effort" else 1.0 / gear)
    tree.effortLimit, tree.velocityLimit = limits.values()
    pose, wishes = model._wishes
    return ClusterModel(
        tree, (*model.constraints, *rotors), pose, independent=wishes, preferred=model.preferred, name=model.name,
        collision=model.collision,
    )  # fmt: skip


def _joints(model: ClusterModel, pattern: str, where: str) -> list[str]:
    """Return the joints of that name, or those that a pattern fits."""
    names = [str(n) for n, nv in zip(model.own_tree.names, model.own_tree.nvs, strict=True) if nv == 1]
    some = [n for n in names if fnmatchcase(n, pattern) or fnmatchcase(n.removesuffix("_joint"), pattern)]
    if pattern not in names and not some:
        raise LoadError(f"{where}: no joint of one degree of freedom is {pattern!r}.{did_you_mean(pattern, names)}")
    return [pattern] if pattern in names else some


def _rotors(joint: str, motor: Mapping[str, Any]) -> Iterator[Rotor]:
    """Return the rotor of a motor, and those of the further stages of its gear, each with its own speed."""
    stages, how = motor.get("stages", [motor]), dict[str, Any](armature=motor.get("armature"))
    ratios, name = [stage["ratio"] for stage in stages if "ratio" in stage], motor.get("name", f"rotor:{joint}")
    total = math.prod(ratios) if ratios else None  # that of the model then
    yield Rotor(
        joint, total, axial_inertia=motor.get("rotor_inertia"), name=name, motor=_motor(motor),  # type: ignore[arg-type]
        **how,
    )  # fmt: skip
    for k, stage in enumerate(stages, 1):
        if "inertia" in stage:
            more = {"axial_inertia": stage["inertia"], "driven": False, "name": f"{name}_stage_{k}"}
            yield Rotor(joint, math.prod(ratios[k:]), **more, **how)


def _motor(keys: Mapping[str, Any]) -> Motor | None:
    """Return what a motor can give and loses, None where nothing is said of it."""
    given = {k: x for k, x in {**keys, **keys.get("friction", {}), **keys.get("gear", {})}.items() if k in _OF_MOTOR}
    if not given and "model" not in keys:
        return None
    motor = motor_of(keys["model"], "model") if "model" in keys else Motor()
    return replace(motor, **given, source=keys.get("source", motor.source))


# --- what is given, and the table that it has to fit ------------------------------------------------------------------


def _of_python(value: Any, where: str) -> Given:
    if isinstance(value, Mapping):
        return Given({str(k): _of_python(x, f"{where}[{k!r}]") for k, x in value.items()}, where)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return Given([_of_python(x, f"{where}[{i}]") for i, x in enumerate(value)], where)
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        return Given(str(value) if isinstance(value, int) else repr(float(value)).removesuffix(".0"), where)
    return Given(value if value is None else str(value), where)


def _of_node(node: Any, source: str, key: Any = None) -> Given:
    """Return what PyYAML composed; the line of a value is that of its key."""
    where = f"{source}, line {(key or node).start_mark.line + 1 if node else 1}"
    if node is None or node.tag.endswith(":null"):
        return Given(None, where)
    if node.id == "mapping":
        return Given({k.value: _of_node(x, source, k) for k, x in node.value}, where)
    return Given([_of_node(x, source) for x in node.value] if node.id == "sequence" else node.value, where)


def _table(given: Given, table: dict[str, Key], owner: str) -> dict[str, Any]:
    """Return a mapping that has the keys of a table, their values as they are meant."""
    if not isinstance(given.value, dict):
        raise LoadError(f"{given.where}: expected keys and values{owner}, such as {next(iter(table))}: ...")
    if table is MOTOR and isinstance(joint := given.value.get("joint", given).value, str):
        owner = f" of joint {joint!r}"
    for key, value in given.value.items():
        if key not in table:
            raise LoadError(f"{value.where}: unknown key {key!r}{owner}.{did_you_mean(key, table)}")
    if missing := [key for key, x in table.items() if x.needed and key not in given.value]:
        raise LoadError(f"{given.where}: {missing[0]}{owner} is missing: {table[missing[0]].about}.")
    gears = len({"ratio", "stages"} & given.value.keys())
    if table is MOTOR and gears != 1 and not (gears == 0 and "model" in given.value):
        raise LoadError(f"{given.where}: give either ratio or stages{owner}.")
    if table is MOTOR and not {"rotor_inertia", "model"} & given.value.keys():
        raise LoadError(f"{given.where}: rotor_inertia{owner} is missing: {MOTOR['rotor_inertia'].about}.")
    place = {"where": given.value["joint"].where} if table is MOTOR else {}
    open_text = [k for k, x in given.value.items() if x.value is None and table[k].kind == TEXT and not table[k].needed]
    return {k: _value(x, k, table[k], owner) for k, x in given.value.items() if k not in open_text} | place


def _value(given: Given, name: str, key: Key, owner: str) -> Any:
    value, what, kind = given.value, f"{name}{owner}", key.kind
    if value is None:
        raise LoadError(f"{given.where}: {what} is not filled in: {key.about}.")
    if isinstance(kind, dict):
        return _table(given, kind, owner)
    if not value or isinstance(value, list) is not isinstance(kind, list) or isinstance(value, dict):
        raise LoadError(
            f"{given.where}: {what} must be {'a list' if isinstance(kind, list) else 'one value'}: {key.about}."
        )
    if isinstance(kind, list):
        return [_table(x, kind[0], owner) for x in value]
    if not isinstance(kind, Number):
        if kind != TEXT and value not in kind:
            raise LoadError(f"{given.where}: {what} must be {' or '.join(kind)}, got {value!r:.60}.")
        return value
    try:
        found = number(value, what, given.where)
    except LoadError as error:
        raise LoadError(f"{error} It is in SI units, [{kind.unit}], and written without them.") from None
    if (found == 0.0 and not kind.zero) or (found < 0.0 and not kind.signed):
        wanted = "not be negative" if kind.zero else "not be 0" if kind.signed else "be above 0"
        raise LoadError(f"{given.where}: {what} must {wanted}, got {value}.")
    return found
