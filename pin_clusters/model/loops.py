"""Closed loops: how far open, how singular, closed anew."""

import math
import threading
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.arrays import in_order, on_a_page
from .._support.trees import in_q
from ..compiler import entry_points as kernels
from ..compiler.choice import code_of, functions_of
from ..constraints.closures import JointClosure
from ..errors import ConfigurationError
from ..kernels.tables import layout
from .assembly import condition_numbers
from .assembly import project as project_slowly
from .assembly.evaluate import Equations
from .assembly.project import AssemblyFailure
from .cluster_model import ClusterModel
from .primitives import primitives_of
from .topology import Topology

MOST_TURNS = 100
"""More turns than this are never one pose."""


class Loops:
    """What the loops of one model need, for one thread: equations, and room for the kernels.

    Attributes:
        every: All closures as the user stated them.
        solved: Those rows that are solved for, over all clusters, each divided by ``scales``.
        scales: Shape (rows,).
        clusters: Analyses, of the clusters that have closures.
        dependents: Indices in the tree's v.
        entries: Indices in q of all joints of loops.
        independent_entries: Indices in q of all independent joints of the model.
        turns: By how much each of ``dependents`` may differ in one pose of the loops: a whole turn of a hinge.
        periods: The same for a pose of the robot: with the joints that follow.
    """

    def __init__(self, model: ClusterModel) -> None:
        tree, topology = model.own_tree, model.tables.topology
        self.every = Equations(tree, topology.closures)
        self.clusters = topology.analyses
        self.solved = Equations(tree, [c for loop in self.clusters for c in loop.kept])
        self.scales = np.concatenate([np.zeros(0), *(loop.scales for loop in self.clusters)])
        self.dependents = np.array([iv for loop in self.clusters for iv in loop.dependents], dtype=np.int64)
        self.free = np.zeros(tree.nv)
        (work,) = on_a_page(model.tables.work)
        self.pointer = kernels.Pointer(model.tables.index, model.tables.params, work, np.zeros(1))
        self.spare = np.zeros(tree.nq)
        self.compiled = not model.tables.supplies and not any(
            tree.nqs[j] == 2
            for loop in self.clusters
            for c in loop.kept
            if isinstance(c, JointClosure)
            for j in c.joints
        )
        inside = [j for loop in self.clusters for j in loop.joints]
        self.entries = np.array([i for j in inside for i in in_q(tree, j)])
        free = set(model.idx_v_independent.tolist())
        self.independent_entries = np.array(
            [i for j in range(1, tree.njoints) if tree.idx_vs[j] in free for i in in_q(tree, j)], dtype=np.int64
        )
        self.turns, self.periods = _periods(model, self.dependents.tolist())
        self.rows_of = np.cumsum([0, *(sum(c.size for c in loop.kept) for loop in self.clusters)])

    def conditions(self, q: np.ndarray) -> list[tuple[float, float, np.ndarray]]:
        """Return cond(K), cond(K_d) and the scaled K of each cluster."""
        K = self.solved.jacobian(q) / self.scales[:, None]
        found = []
        for loop, a, b in zip(self.clusters, self.rows_of, self.rows_of[1:], strict=False):
            columns = [*loop.dependents, *loop.independents]
            mine = K[a:b, columns]
            found.append((*condition_numbers(mine, range(len(loop.dependents))), mine))
        return found


_local = threading.local()


def loops_of(model: ClusterModel) -> Loops:
    """Return the loops of a model, for this thread; made once."""
    known: dict[int, tuple[Topology, Loops]] | None = getattr(_local, "known", None)
    if known is None:
        known = _local.known = {}
    key = id(model.tables.topology)
    found = known.get(key)
    if found is None or found[0] is not model.tables.topology:
        if len(known) > 64:  # models come and go in long sweeps
            known.clear()
        found = known[key] = (model.tables.topology, Loops(model))
    return found[1]


def movers_of(model: ClusterModel) -> Any:
    """Return functions of a model's own that move its loops; None: kernels do. It is chosen at the first move."""
    if model._movers is None:
        object.__setattr__(model, "_movers", (functions_of(model),))
    assert model._movers is not None
    return model._movers[0]


def names_of_cluster(model: ClusterModel, joints: tuple[int, ...]) -> tuple[str, ...]:
    """Return the names of joints."""
    return tuple(model.own_tree.names[j] for j in joints)


def close(model: ClusterModel, q: np.ndarray, hold: list[int]) -> np.ndarray:
    """Return q with the loops closed by the least change of the joints that are not held (indices in the tree's v).

    Raises:
        ConfigurationError: They do not close; the gap that remains is said.
    """
    loops, tree = loops_of(model), model.own_tree
    followers = [row for loop in loops.clusters for row in loop.followers]
    if loops.compiled and not followers:
        held = loops.free
        held[:] = 0.0
        held[hold] = 1.0
        closed = q.copy()
        if code_of(movers_of(model), kernels.project).call(loops.pointer, closed, held) == 0:
            far = np.abs(closed - q).max(initial=0.0) > 0.5
            if not far or _is_closed(loops, closed):
                return closed
    equations = Equations(tree, loops.solved.closures, followers)
    for tolerance, eq in ((1e-9, equations), (1e-4, Equations(tree, loops.every.closures, followers))):
        try:
            closed = project_slowly(eq, tree, q, hold, rank_tolerance=tolerance)
        except AssemblyFailure as failure:
            best = failure.q
            continue
        if _is_closed(loops, closed):
            return closed
        best = closed
    residual, scales = loops.every.residual(best), loops.every.scales(best)
    i = np.argmax(np.nan_to_num(np.abs(residual) / scales, nan=math.inf))
    what = " with the held joints" if hold else ""
    if np.isnan(residual[i]):
        raise ConfigurationError(
            f"project: {loops.every.labels[i]} gives no finite number at q. Start where its function is defined "
            "(model.q_reference is such a pose)."
        )
    raise ConfigurationError(
        f"project: the loops do not close{what}: {loops.every.labels[i]} stays open by {abs(residual[i]):.4g} "
        f"{loops.every.units[i]}".rstrip()
        + ". Start nearer to an assembled pose"
        + (", or hold fewer joints of its cluster." if hold else " (model.q_reference is one).")
    )


