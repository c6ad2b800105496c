"""Forces at rows of a constraint that the user gives: by one kernel, and by plans for the extension."""

from typing import Any

import numpy as np
import pinocchio as pin

from ..._engine import entry_points as kernels
from ..._engine.calls import Form, is_fast, register
from ..._engine.calls.state import leave_energies
from ..._engine.kernels.tables import contacts_layout as at
from ..._engine.operations import ABA, COLUMNS, CRBA, ENERGY, ROW_FORCES
from ..._engine.owed import OWED
from ...model import ClusterData, ClusterModel
from .._shared import force_columns as _columns
from ._forces import Solution, settings_for, solved_rows
from ._plans import leave_forces, take_number

_MOST_KNOWN = 16


def with_rows(
    model: ClusterModel, data: ClusterData, q: np.ndarray, J: np.ndarray, free: np.ndarray, drift: np.ndarray,
    scale: float, how: Any,
) -> tuple[np.ndarray, Solution]:  # fmt: skip
    """Return accelerations, or velocities after an impact, and the forces at rows J, as ``solved_rows``."""
    plan = _columns.of_inputs(model, data, (), pin.LOCAL, len(J))
    plan.take(np.ascontiguousarray(J.T))
    return solved_rows(J, _columns.columns(model, data, q, plan), free, drift, scale, how)


def remember(model: ClusterModel, data: ClusterData, function: Any, impact: bool, m: int) -> None:
    """Let the extension answer calls with m rows from now on: with and without the last arguments."""
    dynamics = [data._code("crba", CRBA.name), data._code("aba", ABA.name)]
    dynamics.append(data._code("computeMechanicalEnergy", ENERGY.name))
    codes = [data._code("", COLUMNS.name), kernels.row_forces.compiled_address, *dynamics * (not impact)]
    key = "rows", function.__name__, m
    if key in data._plans or not all(codes) or not is_fast(function) or not m:
        return
    _columns.keep(data, key, True)
    names = ["", "r_coeff", "r_coeff mu"] if impact else ["", "damping"]
    for more in names:
        _remember(model, data, function, impact, m, codes, more)


def _remember(
    model: ClusterModel, data: ClusterData, function: Any, impact: bool, m: int, codes: list[int], more: str
) -> None:
    n, columns = model.nv, _columns.of_inputs(model, data, (), pin.LOCAL, m)
    given = "q v constraint_jacobian" if impact else "q v tau constraint_jacobian constraint_drift"
    # Where rows stand in the place of contacts, the numbers behind them have other positions.
    restitution, damping = ("restitution_coefficient", "damping") if impact else ("", "damping")
    named = {"r_coeff": restitution, "mu": damping, "damping": damping}
    form = Form(data, function, " ".join([given, *(named[x] for x in more.split())]))
    settings, scale, J, found, drift = settings_for(None), np.zeros(1), np.zeros((m, n)), np.zeros(3), np.zeros(m)
    gram, forces, room = np.zeros((m + 1, m + 1)), np.zeros(m), np.zeros(2 * m * m + 2 * m)
    at_rows, at_drift, free = register(), form.lead_to(drift), np.zeros(n)
    form.checks.append(("matrix", form.positions["constraint_jacobian"], m, m * n, J, at_rows))
    if not impact:
        form.checks.append(("numbers", form.positions["constraint_drift"], m, np.zeros(m), at_drift))
    for name, number in ((restitution, scale), (damping, settings[at.MU :])):
        asked = name in [named[x] for x in more.split()]
        take_number(form, name if asked else "", number, at_most_1=name == restitution)
    vectors = ["q", "v"] if impact else ["q", "v", "tau"]
    form.checks += [("apart", form.size(x), form.word(x), data._ddq.size, data._ddq) for x in vectors]
    B, response = np.zeros((n, m)), np.zeros((n, m))
    transposed = np.arange(m * n).reshape(m, n).T.ravel().copy()
    form.work.append(("gather", m * n, transposed, at_rows, at_rows, form.lead_to(B)))
    if not impact:
        form.run(CRBA, codes[2], data._pointers["M"], "q mass", arrays={"mass": data._M_kernel})
        form.run(ABA, codes[3], data._pointers["ddq"], "q v tau free", arrays={"free": free})
        form.run(ENERGY, codes[4], data._pointers["energy"], "q v")
    no_gram = np.empty(columns.shapes[0])
    arrays = {
        "asked": columns.index, "numbers": columns.numbers, "panel": columns.panel, "B": B, "gram": no_gram,
        "response": response,
    }  # fmt: skip
    form.run(COLUMNS, codes[0], data._pointers["Minv"], "q asked numbers panel B gram response", arrays=arrays)
    arrays = {
        "response": response, "free": free, "scale": scale, "how": settings, "counts": settings.view(np.int64),
        "gram": gram, "work": room, "forces": forces, "found": found,
    }  # fmt: skip
    leads = {"J": (at_rows, m, n), "drift": (at_drift, m)}
    names = f"J response {'v' if impact else 'free'} drift scale how counts gram work forces found +nv"
    form.run(ROW_FORCES, codes[1], data._pointers["ddq"], names, arrays=arrays, leads=leads)
    _leave(form, impact, forces, found, vectors)
    form.remember(_MOST_KNOWN)


def _leave(form: Form, impact: bool, forces: np.ndarray, found: np.ndarray, vectors: list[str]) -> None:
    """Write what stays in the data."""
    data, mine = form.owner, form.owner._derivatives
    if impact:
        form.owes(OWED["impulseDynamics"], ["q"])
        form.work.append(("copy", mine.after_impact.size, mine.after_impact, np.full(mine.after_impact.size, np.nan)))
        form.save(data._dq_after.numbers, "out")
    else:
        form.owes(OWED["forwardDynamics"], ["q", "v", "zeros"])
        form.keep(mine.after_aba, vectors, form.work)
        form.work.append(("copy", data._M.size, data._M, data._M_kernel))
        form.save(data._ddq, "out")
        leave_energies(form)
    leave_forces(form, data._impulses if impact else data._forces, forces, found)
