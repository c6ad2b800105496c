"""Plans of functions of a state: arguments of an operation, its kernel, and what it leaves or returns."""

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from .. import operations
from ..owed import OWED
from .form import Form, register
from .tree import couple, take_motion


class _How(NamedTuple):
    """What a kernel is given, and what of that is returned."""

    given: str  # as ``Form.run`` takes it; ``f``: external forces, or nothing
    copies: str = ""  # arrays of which copies are returned
    saves: str = ""  # arguments of the kernel that are copied to arrays of that name
    keeps: str = ""  # where the state is kept, for functions that are not given one
    energy: str = ""  # which energy is returned
    couples: bool = False  # whether the kernel reads the coupling G of the tree, which must be brought to the state


def _declared(one: operations.Function) -> _How:
    vectors = " ".join({"0": "zeros"}.get(name, name) for name in one.takes.split() if "fext" not in name)
    shape = {"vector": " =nv", "matrix": " =matrix"}.get(one.operation.result, "")
    keeps = "after_aba" if one.operation == operations.ABA else ""
    return _How(vectors + shape, keeps=keeps, energy="" if shape else one.gives)


_VECTORS = ("q", "v", "a", "tau", "zeros")
_ENERGIES = ("kinetic_energy", "potential_energy", "mechanical_energy")
_HOW = {
    **{one.name: _declared(one) for one in operations.DIRECT_FUNCTIONS},
    "computeRNEADerivatives": _How("q v a f tau dtau_dq dtau_dv M -", "dtau_dq dtau_dv M", keeps="after_rnea"),
    "computeGeneralizedGravityDerivatives": _How("q zeros zeros - unasked dtau_dq dtau_dv scratch -", "dtau_dq"),
    "computeStaticTorqueDerivatives": _How("q zeros zeros f unasked dtau_dq dtau_dv scratch -", "dtau_dq"),
    "computeCoriolisMatrix": _How("q v zeros - unasked - C scratch -", "C", keeps="after_rnea"),
    "computeCentroidalDynamicsDerivatives": _How(
        "q v a - unasked - - - total", "dh_dq dhdot_dq dhdot_dv dhdot_da", keeps="after_rnea"
    ),
    "computeABADerivatives": _How(
        "aba aba_tables derivatives velocities sides factors q v tau ddq f unasked dtau_dq dtau_dv M - +matrix +matrix "
        "+matrix",
        saves="ddq_dq ddq_dv Minv",
        keeps="after_aba",
    ),
    "computeJointTorqueRegressor": _How("q v a +regressor", couples=True),
    "computeStaticRegressor": _How("q - static - -", "static"),
    "computeKineticEnergyRegressor": _How("q v - kinetic -", "kinetic", couples=True),
    "computePotentialEnergyRegressor": _How("q - - - potential", "potential"),
}
_MASS_MATRIX = ("crba", "computeRNEADerivatives", "computeABADerivatives")
"""Functions whose kernel writes the mass matrix, of which users see a copy: they may write there."""
_SAME_AS = {
    "getCoriolisMatrix": "computeCoriolisMatrix",
    "getCentroidalDynamicsDerivatives": "computeCentroidalDynamicsDerivatives",
}
"""Functions that have no arguments of their own, and what they compute."""
_LAST = {
    "computeABADerivatives": "after_aba",
    "computeMinverse": "after_aba",
    "getCoriolisMatrix": "after_rnea",
    "getCentroidalDynamicsDerivatives": "after_rnea",
    "computeKineticEnergy": "motion",
    "computeMechanicalEnergy": "motion",
    "computePotentialEnergy": "motion",
}
"""Where the state is of functions that are not given one."""


def of_state(data: Any, function: Any) -> tuple[Any, ...]:
    """Return the plans of a function of a state, without external forces and with them."""
    name = function.__name__
    one, last = operations.STATE_FUNCTIONS_BY_NAME[_SAME_AS.get(name, name)], _LAST.get(name)
    kinds = (True,) if "fext" in one.inputs else (False, True) if one.forced else (False,)
    found = [] if name in _SAME_AS else [_plan(data, function, one, forced) for forced in kinds]
    if last is not None:
        found += [_plan(data, function, one, forced, last) for forced in kinds]
    return tuple(plan for plan in found if plan is not None)


