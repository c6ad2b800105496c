"""Where ``pin.GeometryModel`` and ``pin.GeometryData`` keep what Pinocchio reads without a check of sizes.

That are the number of shapes, their joints, and the list of placements. As long as these words are unchanged, a check
of the two objects still holds. Their places are found by looking at live objects, never assumed.
"""

import functools
import itertools
from typing import Any, NamedTuple

import pinocchio as pin

from ..compiler.calls.watch import Watch, word
from .tree_memory import holder_at, object_at

_LOOKED_AT = 7
"""So many words of an object are looked at: two lists and a number; both objects have more."""
_JOINTS = 7001, 7002, 7003
"""Joints of the shapes that are looked at: numbers that nothing else has."""


class Layout(NamedTuple):
    """Bytes from the beginning of an object, and within a shape; first words of holders."""

    number: int  # of shapes
    shapes: int  # where the list of shapes begins; its end is behind it
    size: int  # of a shape
    joint: int  # in a shape
    placements: int  # of a geometry data: where the list of placements begins
    holders: tuple[int, int]  # of a geometry model and of its data, if they hold their object themselves


def watch(model: Any, data: Any) -> Watch | None:
    """Return the words of a ``pin.GeometryModel`` and a ``pin.GeometryData``; None if their places are unknown."""
    at = _layout()
    if at is None or (_holder(model), _holder(data)) != at.holders or not model.ngeoms:
        return None
    first, second = object_at(model), object_at(data)
    places = [holder_at(model), first + at.number, first + at.shapes, first + at.shapes + 8]
    places += [holder_at(data), second + at.placements, second + at.placements + 8]
    return Watch(places, ((first + at.shapes, at.size * i + at.joint) for i in range(model.ngeoms)))


def _holder(thing: Any) -> int:
    """Return the first word of the holder of an object."""
    holder = word(holder_at(thing))
    return word(holder) if holder else 0


@functools.cache
def _layout() -> Layout | None:
    """Return where the words are; None if one does not show up in one place."""
    numbers, lists, placements, holders = list[set[int]](), list[set[tuple[int, int]]](), list[set[int]](), set[Any]()
    for n in (2, 3):
        model = pin.GeometryModel()
        for joint in _JOINTS[:n]:
            shape = pin.GeometryObject(str(joint), joint, pin.SE3.Identity(), pin.hppfcl.Sphere(0.1))
            model.addGeometryObject(shape)
        data = model.createData()
        of_model, of_data = ([word(object_at(x) + 8 * i) for i in range(_LOOKED_AT)] for x in (model, data))
        numbers.append({8 * i for i, x in enumerate(of_model) if x == n})
        lists.append({(8 * i, size // n) for i, size in _lists(of_model) if size % (8 * n) == 0})
        placements.append({8 * i for i, size in _lists(of_data) if size == 96 * n})
        holders.add((_holder(model), _holder(data)))
    number, shapes, placed = set.intersection(*numbers), set.intersection(*lists), set.intersection(*placements)
    if [len(number), len(shapes), len(placed), len(holders)] != [1, 1, 1, 1]:
        return None
    at, size = shapes.pop()
    begin = word(object_at(model) + at)
    joints = [j for j in range(0, size, 8) if [word(begin + size * i + j) for i in range(3)] == list(_JOINTS)]
    return Layout(number.pop(), at, size, joints[0], placed.pop(), holders.pop()) if len(joints) == 1 else None


def _lists(words: list[int]) -> list[tuple[int, int]]:
    """Return the indices of words where a list may begin, and its size in bytes if the next word is its end."""
    pairs = enumerate(itertools.pairwise(words))
    return [(i, end - begin) for i, (begin, end) in pairs if 2**20 < begin < end < begin + 2**20]
