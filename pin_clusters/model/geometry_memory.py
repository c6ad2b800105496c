"""Finds the 64-bit words of ``pin.GeometryModel`` and ``pin.GeometryData`` that Pinocchio uses without size checks.

The words are the number of shapes, the joint id of each shape, and the list of placements. While these are unchanged,
an earlier check of the two objects remains valid. The addresses are found by inspecting objects in memory.
"""

import functools
import itertools
from typing import Any, NamedTuple

import pinocchio as pin

from ..compiler.calls.watch import Watch, word
from .tree_memory import holder_at, object_at

_LOOKED_AT = 7  # number of words of an object that are searched; both types of objects have more words
_JOINTS = 7001, 7002, 7003  # joint ids of the probe shapes; these numbers occur nowhere else in the objects


class Layout(NamedTuple):
    """Offsets from the beginning of an object, or within a shape, [bytes], and first words of Boost.Python holders."""

    number: int  # offset of the number of shapes
    shapes: int  # offset of the pointer to the first shape; the next word points to the end of the list
    size: int  # size of a shape
    joint: int  # offset of the joint id within a shape
    placements: int  # offset of the pointer to the first placement within a pin.GeometryData
    holders: tuple[int, int]  # first words of the Boost.Python holders of a geometry model and of its data


def watch(model: Any, data: Any) -> Watch | None:
    layout = _layout()
    if layout is None or (_holder(model), _holder(data)) != layout.holders or not model.ngeoms:
        return None
    first, second = object_at(model), object_at(data)
    places = [holder_at(model), first + layout.number, first + layout.shapes, first + layout.shapes + 8]
    places += [holder_at(data), second + layout.placements, second + layout.placements + 8]
    return Watch(places, ((first + layout.shapes, layout.size * i + layout.joint) for i in range(model.ngeoms)))


def _holder(thing: Any) -> int:
    holder = word(holder_at(thing))
    return word(holder) if holder else 0


@functools.cache
def _layout() -> Layout | None:
    """Find the offsets with probe objects; return None if an offset is not unique."""
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
    head, size = shapes.pop()
    begin = word(object_at(model) + head)
    joints = [j for j in range(0, size, 8) if [word(begin + size * i + j) for i in range(3)] == list(_JOINTS)]
    return Layout(number.pop(), head, size, joints[0], placed.pop(), holders.pop()) if len(joints) == 1 else None


def _lists(words: list[int]) -> list[tuple[int, int]]:
    """Return the index of each word that may point to the start of a list, and the size of that list, [bytes]."""
    pairs = enumerate(itertools.pairwise(words))
    return [(i, end - begin) for i, (begin, end) in pairs if 2**20 < begin < end < begin + 2**20]