def assemble(model: ClusterModel, at: int, q: np.ndarray, hold: list[int]) -> np.ndarray | None:
    """Return q with the loops of one of the clusters that have some closed from afar; None if they do not close.

    ``hold`` are the indices in the tree's v of the joints that stay.
    """
    loop, tree = loops_of(model).clusters[at], model.own_tree
    try:
        closed = project_slowly(Equations(tree, loop.kept), tree, q, hold, rank_tolerance=1e-9)
    except AssemblyFailure:
        return None
    every = Equations(tree, loop.closures)
    return None if np.any(np.abs(every.residual(closed)) > 1e-4 * every.scales(closed)) else closed


def _is_closed(loops: Loops, q: np.ndarray) -> bool:
    """Whether the rows that repeat others are closed as well: far away they may not be."""
    return bool(np.all(np.abs(loops.every.residual(q)) < 1e-4 * loops.every.scales(q)))


def check_closed(model: ClusterModel, q: np.ndarray, tolerance: float, name: str = "q") -> None:
    """Check that the loops are closed; ``ConfigurationError`` names the row that is not."""
    loops = loops_of(model)
    residual, scales = loops.every.residual(q), loops.every.scales(q)
    allowed = np.maximum(tolerance, 1.01e-4 * _redundant(loops)) * scales
    excess = np.abs(residual) / allowed
    if excess.size and excess.max() > 1.0:
        i = np.argmax(excess)
        raise ConfigurationError(
            f"{name} is off the loops of model {model.name!r}: {loops.every.labels[i]} is open by {residual[i]:+.3g} "
            f"{loops.every.units[i]}".rstrip()
            + f". Use {name} = pc.project(model, {name}), and move {name} with pc.integrate."
        )


def _redundant(loops: Loops) -> np.ndarray:
    """Return 1 for rows that repeat others and miss by what a file left out, else 0."""
    return np.concatenate(
        [np.zeros(0), *(np.full(c.size, float(loop.dropped > 1e-9)) for loop in loops.clusters for c in loop.closures)]
    )[: loops.every.size]


def same_pose(model: ClusterModel, q0: np.ndarray, q1: np.ndarray, tolerance: float, *, loops_only: bool) -> bool:
    """Whether the joints of loops stand alike, up to whole turns (not those that leave a follower elsewhere)."""
    loops, tree = loops_of(model), model.own_tree
    apart = pin.difference(tree, q0, q1)[loops.dependents]
    period = loops.turns if loops_only else loops.periods
    return bool(np.all(np.abs(apart - period * np.round(apart / period)) < tolerance))


def _periods(model: ClusterModel, dependents: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return a turn of each hinge, and how many turn what follows it as a whole; 1e300 where there are none."""
    tree, rows = model.own_tree, model.tables.topology.substituted
    chains = [primitives_of(tree.joints[j], tree.jointPlacements[j], tree.names[j]) for j in range(1, tree.njoints)]
    hinges = {p.iv for chain in chains for p in chain if p.kind == layout.REVOLUTE}
    round_ones = hinges | {p.iv for chain in chains for p in chain if p.kind == layout.CONTINUOUS}
    found = np.full(len(dependents), 1e300)
    for i, iv in enumerate(dependents):
        if iv not in hinges:
            continue
        turned = {iv: 1.0}
        for row in rows:  # masters come before dependents
            at = tree.idx_vs[row.dependent]
            turned[at] = in_order((turned.get(at, 0.0), *(c * turned.get(tree.idx_vs[m], 0.0) for m, c in row.terms)))
        if all(at in round_ones for at, x in turned.items() if x):
            parts = np.array([*turned.values()])
            whole = (n for n in range(1, MOST_TURNS + 1) if np.abs(n * parts - np.round(n * parts)).max() < 1e-12)
            found[i] = 2.0 * math.pi * next(whole, math.inf)
    return np.where([iv in hinges for iv in dependents], 2.0 * math.pi, 1e300), np.minimum(found, 1e300)


def analysis_of(model: ClusterModel, cluster: Any) -> int:
    """Return which of the clusters with loops holds a joint of that name, or is that ``Cluster``.

    Raises:
        ConfigurationError: The cluster has no loops.
    """
    loops, tree = loops_of(model), model.own_tree
    names = getattr(cluster, "joints", None)
    j = model.getJointId(names[0] if names else cluster)
    for i, loop in enumerate(loops.clusters):
        if j in loop.joints:
            return i
    raise ConfigurationError(
        f"the cluster of joint {tree.names[j]!r} has no closed loops, so its assembly is unique. Clusters with loops: "
        + "; ".join(", ".join(names_of_cluster(model, loop.joints)) for loop in loops.clusters)
        + "."
    )
