"""Allocates memory for the kernels of the spanning tree, which also write to a ``pin.Data``."""

from itertools import pairwise
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.arrays import on_a_page
from ..compiler.call_layer import Owner
from ..compiler.calls import Watch
from ..compiler.choice import code_of
from ..compiler.entry_points import Kernel, Pointer
from ..errors import NotComputedError
from ..kernels.tables.tree_layout import QUIET
from .packing import NEVER
from .parts import ModelParts
from .tree_memory import check, found_in, read, write

NOTHING = np.zeros(0)  # empty array, passed if v or a is not given


class TreeWorkspace(Owner):
    """The part of a ``ClusterData`` that contains the workspace of the spanning tree's kernels."""

    _model: ModelParts
    _functions: Any
    _tree: pin.Data
    _tree_tables: Pointer
    _watch: Watch  # detects whether the tree's data has moved in memory
    _moved_tables: Pointer
    _kernels: dict[str, Kernel]
    _other_fields: tuple[int, ...]
    _J: np.ndarray
    _dJ: np.ndarray
    _Jcom: np.ndarray
    _Ag: np.ndarray
    _dAg: np.ndarray
    _moved: np.ndarray
    _coupled: np.ndarray
    _turned: np.ndarray
    _bends: np.ndarray
    _posed: np.ndarray
    _bent: np.ndarray
    _no_rows: np.ndarray
    _G: np.ndarray
    _com: np.ndarray
    _hg: pin.Force  # member of the tree's pin.Data, like _dhg
    _dhg: pin.Force
    _coupling: tuple[np.ndarray, np.ndarray]
    __slots__ = tuple(__annotations__)

    def _lay_out_tree(self) -> tuple[np.ndarray, np.ndarray]:
        """Allocate the memory of the tree's kernels; return views of (G, bias) and of (G, bias, G, dG/dt)."""
        model, tables = self._model, self._model.tables.tree
        nv, G, offsets, sections = model.nv, model.tables.topology.G, tables.own, tables.sections
        arrays = on_a_page(tables.index, tables.params, np.zeros(tables.work), np.zeros(tables.out))
        self._tree_tables = Pointer(*arrays)
        out = arrays[-1]
        for first in (sections.oMi, sections.liMi):  # The rotation of the universe is the identity.
            out[first : first + 9] = np.eye(3).ravel()
        out[offsets.mass : offsets.mass + len(tables.masses)] = tables.masses
        derived = tables.derived
        self._J, self._dJ, self._Jcom, self._Ag, self._dAg = (
            out[first : first + rows * nv].reshape(rows, nv)
            for first, rows in ((offsets.J, 6), (offsets.dJ, 6), (offsets.Jcom, 3), (offsets.Ag, 6), (derived.dAg, 6))
        )
        # Workspace for derivatives; no other function changes the motion of the links in it.
        (self._moved,) = on_a_page(np.zeros(tables.work))
        self._moved_tables = self._tree_tables.beside(self._moved, out)
        if self._functions is not None:
            for pointer in (self._tree_tables, self._moved_tables):
                pointer.lead_to(self._functions.tables_of_variants)
        self._no_rows = np.zeros((0, nv))
        # q of the last call, and q at which dJ was computed last; the last entry of each array is 1 if its q is valid.
        self._posed, self._bent = (out[start : start + model.nq + 1] for start in (derived.posed_q, derived.bent_q))
        ends = (derived.coupled, derived.turned, derived.bends, derived.posed_q) if model.closures else (0, 0, 0, 0)
        self._coupled, self._turned, self._bends = (out[a:b] for a, b in pairwise(ends))
        if model.closures:  # Rows of G that do not depend on q are written once.
            for constant_rows in (self._coupled, self._turned, self._bends):
                constant_rows[: G.size] = G.ravel()
        self._coupled = self._coupled.reshape(4 * bool(model.closures), *G.shape)
        # G and dG/dt of the last call with q; calls without q use them.
        self._G = out[offsets.kept : offsets.kept + 2 * G.size].reshape(2 * len(G), nv)
        self._G[: len(G)] = G
        self._com = out[sections.com : sections.com + 3]
        coupling = out[offsets.G : offsets.g + len(G)]
        coupling[: G.size] = G.ravel()
        self._coupling = coupling[: G.size].reshape(G.shape), coupling[G.size :]
        return coupling, out[offsets.G : offsets.kept_rate + G.size]

    def _put_tree(self, tree: pin.Data) -> None:
        check(self._model.own_tree, tree)
        self._take_tree(tree)

    def _take_tree(self, tree: pin.Data, new: bool = False) -> None:
        """Use this ``pin.Data`` for the results from now on; ``new`` means that ``made`` has just created it."""
        tables = self._model.tables.tree
        addresses, places = found_in(tree, dict.fromkeys(name for _, name in tables.fields), new)
        self._tree, self._watch = tree, Watch(places)
        self._hg, self._dhg = tree.hg, tree.dhg
        index = self._tree_tables.arrays[0]
        for row, name in tables.fields:
            # If a field's address is unknown, _run_jacobian copies the field to the results, where the kernel reads it.
            index[row, 2] = addresses[name] or (
                self._tree_tables.arrays[-1][index[row, 0] :].ctypes.data if index[row, 3] == NEVER else 0
            )
        self._other_fields = tuple(row for row, name in tables.fields if not addresses[name])
        self._forget_plans()  # Plans contain addresses in the tree's pin.Data.

    def _look_at_tree(self) -> None:
        """Update the addresses if the tree's ``pin.Data`` has moved in memory; raise an error if it was resized."""
        if not self._watch.holds():
            self._put_tree(self._tree)

    def _run_tree(
        self, what: int, q: np.ndarray, v: np.ndarray = NOTHING, a: np.ndarray = NOTHING, moved: bool = False
    ) -> None:
        """Run the kernel of the tree on checked arrays; if ``moved``, store the motion for derivatives."""
        with np.errstate(all="ignore"):  # If the mass is zero, the centre of mass is undefined.
            self._run_in_tree("tree", self._moved_tables if moved else self._tree_tables, what, q, v, a)
        if self._other_fields and not what & QUIET:
            self._write_fields(what, (v.size > 0) + (a.size > 0))

    def _write_fields(self, what: int, level: int) -> None:
        index, *_, out = self._tree_tables.arrays
        for row, name in self._model.tables.tree.fields:
            offset, size, _, request, least = index[row, :5]
            if row in self._other_fields and level >= least and (request == 0 or request & what):
                write(self._tree, name, out[offset : offset + size])

    def _run_jacobian(
        self, q: np.ndarray, place: int, reference: int, rate: int, result: np.ndarray, M: np.ndarray = NOTHING
    ) -> None:
        """Run the kernel of frame Jacobians; if q is not given, use the tree's ``pin.Data``. M is a placement."""
        self._look_at_tree()
        if self._other_fields and not q.size:
            index, *_, out = self._tree_tables.arrays
            for row, name in self._model.tables.tree.fields:
                if row in self._other_fields and index[row, 3] == NEVER:
                    offset, size = index[row, :2]
                    out[offset : offset + size] = read(self._tree, name)
        self._run_in_tree("frame_jacobian", self._tree_tables, q, place, reference, rate, M, result)

    def _run_in_tree(self, kernel: str, tables: Pointer, *arguments: Any) -> None:
        self._look_at_tree()
        generic = self._kernels[kernel]
        special = self._functions is not None and kernel in self._functions.variants
        (code_of(self._functions, generic) if special else generic).call(tables, *arguments)

    def _section(self, name: str, size: int) -> np.ndarray:
        offset = getattr(self._model.tables.tree.derived, name)
        return self._tree_tables.arrays[-1][offset : offset + size]

    def _states(self) -> dict[str, int]:
        nq, nv = self._model.nq, self._model.nv
        return {"posed_q": nq, "posed": 1, "bent_q": nq, "bent": 1, "seen_q": nq, "seen_v": nv, "seen": 1}

    def _last(self, level: int, function: str, needed: str) -> list[np.ndarray]:
        """Return copies of q and v (level 1), or of q, v and a (level 2), of the last computed motion."""
        if self._section("seen", 1)[0] < level:
            raise NotComputedError(
                f"{function} needs a state, but none was passed and this data contains none. Call pc.{needed} first, "
                "or pass the state."
            )
        nq, nv = self._model.nq, self._model.nv
        state = self._section("seen_q", nq), self._section("seen_v", nv), self._section("seen_a", nv)
        return [x.copy() for x in state[: level + 1]]

    def _see(self, *state: np.ndarray) -> None:
        for name, x in zip(("seen_q", "seen_v", "seen_a"), state, strict=False):
            self._section(name, x.size)[:] = x
        self._section("seen", 1)[0] = len(state) - 1.0

    def _pose(self, q: np.ndarray, other: "TreeWorkspace") -> None:
        self._posed[:-1], self._posed[-1] = q, 1.0
        self._G[...], self._lost = other._G, other._lost

    def _last_pose(self, function: str) -> np.ndarray:
        if not self._section("posed", 1)[0]:
            raise NotComputedError(
                f"{function} needs q, but none was passed and this data contains none. Call "
                "pc.forwardKinematics(model, data, q) first, or pass q."
            )
        return self._section("posed_q", self._model.nq).copy()

    @property
    def _standing(self) -> bool:
        """Whether the stored results that depend on the masses of links are still valid."""
        return bool(self._section("standing", 1)[0])

    @property
    def _level(self) -> int:
        """Content of the stored motion, for derivatives: 0 nothing, 1 velocities, 2 velocities and accelerations."""
        return int(self._moved[self._model.tables.tree.derived.level])

    def _forget(self) -> None:
        self._moved[self._model.tables.tree.derived.level] = 0.0

    @property
    def _lost(self) -> bool:
        """Whether G is not available to calls without q, because the last pose was singular."""
        return bool(self._tree_tables.arrays[-1][self._model.tables.tree.own.lost])

    @_lost.setter
    def _lost(self, value: bool) -> None:
        self._tree_tables.arrays[-1][self._model.tables.tree.own.lost] = value
