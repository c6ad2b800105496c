"""What the kernels of the spanning tree read and write, and ``pin.Data``, where they write too."""

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

NOTHING = np.zeros(0)
"""Where v or a is not given."""


class TreeWorkspace(Owner):
    """That part of a ``ClusterData``."""

    _model: ModelParts
    _functions: Any
    _tree: pin.Data
    _tree_tables: Pointer
    _watch: Watch  # whether the tree's data is where it was
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
    _hg: pin.Force  # in the tree's data, as the next one
    _dhg: pin.Force
    _coupling: tuple[np.ndarray, np.ndarray]
    __slots__ = tuple(__annotations__)

    def _lay_out_tree(self) -> tuple[np.ndarray, np.ndarray]:
        """Make what the kernels of the tree read and write; returns G and its bias in it, without and with dG/dt."""
        model, tables = self._model, self._model.tables.tree
        nv, G, own, at = model.nv, model.tables.topology.G, tables.own, tables.sections
        arrays = on_a_page(tables.index, tables.params, np.zeros(tables.work), np.zeros(tables.out))
        self._tree_tables = Pointer(*arrays)
        out = arrays[-1]
        for first in (at.oMi, at.liMi):  # of the universe
            out[first : first + 9] = np.eye(3).ravel()
        out[own.mass : own.mass + len(tables.masses)] = tables.masses
        more = tables.derived
        self._J, self._dJ, self._Jcom, self._Ag, self._dAg = (
            out[first : first + rows * nv].reshape(rows, nv)
            for first, rows in ((own.J, 6), (own.dJ, 6), (own.Jcom, 3), (own.Ag, 6), (more.dAg, 6))
        )
        # where the motion that is differentiated stands: no other function moves the links there
        (self._moved,) = on_a_page(np.zeros(tables.work))
        self._moved_tables = self._tree_tables.beside(self._moved, out)
        if self._functions is not None:
            for pointer in (self._tree_tables, self._moved_tables):
                pointer.lead_to(self._functions.tables_of_wishes)
        self._no_rows = np.zeros((0, nv))
        # q of the last call, and where Jacobians are differentiated; behind it whether it is there
        self._posed, self._bent = (out[at : at + model.nq + 1] for at in (more.posed_q, more.bent_q))
        ends = (more.coupled, more.turned, more.bends, more.posed_q) if model.closures else (0, 0, 0, 0)
        self._coupled, self._turned, self._bends = (out[a:b] for a, b in pairwise(ends))
        if model.closures:  # rows that do not depend on q stay as they are
            for found in (self._coupled, self._turned, self._bends):
                found[: G.size] = G.ravel()
        self._coupled = self._coupled.reshape(4 * bool(model.closures), *G.shape)
        # G, and below it dG/dt, of the last function that was given q: for those that are not
        self._G = out[own.kept : own.kept + 2 * G.size].reshape(2 * len(G), nv)
        self._G[: len(G)] = G
        self._com = out[at.com : at.com + 3]
        coupling = out[own.G : own.g + len(G)]
        coupling[: G.size] = G.ravel()
        self._coupling = coupling[: G.size].reshape(G.shape), coupling[G.size :]
        return coupling, out[own.G : own.kept_rate + G.size]

    def _put_tree(self, tree: pin.Data) -> None:
        """Take a ``pin.Data`` of the tree, where kernels write from now on."""
        check(self._model.own_tree, tree)
        self._take_tree(tree)

    def _take_tree(self, tree: pin.Data, new: bool = False) -> None:
        """Take a ``pin.Data`` that is of the right sizes; ``new``: it has just been made here."""
        tables = self._model.tables.tree
        found, places = found_in(tree, dict.fromkeys(name for _, name in tables.fields), new)
        self._tree, self._watch = tree, Watch(places)
        self._hg, self._dhg = tree.hg, tree.dhg
        index = self._tree_tables.arrays[0]
        for row, name in tables.fields:
            # what cannot be read there is read from our own, after _read_fields
            index[row, 2] = found[name] or (
                self._tree_tables.arrays[-1][index[row, 0] :].ctypes.data if index[row, 3] == NEVER else 0
            )
        self._other_fields = tuple(row for row, name in tables.fields if not found[name])
        self._forget_plans()  # plans that lead to the tree's data

    def _look_at_tree(self) -> None:
        """See whether the tree's data is where it was, before a kernel goes there; else find it, unless resized."""
        if not self._watch.holds():
            self._put_tree(self._tree)

    def _run_tree(
        self, what: int, q: np.ndarray, v: np.ndarray = NOTHING, a: np.ndarray = NOTHING, moved: bool = False
    ) -> None:
        """Run the kernel of the tree; the arrays must be what it takes; ``moved``: motions are to be differentiated."""
        with np.errstate(all="ignore"):  # the centre of what has no mass
            self._run_in_tree("tree", self._moved_tables if moved else self._tree_tables, what, q, v, a)
        if self._other_fields and not what & QUIET:
            self._write_fields(what, (v.size > 0) + (a.size > 0))

    def _write_fields(self, what: int, level: int) -> None:
        """Write fields of the tree's data whose addresses are not known."""
        index, *_, out = self._tree_tables.arrays
        for row, name in self._model.tables.tree.fields:
            at, size, _, wish, least = index[row, :5]
            if row in self._other_fields and level >= least and (wish == 0 or wish & what):
                write(self._tree, name, out[at : at + size])

    def _run_jacobian(
        self, q: np.ndarray, place: int, reference: int, rate: int, result: np.ndarray, M: np.ndarray = NOTHING
    ) -> None:
        """Run the kernel of Jacobians of frames, without q on the contents of the tree's data; M: of a placement."""
        self._look_at_tree()
        if self._other_fields and not q.size:
            index, *_, out = self._tree_tables.arrays
            for row, name in self._model.tables.tree.fields:
                if row in self._other_fields and index[row, 3] == NEVER:
                    at, size = index[row, :2]
                    out[at : at + size] = read(self._tree, name)
        self._run_in_tree("frame_jacobian", self._tree_tables, q, place, reference, rate, M, result)

    def _run_in_tree(self, kernel: str, tables: Pointer, *arguments: Any) -> None:
        """Run one of the kernels that go to the tree's data."""
        self._look_at_tree()
        one = self._kernels[kernel]
        special = self._functions is not None and kernel in self._functions.wishes
        (code_of(self._functions, one) if special else one).call(tables, *arguments)

    def _section(self, name: str, size: int) -> np.ndarray:
        """What stands at a place that ``Derived`` names."""
        at = getattr(self._model.tables.tree.derived, name)
        return self._tree_tables.arrays[-1][at : at + size]

    def _states(self) -> dict[str, int]:
        """Names and sizes of the states that ``Derived`` lists, each with whether it is there."""
        nq, nv = self._model.nq, self._model.nv
        return {"posed_q": nq, "posed": 1, "bent_q": nq, "bent": 1, "seen_q": nq, "seen_v": nv, "seen": 1}

    def _last(self, level: int, function: str, needed: str) -> list[np.ndarray]:
        """Return copies of the last q, v and a of which the motion was computed: at level 1 q and v, at level 2 all.

        Raises:
            NotComputedError: There is none; ``function`` asks, ``needed`` is what to call before.
        """
        if self._section("seen", 1)[0] < level:
            raise NotComputedError(
                f"{function} was given no state, and this data knows none: call pc.{needed} before, or pass the state."
            )
        nq, nv = self._model.nq, self._model.nv
        state = self._section("seen_q", nq), self._section("seen_v", nv), self._section("seen_a", nv)
        return [x.copy() for x in state[: level + 1]]

    def _see(self, *state: np.ndarray) -> None:
        """Keep a state as that of the last motion: q and v, or with a."""
        for name, x in zip(("seen_q", "seen_v", "seen_a"), state, strict=False):
            self._section(name, x.size)[:] = x
        self._section("seen", 1)[0] = len(state) - 1.0

    def _pose(self, q: np.ndarray, other: "TreeWorkspace") -> None:
        """Keep a pose as the last one, and G there, as another workspace has it."""
        self._posed[:-1], self._posed[-1] = q, 1.0
        self._G[...], self._lost = other._G, other._lost

    def _last_pose(self, function: str) -> np.ndarray:
        """Return a copy of the last q of which the kinematics were computed.

        Raises:
            NotComputedError: There is none.
        """
        if not self._section("posed", 1)[0]:
            raise NotComputedError(
                f"{function} was given no q, and this data knows none: call pc.forwardKinematics(model, data, q) "
                "before, or pass q."
            )
        return self._section("posed_q", self._model.nq).copy()

    @property
    def _standing(self) -> bool:
        """Whether what was computed there of the masses of links is still there."""
        return bool(self._section("standing", 1)[0])

    @property
    def _level(self) -> int:
        """What can be differentiated: 0 nothing, 1 velocities, 2 accelerations too."""
        return int(self._moved[self._model.tables.tree.derived.level])

    def _forget(self) -> None:
        """Nothing can be differentiated until it is computed."""
        self._moved[self._model.tables.tree.derived.level] = 0.0

    @property
    def _lost(self) -> bool:
        """Whether there is no G for functions that are not given q, because the last pose was singular."""
        return bool(self._tree_tables.arrays[-1][self._model.tables.tree.own.lost])

    @_lost.setter
    def _lost(self, value: bool) -> None:
        self._tree_tables.arrays[-1][self._model.tables.tree.own.lost] = value
