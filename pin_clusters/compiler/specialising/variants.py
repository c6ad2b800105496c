"""Variants of kernels: separate code for each value of the arguments that select the results.

Such an argument is, for example, the bit mask of requested results, or the mask of prescribed accelerations. These
arguments are encoded in one integer, the key of the variant. A variant is compiled at its first call. Other
machine code calls variants through a function, which looks up the key in a table of the model.
"""

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..call_layer import tell_compiled
from ..entry_points import Kernel, Pointer
from ..machine_code.loading import load
from ..native.words import DATA, LEFT_TO_KERNEL, SIZE
from . import entry
from .traced_kernels import FORCES

from ...kernels.tables.layout import ROW_WIDTH  # isort: skip
from ...kernels.tables.tree_layout import TreeHeader  # isort: skip
from ..operations import CENTER_RATES, COUPLING_DERIVATIVES, ENERGY_REGRESSORS, FRAME_JACOBIAN  # isort: skip
from ..operations import FRAME_TERMS, HYBRID, PLACE_DERIVATIVES, PLACE_HESSIAN, REGRESSOR  # isort: skip
from ..operations import SUBTREE_JACOBIAN, TREE, Function, Operation, names  # isort: skip

_MOST = 60  # maximum number of variants per operation and model; further variants use the generic kernel
# indices in the block of a ``Pointer``: address of the variant tables, and size of the result array
_TABLES, _RESULTS = 8, 7


class Digit(NamedTuple):
    """One digit of a variant's key; the digit is smaller than ``base`` and encodes the argument ``name``.

    The digit encodes, according to ``kind``: ``number`` (the value), ``given`` (whether the array has entries),
    ``point`` (whether a result has three rows), ``link`` (the link of a joint or frame), ``frame`` (0: joint, 1: frame)
    or ``places`` (a list of joints or frames, with one digit per entry).
    """

    kind: str
    name: str
    base: int = 2


_LINK, _REFERENCE = Digit("link", "place", 1 << 20), Digit("number", "reference", 3)
IN_MEMORY: dict[Operation, tuple[Digit, ...]] = {
    FRAME_JACOBIAN: (
        _LINK,
        Digit("frame", "place"),
        _REFERENCE,
        Digit("given", "q"),
        Digit("number", "rate", 3),
        Digit("given", "M"),
    ),
    PLACE_DERIVATIVES: (_LINK, _REFERENCE, Digit("given", "M"), Digit("point", "v_q"), Digit("given", "a_q")),
    PLACE_HESSIAN: (_LINK, _REFERENCE, Digit("given", "M")),
    FRAME_TERMS: (Digit("places", "places", 1_000_003), _REFERENCE),
    CENTER_RATES: (),
    SUBTREE_JACOBIAN: (Digit("number", "joint", 1 << 20), Digit("given", "q")),
    REGRESSOR: (),
    ENERGY_REGRESSORS: tuple(Digit("given", name) for name in ("static", "kinetic", "potential")),
}
"""Operations that read stored results of other functions, with the digits of their variants' keys."""
VARIANT_OPERATIONS = {x.name: x for x in (TREE, COUPLING_DERIVATIVES, HYBRID, *IN_MEMORY)}
"""Dictionary from names to the operations whose kernels have variants."""
LARGEST_MASK = 60
"""Maximum number of velocities in a mask that a key can encode."""
_LONGEST = 100  # maximum length of a list that is encoded in a key


def variant(operation: Operation, key: int) -> Function:
    """Return the ``Function`` of a variant.

    For the spanning tree and couplings, the key is 4 * what + level: ``what`` selects the results; the level is 0 for q
    alone, 1 for q and v, 2 for q, v and a. For hybrid dynamics, bit 0 of the key marks external forces, and bit 1 + i
    marks that acceleration i is prescribed. For the operations in ``IN_MEMORY``, the key consists of digits.
    """
    name = f"{operation.name} {key}"
    if operation in IN_MEMORY:
        return Function(name, operation, "", "", "")
    if operation is HYBRID:
        return Function(name + FORCES * (key & 1), operation, "q v tau a", "", "")
    return Function(name, operation, ("q", "q v", "q v a")[key % 4], "", "")


def variant_of(name: str) -> Function:
    operation, key = name.split()[:2]
    return variant(VARIANT_OPERATIONS[operation], int(key))


def key_of(function: Function) -> int:
    return int(function.name.split()[1])


def digits_of(operation: Operation, key: int) -> dict[str, Any]:
    """Return the arguments that a key encodes, by name; ``frame`` is 0 for a joint and 1 for a frame."""
    arguments = dict[str, Any]()
    for digit in reversed(IN_MEMORY[operation]):
        if digit.kind == "places":
            places = list[int]()
            while key:
                key, number = divmod(key, digit.base)
                places.insert(0, number - 1)
            arguments[digit.name] = places
        else:
            key, arguments["frame" if digit.kind == "frame" else digit.name] = divmod(key, digit.base)
    return arguments


