"""Draws rods and loop closures in colours that depend on their residuals."""

import numpy as np

from ..constraints.closures import FrameClosure, RodClosure
from ..model import ClusterModel
from ..model.configuration import residual, residual_rows
from . import meshes, palette
from .nodes import Between, Node, Rigid
from .rotors import name_of_node
from .skeleton import Skeleton, ends_of, rods_of


def nodes(skeleton: Skeleton) -> list[Node]:
    parts: list[Node] = []
    u, white = skeleton.unit, palette.MARK
    for i, c in enumerate(skeleton.model.closures):
        path = f"closures/{i}_{name_of_node(c.source.label)}"
        for k, (a, b) in enumerate([ends_of(c)] if isinstance(c, RodClosure) else rods_of(skeleton.model, c)):
            n = k or ""
            parts.append(Between(f"{path}/rod{n}", meshes.cylinder(0.032 * u, 0.0, 1.0, white), *a, *b, closure=i))
            for end, (body, point) in zip("ab", (a, b), strict=True):
                parts.append(Rigid(f"{path}/{end}{n}", meshes.ball(0.055 * u, point, palette.BASE), body))
        if isinstance(c, FrameClosure):
            a, b = ends_of(c)
            parts.append(Between(f"{path}/gap", meshes.cylinder(0.03 * u, 0.0, 1.0, white), *a, *b, closure=i))
            outer = meshes.cylinder(0.1 * u, -0.12 * u, 0.12 * u, white)
            parts.append(Rigid(f"{path}/a", outer, c.joint_a, c.placement_a, closure=i))
            inner = meshes.cylinder(0.065 * u, -0.16 * u, 0.16 * u, palette.STRUCTURE)
            parts.append(Rigid(f"{path}/b", inner, c.joint_b, c.placement_b))
    return parts


class Residuals:
    """Computes the largest residual of each loop closure, as a fraction of its scale."""

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        self._first = len(model.coupling_rows)
        self._scales = np.array([max(row.scale, 1e-12) for row in residual_rows(model)[self._first :]])
        self._starts = np.cumsum([0, *(c.size for c in model.closures)])[:-1]

    def __call__(self, q: np.ndarray) -> np.ndarray:
        if not len(self._starts):
            return np.zeros(0)
        values = np.abs(residual(self._model, q)[self._first :]) / self._scales
        return np.maximum.reduceat(values, self._starts)
