"""Kernels that are asked by tables: which forces act where, which contacts hold. Each question has code of its own.

What is asked is known when the code is made; numbers stay where they stand: placements, torques, Pinocchio's objects.
The first row of the question leads to its code, for calls in machine code, which go to a function that looks there.
"""

import hashlib
import math
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...errors import SingularClusterError
from ...kernels.tables import contacts_layout as at
from ...kernels.tables.layout import CODE, CODE_OF_RATES, MINUS_GRAVITY, OK
from ...model import ClusterModel
from ..call_layer import tell_compiled
from ..entry_points import Kernel, Pointer
from ..machine_code.emitter import Result
from ..machine_code.loading import load
from ..machine_code.machine import lanes_of_host
from ..native.words import LEFT_TO_KERNEL
from ..operations import COLUMNS, CONTACT_RATES, CONTACTS, POINTS, RNEA_DERIVATIVES, Function, Operation, names
from ..tracing._sources import Memory, Row, reading, source, watching
from ..tracing.expressions import INPUT, Graph, needed, select
from ..tracing.run import Run
from ..tracing.supplied import supply_third
from . import entry
from .traced_kernels import BOUNDS, standing

MOST = 60
"""So many questions of a kind have code, of one model; of more, kernels by tables take care."""


class _Arguments(NamedTuple):
    """Arguments of a kernel that is asked."""

    read: str
    written: str
    code: int = CODE  # where in the first row of a question the address of its code stands


_ARGUMENTS = {
    COLUMNS: _Arguments("q numbers B", "gram response"),
    CONTACTS: _Arguments("q v tau numbers forces", "numbers gram forces out"),
    CONTACT_RATES: _Arguments("q v ddq numbers forces", "dq dv M jacobian X turned", CODE_OF_RATES),
    POINTS: _Arguments("q v numbers", "gram response positions velocities"),
}
_OBJECTS = {"model": at.READ_MODEL, "data": at.READ_DATA, "force": 6}
"""Fields of a contact's row that are addresses, and how many numbers are looked at there."""
OF_QUESTIONS = {one.name: one for one in _ARGUMENTS}
"""Operations of such kernels, by name."""


class Asked:
    """All that a kernel was asked of one model: called as the kernel is.

    Attributes:
        own: Address of what finds the code of a question; 0 as long as there is none.
    """

    def __init__(self, operation: Operation, kernel: Kernel, make: Callable[..., Any]) -> None:
        """Begin with none; ``make`` returns code, of its declaration and what writes it; ``kernel`` does the rest."""
        self._operation, self._kernel, self._make, self._lock = operation, kernel, make, threading.Lock()
        self._known: dict[bytes, Function] = {}
        self.own = 0

    def call(self, pointer: Pointer, *arguments: Any) -> int:
        """Do what the kernel does, and return its code."""
        return int((self._made(arguments) or self._kernel).call(pointer, *arguments))

    def address(self, *arguments: Any) -> int:
        """Return the address of what does the kernel's work with such arguments."""
        return int((self._made(arguments) or self._kernel).address())

    def _made(self, arguments: Sequence[Any]) -> Any:
        """Return the code of a question, to which it leads then; None if it has none, and leads to the kernel."""
        given = dict(zip(names(self._operation.takes)[-len(arguments) :], arguments, strict=True))
        key = _key(given)
        with self._lock:
            one = self._known.get(key)
            if one is None and key and len(self._known) < MOST:
                name = f"{self._operation.name} {hashlib.sha256(key).hexdigest()[:32]}"
                one = self._known[key] = Function(name, self._operation, _ARGUMENTS[self._operation].read, "", "")
        if one is None:
            given["asked"][0, _ARGUMENTS[self._operation].code] = self._kernel.address()
            return None
        made = self._make(one, partial(module, given=given))
        with self._lock:
            if not self.own:
                self.own = load(_finder(self._operation), optimise=False).address("entry")
                tell_compiled()
        given["asked"][0, _ARGUMENTS[self._operation].code] = made.address()
        return made


