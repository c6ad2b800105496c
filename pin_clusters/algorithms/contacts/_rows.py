"""Forces of constraints whose Jacobian the user passes; registration of such calls, which the C extension executes."""

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ...compiler import entry_points as kernels
from ...compiler.calls import Form, is_fast, register
from ...compiler.calls.state import leave_energies
from ...compiler.operations import ABA, COLUMNS, CRBA, ENERGY, KKT_INVERSE, MASS_RESPONSE, ROW_FORCES
from ...compiler.owed import OWED, bits
from ...kernels.tables import contacts_layout as at
from ...model import ClusterData, ClusterModel
from .._shared import force_columns as _columns
from ._forces import Solution, settings_for, solved_rows
from ._plans import leave_forces, take_number

_MOST_KNOWN = 16


class _Names(NamedTuple):
    """Names of the arguments of a call; a name is empty if the call does not have this argument."""

    state: str
    J: str
    drift: str
    restitution: str
    damping: str


_NAMES = {
    ("forwardDynamics", True): _Names("q v tau", "constraint_jacobian", "constraint_drift", "", "damping"),
    ("forwardDynamics", False): _Names("q", "v", "tau", "", "constraint_jacobian"),
    ("impulseDynamics", True): _Names("q v", "constraint_jacobian", "", "restitution_coefficient", "damping"),
    ("impulseDynamics", False): _Names("q", "v_before", "", "contact_models", "contact_datas"),
}
"""Parameters by function, and by whether q is passed. Without q, other arguments move up: ``q`` receives tau or v."""


def with_rows(
    model: ClusterModel,
    data: ClusterData,
    q: np.ndarray,
    J: np.ndarray,
    free: np.ndarray,
    drift: np.ndarray,
    scale: float,
    method: Any,
) -> tuple[np.ndarray, Solution]:
    """Compute the constraint forces, and either accelerations or velocities after an impact; see ``solved_rows``."""
    plan = _columns.of_inputs(model, data, (), pin.LOCAL, len(J))
    plan.take(np.ascontiguousarray(J.T))
    return solved_rows(J, _columns.columns(model, data, q, plan), free, drift, scale, method)


def remember(data: ClusterData, function: Any, m: int, posed: bool) -> None:
    """Let the C extension execute calls with m equations, with or without q (``posed``) and optional arguments."""
    names, key = _NAMES[function.__name__, posed], ("rows", function.__name__, m, posed)
    if key in data._plans or not is_fast(function) or not m:
        return
    codes = _codes(data, names, posed)
    if all(codes):
        _columns.store(data, key, True)
        last = [name for name in (names.restitution, names.damping) if name]
        for i in range(len(last) + 1):
            _remember(data, function, m, names, last[:i], codes, posed)


def _codes(data: ClusterData, names: _Names, posed: bool) -> list[int]:
    forces = kernels.row_forces.compiled_address
    if not posed:
        return [forces, kernels.mass_response.compiled_address]
    operations = {"crba": CRBA, "aba": ABA, "computeMechanicalEnergy": ENERGY} if names.drift else {}
    codes = [data._code(name, operation.name) for name, operation in operations.items()]
    return [forces, data._code("", COLUMNS.name), *codes]


def _remember(
    data: ClusterData, function: Any, m: int, names: _Names, last: list[str], codes: list[int], posed: bool
) -> None:
    n, impact = data.model.nv, not names.drift
    form = Form(data, function, " ".join([names.state, names.J, names.drift, *last]))
    settings, scale, status, drift = settings_for(None), np.zeros(1), np.zeros(3), np.zeros(m)
    gram, forces, work = np.zeros((m + 1, m + 1)), np.zeros(m), np.zeros(2 * m * m + 2 * m)
    at_drift, free, response = form.lead_to(drift), np.zeros(n), np.zeros((n, m))
    at_rows = _take_rows(form, names.J, m)
    if names.drift:
        form.checks.append(("numbers", form.positions[names.drift], m, np.zeros(m), at_drift))
    for name, number in ((names.restitution, scale), (names.damping, settings[at.MU :])):
        take_number(form, name if name in last else "", number, at_most_1=name == names.restitution)
    if not posed:
        form.argument("q", n, register())  # without q, the first argument is a torque or a velocity
    vectors = names.state.split()
    form.checks += [("apart", form.size(x), form.word(x), data._ddq.size, data._ddq) for x in vectors]
    (_respond_at_pose if posed else _respond)(form, m, at_rows, codes, response, None if impact else free)
    arrays = {
        "response": response,
        "free": free,
        "scale": scale,
        "how": settings,
        "counts": settings.view(np.int64),
        "gram": gram,
        "work": work,
        "forces": forces,
        "found": status,
    }
    leads = {"J": (at_rows, m, n), "drift": (at_drift, m)}
    if impact:
        leads["free"] = form.word(vectors[-1]), n
    names_of_arguments = "J response free drift scale how counts gram work forces found +nv"
    form.run(ROW_FORCES, codes[0], data._pointers["ddq"], names_of_arguments, arrays=arrays, leads=leads)
    if posed:
        _leave_state(form, impact, vectors)
    form.save(data._dq_after.numbers if impact else data._ddq, "out")
    leave_forces(form, data._impulses if impact else data._forces, forces, status)
    form.remember(_MOST_KNOWN)


