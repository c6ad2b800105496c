"""Plans of functions of the spanning tree, which compute kinematics, momentum, Jacobians and frame derivatives."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pinocchio as pin

from ...kernels.tables.tree_layout import KEEP, RATES
from ..operations import COUPLING, COUPLING_DERIVATIVES, FRAME_JACOBIAN, PLACE_DERIVATIVES, PLACE_HESSIAN, TREE
from ..owed import READ_BY_JACOBIANS, READ_BY_RATES, WHAT, Owed, bits, owing_of, written
from .form import Form, Plans, register


def begin(data: Any, function: Any, operation: Any, required: str, allowed: str = "") -> tuple[Form, int] | None:
    """Return the form of a call that changes the tree's data, and the kernel's address; None if no plan is possible."""
    code = data._code(function.__name__, operation.name)
    if not code or data._other_fields or data._model.tables.tree.settles:
        return None
    form = Form(data, function, required, allowed)
    form.reads_tree()
    return form, code


def couple(form: Form, v: str = "zeros", *, rate: bool = False) -> bool:
    """Add a step that evaluates the coupling matrix G at q (``rate``: also dG/dt); return False if code is missing."""
    data, name = form.owner, "coupling_rate" if rate else "coupling"
    if not data._model.closures:
        return True
    code = data._code(name, COUPLING.name)
    if code:
        form.run(COUPLING, code, data._pointers[name], f"q {v}", early=True)
    return bool(code)


def differentiate(form: Form, given: str, to: Any) -> bool:
    """If there are loops, add a step that evaluates derivatives of the matrix G; return False if code is missing."""
    data = form.owner
    if not data._model.closures:
        return True
    code = data._code("", COUPLING_DERIVATIVES.name)
    if code:
        tables = data._pointers["motion_rates"]
        form.run(COUPLING_DERIVATIVES, code, tables, f"{given} found", arrays={"found": to}, early=True)
    return bool(code)


def take_motion(form: Form, vectors: list[str]) -> dict[str, np.ndarray]:
    """Return the arrays with the last q, v and a in the tree's data, by name; add checks that they are valid."""
    data, level = form.owner, len(vectors) - 1
    prefix = "seen" if level else "posed"
    status = data._section(prefix, 1)
    form.checks += [("owes", data._owed_words, bits(("oMi", "v", "a")[level])), ("reaches", status, max(level, 1))]
    return {name: data._section(f"{prefix}_{name}", form.size(name)) for name in vectors}


def run_tree(form: Form, code: int, what: int, given: str, *, moved: bool = False, also: Owed | None = None) -> Any:
    """Add a step that runs the tree's kernel with the vectors ``given``; the call owes the members in ``what``."""
    data, level = form.owner, len(given.split()) - 1
    selection = what & WHAT | (KEEP if data._model.closures else 0)
    vectors = [*given.split(), *["-"] * (2 - level)]
    tables = data._moved_tables if moved else data._tree_tables
    words = form.run(TREE, code, tables, " ".join(["what", *vectors]), {"what": selection})
    owed = also or owing_of(what)
    zeros = ["zeros" if x == "-" else x for x in vectors]
    form.owes(owed, zeros if owed.owes else [], written(selection, level) | owed.clears)
    return words


_ONLY_CALLED = 12  # larger than any number of results, so that the plan returns none


