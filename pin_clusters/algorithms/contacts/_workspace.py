"""Workspace and calls of the contact-derivative kernel."""

from typing import Any

import numpy as np

from ..._support.arrays import on_a_page
from ...compiler import entry_points as kernels
from ...compiler.calls import is_fast
from ...compiler.native.words import LEFT_TO_KERNEL
from ...compiler.operations import CONTACT_DERIVATIVES, CONTACT_RATES, CONTACTS, RNEA_DERIVATIVES
from ...kernels.tables import contacts_layout as layout
from ...kernels.tables.layout import MINUS_GRAVITY
from ...kernels.tables.tree_layout import IV, WIDTH
from ...kernels.tables.variations_layout import COLUMN
from ...model import ClusterData, ClusterModel
from ...model.contact_memory import settings_of
from .._shared import bridge as _bridge
from .._shared import check as _check
from ..dynamics.derivatives import NOTHING
from ._forces import lasting_damping_of
from ._plans import Plan, take_settings


class Workspace:
    """Work arrays of the contact-derivative kernel for one ``Plan``.

    Attributes:
        order: Row of each independent velocity in ``data._derivatives.tree``, shape (nv,).
        sides: Right-hand sides for the derivatives: 3 nv numbers per velocity, then 3 nv numbers per contact equation.
        acting: nv work numbers, then the contact forces as external forces in joint frames, 6 numbers per joint.
        rows: Four flat arrays: J, M^-1 J', the terms of dtau_dq due to moving contact frames, and contact columns.
        tables: Two tables of the dynamics derivatives, with gravity and without gravity.
    """

    __slots__ = ("acting", "order", "rows", "sides", "tables", "tau")

    def __init__(self, model: ClusterModel, data: ClusterData, plan: Plan) -> None:
        n, rows, derivatives = model.nv, len(plan.forces), data._derivatives
        self.order = np.argsort(derivatives.tree[IV : WIDTH * n : WIDTH])
        (self.sides,) = on_a_page(np.zeros(3 * n * (n + rows)))
        self.acting, self.tau = np.zeros(n + 6 * model.njoints), np.zeros(n)
        jacobian, response, turned, columns = (np.zeros(size) for size in (rows * n, rows * n, n * n, 2 * COLUMN * n))
        self.rows = jacobian, response, turned, columns
        (params,) = on_a_page(model.tables.params)
        params[MINUS_GRAVITY : MINUS_GRAVITY + 3] = 0.0
        weightless = kernels.Pointer(model.tables.index, params, data._work, derivatives.rates)
        self.tables = data._pointers["rates"], weightless


