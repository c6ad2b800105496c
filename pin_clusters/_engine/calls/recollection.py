"""Lists of names and ids that were given before, and what became of them: calls in machine code know them again.

A list is known by the objects in it, which nobody can change and which are kept, not by itself, which anybody can. What
nobody can change is known by its address: it is the number of an empty list.
"""

from typing import Any

import numpy as np

from .record import Count, Record, Sizes, Table

# questions: names of joints; frames at which forces act, beside the robot's own inputs, or beside as many given ones.
# Frames of which products are wanted have the address of what tells the rows
HYBRID_NAMES, OWN_INPUTS, GIVEN_INPUTS = range(1, 4)
_MOST_OBJECTS, MOST_ROWS = 32, 16
_FIXED = (str, int, np.int64)


class Remembered(Record):
    """A list that was given before."""

    first = Count()  # what was asked
    second = Count()  # also the address of an object
    count = Count()  # of the objects
    thing = Count()  # where what was kept is
    objects = Sizes(_MOST_OBJECTS)


class Recollection(Table):
    """What was asked before; the oldest is forgotten where there are too many."""

    __slots__ = ("_kept", "_next", "_places")

    row = Remembered

    def __init__(self) -> None:
        super().__init__(MOST_ROWS)
        self._places: dict[Any, int] = {}
        self._kept: list[Any] = [None] * MOST_ROWS
        self._next = 0

    def keep(self, first: int, second: int, objects: Any, address: int, *kept: Any) -> None:
        """Keep under two numbers and a list or tuple of names or ids; others are not kept.

        Args:
            first: A number.
            second: Another one, which may be the address of an object.
            objects: The names or ids.
            address: What is to be found.
            kept: What the numbers are addresses of.
        """
        if type(objects) not in (list, tuple) or len(objects) > _MOST_OBJECTS:
            return
        if not all(type(x) in _FIXED for x in objects):
            return
        key = (first, second, *map(id, objects))
        if key in self._places:
            return
        i = self._next
        self._next = (i + 1) % MOST_ROWS
        before = self._kept[i]  # until its row is another one: signals and the collector may call
        if before is not None:
            self._places.pop(before[0], None)
        self._kept[i], self._places[key] = (key, tuple(objects), kept), i
        self.write(i, first=first, second=second, count=len(objects), thing=address, objects=key[2:])
        del before
