"""Continuation: moves closed loops along with the independent joints, without a change of assembly mode (branch)."""

import math

import numpy as np
import pinocchio as pin

from ..compiler import entry_points as kernels
from ..compiler.choice import code_of
from ..errors import BranchLost
from ..kernels.moves.limits import GROWTH, ITERATIONS, LIMIT, SMALLEST_STEP, STALLED, STRIDE
from ..kernels.tables.layout import CONDITION_LIMIT, ROUNDING, TOLERANCE
from .cluster_model import ClusterModel
from .loops import Loops, loops_of, movers_of, names_of_cluster


def carry(model: ClusterModel, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Move q along v and close the loops; dependent joints outside loops do not move. May raise ``BranchLost``."""
    loops, tree, v_tree = loops_of(model), model.own_tree, np.zeros(model.own_tree.nv)
    v_tree[model.idx_v_independent] = v
    target = pin.integrate(tree, q, v_tree)
    if not (np.isfinite(q).all() and np.isfinite(v).all()):
        target[loops.entries[~np.isin(loops.entries, loops.independent_entries)]] = np.nan
        return target
    moved = q.copy()
    if loops.compiled:
        mover = code_of(movers_of(model), kernels.move)
        code = mover.call(loops.pointer, moved, v, target, loops.spare)
        if code < 0:
            joints = model.tables.joint_of_row[-code]
            single = [(tree.idx_qs[j], tree.idx_vs[j]) for j in joints if tree.nqs[j] == 1]
            parts = [(abs(v_tree[iv]), (moved[iq] - q[iq]) / v_tree[iv]) for iq, iv in single if v_tree[iv]]
            raise _lost(model, joints, max(parts, default=(0.0, None))[1])  # The fastest joint has the least rounding.
    else:
        try:
            moved = _carry_slowly(model, loops, q, v, target)
        except BranchLost:  # As in the kernel, a singular pose is accepted if v is zero and the loops are closed.
            if v.any() or not np.abs(loops.solved.residual(q) / loops.scales).max() < ROUNDING:
                raise
    result = target.copy()
    result[loops.entries] = moved[loops.entries]
    result[loops.independent_entries] = target[loops.independent_entries]
    return result


def _lost(model: ClusterModel, joints: tuple[int, ...], part: float | None) -> BranchLost:
    """Create the error of loops that follow only ``part`` of a motion, a fraction; None means that it is unknown."""
    names = names_of_cluster(model, joints)
    label = ", ".join(
        c.label for cluster in model.clusters if set(cluster.joints) == set(names) for c in cluster.constraints
    )
    reached = "" if part is None else f" and stop at {100.0 * part:.3g} % of it"
    return BranchLost(
        f"the loops of the joints {', '.join(map(repr, names))} ({label}) cannot follow the motion{reached}: they do "
        "not close at its end, or it passes a pose where the dependent joints are not determined (a dead centre). Use "
        "a shorter step, reverse it, or make other joints independent: model, _ = pc.with_independent(model, names).",
        names,
    )


def _carry_slowly(model: ClusterModel, loops: Loops, q: np.ndarray, v: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Close the loops along the motion with NumPy, which is faster than a kernel that runs as Python code."""
    tree, free, held = model.own_tree, model.idx_v_independent, loops.dependents
    entries = loops.independent_entries
    done, allowed, q = 0.0, 1.0, q.copy()
    while done < 1.0:
        K = loops.solved.jacobian(q) / loops.scales[:, None]
        if not np.linalg.cond(K[:, held]) < CONDITION_LIMIT:  # Rounding errors would determine the sign of det K_d.
            raise _lost(model, tuple(j for loop in loops.clusters for j in loop.joints), done)
        P = np.linalg.pinv(K[:, held])
        rate = np.zeros(tree.nv)
        rate[free] = v
        rate[held] = -P @ (K @ rate)
        longest = np.abs(rate[held]).max(initial=0.0)
        while True:
            step = min(1.0 - done, allowed, STRIDE / longest if longest > STRIDE else 1.0)
            if step < min(SMALLEST_STEP, 1.0 - done):
                raise _lost(model, tuple(j for loop in loops.clusters for j in loop.joints), done)
            new = pin.integrate(tree, q, step * rate)
            if step >= 1.0 - done:
                new[entries] = target[entries]
            closed = _close_dependents(tree, loops, new)
            if closed is not None:
                Kn = loops.solved.jacobian(closed) / loops.scales[:, None]
                if np.linalg.det(P @ Kn[:, held]) > 0.0:
                    break
            allowed = 0.25 * step
        q, done, allowed = closed, 1.0 if step >= 1.0 - done else done + step, 4.0 * step
    return q


def _close_dependents(tree: pin.Model, loops: Loops, q: np.ndarray) -> np.ndarray | None:
    before = math.inf
    for _ in range(ITERATIONS):
        r, K = loops.solved.evaluate(q)
        r, K = r / loops.scales, K[:, loops.dependents] / loops.scales[:, None]
        size = np.abs(r).max(initial=0.0)
        allowed = TOLERANCE * max(1.0, np.abs(q).max() / 100.0)
        if size < allowed or (size < ROUNDING and size > STALLED * before):
            return q
        if not size < GROWTH * before:
            return None
        before = size
        step = np.zeros(tree.nv)
        step[loops.dependents] = -np.linalg.lstsq(K, r, rcond=1e-10)[0]
        if not np.abs(step).max() < LIMIT:
            return None
        q = pin.integrate(tree, q, step)
    return None
