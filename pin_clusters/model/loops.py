"""Computes the residual and the condition number of closed loops, and closes the loops."""

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
from .assembly.project import OPEN_TOLERANCE, RANK_TOLERANCE, AssemblyFailure
from .cluster_model import ClusterModel
from .primitives import primitives_of
from .topology import Topology

MOST_TURNS = 100  # maximum number of turns after which a repetition of the pose is detected


class Loops:
    """The equations of a model's closed loops, and memory for the kernels; each thread needs its own instance.

    ``every`` contains the equations of all closures; ``solved`` contains only the equations that are solved, whose
    residuals are divided by ``scales``. ``dependents`` are the indices of the dependent velocities in the tree's v.
    ``entries`` contains the indices in q of the joints in clusters with loops, ``independent_entries`` the indices in q
    of all independent joints. If a dependent joint turns by ``turns`` [rad], the pose of the loops does not change; if
    it turns by ``periods`` [rad], the pose of the whole robot does not change.
    """

    def __init__(self, model: ClusterModel) -> None:
        tree, topology = model.own_tree, model.tables.topology
        self.every = Equations(tree, topology.closures)
        self.clusters = topology.analyses
        self.solved = Equations(tree, [c for loop in self.clusters for c in loop.kept])
        self.scales = np.concatenate([np.zeros(0), *(loop.scales for loop in self.clusters)])
        self.dependents = np.array([iv for loop in self.clusters for iv in loop.dependents], dtype=np.int64)
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
        K = self.solved.jacobian(q) / self.scales[:, None]
        conditions = []
        for loop, a, b in zip(self.clusters, self.rows_of, self.rows_of[1:], strict=False):
            columns = [*loop.dependents, *loop.independents]
            K_cluster = K[a:b, columns]
            conditions.append((*condition_numbers(K_cluster, range(len(loop.dependents))), K_cluster))
        return conditions


_local = threading.local()


def loops_of(model: ClusterModel) -> Loops:
    cached: dict[int, tuple[Topology, Loops]] | None = getattr(_local, "known", None)
    if cached is None:
        cached = _local.known = {}
    key = id(model.tables.topology)
    entry = cached.get(key)
    if entry is None or entry[0] is not model.tables.topology:
        if len(cached) > 64:  # Long sweeps create many models, so the cache is limited.
            cached.clear()
        entry = cached[key] = (model.tables.topology, Loops(model))
    return entry[1]


def movers_of(model: ClusterModel) -> Any:
    """Return robot-specific functions that move the loops, selected at the first call; None means generic kernels."""
    if model._movers is None:
        object.__setattr__(model, "_movers", (functions_of(model),))
    assert model._movers is not None
    return model._movers[0]