def _take_rows(form: Form, name: str, m: int) -> np.ndarray:
    n, word = form.model.nv, register()
    form.checks.append(("matrix", form.positions[name], m, m * n, np.zeros((m, n)), word))
    return word


def _respond_at_pose(
    form: Form, m: int, at_rows: np.ndarray, codes: list[int], response: np.ndarray, free: np.ndarray | None
) -> None:
    """Add steps that compute M^-1 J' at q and, unless ``free`` is None, the accelerations without constraint forces."""
    data, n = form.owner, form.model.nv
    columns, B = _columns.of_inputs(form.model, data, (), pin.LOCAL, m), np.zeros((n, m))
    transposed = np.arange(m * n).reshape(m, n).T.ravel().copy()
    form.work.append(("gather", m * n, transposed, at_rows, at_rows, form.lead_to(B)))
    if free is not None:
        form.run(CRBA, codes[2], data._pointers["M"], "q mass", arrays={"mass": data._M_kernel})
        form.run(ABA, codes[3], data._pointers["ddq"], "q v tau free", arrays={"free": free})
        form.run(ENERGY, codes[4], data._pointers["energy"], "q v")
    arrays = {
        "asked": columns.index,
        "numbers": columns.numbers,
        "panel": columns.panel,
        "B": B,
        "response": response,
        "gram": np.empty(columns.shapes[0]),
    }
    form.run(COLUMNS, codes[1], data._pointers["Minv"], "q asked numbers panel B gram response", arrays=arrays)


def _respond(
    form: Form, m: int, at_rows: np.ndarray, codes: list[int], response: np.ndarray, free: np.ndarray | None
) -> None:
    """Like ``_respond_at_pose``, but with ``data.M`` and ``data.nle`` of an earlier call."""
    data, n, work = form.owner, form.model.nv, np.zeros(form.model.nv * (form.model.nv + 1))
    form.checks.append(("owes", data._owed_words, bits("M" if free is None else "M nle")))

    def run(rows: str, out: np.ndarray, leads: Any, arrays: Any) -> None:
        arrays = {"mass": data._M, "work": work, "response": out, **arrays}
        form.run(MASS_RESPONSE, codes[1], data._pointers["ddq"], f"mass {rows} work response", None, arrays, leads)

    run("J", response, {"J": (at_rows, m, n)}, {})
    if free is not None:
        unforced = np.zeros((1, n))
        words = form.word("q"), form.lead_to(data._nle), form.lead_to(unforced)
        form.work.append(("minus", n, np.arange(n), *words))
        run("rest", free.reshape(n, 1), {}, {"rest": unforced})


def remember_kkt(data: ClusterData, function: Any, m: int) -> None:
    key, posed = ("rows", function.__name__, m), "q" in function.positions if is_fast(function) else False
    code, of_mass = kernels.kkt_inverse.compiled_address, data._code("crba", CRBA.name)
    if key in data._plans or not is_fast(function) or not m or not code or (posed and not of_mass):
        return
    _columns.store(data, key, True)
    n, mu, work = data.model.nv, np.zeros(1), np.zeros(data.model.nv * (data.model.nv + 1) + m * (m + 1))
    for damping in ("", "damping") if posed else ("",):
        form = Form(data, function, " ".join(["q" * posed, "constraint_jacobian", damping]))
        at_rows = _take_rows(form, "constraint_jacobian", m)
        take_number(form, damping, mu, at_most_1=False)
        form.shapes["square"] = n + m, n + m
        mass = data._M_kernel if posed else data._M
        if posed:
            form.run(CRBA, of_mass, data._pointers["M"], "q mass", arrays={"mass": mass})
        else:
            form.checks.append(("owes", data._owed_words, bits("M")))
        arrays, leads = {"mass": mass, "mu": mu, "work": work}, {"J": (at_rows, m, n)}
        form.run(KKT_INVERSE, code, data._pointers["ddq"], "mass J mu work +square", arrays=arrays, leads=leads)
        if posed:
            form.work.append(("copy", mass.size, data._M, mass))
            form.owes(OWED["crba"], ["q"])
        form.remember(_MOST_KNOWN)


def _leave_state(form: Form, impact: bool, vectors: list[str]) -> None:
    data, derivatives = form.owner, form.owner._derivatives
    if impact:
        form.owes(OWED["impulseDynamics"], ["q"], late=True)
        state = derivatives.after_impact
        form.work.append(("copy", state.size, state, np.full(state.size, np.nan)))
    else:
        form.owes(OWED["forwardDynamics"], ["q", "v", "zeros"], late=True)
        form.keep(derivatives.after_aba, vectors, form.work)
        form.work.append(("copy", data._M.size, data._M, data._M_kernel))
        leave_energies(form)
