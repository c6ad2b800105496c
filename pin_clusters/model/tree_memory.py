"""Finds the addresses of the results in ``pin.Data``. Fields with unknown addresses are written in Python, slowly."""

import ctypes
import functools
from collections.abc import Iterable
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.memory import data_of
from ..compiler.calls.watch import word
from ..compiler.native.words import address_of as address_of_numbers
from ..errors import ArgumentTypeError, DataMismatchError

_ITEM = {"oMi": 12, "liMi": 12, "oMf": 12, "v": 6, "a": 6, "ov": 6, "com": 3, "vcom": 3, "acom": 3, "mass": 1}
_MATRICES = {"J": 6, "dJ": 6, "Ag": 6, "dAg": 6, "Jcom": 3}
_INLINE = ("hg", "dhg", "Ig")
_LOOKED_AT = 512  # number of words of a pin.Data that are searched; the object is 1.5 times as large
_INSTANCE = next(kind for kind in pin.Data.__mro__ if kind.__name__ == "instance")


def made(tree: pin.Model) -> pin.Data:
    """Create a ``pin.Data`` that can be pickled; set the joint velocities, which Pinocchio 3 does not initialize."""
    data = data_of(tree)
    if pin.__version__.startswith("3."):
        pin.forwardKinematics(tree, data, pin.neutral(tree), np.zeros(tree.nv))
    return data