def names_of_cluster(model: ClusterModel, joints: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(model.own_tree.names[j] for j in joints)


def close(model: ClusterModel, q: np.ndarray, hold: list[int]) -> np.ndarray:
    """Close the loops by the smallest change of q; joints with indices ``hold`` in the tree's v do not move."""
    loops, tree = loops_of(model), model.own_tree
    followers = [row for loop in loops.clusters for row in loop.followers]
    if loops.compiled and not followers:
        closed, held = q.copy(), np.zeros(tree.nv)
        held[hold] = 1.0
        if code_of(movers_of(model), kernels.project).call(loops.pointer, closed, held) == 0:
            far = np.abs(closed - q).max(initial=0.0) > 0.5
            if not far or _is_closed(loops, closed):
                return closed
    equations = Equations(tree, loops.solved.closures, followers)
    for tolerance, eq in ((1e-9, equations), (RANK_TOLERANCE, Equations(tree, loops.every.closures, followers))):
        try:
            closed = project_slowly(eq, tree, q, hold, rank_tolerance=tolerance)
        except AssemblyFailure as failure:
            last = failure.q
            continue
        if _is_closed(loops, closed):
            return closed
        last = closed
    residual, scales = loops.every.residual(last), loops.every.scales(last)
    i = np.argmax(np.nan_to_num(np.abs(residual) / scales, nan=math.inf))
    suffix = " with the held joints" if hold else ""
    if np.isnan(residual[i]):
        raise ConfigurationError(
            f"project: {loops.every.labels[i]} is not finite at q. Start where its function is defined, such as at "
            "model.q_reference."
        )
    raise ConfigurationError(
        f"project: the loops do not close{suffix}: {loops.every.labels[i]} stays open by {abs(residual[i]):.4g} "
        f"{loops.every.units[i]}".rstrip()
        + ". Start nearer to an assembled pose"
        + (", or hold fewer joints of its cluster." if hold else ", such as model.q_reference.")
    )


def assemble(model: ClusterModel, at: int, q: np.ndarray, hold: list[int]) -> np.ndarray | None:
    """Close the loops of one cluster from any q; joints ``hold`` do not move. Return None if the loops do not close."""
    loop, tree = loops_of(model).clusters[at], model.own_tree
    try:
        closed = project_slowly(Equations(tree, loop.kept), tree, q, hold, rank_tolerance=1e-9)
    except AssemblyFailure:
        return None
    every = Equations(tree, loop.closures)
    return None if np.any(np.abs(every.residual(closed)) > OPEN_TOLERANCE * every.scales(closed)) else closed


def _is_closed(loops: Loops, q: np.ndarray) -> bool:
    """Return whether all constraint equations hold, including redundant equations, which are not solved."""
    return bool(np.all(np.abs(loops.every.residual(q)) < OPEN_TOLERANCE * loops.every.scales(q)))


def check_closed(model: ClusterModel, q: np.ndarray, tolerance: float, name: str = "q") -> None:
    loops = loops_of(model)
    residual, scales = loops.every.residual(q), loops.every.scales(q)
    allowed = np.maximum(tolerance, 1.01 * OPEN_TOLERANCE * _redundant(loops)) * scales
    excess = np.abs(residual) / allowed
    if excess.size and excess.max() > 1.0:
        i = np.argmax(excess)
        raise ConfigurationError(
            f"{name} violates the loops of model {model.name!r}: {loops.every.labels[i]} is open by {residual[i]:+.3g} "
            f"{loops.every.units[i]}".rstrip()
            + f". Use {name} = pc.project(model, {name}), and move {name} with pc.integrate."
        )


def _redundant(loops: Loops) -> np.ndarray:
    """Return 1 for each equation of a cluster in which rounded inputs violate redundant equations, otherwise 0."""
    return np.concatenate(
        [np.zeros(0), *(np.full(c.size, float(loop.dropped > 1e-9)) for loop in loops.clusters for c in loop.closures)]
    )[: loops.every.size]


def same_pose(model: ClusterModel, q0: np.ndarray, q1: np.ndarray, tolerance: float, *, loops_only: bool) -> bool:
    """Return whether loop joints agree up to full turns; unless ``loops_only``, turns must not move other joints."""
    loops, tree = loops_of(model), model.own_tree
    gaps = pin.difference(tree, q0, q1)[loops.dependents]
    period = loops.turns if loops_only else loops.periods
    return bool(np.all(np.abs(gaps - period * np.round(gaps / period)) < tolerance))


def _periods(model: ClusterModel, dependents: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return ``turns`` and ``periods`` of each dependent joint (see ``Loops``), [rad]; 1e300 if there is no period."""
    tree, rows = model.own_tree, model.tables.topology.substituted
    chains = [primitives_of(tree.joints[j], tree.jointPlacements[j], tree.names[j]) for j in range(1, tree.njoints)]
    hinges = {p.iv for chain in chains for p in chain if p.kind == layout.REVOLUTE}
    round_ones = hinges | {p.iv for chain in chains for p in chain if p.kind == layout.CONTINUOUS}
    periods = np.full(len(dependents), 1e300)
    for i, iv in enumerate(dependents):
        if iv not in hinges:
            continue
        turned = {iv: 1.0}
        for row in rows:  # independent joints come before their followers
            k = tree.idx_vs[row.dependent]
            turned[k] = in_order((turned.get(k, 0.0), *(c * turned.get(tree.idx_vs[m], 0.0) for m, c in row.terms)))
        if all(k in round_ones for k, x in turned.items() if x):
            parts = np.array([*turned.values()])
            whole_turns = (n for n in range(1, MOST_TURNS + 1) if np.abs(n * parts - np.round(n * parts)).max() < 1e-12)
            periods[i] = 2.0 * math.pi * next(whole_turns, math.inf)
    return np.where([iv in hinges for iv in dependents], 2.0 * math.pi, 1e300), np.minimum(periods, 1e300)


def analysis_of(model: ClusterModel, cluster: Any) -> int:
    """Return the index of a cluster among the clusters with loops; pass a ``Cluster`` or the name of a joint in it."""
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
