"""The loaded MuJoCo library: its version, its functions, and the offsets of the fields of ``mjData``.

MuJoCo does not document the layout of ``mjData``. The offset of a field is therefore measured: the struct contains the
address of each array, and the Python bindings show the same arrays. A second model checks the measured offsets.
"""

import ctypes
import functools
from typing import Any

import numpy as np

from .._support import extras
from ..errors import NotAvailableError

OLDEST, NEWEST = (4, 0, 0), (4, 0, 0)
"""Oldest and newest version of MuJoCo with which the tests have passed."""
FUNCTIONS = ("mj_factorM", "mj_projectConstraint", "mj_isDual")
FIELDS = ("qpos", "qvel", "userdata", "M", "crb", "xmat", "cdof", "cdof_dot", "cvel", "qfrc_passive", "qfrc_bias")
_LARGEST = 2**20  # bytes of ``mjData`` that are searched
_PROBE = """<mujoco><size nuserdata="{n}"/><worldbody><body><freejoint/><geom size=".1"/><body pos="0 0 1"><joint
name="hinge"/><geom size=".1"/></body></body></worldbody><actuator><general joint="hinge" dyntype="filter" dynprm="1"/>
</actuator></mujoco>"""


@functools.cache
def library() -> Any:
    """Import MuJoCo and return its package; raise ``NotAvailableError`` if it is missing or has an untried version."""
    mujoco = extras.package("mujoco")
    version = tuple(int(x) for x in mujoco.__version__.split(".")[:3])
    if not OLDEST <= version <= NEWEST:
        oldest, newest = (".".join(map(str, x)) for x in (OLDEST, NEWEST))
        raise NotAvailableError(
            f"pc.mujoco needs MuJoCo {oldest if oldest == newest else f'{oldest} to {newest}'}, but version "
            f"{mujoco.__version__} is installed. Other versions may have another memory layout and have not been "
            f"tested. Run: pip install mujoco=={newest}."
        )
    return mujoco


@functools.cache
def functions() -> Any:
    """Return the functions of the MuJoCo library that the Python bindings use, as ``ctypes`` functions."""
    return ctypes.CDLL(library()._functions.__file__)


def address_of(name: str) -> int:
    return ctypes.cast(getattr(functions(), name), ctypes.c_void_p).value or 0


def callback_cell(name: str) -> ctypes.c_void_p:
    """Return MuJoCo's global variable with the address of a callback, such as ``mjcb_passive``."""
    return ctypes.c_void_p.in_dll(functions(), name)


def gravity_of(mj_model: Any) -> np.ndarray:
    """Return the gravity that MuJoCo applies, [m/s^2]."""
    disabled = mj_model.opt.disableflags & int(library().mjtDisableBit.mjDSBL_GRAVITY)
    return np.zeros(3) if disabled else mj_model.opt.gravity.copy()


@functools.cache
def offsets() -> dict[str, int]:
    """Return the offset of each field in ``mjData`` [bytes]."""
    mujoco, measured = library(), dict[str, int]()
    for n in (3, 7):
        model = mujoco.MjModel.from_xml_string(_PROBE.format(n=n))
        data = mujoco.MjData(model)
        if not measured:
            measured = _search(data)
        for name, offset in measured.items():
            if ctypes.c_uint64.from_address(data._address + offset).value != getattr(data, name).ctypes.data:
                raise _unknown(name)
    return measured


def _search(data: Any) -> dict[str, int]:
    addresses = {name: getattr(data, name).ctypes.data for name in FIELDS}
    words = np.zeros(0, dtype=np.uint64)
    while not np.isin(list(addresses.values()), words).all() and words.nbytes < _LARGEST:
        block = ctypes.string_at(data._address + words.nbytes, 4096)
        words = np.append(words, np.frombuffer(block, dtype=np.uint64))
    places = {name: np.flatnonzero(words == address) for name, address in addresses.items()}
    places["qpos"] = places["qpos"][-1:]  # An earlier field, ``buffer``, has the address of the first array.
    for name, found in places.items():
        if len(found) != 1:
            raise _unknown(name)
    return {name: 8 * int(found[0]) for name, found in places.items()}


def _unknown(name: str) -> NotAvailableError:
    return NotAvailableError(f"pc.mujoco cannot find the field {name!r} of mjData in MuJoCo {library().__version__}.")
