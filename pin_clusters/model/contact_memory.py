"""Where ``pin.RigidConstraintModel`` and its data keep their fields: found by looking at live objects, never assumed.

The kernel reads and writes there. Contacts whose fields are not where they were looked for are computed in Python.
"""

import ctypes
import functools
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ..compiler.calls.watch import word
from .tree_memory import holder_at, object_at, start_of

# of the model: fields of 12 or 6 numbers; of its data alike
_PLACEMENTS, _MOTIONS = (
    ("joint1_placement", "joint2_placement", "desired_contact_placement"),
    (
        "desired_contact_velocity",
        "desired_contact_acceleration",
    ),
)
_LEFT_PLACEMENTS, _LEFT_MOTIONS = (
    ("oMc1", "oMc2", "c1Mc2"),
    (
        "contact1_velocity",
        "contact2_velocity",
        "contact_placement_error",
        "contact_velocity_error",
        "contact_acceleration_desired",
        "contact_acceleration_error",
        "contact_force",
    ),
)
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


def words_of(container: Any, things: Sequence[Any]) -> list[int] | None:
    """Return the addresses of words that stay the same as long as contacts, or their data, stay where they are.

    Args:
        container: A list, a tuple or one of Pinocchio's own lists.
        things: The items of the container.

    Returns:
        The addresses, in the order in which the words may be read; None if the memory of an item can move without a
        change of such words.
    """
    if type(container) not in (list, tuple):
        return _words_of_vector(container) or None
    words = []
    for thing in things:
        own = [holder_at(thing)] if holds_itself(thing) else _words_of_reference(thing)
        if not own:
            return None
        words += own
    return words


def settings_of(settings: Any) -> np.ndarray | None:
    """Return the words of a ``pin.ProximalSettings``: two accuracies, mu, the number of iterations; None if unknown."""
    first = holder_of_settings()
    holder = word(holder_at(settings)) if type(settings) is pin.ProximalSettings else 0
    return _words(holder + 16, 4).copy() if first and holder and word(holder) == first else None


@functools.cache
def holder_of_settings() -> int:
    """Return the first word of the holder of a ``pin.ProximalSettings``; 0 if its numbers are not where expected."""
    settings = pin.ProximalSettings(1.5e-12, 2.5e-6, 3.5e-3, 17)
    holder = word(holder_at(settings))
    found = _words(holder + 16, 4)
    numbers, most = found[:3].view(float).tolist(), int(found[3]) & 0xFFFFFFFF
    return word(holder) if (numbers, most) == ([1.5e-12, 2.5e-6, 3.5e-3], 17) else 0


def _words_of_reference(item: Any) -> list[int]:
    """Return the addresses for a copy of a contact, or an item of one of Pinocchio's lists; none for others.

    The holder of a copy has the address of the contact. The holder of an item that an index returned has the address of
    a copy (0 as long as the item is in the list), the list, and the index. The holder of an item that an iterator
    returned has the address of the item in the list.
    """
    holder, of_data = word(holder_at(item)), isinstance(item, _DATA)
    copied, indexed, iterated = _holders(of_data)
    if word(holder) == copied:
        return [holder_at(item), holder + 16]
    if word(holder) == indexed and not word(holder + 16):
        words = _words_of_vector(_thing_at(word(holder + 24)))
        return [holder_at(item), holder + 16, holder + 24, holder + 32, *words] if words else []
    vector = _iterated(item) if word(holder) == iterated else None
    words = [] if vector is None else _words_of_vector(vector)
    if words and word(words[1]) <= word(holder + 16) < word(words[2]):
        return [holder_at(item), holder + 16, *words]
    return []


@functools.cache
def _holders(of_data: bool) -> tuple[int, int, int]:
    """Return the first words of these holders; -1 for a kind whose words are not where expected."""
    marks, contact = _marks(), _contact()
    if marks is None:
        return -1, -1, -1
    vector = pin.StdVec_RigidConstraintData() if of_data else pin.StdVec_RigidConstraintModel()
    for _ in range(2):
        vector.append(contact.createData() if of_data else contact)
    copied = contact.createData() if of_data else pin.RigidConstraintModel(contact)  # data cannot be copied
    indexed, (_, iterated) = vector[1], vector
    things = copied, indexed, iterated
    holders = [word(holder_at(x)) for x in things]
    begins = [_start_of_item(x) - marks.begins[of_data] for x in things]
    known = (
        word(holders[0] + 16) == begins[0],
        _words(holders[1] + 16, 3).tolist() == [0, id(vector), 1],
        word(holders[2] + 16) == begins[2] and _iterated(iterated, vector) is vector,
    )
    first, second, third = (word(x) if there else -1 for x, there in zip(holders, known, strict=True))
    return first, second, third


def _iterated(item: Any, expected: Any = None) -> Any:
    """Return the list of an item that an iterator returned; None if it is not found, or is not the one expected.

    The item keeps the iterator alive, and this the list.
    """
    supports = [x.__callback__ for x in weakref.getweakrefs(item) if type(x.__callback__).__name__ == "life_support"]
    if len(supports) != 1:
        return None
    iterator = _thing_at(word(id(supports[0]) + object.__basicsize__))
    if type(iterator).__name__ != "iterator":
        return None
    at = word(object_at(iterator))
    return _thing_at(at) if expected is None or at == id(expected) else None


def _thing_at(address: int) -> Any:
    """Return the Python object at an address."""
    return ctypes.cast(address, ctypes.py_object).value


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
    contact = _contact()
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
    ):
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


def _contact() -> Any:
    """Return a contact for a look at its memory."""
    tree = pin.Model()
    for i in range(2):
        tree.addJoint(i, pin.JointModelRX(), pin.SE3.Identity(), f"joint{i}")
    return pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, tree, 1, pin.LOCAL)


def _words(address: int, n: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_int64 * n).from_address(address))
