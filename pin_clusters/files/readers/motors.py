"""Read motors from a motor file or a mapping, check them against the table of keys, and add them as rotors."""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...constraints import Motor, Rotor
from ...constraints.motor_catalogue import motor_of
from ...errors import LoadError, did_you_mean, shown
from ...model import ClusterModel
from ..motor_keys import BOOL, FILE, MOTOR, TEXT, Key, Number
from ._arguments import read_file
from ._numbers import number
from ._xml import in_words_of
from ._yaml import MAX_DEPTH, read_yaml


class Given(NamedTuple):
    """A value with its location in the input."""

    value: Any  # None, text, ``dict[str, Given]`` or ``list[Given]``
    where: str  # location for messages, such as file and line


_OF_MOTOR = {f.name for f in fields(Motor)} - {"rotor", "name", "source", "ratio", "rotor_inertia"}
Motors = str | os.PathLike[str] | Mapping[str, Any]


def with_motors(
    model: ClusterModel, motors: Motors | None, words: Sequence[tuple[str, Mapping[str, str]]] = ()
) -> ClusterModel:
    """Add motors from a motor file or an equivalent mapping to a robot.

    Each motor becomes a ``Rotor``; each further gear stage with an inertia becomes another, undriven ``Rotor``.
    ``words`` contains further motors: pairs of a location for messages and a dictionary of keys and values as
    text. An entry that does not match the table of keys or the robot raises a ``LoadError`` with its location.
    """
    entries = list[dict[str, Any]]() if motors is None else read_motors(motors)["motors"]
    source = "motors" if motors is None or isinstance(motors, Mapping) else repr(str(motors))
    if motors is not None and not entries:
        raise LoadError(f"{source}: the motors of {model.name!r} are unknown (unknown: true). Add motors.")
    entries += [_table(Given({k: Given(x, label) for k, x in keys.items()}, label), MOTOR, "") for label, keys in words]
    tree, rotors, stated = model.own_tree.copy(), list[Rotor](), dict[str, str]()
    first = dict[str, tuple[str, bool]]()  # location of each joint's first motor, and whether the motor has a name
    rotor_of = {r.drivers[0][0]: r.name for r in model.rotors if len(r.drivers) == 1}
    limits = {"effort": np.array(tree.effortLimit), "velocity": np.array(tree.velocityLimit)}
    for motor in entries:
        where, bounds = str(motor["where"]), motor.get("limits", {})
        for joints in _driven(model, motor, where):
            joint, *_ = joints
            i = tree.idx_vs[tree.getJointId(joint)]
            with in_words_of(where):
                new_rotors = list(_rotors(joints, motor))
                if motor.get("in_file") == "true":
                    _check_in_file(model, new_rotors[0])
                    continue
            if i in rotor_of:
                raise LoadError(f"{where}: joint {joint!r} has rotor {rotor_of[i]!r} in the file. Remove one of them.")
            if joint in first and not (first[joint][1] and "name" in motor):
                cure = f"Keep one{'' if words else ', or give each motor a name if both drive the joint'}."
                raise LoadError(f"{where}: joint {joint!r} already has a motor ({first[joint][0]}). {cure}")
            first[joint] = where, "name" in motor
            rotors += new_rotors
            with in_words_of(where):
                new_rotors[0].resolve(tree)  # raises an error if armature must be 'replace' or 'keep'
            if clashes := [r.name for r in new_rotors if tree.existJointName(str(r.name))]:
                raise LoadError(f"{where}: {clashes[0]!r} is the name of a joint. Rename the motor.")
            for item in (
                *(f"motor {r.name!r}" for r in new_rotors),
                *[f"limits of joint {joint!r}"] * bool(bounds),
            ):
                if item in stated:
                    raise LoadError(f"{where}: {item} is already defined at {stated[item]}. Rename or remove one.")
                stated[item] = where
            gear = abs(new_rotors[0].ratios[0]) if bounds.get("at") == "motor" else 1.0  # type: ignore[index]
            for key in limits.keys() & bounds.keys():
                limits[key][i] = bounds[key] * (gear if key == "effort" else 1.0 / gear)
    tree.effortLimit, tree.velocityLimit = limits.values()
    pose, requested_joints = model._requested
    with in_words_of(source):
        return ClusterModel(
            tree,
            (*model.constraints, *rotors),
            pose,
            independent=requested_joints,
            preferred=model.preferred,
            name=model.name,
            collision=model.collision,
        )


