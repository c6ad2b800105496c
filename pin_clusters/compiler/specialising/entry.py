"""A specialised function in the place of a kernel: it takes what the kernel takes, and writes what it writes.

Of what the operations alone cannot know (input that is not finite, angles that are huge), and of what they find
suspicious (a pivot that is nearly zero, loops that are nearly singular), the caller is told.
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
"""Where numbers of the robot, the workspace and the results are, in the block of tables."""
STANDING = {"params": PARAMS, "work": WORK}
"""Of inputs that are read there."""


def core_text(inputs: Sequence[tuple[str, int]], results: Sequence[Result], outputs: Sequence[str]) -> str:
    """Return what computes the results, as ``i1 core(inputs, outputs)``: whether a bound is violated."""
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
    """Return a module with the function ``entry``.

    Args:
        core: What computes: ``i1 core(inputs, what is written, conditions)``.
        inputs: Name and size of each.
        sizes: Of what is written, by the name of the argument; ``keep``: to what the tables lead to.
        operation: Whose kernel it stands in for.
        conditions: Where in the workspace each of the conditions of loops is expected.
        lanes: How many numbers a register holds.
        looked_at: Inputs of which the core itself knows what must be finite.
        elsewhere: Arrays that are no arguments: row and field of the question where their addresses stand.
        redundant: What is returned if the last output, one number, is not positive.
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
    """Writes ``entry``: it checks its arguments, calls ``core``, and reports what the kernel would report.

    Attributes:
        keep: Pointer to the results to which the tables lead.
    """

    def __init__(
        self, operation: Operation, inputs: Sequence[tuple[str, int]], elsewhere: Mapping[str, tuple[int, int]]
    ) -> None:
        """Begin, and find the addresses of the inputs."""
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
        """Return the address of each input; torques may be where others have accelerations."""
        names_of_arguments = [name for name, _ in self._inputs if name not in elsewhere]
        by_place = zip(names_of_arguments, self._data.values(), strict=False)
        found = {name: self._data.get(name, word) for name, word in by_place}
        if "fext" in found:
            behind = self._data["forces"] if "forces" in self._data else of_block(self, KEEP)
            found["fext"] = self.new(f"add i64 {behind}, {8 * self._sizes['v']}")
        if elsewhere:
            self.lines += [f"  %asked = inttoptr i64 {self._data['asked']} to ptr"]
        for name, (row, field) in elsewhere.items():
            found[name] = self.word("%asked", row * ROW_WIDTH + field)
        return found

    def check(self, looked_at: Sequence[str], lanes: int) -> None:
        """Leave other sizes of forces, and input that is not finite, to the kernel."""
        if "forces" in self._first and "forces" not in self._places:  # what knows external ones is code of its own
            expected = self._sizes["v"] + self._sizes["fext"] if "fext" in self._places else 0
            fits = self.new(f"icmp eq i64 %w{self._first['forces'] + SIZE}, {expected}")
            self.lines += [f"  br i1 {fits}, label %given, label %other", "given:"]
        read = zip(self._given, self._inputs, strict=True)
        all_finite = finite(self, [(x, name, n) for x, (name, n) in read if name not in looked_at], lanes)
        self.lines += [f"  br i1 {all_finite}, label %run, label %other", "run:"]

    def call(self, sizes: Mapping[str, int], conditions: Sequence[int], redundant: bool) -> list[str]:
        """Call ``core``, and return the pointers to what it writes."""
        if STANDING.keys() & self._sizes.keys():
            self._given += [self.pointer(of_block(self, i)) for i in STANDING.values()]
        self.keep = self.pointer(of_block(self, KEEP))
        self.lines += [f"  %conditions = alloca [{max(1, len(conditions))} x double], align 64"]
        self.lines += ["  %redundant = alloca double"] if redundant else []
        there, places = {"keep": self.keep, "redundant": "%redundant"}, self._data | self._places
        into = [there.get(name) or self.pointer(places[name]) for name in sizes]
        pointers = ", ".join(f"ptr {x}" for x in (*self._given, *into, "%conditions"))
        self.lines += [f"  br i1 {self.new(f'call i1 @core({pointers})')}, label %other, label %good", "good:"]
        return into

    def keep_conditions(self, conditions: Sequence[int]) -> None:
        """Write the conditions of loops to the workspace, where steps that change coordinates read them."""
        work = of_block(self, WORK) if conditions else ""
        for i, at in enumerate(conditions):
            x = self.load("conditions", i)
            where = self.pointer(self.new(f"add i64 {work}, {8 * at}"))
            self.lines += [f"  store double {x}, ptr {where}"]

    def report(self, redundant: int) -> None:
        """Write the code that the kernel returns, and the end of the function."""
        found = "0"
        if redundant:
            positive = self.new(f"fcmp ogt double {self.new('load double, ptr %redundant')}, 0.0")
            found = self.new(f"select i1 {positive}, i64 0, i64 {redundant}")
        self.lines += [
            "  %code = inttoptr i64 %w0 to ptr",
            f"  store i64 {found}, ptr %code",
            "  ret i32 0",
            "other:",
            "  %where = inttoptr i64 %w0 to ptr",
            f"  store i64 {LEFT_TO_KERNEL}, ptr %where",
            "  ret i32 0",
            "}",
        ]


def words_of(operation: Operation) -> tuple[dict[str, int], int]:
    """Return at which word each argument of a kernel begins, and how many words there are: code and error come first.

    Kernels whose passes are not their entry are given the address of tables before that.
    """
    first, words = {}, 2 if operation.is_entry else 3
    for name, kind in zip(names(operation.takes), operation.kinds, strict=True):
        first[name] = words
        words += WORDS_OF_KIND[kind]
    return first, words


def data_of(first: Mapping[str, int], name: str) -> str:
    """Return the word that leads to the numbers of an argument."""
    return f"%w{first[name] + DATA}"


def words(n: int) -> str:
    """Return so many words, as a function takes them or is given them."""
    return ", ".join(f"i64 %w{i}" for i in range(n))


def of_block(w: Instructions, i: int) -> str:
    """Read a number of the block of tables."""
    return w.word("%tables", i)


def copy(w: Instructions, to: str, source: str, n: int, lanes: int) -> None:
    """Write a loop that copies n numbers, ``lanes`` at a time: a function of others would have to be found."""
    if n == 0:
        return
    while lanes > n:
        lanes //= 2
    kind = Kind("double", lanes).name
    with w.loop(n, lanes) as i:
        here, there = (w.new(f"getelementptr double, ptr {x}, i64 {i}") for x in (source, to))
        w.lines += [f"  store {kind} {w.new(f'load {kind}, ptr {here}, align 8')}, ptr {there}, align 8"]


def finite(w: Instructions, arrays: Sequence[tuple[str, str, int]], lanes: int) -> str:
    """Write whether all numbers are finite: times zero they are zero. Those of ``q`` must be angles of sines, too."""
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
    for width, found in sums.items():
        good = w.compare(Kind("double", width), found, "ord 0.0")
        if width > 1:
            good = w.new(f"icmp eq i{width} {w.new(f'bitcast <{width} x i1> {good} to i{width}')}, -1")
        total = w.new(f"and i1 {total}, {good}")
    return total
