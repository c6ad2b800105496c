"""Robot-specific code that replaces the spanning tree's kernel, with one function per variant and level.

One kernel computes kinematics, Jacobians, centres of mass and momentum; its argument ``what`` selects the results. Each
value of ``what`` is a variant, and its code is compiled at the first call. The level is 0 for q alone, 1 for q and v,
and 2 for q, v and a.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...kernels.tables import layout as at
from ...kernels.tables import tree_layout as tl
from ...model import ClusterModel
from ..machine_code.emitter import Result
from ..machine_code.instructions import Instructions
from ..machine_code.kinds import Kind
from ..machine_code.machine import lanes_of_host
from ..machine_code.text import module_text
from ..native.words import LEFT_TO_KERNEL, SIZE
from ..operations import TREE, Function
from ..tracing._sources import source
from ..tracing.expressions import Expression, Graph, needed
from . import entry
from .lanes import Lanes, lanes_of, of_pack
from .limbs import Group, Limb, limbs_of

_KEPT = (  # entries of a link in the workspace that other kernels read
    *range(tl.LINK_ROTATION, tl.LINK_TURN),
    *range(tl.LINK_VELOCITY, tl.LINK_INERTIA),
    *range(tl.LINK_MOMENTS, tl.LINK_INERTIA_RATE),
)


class Untouched:
    """Placeholder for an entry that is not written; arithmetic with the placeholder raises an error."""


def module(model: ClusterModel, function: Function, most: float) -> str:
    """Return a module with ``entry``, which takes the kernel's parameters; return "" if the kernel divides by zero."""
    selection, level = divmod(int(function.name.split()[1]), 4)
    try:
        return _Variant(model, selection, level, most).text()
    except ZeroDivisionError:  # A subtree without mass has no centre of mass.
        return ""


