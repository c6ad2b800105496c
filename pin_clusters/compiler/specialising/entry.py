"""The entry point of robot-specific code, which has the same parameters and results as the kernel that it replaces.

The entry point returns ``LEFT_TO_KERNEL`` if the caller must run the kernel. This happens if an input is not finite, if
an angle is too large for the traced operations, or if a pivot is almost zero or a loop almost singular.
"""

from collections.abc import Mapping, Sequence

from ...kernels.tables.layout import ROW_WIDTH
from ..machine_code.emitter import Emitter, Result
from ..machine_code.instructions import Instructions
from ..machine_code.kinds import Kind
from ..machine_code.sines import NUMBERS
from ..machine_code.text import module_text
from ..native.words import DATA, LEFT_TO_KERNEL, SIZE, WORDS_OF_KIND
from ..operations import Operation, names

PARAMS, WORK, KEEP = 2, 4, 6
"""Indices in the block of a ``Pointer``: the robot's parameters, the workspace and the result array."""
STANDING = {"params": PARAMS, "work": WORK}
"""For each input that the code reads from the tables: its index in the block of a ``Pointer``."""


def core_text(inputs: Sequence[tuple[str, int]], results: Sequence[Result], outputs: Sequence[str]) -> str:
    """Return the text of ``i1 core(inputs, outputs)``, which stores results and returns true if a bound is violated."""
    emitter = Emitter(Kind("double"), inputs, angles_are_seen=True)
    return emitter.function("core", results, outputs, checked=True)


def module(
    core: str,
    inputs: Sequence[tuple[str, int]],
    sizes: Mapping[str, int],
    operation: Operation,
    conditions: Sequence[int],
    lanes: int,
    looked_at: Sequence[str] = (),
    elsewhere: Mapping[str, tuple[int, int]] | None = None,
    redundant: int = 0,
) -> str:
    """Return an LLVM module that contains the function ``entry``.

    Args:
        core: The text of the function ``i1 core(inputs, outputs, conditions)``.
        inputs: Name and size of each input.
        sizes: Size of each output, by argument name; ``keep`` is the result array in the tables.
        operation: The operation whose kernel is replaced.
        conditions: Workspace index of each loop's condition number.
        lanes: Number of values in a vector register.
        looked_at: Inputs that ``core`` checks for non-finite values; ``entry`` checks all others.
        elsewhere: For each array that is not an argument: the row and column of ``asked`` that contain its address.
        redundant: Status to return if the last output, which is a single number, is not positive.
    """
    w = _Entry(operation, inputs, elsewhere or {})
    w.check(looked_at, lanes)
    into = w.call(sizes, conditions, bool(redundant))
    if operation.result and sizes[operation.writes]:
        copy(w, w.keep, into[0], sizes[operation.writes], lanes)
    w.keep_conditions(conditions)
    w.report(redundant)
    return module_text(core, "\n".join(w.lines), "\n")


