"""The shortest way onto couplings, as terms that a kernel adds up: see ``row_results.projected_at``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._support.trees import in_q
from ..model import ClusterModel, loops_of
from ..model.configuration.manifold import manifold


@dataclass(frozen=True)
class Terms:
    """What is done to a configuration, in an array that has it, residuals and the result.

    Attributes:
        units: First entry and length of what must have unit norm.
        places: To which entry each term is added, and of which one it is a multiple; the latter is negative if the
            entry is set.
        numbers: One per term.
        size: Of the array.
    """

    units: np.ndarray
    places: np.ndarray
    numbers: np.ndarray
    size: int


def terms_of(model: ClusterModel, held: tuple[int, ...]) -> Terms | None:
    """Return the terms for some held joints (ids); None if there is more to do than a kernel knows."""
    shape, tree = manifold(model), model.own_tree
    if not shape.linear or (model.closures and not loops_of(model).compiled):
        return None
    way, nq = shape.way(model, held), model.nq
    if way.rest is not None or len(way.outside) < len(shape.followers):
        return None
    first, result = nq, nq + len(way.outside)
    terms: list[tuple[int, int, float]] = []
    at, to, of = way.residual.at, way.residual.to, way.residual.of
    terms += [(first + k, -1, c) for k, c in zip(at.tolist(), way.residual.constants.tolist(), strict=True)]
    terms += [(first + k, i, c) for k, i, c in zip(to.tolist(), of.tolist(), way.residual.coefficients, strict=True)]
    place = {f.iv: f.iq for f in way.outside} | {iv: iq for f in way.outside for iq, _, iv, _ in f.masters}
    step = way.step
    moves = zip(step.to.tolist(), step.of.tolist(), step.coefficients.tolist(), strict=True)
    terms += [(result + place[iv], first + k, c) for iv, k, c in moves]
    follow = shape.affine if way.outside else None
    if follow is not None:
        terms += [(result + i, -1, c) for i, c in zip(follow.at.tolist(), follow.constants.tolist(), strict=True)]
        leads = zip(follow.to.tolist(), follow.of.tolist(), follow.coefficients.tolist(), strict=True)
        terms += [(result + i, result + k, c) for i, k, c in leads]
        # not even rounding moves a held joint
        for i in (i for j in held for i in in_q(tree, j)):
            terms += [(result + i, -1, 0.0), (result + i, i, 1.0)]
    units = np.array([(a, b - a) for _, a, b in shape.units], dtype=np.int64).reshape(-1, 2)
    places = np.array([x[:2] for x in terms], dtype=np.int64).reshape(-1, 2)
    return Terms(units, places, np.array([x[2] for x in terms], dtype=np.float64), result + nq)
