"""Plans of functions of a state (q, v, a or tau), such as ``rnea``."""

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from .. import operations
from ..owed import OWED
from .form import Form, register
from .tree import couple, take_motion


class _How(NamedTuple):
    """The arguments that a function passes to its kernel, and the results that it returns."""

    arguments: str  # as ``given`` in ``Form.run``; ``f`` stands for the external forces or an empty vector
    copies: str = ""  # names of arrays; copies of them are returned
    saves: str = ""  # names of kernel arguments that are copied to the arrays with the same names
    keeps: str = ""  # name of the array that stores the state for later calls without a state
    energy: str = ""  # name of the energy that is returned
    couples: bool = False  # whether the kernel reads the coupling matrix G, which must be evaluated before


def _declared(one: operations.Function) -> _How:
    vectors = " ".join({"0": "zeros"}.get(name, name) for name in one.takes.split() if "fext" not in name)
    shape = {"vector": " =nv", "matrix": " =matrix"}.get(one.operation.result, "")
    keeps = "after_aba" if one.operation == operations.ABA else ""
    return _How(vectors + shape, keeps=keeps, energy="" if shape else one.gives)


_VECTORS = ("q", "v", "a", "tau", "zeros")
_ENERGIES = ("kinetic_energy", "potential_energy", "mechanical_energy")
_HOW = {
    **{x.name: _declared(x) for x in operations.DIRECT_FUNCTIONS},
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
"""Functions whose kernel writes the mass matrix; these functions return a copy, which users may modify."""
_SAME_AS = {
    "getCoriolisMatrix": "computeCoriolisMatrix",
    "getCentroidalDynamicsDerivatives": "computeCentroidalDynamicsDerivatives",
}
"""For each function without a state argument: the function whose results for the last state it returns."""
_LAST = {
    "computeABADerivatives": "after_aba",
    "computeMinverse": "after_aba",
    "getCoriolisMatrix": "after_rnea",
    "getCentroidalDynamicsDerivatives": "after_rnea",
    "computeKineticEnergy": "motion",
    "computeMechanicalEnergy": "motion",
    "computePotentialEnergy": "motion",
}
"""For each function, the name of the array that stores the last state; calls without a state use this state."""


def of_state(data: Any, function: Any) -> tuple[Any, ...]:
    name = function.__name__
    declaration, last = operations.STATE_FUNCTIONS_BY_NAME[_SAME_AS.get(name, name)], _LAST.get(name)
    kinds = (True,) if "fext" in declaration.inputs else (False, True) if declaration.forced else (False,)
    plans = [] if name in _SAME_AS else [_plan(data, function, declaration, forced) for forced in kinds]
    if last is not None:
        plans += [_plan(data, function, declaration, forced, last) for forced in kinds]
    return tuple(plan for plan in plans if plan is not None)


def _take_last(form: Form, last: str, vectors: list[str]) -> None:
    nq, nv = form.model.nq, form.model.nv
    if last == "motion":
        form.arrays |= take_motion(form, vectors)
        return
    state = form.result_array(last)
    third = "tau" if last == "after_aba" else "a"
    form.arrays |= {"q": state[:nq], "v": state[nq : nq + nv], third: state[nq + nv :]}
    form.checks += [("finite", form.size(name), form.word(name)) for name in vectors]


def _code_of(data: Any, name: str, operation: operations.Operation, forced: bool) -> int:
    return int(data._code_with_forces(operation.name) if forced else data._code(name, operation.name))


def _plan(data: Any, function: Any, one: operations.Function, forced: bool, last: str = "") -> Any:
    name, operation, how = one.name, one.operation, _HOW[one.name]
    missing = one.tables == "regressor" and data._regressors is None
    tables = None if missing else data._pointers["forced" if forced and operation.group == "data" else one.tables]
    code, numbers = _code_of(data, name, operation, forced), dict[str, int]()
    if operation == operations.ABA_DERIVATIVES:  # computeABADerivatives calls two other kernels.
        code = data._code(name, operation.name)
        numbers["aba"] = _code_of(data, "aba", operations.ABA, forced)
        numbers["derivatives"] = _code_of(data, "computeRNEADerivatives", operations.RNEA_DERIVATIVES, forced)
        numbers["aba_tables"] = data._pointers["forced" if forced else "ddq"].address
    if not code or not all(numbers.values()) or tables is None:
        return None
    state = [name for name in one.inputs if name != "fext"]
    inputs = [*([] if last else state), *[("q" if last else "fext")] * forced]
    form = Form(data, function, " ".join(inputs), "out" if "=" in how.arguments else "")
    # The argument ``convention`` has no effect. As a positional argument, it may replace the external forces.
    if "convention" in form.positions:
        for argument in ("convention", *["fext"] * (one.forced and not forced)):
            form.allow(argument, ("choice", form.positions[argument], pin.Convention, 0, register()))
    if forced:
        form.forces("q" if last else "fext")
    if last:
        _take_last(form, last, state)
    arguments = how.arguments.replace(" f ", " forced " if forced else " - ")
    if how.couples and not couple(form, "v"):
        return None
    form.run(operation, code, tables, arguments, numbers)
    vectors = [x for x in arguments.split() if x in _VECTORS and (x in one.inputs or x == "zeros")]
    # This kernel writes accelerations before it reads q and v again, so these arrays must not overlap.
    if operation == operations.ABA_DERIVATIVES:
        form.checks += [("apart", form.size(x), form.word(x), data._ddq.size, data._ddq) for x in ("q", "v")]
    if how.keeps and not last:
        form.keep(form.result_array(how.keeps), vectors[:3], form.before)
    if name in _MASS_MATRIX:
        form.work.append(("copy", data._M.size, data._M, data._M_kernel))
    if forced and operation.group == "data":
        form.save(form.result_array("ddq" if "tau" in one.inputs else "tau"), "out")
    for array in how.saves.split():
        form.save(form.result_array(array), array)
    if last != "motion":
        form.owes(OWED.get(f"{name} with forces" if forced else name, OWED[name]), vectors)
    if how.energy:
        form.results.append(("number", leave_energies(form, how.energy)))
    form.copied(*map(form.result_array, how.copies.split()))
    return form.plan()


def leave_energies(form: Form, which: str = "mechanical_energy") -> np.ndarray:
    """Add steps that store an energy (and the terms of a mechanical energy) in the data; return the energy's array."""
    computed, stored = form.result_array("energies"), form.result_array("kept")
    for i, name in enumerate(_ENERGIES[:2]):
        if which in (name, _ENERGIES[2]):
            form.work.append(("copy", 1, stored[i : i + 1], computed[i : i + 1]))
    if which == _ENERGIES[2]:
        form.work.append(("sum", stored[:1], stored[1:2], stored[2:]))
    i = _ENERGIES.index(which)
    return stored[i : i + 1]