class _Entry(Instructions):
    """Writes ``entry``, which checks its arguments, calls ``core`` and returns a status as the kernel does."""

    def __init__(
        self, operation: Operation, inputs: Sequence[tuple[str, int]], elsewhere: Mapping[str, tuple[int, int]]
    ) -> None:
        super().__init__(Kind("double"))
        self._first, count = words_of(operation)
        self._data = {name: data_of(self._first, name) for name in self._first if name != "address"}
        self._sizes = dict(inputs)
        self._inputs = [(name, n) for name, n in inputs if name not in STANDING]
        self.lines += [f"define i32 @entry({words(count)}) {Kind('double', 8).attributes} {{"]
        self.lines += ["  %tables = inttoptr i64 %w2 to ptr"]
        self._places = self._addresses(elsewhere)
        self._given = [self.pointer(self._places[name]) for name, _ in self._inputs]

    def _addresses(self, elsewhere: Mapping[str, tuple[int, int]]) -> dict[str, str]:
        """Return each input's address as an LLVM name; inputs not named like an argument are matched by position."""
        names_of_arguments = [name for name, _ in self._inputs if name not in elsewhere]
        by_place = zip(names_of_arguments, self._data.values(), strict=False)
        addresses = {name: self._data.get(name, word) for name, word in by_place}
        if "fext" in addresses:
            behind = self._data["forces"] if "forces" in self._data else of_block(self, KEEP)
            addresses["fext"] = self.new(f"add i64 {behind}, {8 * self._sizes['v']}")
        if elsewhere:
            self.lines += [f"  %asked = inttoptr i64 {self._data['asked']} to ptr"]
        for name, (row, field) in elsewhere.items():
            addresses[name] = self.word("%asked", row * ROW_WIDTH + field)
        return addresses

    def check(self, looked_at: Sequence[str], lanes: int) -> None:
        if "forces" in self._first and "forces" not in self._places:  # Calls with external forces use other code.
            expected = self._sizes["v"] + self._sizes["fext"] if "fext" in self._places else 0
            fits = self.new(f"icmp eq i64 %w{self._first['forces'] + SIZE}, {expected}")
            self.lines += [f"  br i1 {fits}, label %given, label %other", "given:"]
        read = zip(self._given, self._inputs, strict=True)
        all_finite = finite(self, [(x, name, n) for x, (name, n) in read if name not in looked_at], lanes)
        self.lines += [f"  br i1 {all_finite}, label %run, label %other", "run:"]

    def call(self, sizes: Mapping[str, int], conditions: Sequence[int], redundant: bool) -> list[str]:
        if STANDING.keys() & self._sizes.keys():
            self._given += [self.pointer(of_block(self, i)) for i in STANDING.values()]
        self.keep = self.pointer(of_block(self, KEEP))
        self.lines += [f"  %conditions = alloca [{max(1, len(conditions))} x double], align 64"]
        self.lines += ["  %redundant = alloca double"] if redundant else []
        pointers_by_name, places = {"keep": self.keep, "redundant": "%redundant"}, self._data | self._places
        into = [pointers_by_name.get(name) or self.pointer(places[name]) for name in sizes]
        pointers = ", ".join(f"ptr {x}" for x in (*self._given, *into, "%conditions"))
        self.lines += [f"  br i1 {self.new(f'call i1 @core({pointers})')}, label %other, label %good", "good:"]
        return into

    def keep_conditions(self, conditions: Sequence[int]) -> None:
        """Write code that stores each loop's condition number in the workspace, where simulations read it."""
        work = of_block(self, WORK) if conditions else ""
        for i, index in enumerate(conditions):
            x = self.load("conditions", i)
            where = self.pointer(self.new(f"add i64 {work}, {8 * index}"))
            self.lines += [f"  store double {x}, ptr {where}"]

    def report(self, redundant: int) -> None:
        code = "0"
        if redundant:
            positive = self.new(f"fcmp ogt double {self.new('load double, ptr %redundant')}, 0.0")
            code = self.new(f"select i1 {positive}, i64 0, i64 {redundant}")
        self.lines += [
            "  %code = inttoptr i64 %w0 to ptr",
            f"  store i64 {code}, ptr %code",
            "  ret i32 0",
            "other:",
            "  %where = inttoptr i64 %w0 to ptr",
            f"  store i64 {LEFT_TO_KERNEL}, ptr %where",
            "  ret i32 0",
            "}",
        ]


def words_of(operation: Operation) -> tuple[dict[str, int], int]:
    """Return the index of the first machine word of each argument of a kernel, and the total number of words.

    The first two words are the addresses of the status and of the error. The third word is the address of the tables,
    unless ``operation.is_entry`` is true.
    """
    first, words = {}, 2 if operation.is_entry else 3
    for name, kind in zip(names(operation.takes), operation.kinds, strict=True):
        first[name] = words
        words += WORDS_OF_KIND[kind]
    return first, words


def data_of(first: Mapping[str, int], name: str) -> str:
    return f"%w{first[name] + DATA}"


def words(n: int) -> str:
    return ", ".join(f"i64 %w{i}" for i in range(n))


def of_block(w: Instructions, i: int) -> str:
    return w.word("%tables", i)


def copy(w: Instructions, to: str, source: str, n: int, lanes: int) -> None:
    """Write a loop that copies n numbers, ``lanes`` at a time. It replaces memcpy, which the code cannot call."""
    if n == 0:
        return
    while lanes > n:
        lanes //= 2
    kind = Kind("double", lanes).name
    with w.loop(n, lanes) as i:
        from_pointer, to_pointer = (w.new(f"getelementptr double, ptr {x}, i64 {i}") for x in (source, to))
        w.lines += [f"  store {kind} {w.new(f'load {kind}, ptr {from_pointer}, align 8')}, ptr {to_pointer}, align 8"]


def finite(w: Instructions, arrays: Sequence[tuple[str, str, int]], lanes: int) -> str:
    """Write a test that all arrays are finite and q is small enough for sines: the sum of 0 * x must not be NaN."""
    sums: dict[int, str] = {}
    for array, name, n in arrays:
        width = lanes
        while width > n > 0:
            width //= 2
        kind = Kind("double", width)
        for first in sorted({*range(0, n - width + 1, width), max(0, n - width)}) if n else ():
            where = w.new(f"getelementptr double, ptr {array}, i64 {first}")
            numbers = w.new(f"load {kind.name}, ptr {where}, align 8")
            if name == "q":
                numbers = w.new(f"fmul {kind.name} {numbers}, {kind.constant(NUMBERS['double'].huge)}")
            product = w.new(f"fmul {kind.name} {numbers}, {kind.constant(0.0)}")
            sums[width] = w.new(f"fadd {kind.name} {sums[width]}, {product}") if width in sums else product
    total = "true"
    for width, total_of_width in sums.items():
        good = w.compare(Kind("double", width), total_of_width, "ord 0.0")
        if width > 1:
            good = w.new(f"icmp eq i{width} {w.new(f'bitcast <{width} x i1> {good} to i{width}')}, -1")
        total = w.new(f"and i1 {total}, {good}")
    return total
