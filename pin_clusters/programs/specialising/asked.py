"""Kernels that are asked by tables: which forces act where, which contacts hold. Each question has code of its own.

What is asked is known when the code is made; numbers stay where they stand: placements, torques, Pinocchio's objects.
The first row of the question leads to its code, for calls in machine code, which go to a function that looks there.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..._engine.entry_points import Kernel, Pointer
from ..._engine.kernels.tables import contacts_layout as at
from ..._engine.kernels.tables.layout import CODE
from ..._engine.operations import COLUMNS, CONTACTS, Function, Operation, names
from ...errors import SingularClusterError
from ...model import ClusterModel
from ..machine_code.loading import load_made_of
from ..machine_code.machine import lanes_of_host
from ..tracing._sources import Row, reading, watching
from ..tracing.expressions import INPUT, Graph, needed, select
from ..tracing.run import Run
from . import entry
from .emission import Core, Result
from .functions import BOUNDS

MOST = 60
"""So many questions of a kind have code, of one model; of more, kernels by tables take care."""
OF_QUESTIONS = {one.name: one for one in (COLUMNS, CONTACTS)}
"""Operations of such kernels, by name."""
_READ = {COLUMNS: ("q", "numbers", "B"), CONTACTS: ("q", "v", "tau", "numbers", "forces")}
_WRITTEN = {COLUMNS: ("gram", "response"), CONTACTS: ("numbers", "gram", "forces", "out")}
_OBJECTS = {"model": at.READ_MODEL, "data": at.READ_DATA, "force": 6}
"""Fields of a contact's row that are addresses, and how many numbers are looked at there."""


class Asked:
    """All that a kernel was asked of one model: called as the kernel is.

    Attributes:
        own: Address of what finds the code of a question; 0 as long as there is none.
    """

    def __init__(self, operation: Operation, kernel: Kernel, make: Callable[..., Any]) -> None:
        """Begin with none.

        Args:
            operation: Of the kernel.
            kernel: Which does what has no code.
            make: Returns code, of its declaration and of what writes its module.
        """
        self._operation, self._kernel, self._make, self._lock = operation, kernel, make, threading.Lock()
        self._known: dict[bytes, Function] = {}
        self.own = 0

    def call(self, pointer: Pointer, *arguments: Any) -> int:
        """Do what the kernel does, and return its code."""
        given = dict(zip(names(self._operation.takes), arguments, strict=True))
        key = _key(self._operation, given)
        with self._lock:
            one = self._known.get(key)
            if one is None and key and len(self._known) < MOST:
                name = f"{self._operation.name} {hashlib.sha256(key).hexdigest()[:32]}"
                one = self._known[key] = Function(name, self._operation, " ".join(_READ[self._operation]), "", "")
        if one is None:
            return int(self._kernel.call(pointer, *arguments))
        made = self._make(one, partial(module, given=given))
        with self._lock:
            if not self.own:
                text = _finder(self._operation)
                found = load_made_of([text], lambda: text)
                self.own = 0 if found is None else found.address("entry")
        given["asked"][0, CODE] = made.address()
        return int(made.call(pointer, *arguments))


def _contacts(asked: np.ndarray) -> slice:
    """Return the rows of contacts."""
    return slice(*asked[0, :2].tolist())


def _key(operation: Operation, given: dict[str, Any]) -> bytes:
    """Return what a question is known by, whatever objects it is about; nothing if their numbers overlap."""
    asked = given["asked"].copy()
    asked[0, CODE] = 0
    if operation is CONTACTS:
        for name in _OBJECTS:
            column = asked[_contacts(asked), at.Contact._fields.index(name)]
            if len(set(column.tolist())) < len(column):
                return b""
            column[:] = 0
    shapes = [x.shape for x in given.values() if isinstance(x, np.ndarray)]
    return repr(shapes).encode() + asked.tobytes()


def _finder(operation: Operation) -> str:
    """Return the module of what goes to the code of a question."""
    first, words = entry.words_of(operation)
    given = ", ".join(f"i64 %w{i}" for i in range(words))
    return f"""define i32 @entry({given}) nounwind {{
  %asked = inttoptr i64 {entry.data_of(first, "asked")} to ptr
  %at = getelementptr i64, ptr %asked, i64 {CODE}
  %code = load i64, ptr %at
  %there = icmp ne i64 %code, 0
  br i1 %there, label %found, label %none
found:
  %function = inttoptr i64 %code to ptr
  %done = tail call i32 %function({given})
  ret i32 %done
none:
  %where = inttoptr i64 %w0 to ptr
  store i64 {entry.LEFT_TO_KERNEL}, ptr %where
  ret i32 0
}}
"""


