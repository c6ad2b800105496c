"""Singular poses: what is wrong there, and which independent joints would be regular; and joints without inertia."""

import numpy as np

from .._support.trees import in_v
from ..errors import SingularClusterError
from ..kernels.tables.layout import CONDITION_LIMIT
from .assembly import choose_independents
from .assembly.evaluate import Equations
from .cluster_model import ClusterModel
from .loops import loops_of, names_of_cluster
from .plausibility import UNITS, overweight


def cluster_at(model: ClusterModel, joints: tuple[int, ...]) -> int:
    """Return which of the clusters with loops has these joints."""
    return next(i for i, loop in enumerate(loops_of(model).clusters) if set(loop.joints) == set(joints))


def regular_independents(
    model: ClusterModel, at: int, q: np.ndarray, slack: float = 10.0
) -> tuple[tuple[str, ...], float] | None:
    """Return joints of a cluster with loops that are a good choice of independent ones at q.

    Args:
        model: Cluster model.
        at: Which of the clusters with loops.
        q: Configuration of the whole tree, shape (nq,).
        slack: A choice is as good as the best one if its condition is within this factor; the first joints are taken.

    Returns:
        Their names and the condition of the dependent joints with them; None where K itself loses rank.
    """
    loops, tree = loops_of(model), model.own_tree
    loop = loops.clusters[at]
    cond_K, _, K = loops.conditions(q)[at]
    if not cond_K < CONDITION_LIMIT:
        return None
    columns = [*loop.dependents, *loop.independents]
    order = np.argsort(columns)
    where = {columns[i]: k for k, i in enumerate(order)}  # index in the tree's v -> column of the sorted K
    groups = [[where[iv] for iv in in_v(tree, j)] for j in loop.joints if tree.idx_vs[j] in where]
    best = choose_independents([K[:, order]], groups, len(loop.dependents), slack)
    if best is None or not best[1] < CONDITION_LIMIT:
        return None
    free = {columns[order[c]] for c in best[0]}
    return tuple(tree.names[j] for j in loop.joints if tree.idx_vs[j] in free), best[1]


def singular_error(model: ClusterModel, joints: tuple[int, ...], q: np.ndarray) -> SingularClusterError:
    """Return the error for a cluster whose dependent joints are not determined at q."""
    loops, tree = loops_of(model), model.own_tree
    names, at = names_of_cluster(model, joints), cluster_at(model, joints)
    for closure in loops.clusters[at].kept:
        if not np.isfinite(Equations(tree, [closure]).jacobian(q)).all():
            return SingularClusterError(
                f"{closure.source.label} gives no finite number at this pose, so the joints "
                f"{', '.join(map(repr, names))} are not determined. Its function must be defined wherever the "
                "mechanism goes.",
                names,
            )
    condition = max(loops.conditions(q)[at][1], CONDITION_LIMIT)  # kernels judged by a bound, and round otherwise
    text = (
        f"the loops of the joints {', '.join(map(repr, names))} are singular at this pose: the condition of K_d, which "
        f"determines the dependent joints, is {condition:.3g} (limit {CONDITION_LIMIT:g}). "
    )
    better = regular_independents(model, at, q)
    if better is None:
        text += (
            "K itself loses rank here (a change point), so no choice of independent joints is regular: pass it with "
            "a step that does not end on it, or use a closed form (pc.Differential.parallelogram)."
        )
    else:
        regular = list(better[0])
        text += f"With {regular} independent it would be regular: model, _ = pc.with_independent(model, {regular})."
    return SingularClusterError(text, names)


def weightless_error(model: ClusterModel, joints: tuple[int, ...]) -> SingularClusterError:
    """Return the error for a cluster whose independent joints move no inertia, or less than none."""
    names = tuple(model.own_tree.names[j] for j in joints)
    text = f"the joint(s) {', '.join(map(repr, names))} move no inertia: D is zero or negative, so no torque gives a "
    text += "finite acceleration. "
    if heavy := overweight(model.own_tree, model.rotors):
        told = ", ".join(f"{r.name!r} of {r.axial_inertia:g} on {r.carrier!r} (room for {x:.3g})" for r, x in heavy[:3])
        text += (
            f"Links are said to hold rotors of more axial inertia [kg m^2] than they have: {told}. {UNITS} If the "
            "numbers are right, give the rotors by inertia=, which is added to their carriers."
        )
    else:
        text += "Give the bodies that they move a mass and an inertia, or the joints an armature or a rotor."
    return SingularClusterError(text, names)
