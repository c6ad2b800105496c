"""What the kernel of derivatives with contacts needs, beside the plan of the contacts."""

from typing import Any

import numpy as np

from ..._engine import entry_points as kernels
from ..._engine.calls import Form
from ..._engine.kernels.tables import contacts_layout as layout
from ..._engine.kernels.tables.layout import MINUS_GRAVITY
from ..._engine.kernels.tables.tree_layout import IV, WIDTH
from ..._engine.kernels.tables.variations_layout import COLUMN
from ..._engine.native.words import LEFT_TO_KERNEL
from ..._engine.operations import CONTACT_DERIVATIVES, CONTACT_RATES, CONTACTS, RNEA_DERIVATIVES
from ..._support.arrays import on_a_page
from ...model import ClusterData, ClusterModel
from .._shared import bridge as _bridge
from .._shared import check as _check
from ..dynamics.derivatives import NOTHING
from ._plans import Plan


class Rooms:
    """Room for right sides and rows of contacts, kept with their plan.

    Attributes:
        order: Where each velocity stands in the tree of velocities.
        sides: Right sides, and behind them a row per row of the contacts.
        acting: Forces of contacts as external forces, behind nv numbers.
        rows: Arrays: rows of the contacts, M^-1 J', how torques turn, columns.
        tables: Of the derivatives, and the same without gravity.
    """

    __slots__ = ("acting", "order", "rows", "sides", "tables", "tau")

    def __init__(self, model: ClusterModel, data: ClusterData, plan: Plan) -> None:
        n, rows, mine = model.nv, len(plan.forces), data._derivatives
        self.order = np.argsort(mine.tree[IV : WIDTH * n : WIDTH])
        (self.sides,) = on_a_page(np.zeros(3 * n * (n + rows)))
        self.acting, self.tau = np.zeros(n + 6 * model.njoints), np.zeros(n)
        jacobian, response, turned, room = (np.zeros(size) for size in (rows * n, rows * n, n * n, 2 * COLUMN * n))
        self.rows = jacobian, response, turned, room
        (params,) = on_a_page(model._params)
        params[MINUS_GRAVITY : MINUS_GRAVITY + 3] = 0.0
        weightless = kernels.Pointer(model._index, params, data._work, mine.rates)
        self.tables = data._pointers["rates"], weightless
        mine.room_for(rows)


def remember(data: ClusterData, function: Any, plan: Plan) -> None:
    """Let the extension differentiate forward dynamics with these contacts from now on, as long as they stay."""
    n, m, mine, rooms = data.model.nv, len(plan.forces), data._derivatives, plan.derivatives
    numbers = {
        "forward": data._code("constraintDynamics", CONTACTS.name), "forward_tables": data._pointers["ddq"].address,
        "rates": data._code(CONTACT_RATES.name, CONTACT_RATES.name),
        "derivatives": data._kernels[RNEA_DERIVATIVES.name].compiled_address,
    }  # fmt: skip
    if numbers["rates"] != kernels.contact_rates.compiled_address:
        numbers["derivatives"] = numbers["derivatives"] or 1  # code of the model's own does not call it
    code = data._code(function.__name__, CONTACT_DERIVATIVES.name)
    if rooms is None or not n or not m or not hasattr(function, "positions") or not all((*numbers.values(), code)):
        return
    form, state, nq = Form(data, function, "contact_models contact_datas"), mine.after_contacts, data.model.nq
    form.checks += plan.checks(form)
    jacobian, response, turned, room = rooms.rows
    form.arrays |= {
        "q": state[:nq], "v": state[nq : nq + n], "tau": state[nq + n : -1], "acting": rooms.acting,
        "order": rooms.order,
        "contact_sides": rooms.sides, "jacobian": jacobian, "response": response, "turned": turned, "columns": room,
    }  # fmt: skip
    form.shapes |= {"rows": (m, n)}
    form.checks += [("finite", nq, form.word("q")), ("finite", n, form.word("v")), ("finite", n, form.word("tau"))]
    form.checks.append(("equal", state[-1:].view("i8"), 0))
    words = form.run(
        CONTACT_DERIVATIVES, code, data._pointers["rates"],
        "forward forward_tables rates derivatives q v tau ddq asked numbers panel gram forces acting unasked dtau_dq "
        "dtau_dv M - velocities order contact_sides factors jacobian response turned columns +matrix +matrix +matrix "
        "+rows +rows +rows", numbers,
    )  # fmt: skip
    del words
    form.work.append(("copy", data._M.size, data._M, data._M_kernel))
    for name in ("ddq_dq", "ddq_dv", "ddq_dtau"):
        form.save(name, name)
    for i, name in enumerate(("dlambda_dq", "dlambda_dv", "dlambda_dtau")):
        form.arrays[name] = mine.dlambda[i * m * n : (i + 1) * m * n]
        form.save(name, name)
    form.work.append(("set", mine.rows, m))
    data._remember_contacts(function, form.plan())


