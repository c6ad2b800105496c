"""Derivatives of joint torques with respect to transmission ratios."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ..._support.trees import common_ancestor, coordinate, in_v, path_below
from ...constraints import Belt, Gear
from ...constraints.closures import massive, touched
from ...constraints.rows import Row, joint_id
from ...errors import ModelError
from ...model import ClusterData, ClusterModel, SpanningTree, expand
from .._shared import bridge as _bridge
from .._shared import check as _check


@dataclass(frozen=True, eq=False)
class _Ratio:
    label: str
    joint: int | None  # dependent joint of the tree; None for a rotor that is lumped into its carrier
    row: int  # index in v of the expanded tree
    # for each joint that the dependent joint follows: index in v of the tree, joint id, derivative of the coefficient
    slopes: tuple[tuple[int, int, float], ...]
    offset: float = 0.0  # derivative of the offset of the coupling


@_check.documented(
    """
    References:
        Virtual work, and Carpentier and Mansard, "Analytical derivatives of rigid body dynamics algorithms", 2018.
    """
)
def computeRatioDerivatives(
    model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Compute the derivatives of ``pc.rnea`` with respect to transmission ratios, for identification and design.

    The independent coordinates, velocities and accelerations are constant; the coordinates of dependent joints change
    with the ratio. The function uses Pinocchio's derivatives for the tree in which every rotor is a body.

    Returns:
        Derivatives, shape (nv, ratios), [N m] or [N] per unit ratio, and one label per column. The rotors come
        first, then ``Gear``, ``Belt`` and other constant couplings, in the order of ``model.coupling_rows``.

    Raises:
        ModelError: A coupling moves a joint of a closed loop or of a rod with mass.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("mit_humanoid_leg")
        >>> q, v, a = pc.neutral(model), np.ones(model.nv), np.ones(model.nv)
        >>> slopes, labels = pc.computeRatioDerivatives(model, model.createData(), q, v, a)
        >>> slopes.shape, labels[0]
        ((5, 5), "Belt('hip_rz', 'hip_rz_rotor'): ratio")
    """
    q, v, a = _check.motion(model, data, q, v, a)
    G, g = _bridge.matrix_and_bias(model, data, q, v)
    span = expand(model)
    tree, work = span.tree, span.tree.createData()
    ratios = _ratios(model, span)
    moved = np.array([_response(model, span, r) for r in ratios]).reshape(len(ratios), tree.nv)
    _refuse_loops(model, span, ratios, moved)
    rates, rises = G @ v, G @ a + g
    G_all, state = span.from_tree @ G, span.configuration(q)
    slopes = pin.computeRNEADerivatives(tree, work, state, span.from_tree @ rates, span.from_tree @ rises)
    of_q, of_v, of_a = (np.array(x) for x in slopes)
    torque = np.array(pin.rnea(tree, work, state, span.from_tree @ rates, span.from_tree @ rises))
    result = np.zeros((model.nv, len(ratios)))
    for column, (ratio, response) in enumerate(zip(ratios, moved, strict=True)):
        row, speed, gain, angle = np.zeros(model.nv), 0.0, 0.0, ratio.offset
        for iv, j, slope in ratio.slopes:
            row += slope * G[iv]
            speed += slope * rates[iv]
            gain += slope * rises[iv]
            if ratio.joint is not None:  # torques do not depend on the angle of a lumped rotor
                angle += slope * coordinate(model.own_tree, j, q)
        change = of_v @ response * speed + of_a @ response * gain
        if ratio.joint is not None:
            change += of_q @ response * angle
        result[:, column] = row * (response @ torque) + G_all.T @ change
    return result, tuple(r.label for r in ratios)


def _ratios(model: ClusterModel, span: SpanningTree) -> list[_Ratio]:
    tree, ratios = model.own_tree, []
    names = {tree.idx_vs[j]: (j, tree.names[j]) for j in range(1, tree.njoints) if tree.nvs[j]}
    spinning = [r for r in model.rotors if r.source is not None]
    for j, r in zip(span.rotors, spinning, strict=True):
        for iv, _ in r.drivers:
            joint, name = names[iv]
            label = f"{r.source.label}: ratio" + (f" of {name}" if len(r.drivers) > 1 else "")
            ratios.append(_Ratio(label, None, span.tree.idx_vs[j], ((iv, joint, 1.0),)))
    for row in model.coupling_rows:
        index = int(span.from_tree_v[tree.idx_vs[row.dependent]])
        followed = [(int(tree.idx_vs[m]), int(m)) for m in row.masters]
        if isinstance(row.source, (Gear, Belt)):
            slopes, offset = _slopes(model, row)
            terms = tuple((*m, slope) for m, slope in zip(followed, slopes, strict=True))
            ratios.append(_Ratio(f"{row.source.label}: ratio", row.dependent, index, terms, offset))
            continue
        for iv, m in followed:
            label = f"{row.source.label}: coefficient of {tree.names[m]}"
            if len({r.dependent for r in model.coupling_rows if r.source is row.source}) > 1:
                label += f" in {tree.names[row.dependent]}"
            ratios.append(_Ratio(label, row.dependent, index, ((iv, m, 1.0),)))
    return ratios


def _slopes(model: ClusterModel, row: Row) -> tuple[list[float], float]:
    source, tree = row.source, model.own_tree
    if isinstance(source, Gear):
        return [1.0], 0.0
    first, last = (joint_id(tree, name, source.label) for name in (source.predecessor, source.successor))
    top = common_ancestor(tree, (first, last))
    before, after = path_below(tree, top, first), path_below(tree, top, last)
    if row.dependent in after:
        return [float(m in before) for m in row.masters], 0.0
    return [-float(m in after) / source.ratio**2 for m in row.masters], source.offset / source.ratio**2


def _response(model: ClusterModel, span: SpanningTree, ratio: _Ratio) -> np.ndarray:
    """Compute the velocity of the tree with rotor bodies if the joint or rotor with this ratio has velocity 1."""
    tree, velocity = model.own_tree, np.zeros(model.own_tree.nv)
    if ratio.joint is None:
        result = np.zeros(span.tree.nv)
        result[ratio.row] = 1.0
        return result
    velocity[tree.idx_vs[ratio.joint]] = 1.0
    for row in model.coupling_rows:  # in model.coupling_rows, masters precede their dependent joints
        if row.dependent != ratio.joint:
            velocity[tree.idx_vs[row.dependent]] = sum(c * velocity[tree.idx_vs[m]] for m, c in row.terms)
    return np.asarray(span.from_tree @ velocity)


def _refuse_loops(model: ClusterModel, span: SpanningTree, ratios: list[_Ratio], moved: np.ndarray) -> None:
    tree = model.own_tree
    tied = touched(tree, model.closures)
    for rod in massive(model.closures):
        tied |= {int(j) for body in rod.bodies for j in tree.supports[body]}
    for ratio, response in zip(ratios, moved, strict=True):
        if ratio.joint is None:
            continue
        hit = [j for j in sorted(tied - {0}) if np.any(response[span.from_tree_v[list(in_v(tree, j))]])]
        if hit:
            raise ModelError(
                f"computeRatioDerivatives: {ratio.label} moves joint {tree.names[hit[0]]!r} of a loop; this is not "
                "supported. Instead, create models with slightly different ratios, close their loops with pc.project "
                "for the same independent coordinates, and take finite differences of pc.rnea."
            )
