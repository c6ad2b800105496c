"""The program of Delta M and Delta h for all parts that are not in the table of rotors: loops, cranks, rods and masses.

MuJoCo's floating base has the linear velocity in the world frame and the angular velocity in the body frame. With
v = X qvel, the terms in MuJoCo's coordinates are X' M X and X' (h + M Xdot qvel).

Dependent joints of loops are computed from the independent joints by Newton's method, which starts at the dependent
joints of the previous step.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..compiler.tracing._sources import source
from ..compiler.tracing.expressions import Graph
from ..compiler.tracing.functions import run_function
from ..compiler.tracing.moves import correct
from ..compiler.tracing.program import Program
from ..compiler.tracing.run import Run
from ..compiler.tracing.supplied import supply
from ..errors import NotAvailableError
from ..model import ClusterModel, loops_of
from ..model.configuration.manifold import manifold
from ._difference import Difference
from ._library import library
from ._matching import Match, configuration

_STEPS = 2
"""Steps of Newton's method in each evaluation of the program."""
_NEGLIGIBLE = 1e-12
"""Entries that are smaller than this number, relative to the tree's, are rounding errors."""
_SAMPLES, _NEAR = 10, 0.01


@dataclass(frozen=True, eq=False)
class Traced:
    """A program that computes Delta M and Delta h, and the joints of the loops.

    Attributes:
        program: Program with the inputs ``qpos``, ``dep`` (if there are loops) and ``qvel``, and the outputs ``dM``
            and ``dh``, and, if there are loops, ``dep`` (dependent joints) and ``open`` (largest relative residual).
        pairs: The pair (row, column) of each entry of ``dM``, in the lower triangle.
        dependent: Dependent joints at the reference pose, shape (nd,).
        loop_qpos: Index in ``qpos`` of each independent joint in a loop.
        loop_dofs: Index in ``qvel`` of each independent joint in a loop.
        reference: Independent joints of the loops at the reference pose.
    """

    program: Program
    pairs: list[tuple[int, int]]
    dependent: np.ndarray = field(default_factory=lambda: np.zeros(0))
    loop_qpos: tuple[int, ...] = ()
    loop_dofs: tuple[int, ...] = ()
    reference: np.ndarray = field(default_factory=lambda: np.zeros(0))


def trace_difference(matched: Match, parts: Difference) -> Traced | None:
    """Trace the difference without the constant rotors; return None if nothing else differs."""
    model, mj_model = matched.model, matched.mj_model
    if parts.numbers is None and parts.taken is None:
        return None
    if not manifold(model).linear:
        raise NotAvailableError(
            f"Exact: {model.name!r} has a coupling of a continuous joint (cos, sin), which cannot be traced. Replace "
            "the joint by a revolute joint with limits."
        )
    loops = loops_of(model) if model.closures else None
    dependent = np.array(loops.dependents) if loops else np.zeros(0, dtype=np.int64)
    nd = len(dependent)
    graph = Graph()
    x = np.array(graph.inputs(0, mj_model.nq + nd + mj_model.nv), dtype=object)
    qpos, dep, qvel = x[: mj_model.nq], x[mj_model.nq : mj_model.nq + nd], x[mj_model.nq + nd :]
    q = configuration(model, mj_model, matched.joints, qpos)
    X, rate = _velocity_map(matched, qpos, qvel)
    M, h, outputs = np.zeros_like(X), np.zeros(model.nv, dtype=object), dict[str, np.ndarray]()
    if parts.numbers is not None:
        run = _run(model, parts.numbers, q)
        if nd:
            in_q = _places(model, dependent)
            q[in_q] = dep
            outputs["open"] = np.array([_close(run, q)], dtype=object)
            outputs["dep"] = q[in_q]
        manifold(model).affine.apply(q, q)
        M, h = _dynamics(_run(model, parts.numbers, q), X @ qvel[matched.dofs])
    if parts.taken is not None:
        tree, order = parts.taken, [model.joint_idx_v(name) for name in parts.taken.independent_joints]
        order = [v + k for name, v in zip(tree.independent_joints, order, strict=True) for k in range(_nv(tree, name))]
        ids = {name: (tree.own_tree.getJointId(name), i) for name, (_, i) in matched.joints.items()}
        run = Run(tree, {"q": configuration(tree, mj_model, ids, qpos)})
        M_tree, h_tree = _dynamics(run, (X @ qvel[matched.dofs])[order])
        M[np.ix_(order, order)] = M[np.ix_(order, order)] - M_tree
        h[order] = h[order] - h_tree
    in_mujoco = np.zeros((mj_model.nv, mj_model.nv), dtype=object)
    in_mujoco[np.ix_(matched.dofs, matched.dofs)] = X.T @ M @ X
    bias = np.zeros(mj_model.nv, dtype=object)
    bias[matched.dofs] = X.T @ (h + M @ rate)
    inputs = [("qpos", mj_model.nq), *([("dep", nd)] if nd else []), ("qvel", mj_model.nv)]
    loop = _loop_joints(matched, dependent) if nd else Traced(Program.of("", (), {}), [])
    pairs, bias = _not_negligible(matched, loop, inputs, in_mujoco, bias)
    if not pairs:
        return None
    entries = np.array([in_mujoco[pair] for pair in pairs], dtype=object)
    program = Program.of(f"{model.name}, exact inertia", inputs, {"dM": entries, "dh": bias, **outputs}).ordered()
    return replace(loop, program=program, pairs=pairs)