def of_tree(
    what: int,
    *inputs: str,
    copies: str = "",
    copy_of: str = "",
    moved: bool = False,
    last: str = "",
    then: Callable[[Form], None] | None = None,
    flag: tuple[str, int] | None = None,
    level_at: tuple[str, ...] = ("",),
) -> Plans:
    """Return the plans of a function that runs the spanning tree's kernel.

    Args:
        what: Bits of the results to compute and of the members that the call owes.
        inputs: Names of the vectors in each call form.
        copies: Name of an array in the data; the call returns a copy of this array.
        copy_of: Name of a Pinocchio object in the data; the call returns a copy of this object.
        moved: Whether the kernel computes derivatives of the motion.
        last: Names of the stored vectors (q, v or a of an earlier call) that calls without a state use.
        then: Function that adds steps after the kernel.
        flag: Name of a boolean argument, and the results to compute if this argument is False. The argument can also be
            passed by position, after q, v or a.
        level_at: Names of arguments that accept a ``pin.KinematicLevel``; the value must be the highest level of the
            vectors in ``last``. The default level is ``pin.ACCELERATION``.
    """

    def plans(data: Any, function: Any) -> tuple[Any, ...]:
        forms = [(state, "", *values) for state in inputs for values in _flags(function, state)]
        forms += [("", name, *x) for name in level_at if last for x in _flags(function, "q" if name == "q" else "")]
        form_plans = []
        for state, level_name, flag_name, truth in forms:
            form = _written(data, function, state, what if truth or flag is None else flag[1])
            if form is None:
                return ()
            if flag_name:
                form.allow(flag_name, ("flag", form.positions[flag_name], int(truth), 1))
            if level_name:
                level, position = len(last.split()) - 1, form.positions[level_name]
                form.allow(level_name, ("member", position, pin.KinematicLevel, level, int(pin.ACCELERATION)))
            form_plans.append(form.plan(_ONLY_CALLED if then else 0))
        return tuple(form_plans)

    def _flags(function: Any, given: str) -> list[tuple[str, bool]]:
        if flag is None:
            return [("", True)]
        behind = [name for name, i in function.positions.items() if i == 2 + len(given.split()) and name != flag[0]]
        return [(name, truth) for name in (flag[0], *behind) for truth in (True, False)]

    def _written(data: Any, function: Any, given: str, wanted: int) -> Form | None:
        begun, names = begin(data, function, TREE, given), (given or last).split()
        if begun is None:
            return None
        form, code = begun
        if not given:
            motion = take_motion(form, names)
            if level_at[0] and len(names) > 1:  # The links must still be at the q of the stored motion.
                nq = data._model.nq
                form.checks.append(("alike", nq, motion["q"], data._section("posed_q", nq)))
            for name, x in motion.items():  # copied, because the kernel overwrites the last motion
                form.arrays[name] = np.zeros(x.size)
                form.before.append(("copy", x.size, form.arrays[name], x))
        state = " ".join([*names, *["zeros"] * (3 - len(names))])
        if moved and not differentiate(form, state, data._coupled.ravel()):
            return None
        if not couple(form, names[1] if len(names) > 1 else "zeros", rate=bool(wanted & RATES)):
            return None
        run_tree(form, code, wanted, " ".join(names), moved=moved)
        if then is not None:
            then(form)
        if copies:
            form.copied(getattr(data, copies))
        if copy_of:
            form.call(getattr(data, copy_of).copy)
        return form

    return plans


def take_place(form: Form, words: Any, kind: str, place: str, reference: str | None, default: int = -1) -> None:
    model = form.owner._model
    limit, offset = (model.nframes, model.njoints) if kind == "frame" else (model.njoints, 0)
    form.checks.append(("index", form.positions[place], limit, offset, words.word("place")))
    if reference is not None:
        form.checks.append(("choice", form.positions[reference], pin.ReferenceFrame, default, words.word("reference")))


def of_jacobian(
    kind: str,
    index: str,
    reference: str | None = "reference_frame",
    *,
    q: str = "",
    rate: bool = False,
    default: int = -1,
) -> Plans:
    def plans(data: Any, function: Any) -> tuple[Any, ...]:
        required = f"{q} {index}" + (f" {reference}" if reference and default < 0 else "")
        begun = begin(data, function, FRAME_JACOBIAN, required, reference or "")
        if begun is None or (q and not couple(begun[0])):
            return ()
        form, code = begun
        if not q:
            read = READ_BY_RATES if rate else READ_BY_JACOBIANS
            form.checks.append(("owes", data._owed_words, read))
        numbers = {"rate": 2 * rate, "reference": max(default, 0)}
        words = form.run(FRAME_JACOBIAN, code, data._tree_tables, f"{q or '-'} . reference rate - +motion", numbers)
        take_place(form, words, kind, index, reference, default)
        return (form.plan(),)

    return plans


AT_A_PLACE = {
    "model": 0,
    "data": 1,
    "_index": 2,
    "_second": 3,
    "placement": 3,
    "frame_placement": 3,
    "reference_frame": 4,
    "frame_id": 5,
    "joint_id": 6,
}
"""Argument positions for two call forms: (frame, reference frame) and (joint, placement, reference frame). ``_index``
and ``_second`` are the first two arguments of either form, if they are passed by position."""
_WAYS = (
    ("_index", False, "_second"),
    ("_index", True, "reference_frame"),
    ("_index", False, "reference_frame"),
    ("frame_id", False, "reference_frame"),
    ("joint_id", True, "reference_frame"),
)


def _ways(function: Any) -> Iterable[tuple[str, bool, str, bool]]:
    """Return call forms as (index argument, has a placement, reference argument, whether the index denotes a frame)."""
    if "_index" in function.positions:
        return [(index, placed, reference, not placed) for index, placed, reference in _WAYS]
    return [("joint_id", "placement" in function.positions, "reference_frame", False)]


def of_jacobian_at_place(data: Any, function: Any) -> tuple[Any, ...]:
    def write(form: Form, code: int, M: str) -> Any:
        form.checks.append(("owes", data._owed_words, READ_BY_JACOBIANS))
        return form.run(FRAME_JACOBIAN, code, data._tree_tables, f"- . . rate {M} +motion", {"rate": 0})

    return _at_places(data, function, FRAME_JACOBIAN, write)


