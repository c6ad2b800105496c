"""The program of Delta M and Delta h for loops, cranks, rods and masses: all parts except rotors with constant ratios.

MuJoCo's floating base has the linear velocity in the world frame and the angular velocity in the body frame. With
v = X qvel, the terms in MuJoCo's coordinates are X' M X and X' (h + M Xdot qvel).

The dependent joints of loops are functions of the independent joints. If the constraint has a closed form, the program
contains this form. Otherwise, Newton's method starts at the dependent joints of the previous step.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..compiler.tracing._sources import source
from ..compiler.tracing.expressions import Graph, select
from ..compiler.tracing.functions import run_function
from ..compiler.tracing.moves import correct
from ..compiler.tracing.program import Program
from ..compiler.tracing.run import Run
from ..compiler.tracing.supplied import supply
from ..errors import NotAvailableError
from ..export.motor_space.pose_solvers import blocks, determinant, explicit_guess
from ..model import ClusterModel, loops_of
from ..model.configuration.branches import form_of
from ..model.configuration.manifold import manifold
from ._difference import Difference
from ._library import library
from ._matching import Match, configuration

_STEPS = 2
"""Steps of Newton's method in each evaluation of the program."""
_MARGIN = 0.1
"""Smallest determinant of the Jacobian of a loop for its dependent joints, relative to the reference pose."""
_NEGLIGIBLE = 1e-12
"""Entries below this number, relative to the tree's mass matrix or forces, are rounding errors."""
_SAMPLES, _NEAR = 10, 0.01


@dataclass(frozen=True, eq=False)
class Traced:
    """A program that computes Delta M and Delta h, and the joints of the loops.

    Attributes:
        program: Program with the inputs ``qpos``, ``dep`` (if there are loops) and ``qvel``. The outputs are ``dM``,
            ``dh`` (one number per entry of ``dofs``), and, if there are loops, ``dep`` (dependent joints) and ``open``
            (largest relative residual).
        pairs: The pair (row, column) of each entry of ``dM``, in the lower triangle.
        dofs: The degree of freedom of each entry of ``dh``.
        dependent: Dependent joints at the reference pose, shape (nd,).
        loop_qpos: Index in ``qpos`` of each independent joint in a loop.
        loop_dofs: Index in ``qvel`` of each independent joint in a loop.
        reference: Independent joints of the loops at the reference pose.
        newton: Whether Newton's method computes some of the dependent joints; a closed form computes the others.
    """

    program: Program
    pairs: list[tuple[int, int]]
    dofs: list[int]
    dependent: np.ndarray
    loop_qpos: tuple[int, ...]
    loop_dofs: tuple[int, ...]
    reference: np.ndarray
    newton: bool


