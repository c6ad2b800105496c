"""The loaded MuJoCo library: its version, its functions, and the offsets of the fields of ``mjData``.

MuJoCo's package describes its structs in ``mujoco.introspect``, so ``ctypes`` computes the offsets. A check with
two models compares the addresses at these offsets with the arrays of the Python bindings.
"""

import ctypes
import functools
import importlib
import math
import re
from typing import Any

import numpy as np

from .._support import extras
from ..errors import NotAvailableError

OLDEST, NEWEST = (3, 11, 0), (4, 0, 0)
"""Oldest and newest version of MuJoCo, and of MuJoCo Warp, with which the tests have passed."""
FUNCTIONS = ("mj_factorM", "mj_projectConstraint", "mj_isDual", "mj_fwdActuation")
CALLBACKS = ("mjcb_passive", "mjcb_control")
FIELDS = ("qpos", "qvel", "userdata", "M", "crb", "xmat", "cdof", "cdof_dot", "cvel", "qfrc_passive", "qfrc_actuator")
_NUMBERS = {
    "int": ctypes.c_int,
    "mjtBool": ctypes.c_bool,
    "mjtNum": ctypes.c_double,
    "mjtSize": ctypes.c_int64,
    "size_t": ctypes.c_size_t,
    "uint64_t": ctypes.c_uint64,
    "uintptr_t": ctypes.c_void_p,
}
_PROBE = """<mujoco><size nuserdata="{n}"/><worldbody><body><freejoint/><geom size=".1"/><body pos="0 0 1"><joint
name="hinge"/><geom size=".1"/></body></body></worldbody><actuator><general joint="hinge" dyntype="filter" dynprm="1"/>
</actuator></mujoco>"""


@functools.cache
def library() -> Any:
    """Import MuJoCo and return its package; raise ``NotAvailableError`` if it is missing or has an untested version."""
    mujoco = extras.package("mujoco")
    check_version("MuJoCo", "mujoco", mujoco.__version__)
    return mujoco


def check_version(title: str, package: str, version: str) -> None:
    if not OLDEST <= tuple(int(x) for x in re.findall(r"\d+", version)[:3]) <= NEWEST:
        oldest, newest = (".".join(map(str, x)) for x in (OLDEST, NEWEST))
        raise NotAvailableError(
            f"pc.mujoco requires {title} {oldest} to {newest}, but version {version} is installed. Other versions have "
            f"not been tested. Run: pip install '{package}>={oldest},<={newest}'."
        )


@functools.cache
def functions() -> Any:
    """Return the functions of the MuJoCo library that the Python bindings use, as ``ctypes`` functions."""
    return ctypes.CDLL(library()._functions.__file__)


def address_of(name: str) -> int:
    return ctypes.cast(getattr(functions(), name), ctypes.c_void_p).value or 0


def callback_cell(name: str) -> ctypes.c_void_p:
    """Return MuJoCo's global variable with the address of a callback, such as ``mjcb_passive``."""
    return ctypes.c_void_p.in_dll(functions(), name)


def is_discrete(integrator: int) -> bool:
    return integrator == getattr(library().mjtIntegrator, "mjINT_DISCRETE", None)  # not in older versions


def gravity_of(mj_model: Any) -> np.ndarray:
    """Return the gravity that MuJoCo applies, [m/s^2]."""
    disabled = mj_model.opt.disableflags & int(library().mjtDisableBit.mjDSBL_GRAVITY)
    return np.zeros(3) if disabled else mj_model.opt.gravity.copy()


@functools.cache
def offsets() -> dict[str, int]:
    """Return the offset of each field in ``mjData`` [bytes]."""
    layout, mujoco = _struct("mjData"), library()
    found = {name: getattr(layout, name).offset for name in FIELDS}
    for n in (3, 7):
        data = mujoco.MjData(mujoco.MjModel.from_xml_string(_PROBE.format(n=n)))
        for name, offset in found.items():
            if ctypes.c_uint64.from_address(data._address + offset).value != getattr(data, name).ctypes.data:
                raise _unknown(name)
    return found


def _struct(name: str) -> Any:
    """Return a struct of MuJoCo as a ``ctypes`` type."""
    structs = importlib.import_module("mujoco.introspect.structs").STRUCTS
    return type(name, (ctypes.Structure,), {"_fields_": [(x.name, _type(x.type)) for x in structs[name].fields]})


def _type(declared: Any) -> Any:
    if hasattr(declared, "extents"):
        return _type(declared.inner_type) * math.prod(declared.extents)
    if not hasattr(declared, "name"):
        return ctypes.c_void_p
    return _NUMBERS[declared.name] if declared.name in _NUMBERS else _struct(declared.name)


def _unknown(name: str) -> NotAvailableError:
    return NotAvailableError(f"pc.mujoco cannot find the field {name!r} of mjData in MuJoCo {library().__version__}.")