def _take_last(form: Form, last: str, vectors: list[str]) -> None:
    """Take the state from where another function left it."""
    nq, nv = form.model.nq, form.model.nv
    if last == "motion":
        form.arrays |= take_motion(form, vectors)
        return
    kept = form.room(last)
    third = "tau" if last == "after_aba" else "a"
    form.arrays |= {"q": kept[:nq], "v": kept[nq : nq + nv], third: kept[nq + nv :]}
    form.checks += [("finite", form.size(name), form.word(name)) for name in vectors]


def _code_of(data: Any, name: str, operation: operations.Operation, forced: bool) -> int:
    return int(data._code_with_forces(operation.name) if forced else data._code(name, operation.name))


def _plan(data: Any, function: Any, one: operations.Function, forced: bool, last: str = "") -> Any:
    name, operation, how = one.name, one.operation, _HOW[one.name]
    missing = one.tables == "regressor" and data._regressors is None
    tables = None if missing else data._pointers["forced" if forced and operation.group == "data" else one.tables]
    code, numbers = _code_of(data, name, operation, forced), dict[str, int]()
    if operation == operations.ABA_DERIVATIVES:  # which calls two others; forces are theirs
        code = data._code(name, operation.name)
        numbers["aba"] = _code_of(data, "aba", operations.ABA, forced)
        numbers["derivatives"] = _code_of(data, "computeRNEADerivatives", operations.RNEA_DERIVATIVES, forced)
        numbers["aba_tables"] = data._pointers["forced" if forced else "ddq"].address
    if not code or not all(numbers.values()) or tables is None:
        return None
    state = [name for name in one.inputs if name != "fext"]
    inputs = [*([] if last else state), *[("q" if last else "fext")] * forced]
    form = Form(data, function, " ".join(inputs), "out" if "=" in how.given else "")
    if "convention" in form.positions:  # nothing depends on it; it may take the place of external forces
        for argument in ("convention", *["fext"] * (one.forced and not forced)):
            form.allow(argument, ("choice", form.positions[argument], pin.Convention, 0, register()))
    if forced:
        form.forces("q" if last else "fext")
    if last:
        _take_last(form, last, state)
    given = how.given.replace(" f ", " forced " if forced else " - ")
    if how.couples and not couple(form, "v"):
        return None
    form.run(operation, code, tables, given, numbers)
    vectors = [x for x in given.split() if x in _VECTORS and (x in one.inputs or x == "zeros")]
    if operation == operations.ABA_DERIVATIVES:  # which writes accelerations before it reads these again
        form.checks += [("apart", form.size(x), form.word(x), data._ddq.size, data._ddq) for x in ("q", "v")]
    if how.keeps and not last:
        form.keep(form.room(how.keeps), vectors[:3], form.before)
    if name in _MASS_MATRIX:
        form.work.append(("copy", data._M.size, data._M, data._M_kernel))
    if forced and operation.group == "data":
        form.save(form.room("ddq" if "tau" in one.inputs else "tau"), "out")
    for array in how.saves.split():
        form.save(form.room(array), array)
    if last != "motion":
        form.owes(OWED.get(f"{name} with forces" if forced else name, OWED[name]), vectors)
    if how.energy:
        form.results.append(("number", leave_energies(form, how.energy)))
    form.copied(*map(form.room, how.copies.split()))
    return form.plan()


def leave_energies(form: Form, which: str = "mechanical_energy") -> np.ndarray:
    """Leave an energy in the data, the mechanical one with its two parts; return where it is."""
    found, kept = form.room("energies"), form.room("kept")
    for i, name in enumerate(_ENERGIES[:2]):
        if which in (name, _ENERGIES[2]):
            form.work.append(("copy", 1, kept[i : i + 1], found[i : i + 1]))
    if which == _ENERGIES[2]:
        form.work.append(("sum", kept[:1], kept[1:2], kept[2:]))
    i = _ENERGIES.index(which)
    return kept[i : i + 1]
