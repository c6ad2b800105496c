"""The branch that a constraint with a closed form asks for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ...constraints._closed_form import ClosedForm
from ...constraints.closures import Closure
from ...joints import coordinate, set_coordinate, slides
from .subtree import Subtree

SAME = 1e-6
"""Assemblies that are nearer than this meet: a dead centre, which belongs to both branches."""


class Branches:
    """The closed forms of a cluster.

    Args:
        tree: Spanning tree.
        part: The cluster.
        closures: Its closures; those of constraints without a closed form say nothing here.
    """

    def __init__(self, tree: pin.Model, part: Subtree, closures: Sequence[Closure]) -> None:
        self.tree, self.part = tree, part
        sources: list[Any] = []
        for c in closures:
            if hasattr(c.source, "closed_form") and not any(c.source is s for s in sources):
                sources.append(c.source)
        found = [(s, s.closed_form(tree)) for s in sources]
        self.forms: list[tuple[Any, ClosedForm]] = [(s, form) for s, form in found if form is not None]

    def seed(self, q: np.ndarray) -> np.ndarray:
        """Return q of the cluster with each closed form solved on its branch, where it can be; a new array."""
        whole = self._whole(q)
        # twice: what one mechanism gives may be what another one is given
        for _, form in self.forms * 2:
            assemblies = form.solve(np.array([coordinate(self.tree, j, whole) for j in form.independent]))
            if not assemblies:
                continue
            for j, value in zip(form.dependent, assemblies[0], strict=True):
                set_coordinate(self.tree, j, whole, float(value))
        return whole[self.part.iq]

    def left(self, q: np.ndarray) -> list[Any]:
        """Return the constraints that q of the cluster, assembled, shows on another branch than they ask for."""
        whole = self._whole(q)
        return [s for s, form in self.forms if hasattr(s, "branch") and self._is_left(form, whole)]

    def _is_left(self, form: ClosedForm, whole: np.ndarray) -> bool:
        assemblies = form.solve(np.array([coordinate(self.tree, j, whole) for j in form.independent]))
        here = np.array([coordinate(self.tree, j, whole) for j in form.dependent])
        apart = np.array([here - x for x in assemblies]).reshape(len(assemblies), len(here))
        turning = np.array([not slides(self.tree, j) for j in form.dependent], dtype=bool)
        apart[:, turning] = (apart[:, turning] + math.pi) % (2.0 * math.pi) - math.pi
        far = np.abs(apart).max(axis=1, initial=0.0)
        return len(far) > 1 and bool(far[0] > far.min() + SAME)

    def _whole(self, q: np.ndarray) -> np.ndarray:
        whole = np.array(pin.neutral(self.tree))
        whole[self.part.iq] = q
        return whole