def trace_difference(matched: Match, parts: Difference) -> Traced | None:
    """Trace the difference without the rotors that have constant ratios; return None if nothing else differs."""
    model, mj_model = matched.model, matched.mj_model
    if parts.numbers is None and parts.taken is None:
        return None
    if not manifold(model).linear:
        raise NotAvailableError(
            f"Exact: {model.name!r} has a coupling of a continuous joint (cos, sin), which is not supported. Replace "
            "the joint by a revolute joint with limits."
        )
    tree, loops = model.own_tree, loops_of(model).clusters if model.closures else []
    places = {int(tree.idx_vs[j]): int(tree.idx_qs[j]) for j in range(1, tree.njoints)}
    in_q = [places[int(iv)] for loop in loops for iv in loop.dependents]
    ids = [(j, i) for loop in loops for j, i in matched.joints.values() if j in loop.joints]
    forms = _explicit_forms(model, loops)
    loop = Traced(
        Program.of("", (), {}),
        [],
        [],
        model.q_reference[in_q],
        tuple(int(mj_model.jnt_qposadr[i]) for _, i in ids),
        tuple(int(mj_model.jnt_dofadr[i]) for _, i in ids),
        model.q_reference[[tree.idx_qs[j] for j, _ in ids]],
        len(forms) < len(loops),
    )
    nq, nd, nv, n = mj_model.nq, len(in_q), mj_model.nv, model.nv
    x = np.array(Graph().inputs(0, nq + nd + nv), dtype=object)
    qpos, dep, qvel = x[:nq], x[nq : nq + nd], x[nq + nd :]
    q = configuration(model, mj_model, matched.joints, qpos)
    X, rate = _velocity_map(matched, q, qvel)
    M, h, outputs = np.zeros((n, n), dtype=object), np.zeros(n, dtype=object), dict[str, np.ndarray]()
    if parts.numbers is not None:
        if nd:
            q[in_q] = dep
            outputs["open"] = np.array([_close(_run(model, parts.numbers, q), q, forms)], dtype=object)
            outputs["dep"] = q[in_q]
        manifold(model).affine.apply(q, q)
        M, h = _dynamics(_run(model, parts.numbers, q), X @ qvel[matched.dofs])
    if parts.taken is not None:
        other = parts.taken.own_tree
        order = [v for name in list(other.names)[1:] for v in _velocities(model, name)]
        joints = {name: (other.getJointId(name), i) for name, (_, i) in matched.joints.items()}
        run = Run(parts.taken, {"q": configuration(parts.taken, mj_model, joints, qpos)})
        M_tree, h_tree = _dynamics(run, (X @ qvel[matched.dofs])[order])
        M[np.ix_(order, order)] = M[np.ix_(order, order)] - M_tree
        h[order] = h[order] - h_tree
    dM, dh = np.zeros((nv, nv), dtype=object), np.zeros(nv, dtype=object)
    dM[np.ix_(matched.dofs, matched.dofs)] = X.T @ M @ X
    dh[matched.dofs] = X.T @ (h + M @ rate)
    inputs = [("qpos", nq), *([("dep", nd)] if nd else []), ("qvel", nv)]
    pairs, dofs = _not_negligible(matched, loop, inputs, dM, dh)
    if not pairs:
        return None
    outputs = {"dM": np.array([dM[pair] for pair in pairs], dtype=object), "dh": dh[dofs], **outputs}
    program = Program.of(f"{model.name}, exact inertia", inputs, outputs).ordered()
    return replace(loop, program=program, pairs=pairs, dofs=dofs)


def _not_negligible(
    matched: Match, loop: Traced, inputs: list[tuple[str, int]], M: np.ndarray, h: np.ndarray
) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the entries of M and h that are not rounding errors: pairs (row, column), and velocities.

    Differences between bodies can cancel. For example, ``to_mjcf`` moves inertia about a joint's axis to the next body.
    """
    mujoco, mj_model, rng = library(), matched.mj_model, np.random.default_rng(0)
    rows, columns = np.tril_indices(mj_model.nv)
    program = Program.of("entries", inputs, {"M": M[rows, columns], "h": h})
    data, whole, force = mujoco.MjData(mj_model), np.zeros(M.shape), np.zeros(len(h))
    large = np.zeros(len(rows), dtype=bool), np.zeros(len(h), dtype=bool)
    for _ in range(_SAMPLES):
        # The dependent joints stay at the reference pose, so the joints in loops move only a little.
        data.qpos[:] = mj_model.qpos0
        data.qpos[list(loop.loop_qpos)] = loop.reference
        data.qvel[:] = rng.uniform(-1.0, 1.0, mj_model.nv)
        mujoco.mj_integratePos(mj_model, data.qpos, data.qvel, _NEAR if loop.dependent.size else 1.0)
        for function in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_makeM, mujoco.mj_comVel):
            function(mj_model, data)
        mujoco.mj_rne(mj_model, data, 0, force)
        mujoco.mj_fullM(mj_model, data, whole)
        scale = np.sqrt(np.diag(whole))
        sizes = np.outer(scale, scale)[rows, columns], np.abs(force).max() + scale
        entries = program(data.qpos, *([loop.dependent] if loop.dependent.size else []), data.qvel)
        for k in range(2):
            large[k][np.abs(entries[k]) > _NEGLIGIBLE * sizes[k]] = True
    pairs = [(int(i), int(j)) for i, j, yes in zip(rows, columns, large[0], strict=True) if yes]
    return pairs, np.flatnonzero(large[1]).tolist()


def _run(model: ClusterModel, numbers: np.ndarray, q: np.ndarray) -> Run:
    run, size = Run(model, {"q": q}), model.tables.params.size
    run.params, run.work = numbers[:size], numbers[size:].astype(object)
    return run


def _dynamics(run: Run, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mass matrix and the bias."""
    (M,) = run_function("crba", run).values()
    run.inputs["v"] = v
    (h,) = run_function("nonLinearEffects", run).values()
    return np.array(M, dtype=object).reshape(len(v), len(v)), np.array(h, dtype=object)


