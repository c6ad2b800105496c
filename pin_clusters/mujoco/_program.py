"""The program of Delta M and Delta h for all parts that are not in the table of rotors: loops, cranks, rods and masses.

MuJoCo's floating base has the linear velocity in the world frame and the angular velocity in the body frame. With
v = X qvel, the terms in MuJoCo's coordinates are X' M X and X' (h + M Xdot qvel).

Dependent joints of loops are computed from the independent joints by Newton's method, which starts at the dependent
joints of the previous step.
"""

from dataclasses import dataclass, field
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
from ._matching import Match, configuration

_STEPS = 2
"""Steps of Newton's method in each evaluation of the program."""


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


def trace_difference(found: Match, parts: Difference) -> Traced | None:
    """Trace the difference without the constant rotors; return None if nothing else differs."""
    model, mj_model = found.model, found.mj_model
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
    q = configuration(model, mj_model, found.joints, qpos)
    X, rate = _velocity_map(found, qpos, qvel)
    M, h, outputs = np.zeros_like(X), np.zeros(model.nv, dtype=object), dict[str, np.ndarray]()
    if parts.numbers is not None:
        run = _run(model, parts.numbers, q)
        if nd:
            in_q = _places(model, dependent)
            q[in_q] = dep
            outputs["open"] = np.array([_close(run, q)], dtype=object)
            outputs["dep"] = q[in_q]
        manifold(model).affine.apply(q, q)
        M, h = _dynamics(_run(model, parts.numbers, q), X @ qvel[found.dofs])
    if parts.taken is not None:
        tree, order = parts.taken, [model.joint_idx_v(name) for name in parts.taken.independent_joints]
        order = [v + k for name, v in zip(tree.independent_joints, order, strict=True) for k in range(_nv(tree, name))]
        ids = {name: (tree.own_tree.getJointId(name), i) for name, (_, i) in found.joints.items()}
        run = Run(tree, {"q": configuration(tree, mj_model, ids, qpos)})
        M_tree, h_tree = _dynamics(run, (X @ qvel[found.dofs])[order])
        M[np.ix_(order, order)] = M[np.ix_(order, order)] - M_tree
        h[order] = h[order] - h_tree
    in_mujoco = np.zeros((mj_model.nv, mj_model.nv), dtype=object)
    in_mujoco[np.ix_(found.dofs, found.dofs)] = X.T @ M @ X
    bias = np.zeros(mj_model.nv, dtype=object)
    bias[found.dofs] = X.T @ (h + M @ rate)
    rows, columns = (np.tril_indices(mj_model.nv)[k].tolist() for k in (0, 1))
    pairs = [(i, j) for i, j in zip(rows, columns, strict=True) if not _is_zero(in_mujoco[i, j])]
    entries = np.array([in_mujoco[pair] for pair in pairs], dtype=object)
    inputs = [("qpos", mj_model.nq), *([("dep", nd)] if nd else []), ("qvel", mj_model.nv)]
    program = Program.of(f"{model.name}, exact inertia", inputs, {"dM": entries, "dh": bias, **outputs}).ordered()
    if loops is None:
        return Traced(program, pairs)
    names = [name for c in model.clusters if _has_loop(model, c.joints, dependent) for name in c.independent]
    at = [found.joints[name][1] for name in names]
    reference = model.q_reference
    return Traced(
        program,
        pairs,
        reference[_places(model, dependent)],
        tuple(int(mj_model.jnt_qposadr[i]) for i in at),
        tuple(int(mj_model.jnt_dofadr[i]) for i in at),
        reference[[model.own_tree.idx_qs[found.joints[name][0]] for name in names]],
    )


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


def _velocity_map(found: Match, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return X and Xdot qvel, both for the velocities of the robot."""
    n = found.model.nv
    X, rate = np.eye(n).astype(object), np.zeros(n, dtype=object)
    if found.free is not None:
        first, dof, v = found.free
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


def _is_zero(x: Any) -> bool:
    return isinstance(x, (int, float)) and x == 0.0