def read_motors(motors: Motors) -> dict[str, Any]:
    if isinstance(motors, Mapping):
        return _table(_of_python(motors, "motors"), FILE, "")
    path, text = read_file(motors, "a .motors.yaml")
    return _table(_of_node(read_yaml(text, repr(str(path)), nodes=True), repr(str(path))), FILE, "")


def _driven(model: ClusterModel, motor: Mapping[str, Any], where: str) -> list[dict[str, float]]:
    """Return the joints of each motor of an entry, with the turns of the gear's output per turn of each joint."""
    if "joint" in motor:
        return [{joint: 1.0} for joint in joints_of(model, motor["joint"], where)]
    fit = {pattern: joints_of(model, pattern, where) for pattern in motor["joints"]}
    for pattern, names in fit.items():
        if len(names) > 1:
            raise LoadError(f"{where}: {pattern!r} matches {len(names)} joints, such as {names[0]!r}. List each joint.")
    return [{names[0]: motor["joints"][pattern] for pattern, names in fit.items()}]


def _check_in_file(model: ClusterModel, stated: Rotor) -> None:
    tree, is_close = model.own_tree, partial(math.isclose, rel_tol=1e-3)
    expected = {tree.idx_vs[tree.getJointId(n)]: x for n, x in zip(stated.joints, stated.ratios, strict=True)}  # type: ignore[arg-type]
    for r in model.rotors:
        drivers = dict(r.drivers)
        fits = drivers.keys() == expected.keys() and is_close(r.axial_inertia, float(stated.axial_inertia or 0.0))
        if fits and all(is_close(abs(drivers[i]), abs(x)) for i, x in expected.items()):
            return
    numbers = f"{stated.axial_inertia:g} kg m^2 and ratio {', '.join(f'{x:.6g}' for x in expected.values())}"
    raise LoadError(f"in_file is true, but the robot's file has no rotor {stated.name!r} with {numbers}.")


def joints_of(model: ClusterModel, pattern: str, where: str) -> list[str]:
    names = [str(n) for n, nv in zip(model.own_tree.names, model.own_tree.nvs, strict=True) if nv == 1]
    matches = [n for n in names if fnmatchcase(n, pattern) or fnmatchcase(n.removesuffix("_joint"), pattern)]
    follow = {model.names[row.dependent] for row in model.coupling_rows}.intersection(model.dependent_joints)
    matches = [n for n in matches if n not in follow] or matches
    if pattern not in names and not matches:
        hint = did_you_mean(pattern, names)
        raise LoadError(f"{where}: no joint with one degree of freedom matches {shown(pattern)}.{hint}")
    return [pattern] if pattern in names else matches


def _rotors(joints: Mapping[str, float], motor: Mapping[str, Any]) -> Iterator[Rotor]:
    stages, common = motor.get("stages", [motor]), dict[str, Any](armature=motor.get("armature"))
    names, turns = list(joints), np.array([*joints.values()])
    ratios = [stage["ratio"] for stage in stages if "ratio" in stage]
    name = motor.get("name", f"rotor:{'+'.join(names)}")
    total = (math.prod(ratios) * turns).tolist() if ratios else None  # None: the motor model defines the ratio.
    yield Rotor(
        names,
        total,  # type: ignore[arg-type]
        axial_inertia=motor.get("rotor_inertia"),
        name=name,
        motor=_motor(motor),
        **common,
    )
    for k, stage in enumerate(stages, 1):
        if "inertia" in stage:
            stage_fields = {"axial_inertia": stage["inertia"], "driven": False, "name": f"{name}_stage_{k}"}
            yield Rotor(names, (math.prod(ratios[k:]) * turns).tolist(), **stage_fields, **common)


def _motor(keys: Mapping[str, Any]) -> Motor | None:
    keywords = {k: x for k, x in {**keys, **keys.get("friction", {}), **keys.get("gear", {})}.items() if k in _OF_MOTOR}
    if not keywords and "model" not in keys:
        return None
    motor = motor_of(keys["model"], "model") if "model" in keys else Motor()
    return replace(motor, **keywords, source=keys.get("source", motor.source))


def _of_python(value: Any, where: str, depth: int = 0) -> Given:
    if depth > MAX_DEPTH:
        raise LoadError(f"motors: lists or mappings are nested more than {MAX_DEPTH} deep: {where}.")
    if isinstance(value, Mapping):
        keys = {k if isinstance(k, str) else shown(k): x for k, x in value.items()}
        return Given({k: _of_python(x, f"{where}[{shown(k)}]", depth + 1) for k, x in keys.items()}, where)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return Given([_of_python(x, f"{where}[{i}]", depth + 1) for i, x in enumerate(value)], where)
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        return Given(shown(int(value)) if isinstance(value, int) else repr(float(value)).removesuffix(".0"), where)
    return Given(value if value is None else str(value), where)


