"""Where ``pin.Data`` keeps its results: found by looking at live objects, never assumed.

The kernels write there. A field that is not where it was looked for is written in Python instead, slowly.
"""

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
# how many words of a pin.Data are looked at: it is half as large again
_LOOKED_AT = 512
_INSTANCE = next(kind for kind in pin.Data.__mro__ if kind.__name__ == "instance")


def made(tree: pin.Model) -> pin.Data:
    """Return a new data of a tree, which can be pickled: Pinocchio 3 leaves velocities of joints in it unwritten."""
    data = data_of(tree)
    if pin.__version__.startswith("3."):
        pin.forwardKinematics(tree, data, pin.neutral(tree), np.zeros(tree.nv))
    return data


def check(tree: pin.Model, data: Any) -> None:
    """See that an object is a ``pin.Data`` of a tree, by its sizes.

    Raises:
        ArgumentTypeError: It is something else.
        DataMismatchError: It belongs to another tree.
    """
    cure = "Take model.own_tree.createData(), or another ClusterData of this model."
    if not isinstance(data, pin.Data):
        raise ArgumentTypeError(f"data.tree must be a pinocchio.Data, got {type(data).__name__}. {cure}")
    try:
        sizes = {name: (len(getattr(data, name)), tree.njoints) for name in _ITEM}
    except TypeError:  # of Boost
        raise ArgumentTypeError(f"data.tree is a pinocchio.Data that was made without __init__. {cure}") from None
    sizes |= {name: (getattr(data, name).size // rows, tree.nv) for name, rows in _MATRICES.items()}
    sizes["oMf"] = len(data.oMf), tree.nframes
    for name, (found, expected) in sizes.items():
        if found != expected:
            raise DataMismatchError(
                f"data.tree belongs to another robot: its {name} has {found} entries, but the tree of "
                f"{tree.name!r} needs {expected}. {cure}"
            )


def holder_at(thing: Any) -> int:
    """Return where an object of Boost's keeps the address of what holds its C++ object."""
    return id(thing) + _INSTANCE.__basicsize__ - 8


def object_at(thing: Any) -> int:
    """Return where the C++ object is of an object that holds it itself; of others, the address of something else."""
    return word(holder_at(thing)) + 16  # behind what makes it a holder, and the next one


def found_in(data: pin.Data, names: Iterable[str], new: bool = False) -> tuple[dict[str, int], list[int]]:
    """Return the addresses of fields, 0 where there is none; and those of the words that tell whether they stay.

    Of a list the object keeps where it begins and ends, of a matrix where it begins and its columns: these are the
    words. Fields of objects that do not hold themselves have no address here. An object that is ``new`` has the layout
    of the objects of ``_places``, so that its words are read without a look at its fields.
    """
    known, places, start = _places(), [holder_at(data)], object_at(data)
    addresses = dict.fromkeys(names, 0)
    if new and known is not None:
        for name in addresses:
            at = start + known[name]
            addresses[name] = at if name in _INLINE else word(at)
            places += [] if name in _INLINE else [at, at + 8]
        return addresses, places
    inline = {name: address_of(data, name) for name in _INLINE}
    # no word is read before it is sure what stands there
    if known is None or any(address != start + known[name] for name, address in inline.items()):
        return addresses, places
    for name in addresses:
        address = inline.get(name) or address_of(data, name)
        if address and name not in inline:
            at = start + known[name]
            address = address if word(at) == address else 0
            places += [at, at + 8]
        addresses[name] = address
    return addresses, places


@functools.cache
def _places() -> dict[str, int] | None:
    """Return bytes from a ``pin.Data`` to words that lead to its fields, or to these; None if one does not show up."""
    found: dict[str, set[int]] = {}
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
                places = {at for at in places if words[at // 8 + 1] == tree.nv}
            found[name] = found.get(name, places) & places
        for name in _INLINE:
            at = address_of(data, name) - start
            found[name] = found.get(name, {at}) & ({at} if 0 <= at < 8 * _LOOKED_AT else set())
    return {name: places.pop() for name, places in found.items()} if all(len(x) == 1 for x in found.values()) else None


def address_of(data: pin.Data, name: str) -> int:
    """Return the address of the numbers of a field, one behind the other; 0 if they do not stand so."""
    field = getattr(data, name)
    if name in _MATRICES:  # of one column, it comes as a vector
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
    """Write a field in Python."""
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
    """Read a field in Python."""
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
    """Return the address of the numbers of a placement (12), motion or force (6) or vector (3); 0 if it has none."""
    return _start(*_parts(item, size))


def _parts(item: Any, size: int) -> tuple[list[tuple[Any, tuple[int, ...]]], int]:
    """Return the views of an item with the strides that they must have, and the distance between them."""
    if size == 3:
        return [(item, (8,))], 0
    if size == 6:
        return [(item.linear, (8,)), (item.angular, (8,))], 24
    return [(item.rotation, (8, 24)), (item.translation, (8,))], 72


def _start(parts: Iterable[tuple[Any, tuple[int, ...]]], distance: int = 0) -> int:
    """Return where views start that stand at a distance, 0 if they do not or are copies."""
    starts = []
    for i, (view, strides) in enumerate(parts):
        if not isinstance(view, np.ndarray) or view.flags.owndata or not view.flags.aligned or view.strides != strides:
            return 0
        starts.append(address_of_numbers(view.T) - i * distance)
    return starts[0] if len(set(starts)) == 1 else 0


def _address_of_inertia(data: pin.Data) -> int:
    """Return the address of ``Ig``: told by an inertia put there for a moment."""
    lever = _start([(data.Ig.lever, (8,))])
    if not lever:
        return 0
    before = pin.Inertia(data.Ig)
    known = np.arange(1.0, 11.0)
    data.Ig = pin.Inertia(known[0], known[1:4], _symmetric(known[4:]))
    seen = np.array([data.Ig.mass, *data.Ig.lever, *data.Ig.inertia[np.tril_indices(3)]])
    there = np.ctypeslib.as_array((ctypes.c_double * 10).from_address(lever - 8))
    found = np.array_equal(there, seen)
    data.Ig = before
    return lever - 8 if found else 0


def _address_of_masses(data: pin.Data) -> int:
    """Return the address of ``mass``: told by a number put there for a moment, if the list is part of the data."""
    masses, start = data.mass, object_at(data)
    if type(masses).__mro__[-2] is not _INSTANCE or not len(masses):
        return 0
    there = word(object_at(masses))  # it leads to what is elsewhere
    if not start <= there < start + 8 * _LOOKED_AT or word(there + 8) - word(there) != 8 * len(masses):
        return 0
    address, before, known = word(there), masses[0], 0.1234567890123
    masses[0] = known
    found = ctypes.c_double.from_address(address).value == known
    masses[0] = before
    return address if found else 0


def _symmetric(numbers: np.ndarray) -> np.ndarray:
    """Return the matrix of six numbers: xx, xy, yy, xz, yz, zz."""
    xx, xy, yy, xz, yz, zz = numbers
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
