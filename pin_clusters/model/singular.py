"""Writes error messages for joints without inertia and for singular poses; suggests other independent joints."""

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
    return next(i for i, loop in enumerate(loops_of(model).clusters) if set(loop.joints) == set(joints))


def regular_independents(
    model: ClusterModel, at: int, q: np.ndarray, slack: float = 10.0
) -> tuple[tuple[str, ...], float] | None:
    """Return well-conditioned independent joints at q for a cluster with loops, and the condition number of K_d.

    ``at`` is the index among the clusters with loops. Choices whose condition number is within a factor ``slack`` of
    the best are equivalent; the function returns the first of these. The result is None if K itself loses rank.
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
    loops, tree = loops_of(model), model.own_tree
    names, index = names_of_cluster(model, joints), cluster_at(model, joints)
    for closure in loops.clusters[index].kept:
        if not np.isfinite(Equations(tree, [closure]).jacobian(q)).all():
            return SingularClusterError(
                f"{closure.source.label} is not finite at this pose, so the joints {', '.join(map(repr, names))} are "
                "not determined. Its function must be defined at all poses that the mechanism reaches.",
                names,
            )
    condition = max(loops.conditions(q)[index][1], CONDITION_LIMIT)  # NumPy's value may be slightly below the limit.
    text = (
        f"the loops of the joints {', '.join(map(repr, names))} are singular at this pose: the condition number of "
        f"K_d, which determines the dependent joints, is {condition:.3g} (limit {CONDITION_LIMIT:g}). "
    )
    better = regular_independents(model, index, q)
    if better is None:
        text += (
            "K itself loses rank here (a change point), so no choice of independent joints is regular. Use steps "
            "that do not end at this pose, or use a closed form (pc.Differential.parallelogram)."
        )
    else:
        regular = list(better[0])
        text += f"With {regular} independent, it is regular: model, _ = pc.with_independent(model, {regular})."
    return SingularClusterError(text, names)


def weightless_error(model: ClusterModel, joints: tuple[int, ...]) -> SingularClusterError:
    names = tuple(model.own_tree.names[j] for j in joints)
    text = f"the joint(s) {', '.join(map(repr, names))} move no inertia: their inertia D is zero or negative, so no "
    text += "torque causes a finite acceleration. "
    if heavy := overweight(model.own_tree, model.rotors):
        excess = ", ".join(
            f"{r.name!r} with {r.axial_inertia:g} on {r.carrier!r} (at most {x:.3g})" for r, x in heavy[:3]
        )
        text += (
            f"Links include rotors with more axial inertia [kg m^2] than the links have: {excess}. {UNITS} If the "
            "numbers are right, specify the rotors by inertia=, which is added to their carriers."
        )
    else:
        text += "Add mass and inertia to the bodies that these joints move, or an armature or a rotor to the joints."
    return SingularClusterError(text, names)
