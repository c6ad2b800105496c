"""Members of ``data`` that are computed when they are read: what Pinocchio's functions would have left there."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable
from contextlib import suppress
from struct import Struct
from typing import Any, Self

import numpy as np
import pinocchio as pin

from ..compiler.owed import LOST, MEMBERS, OF_TREE, OWED, ROOMS, WHAT, WORDS, bits, owing_of, places, written
from ..errors import NotComputedError
from .tree_workspace import NOTHING, TreeWorkspace

# by member: what computes it from a state; the algorithms put it there, as they stand above the data
recipes: dict[str, Callable[..., None]] = {}
_WORDS = Struct(f"{WORDS}q")
_COLUMNS = ("J", "dJ")
_PLACES = bits("J oMi")


def owed(name: str, path: str, doc: str) -> Any:
    """Return the property of a member that may be owed; it stands at a path from the data."""
    bit, get = bits(name), operator.attrgetter(path)

    def read(data: OwedMembers) -> Any:
        if data._owed[0] & bit:
            data._pay(name)
        return get(data)

    return property(read, doc=doc)


@functools.lru_cache
def _noted(before: bytes, clears: int, room: int, owes: int, spoils: int) -> tuple[int, ...]:
    """Return the words behind a call; the cache holds those of repeated calls."""
    words = [x & ~clears for x in _WORDS.unpack(before)]
    words[1 + room] |= owes
    words[LOST] |= spoils
    words[0] = functools.reduce(operator.or_, words[1:])
    return tuple(words)


class OwedMembers(TreeWorkspace):
    """That part of a ``ClusterData``."""

    _owed: memoryview  # the words of ``owed``
    _kept_states: np.ndarray  # the rooms, one behind the other
    _rooms: list[memoryview]  # the bytes of each
    _scratch: Self | None  # where members are computed
    __slots__ = ("_kept_states", "_owed", "_owed_words", "_rooms", "_scratch")

    def _lay_out_owed(self) -> None:
        # of buffers, so that nobody can resize what the fast calls write
        self._owed_words = np.frombuffer(bytearray(8 * WORDS), dtype=np.int64)
        self._owed = self._owed_words.data
        at = places(self._model.nq, self._model.nv)
        kept = bytearray(8 * at[-1])
        self._kept_states = np.frombuffer(kept)
        self._rooms = [memoryview(kept)[8 * i : 8 * j] for i, j in itertools.pairwise(at)]
        self._scratch = None
        self._note(0, spoils=bits("f a_gf"))  # no function has computed them

    def _keep(self, function: str, *state: np.ndarray) -> None:
        """Keep the state for what a function will owe; what was owed at another state, and stays so, is lost."""
        one = OWED[function]
        self._keep_state(one.room, one.clears, state)

    def _keep_state(self, room: int, clears: int, state: tuple[Any, ...]) -> None:
        words, there = self._owed, self._rooms[room]
        new, before = b"".join(state[: 1 + ROOMS[room].count(" ")]), words[1 + room]
        if before and not (before & ~clears and there == new):
            words[LOST] |= before
            words[1 + room] = 0
        there[:] = new

    def _owe(self, function: str) -> None:
        """Note what a function owes, when it has done its work."""
        one = OWED[function]
        self._note(one.clears, one.room, one.owes, one.spoils)

    def _note(self, clears: int, room: int = 0, owes: int = 0, spoils: int = 0) -> None:
        _WORDS.pack_into(self._owed, 0, *_noted(self._owed.tobytes(), clears, room, owes, spoils))

    def _room(self, room: int) -> np.ndarray:
        at = places(self._model.nq, self._model.nv)
        return self._kept_states[at[room] : at[room + 1]]

    def _state_owed(self, name: str) -> list[np.ndarray] | None:
        """Return copies of the state at which a member is owed; None if it is not owed."""
        nq, nv = self._model.nq, self._model.nv
        room = self._room_of(name)
        if room is None:
            return None
        kept = self._room(room).copy()
        return [kept[:nq], kept[nq : nq + nv], kept[nq + nv :]][: len(ROOMS[room].split())]

    def _room_of(self, name: str) -> int | None:
        """Return the room of the state at which a member is owed; None if it is not owed."""
        return next((room for room in range(len(ROOMS)) if self._owed[1 + room] & bits(name)), None)

    def _pay(self, name: str) -> None:
        """Compute a member that is owed.

        Raises:
            NotComputedError: The state is not known any more.
        """
        room, state = self._room_of(name), self._state_owed(name)
        if state is not None and name in _COLUMNS and self._model.closures and not self._stands_at(state[0]):
            # G, of which columns are made, is that of another pose now
            self._note(bits(name), spoils=bits(name))
            state = None
        if state is None or room is None:
            raise NotComputedError(
                f"data.{name} is not there: the last function that Pinocchio lets write it did not compute it, and "
                "another call has overwritten the state since, or Pinocchio leaves numbers of no use there. Call the "
                f"function that computes it, such as pc.{_FUNCTIONS.get(name, 'computeAllTerms')}, before you read it."
            )
        if bits(name) & _PLACES and self._pay_places(room, state[0]):
            return
        self._note(bits(name))  # at once: what follows may read data
        try:
            recipes[name](self, *state)
        except BaseException:
            self._note(bits(name), room, bits(name))
            raise
        if name in ("v", "a"):
            self._see(*state[: 2 + (name == "a")])

    def _pay_places(self, room: int, q: np.ndarray) -> bool:
        """Compute J and oMi by one call in this workspace, if no newer member is overwritten; returns whether it did.

        The call also writes liMi. So liMi must be owed, in any room; there it stays owed.
        """
        of_liMi = self._room_of("liMi")
        if of_liMi is None or self._model.closures or self._owed[1 + room] & _PLACES != _PLACES:
            return False
        recipes["J oMi"](self, q)
        if of_liMi != room:
            self._note(0, of_liMi, bits("liMi"))
        return True

    def _stands_at(self, q: np.ndarray) -> bool:
        """Return whether the last pose is q; it may be owed."""
        owed = self._state_owed("oMi")
        if owed is not None and np.array_equal(owed[0], q):
            self._pay("oMi")
        return np.array_equal(self._posed[:-1], q)

    def _pay_all(self, members: int = -1) -> None:
        """Compute what is owed of some members, as far as the state is known."""
        for i, name in enumerate(MEMBERS):
            if self._owed[0] & ~self._owed[LOST] & members & 1 << i:
                with suppress(NotComputedError):
                    self._pay(name)

    def _bring(self, members: int) -> None:
        """Compute the owed ones of some members.

        Raises:
            NotComputedError: The state of one is not known any more.
        """
        if self._owed[0] & members:
            for i, name in enumerate(MEMBERS):
                if self._owed[0] & members & 1 << i:
                    self._pay(name)

    @property
    def tree(self) -> pin.Data:
        """``pin.Data`` of ``model.tree``, with what Pinocchio's functions of the same names would have left there."""
        if self._owed[0] & ~self._owed[LOST] & OF_TREE:
            self._pay_all(OF_TREE)
        return self._tree

    @tree.setter
    def tree(self, tree: pin.Data) -> None:
        self._put_tree(tree)

    def _run_tree(
        self, what: int, q: np.ndarray, v: np.ndarray = NOTHING, a: np.ndarray = NOTHING, moved: bool = False
    ) -> None:
        """Run the kernel of the tree, which may owe something besides."""
        one, wishes = owing_of(what), what & WHAT
        if one.owes:
            rest = self._model.nv
            state = q, v if v.size else np.zeros(rest), a if a.size else np.zeros(rest)
            self._keep_state(one.room, 0, state)
        super()._run_tree(wishes, q, v, a, moved)
        clears = written(wishes, (v.size > 0) + (a.size > 0)) | one.clears
        self._note(clears, one.room, one.owes, one.spoils)

    def _last_motion(self, level: int, function: str, needed: str) -> list[np.ndarray]:
        """Return the last motion, of functions that owe it as well; as ``_last``."""
        state = self._state_owed("v" if level == 1 else "a")
        return self._last(level, function, needed) if state is None else state[: level + 1]

    def _last_pose(self, function: str) -> np.ndarray:
        """Return the last pose, of functions that owe it as well."""
        state = self._state_owed("oMi")
        return super()._last_pose(function) if state is None else state[0]


_FUNCTIONS = {
    "tau": "rnea", "g": "computeGeneralizedGravity", "nle": "nonLinearEffects", "M": "crba", "Ag": "ccrba",
    "hg": "ccrba", "Ig": "ccrba", "dAg": "dccrba", "dhg": "computeCentroidalMomentumTimeVariation",
    "com": "centerOfMass", "vcom": "centerOfMass", "mass": "centerOfMass", "Jcom": "jacobianCenterOfMass",
    "J": "computeJointJacobians", "dJ": "computeJointJacobiansTimeVariation",
    **dict.fromkeys(("f", "a_gf"), "rnea"), **dict.fromkeys(("liMi", "oMi", "v", "a"), "forwardKinematics"),
}  # fmt: skip
"""What computes each member."""
