"""Where ``pin.RigidConstraintModel`` and its data keep their fields: found by looking at live objects, never assumed.

The kernel reads and writes there. Contacts whose fields are not where they were looked for are computed in Python.
"""

import ctypes
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from .._engine.calls.watch import word
from .tree_memory import holder_at, object_at, start_of

# of the model: fields of 12 or 6 numbers; of its data alike
_PLACEMENTS, _MOTIONS = ("joint1_placement", "joint2_placement", "desired_contact_placement"), (
    "desired_contact_velocity", "desired_contact_acceleration",
)  # fmt: skip
_LEFT_PLACEMENTS, _LEFT_MOTIONS = ("oMc1", "oMc2", "c1Mc2"), (
    "contact1_velocity", "contact2_velocity", "contact_placement_error", "contact_velocity_error",
    "contact_acceleration_desired", "contact_acceleration_error", "contact_force",
)  # fmt: skip
_DATA = pin.RigidConstraintData
_HEAD = object.__basicsize__
_BEFORE, _BEHIND = 96, 400  # how far around a model's first placement to look, within the model, bytes


class Marks(NamedTuple):
    """Bytes from a model's first placement to what has no address in Python; to it from where the object begins."""

    type: int
    joint1_id: int
    joint2_id: int
    reference_frame: int
    Kp: int
    Kd: int
    begins: tuple[int, int]  # from the beginning of a model to its first placement, and the same of its data


def addresses_of_model(contact: Any) -> dict[str, int] | None:
    """Return the addresses of the fields of a ``pin.RigidConstraintModel``; None if one is not found."""
    marks, found = _marks(), _fields(contact, _PLACEMENTS, _MOTIONS)
    if marks is None or found is None:
        return None
    found |= {name: found["joint1_placement"] + at for name, at in marks._asdict().items() if name != "begins"}
    gains, known = gains_of(contact), _words(found["Kp"], 2).view(float)
    ids = [int(_words(found[name], 1)[0]) for name in ("joint1_id", "joint2_id")]
    same = ids == [contact.joint1_id, contact.joint2_id] and [gains.Kp, gains.Kd] == [known[0], known[1]]
    return found if same and found["Kd"] == found["Kp"] + 8 else None


def addresses_of_data(contact: Any) -> dict[str, int] | None:
    """Return the addresses of the fields of a ``pin.RigidConstraintData``; None if one is not found."""
    return _fields(contact, _LEFT_PLACEMENTS, _LEFT_MOTIONS)


def gains_of(contact: Any) -> Any:
    """Return the gains of a contact, which Pinocchio's versions name differently: one for all rows, or one per row."""
    return contact.m_baumgarte_parameters if hasattr(contact, "m_baumgarte_parameters") else contact.corrector


def holds_itself(thing: Any) -> bool:
    """Whether a contact or its data has its numbers for itself: items of Pinocchio's lists have them in the list."""
    marks = _marks()
    return marks is not None and _start_of_item(thing) - object_at(thing) == marks.begins[isinstance(thing, _DATA)]


def words_of(container: Any, things: Sequence[Any]) -> tuple[list[int], list[tuple[int, int]]] | None:
    """Return where the words are that tell whether a container is what it was, with the same contacts or their data.

    Args:
        container: A list, a tuple or one of Pinocchio's own lists.
        things: What is in it.

    Returns:
        Addresses, and of items what lies beyond the address at another one; None if not all that is in it has its
        numbers in memory that is its own, or the container's, for as long as these words are what they are.
    """
    if type(container) not in (list, tuple):
        words = _words_of_vector(container)
        return (words, []) if words else None
    if not all(map(holds_itself, things)):
        return None
    held = [holder_at(x) for x in things]
    if type(container) is tuple:
        return held, []
    length, items = id(container) + _HEAD, id(container) + _HEAD + 8
    if word(length) != len(things) or (things and word(word(items)) != id(things[0])):
        return None
    return [length, *held], [(items, 8 * i) for i in range(len(things))]


def _words_of_vector(vector: Any) -> list[int]:
    """Return the addresses of words that change if one of Pinocchio's lists moves in memory or has another length."""
    if type(type(vector)).__module__ != "Boost.Python" or len(vector) < 1:
        return []
    at = object_at(vector)
    begin, end = (int(x) for x in _words(at, 2))
    first, last = (_start_of_item(vector[i]) for i in (0, len(vector) - 1))
    size, n = end - begin, len(vector)
    inside = begin <= first < begin + size // n and size % n == 0
    there = first and inside and last - first == (size // n) * (n - 1)
    return [holder_at(vector), at, at + 8] if there else []


def _start_of_item(item: Any) -> int:
    place = item.oMc1 if isinstance(item, _DATA) else item.joint1_placement
    return start_of(place, 12)


def _fields(thing: Any, placements: tuple[str, ...], motions: tuple[str, ...]) -> dict[str, int] | None:
    found = {name: start_of(getattr(thing, name), 12) for name in placements}
    found |= {name: start_of(getattr(thing, name), 6) for name in motions}
    return found if all(found.values()) else None


@functools.cache
def _marks() -> Marks | None:
    """Return where marks show up in a contact made for this; None if one does not show up in one place."""
    tree = pin.Model()
    for i in range(2):
        tree.addJoint(i, pin.JointModelRX(), pin.SE3.Identity(), f"joint{i}")
    contact = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, tree, 1, pin.LOCAL)
    base, gains = start_of(contact.joint1_placement, 12), gains_of(contact)
    if not base or not isinstance(gains.Kp, float):
        return None
    kinds = pin.ContactType.CONTACT_3D, pin.ContactType.CONTACT_6D
    found = []
    for thing, name, (one, other) in (
        (contact, "type", kinds),
        (contact, "joint1_id", (1, 2)),
        (contact, "joint2_id", (1, 2)),
        (contact, "reference_frame", (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED)),
        (gains, "Kp", (1.0, 2.0)),
        (gains, "Kd", (1.0, 2.0)),
    ):  # fmt: skip
        seen = []
        for value in (one, other):
            try:
                setattr(thing, name, value)
            except AttributeError:
                return None
            seen.append(_words(base - _BEFORE, (_BEFORE + _BEHIND) // 8).copy())
        places = np.flatnonzero(seen[0] != seen[1])
        if places.size != 1:
            return None
        found.append(8 * int(places[0]) - _BEFORE)
    # both hold themselves: they were made here
    begins = [_start_of_item(x) - object_at(x) for x in (contact, contact.createData())]
    if not all(0 <= x < _BEHIND for x in begins):
        return None
    return Marks(found[0], found[1], found[2], found[3], found[4], found[5], (begins[0], begins[1]))


def _words(address: int, n: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_int64 * n).from_address(address))
