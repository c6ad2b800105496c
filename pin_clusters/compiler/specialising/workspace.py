"""Code of one robot for kernels that read what other functions left in memory: derivatives of places, regressors.

The numbers that stand there are inputs of the trace. Joints and frames of one link share code: where a place is in its
link is an input as well.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

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
from .wishes import key_of, told_by

from ..operations import CENTER_RATES, FRAME_JACOBIAN, FRAME_TERMS, PLACE_DERIVATIVES, PLACE_HESSIAN  # isort: skip

_PLACED = 24  # numbers of a place: rotation and translation in its link, then in its joint
_ADDRESS = tl.Field._fields.index("address")
_FEW = 64  # so many zeros are written one by one
_SUMMED = 8  # squares in one sum: more sums wait less for each other


def module(model: ClusterModel, function: Function, most: float) -> str:
    """Return a module with the function ``entry``, which takes what the kernel takes; "" if it fails at every state.

    Raises:
        TooLongError: There are more operations than ``most``.
    """
    try:
        return _Traced(model, function, most).text()
    except ZeroDivisionError:  # subtrees without mass have no centre
        return ""


class _Traced(Memory):
    """A kernel while it is traced, and what it finds in memory."""

    def __init__(self, model: ClusterModel, function: Function, most: float) -> None:
        self._model, self._operation = model, function.operation
        self._told = told_by(function.operation, key_of(function))
        self._tree, self._graph = model.tables.tree, Graph(most)
        views = source("tables.views")
        self._n = views.tree_header_at(self._tree.index, 0)
        self._inputs: list[tuple[str, int]] = []
        self._checked: list[tuple[str, str, int]] = []  # arrays of which all numbers must be finite; name and size
        self._must: list[tuple[Any, str]] = []  # numbers in memory, and how they should not compare
        self._regressor = range(0)  # where it stands in the workspace
        if self._operation.group == "regressor":
            self._index, self._params, work, (at, nv, self._width) = tables_of(model)
            self._work, self._regressor = work.astype(object), range(at, at + nv * self._width)
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
        """Return a number that is known, inputs, or an array of zeros for results."""
        model, given = self._model, self._told.get(name, 1)
        nv, nothing = model.nv, np.zeros(0, dtype=object)
        if name in ("reference", "rate", "joint"):
            return given
        if name == "places":
            return np.array(given)
        if name == "place":  # the first joint or frame, which is put in the right link
            return model.njoints * self._told["frame"] if "frame" in self._told else 0
        if name in ("q", "v", "a", "M"):
            size = {"q": model.nq, "M": 16}.get(name, nv)
            if not given or (name == "v" and not self._told.get("kinetic", 1)):
                return nothing
            if name != "M":
                self._checked.append((name, "q" if name == "q" else "", size))
            return self._input(name, size)
        return np.full(self._shape(name), 0.0, dtype=object)

    def _shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a result."""
        nv = self._model.nv
        if self._operation.group == "regressor":
            static = 3 * (self._width - 6 * (self._model.njoints - 1))
            sizes = {"static": static, "kinetic": self._width, "potential": self._width}
            return (nv, self._width) if name == "result" else (sizes[name] * self._told[name],)
        if self._operation is PLACE_HESSIAN:
            return (6 * nv * nv,)
        if self._operation is FRAME_TERMS:
            return ((6 * nv + tl.FRAME_NUMBERS) * len(self._told["places"]) + 3 * nv + 9,)
        if self._operation is PLACE_DERIVATIVES:
            if name in ("a_q", "a_v") and not self._told["a_q"]:
                return (0, nv)
            return (3 if self._told["v_q"] else 6, nv)
        return (6 if self._operation is FRAME_JACOBIAN else 3, nv)

    def _put_place(self) -> None:
        """Put the first joint or frame into the link that is asked for, at a place that is an input."""
        link = self._told["place"]
        joint = int(np.flatnonzero(self._tree.link_of_joint == link)[0])
        row = tl.Place(link, joint, len(self._params))
        self._index[self._n.place0 + self._arguments["place"], : len(row)] = row
        self._params = np.concatenate([self._params, self._input("placed", _PLACED)])

    def _put_couplings(self) -> None:
        """Put G and its derivatives where kernels read them: numbers, but inputs where they depend on q."""
        own, E, G = self._tree.own, self._tree.derived, self._model.tables.topology.G
        views, terms = source("tables.views"), np.zeros(G.size, dtype=bool)
        for iv in self._tree.curved:
            D = views.dof(self._tree.index, self._n.dof0 + iv)
            terms[[views.entry(self._tree.index, t).at for t in range(D.term0, D.term1)]] = True
        rates = {own.G: 0, own.kept: 1, E.coupled: 3, E.turned: 1, E.bends: (E.posed_q - E.bends) // max(1, G.size) - 1}
        for first, count in rates.items():
            for i in range(1 + count * self._n.loops):
                place = slice(first + i * G.size, first + (1 + i) * G.size)
                self._keep[place] = np.where(terms, self._keep[place], 0.0 if i else G.ravel())
        still = np.ones(len(G), dtype=bool)
        still[list(self._tree.curved)] = False
        self._keep[own.g : own.g + len(G)][still] = 0.0
        if self._operation is FRAME_JACOBIAN and not self._told["q"]:  # what is no number there is none in all rows
            self._seen = [x for x in self._keep[own.kept : own.kept + G.size] if isinstance(x, Expression)]
        else:
            self._seen = []

    def _put_states(self) -> None:
        """Let what kernels report be good; code looks at it before."""
        E, own = self._tree.derived, self._tree.own
        if self._operation is PLACE_DERIVATIVES:
            level = 1.0 + self._told["a_q"]
            self._must.append((self._work[E.level], f"ult {level}"))
            self._work[E.level] = level
        known = {CENTER_RATES: (E.standing, 1.0, "ueq 0.0"), PLACE_HESSIAN: (E.bent, 1.0, "ueq 0.0")}
        if self._operation is FRAME_JACOBIAN and not self._told["q"]:
            known[FRAME_JACOBIAN] = own.lost, 0.0, "une 0.0"
        if self._operation in known:
            place, good, bad = known[self._operation]
            self._must.append((self._keep[place], bad))
            self._keep[place] = good
        if self._operation is PLACE_HESSIAN:
            self._keep[E.bent_q : E.bent_q + self._model.nq] = self._input("bent_q", self._model.nq)
            self._checked.append(("bent_q", "q", self._model.nq))

    def _read_fields(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield what stands in fields of ``pin.Data`` that are read, by row, which serves as their address."""
        if self._operation is FRAME_JACOBIAN:
            views = source("tables.views")
            for row in range(self._n.field1, self._n.field1 + 6):
                self._index[row, _ADDRESS] = row
                yield row, self._input(f"field{row}", views.field(self._tree.index, row).size)

    def seen(self, address: int, size: int) -> np.ndarray:
        """Return a field, or the numbers of a result."""
        if address in self._fields:
            return self._fields[address]
        return next(x for x in self._arguments.values() if np.ndim(x) and x.ctypes.data == address).reshape(-1)

    def _written(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield what is looked at for results in memory."""
        yield "keep", self._keep
        yield from ((f"field{row}", x) for row, x in self._fields.items())
        if self._operation.group == "regressor":
            yield "work", self._work

    def _run(self) -> None:
        place, _, name = self._operation.passes.rpartition(".")
        tables = self._index, self._params, self._work, self._keep
        with watching(), reading(self), np.errstate(all="ignore"):
            getattr(source(place), name)(*tables, *self._arguments.values())

    def _results(self) -> list[Result]:
        """Return what is written: results, and what other functions read in memory."""
        found = [
            Result(name, (i,), value)
            for name, x in self._arrays()
            for i, value in enumerate(x.ravel())
            if x.size < _FEW or isinstance(value, Expression) or value != 0.0
        ]
        for name, x in self._written():
            before = self._before[name]
            found += [Result(name, (i,), x[i]) for i in range(len(x)) if x[i] is not before[i] and self._lasts(name, i)]
        return found

    def _arrays(self) -> list[tuple[str, np.ndarray]]:
        """Return the results that are arguments."""
        given = {"places", *(name for name, _ in self._inputs)}
        return [(name, x) for name, x in self._arguments.items() if np.ndim(x) and x.size and name not in given]

    def _lasts(self, name: str, i: int) -> bool:
        """Whether others read number i of an array in memory; the rest is scratch."""
        if name == "keep":
            return i == int(self._tree.derived.standing)
        return name != "work" or i in self._regressor

    def text(self) -> str:
        """Return the module."""
        self._run()
        results = self._results()
        owners = [name for name, size in self._inputs for _ in range(size)]
        checked = {name for name, _, _ in self._checked}
        values = [x.value for x in results if isinstance(x.value, Expression)]
        inputs = [x for x in needed(values) if x.op == INPUT and owners[x.args[0]] not in checked]
        # a number that is none shows in what is made of it; where zeros are gone the kernel has to say where
        looked_at = [*self._seen, *min(inputs, values, key=len)]
        for i in range(0, len(looked_at), _SUMMED):
            total = sum(x * x for x in looked_at[i : i + _SUMMED])
            results.append(Result("looked at", (0,), total, BOUNDS["finite"]))
        results += [Result("looked at", (0,), x, bad) for x, bad in self._must]
        outputs = [name for name, _ in self._arrays()]
        outputs += sorted({one.array for one in results} - {"looked at", *outputs})
        core = entry.core_text(self._inputs, _in_order(results), outputs)
        return module_text(core, self._entry(outputs), "\n")

    def _entry(self, outputs: list[str]) -> str:
        """Return the function that finds its arguments, looks at them, and computes."""
        first, words = entry.words_of(self._operation)
        w, lanes = Instructions(Kind("double")), lanes_of_host()
        w.lines += [f"define i32 @entry({entry.words(words)}) {Kind('double', 8).attributes} {{", "start:"]
        w.lines += ["  %tables = inttoptr i64 %w2 to ptr", "  %code = inttoptr i64 %w0 to ptr"]
        if "places" in self._told:
            self._check_list(w, first["places"], self._told["places"])
        places = {name: self._pointer(w, first, name) for name in {*dict(self._inputs), *outputs}}
        finite = entry.finite(w, [(places[name], angle, size) for name, angle, size in self._checked], lanes)
        w.lines += [f"  br i1 {finite}, label %run, label %other", "run:"]
        for name, x in self._arrays():
            if x.size >= _FEW:
                _clear(w, places[name], x.size, lanes)
        given = ", ".join(f"ptr {places[name]}" for name in (*dict(self._inputs), *outputs))
        w.lines += [f"  br i1 {w.new(f'call i1 @core({given})')}, label %other, label %good", "good:"]
        w.lines += ["  store i64 0, ptr %code", "  ret i32 0", "other:"]
        w.lines += [f"  store i64 {LEFT_TO_KERNEL}, ptr %code", "  ret i32 0", "}"]
        return "\n".join(w.lines)

    def _check_list(self, w: Instructions, word: int, expected: list[int]) -> None:
        """Write that other lists are left to the kernel: the table finds a long list by a number that others may have.

        The length is compared first, so that no entry beyond the end of the list is read.
        """
        fits = w.new(f"icmp eq i64 %w{word + SIZE}, {len(expected)}")
        w.lines += [f"  br i1 {fits}, label %fits, label %other", "fits:"]
        start, same = w.pointer(f"%w{word + DATA}"), "true"
        for i, place in enumerate(expected):
            same = w.new(f"and i1 {same}, {w.new(f'icmp eq i64 {w.word(start, i)}, {place}')}")
        w.lines += [f"  br i1 {same}, label %same, label %other", "same:"]

    def _pointer(self, w: Instructions, first: dict[str, int], name: str) -> str:
        """Return what leads to an array: an argument, part of the tables, or a field of ``pin.Data``."""
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
        if field == self._n.field1 + 4 and self._told["frame"]:  # oMf, of that frame
            behind = w.new(f"sub i64 %w{first['place']}, {self._model.njoints}")
            address = w.new(f"add i64 {address}, {w.new(f'mul i64 {behind}, {12 * 8}')}")
        return w.pointer(address)


def _in_order(results: list[Result]) -> list[Result]:
    """Return results with the operations that they need, as the kernel does them: sums of many terms grow together."""
    by_value = dict[int, list[Result]]()
    for one in results:
        by_value.setdefault(one.value.id if isinstance(one.value, Expression) else -1, []).append(one)
    found = by_value.pop(-1, [])
    for x in needed(one.value for one in results):
        if x.op != INPUT or x.id in by_value:
            found += by_value.get(x.id) or [Result("", (), x)]
    return found


def _clear(w: Instructions, array: str, size: int, lanes: int) -> None:
    """Write a loop that sets all numbers of an array to zero."""
    with w.loop(size, lanes) as i:
        where = w.new(f"getelementptr double, ptr {array}, i64 {i}")
        w.lines += [f"  store {Kind('double', lanes).name} zeroinitializer, ptr {where}, align 8"]
