"""Robot-specific code for kernels that read stored results of other functions, such as derivatives of a frame's motion.

The stored numbers are inputs of the trace. All joints and frames of a link share code, so the placement of a frame
relative to its link is an input as well.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..._support.groups import grouped
from ...kernels.tables import tree_layout as tl
from ...kernels.tables.layout import ROW_WIDTH
from ...model import ClusterModel
from ...model.regressor_tables import tables_of
from ..machine_code.emitter import Result
from ..machine_code.instructions import Instructions
from ..machine_code.kinds import Kind
from ..machine_code.machine import lanes_of_host
from ..machine_code.text import module_text
from ..native.words import DATA, LEFT_TO_KERNEL, SIZE
from ..operations import Function, names
from ..tracing._sources import Memory, reading, source, watching
from ..tracing.expressions import INPUT, Expression, Graph, needed
from . import entry
from .traced_kernels import BOUNDS
from .variants import digits_of, key_of

from ..operations import CENTER_RATES, FRAME_JACOBIAN, FRAME_TERMS, PLACE_DERIVATIVES, PLACE_HESSIAN  # isort: skip

_PLACED = 24  # numbers per joint or frame: rotation (9) and translation (3) in the link, then both in the joint
_ADDRESS = tl.Field._fields.index("address")
_FEW = 64  # Arrays of this size or larger are cleared by a loop before the results are written.
_SUMMED = 8  # number of squares in each sum; the processor computes separate sums in parallel


def module(model: ClusterModel, function: Function, most: float) -> str:
    """Return a module with ``entry``, which takes the kernel's parameters; return "" if the kernel divides by zero."""
    try:
        return _Traced(model, function, most).text()
    except ZeroDivisionError:  # A subtree without mass has no centre of mass.
        return ""