def _number(operation: Operation, index: np.ndarray, given: dict[str, Any]) -> int | None:
    key, header = 0, TreeHeader(*index[0, : len(TreeHeader._fields)].tolist())
    for kind, name, base in IN_MEMORY[operation]:
        x = given[name]
        if kind == "places":
            if len(x) > _LONGEST:
                return None
            for number in x.tolist():
                key = key * base + number + 1
            continue
        if kind == "link":
            x = int(index[header.place0 + x, 0])
        elif kind != "number":
            x = int({"given": np.size(x) > 0, "point": np.shape(x)[:1] == (3,), "frame": x >= header.njoints}[kind])
        key = key * base + x
    return key


def _key(operation: Operation, pointer: Pointer, given: dict[str, Any]) -> int | None:
    if operation in IN_MEMORY:
        return _number(operation, pointer.arrays[0], given)
    if operation is not HYBRID:
        return int(4 * given.get("what", 0) + (given["v"].size > 0) + (given["a"].size > 0))
    mask = given["prescribed"]
    if len(mask) > LARGEST_MASK:
        return None
    return sum(2 << i for i in np.flatnonzero(mask).tolist()) + (len(pointer.arrays[-1]) > len(mask))


_LIST = """  %places = inttoptr i64 {data} to ptr
  br label %list.head
list.head:
  %list.i = phi i64 [ 0, %start ], [ %list.next, %list.body ]
  %list = phi i64 [ 0, %start ], [ %list.new, %list.body ]
  %list.more = icmp slt i64 %list.i, {size}
  br i1 %list.more, label %list.body, label %list.end
list.body:
  %list.at = getelementptr i64, ptr %places, i64 %list.i
  %list.place = load i64, ptr %list.at
  %list.next = add i64 %list.i, 1
  %list.digit = add i64 %list.place, 1
  %list.high = mul i64 %list, {base}
  %list.new = add i64 %list.high, %list.digit
  br label %list.head
list.end:"""


def _write_number(operation: Operation, first: dict[str, int]) -> str:
    """Return the instructions that compute the lower 64 bits of the key. The last line is the label ``known``."""
    lines, key = ["  %index.at = load i64, ptr %tables", "  %index = inttoptr i64 %index.at to ptr"], "0"
    for i, (kind, name, base) in enumerate(IN_MEMORY[operation]):
        if kind == "places":
            lines += [_LIST.format(data=entry.data_of(first, name), size=f"%w{first[name] + SIZE}", base=base)]
            key = "%list"
            continue
        x = f"%x{i}"
        bit = f"%w{first[name] + SIZE}", "ne", "0"
        if kind == "point":
            bit = f"%w{first[name] + DATA + 1}", "eq", "3"
        if kind in ("link", "frame"):
            column = TreeHeader._fields.index("place0" if kind == "link" else "njoints")
            lines += [f"  {x}.at = getelementptr i64, ptr %index, i64 {column}"]
            lines += [f"  {x}.read = load i64, ptr {x}.at"]
            bit = f"%w{first[name]}", "sge", f"{x}.read"
        if kind == "link":
            lines += [f"  {x}.row = add i64 {x}.read, %w{first[name]}", f"  {x}.row.at = mul i64 {x}.row, {ROW_WIDTH}"]
            lines += [f"  {x}.link = getelementptr i64, ptr %index, i64 {x}.row.at", f"  {x} = load i64, ptr {x}.link"]
        elif kind == "number":
            x = f"%w{first[name]}"
        else:
            lines += [f"  {x}.bit = icmp {bit[1]} i64 {bit[0]}, {bit[2]}", f"  {x} = zext i1 {x}.bit to i64"]
        lines += [f"  %high{i} = mul i64 {key}, {base}", f"  %key{i} = add i64 %high{i}, {x}"]
        key = f"%key{i}"
    return "\n".join([*lines, f"  %key_of_call = add i64 {key}, 0", "  br label %known", "known:"])


