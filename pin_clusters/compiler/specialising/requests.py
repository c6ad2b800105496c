"""Robot-specific code for kernels whose argument ``asked`` is a table, called request.

A request lists, for example, the closed contacts, the points with external forces, or the columns of M^-1 to compute.
Separate code is compiled for each structure of a request. The code reads placements, torques and the contents of
Pinocchio's objects at each call. The first row of a request contains the address of its code, so that other machine
code can call it without a search.
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
"""Maximum number of requests per operation and model that are compiled; further requests use generic kernels."""


class _Arguments(NamedTuple):
    """Names and types of the arguments of a kernel that takes a request."""

    read: str
    written: str
    code: int = CODE  # column of the code address in the first row of the request


_ARGUMENTS = {
    COLUMNS: _Arguments("q numbers B", "gram response"),
    CONTACTS: _Arguments("q v tau numbers forces", "numbers gram forces out"),
    CONTACT_RATES: _Arguments("q v ddq numbers forces", "dq dv M jacobian X turned", CODE_OF_RATES),
    POINTS: _Arguments("q v numbers", "gram response positions velocities"),
}
_OBJECTS = {"model": at.READ_MODEL, "data": at.READ_DATA, "force": 6}
"""Fields of a contact's row that contain addresses, with the number of floats that kernels read at each address."""
REQUEST_OPERATIONS = {operation.name: operation for operation in _ARGUMENTS}
"""Dictionary from names to the operations whose kernels take a request."""


class Requests:
    """The compiled code of all requests to one kernel, for one model. An instance is called like the kernel.

    Attributes:
        own: Address of a function that calls the code of the given request; 0 until the first request is compiled.
    """

    def __init__(self, operation: Operation, kernel: Kernel, make: Callable[..., Any]) -> None:
        self._operation, self._kernel, self._make, self._lock = operation, kernel, make, threading.Lock()
        self._known: dict[bytes, Function] = {}
        self.own = 0

    def call(self, pointer: Pointer, *arguments: Any) -> int:
        return int((self._made(arguments) or self._kernel).call(pointer, *arguments))

    def address(self, *arguments: Any) -> int:
        return int((self._made(arguments) or self._kernel).address())

    def _made(self, arguments: Sequence[Any]) -> Any:
        """Return the code of a request, and store its address in the first row; return None if the kernel must run."""
        arguments_by_name = dict(zip(names(self._operation.takes)[-len(arguments) :], arguments, strict=True))
        key = _key(arguments_by_name)
        with self._lock:
            function = self._known.get(key)
            if function is None and key and len(self._known) < MOST:
                name = f"{self._operation.name} {hashlib.sha256(key).hexdigest()[:32]}"
                function = self._known[key] = Function(name, self._operation, _ARGUMENTS[self._operation].read, "", "")
        if function is None:
            arguments_by_name["asked"][0, _ARGUMENTS[self._operation].code] = self._kernel.address()
            return None
        code = self._make(function, partial(module, given=arguments_by_name))
        with self._lock:
            if not self.own:
                self.own = load(_finder(self._operation), optimise=False).address("entry")
                tell_compiled()
        arguments_by_name["asked"][0, _ARGUMENTS[self._operation].code] = code.address()
        return code


def _key(given: dict[str, Any]) -> bytes:
    """Return a request's cache key, which omits object addresses; return b"" if two contacts share an object."""
    request = given["asked"].copy()
    request[0, [CODE, CODE_OF_RATES]] = 0
    if "forces" in given:
        for name in _OBJECTS:
            column = request[slice(*request[0, :2].tolist()), at.Contact._fields.index(name)]
            if len(set(column.tolist())) < len(column):
                return b""
            column[:] = 0
    shapes = [x.shape for x in given.values() if isinstance(x, np.ndarray)]
    return repr(shapes).encode() + request.tobytes()


def _finder(operation: Operation) -> str:
    first, words = entry.words_of(operation)
    parameters = ", ".join(f"i64 %w{i}" for i in range(words))
    return f"""define i32 @entry({parameters}) nounwind {{
  %asked = inttoptr i64 {entry.data_of(first, "asked")} to ptr
  %at = getelementptr i64, ptr %asked, i64 {_ARGUMENTS[operation].code}
  %code = load i64, ptr %at
  %there = icmp ne i64 %code, 0
  br i1 %there, label %found, label %none
found:
  %function = inttoptr i64 %code to ptr
  %done = tail call i32 %function({parameters})
  ret i32 %done
none:
  %where = inttoptr i64 %w0 to ptr
  store i64 {LEFT_TO_KERNEL}, ptr %where
  ret i32 0
}}
"""