class _Traced(Memory):
    """A kernel during tracing, and the memory that it reads."""

    def __init__(self, model: ClusterModel, function: Function, most: float) -> None:
        self._model, self._operation = model, function.operation
        self._variant = digits_of(function.operation, key_of(function))
        self._tree, self._graph = model.tables.tree, Graph(most)
        views = source("tables.views")
        self._n = views.tree_header_at(self._tree.index, 0)
        self._inputs: list[tuple[str, int]] = []
        self._checked: list[tuple[str, str, int]] = []  # arrays that must be finite: name, "q" if it has angles, size
        self._must: list[tuple[Any, str]] = []  # (number, comparison): if a comparison is true, the generic kernel runs
        self._regressor = range(0)  # workspace indices of the regressor
        if self._operation.group == "regressor":
            self._index, self._params, work, (start, nv, self._width) = tables_of(model)
            self._work, self._regressor = work.astype(object), range(start, start + nv * self._width)
        self._arguments = {name: self._argument(name) for name in names(self._operation.takes)}
        if self._operation.group != "regressor":
            self._index, self._params = self._tree.index.copy(), self._tree.params.astype(object)
            self._work = self._input("work", self._tree.work)
            source("tree.link_motions").start_links(self._work)
        if "place" in self._arguments:
            self._put_place()
        self._keep = self._input("keep", self._tree.out)
        self._put_couplings()
        self._put_states()
        self._fields = dict(self._read_fields())
        self._before = {name: x.copy() for name, x in self._written()}

    def _input(self, name: str, size: int) -> np.ndarray:
        first = sum(n for _, n in self._inputs)
        self._inputs.append((name, size))
        return np.array(self._graph.inputs(first, size), dtype=object)

    def _argument(self, name: str) -> Any:
        model, value = self._model, self._variant.get(name, 1)
        nv, nothing = model.nv, np.zeros(0, dtype=object)
        if name in ("reference", "rate", "joint"):
            return value
        if name == "places":
            return np.array(value)
        if name == "place":  # the first joint or frame, which ``_put_place`` attaches to the variant's link
            return model.njoints * self._variant["frame"] if "frame" in self._variant else 0
        if name in ("q", "v", "a", "M"):
            size = {"q": model.nq, "M": 16}.get(name, nv)
            if not value or (name == "v" and not self._variant.get("kinetic", 1)):
                return nothing
            if name != "M":
                self._checked.append((name, "q" if name == "q" else "", size))
            return self._input(name, size)
        return np.full(self._shape(name), 0.0, dtype=object)

    def _shape(self, name: str) -> tuple[int, ...]:
        nv = self._model.nv
        if self._operation.group == "regressor":
            static = 3 * (self._width - 6 * (self._model.njoints - 1))
            sizes = {"static": static, "kinetic": self._width, "potential": self._width}
            return (nv, self._width) if name == "result" else (sizes[name] * self._variant[name],)
        if self._operation is PLACE_HESSIAN:
            return (6 * nv * nv,)
        if self._operation is FRAME_TERMS:
            return ((6 * nv + tl.FRAME_NUMBERS) * len(self._variant["places"]) + 3 * nv + 9,)
        if self._operation is PLACE_DERIVATIVES:
            if name in ("a_q", "a_v") and not self._variant["a_q"]:
                return (0, nv)
            return (3 if self._variant["v_q"] else 6, nv)
        return (6 if self._operation is FRAME_JACOBIAN else 3, nv)

    def _put_place(self) -> None:
        link = self._variant["place"]
        joint = int(np.flatnonzero(self._tree.link_of_joint == link)[0])
        row = tl.Place(link, joint, len(self._params))
        self._index[self._n.place0 + self._arguments["place"], : len(row)] = row
        self._params = np.concatenate([self._params, self._input("placed", _PLACED)])

    def _put_couplings(self) -> None:
        """Store the coupling matrix G and its derivatives for the kernels. Entries that depend on q become inputs."""
        dense, E, G = self._tree.own, self._tree.derived, self._model.tables.topology.G
        views, terms = source("tables.views"), np.zeros(G.size, dtype=bool)
        for iv in self._tree.curved:
            D = views.dof(self._tree.index, self._n.dof0 + iv)
            terms[[views.entry(self._tree.index, t).at for t in range(D.term0, D.term1)]] = True
        bends = (E.posed_q - E.bends) // max(1, G.size) - 1
        rates = {dense.G: 0, dense.kept: 1, E.coupled: 3, E.turned: 1, E.bends: bends}
        for first, count in rates.items():
            for i in range(1 + count * self._n.loops):
                block = slice(first + i * G.size, first + (1 + i) * G.size)
                self._keep[block] = np.where(terms, self._keep[block], 0.0 if i else G.ravel())
        still = np.ones(len(G), dtype=bool)
        still[list(self._tree.curved)] = False
        self._keep[dense.g : dense.g + len(G)][still] = 0.0
        # Without an argument q, the stored G is an input. Its entries that depend on q can be NaN, so they are checked.
        if self._operation is FRAME_JACOBIAN and not self._variant["q"]:
            self._seen = [x for x in self._keep[dense.kept : dense.kept + G.size] if isinstance(x, Expression)]
        else:
            self._seen = []

    def _put_states(self) -> None:
        """Set the status words to valid values for the traced kernel; the generated code checks the actual values."""
        E, sections = self._tree.derived, self._tree.own
        if self._operation is PLACE_DERIVATIVES:
            level = 1.0 + self._variant["a_q"]
            self._must.append((self._work[E.level], f"ult {level}"))
            self._work[E.level] = level
        status_words = {CENTER_RATES: (E.standing, 1.0, "ueq 0.0"), PLACE_HESSIAN: (E.bent, 1.0, "ueq 0.0")}
        if self._operation is FRAME_JACOBIAN and not self._variant["q"]:
            status_words[FRAME_JACOBIAN] = sections.lost, 0.0, "une 0.0"
        if self._operation in status_words:
            index, good, bad = status_words[self._operation]
            self._must.append((self._keep[index], bad))
            self._keep[index] = good
        if self._operation is PLACE_HESSIAN:
            self._keep[E.bent_q : E.bent_q + self._model.nq] = self._input("bent_q", self._model.nq)
            self._checked.append(("bent_q", "q", self._model.nq))

    def _read_fields(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield row and inputs of each ``pin.Data`` field that is read; the row number replaces the field's address."""
        if self._operation is FRAME_JACOBIAN:
            views = source("tables.views")
            for row in range(self._n.field1, self._n.field1 + 6):
                self._index[row, _ADDRESS] = row
                yield row, self._input(f"field{row}", views.field(self._tree.index, row).size)

    def seen(self, address: int, size: int) -> np.ndarray:
        if address in self._fields:
            return self._fields[address]
        return next(x for x in self._arguments.values() if np.ndim(x) and x.ctypes.data == address).reshape(-1)

    def _written(self) -> Iterator[tuple[str, np.ndarray]]:
        yield "keep", self._keep
        yield from ((f"field{row}", x) for row, x in self._fields.items())
        if self._operation.group == "regressor":
            yield "work", self._work

    def _run(self) -> None:
        module_name, _, name = self._operation.passes.rpartition(".")
        tables = self._index, self._params, self._work, self._keep
        with watching(), reading(self), np.errstate(all="ignore"):
            getattr(source(module_name), name)(*tables, *self._arguments.values())

    def _results(self) -> list[Result]:
        new = [
            Result(name, (i,), value)
            for name, x in self._arrays()
            for i, value in enumerate(x.ravel())
            if x.size < _FEW or isinstance(value, Expression) or value != 0.0
        ]
        for name, x in self._written():
            before = self._before[name]
            new += [Result(name, (i,), x[i]) for i in range(len(x)) if x[i] is not before[i] and self._lasts(name, i)]
        return new

    def _arrays(self) -> list[tuple[str, np.ndarray]]:
        inputs = {"places", *(name for name, _ in self._inputs)}
        return [(name, x) for name, x in self._arguments.items() if np.ndim(x) and x.size and name not in inputs]

    def _lasts(self, name: str, i: int) -> bool:
        """Return whether other functions read entry i of an array in memory; if not, the entry is scratch memory."""
        if name == "keep":
            return i == int(self._tree.derived.standing)
        return name != "work" or i in self._regressor

    def text(self) -> str:
        self._run()
        results = self._results()
        owners = [name for name, size in self._inputs for _ in range(size)]
        checked = {name for name, _, _ in self._checked}
        values = [x.value for x in results if isinstance(x.value, Expression)]
        inputs = [x for x in needed(values) if x.op == INPUT and owners[x.args[0]] not in checked]
        # A NaN in an input spreads to the results, so only the shorter of ``inputs`` and ``values`` is checked.
        looked_at = [*self._seen, *min(inputs, values, key=len)]
        for i in range(0, len(looked_at), _SUMMED):
            total = sum(x * x for x in looked_at[i : i + _SUMMED])
            results.append(Result("looked at", (0,), total, BOUNDS["finite"]))
        results += [Result("looked at", (0,), x, bad) for x, bad in self._must]
        outputs = [name for name, _ in self._arrays()]
        outputs += sorted({result.array for result in results} - {"looked at", *outputs})
        core = entry.core_text(self._inputs, _in_order(results), outputs)
        return module_text(core, self._entry(outputs), "\n")

    def _entry(self, outputs: list[str]) -> str:
        first, words = entry.words_of(self._operation)
        w, lanes = Instructions(Kind("double")), lanes_of_host()
        w.lines += [f"define i32 @entry({entry.words(words)}) {Kind('double', 8).attributes} {{", "start:"]
        w.lines += ["  %tables = inttoptr i64 %w2 to ptr", "  %code = inttoptr i64 %w0 to ptr"]
        if "places" in self._variant:
            self._check_list(w, first["places"], self._variant["places"])
        places = {name: self._pointer(w, first, name) for name in {*dict(self._inputs), *outputs}}
        finite = entry.finite(w, [(places[name], angle, size) for name, angle, size in self._checked], lanes)
        w.lines += [f"  br i1 {finite}, label %run, label %other", "run:"]
        for name, x in self._arrays():
            if x.size >= _FEW:
                _clear(w, places[name], x.size, lanes)
        pointers = ", ".join(f"ptr {places[name]}" for name in (*dict(self._inputs), *outputs))
        w.lines += [f"  br i1 {w.new(f'call i1 @core({pointers})')}, label %other, label %good", "good:"]
        w.lines += ["  store i64 0, ptr %code", "  ret i32 0", "other:"]
        w.lines += [f"  store i64 {LEFT_TO_KERNEL}, ptr %code", "  ret i32 0", "}"]
        return "\n".join(w.lines)

    def _check_list(self, w: Instructions, word: int, expected: list[int]) -> None:
        """Write a test that a list equals the expected list; for other lists with the same key, the kernel runs.

        The length is compared first, so that no entry beyond the end of the list is read.
        """
        fits = w.new(f"icmp eq i64 %w{word + SIZE}, {len(expected)}")
        w.lines += [f"  br i1 {fits}, label %fits, label %other", "fits:"]
        start, equal = w.pointer(f"%w{word + DATA}"), "true"
        for i, number in enumerate(expected):
            equal = w.new(f"and i1 {equal}, {w.new(f'icmp eq i64 {w.word(start, i)}, {number}')}")
        w.lines += [f"  br i1 {equal}, label %same, label %other", "same:"]

    def _pointer(self, w: Instructions, first: dict[str, int], name: str) -> str:
        if name in first:
            return w.pointer(entry.data_of(first, name))
        if name in ("work", "keep"):
            return w.pointer(entry.of_block(w, entry.WORK if name == "work" else entry.KEEP))
        if name == "bent_q":
            return w.pointer(w.new(f"add i64 {entry.of_block(w, entry.KEEP)}, {8 * self._tree.derived.bent_q}"))
        index = w.pointer(entry.of_block(w, 0))
        if name == "placed":
            row = w.new(f"add i64 %w{first['place']}, {self._n.place0}")
            place = w.new(f"add i64 {w.new(f'mul i64 {row}, {ROW_WIDTH}')}, {tl.Place._fields.index('at')}")
            number = w.new(f"load i64, ptr {w.new(f'getelementptr i64, ptr {index}, i64 {place}')}")
            offset = w.new(f"mul i64 {number}, 8")
            return w.pointer(w.new(f"add i64 {entry.of_block(w, entry.PARAMS)}, {offset}"))
        field = int(name.removeprefix("field"))
        address = w.word(index, field * ROW_WIDTH + _ADDRESS)
        if field == self._n.field1 + 4 and self._variant["frame"]:  # oMf of the frame with the given id
            behind = w.new(f"sub i64 %w{first['place']}, {self._model.njoints}")
            address = w.new(f"add i64 {address}, {w.new(f'mul i64 {behind}, {12 * 8}')}")
        return w.pointer(address)


def _in_order(results: list[Result]) -> list[Result]:
    """Return results and operations in the kernel's order, in which the operations of different long sums alternate."""
    by_value = grouped((x.value.id if isinstance(x.value, Expression) else -1, x) for x in results)
    ordered = by_value.pop(-1, [])
    for x in needed(result.value for result in results):
        if x.op != INPUT or x.id in by_value:
            ordered += by_value.get(x.id) or [Result("", (), x)]
    return ordered


def _clear(w: Instructions, array: str, size: int, lanes: int) -> None:
    with w.loop(size, lanes) as i:
        where = w.new(f"getelementptr double, ptr {array}, i64 {i}")
        w.lines += [f"  store {Kind('double', lanes).name} zeroinitializer, ptr {where}, align 8"]