class _Question:
    """A question while it is traced.

    Attributes:
        inputs: Name and size of each.
        elsewhere: Row and field of the question where the address of an array stands that is no argument.
        written: What the kernel writes, by name, and what stood there before.
    """

    def __init__(self, model: ClusterModel, operation: Operation, given: dict[str, Any], most: float) -> None:
        self._run, self._operation, self._graph = Run(model), operation, Graph(most)
        self.inputs: list[tuple[str, int]] = []
        self.elsewhere: dict[str, tuple[int, int]] = {}
        self.given = {name: x.copy() if name == "asked" else _untouched(x.shape) for name, x in given.items()}
        for name in _READ[operation]:
            shape = given[name].shape
            self.given[name] = self._input(name, int(np.prod(shape))).reshape(shape)
        self.given["panel"] = self._run.room(*given["panel"].shape)
        self._run.inputs = {"q": self.given["q"]}
        self._objects: dict[int, np.ndarray] = {}
        if operation is CONTACTS:
            self._read_objects()
        self.keep = _untouched((model.nv,))
        looked_at = {name: self.given[name] for name in _WRITTEN[operation]} | {"keep": self.keep}
        self.written = {name: (x, x.copy()) for name, x in looked_at.items()} | {
            name: (x, x.copy()) for name, x in self._objects_by_name().items()
        }

    def _input(self, name: str, size: int) -> np.ndarray:
        first = sum(n for _, n in self.inputs)
        self.inputs.append((name, size))
        return np.array(self._graph.inputs(first, size), dtype=object)

    def _read_objects(self) -> None:
        """Let the fields of contacts be inputs; what is written is not read."""
        asked, fields = self.given["asked"], at.Fields(*self.given["asked"][1, : len(at.Fields._fields)].tolist())
        for row in range(*asked[0, :2].tolist()):
            for name, size in _OBJECTS.items():
                field = at.Contact._fields.index(name)
                own = f"{name}{row}"
                self.elsewhere[own] = row, field
                x = _untouched((size,))
                if name != "force":
                    all_of_it = self._input(own, size)
                    wish = slice(fields.acceleration_desired, fields.acceleration_desired + 6)
                    part = slice(0, size) if name == "model" else wish
                    x[part] = all_of_it[part]
                self._objects[int(asked[row, field])] = x

    def _read(self, address: int, size: int) -> np.ndarray:
        return self._objects[address]

    def _objects_by_name(self) -> dict[str, np.ndarray]:
        asked = self.given["asked"]
        return {name: self._objects[int(asked[place])] for name, place in self.elsewhere.items()}

    def trace(self) -> list[tuple[Any, Any]]:
        """Run the kernel; return what must exceed a limit.

        Raises:
            SingularClusterError: It fails at every state.
        """
        with watching() as watched, np.errstate(all="ignore"), reading(self._read):
            self._run.call(self._operation.passes, self.keep, *self.given.values())
        return watched

    def places(self) -> dict[str, dict[int, Any]]:
        """Return what was written, by name and place."""
        found = {}
        for name, (now, before) in self.written.items():
            pairs = enumerate(zip(now.ravel(), before.ravel(), strict=True))
            found[name] = {i: x for i, (x, y) in pairs if x is not y}
        return found

    def conditions(self) -> list[Any]:
        """Return what must be small, of each loop."""
        return [self._run.work[condition.at] for condition in self._run.model._tables.conditions]


def _untouched(shape: tuple[int, ...]) -> np.ndarray:
    """Return an array with which nobody can compute."""
    found = np.empty(math.prod(shape), dtype=object)
    found[:] = [object() for _ in found]
    return found.reshape(shape)


def module(model: ClusterModel, function: Function, most: float, given: dict[str, Any]) -> str:
    """Return the module of the code of a question; "" if the kernel fails at every state.

    Args:
        model: The model.
        function: The declaration.
        most: How many operations there may be.
        given: What the kernel is given, by name.

    Raises:
        NotAvailableError: A compiled function of the user ties joints of the robot.
        TooLongError: There are more operations.
    """
    question = _Question(model, function.operation, given, most)
    try:
        watched = question.trace()
    except (SingularClusterError, ZeroDivisionError):
        return ""
    written, conditions = question.places(), question.conditions()
    rows = [x for x in watched if isinstance(x, Row)]
    if rows:
        least: Any = 1.0
        for x, limit in rows:
            least = select(x - limit, least, x - limit, least)
        written["redundant"] = {0: least}
    results = [Result(name, (i,), x) for name, places in written.items() for i, x in places.items()]
    pivots = [x[0] - x[1] for x in watched if not isinstance(x, Row)]
    results += [Result("pivots", (i,), x, BOUNDS["pivots"]) for i, x in enumerate(pivots)]
    results += [Result("conditions", (i,), x, BOUNDS["conditions"]) for i, x in enumerate(conditions)]
    read, first = [], 0
    for name, size in question.inputs:
        if name == "numbers" or name in question.elsewhere:
            read += list(range(first, first + size))
        first += size
    wanted, numbers = needed(x.value for x in results), set(read)
    used = [x for x in wanted if x.op == INPUT and x.args[0] in numbers]
    results += [Result("finite", (i,), x * x, BOUNDS["finite"]) for i, x in enumerate(used)]
    outputs = [name for name, places in written.items() if places]
    core = Core(question.inputs).text(results, (*outputs, "conditions"))
    places = [condition.at for condition in model._tables.conditions] if conditions else []
    looked_at = [name for name, _ in question.inputs if name == "numbers" or name in question.elsewhere]
    return entry.module(
        core, question.inputs, dict.fromkeys(outputs, 0), function.operation, places, lanes_of_host(), looked_at,
        question.elsewhere, at.REDUNDANT if rows else 0,
    )  # fmt: skip