class _Request(Memory):
    """A request during tracing. This ``Memory`` provides the data that the kernel reads at addresses.

    Attributes:
        inputs: Name and size of each input array.
        elsewhere: For each array that is not an argument: the row and column of the request that contain its address.
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
        if model._varies:  # All parameter sets share the code, so the code reads the parameters at each call.
            counts, in_workspace = standing(model)
            self._run.params = np.where(counts, self._input("params", len(counts)), 0.0)
            self._run.work[in_workspace] = self._input("work", len(in_workspace))[in_workspace]
        self._keep = _untouched((model.nv,))
        looked_at = {name: self._given[name] for name in self._arguments.written.split()} | {"keep": self._keep}
        looked_at |= {name: self._objects[int(self._given["asked"][cell])] for name, cell in self.elsewhere.items()}
        self._written = {name: (x, x.copy()) for name, x in looked_at.items()}

    def _argument(self, name: str, x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return x
        if name == "asked":
            return x.copy()
        if name in self._arguments.read.split():
            return self._input(name, x.size).reshape(x.shape)
        return _untouched(x.shape) if name in self._arguments.written.split() else self._run.zeros(*x.shape)

    def _input(self, name: str, size: int) -> np.ndarray:
        first = sum(n for _, n in self.inputs)
        self.inputs.append((name, size))
        return np.array(self._graph.inputs(first, size), dtype=object)

    def _read_objects(self) -> None:
        """Replace the contacts' data by inputs, except values that the kernel writes before it reads them."""
        request = self._given["asked"]
        fields = at.Fields(*request[1, : len(at.Fields._fields)].tolist())
        desired = slice(fields.acceleration_desired, fields.acceleration_desired + 6)
        for row in range(*request[0, :2].tolist()):
            for name, size in _OBJECTS.items():
                field, x = at.Contact._fields.index(name), _untouched((size,))
                self.elsewhere[f"{name}{row}"] = row, field
                self._objects[int(request[row, field])] = x
                if name != "force":
                    inputs = self._input(f"{name}{row}", size)
                    fields_read = desired if self._operation is CONTACTS and name == "data" else slice(0, size)
                    x[fields_read] = inputs[fields_read]

    def seen(self, address: int, size: int) -> np.ndarray:
        return self._objects[address]

    def tables(self, address: int) -> tuple[np.ndarray, ...]:
        run = self._run
        self._rates = run.zeros(run.model.tables.rates)
        # Gravity has no effect on an impact.
        if self._given["asked"][0, at.Contacts._fields.index("wanted")] == at.IMPACT:
            run.params = run.params.copy()
            run.params[MINUS_GRAVITY : MINUS_GRAVITY + 3] = 0.0
        return run.model.tables.index, run.params, run.work, self._rates

    def call(self, function: int, address: int, arrays: tuple[Any, ...]) -> int:
        run, (_, v, *_) = self._run, arrays
        if run.model.tables.supplies:
            supply_third(run.model, run["q"], run.G @ v, run.work)
        run.call(RNEA_DERIVATIVES.passes, self._rates, *arrays)
        return OK

    def trace(self) -> list[tuple[Any, Any]]:
        """Run the kernel; return pairs of an expression and the limit that the expression must exceed."""
        with watching() as watched, np.errstate(all="ignore"), reading(self):
            if self._operation.is_entry:
                module_name, _, name = self._operation.passes.rpartition(".")
                addresses = len(names(self._operation.takes)) - len(self._given)
                getattr(source(module_name), name)(*[0] * addresses, *self._given.values())
            else:
                self._run.call(self._operation.passes, self._keep, *self._given.values())
        return watched

    def places(self) -> dict[str, dict[int, Any]]:
        written = {}
        for name, (now, before) in self._written.items():
            pairs = enumerate(zip(now.ravel(), before.ravel(), strict=True))
            written[name] = {i: x for i, (x, y) in pairs if x is not y}
        return written

    def conditions(self) -> list[Any]:
        return [self._run.work[condition.at] for condition in self._run.model.tables.conditions]


def _untouched(shape: tuple[int, ...]) -> np.ndarray:
    """Return an array of placeholder objects; an operation on an entry that was not written raises an error."""
    placeholders = np.empty(math.prod(shape), dtype=object)
    placeholders[:] = [object() for _ in placeholders]
    return placeholders.reshape(shape)


def module(model: ClusterModel, function: Function, most: float, given: dict[str, Any]) -> str:
    """Return the LLVM module of a request for the given arguments; "" if the kernel fails at every state."""
    request = _Request(model, function.operation, given, most)
    try:
        watched = request.trace()
    except (SingularClusterError, ZeroDivisionError):
        return ""
    written = request.places()
    rows = [x for x in watched if isinstance(x, Row)]
    if rows:
        least: Any = 1.0
        for x, limit in rows:
            least = select(x - limit, least, x - limit, least)
        written["redundant"] = {0: least}
    results = [Result(name, (i,), x) for name, places in written.items() for i, x in places.items()]
    pivots = [x[0] - x[1] for x in watched if not isinstance(x, Row)]
    results += [Result("pivots", (i,), x, BOUNDS["pivots"]) for i, x in enumerate(pivots)]
    results += [Result("conditions", (i,), x, BOUNDS["conditions"]) for i, x in enumerate(request.conditions())]
    looked_at = {"numbers", *request.elsewhere}
    owners = [name for name, size in request.inputs for _ in range(size)]
    used = [x for x in needed(x.value for x in results) if x.op == INPUT and owners[x.args[0]] in looked_at]
    results += [Result("finite", (i,), x * x, BOUNDS["finite"]) for i, x in enumerate(used)]
    outputs = [name for name, places in written.items() if places]
    core = entry.core_text(request.inputs, results, (*outputs, "conditions"))
    places = [condition.at for condition in model.tables.conditions]
    return entry.module(
        core,
        request.inputs,
        dict.fromkeys(outputs, 0),
        function.operation,
        places,
        lanes_of_host(),
        sorted(looked_at),
        request.elsewhere,
        at.REDUNDANT if rows else 0,
    )
