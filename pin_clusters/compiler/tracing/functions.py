"""The functions that can be traced. Each implementation runs kernels on expressions."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin

from ...algorithms._shared.reach import panel_size
from ...algorithms.contacts._plans import laid_out, places_of
from ...errors import NotAvailableError
from ...kernels.tables import contacts_layout as at
from ...kernels.tables import tree_layout as tl
from ...kernels.tables.layout import ROW_WIDTH
from .. import operations
from ..operations import CONTACTS
from ._sources import Copies, reading, source
from .derivatives import backward, forward
from .moves import integrate, tangent
from .run import Run
from .supplied import supply_third


def accelerations(run: Run) -> dict[str, np.ndarray]:
    ddq, forces = _solved(run, at.DYNAMICS, run["tau"])
    return {"ddq": ddq, "lambda_c": forces}


def after_impact(run: Run) -> dict[str, np.ndarray]:
    after, impulses = _solved(run, at.IMPACT, run.rest)
    return {"dq_after": after, "impulse_c": impulses}


def _solved(run: Run, quantity: int, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    model, datas = run.model, [c.createData() for c in run.contacts]
    places = places_of(model, run.contacts, datas)
    if places is None:
        raise NotAvailableError(
            "these contacts cannot be traced: a contact connects a joint to itself or is on a spinning rotor, or "
            "the objects of this version of Pinocchio have an unknown memory layout."
        )
    out, columns = laid_out(model, run.contacts, places)
    request, numbers = out.index(ROW_WIDTH), np.array(out.params).astype(object)
    request[0, at.Contacts._fields.index("wanted")] = quantity
    numbers[at.DAMPING] = run.damping
    panel, gram = run.zeros(panel_size(model, columns + 1)), run.zeros(columns + 1, columns + 1)
    forces, solution = run.zeros(columns), run.rest
    with reading(Copies()):
        run.call(
            CONTACTS.passes,
            run.rest,
            run["q"],
            run["v"],
            tau,
            request,
            numbers,
            panel,
            gram,
            forces,
            solution,
        )
    return solution, forces


Outputs = dict[str, np.ndarray]


def _with_forces(run: Run) -> np.ndarray:
    """Return an array with nv zeros, in which kernels store results, followed by the external forces."""
    return np.concatenate([run.rest, run.forces])


def _outputs(run: Run, one: operations.Function) -> Outputs:
    state = [run.rest if name == "0" else run[name] for name in one.takes.split() if "fext" not in name]
    if one.operation is operations.ABA_DERIVATIVES:
        results = _forward_derivatives(run)
    elif one.operation is operations.RNEA_DERIVATIVES:
        results = _derivatives(run, *state[1:], coriolis=one.gives == "C")
    else:
        results = of_kernel(run, one.operation, *state)
    return dict(zip(one.gives.split(), results, strict=False))


def of_kernel(run: Run, operation: operations.Operation, *state: np.ndarray) -> Sequence[np.ndarray]:
    nv = run.model.nv
    if operation.result == "vector":
        keep, out = _with_forces(run), [run.rest]
    elif operation.result == "matrix":
        keep, out = run.zeros(nv * nv), [run.zeros(nv, nv)]
    else:
        keep, out = run.zeros(2), []
    run.call(operation.passes, keep, *state, *out)
    return out or [keep[:1], keep[1:]]


def _derivatives(run: Run, v: np.ndarray, a: np.ndarray, *, coriolis: bool = False) -> list[np.ndarray]:
    """Return dtau_dq, dtau_dv and the mass matrix M; if ``coriolis``, dtau_dv is replaced by the Coriolis matrix."""
    nv, nothing = run.model.nv, run.zeros(0)
    dq, dv, M = (run.zeros(nv * nv) for _ in range(3))
    dq, tau = (nothing, nothing) if coriolis else (dq, run.rest)
    run.torques = tau
    if run.model.tables.supplies:
        supply_third(run.model, run["q"], run.G @ v, run.work)
    forces = _with_forces(run) if run.forces.size else nothing
    rates = run.zeros(run.model.tables.rates)
    run.call(operations.RNEA_DERIVATIVES.passes, rates, run["q"], v, a, forces, tau, dq, dv, M, nothing)
    return [x.reshape(nv, nv) for x in (dq, dv, M) if x.size]


def _forward_derivatives(run: Run) -> Sequence[np.ndarray]:
    (ddq,) = of_kernel(run, operations.ABA, run["q"], run["v"], run["tau"])
    (Minv,) = of_kernel(run, operations.MINVERSE, run["q"])
    by_q, by_v, _ = _derivatives(run, run["v"], ddq)
    return -(Minv @ by_q), -(Minv @ by_v), Minv


def along(run: Run, outputs: np.ndarray, name: str) -> np.ndarray:
    """Return derivatives of ``outputs`` with respect to an input (q: along ``pc.integrate``), shape (outputs, nv)."""
    places = [int(x.args[0]) for x in run[name]]
    rows = [backward([x], [1.0]) for x in outputs]
    raw = np.array([[row.get(i, 0.0) for i in places] for row in rows], dtype=object).reshape(len(rows), len(places))
    return raw @ tangent(run) if name == "q" else raw


def _placement(run: Run, out: np.ndarray, frame: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return rotation and position of a frame relative to the world, then relative to the frame's joint."""
    f = run.model.own_tree.frames[frame]
    first = run.model.tables.tree.sections.oMi + 12 * int(f.parentJoint)
    R_joint, x_joint = out[first : first + 9].reshape(3, 3).T, out[first + 9 : first + 12]
    R, x = np.array(f.placement.rotation), np.array(f.placement.translation)
    return R_joint @ R, x_joint + R_joint @ x, R, x