def _loop_joints(matched: Match, dependent: np.ndarray) -> Traced:
    model, mj_model, q = matched.model, matched.mj_model, matched.model.q_reference
    names = [name for c in model.clusters if _has_loop(model, c.joints, dependent) for name in c.independent]
    ids = [matched.joints[name] for name in names]
    return Traced(
        Program.of("", (), {}),
        [],
        q[_places(model, dependent)],
        tuple(int(mj_model.jnt_qposadr[i]) for _, i in ids),
        tuple(int(mj_model.jnt_dofadr[i]) for _, i in ids),
        q[[model.own_tree.idx_qs[j] for j, _ in ids]],
    )


def _not_negligible(
    matched: Match, loop: Traced, inputs: list[tuple[str, int]], M: np.ndarray, h: np.ndarray
) -> tuple[list[tuple[int, int]], np.ndarray]:
    """Return the pairs (row, column) of the entries of M that are not rounding errors, and h without such entries.

    Differences between bodies can cancel. For example, ``to_mjcf`` moves inertia about a joint's axis to the next body.
    """
    mujoco, mj_model, rng = library(), matched.mj_model, np.random.default_rng(0)
    rows, columns = np.tril_indices(mj_model.nv)
    entries = M[rows, columns]
    program = Program.of("entries", inputs, {"M": entries, "h": h})
    data, whole, dep = mujoco.MjData(mj_model), np.zeros(M.shape), [loop.dependent] if len(loop.dependent) else []
    force = np.zeros(len(h))
    largest, of_tree = (np.zeros(len(rows)), np.zeros(len(h))), (np.zeros(len(rows)), np.zeros(len(h)))
    for _ in range(_SAMPLES):
        # The dependent joints stay at the reference pose, so the joints in loops move only a little.
        data.qpos[:] = mj_model.qpos0
        data.qpos[list(loop.loop_qpos)] = loop.reference
        data.qvel[:] = rng.uniform(-1.0, 1.0, mj_model.nv)
        mujoco.mj_integratePos(mj_model, data.qpos, data.qvel, _NEAR if dep else 1.0)
        for function in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_makeM, mujoco.mj_comVel):
            function(mj_model, data)
        mujoco.mj_rne(mj_model, data, 0, force)
        mujoco.mj_fullM(mj_model, data, whole)
        scale = np.sqrt(np.diag(whole))
        here = program(data.qpos, *dep, data.qvel)
        for k, tree in enumerate((np.outer(scale, scale)[rows, columns], np.abs(force).max() + scale)):
            np.maximum(largest[k], np.abs(here[k]), out=largest[k])
            np.maximum(of_tree[k], tree, out=of_tree[k])
    matters, forces = (x > _NEGLIGIBLE * y for x, y in zip(largest, of_tree, strict=True))
    pairs = [(int(i), int(j)) for i, j, yes in zip(rows, columns, matters, strict=True) if yes]
    return pairs, np.where(forces, h, 0.0)


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


def _close(run: Run, q: np.ndarray) -> Any:
    """Modify q: correct the dependent joints. Return the largest loop residual."""
    clusters, run.steps = run.loops(), _STEPS
    source("bodies.placements").start(run.params, run.work)
    supply(run.model, q, run.work)
    for C in clusters:
        source("loops.coupling_of_loops").stand_still(run.work, C)
    return correct(run, q, clusters)


def _velocity_map(matched: Match, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return X and Xdot qvel, both for the velocities of the robot."""
    n = matched.model.nv
    X, rate = np.eye(n).astype(object), np.zeros(n, dtype=object)
    if matched.free is not None:
        first, dof, v = matched.free
        w, x, y, z = qpos[first + 3 : first + 7] / np.sqrt(sum(qpos[first + 3 : first + 7] ** 2))
        R = np.array(
            [
                [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
                [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
                [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
            ],
            dtype=object,
        )
        X[v : v + 3, v : v + 3] = R.T
        a, o = R.T @ qvel[dof : dof + 3], qvel[dof + 3 : dof + 6]
        rate[v : v + 3] = [o[2] * a[1] - o[1] * a[2], o[0] * a[2] - o[2] * a[0], o[1] * a[0] - o[0] * a[1]]
    return X, rate


def _places(model: ClusterModel, dependent: np.ndarray) -> list[int]:
    """Return the index in q of dependent velocities."""
    tree = model.own_tree
    at = {int(tree.idx_vs[j]): int(tree.idx_qs[j]) for j in range(1, tree.njoints)}
    return [at[int(iv)] for iv in dependent]


def _has_loop(model: ClusterModel, names: tuple[str, ...], dependent: np.ndarray) -> bool:
    tree = model.own_tree
    return bool({tree.idx_vs[tree.getJointId(name)] for name in names} & set(dependent.tolist()))


def _nv(model: ClusterModel, name: str) -> int:
    tree = model.own_tree
    return int(tree.nvs[tree.getJointId(name)])