def remember(
    data: ClusterData, function: Any, plan: Plan, impact: bool, names: str, method: Any, restitution: float
) -> None:
    """Let the C extension execute calls of ``function``, as long as the contacts keep their memory addresses."""
    nq, n, m = data.model.nq, data.model.nv, len(plan.forces)
    derivatives, workspace = data._derivatives, plan.derivatives
    settings = None if method is None else settings_of(method)
    key = function.__name__, names, restitution, None if settings is None else settings.tobytes()
    numbers = {
        "forward": data._code("constraintDynamics", CONTACTS.name),
        "forward_tables": data._pointers["ddq"].address,
        "rates": data._code(CONTACT_RATES.name, CONTACT_RATES.name),
        "derivatives": data._kernels[RNEA_DERIVATIVES.name].compiled_address,
    }
    if numbers["rates"] != kernels.contact_rates.compiled_address:
        # Robot-specific code does not call rnea_derivatives, but the check below requires a non-zero address.
        numbers["derivatives"] = numbers["derivatives"] or 1
    code = data._code(function.__name__, CONTACT_DERIVATIVES.name)
    usable = is_fast(function) and key not in plan.known and (method is None or settings is not None)
    if workspace is None or not n or not m or not usable or not all((*numbers.values(), code)):
        return
    form = plan.form(data, function, f"contact_models contact_datas {names}")
    state = derivatives.after_impact if impact else derivatives.after_contacts
    form.checks.append(("copy", 1, plan.numbers[layout.DAMPING :], state[-1:]))
    if impact:
        form.checks.append(("copy", 1, plan.numbers[layout.RESTITUTION :], state[-2:]))
    if "r_coeff" in names:
        x = np.zeros(1)
        form.checks += [("real", form.positions["r_coeff"], x), ("equal", x.view("i8"), _bits(restitution))]
        form.checks.append(("equal", state[-2:].view("i8"), _bits(restitution)))
    if settings is not None:  # the damping is read from the settings
        words = np.zeros(layout.SETTINGS)
        take_settings(form, names.split()[-1], words)
        form.checks += [("equal", words[i:].view("i8"), int(settings[i])) for i in (layout.MU, layout.MOST_ITERATIONS)]
        form.checks.append(("set", plan.numbers[layout.DAMPING :].view("i8"), _bits(lasting_damping_of(method))))
    jacobian, response, turned, columns = workspace.rows
    velocity = state[nq : nq + n]
    form.arrays |= {
        "q": state[:nq],
        "v": velocity,
        "tau": workspace.tau if impact else state[nq + n : -1],
        "acting": workspace.acting,
        "order": workspace.order,
        "contact_sides": workspace.sides,
        "jacobian": jacobian,
        "response": response,
        "turned": turned,
        "columns": columns,
        "asked": plan.index_for(layout.IMPACT if impact else layout.DYNAMICS),
        "found": np.empty(n) if impact else data._ddq,
    }
    form.shapes |= {"rows": (m, n)}
    form.checks.append(("finite", len(state), form.lead_to(state)))
    form.run(
        CONTACT_DERIVATIVES,
        code,
        workspace.tables[impact],
        "forward forward_tables rates derivatives q v tau found asked numbers panel gram forces acting unasked dtau_dq "
        "dtau_dv M - velocities order contact_sides factors jacobian response turned columns +matrix +matrix "
        + ("spare +rows +rows spare_rows" if impact else "+matrix +rows +rows +rows"),
        numbers,
        {"spare": np.empty(n * n), "spare_rows": np.empty(m * n)},
    )
    form.work.append(("copy", data._M.size, data._M, data._M_kernel))
    form.save(form.result_array("ddq_dq"), "ddq_dq")
    form.save(form.result_array("ddq_dv"), "ddq_dv")
    if impact:  # data.ddq_dv is the derivative of v_after - v, so the identity is subtracted
        (after, size), ones, to = form.made["ddq_dv"], form.lead_to(np.eye(n)), form.lead_to(derivatives.ddq[1])
        form.work.append(("minus", size, np.arange(size), after, ones, to))
        form.work.append(("copy", m * n, derivatives.dlambda[2 * m * n :], np.full(m * n, np.nan)))
    else:
        form.save(form.result_array("ddq_dtau"), "ddq_dtau")
    for i, name in enumerate(("dlambda_dq", "dlambda_dv", *["dlambda_dtau"] * (not impact))):
        form.save(derivatives.dlambda[i * m * n : (i + 1) * m * n], name)
    form.work.append(("set", derivatives.rows, m))
    plan.keep(form, key)


def _bits(x: float) -> int:
    return int(np.float64(x).view(np.int64))