def differentiate(
    model: ClusterModel, data: ClusterData, plan: Plan | None, q: np.ndarray, v: np.ndarray, tau: np.ndarray | None,
    restitution: float, damping: float,
) -> tuple[np.ndarray, np.ndarray] | None:  # fmt: skip
    """Return derivatives of motions, shape (3, nv, nv), and of forces, shape (3, rows, nv).

    None if there is no plan, or rows are redundant. After an impact there is no tau, and v is that before.
    """
    if plan is None:
        return None
    if plan.derivatives is None:
        plan.derivatives = Rooms(model, data, plan)
    rooms: Rooms = plan.derivatives
    mine, n, m = data._derivatives, model.nv, len(plan.forces)
    impact = tau is None
    given = rooms.tau if tau is None else tau
    tables = rooms.tables[impact]
    ddq = np.empty(n) if impact else data._ddq
    motions, forces = np.empty((3, n * n)), np.empty((3, m * n))
    out = *motions, *forces
    own = [x.reshape(-1) for x in (mine.dtau_dq, mine.dtau_dv, data._M_kernel)]
    # of an impact, inverse dynamics are differentiated at rest
    _bridge.supply_third(model, data, q, data._zeros if impact else v)
    asked, numbers, _, _ = plan.tables
    jacobian, _, turned, room = rooms.rows
    of_rates = q, v, given, ddq, asked, numbers, plan.forces, rooms.acting, mine.tau, *own, NOTHING, jacobian
    with plan.asking(layout.IMPACT if impact else layout.DYNAMICS, layout.WHOLE, restitution, damping):
        if kernels.JIT:
            of_forward = q, v, given, *plan.tables, plan.forces, ddq
            code = data._run("contacts", "ddq", *of_forward)
            if not code:  # else nothing is made: it cannot be solved
                forward = data._ready("contacts", *of_forward)
                rates = data._ready("contact_rates", *of_rates, rooms.sides, turned, room)
                inverse = 0
                if rates == kernels.contact_rates.compiled_address:  # which calls it
                    inverse = data._kernels["rnea_derivatives"].address()
                code = kernels.contact_derivatives.call(
                    tables, forward, data._pointers["ddq"].address, rates, inverse, q, v, given, ddq, *plan.tables,
                    plan.forces, rooms.acting, mine.tau, *own, NOTHING, mine.tree, rooms.order, rooms.sides,
                    mine.factors, *rooms.rows, *out,
                )  # fmt: skip
        else:
            code = _plain(data, plan, rooms, tables, q, v, given, ddq, own, out, impact, restitution)
    data._changed()
    if code == LEFT_TO_KERNEL and not np.isfinite(numbers).all():  # what contacts are asked for is no number
        return np.full((3, n, n), np.nan), np.full((3, m, n), np.nan)
    if code in (layout.REDUNDANT, LEFT_TO_KERNEL):
        return None
    _check.status(model, code, q)
    return motions.reshape(3, n, n), forces.reshape(3, m, n)


def _plain(
    data: ClusterData, plan: Plan, rooms: Rooms, tables: Any, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
    ddq: np.ndarray, own: list[np.ndarray], out: tuple[np.ndarray, ...], impact: bool, restitution: float,
) -> int:  # fmt: skip
    """Do what the kernel does, step by step: without the JIT nothing has an address."""
    from ..._engine.kernels.contacts import derivatives as plain
    from ..._engine.kernels.contacts.solutions import differentiated

    def run(v: np.ndarray, a: np.ndarray) -> int:
        kernel = data._kernels["rnea_derivatives"]
        return int(kernel.call(tables, q, v, a, rooms.acting, data._derivatives.tau, *own, NOTHING))

    code = data._kernels["contacts"].call(data._pointers["ddq"], q, v, tau, *plan.tables, plan.forces, ddq)
    if code:
        return int(code)
    index, params, work, rates = tables.arrays
    asked, numbers, _, gram = plan.tables
    plain.loads(index, asked, plan.forces, rooms.acting)
    rest = np.zeros(len(v))
    code = run(rest, ddq + restitution * v) if impact else run(v, ddq)
    if code:
        return code
    jacobian, response, turned, room = rooms.rows
    plain.rows_of_contacts(
        index, params, work, rates, asked, numbers, plan.forces, jacobian, rooms.sides[3 * len(v) ** 2 :], turned,
        room,
    )  # fmt: skip
    if impact and (code := run(rest, ddq - v)):
        return code
    tree, factors = data._derivatives.tree, data._derivatives.factors
    return int(differentiated(
        index, asked, gram, tree, rooms.order, rooms.sides, factors, *own, jacobian, response, turned, *out
    ))  # fmt: skip