def check(tree: pin.Model, data: Any) -> None:
    cure = "Use model.own_tree.createData(), or create another ClusterData of this model."
    if not isinstance(data, pin.Data):
        raise ArgumentTypeError(f"data.tree must be a pinocchio.Data, got {type(data).__name__}. {cure}")
    try:
        sizes = {name: (len(getattr(data, name)), tree.njoints) for name in _ITEM}
    except TypeError:  # Boost.Python raises TypeError for uninitialized objects.
        raise ArgumentTypeError(f"data.tree is a pinocchio.Data that was created without __init__. {cure}") from None
    sizes |= {name: (getattr(data, name).size // rows, tree.nv) for name, rows in _MATRICES.items()}
    sizes["oMf"] = len(data.oMf), tree.nframes
    for name, (size, expected) in sizes.items():
        if size != expected:
            raise DataMismatchError(
                f"data.tree belongs to another robot: its {name} has {size} entries, but the tree of "
                f"{tree.name!r} needs {expected}. {cure}"
            )


def holder_at(thing: Any) -> int:
    """Return the address of the word in a Boost.Python object that points to the holder of its C++ object."""
    return id(thing) + _INSTANCE.__basicsize__ - 8


def object_at(thing: Any) -> int:
    """Return the address of the C++ object if its holder contains the object; otherwise the result is meaningless."""
    return word(holder_at(thing)) + 16  # skips the holder's virtual table pointer and its pointer to the next holder


def found_in(data: pin.Data, names: Iterable[str], new: bool = False) -> tuple[dict[str, int], list[int]]:
    """Return the addresses of fields (0: unknown), and of the words that change if a field moves in memory.

    These words are the start and the end of a list, or the start and the number of columns of a matrix. If the object
    is not inside its holder, no address is known. If ``new`` is True, the object has the same layout as the probe
    objects of ``_places``, so its words are read without a check of its fields.
    """
    offsets, places, start = _places(), [holder_at(data)], object_at(data)
    addresses = dict.fromkeys(names, 0)
    if new and offsets is not None:
        for name in addresses:
            address_of_word = start + offsets[name]
            addresses[name] = address_of_word if name in _INLINE else word(address_of_word)
            places += [] if name in _INLINE else [address_of_word, address_of_word + 8]
        return addresses, places
    inline = {name: address_of(data, name) for name in _INLINE}
    # Words are read only after the layout has been confirmed.
    if offsets is None or any(address != start + offsets[name] for name, address in inline.items()):
        return addresses, places
    for name in addresses:
        address = inline.get(name) or address_of(data, name)
        if address and name not in inline:
            address_of_word = start + offsets[name]
            address = address if word(address_of_word) == address else 0
            places += [address_of_word, address_of_word + 8]
        addresses[name] = address
    return addresses, places


@functools.cache
def _places() -> dict[str, int] | None:
    """Find the offset in ``pin.Data`` of each field or of a pointer to it; return None if an offset is not unique."""
    hits: dict[str, set[int]] = {}
    for n in (2, 3):
        tree = pin.Model()
        for i in range(n):
            tree.addFrame(
                pin.Frame(f"frame{i}", tree.addJoint(i, pin.JointModelRX(), pin.SE3(), str(i)), pin.SE3(), pin.OP_FRAME)
            )
        data = tree.createData()
        start = object_at(data)
        words = np.ctypeslib.as_array((ctypes.c_int64 * _LOOKED_AT).from_address(start))
        for name in (*_ITEM, *_MATRICES):
            address = address_of(data, name)
            places = {8 * int(i) for i in np.flatnonzero(words[:-1] == address) if address}
            if name in _MATRICES:
                places = {offset for offset in places if words[offset // 8 + 1] == tree.nv}
            hits[name] = hits.get(name, places) & places
        for name in _INLINE:
            offset = address_of(data, name) - start
            hits[name] = hits.get(name, {offset}) & ({offset} if 0 <= offset < 8 * _LOOKED_AT else set())
    return {name: places.pop() for name, places in hits.items()} if all(len(x) == 1 for x in hits.values()) else None


def address_of(data: pin.Data, name: str) -> int:
    """Return the address of the numbers of a field; 0 if they are not contiguous in memory."""
    field = getattr(data, name)
    if name in _MATRICES:  # Pinocchio returns a matrix with one column as a vector.
        return _start([(field, (8, 8 * field.shape[0])[: field.ndim])])
    if name in ("hg", "dhg"):
        return _start([(field.linear, (8,)), (field.angular, (8,))], 24)
    if name == "Ig":
        return _address_of_inertia(data)
    if name == "mass":
        return _address_of_masses(data)
    size = 8 * _ITEM[name]
    starts = [start_of(field[j], _ITEM[name]) for j in {0, len(field) - 1}]
    if not all(starts) or starts[-1] - starts[0] != size * (len(field) - 1) * (len(starts) - 1):
        return 0
    return starts[0]


def write(data: pin.Data, name: str, numbers: np.ndarray) -> None:
    if name in _MATRICES:
        field = getattr(data, name)
        field[:] = numbers.reshape(-1, field.shape[0]).T.reshape(field.shape)
    elif name in ("hg", "dhg"):
        setattr(data, name, pin.Force(numbers))
    elif name == "Ig":
        data.Ig = pin.Inertia(numbers[0], numbers[1:4], _symmetric(numbers[4:]))
    else:
        field = getattr(data, name)
        for j, item in enumerate(numbers.reshape(-1, _ITEM[name])):
            field[j] = _made(item) if item.size > 1 else float(item[0])


def read(data: pin.Data, name: str) -> np.ndarray:
    field = getattr(data, name)
    if name in _MATRICES:
        return np.asarray(field).T.ravel()
    if _ITEM[name] == 12:
        return np.concatenate([[*x.rotation.T.ravel(), *x.translation] for x in field])
    return np.concatenate([x.vector for x in field])


def _made(item: np.ndarray) -> Any:
    if item.size == 3:
        return item
    return pin.Motion(item) if item.size == 6 else pin.SE3(item[:9].reshape(3, 3).T, item[9:])


def start_of(item: Any, size: int) -> int:
    """Return the address of the ``size`` numbers of a placement (12), motion, force (6) or vector (3); 0 if unknown."""
    return _start(*_parts(item, size))


def _parts(item: Any, size: int) -> tuple[list[tuple[Any, tuple[int, ...]]], int]:
    """Return the NumPy views of an item with their required strides, and the distance between the views, [bytes]."""
    if size == 3:
        return [(item, (8,))], 0
    if size == 6:
        return [(item.linear, (8,)), (item.angular, (8,))], 24
    return [(item.rotation, (8, 24)), (item.translation, (8,))], 72


def _start(parts: Iterable[tuple[Any, tuple[int, ...]]], distance: int = 0) -> int:
    """Return the address of the first view; 0 unless successive views are ``distance`` [bytes] apart."""
    starts = []
    for i, (view, strides) in enumerate(parts):
        if not isinstance(view, np.ndarray) or view.flags.owndata or not view.flags.aligned or view.strides != strides:
            return 0
        starts.append(address_of_numbers(view.T) - i * distance)
    return starts[0] if len(set(starts)) == 1 else 0


def _address_of_inertia(data: pin.Data) -> int:
    """Return the address of ``Ig``; confirm it by temporarily writing an inertia to it."""
    lever = _start([(data.Ig.lever, (8,))])
    if not lever:
        return 0
    before = pin.Inertia(data.Ig)
    probe = np.arange(1.0, 11.0)
    data.Ig = pin.Inertia(probe[0], probe[1:4], _symmetric(probe[4:]))
    read_back = np.array([data.Ig.mass, *data.Ig.lever, *data.Ig.inertia[np.tril_indices(3)]])
    stored = np.ctypeslib.as_array((ctypes.c_double * 10).from_address(lever - 8))
    confirmed = np.array_equal(stored, read_back)
    data.Ig = before
    return lever - 8 if confirmed else 0


def _address_of_masses(data: pin.Data) -> int:
    """Return the address of ``mass``; confirm it by temporarily writing a number to it."""
    masses, start = data.mass, object_at(data)
    if type(masses).__mro__[-2] is not _INSTANCE or not len(masses):
        return 0
    vector = word(object_at(masses))  # The holder contains a pointer to the list.
    if not start <= vector < start + 8 * _LOOKED_AT or word(vector + 8) - word(vector) != 8 * len(masses):
        return 0
    address, before, probe = word(vector), masses[0], 0.1234567890123
    masses[0] = probe
    confirmed = ctypes.c_double.from_address(address).value == probe
    masses[0] = before
    return address if confirmed else 0


def _symmetric(numbers: np.ndarray) -> np.ndarray:
    xx, xy, yy, xz, yz, zz = numbers
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