def differentiate(
    model: ClusterModel,
    data: ClusterData,
    plan: Plan | None,
    q: np.ndarray,
    v: np.ndarray,
    tau: np.ndarray | None,
    restitution: float,
    damping: float,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Differentiate accelerations (if tau is None: velocities after an impact) and forces with respect to q, v and tau.

    Return arrays of shapes (3, nv, nv) and (3, rows, nv); None if ``plan`` is None or the contacts are redundant.
    """
    if plan is None:
        return None
    if plan.derivatives is None:
        plan.derivatives = Workspace(model, data, plan)
    workspace: Workspace = plan.derivatives
    derivatives, n, m = data._derivatives, model.nv, len(plan.forces)
    impact = tau is None
    torque = workspace.tau if tau is None else tau
    tables = workspace.tables[impact]
    ddq = np.empty(n) if impact else data._ddq
    motions, forces = np.empty((3, n * n)), np.empty((3, m * n))
    out = *motions, *forces
    outputs = [x.reshape(-1) for x in (derivatives.dtau_dq, derivatives.dtau_dv, data._M_kernel)]
    # The derivatives of an impact need the derivatives of inverse dynamics at rest.
    _bridge.supply_third(model, data, q, data._zeros if impact else v)
    kind = layout.IMPACT if impact else layout.DYNAMICS
    index, numbers, _, _ = tables_of = plan.tables(kind)
    numbers[[layout.RESTITUTION, layout.DAMPING]] = restitution, damping
    jacobian, _, turned, columns = workspace.rows
    state = q, v, torque, ddq
    of_rates = *state, index, numbers, plan.forces, workspace.acting, derivatives.tau, *outputs, NOTHING, jacobian
    if kernels.JIT:
        of_forward = q, v, torque, *tables_of, plan.forces, ddq
        code = data._run("contacts", "ddq", *of_forward)
        if not code:  # a non-zero code: the equations are redundant, or the mass matrix or the loops are singular
            forward = data._ready("contacts", *of_forward)
            rates = data._ready("contact_rates", *of_rates, workspace.sides, turned, columns)
            inverse = 0
            if rates == kernels.contact_rates.compiled_address:  # only the generic kernel calls rnea_derivatives
                inverse = data._kernels["rnea_derivatives"].address()
            code = kernels.contact_derivatives.call(
                tables, forward, data._pointers["ddq"].address, rates, inverse, q, v, torque, ddq, *tables_of,
                plan.forces, workspace.acting, derivatives.tau, *outputs, NOTHING, derivatives.tree, workspace.order,
                workspace.sides, derivatives.factors, *workspace.rows, *out,
            )  # fmt: skip
    else:
        code = _plain(data, plan, workspace, tables, q, v, torque, ddq, outputs, out, impact, restitution)
    data._changed()
    if code == LEFT_TO_KERNEL and not np.isfinite(numbers).all():  # a prescribed contact motion is not finite
        return np.full((3, n, n), np.nan), np.full((3, m, n), np.nan)
    if code in (layout.REDUNDANT, LEFT_TO_KERNEL):
        return None
    _check.status(model, code, q)
    return motions.reshape(3, n, n), forces.reshape(3, m, n)


def _plain(
    data: ClusterData,
    plan: Plan,
    workspace: Workspace,
    tables: Any,
    q: np.ndarray,
    v: np.ndarray,
    tau: np.ndarray,
    ddq: np.ndarray,
    outputs: list[np.ndarray],
    out: tuple[np.ndarray, ...],
    impact: bool,
    restitution: float,
) -> int:
    """Run the steps of the kernel from Python, because uncompiled kernels cannot call each other by address."""
    from ...kernels.contacts import derivatives as plain
    from ...kernels.contacts.solutions import differentiated

    def run(v: np.ndarray, a: np.ndarray) -> int:
        kernel = data._kernels["rnea_derivatives"]
        return int(kernel.call(tables, q, v, a, workspace.acting, data._derivatives.tau, *outputs, NOTHING))

    tables_of = plan.tables(layout.IMPACT if impact else layout.DYNAMICS)
    code = data._kernels["contacts"].call(data._pointers["ddq"], q, v, tau, *tables_of, plan.forces, ddq)
    if code:
        return int(code)
    index = tables.arrays[0]
    contact_index, numbers, _, gram = tables_of
    plain.loads(index, contact_index, plan.forces, workspace.acting)
    zeros = np.zeros(len(v))
    code = run(zeros, ddq + restitution * v) if impact else run(v, ddq)
    if code:
        return code
    jacobian, response, turned, columns = workspace.rows
    sides_of_forces = workspace.sides[3 * len(v) ** 2 :]
    of_contacts = contact_index, numbers, plan.forces, jacobian, sides_of_forces, turned, columns
    plain.rows_of_contacts(*tables.arrays, *of_contacts)
    if impact and (code := run(zeros, ddq - v)):
        return code
    tree, factors = data._derivatives.tree, data._derivatives.factors
    solver = index, contact_index, gram, tree, workspace.order, workspace.sides, factors
    return int(differentiated(*solver, *outputs, jacobian, response, turned, *out))
