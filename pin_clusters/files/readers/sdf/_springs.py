"""``<dynamics>``: springs, damping and friction of the joints of the tree."""

from __future__ import annotations

from ....constraints import Spring
from .._xml import in_words_of
from ._parts import Parts
from ._spanning import Spanning
from ._tree import second


def springs_of(parts: Parts, spanning: Spanning) -> list[Spring]:
    """Return what acts along the joints of the tree by itself; those that close loops have no coordinate for it."""
    found = []
    for branch in spanning.branches:
        for i, axis in enumerate(branch.joint.axes):
            if axis.stiffness or axis.damping or axis.friction:
                name = second(branch.joint.name) if i else branch.joint.name
                with in_words_of(branch.joint.owner):
                    found.append(Spring(name, axis.stiffness, axis.rest, axis.damping, axis.friction))
    return found
