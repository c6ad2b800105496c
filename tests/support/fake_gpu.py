"""A GPU that is none: arrays say that they live on a device, and kernels are compiled for this processor."""

from __future__ import annotations

import contextlib
import ctypes
import re
import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pin_clusters.export.cuda import driver
from pin_clusters.export.cuda import run as run_module

from .compilers import CPP, run

SHIM = """
#include <cmath>
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
static struct { int x; } blockIdx, blockDim = {1}, threadIdx;
"""


class Array:
    """An array of a library whose name is that of CuPy."""

    __module__ = "cupy"

    def __init__(self, x: Any, device: int = 0) -> None:
        self.x, self.device = np.asarray(x), device

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.device

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        x = self.x
        told = {"shape": x.shape, "typestr": x.dtype.str, "data": (x.ctypes.data, False), "version": 3}
        return told | {"strides": None if x.flags.c_contiguous else x.strides, "stream": 7}


class Foreign(Array):
    """One of a library that is not known."""

    __module__ = "another"


class OutOfMemoryError(Exception):
    pass


class Driver:
    """Runs kernels here, and notes what was asked of it.

    Attributes:
        launched: Device, stream, rows of each launch.
        loaded: Names of kernels.
        finished: Streams that were waited for.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.launched, self.loaded, self.finished = folder, [], [], []  # type: ignore[var-annotated]

    def architecture(self, device: int) -> str:
        return "sm_90"

    def load(self, device: int, code: bytes, name: str) -> Any:
        self.loaded.append(name)
        text = code.decode()
        (parameters,) = re.findall(rf"{name}\((.*)\)\n", text)
        kinds = [x.rsplit(" ", 1)[0].replace("__restrict__", "") for x in parameters.split(", ")]
        passed = ", ".join(f"x{i}" for i in range(len(kinds)))
        declared = ", ".join(f"{kind} x{i}" for i, kind in enumerate(kinds))
        path = self.folder / f"kernel{len(self.loaded)}.cpp"
        path.write_text(
            f'{SHIM}{text}\nextern "C" void run(int rows, {declared})\n'
            f"{{ for (int i = 0; i < rows; i++) {{ blockIdx.x = i; {name}({passed}); }} }}\n"
        )
        run(CPP[0], "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", path.name, "-o", path.with_suffix(".so"),
            cwd=self.folder)  # fmt: skip
        return ctypes.CDLL(str(path.with_suffix(".so"))).run

    def launch(self, device: int, stream: int, kernel: Any, rows: int, arguments: Sequence[Any]) -> None:
        self.launched.append((device, stream, rows))
        kinds = [ctypes.c_int64(x) if isinstance(x, np.int64) else ctypes.c_void_p(x) for x in arguments]
        kernel(ctypes.c_int(rows + 2), *kinds)  # a grid is a multiple of a block

    def finish(self, stream: int) -> None:
        self.finished.append(stream)


@pytest.fixture
def gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Driver:
    """A machine that seems to have one."""
    if not CPP:
        pytest.skip("there is no compiler of C++")
    fake = Driver(tmp_path)
    monkeypatch.setattr(driver, "driver", lambda: fake)
    monkeypatch.setattr(run_module, "_kernels", {})
    monkeypatch.setattr(driver, "machine_code", lambda text, architecture: text.encode())
    cupy = types.ModuleType("cupy")

    def empty(shape: tuple[int, ...], dtype: Any) -> Array:
        if np.prod(shape) > 10**9:
            raise OutOfMemoryError
        return Array(np.full(shape, 7.0, dtype), cupy.on[-1])

    @contextlib.contextmanager
    def on(device: int) -> Iterator[None]:
        cupy.on.append(device)
        yield
        cupy.on.pop()

    stream = types.SimpleNamespace(ptr=4711)
    cupy.on, cupy.empty = [0], empty  # type: ignore[attr-defined]
    cupy.cuda = types.SimpleNamespace(Device=on, get_current_stream=lambda: stream)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    return fake