def _of_node(node: Any, source: str, key: Any = None) -> Given:
    """Convert a node of PyYAML; the location of a value is the line of its key."""
    where = f"{source}, line {(key or node).start_mark.line + 1 if node else 1}"
    if node is None or node.tag.endswith(":null"):
        return Given(None, where)
    if node.id == "mapping":
        return Given({k.value: _of_node(x, source, k) for k, x in node.value}, where)
    return Given([_of_node(x, source) for x in node.value] if node.id == "sequence" else node.value, where)


def _table(given: Given, table: dict[str, Key], owner: str) -> dict[str, Any]:
    if not isinstance(given.value, dict):
        raise LoadError(f"{given.where}: expected keys and values{owner}, such as {next(iter(table))}: ...")
    if table is MOTOR and isinstance(joint := given.value.get("joint", given).value, str):
        owner = f" of joint {joint!r}"
    named = "*" not in table
    for key, value in given.value.items():
        if named and key not in table:
            raise LoadError(f"{value.where}: unknown key {key!r}{owner}.{did_you_mean(key, table)}")
    if missing := [key for key, x in table.items() if x.needed and key not in given.value]:
        raise LoadError(f"{given.where}: {missing[0]}{owner} is missing: {table[missing[0]].about}.")
    if table is MOTOR and len(joint_keys := {"joint", "joints"} & given.value.keys()) != 1:
        problem = "specify either joint or joints" if joint_keys else f"joint is missing: {MOTOR['joint'].about}"
        raise LoadError(f"{given.where}: {problem}.")
    if {"joints", "limits"} <= given.value.keys():
        raise LoadError(f"{given.value['limits'].where}: an entry with joints cannot have limits. Remove them.")
    gears = len({"ratio", "stages"} & given.value.keys())
    if table is MOTOR and gears != 1 and not (gears == 0 and "model" in given.value):
        raise LoadError(f"{given.where}: specify either ratio or stages{owner}.")
    if table is MOTOR and not {"rotor_inertia", "model"} & given.value.keys():
        raise LoadError(f"{given.where}: rotor_inertia{owner} is missing: {MOTOR['rotor_inertia'].about}.")
    keys = {k: table[k if named else "*"] for k in given.value}
    location = {"where": given.value[next(iter(joint_keys))].where} if table is MOTOR else {}
    open_text = [k for k, x in given.value.items() if x.value is None and keys[k].kind == TEXT and not keys[k].needed]
    unknown = str(given.value.get("unknown", given).value).lower() == "true"
    if table is FILE and (given.value["motors"].value == []) is not unknown:
        raise LoadError(f"{given.value['motors'].where}: either list motors, or set unknown: true.")
    return location | {k: _value(x, k, keys[k], owner) for k, x in given.value.items() if k not in open_text}


def _value(given: Given, name: str, key: Key, owner: str) -> Any:
    value, label, kind = given.value, f"{name}{owner}", key.kind
    if value is None:
        raise LoadError(f"{given.where}: {label} is not filled in: {key.about}.")
    if value == {}:
        raise LoadError(f"{given.where}: {label} is empty: {key.about}.")
    if isinstance(kind, dict):
        return _table(given, kind, owner)
    if value == [] and name == "motors":
        return value
    if not value or isinstance(value, list) is not isinstance(kind, list) or isinstance(value, dict):
        raise LoadError(
            f"{given.where}: {label} must be {'a list' if isinstance(kind, list) else 'one value'}: {key.about}."
        )
    if isinstance(kind, list):
        return [_value(x, name, key._replace(kind=kind[0]), owner) for x in value]
    if not isinstance(kind, Number):
        value = value.lower() if kind == BOOL else value  # str(True) is capitalised.
        if kind != TEXT and value not in kind:
            raise LoadError(f"{given.where}: {label} must be {' or '.join(kind)}, got {value!r:.60}.")
        return value
    try:
        converted = number(value, label, given.where)
    except LoadError as error:
        raise LoadError(f"{error} Write the number in SI units, [{kind.unit}], without the unit.") from None
    if (converted == 0.0 and not kind.zero) or (converted < 0.0 and not kind.signed):
        condition = "not be negative" if kind.zero else "not be 0" if kind.signed else "be above 0"
        raise LoadError(f"{given.where}: {label} must {condition}, got {value}.")
    return converted