def _close(run: Run, q: np.ndarray, forms: list[Any]) -> Any:
    """Modify q: compute the dependent joints. Return the largest loop residual, or 1 near a singularity."""
    model, explicit = run.model, set[int]()
    for form in forms:
        explicit_guess(model, form)(q, [q[model.own_tree.idx_qs[j]] for j in form.independent])
        explicit |= {int(model.own_tree.idx_vs[j]) for j in form.dependent}
    supply(model, q, run.work)
    views, index, largest = source("tables.views"), model.tables.index, 0.0
    for k, C in enumerate(run.loops()):
        H = views.head(index, C.head)
        solved = explicit & {views.velocity_row(index, n).iv for n in range(H.velocity0, H.velocity1)}
        residual, K = _corrected(run, q, C, 0 if solved else _STEPS)
        nearby = [_at_reference(model, k, moved) for moved in range(3)]
        for rows, columns in blocks(np.abs(nearby).sum(axis=0)):
            back = np.linalg.pinv(nearby[0][np.ix_(rows, columns)])
            # The determinant is 1 at the reference pose and 0 at singularities and bifurcations.
            residual = select(_MARGIN, determinant(back @ K[np.ix_(rows, columns)]), residual, 1.0)
        largest = select(largest, residual, residual, largest)
    return largest


def _corrected(run: Run, q: np.ndarray, C: Any, steps: int) -> tuple[Any, np.ndarray]:
    """Modify q by Newton steps; return the residual, and the Jacobian of one loop for its dependent joints."""
    views = source("tables.views")
    H, run.steps = views.head(run.model.tables.index, C.head), steps
    source("bodies.placements").start(run.params, run.work)
    source("loops.coupling_of_loops").stand_still(run.work, C)
    residual, L = correct(run, q, [C]), views.block(H, C.nk)
    return residual, run.work[L.K : L.K + H.nr * L.width].reshape(H.nr, L.width)[:, : H.nd]


def _at_reference(model: ClusterModel, loop: int, moved: int) -> np.ndarray:
    """Return the Jacobian of a loop at the reference pose, or at a pose nearby, to find its structural zeros."""
    q = (model.q_reference + 0.03 * moved * np.cos(np.arange(model.nq) * moved)).astype(object)
    run = Run(model, {"q": q})
    return _corrected(run, q, run.loops()[loop], 0)[1].astype(float)


def _explicit_forms(model: ClusterModel, loops: Sequence[Any]) -> list[Any]:
    """Return the closed forms of the loops whose dependent joints are explicit functions of the independent joints."""
    ids = {model.own_tree.getJointId(name) for name in model.independent_joints}
    forms = [form_of(model, loop) for loop in loops]
    return [x for x in forms if x is not None and x.explicit is not None and set(x.independent) <= ids]


def _velocity_map(matched: Match, q: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return X and Xdot qvel, both for the velocities of the robot."""
    n = matched.model.nv
    X, rate = np.eye(n).astype(object), np.zeros(n, dtype=object)
    if matched.free is not None:
        iq, v = matched.free
        R = np.array(source("bodies.placements").free_rotation(q, iq), dtype=object).reshape(3, 3)
        X[v : v + 3, v : v + 3] = R.T
        speed = qvel[matched.dofs[v : v + 6]]
        a, o = R.T @ speed[:3], speed[3:]
        rate[v : v + 3] = [o[2] * a[1] - o[1] * a[2], o[0] * a[2] - o[2] * a[0], o[1] * a[0] - o[0] * a[1]]
    return X, rate


def _velocities(model: ClusterModel, name: str) -> range:
    first = model.joint_idx_v(name)
    return range(first, first + int(model.own_tree.nvs[model.own_tree.getJointId(name)]))