def _cross(u: np.ndarray, w: np.ndarray) -> np.ndarray:
    return np.array([u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]], dtype=object)


def _presented(run: Run, R: np.ndarray, x: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """Transform motions of a frame, shape (6, n), from the axes of the frame to the reference frame."""
    if run.reference == pin.LOCAL:
        return motion
    turned = np.concatenate([R @ motion[:3], R @ motion[3:]])
    if run.reference == pin.WORLD:
        turned[:3] += _cross(x, turned[3:])
    return turned


def _placements(run: Run) -> Outputs:
    out, placements = run.tree(tl.MOTION), {}
    for frame in run.frames:
        M = np.eye(4).astype(object)
        M[:3, :3], M[:3, 3], *_ = _placement(run, out, frame)
        placements[run.model.own_tree.frames[frame].name] = M
    return placements


def _frame_jacobians(run: Run) -> Outputs:
    out, tables, jacobians = run.tree(tl.MOTION), run.model.tables.tree, {}
    for frame in run.frames:
        J = run.zeros(6, run.model.nv)
        index = run.model.njoints + frame
        work, local = run.zeros(tables.work), int(pin.LOCAL)
        source("tree.frame_jacobians").frame_jacobian(
            tables.index, tables.params, work, out, run["q"], index, local, 0, run.zeros(0), J
        )
        R, x, *_ = _placement(run, out, frame)
        jacobians[run.model.own_tree.frames[frame].name] = _presented(run, R, x, J)
    return jacobians


def _frame_motions(run: Run, section: str, *rates: np.ndarray) -> Outputs:
    out, motions = run.tree(tl.MOTION, *rates), {}
    for frame in run.frames:
        f = run.model.own_tree.frames[frame]
        first = getattr(run.model.tables.tree.sections, section) + 6 * int(f.parentJoint)
        motion = out[first : first + 6]
        R_frame, x_frame, R, x = _placement(run, out, frame)
        local_motion = np.concatenate([R.T @ (motion[:3] + _cross(motion[3:], x)), R.T @ motion[3:]])
        motions[f.name] = _presented(run, R_frame, x_frame, local_motion)
    return motions


def _frame_derivatives(run: Run, section: str, names: Sequence[str], *rates: np.ndarray) -> Outputs:
    """Return derivatives of frame motions; as in Pinocchio, the origin of ``LOCAL_WORLD_ALIGNED`` is kept fixed."""
    held = run.reference == pin.LOCAL_WORLD_ALIGNED
    moving = replace(run, reference=pin.WORLD) if held else run
    motions, placements, derivatives = _frame_motions(moving, section, *rates), _placements(run), {}
    for key, motion in motions.items():
        for name in names:
            block = along(run, motion, name)
            if held:
                block[:3] -= _cross(placements[key][:3, 3], block[3:])
            derivatives[f"d{key}_d{name}"] = block
    return derivatives


def _section(run: Run, out: np.ndarray, name: str, *shape: int) -> np.ndarray:
    first = getattr(run.model.tables.tree.sections, name)
    return out[first : first + int(np.prod(shape))].reshape(shape)


def _center_derivatives(run: Run) -> Outputs:
    out = run.tree(tl.MOTION | tl.CENTERS, run["v"])
    return {"dvcom_dq": along(run, _section(run, out, "vcom", 3), "q")}


def _map_rate(run: Run) -> Outputs:
    A, rate = _map(run), tangent(run) @ run["v"]
    changes: dict[int, Any] = dict.fromkeys((int(x.args[0]) for entries in run.inputs.values() for x in entries), 0.0)
    changes |= {int(x.args[0]): y for x, y in zip(run["q"], rate, strict=True)}
    return {"dAg": np.array(forward(list(A.ravel()), changes), dtype=object).reshape(A.shape)}


def _center(run: Run) -> np.ndarray:
    return _section(run, run.tree(tl.MOTION | tl.CENTERS), "com", 3)


def _momentum(run: Run) -> Outputs:
    return {"hg": _section(run, run.tree(tl.MOTION | tl.CENTERS | tl.MOMENTUM, run["v"]), "hg", 6)}


def _momenta(run: Run) -> tuple[np.ndarray, np.ndarray]:
    out = run.tree(tl.MOTION | tl.CENTERS | tl.MOMENTUM, run["v"], run["a"])
    return _section(run, out, "hg", 6), _section(run, out, "dhg", 6)


def _map(run: Run) -> np.ndarray:
    first, nv = run.model.tables.tree.own.Ag, run.model.nv
    return run.tree(tl.MAP)[first : first + 6 * nv].reshape(6, nv)


def _centroidal_derivatives(run: Run) -> Outputs:
    h, rate = _momenta(run)
    derivatives = {"dh_dq": along(run, h, "q"), "dhdot_dq": along(run, rate, "q")}
    return derivatives | {"dhdot_dv": along(run, rate, "v"), "dhdot_da": _map(run)}


def _inverse_operational(run: Run) -> Outputs:
    J = np.concatenate(list(_frame_jacobians(run).values()))
    (Minv,) = of_kernel(run, operations.MINVERSE, run["q"])
    return {"A": J @ Minv @ J.T}


def stacked(outputs: Outputs, frames: int) -> Outputs:
    """Stack the outputs of several frames along the first axis; return one array per kind, such as ``dframes_dq``."""
    kinds = len(outputs) // frames  # number of outputs per frame, such as the derivatives with respect to q, v and a
    names = [f"dframes_d{name.rsplit('_d', 1)[1]}" if kinds > 1 else "frames" for name in list(outputs)[:kinds]]
    return {name: np.stack(list(outputs.values())[i::kinds]) for i, name in enumerate(names)}


_RUN: dict[str, Callable[[Run], Outputs]] = {
    **{x.name: partial(_outputs, one=x) for x in operations.STATE_FUNCTIONS if x.traced},
    "constraintDynamics": accelerations,
    "impulseDynamics": after_impact,
    "coupling_jacobian": lambda run: {"G": run.G},
    "coupling_bias": lambda run: {"g": run.bias},
    "framesForwardKinematics": _placements,
    "computeFrameJacobian": _frame_jacobians,
    "getFrameVelocity": lambda run: _frame_motions(run, "v", run["v"]),
    "getFrameAcceleration": lambda run: _frame_motions(run, "a", run["v"], run["a"]),
    "getFrameVelocityDerivatives": lambda run: _frame_derivatives(run, "v", ("q", "v"), run["v"]),
    "getFrameAccelerationDerivatives": lambda run: _frame_derivatives(run, "a", ("q", "v", "a"), run["v"], run["a"]),
    "inverse_operational_inertia": _inverse_operational,
    "centerOfMass": lambda run: {"com": _center(run)},
    "jacobianCenterOfMass": lambda run: {"Jcom": along(run, _center(run), "q")},
    "computeCentroidalMomentum": _momentum,
    "computeCentroidalMomentumTimeVariation": lambda run: {"dhg": _momenta(run)[1]},
    "getCenterOfMassVelocityDerivatives": _center_derivatives,
    "computeCentroidalMapTimeVariation": _map_rate,
    "computeCentroidalMap": lambda run: {"Ag": _map(run)},
    "computeCentroidalDynamicsDerivatives": _centroidal_derivatives,
    "integrate": integrate,
    "tangent": lambda run: {"dq_dv": tangent(run)},
}
FUNCTIONS = {x.name: x for x in operations.TRACEABLE_FUNCTIONS}
"""Dictionary from names to the functions that ``pc.trace`` accepts."""

BUILDERS = {"step": ("worlds.step", "trace_step")}
"""Dictionary from names to module and function of a higher layer that builds the program; imported at first use."""


def run_function(name: str, run: Run) -> Outputs:
    return _RUN[name](run)
