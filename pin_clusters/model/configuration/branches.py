"""Finds all assembly modes (branches) of a mechanism for given values of the independent joints."""

import math
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import ArrayLike, configuration
from ..._support.docstrings import COMMON, stock
from ..._support.trees import check_finite, in_q
from ...constraints.contract import LoopConstraint, SolvedConstraint
from .. import ClusterModel, Loops, analysis_of, assemble, loops_of, same_pose
from .manifold import manifold

_STARTS = 64


@stock(COMMON)
def branches(model: ClusterModel, q: ArrayLike, cluster: Any) -> list[np.ndarray]:
    """Return all configurations that close the loops of a cluster, with the positions of independent joints as in q.

    The list is complete if the cluster is one ``FourBar``, ``SliderCrank`` or (for most types) ``Differential`` whose
    closed-form solution gives the dependent joints as functions of the independent joints. Otherwise, Newton's method
    searches for the dependent joints from 64 starting poses, which are the same in every call; it may miss solutions.

    Args:
        cluster: Name of a joint in the cluster, or an entry of ``model.clusters``.

    Returns:
        Configurations of the whole tree, shape (nq,) each, [rad] or [m]. If q closes the loops, its branch comes first.
        The list is empty if the loops cannot be closed for these values of the independent joints.

    Raises:
        UnknownNameError: No joint has this name.
        ConfigurationError: The cluster has no closed loops, or q is not finite.

    References:
        The closed-form solutions of the constraints; Newton's method.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> len(pc.branches(model, pc.neutral(model), "crank"))
        2
    """
    shape = manifold(model)
    q = configuration(model, "q", q)
    check_finite(model.own_tree, "branches: q", q)
    index = analysis_of(model, cluster)
    loops = loops_of(model)
    assemblies = _closed_form(model, loops, index, q)
    if assemblies is None:
        assemblies = _search(model, loops, index, q)
    assemblies = [shape.follow(x) for x in assemblies]
    own_branch = [x for x in assemblies if same_pose(model, q, x, 1e-6, loops_only=True)]
    return [*own_branch, *(x for x in assemblies if not any(x is o for o in own_branch))]


def _closed_form(model: ClusterModel, loops: Loops, at: int, q: np.ndarray) -> list[np.ndarray] | None:
    form = form_of(model, loops.clusters[at])
    return None if form is None else list(form.assemblies(model.own_tree, q))


def form_of(model: ClusterModel, loop: Any) -> Any:
    tree = model.own_tree
    names = {tree.names[j] for j in loop.joints}
    constraints = next(c.constraints for c in model.clusters if set(c.joints) == names)
    forms = [c for c in constraints if isinstance(c, LoopConstraint)]
    form = forms[0].closed_form(tree) if len(forms) == 1 and isinstance(forms[0], SolvedConstraint) else None
    if form is None or {tree.idx_vs[j] for j in form.independent} != set(loop.independents):
        return None
    return form if {tree.idx_vs[j] for j in form.dependent} == set(loop.dependents) else None


def _search(model: ClusterModel, loops: Loops, at: int, q: np.ndarray) -> list[np.ndarray]:
    tree, loop = model.own_tree, loops.clusters[at]
    held_velocities = [iv for iv in range(tree.nv) if iv not in loop.dependents]
    held = [j for j in range(1, tree.njoints) if tree.idx_vs[j] not in loop.dependents]
    held_entries = [i for j in held for i in in_q(tree, j)]
    rng = np.random.default_rng(0)
    assemblies: list[np.ndarray] = []
    for n in range(_STARTS):
        step = np.zeros(tree.nv)
        if n:
            step[list(loop.dependents)] = rng.uniform(-math.pi, math.pi, len(loop.dependents))
        x = assemble(model, at, pin.integrate(tree, q, step), held_velocities)
        if x is None:
            continue
        x[held_entries] = q[held_entries]  # The joints of other clusters keep their exact values.
        if not any(same_pose(model, x, assembly, 1e-6, loops_only=True) for assembly in assemblies):
            assemblies.append(x)
    return assemblies
