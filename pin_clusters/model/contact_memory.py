"""Finds the addresses of the fields of ``pin.RigidConstraintModel`` and its data by inspecting objects in memory.

The kernels for contacts use these addresses. If a field is not at the expected address, Python code runs instead.
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

# Fields that contain a placement (12 numbers) or a motion (6 numbers), in a contact model and then in its data.
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
_BEFORE, _BEHIND = 96, 400  # range that is searched before and after the first placement in a contact, [bytes]


class Marks(NamedTuple):
    """Offsets [bytes] from the first placement in a contact to fields whose addresses Python cannot read."""

    type: int
    joint1_id: int
    joint2_id: int
    reference_frame: int
    Kp: int
    Kd: int
    begins: tuple[int, int]  # offset of the first placement in a contact model, and in its data


def addresses_of_model(contact: Any) -> dict[str, int] | None:
    marks, fields = _marks(), _fields(contact, _PLACEMENTS, _MOTIONS)
    if marks is None or fields is None:
        return None
    fields |= {name: fields["joint1_placement"] + shift for name, shift in marks._asdict().items() if name != "begins"}
    gains, gain_words = gains_of(contact), _words(fields["Kp"], 2).view(float)
    ids = [int(_words(fields[name], 1)[0]) for name in ("joint1_id", "joint2_id")]
    matches = ids == [contact.joint1_id, contact.joint2_id] and [gains.Kp, gains.Kd] == [gain_words[0], gain_words[1]]
    return fields if matches and fields["Kd"] == fields["Kp"] + 8 else None


def addresses_of_data(contact: Any) -> dict[str, int] | None:
    return _fields(contact, _LEFT_PLACEMENTS, _LEFT_MOTIONS)


def gains_of(contact: Any) -> Any:
    """Return the Baumgarte gains of a contact; their name and size (1, or 1 per row) depend on Pinocchio's version."""
    return contact.m_baumgarte_parameters if hasattr(contact, "m_baumgarte_parameters") else contact.corrector


def holds_itself(thing: Any) -> bool:
    """Return whether a contact or its data owns its memory, unlike an item that is stored in a list of Pinocchio."""
    marks = _marks()
    return marks is not None and _start_of_item(thing) - object_at(thing) == marks.begins[isinstance(thing, _DATA)]


def words_of(container: Any, things: Sequence[Any]) -> list[int] | None:
    """Return the addresses of 64-bit words that change if the contacts, or their data, move in memory.

    ``things`` are the items of ``container``, which is a list, a tuple or one of Pinocchio's own lists. The result is
    None if an item could move in memory without changing one of these words.
    """
    if type(container) not in (list, tuple):
        return _words_of_vector(container) or None
    words = []
    for thing in things:
        words_of_item = [holder_at(thing)] if holds_itself(thing) else _words_of_reference(thing)
        if not words_of_item:
            return None
        words += words_of_item
    return words


def settings_of(settings: Any) -> np.ndarray | None:
    """Return a ``pin.ProximalSettings`` as 64-bit words (absolute and relative accuracy, mu, iterations), or None."""
    first = holder_of_settings()
    holder = word(holder_at(settings)) if type(settings) is pin.ProximalSettings else 0
    return _words(holder + 16, 4).copy() if first and holder and word(holder) == first else None


@functools.cache
def holder_of_settings() -> int:
    """Return the first word of the Boost.Python holder of a ``pin.ProximalSettings``; 0 for an unexpected layout."""
    settings = pin.ProximalSettings(1.5e-12, 2.5e-6, 3.5e-3, 17)
    holder = word(holder_at(settings))
    words = _words(holder + 16, 4)
    numbers, iterations = words[:3].view(float).tolist(), int(words[3]) & 0xFFFFFFFF
    return word(holder) if (numbers, iterations) == ([1.5e-12, 2.5e-6, 3.5e-3], 17) else 0


