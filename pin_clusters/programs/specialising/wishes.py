"""Kernels that do what they are told to: each wish has code of its own, which is made when it is asked for first.

Calls in machine code go to a function that looks the wish up in a table of the model.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._engine.entry_points import Pointer
from ..._engine.native.words import SIZE
from ..._engine.operations import COUPLING_DERIVATIVES, TREE, Function, Operation, names
from ..machine_code.loading import load_made_of
from . import entry

_MOST = 60  # wishes of one model that machine code finds
_TABLE = 8  # in the block of tables
OF_WISHES = {one.name: one for one in (TREE, COUPLING_DERIVATIVES)}
"""Operations of such kernels, by name."""


def wish(operation: Operation, what: int, level: int) -> Function:
    """Return the declaration of what does one wish; level: 0 places, 1 velocities as well, 2 accelerations."""
    return Function(f"{operation.name} {what} {level}", operation, ("q", "q v", "q v a")[level], "", "")


def wish_of(name: str) -> Function:
    """Return the declaration of what has that name."""
    operation, what, level = name.split()
    return wish(OF_WISHES[operation], int(what), int(level))


def _finder(operation: Operation) -> str:
    """Return the module of what looks a wish up, and goes there: in a table of pairs behind their number."""
    first, words = entry.words_of(operation)
    what = f"%w{first['what']}" if "what" in first else "0"
    given = ", ".join(f"i64 %w{i}" for i in range(words))
    return f"""define i32 @entry({given}) nounwind {{
start:
  %tables = inttoptr i64 %w2 to ptr
  %place = getelementptr i64, ptr %tables, i64 {_TABLE}
  %address = load i64, ptr %place
  %table = inttoptr i64 %address to ptr
  %count = load i64, ptr %table
  %moves = icmp ne i64 %w{first["v"] + SIZE}, 0
  %speeds.up = icmp ne i64 %w{first["a"] + SIZE}, 0
  %one = zext i1 %moves to i64
  %two = zext i1 %speeds.up to i64
  %level = add i64 %one, %two
  %higher = mul i64 {what}, 4
  %wish = add i64 %higher, %level
  br label %head
head:
  %i = phi i64 [ 0, %start ], [ %next, %body ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %body, label %none
body:
  %twice = mul i64 %i, 2
  %at = add i64 %twice, 1
  %key.at = getelementptr i64, ptr %table, i64 %at
  %key = load i64, ptr %key.at
  %next = add i64 %i, 1
  %same = icmp eq i64 %key, %wish
  br i1 %same, label %found, label %head
found:
  %code.at = getelementptr i64, ptr %key.at, i64 1
  %code = load i64, ptr %code.at
  %function = inttoptr i64 %code to ptr
  %done = tail call i32 %function({given})
  ret i32 %done
none:
  %where = inttoptr i64 %w0 to ptr
  store i64 {entry.LEFT_TO_KERNEL}, ptr %where
  ret i32 0
}}
"""


class Wishes:
    """All that a kernel does for one model: called as the kernel is.

    Attributes:
        own: Address of what finds them; 0 as long as there are none.
        table: Pairs of wish and address, behind their number: to which the tables of data lead.
    """

    def __init__(self, operation: Operation, make: Callable[[Function], Any]) -> None:
        """Begin with none.

        Args:
            operation: Of the kernel.
            make: Returns what does one wish, of its declaration.
        """
        self._operation, self._make, self._lock = operation, make, threading.Lock()
        self.table, self.own = np.zeros(1 + 2 * _MOST, dtype=np.int64), 0

    def call(self, pointer: Pointer, *arguments: Any) -> int:
        """Do what the kernel does, and return its code."""
        given = dict(zip(names(self._operation.takes), arguments, strict=True))
        what, level = given.get("what", 0), (given["v"].size > 0) + (given["a"].size > 0)
        made = self._make(wish(self._operation, what, level))
        with self._lock:
            count, key = int(self.table[0]), 4 * what + level
            if count < _MOST and key not in self.table[1 : 1 + 2 * count : 2]:
                self.table[1 + 2 * count : 3 + 2 * count] = key, made.address()
                self.table[0] = count + 1  # last: other threads may look now
            if not self.own:
                text = _finder(self._operation)
                found = load_made_of([text], lambda: text)
                self.own = 0 if found is None else found.address("entry")
        return int(made.call(pointer, *arguments))
