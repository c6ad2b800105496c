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
    core: str, inputs: Sequence[tuple[str, int]], sizes: Mapping[str, int], operation: Operation,
    conditions: Sequence[int], lanes: int, looked_at: Sequence[str] = (),
    elsewhere: Mapping[str, tuple[int, int]] | None = None, redundant: int = 0,
) -> str:  # fmt: skip
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
    first, count = words_of(operation)
    data = {name: data_of(first, name) for name in first if name != "address"}
    w = Instructions(Kind("double"))
    w.lines += [f"define i32 @entry({words(count)}) {Kind('double', 8).attributes} {{"]
    w.lines += ["  %tables = inttoptr i64 %w2 to ptr"]
    elsewhere = elsewhere or {}
    given_names = [name for name, _ in inputs if name not in STANDING and name not in elsewhere]
    by_place = zip(given_names, data.values(), strict=False)  # torques may be where others have accelerations
    places = {name: data.get(name, word) for name, word in by_place}
    if "fext" in places:
        behind = data["forces"] if "forces" in data else of_block(w, KEEP)
        places["fext"] = w.new(f"add i64 {behind}, {8 * dict(inputs)['v']}")
    if elsewhere:
        w.lines += [f"  %asked = inttoptr i64 {data['asked']} to ptr"]
    for name, (row, field) in elsewhere.items():
        place = w.new(f"getelementptr i64, ptr %asked, i64 {row * ROW_WIDTH + field}")
        places[name] = w.new(f"load i64, ptr {place}")
    given = [w.new(f"inttoptr i64 {places[name]} to ptr") for name, _ in inputs if name not in STANDING]
    if "forces" in first and "forces" not in places:  # what knows external ones is code of its own
        expected = dict(inputs)["v"] + dict(inputs)["fext"] if "fext" in places else 0
        fits = w.new(f"icmp eq i64 %w{first['forces'] + SIZE}, {expected}")
        w.lines += [f"  br i1 {fits}, label %given, label %other", "given:"]
    read = zip(given, ((name, n) for name, n in inputs if name not in STANDING), strict=True)
    all_finite = finite(w, [(x, name, n) for x, (name, n) in read if name not in looked_at], lanes)
    w.lines += [f"  br i1 {all_finite}, label %run, label %other", "run:"]
    if STANDING.keys() & dict(inputs).keys():
        given += [w.new(f"inttoptr i64 {of_block(w, i)} to ptr") for i in STANDING.values()]
    keep = w.new(f"inttoptr i64 {of_block(w, KEEP)} to ptr")
    w.lines += [f"  %conditions = alloca [{max(1, len(conditions))} x double], align 64"]
    w.lines += ["  %redundant = alloca double"] if redundant else []
    there = {"keep": keep, "redundant": "%redundant"}
    into = [there.get(name) or w.new(f"inttoptr i64 {places.get(name, data.get(name))} to ptr") for name in sizes]
    pointers = ", ".join(f"ptr {x}" for x in (*given, *into, "%conditions"))
    w.lines += [f"  br i1 {w.new(f'call i1 @core({pointers})')}, label %other, label %good", "good:"]
    if operation.result and sizes[operation.writes]:
        copy(w, keep, into[0], sizes[operation.writes], lanes, "good")
    work = of_block(w, WORK) if conditions else ""
    for i, at in enumerate(conditions):  # steps that change coordinates look there
        x = w.load("conditions", i)
        where = w.new(f"inttoptr i64 {w.new(f'add i64 {work}, {8 * at}')} to ptr")
        w.lines += [f"  store double {x}, ptr {where}"]
    found = "0"
    if redundant:
        positive = w.new(f"fcmp ogt double {w.new('load double, ptr %redundant')}, 0.0")
        found = w.new(f"select i1 {positive}, i64 0, i64 {redundant}")
    w.lines += [
        "  %code = inttoptr i64 %w0 to ptr",
        f"  store i64 {found}, ptr %code",
        "  ret i32 0",
        "other:",
        "  %where = inttoptr i64 %w0 to ptr",
        f"  store i64 {LEFT_TO_KERNEL}, ptr %where",
        "  ret i32 0",
        "}",
    ]
    return module_text(core, "\n".join(w.lines), "\n")


def words_of(operation: Operation) -> tuple[dict[str, int], int]:
    """Return at which word each argument of a kernel begins, and how many words there are: code and error come first.

    Kernels whose passes are no door of their own are given the address of tables before that.
    """
    first, words = {}, 2 if operation.is_door else 3
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
    return w.new(f"load i64, ptr {w.new(f'getelementptr i64, ptr %tables, i64 {i}')}")


def copy(w: Instructions, to: str, source: str, n: int, lanes: int, block: str, prefix: str = "") -> str:
    """Write a loop that copies n numbers, so that no function of others is called, which would have to be found.

    It begins in ``block``, in registers of ``lanes`` numbers; what it adds has names with the prefix. Returns the block
    in which one is afterwards.
    """
    if n == 0:
        return block
    width = lanes
    while width > n:
        width //= 2
    kind, last, p = Kind("double", width).name, n - width, prefix
    w.lines += [f"  br label %{p}copy", f"{p}copy:", f"  %{p}at = phi i64 [ 0, %{block} ], [ %{p}next, %{p}copy ]"]
    here, there = (w.new(f"getelementptr double, ptr {x}, i64 %{p}at") for x in (source, to))
    w.lines += [
        f"  store {kind} {w.new(f'load {kind}, ptr {here}, align 8')}, ptr {there}, align 8",
        f"  %{p}done = icmp uge i64 %{p}at, {last}",
        f"  %{p}on = add i64 %{p}at, {width}",
        f"  %{p}far = icmp ugt i64 %{p}on, {last}",
        f"  %{p}next = select i1 %{p}far, i64 {last}, i64 %{p}on",  # the last ones may be copied twice
        f"  br i1 %{p}done, label %{p}copied, label %{p}copy",
        f"{p}copied:",
    ]
    return f"{p}copied"


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
