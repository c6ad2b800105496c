"""Computes some members of ``data`` when they are read, with the values that Pinocchio's functions would store."""

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

from ..compiler.owed import LOST, MEMBERS, OF_TREE, OWED, STATE_BUFFERS, WHAT, WORDS, bits, owing_of, places, written
from ..errors import NotComputedError
from .tree_workspace import NOTHING, TreeWorkspace

# Functions that compute the members from a state. The algorithms register them, as this module cannot import them.
recipes: dict[str, Callable[..., None]] = {}
_WORDS = Struct(f"{WORDS}q")
_COLUMNS = ("J", "dJ")
_PLACES = bits("J oMi")


def owed(name: str, path: str, doc: str) -> Any:
    """Return a property for the member at an attribute path; reading a member that is not computed yet computes it."""
    bit, get = bits(name), operator.attrgetter(path)

    def read(data: OwedMembers) -> Any:
        if data._owed[0] & bit:
            data._pay(name)
        return get(data)

    return property(read, doc=doc)


@functools.lru_cache
def _noted(before: bytes, clears: int, buffer: int, owes: int, spoils: int) -> tuple[int, ...]:
    """Return the bit masks of owed and lost members after a call; results are cached, because the same calls repeat."""
    words = [x & ~clears for x in _WORDS.unpack(before)]
    words[1 + buffer] |= owes
    words[LOST] |= spoils
    words[0] = functools.reduce(operator.or_, words[1:])
    return tuple(words)