def _words_of_reference(item: Any) -> list[int]:
    """Return the addresses that ``words_of`` needs for a copy or a list item; empty for other objects.

    The Boost.Python holder of a copy contains the address of the contact. The holder of an indexed item contains the
    addresses of a copy (0 while the item is in the list) and of the list, and the index. The holder of an item from an
    iterator contains the address of the item in the list.
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
    """Return the first words of the holders of a copy, an indexed and an iterated item; -1 for an unexpected layout."""
    marks, contact = _marks(), _contact()
    if marks is None:
        return -1, -1, -1
    vector = pin.StdVec_RigidConstraintData() if of_data else pin.StdVec_RigidConstraintModel()
    for _ in range(2):
        vector.append(contact.createData() if of_data else contact)
    copied = contact.createData() if of_data else pin.RigidConstraintModel(contact)  # Contact data cannot be copied.
    indexed, (_, iterated) = vector[1], vector
    things = copied, indexed, iterated
    holders = [word(holder_at(x)) for x in things]
    begins = [_start_of_item(x) - marks.begins[of_data] for x in things]
    checks = (
        word(holders[0] + 16) == begins[0],
        _words(holders[1] + 16, 3).tolist() == [0, id(vector), 1],
        word(holders[2] + 16) == begins[2] and _iterated(iterated, vector) is vector,
    )
    first, second, third = (word(x) if valid else -1 for x, valid in zip(holders, checks, strict=True))
    return first, second, third


def _iterated(item: Any, expected: Any = None) -> Any:
    """Return the list that an item from an iterator keeps alive; None if it is unknown or is not ``expected``."""
    supports = [x.__callback__ for x in weakref.getweakrefs(item) if type(x.__callback__).__name__ == "life_support"]
    if len(supports) != 1:
        return None
    iterator = _thing_at(word(id(supports[0]) + object.__basicsize__))
    if type(iterator).__name__ != "iterator":
        return None
    address = word(object_at(iterator))
    return _thing_at(address) if expected is None or address == id(expected) else None


def _thing_at(address: int) -> Any:
    return ctypes.cast(address, ctypes.py_object).value


def _words_of_vector(vector: Any) -> list[int]:
    """Return the addresses of words that change if one of Pinocchio's lists changes its address or its length."""
    if type(type(vector)).__module__ != "Boost.Python" or len(vector) < 1:
        return []
    address = object_at(vector)
    begin, end = (int(x) for x in _words(address, 2))
    first, last = (_start_of_item(vector[i]) for i in (0, len(vector) - 1))
    size, n = end - begin, len(vector)
    inside = begin <= first < begin + size // n and size % n == 0
    contiguous = first and inside and last - first == (size // n) * (n - 1)
    return [holder_at(vector), address, address + 8] if contiguous else []


def _start_of_item(item: Any) -> int:
    place = item.oMc1 if isinstance(item, _DATA) else item.joint1_placement
    return start_of(place, 12)


def _fields(thing: Any, placements: tuple[str, ...], motions: tuple[str, ...]) -> dict[str, int] | None:
    addresses = {name: start_of(getattr(thing, name), 12) for name in placements}
    addresses |= {name: start_of(getattr(thing, name), 6) for name in motions}
    return addresses if all(addresses.values()) else None


@functools.cache
def _marks() -> Marks | None:
    """Find the offsets by changing the fields of a probe contact; return None if an offset is not unique."""
    contact = _contact()
    base, gains = start_of(contact.joint1_placement, 12), gains_of(contact)
    if not base or not isinstance(gains.Kp, float):
        return None
    kinds = pin.ContactType.CONTACT_3D, pin.ContactType.CONTACT_6D
    offsets = []
    for thing, name, (first, second) in (
        (contact, "type", kinds),
        (contact, "joint1_id", (1, 2)),
        (contact, "joint2_id", (1, 2)),
        (contact, "reference_frame", (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED)),
        (gains, "Kp", (1.0, 2.0)),
        (gains, "Kd", (1.0, 2.0)),
    ):
        images = []
        for value in (first, second):
            try:
                setattr(thing, name, value)
            except AttributeError:
                return None
            images.append(_words(base - _BEFORE, (_BEFORE + _BEHIND) // 8).copy())
        places = np.flatnonzero(images[0] != images[1])
        if places.size != 1:
            return None
        offsets.append(8 * int(places[0]) - _BEFORE)
    # Both objects own their memory because they were created here.
    begins = [_start_of_item(x) - object_at(x) for x in (contact, contact.createData())]
    if not all(0 <= x < _BEHIND for x in begins):
        return None
    return Marks(offsets[0], offsets[1], offsets[2], offsets[3], offsets[4], offsets[5], (begins[0], begins[1]))


def _contact() -> Any:
    tree = pin.Model()
    for i in range(2):
        tree.addJoint(i, pin.JointModelRX(), pin.SE3.Identity(), f"joint{i}")
    return pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, tree, 1, pin.LOCAL)


def _words(address: int, n: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_int64 * n).from_address(address))