def _key(given: dict[str, Any]) -> bytes:
    """Return what a question is known by, whatever objects it is about; nothing if their numbers overlap."""
    asked = given["asked"].copy()
    asked[0, [CODE, CODE_OF_RATES]] = 0
    if "forces" in given:
        for name in _OBJECTS:
            column = asked[slice(*asked[0, :2].tolist()), at.Contact._fields.index(name)]
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
  %at = getelementptr i64, ptr %asked, i64 {_ARGUMENTS[operation].code}
  %code = load i64, ptr %at
  %there = icmp ne i64 %code, 0
  br i1 %there, label %found, label %none
found:
  %function = inttoptr i64 %code to ptr
  %done = tail call i32 %function({given})
  ret i32 %done
none:
  %where = inttoptr i64 %w0 to ptr
  store i64 {LEFT_TO_KERNEL}, ptr %where
  ret i32 0
}}
"""


class _Question(Memory):
    """A question while it is traced, and what its kernel finds at addresses.

    Attributes:
        inputs: Name and size of each.
        elsewhere: Row and field of the question where the address of an array stands that is no argument.
    """

    def __init__(self, model: ClusterModel, operation: Operation, given: dict[str, Any], most: float) -> None:
        self._run, self._operation, self._graph = Run(model), operation, Graph(most)
        self._arguments = _ARGUMENTS[operation]
        self.inputs: list[tuple[str, int]] = []
        self.elsewhere: dict[str, tuple[int, int]] = {}
        self._given = {name: self._argument(name, x) for name, x in given.items()}
        self._run.inputs = {name: self._given[name] for name in ("q", "v") if name in given}
        self._objects: dict[int, np.ndarray] = {}
        if operation not in (COLUMNS, POINTS):
            self._read_objects()
        if model._varies:  # numbers of the robot stay where they stand
            counts, kept = standing(model)
            self._run.params = np.where(counts, self._input("params", len(counts)), 0.0)
            self._run.work[kept] = self._input("work", len(kept))[kept]
        self._keep = _untouched((model.nv,))
        looked_at = {name: self._given[name] for name in self._arguments.written.split()} | {"keep": self._keep}
        looked_at |= {name: self._objects[int(self._given["asked"][place])] for name, place in self.elsewhere.items()}
        self._written = {name: (x, x.copy()) for name, x in looked_at.items()}

    def _argument(self, name: str, x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return x
        if name == "asked":
            return x.copy()
        if name in self._arguments.read.split():
            return self._input(name, x.size).reshape(x.shape)
        return _untouched(x.shape) if name in self._arguments.written.split() else self._run.room(*x.shape)

    def _input(self, name: str, size: int) -> np.ndarray:
        first = sum(n for _, n in self.inputs)
        self.inputs.append((name, size))
        return np.array(self._graph.inputs(first, size), dtype=object)

    def _read_objects(self) -> None:
        """Let the fields of contacts be inputs; of their data, what the kernel does not write before."""
        asked = self._given["asked"]
        fields = at.Fields(*asked[1, : len(at.Fields._fields)].tolist())
        wish = slice(fields.acceleration_desired, fields.acceleration_desired + 6)
        for row in range(*asked[0, :2].tolist()):
            for name, size in _OBJECTS.items():
                field, x = at.Contact._fields.index(name), _untouched((size,))
                self.elsewhere[f"{name}{row}"] = row, field
                self._objects[int(asked[row, field])] = x
                if name != "force":
                    all_of_it = self._input(f"{name}{row}", size)
                    part = wish if self._operation is CONTACTS and name == "data" else slice(0, size)
                    x[part] = all_of_it[part]

    def seen(self, address: int, size: int) -> np.ndarray:
        """Return fields of a contact."""
        return self._objects[address]

    def tables(self, address: int) -> tuple[np.ndarray, ...]:
        """Return those of the model, and records of derivatives."""
        run = self._run
        self._rates = run.room(run.model.tables.rates)
        if self._given["asked"][0, at.Contacts._fields.index("wanted")] == at.IMPACT:  # which gravity does not change
            run.params = run.params.copy()
            run.params[MINUS_GRAVITY : MINUS_GRAVITY + 3] = 0.0
        return run.model.tables.index, run.params, run.work, self._rates

    def call(self, function: int, address: int, arrays: tuple[Any, ...]) -> int:
        """Differentiate inverse dynamics."""
        run, (_, v, *_) = self._run, arrays
        if run.model.tables.supplies:
            supply_third(run.model, run["q"], run.G @ v, run.work)
        run.call(RNEA_DERIVATIVES.passes, self._rates, *arrays)
        return OK

    def trace(self) -> list[tuple[Any, Any]]:
        """Run the kernel; return what must exceed a limit.

        Raises:
            SingularClusterError: It fails at every state.
        """
        with watching() as watched, np.errstate(all="ignore"), reading(self):
            if self._operation.is_entry:
                place, _, name = self._operation.passes.rpartition(".")
                addresses = len(names(self._operation.takes)) - len(self._given)
                getattr(source(place), name)(*[0] * addresses, *self._given.values())
            else:
                self._run.call(self._operation.passes, self._keep, *self._given.values())
        return watched

    def places(self) -> dict[str, dict[int, Any]]:
        """Return what was written, by name and place."""
        found = {}
        for name, (now, before) in self._written.items():
            pairs = enumerate(zip(now.ravel(), before.ravel(), strict=True))
            found[name] = {i: x for i, (x, y) in pairs if x is not y}
        return found

    def conditions(self) -> list[Any]:
        """Return what must be small, of each loop."""
        return [self._run.work[condition.at] for condition in self._run.model.tables.conditions]


def _untouched(shape: tuple[int, ...]) -> np.ndarray:
    """Return an array with which nobody can compute."""
    found = np.empty(math.prod(shape), dtype=object)
    found[:] = [object() for _ in found]
    return found.reshape(shape)


def module(model: ClusterModel, function: Function, most: float, given: dict[str, Any]) -> str:
    """Return the module of the code of a question, by what the kernel is given; "" if it fails at every state.

    Raises:
        NotAvailableError: A compiled function of the user ties joints of the robot.
        TooLongError: There are more than ``most`` operations.
    """
    question = _Question(model, function.operation, given, most)
    try:
        watched = question.trace()
    except (SingularClusterError, ZeroDivisionError):
        return ""
    written = question.places()
    rows = [x for x in watched if isinstance(x, Row)]
    if rows:
        least: Any = 1.0
        for x, limit in rows:
            least = select(x - limit, least, x - limit, least)
        written["redundant"] = {0: least}
    results = [Result(name, (i,), x) for name, places in written.items() for i, x in places.items()]
    pivots = [x[0] - x[1] for x in watched if not isinstance(x, Row)]
    results += [Result("pivots", (i,), x, BOUNDS["pivots"]) for i, x in enumerate(pivots)]
    results += [Result("conditions", (i,), x, BOUNDS["conditions"]) for i, x in enumerate(question.conditions())]
    looked_at = {"numbers", *question.elsewhere}
    owners = [name for name, size in question.inputs for _ in range(size)]
    used = [x for x in needed(x.value for x in results) if x.op == INPUT and owners[x.args[0]] in looked_at]
    results += [Result("finite", (i,), x * x, BOUNDS["finite"]) for i, x in enumerate(used)]
    outputs = [name for name, places in written.items() if places]
    core = entry.core_text(question.inputs, results, (*outputs, "conditions"))
    places = [condition.at for condition in model.tables.conditions]
    return entry.module(
        core,
        question.inputs,
        dict.fromkeys(outputs, 0),
        function.operation,
        places,
        lanes_of_host(),
        sorted(looked_at),
        question.elsewhere,
        at.REDUNDANT if rows else 0,
    )