class OwedMembers(TreeWorkspace):
    """The part of a ``ClusterData`` that records which members are owed (not yet computed)."""

    _owed: memoryview  # bit masks as defined in ``compiler.owed``, one bit per member
    _kept_states: np.ndarray  # stored states, concatenated in one flat array
    _saved_bytes: list[memoryview]  # bytes of each stored state
    _scratch: Self | None  # workspace in which owed members are computed
    __slots__ = ("_kept_states", "_owed", "_owed_words", "_saved_bytes", "_scratch")

    def _lay_out_owed(self) -> None:
        # An array on a buffer cannot be resized, so its address stays valid for the fast calls.
        self._owed_words = np.frombuffer(bytearray(8 * WORDS), dtype=np.int64)
        self._owed = self._owed_words.data
        offsets = places(self._model.nq, self._model.nv)
        buffer = bytearray(8 * offsets[-1])
        self._kept_states = np.frombuffer(buffer)
        self._saved_bytes = [memoryview(buffer)[8 * i : 8 * j] for i, j in itertools.pairwise(offsets)]
        self._scratch = None
        self._note(0, spoils=bits("f a_gf"))  # No function has computed f and a_gf yet.

    def _keep(self, function: str, *state: np.ndarray) -> None:
        """Store the state from which owed members are computed later; members owed for the previous state are lost."""
        owing = OWED[function]
        self._keep_state(owing.buffer, owing.clears, state)

    def _keep_state(self, buffer: int, clears: int, state: tuple[Any, ...]) -> None:
        words, stored = self._owed, self._saved_bytes[buffer]
        new, before = b"".join(state[: 1 + STATE_BUFFERS[buffer].count(" ")]), words[1 + buffer]
        if before and not (before & ~clears and stored == new):
            words[LOST] |= before
            words[1 + buffer] = 0
        stored[:] = new

    def _owe(self, function: str) -> None:
        owing = OWED[function]
        self._note(owing.clears, owing.buffer, owing.owes, owing.spoils)

    def _note(self, clears: int, buffer: int = 0, owes: int = 0, spoils: int = 0) -> None:
        _WORDS.pack_into(self._owed, 0, *_noted(self._owed.tobytes(), clears, buffer, owes, spoils))

    def _stored_state(self, buffer: int) -> np.ndarray:
        offsets = places(self._model.nq, self._model.nv)
        return self._kept_states[offsets[buffer] : offsets[buffer + 1]]

    def _state_owed(self, name: str) -> list[np.ndarray] | None:
        nq, nv = self._model.nq, self._model.nv
        buffer = self._state_slot(name)
        if buffer is None:
            return None
        state = self._stored_state(buffer).copy()
        return [state[:nq], state[nq : nq + nv], state[nq + nv :]][: len(STATE_BUFFERS[buffer].split())]

    def _state_slot(self, name: str) -> int | None:
        return next((buffer for buffer in range(len(STATE_BUFFERS)) if self._owed[1 + buffer] & bits(name)), None)

    def _pay(self, name: str) -> None:
        buffer, state = self._state_slot(name), self._state_owed(name)
        if state is not None and name in _COLUMNS and self._model.closures and not self._stands_at(state[0]):
            # The columns depend on G, which was computed again at another pose.
            self._note(bits(name), spoils=bits(name))
            state = None
        if state is None or buffer is None:
            raise NotComputedError(
                f"data.{name} is not available: no function has computed it, a later call has overwritten the state "
                "from which it is computed, or Pinocchio would leave only intermediate values in it. Before you read "
                f"it, call pc.{_FUNCTIONS.get(name, 'computeAllTerms')} or another function that computes it."
            )
        if bits(name) & _PLACES and self._pay_places(buffer, state[0]):
            return
        self._note(bits(name))  # Clear the bit first, because the computation may read this member.
        try:
            recipes[name](self, *state)
        except BaseException:
            self._note(bits(name), buffer, bits(name))
            raise
        if name in ("v", "a"):
            self._see(*state[: 2 + (name == "a")])

    def _pay_places(self, buffer: int, q: np.ndarray) -> bool:
        """Compute the owed J, oMi and liMi in one call; return False if one call cannot compute all of them."""
        of_liMi = self._state_slot("liMi")
        if of_liMi is None or self._model.closures or self._owed[1 + buffer] & _PLACES != _PLACES:
            return False
        recipes["J oMi"](self, q)
        if of_liMi != buffer:
            self._note(0, of_liMi, bits("liMi"))
        return True

    def _stands_at(self, q: np.ndarray) -> bool:
        """Return whether the last joint placements belong to q; if placements at q are owed, compute them first."""
        owed = self._state_owed("oMi")
        if owed is not None and np.array_equal(owed[0], q):
            self._pay("oMi")
        return np.array_equal(self._posed[:-1], q)

    def _pay_all(self, members: int = -1) -> None:
        for i, name in enumerate(MEMBERS):
            if self._owed[0] & ~self._owed[LOST] & members & 1 << i:
                with suppress(NotComputedError):
                    self._pay(name)

    def _bring(self, members: int) -> None:
        """Compute the owed members in the bit mask ``members``; raise ``NotComputedError`` if a state was replaced."""
        if self._owed[0] & members:
            for i, name in enumerate(MEMBERS):
                if self._owed[0] & members & 1 << i:
                    self._pay(name)

    @property
    def tree(self) -> pin.Data:
        """``pin.Data`` of ``model.tree``, with the values that Pinocchio's functions of the same names would store."""
        if self._owed[0] & ~self._owed[LOST] & OF_TREE:
            self._pay_all(OF_TREE)
        return self._tree

    @tree.setter
    def tree(self, tree: pin.Data) -> None:
        self._put_tree(tree)

    def _run_tree(
        self, what: int, q: np.ndarray, v: np.ndarray = NOTHING, a: np.ndarray = NOTHING, moved: bool = False
    ) -> None:
        owing, requests = owing_of(what), what & WHAT
        if owing.owes:
            nv = self._model.nv
            state = q, v if v.size else np.zeros(nv), a if a.size else np.zeros(nv)
            self._keep_state(owing.buffer, 0, state)
        super()._run_tree(requests, q, v, a, moved)
        clears = written(requests, (v.size > 0) + (a.size > 0)) | owing.clears
        self._note(clears, owing.buffer, owing.owes, owing.spoils)

    def _last_motion(self, level: int, function: str, needed: str) -> list[np.ndarray]:
        """Return the last q, v and a like ``_last``, even if members of ``data`` at this state are not computed yet."""
        state = self._state_owed("v" if level == 1 else "a")
        return self._last(level, function, needed) if state is None else state[: level + 1]

    def _last_pose(self, function: str) -> np.ndarray:
        state = self._state_owed("oMi")
        return super()._last_pose(function) if state is None else state[0]


_FUNCTIONS = {
    "tau": "rnea", "g": "computeGeneralizedGravity", "nle": "nonLinearEffects", "M": "crba", "Ag": "ccrba",
    "hg": "ccrba", "Ig": "ccrba", "dAg": "dccrba", "dhg": "computeCentroidalMomentumTimeVariation",
    "com": "centerOfMass", "vcom": "centerOfMass", "mass": "centerOfMass", "Jcom": "jacobianCenterOfMass",
    "J": "computeJointJacobians", "dJ": "computeJointJacobiansTimeVariation",
    **dict.fromkeys(("f", "a_gf"), "rnea"), **dict.fromkeys(("liMi", "oMi", "v", "a"), "forwardKinematics"),
}  # fmt: skip
"""Name of a public function that computes each member, for error messages."""