def of_derivatives(level: int, shape: str = "motion") -> Plans:
    """Return plans for derivatives of the velocity (level 1) or acceleration (level 2) of a joint, frame or point.

    ``shape`` names the shape of each matrix: ``motion`` or ``of_point``.
    """

    def write(form: Form, code: int, M: str) -> Any:
        tables = form.owner._moved_tables
        if level == 1:
            return form.run(PLACE_DERIVATIVES, code, tables, f". . {M} +{shape} +{shape} -- --")
        # The call returns dv_dq, da_dq, da_dv, da_da. The order in the kernel is dv_dq, da_da, da_dq, da_dv.
        words = form.run(PLACE_DERIVATIVES, code, tables, f". . {M} +{shape} +{shape} +{shape} +{shape}")
        *_, second, third, fourth, run = form.work
        form.work[-4:] = [third, fourth, second, run]
        return words

    return partial(_at_places, operation=PLACE_DERIVATIVES, write=write)


def _at_places(data: Any, function: Any, operation: Any, write: Callable[[Form, int, str], Any]) -> tuple[Any, ...]:
    plans = []
    for index, placed, reference, of_frame in _ways(function):
        begun = begin(data, function, operation, " ".join([index, *["placement"] * placed, reference]))
        if begun is None:
            return ()
        form, code = begun
        if placed:
            form.arrays["placed"] = M = np.zeros(16)
            form.checks.append(("placement", form.positions["placement"], 16, M))
        words = write(form, code, "placed" if placed else "-")
        take_place(form, words, "frame" if of_frame else "joint", index, reference)
        plans.append(form.plan())
    return tuple(plans)


def of_hessian() -> Plans:
    def write(form: Form, code: int, M: str) -> Any:
        data = form.owner
        if data._model.closures:
            bent = data._bent[-1:]
            form.checks.append(("reaches", bent, 1))
            inner = Form(data, _Nothing, "")
            inner.arrays["bent_q"] = data._bent[:-1]
            if differentiate(inner, "bent_q - -", data._bends):
                form.kept += [*inner.kept, inner]
                done = inner.before + inner.work + [("set", bent.view("i8"), _DIFFERENTIATED)]
                form.work.append(("unless", bent.view("i8"), _DIFFERENTIATED, done))
        return form.run(PLACE_HESSIAN, code, data._tree_tables, f". . {M} +hessian")

    return partial(_at_places, operation=PLACE_HESSIAN, write=write)


class _Nothing:
    positions: ClassVar[dict[str, int]] = {"model": 0}  # The inner steps have no arguments of the user's call.


THERE = 0x3FF0000000000000
"""The bits of the number 1.0, which mark that a stored state is valid."""
_DIFFERENTIATED = 0x4000000000000000  # the bits of 2.0, which mark that derivatives of G are valid as well


def of_pinocchio(form: Form, function: Any, *given: Any, read: int = 0, inertia: bool = False) -> Any:
    """Return the plan of a call that runs a function of Pinocchio on the tree.

    ``given`` contains the names of the function's arguments after model and data. ``read`` contains the bits of the
    members that the function reads; none may be owed. If ``inertia``, the tree includes the masses of the rotors.
    """
    data, model = form.owner, form.model
    if read:
        form.checks.append(("owes", data._owed_words, read))
    tree = model.inertia_tree if inertia else model.own_tree
    form.call(function, tree, data._tree, *(form.positions[x] for x in given))
    return form.plan()


def of_getter(getter: Any, read: int) -> Plans:
    """Return the plans of a function that calls a getter of Pinocchio.

    ``read`` contains the bits of the members that the getter reads, none of which may be owed. For reference frames
    other than ``LOCAL``, the getter also reads ``oMi``.
    """

    def plans(data: Any, function: Any) -> tuple[Any, ...]:
        return tuple(_get(data, function, spec, axes) for spec in _ways(function) for axes in ("", "local", "any"))

    def _get(data: Any, function: Any, specification: tuple[str, bool, str, bool], axes: str) -> Any:
        index, placed, reference, of_frame = specification
        names = [index, *["placement"] * placed, *[reference] * bool(axes)]
        form = Form(data, function, " ".join(names))
        position_of, limit = form.positions, data._model.nframes if of_frame else data._model.njoints
        form.checks.append(("index", position_of[index], limit, 0, register()))
        if placed:
            form.checks.append(("placement", position_of["placement"], 16, np.zeros(16)))
        if axes == "local":
            form.checks.append(("member", position_of[reference], pin.ReferenceFrame, int(pin.LOCAL), -1))
        elif axes:
            form.checks.append(("choice", position_of[reference], pin.ReferenceFrame, -1, register()))
        form.checks.append(("owes", data._owed_words, read if axes != "any" else read | bits("oMi")))
        return of_pinocchio(form, getter, *names)

    return plans