class _Variant:
    def __init__(self, model: ClusterModel, what: int, level: int, most: float) -> None:
        self._model, self._tables = model, model.tables.tree
        self._what, self._level = what, level
        self._graph, self._numbers = Graph(most), dict[int, float]()
        self._groups = [group for group in limbs_of(model) if group[0].q]
        nq, nv = model.nq, model.nv
        self._inputs = [("q", nq), ("v", nv), ("a", nv)][: level + 1]
        views, index = source("tables.views"), self._tables.index
        self._n = views.tree_header_at(index, 0)
        self._E = self._tables.derived
        fields = {r: views.field(index, r) for r in range(self._n.field0, self._n.field1)}
        self._fields = {
            r: F
            for r, F in fields.items()
            if level >= F.level and (not F.what or what & F.what) and not what & tl.QUIET
        }

    def _traced(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        tables, first, arguments, model_G = self._tables, 0, [], self._model.tables.topology.G
        for _, size in self._inputs:
            arguments.append(np.array(self._graph.inputs(first, size), dtype=object))
            first += size
        out, work = (np.array([Untouched() for _ in range(n)], dtype=object) for n in (tables.out, tables.work))
        for universe in (tables.sections.oMi, tables.sections.liMi):
            out[universe : universe + 12] = [*np.eye(3).ravel(), 0.0, 0.0, 0.0]
        self._put_coupling(out, first)
        params = tables.params
        if self._groups:  # The parameters become inputs, so that equal limbs have equal graphs.
            params = self._as_inputs(tables.params)
            G = self._tables.own.G
            constant = [i for i in range(G, G + model_G.size) if not isinstance(out[i], Expression)]
            out[constant] = self._as_inputs(out[constant].astype(float))
        before = out.copy(), work.copy()
        if any(F.at == tables.own.mass for F in self._fields.values()):
            out[tables.own.mass :][: len(tables.masses)] = tables.masses.tolist()
        nothing = np.zeros(0, dtype=object)
        selection = self._what & ~tl.KEEP | tl.QUIET
        with np.errstate(all="ignore"):
            source("tree.tree").tree(tables.index, params, work, out, selection, *[*arguments, nothing, nothing][:3])
        return out, work, np.concatenate(before)

    def _put_coupling(self, out: np.ndarray, first: int) -> None:
        """Store the coupling matrix G, its bias and its rate in ``out``. State-dependent entries are inputs."""
        dense, G, n = self._tables.own, self._model.tables.topology.G, self._n
        out[dense.G : dense.g + len(G)] = [*G.ravel(), *np.zeros(len(G))]
        out[dense.kept_rate : dense.kept_rate + G.size] = np.zeros(G.size)
        views, index = source("tables.views"), self._tables.index
        self._coupled = dict[int, list[int]]()
        for iv in self._tables.curved:
            D = views.dof(index, n.dof0 + iv)
            terms = [views.entry(index, t).at for t in range(D.term0, D.term1)]
            self._coupled[iv] = [dense.g + iv, *(start + t for start in (dense.G, dense.kept_rate) for t in terms)]
        moving = [i for places in self._coupled.values() for i in places]
        if moving:
            self._inputs = [*self._inputs, ("coupling", dense.kept_rate + G.size - dense.G)]
        for i in moving:
            out[i] = self._graph.inputs(first + i - dense.G, 1)[0]

    def _as_inputs(self, numbers: np.ndarray) -> np.ndarray:
        first = sum(n for _, n in self._inputs) + len(self._numbers)
        inputs = np.array(numbers, dtype=object)
        for i in np.flatnonzero(numbers):
            self._numbers[first] = float(numbers[i])
            inputs[i] = self._graph.inputs(first, 1)[0]
            first += 1
        return inputs

    def text(self) -> str:
        out, work, before = self._traced()
        after = np.concatenate([out, work])
        places = {i: self._place(i, len(out)) for i, x in enumerate(after) if x is not before[i]}
        stored = {i: index for i, index in places.items() if index is not None}
        results: list[Result] = []
        if self._groups:
            new = self._in_lanes([after[i] for i in stored])
            alike = [self._alike(group, len(out)) for group in self._groups]
            alike = [[t for t in tuples if stored.keys() >= set(t)] for tuples in alike]
            for g, tuples in enumerate(alike):
                new.assign_parameters(g, [tuple(after[list(t)]) for t in tuples])
            new.color(self._nodes)
            for g, tuples in enumerate(alike):
                for t in tuples:
                    array = stored[t[0]][0]
                    if all(stored[i][0] == array for i in t):
                        results += of_pack(array, tuple(stored.pop(i)[1] for i in t), new.pack(g, list(after[list(t)])))
            after = np.array([new.scalar(x) if i in stored else None for i, x in enumerate(after)], dtype=object)
        results += [Result(array, (k,), after[i]) for i, (array, k) in stored.items()]
        A = self._tables.sections  # Other kernels read the centre of mass from these sections.
        centers = (first + i for first in (A.com, A.vcom, A.acom) for i in range(3))
        results += [Result("keep", (i,), after[i]) for i in centers if stored.get(i, ("keep",))[0] != "keep"]
        core = entry.core_text(self._inputs, results, ["keep", "work", *(f"field{r}" for r in self._fields)])
        return module_text(core, self._entry(), "\n")

    def _is_read(self) -> bool:
        return bool(self._what & tl.AXES or (self._what & tl.CENTERS and self._what & tl.SUBTREES and self._level))

    def _place(self, i: int, n: int) -> tuple[str, int] | None:
        """Return the array and the index that store entry i, or None if the entry is not stored.

        Entries below n are results; all others are in the workspace. Members of ``pin.Data`` are stored in its memory.
        """
        if i >= n:
            links = (self._n.links + 1) * tl.LINK_WORK if self._is_read() else 0
            used = i - n == self._E.level or (i - n < links and (i - n) % tl.LINK_WORK in _KEPT)
            return ("work", i - n) if used else None
        for r, F in self._fields.items():
            if F.at <= i < F.at + F.size:
                return f"field{r}", i - F.at
        return "keep", i

    def _in_lanes(self, outputs: Sequence[Any]) -> Lanes:
        first, index = {}, 0
        for name, size in self._inputs:
            first[name], index = index, index + size
        sections = self._tables.own
        inputs: list[list[list[int]]] = []
        for group in self._groups:
            inputs.append([])
            for limb in group:
                indices = [first["q"] + i for i in limb.q]
                indices += [first[x] + i for x in ("v", "a") if x in first for i in limb.v]
                if "coupling" in first:
                    coupled = [i for iv in self._velocities(limb) for i in self._coupled.get(iv, ())]
                    indices += [first["coupling"] + i - sections.G for i in coupled]
                inputs[-1].append(indices)
        new, _ = lanes_of(inputs, self._numbers)
        self._nodes = needed(outputs)
        new.look_at(self._nodes)
        return new

    def _joints(self, limb: Limb) -> list[int]:
        return [i // 6 for i in limb.fext[::6]]

    def _velocities(self, limb: Limb) -> list[int]:
        tree = self._model.own_tree
        return [tree.idx_vs[j] + i for j in self._joints(limb) for i in range(tree.nvs[j])]

    def _alike(self, group: Group, n: int) -> list[tuple[int, ...]]:
        """Return tuples of indices of corresponding entries, one per limb; indices from n on are in the workspace."""
        A, dense, E, nv = self._tables.sections, self._tables.own, self._E, self._model.nv
        of_joints = [(A.oMi, 12), (A.liMi, 12), (A.com, 3), (A.vcom, 3), (A.acom, 3)]
        of_joints += [(first, 6) for first in (A.v, A.a, A.ov)]
        columns = [(first, 6) for first in (A.J, A.dJ, A.Ag, E.tree_dAg)] + [(A.Jcom, 3)]
        rows = [(first, 6) for first in (dense.J, dense.dJ, dense.Ag, E.dAg)] + [(dense.Jcom, 3)]
        limbs = []
        for limb in group:
            joints, velocities = self._joints(limb), self._velocities(limb)
            indices = [first + size * j + i for j in joints for first, size in of_joints for i in range(size)]
            indices += [first + size * iv + i for iv in velocities for first, size in columns for i in range(size)]
            indices += [first + r * nv + k for k in limb.v for first, size in rows for r in range(size)]
            links = [int(self._tables.link_of_joint[j]) for j in joints]
            indices += [n + b * tl.LINK_WORK + i for b in links for i in _KEPT]
            limbs.append(indices)
        return list(zip(*limbs, strict=True))

    def _entry(self) -> str:
        first, words = entry.words_of(TREE)
        lanes, w = lanes_of_host(), Instructions(Kind("double"))
        w.lines += [f"define i32 @entry({entry.words(words)}) {Kind('double', 8).attributes} {{", "start:"]
        w.lines += ["  %tables = inttoptr i64 %w2 to ptr", "  %code = inttoptr i64 %w0 to ptr"]
        w.lines += [f"  store i64 {at.WRONG_SIZE}, ptr %code"]
        sizes = [(x, n) for x, n in self._inputs if x in first]
        for x, n in sizes:
            w.lines += [f"  %{x}.fits = icmp eq i64 %w{first[x] + SIZE}, {n}"]
            w.lines += [f"  br i1 %{x}.fits, label %{x}.good, label %end", f"{x}.good:"]
        pointers = [w.new(f"inttoptr i64 {entry.data_of(first, x)} to ptr") for x, _ in sizes]
        finite = entry.finite(w, [(p, *item) for p, item in zip(pointers, sizes, strict=True)], lanes)
        w.lines += [f"  br i1 {finite}, label %run, label %other", "run:"]
        keep, work = (w.new(f"inttoptr i64 {entry.of_block(w, i)} to ptr") for i in (entry.KEEP, entry.WORK))
        sections, n = self._tables.own, self._model.tables.topology.G.size
        if len(pointers) < len(self._inputs):
            pointers.append(w.new(f"getelementptr double, ptr {keep}, i64 {sections.G}"))
        index, to = w.new(f"inttoptr i64 {entry.of_block(w, 0)} to ptr"), []
        for r, F in self._fields.items():
            where = w.new(f"getelementptr i64, ptr {index}, i64 {r * at.ROW_WIDTH + F._fields.index('address')}")
            address, default = w.new(f"load i64, ptr {where}"), w.new(f"getelementptr double, ptr {keep}, i64 {F.at}")
            is_set, data_pointer = w.new(f"icmp ne i64 {address}, 0"), w.new(f"inttoptr i64 {address} to ptr")
            to.append(w.new(f"select i1 {is_set}, ptr {data_pointer}, ptr {default}"))
        w.lines += [f"  call i1 @core({', '.join(f'ptr {x}' for x in (*pointers, keep, work, *to))})"]
        if self._what & tl.KEEP:
            kept_G, G = (w.new(f"getelementptr double, ptr {keep}, i64 {i}") for i in (sections.kept, sections.G))
            entry.copy(w, kept_G, G, n, lanes)
            lost = w.new(f"getelementptr double, ptr {keep}, i64 {sections.lost}")
            w.lines += [f"  store double 0.0, ptr {lost}"]
        w.lines += ["  store i64 0, ptr %code", "  br label %end", "other:"]
        w.lines += [f"  store i64 {LEFT_TO_KERNEL}, ptr %code", "  br label %end", "end:", "  ret i32 0", "}"]
        return "\n".join(w.lines)