def _write_key(operation: Operation, first: dict[str, int]) -> str:
    """Return the instructions that compute ``%key_of_call``, the key. The last line is the label ``known``."""
    if operation in IN_MEMORY:
        return _write_number(operation, first)
    if operation is not HYBRID:
        selection = f"%w{first['what']}" if "what" in first else "0"
        return f"""  %moves = icmp ne i64 %w{first["v"] + SIZE}, 0
  %speeds.up = icmp ne i64 %w{first["a"] + SIZE}, 0
  %first = zext i1 %moves to i64
  %two = zext i1 %speeds.up to i64
  %level = add i64 %first, %two
  %higher = mul i64 {selection}, 4
  %key_of_call = add i64 %higher, %level
  br label %known
known:"""
    size = f"%w{first['prescribed'] + SIZE}"
    return f"""  %mask = inttoptr i64 {entry.data_of(first, "prescribed")} to ptr
  %results.at = getelementptr i64, ptr %tables, i64 {_RESULTS}
  %results = load i64, ptr %results.at
  %forced = icmp sgt i64 %results, {size}
  %forces = zext i1 %forced to i64
  br label %bits
bits:
  %bit = phi i64 [ 0, %start ], [ %bit.next, %look ]
  %key_of_call = phi i64 [ %forces, %start ], [ %key_of_call.next, %look ]
  %left = icmp slt i64 %bit, {size}
  br i1 %left, label %look, label %known
look:
  %byte.at = getelementptr i8, ptr %mask, i64 %bit
  %byte = load i8, ptr %byte.at
  %set = icmp ne i8 %byte, 0
  %bit.next = add i64 %bit, 1
  %power = shl i64 1, %bit.next
  %here = select i1 %set, i64 %power, i64 0
  %key_of_call.next = or i64 %key_of_call, %here
  br label %bits
known:"""


def _word(key: int) -> int:
    """Return the lower 64 bits of a key. Two keys that encode long lists can have the same lower 64 bits."""
    return (key + (1 << 63)) % (1 << 64) - (1 << 63)


def _finder(operation: Operation) -> str:
    first, words = entry.words_of(operation)
    parameters = ", ".join(f"i64 %w{i}" for i in range(words))
    return f"""define i32 @entry({parameters}) nounwind {{
start:
  %tables = inttoptr i64 %w2 to ptr
  %tables.of = getelementptr i64, ptr %tables, i64 {_TABLES}
  %all.at = load i64, ptr %tables.of
  %all = inttoptr i64 %all.at to ptr
  %place = getelementptr i64, ptr %all, i64 {list(VARIANT_OPERATIONS.values()).index(operation)}
  %address = load i64, ptr %place
  %table = inttoptr i64 %address to ptr
  %count = load i64, ptr %table
{_write_key(operation, first)}
  br label %head
head:
  %i = phi i64 [ 0, %known ], [ %next, %body ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %body, label %none
body:
  %twice = mul i64 %i, 2
  %at = add i64 %twice, 1
  %key.at = getelementptr i64, ptr %table, i64 %at
  %key = load i64, ptr %key.at
  %next = add i64 %i, 1
  %same = icmp eq i64 %key, %key_of_call
  br i1 %same, label %found, label %head
found:
  %code.at = getelementptr i64, ptr %key.at, i64 1
  %code = load i64, ptr %code.at
  %function = inttoptr i64 %code to ptr
  %done = tail call i32 %function({parameters})
  ret i32 %done
none:
  %kernel.at = getelementptr i64, ptr %table, i64 {1 + 2 * _MOST}
  %kernel = load i64, ptr %kernel.at
  %full = icmp ne i64 %kernel, 0
  br i1 %full, label %others, label %new
others:
  %one = inttoptr i64 %kernel to ptr
  %did = tail call i32 %one({parameters})
  ret i32 %did
new:
  %where = inttoptr i64 %w0 to ptr
  store i64 {LEFT_TO_KERNEL}, ptr %where
  ret i32 0
}}
"""


class Variants:
    """All variants of one kernel for one model. An instance is called like the kernel.

    Attributes:
        own: Address of the function that calls the variants; 0 until the first variant is compiled.
        table: Number of variants, followed by the key and the address of each variant. When the table is full, its last
            entry is the address of the generic kernel, which computes all other variants.
    """

    def __init__(self, operation: Operation, kernel: Kernel, make: Callable[[Function], Any]) -> None:
        self._operation, self._kernel, self._make, self._lock = operation, kernel, make, threading.Lock()
        self._names, self._known = names(operation.takes), dict[int | None, Any]()
        self.table, self.own = np.zeros(2 + 2 * _MOST, dtype=np.int64), 0

    def call(self, pointer: Pointer, *arguments: Any) -> int:
        key = _key(self._operation, pointer, dict(zip(self._names, arguments, strict=True)))
        return int((self._known.get(key) or self._found(key)).call(pointer, *arguments))

    def _found(self, key: int | None) -> Any:
        """Return the code of a variant, and add its address to the table that machine code reads."""
        if key is None:
            self.own = self._kernel.address()
        elif int(self.table[0]) == _MOST and _word(key) not in self.table[1:-1:2]:
            key, self.table[-1] = None, self._kernel.address()
        if key is None:
            return self._kernel
        code = self._make(variant(self._operation, key))
        with self._lock:
            count = int(self.table[0])
            if count < _MOST and _word(key) not in self.table[1 : 1 + 2 * count : 2]:
                self.table[1 + 2 * count : 3 + 2 * count] = _word(key), code.address()
                self.table[0] = count + 1  # written last, because other threads may be reading the table
            if not self.own:
                self.own = load(_finder(self._operation), optimise=False).address("entry")
                tell_compiled()
        if code.own:
            self._known[key] = code
        return code
