"""Kernels without the price of a call from Python: loops of calls, here in Numba, of Pinocchio in C++.

The C++ loop is compiled from ``kernel_loop.cpp`` against the headers and libraries of the installed ``pin`` (minutes,
once per version; the algorithms themselves are those of its library). It needs g++ and the headers of Eigen:
``pip install cmeel-eigen``.
"""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pinocchio as pin

from pin_clusters.verification.timing import Call

CALLS = 100
"""Calls in a loop."""
_SOURCE = Path(__file__).with_name("kernel_loop.cpp")
_DEFINITIONS = (
    "PINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION", "BOOST_MPL_LIMIT_LIST_SIZE=30", "BOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "BOOST_FUSION_INVOKE_MAX_ARITY=12", "NDEBUG",
)  # fmt: skip
_Double = ctypes.c_double
_Doubles = ctypes.POINTER(_Double)


@cache
def library() -> Any:
    """Return the C++ loop, compiled at the first use; None, said on stderr, where it cannot be."""
    prefix = Path(pin.__file__).resolve().parents[4]
    eigen = next((p for p in (prefix / "include" / "eigen3", Path("/usr/include/eigen3")) if p.is_dir()), None)
    digest = hashlib.sha256(_SOURCE.read_bytes() + pin.__version__.encode() + str(prefix).encode()).hexdigest()[:16]
    built = Path(tempfile.gettempdir()) / f"pin_clusters_kernel_loop_{digest}.so"
    if not built.is_file():
        if shutil.which("g++") is None or eigen is None or not (prefix / "include" / "pinocchio").is_dir():
            print("no C++ loop: it needs g++, and the headers of Pinocchio and Eigen (cmeel-eigen)", file=sys.stderr)
            return None
        print("compiling the C++ loop, some minutes, once", file=sys.stderr, flush=True)
        part = built.with_suffix(".part")
        command = [
            "g++", "-O3", "-std=c++17", "-w", "-shared", "-fPIC", *(f"-D{d}" for d in _DEFINITIONS),
            f"-I{prefix / 'include'}", f"-I{eigen}", str(_SOURCE), f"-L{prefix / 'lib'}", "-lpinocchio_default",
            "-lboost_serialization", f"-Wl,-rpath,{prefix / 'lib'}", "-o", str(part),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"no C++ loop: {done.stderr[-400:]}", file=sys.stderr)
            return None
        part.replace(built)
    loop = ctypes.CDLL(str(built))
    loop.make.restype, loop.repeat.restype = ctypes.c_void_p, ctypes.c_int
    loop.make.argtypes = [
        ctypes.c_char_p, ctypes.c_int, _Doubles, ctypes.c_bool, _Double, _Double, ctypes.c_int, *[_Doubles] * 3,
    ]  # fmt: skip
    loop.repeat.argtypes = [ctypes.c_void_p, ctypes.c_long, _Doubles]
    return loop


def _at(x: np.ndarray) -> Any:
    return x.ctypes.data_as(_Doubles)


def of_pinocchio(workspace: Any, settings: dict[str, Any], q: Any, v: Any, tau: Any) -> tuple[Call, np.ndarray] | None:
    """Return ``CALLS`` calls in C++ of the solver of a ``baselines.constrained`` workspace, and where the result goes.

    Args:
        workspace: Tree, contacts and solver.
        settings: accuracy, mu, iterations.
        q: Configuration of its tree.
        v: Velocity of its tree.
        tau: Torques on its tree.
    """
    loop = library()
    if loop is None:
        return None
    rows = np.array([
        [
            3 if c.type == pin.ContactType.CONTACT_3D else 6, c.joint1_id, c.joint2_id,
            *c.joint1_placement.homogeneous.ravel(), *c.joint2_placement.homogeneous.ravel(),
        ]
        for c in workspace.contacts
    ])  # fmt: skip
    given = [np.ascontiguousarray(x, dtype=float) for x in (q, v, tau)]
    out = np.zeros(workspace.tree.nv)
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "model")
        workspace.tree.saveToBinary(file)
        handle = loop.make(
            file.encode(), len(rows), _at(rows), workspace.solver == "lcaba", settings["accuracy"], settings["mu"],
            settings["iterations"], *map(_at, given),
        )  # fmt: skip
    return (loop.repeat, (handle, CALLS, _at(out))), out


def of_kernel(call: Call) -> Call:
    """Return ``CALLS`` calls in Numba of a compiled kernel; it must have been called before."""
    kernel, arguments = call
    repeated = _repeated(kernel)
    repeated(1, *arguments)
    return repeated, (CALLS, *arguments)


@cache
def _repeated(kernel: Callable[..., Any]) -> Callable[..., Any]:
    @numba.njit  # type: ignore[untyped-decorator, unused-ignore]
    def repeated(n, at, *arrays):  # type: ignore[no-untyped-def]
        for _ in range(n):
            kernel(at, *arrays)

    return repeated  # type: ignore[no-any-return, unused-ignore]
