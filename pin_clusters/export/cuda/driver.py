"""Compilation of CUDA C with NVRTC, and kernel launches with the CUDA driver; both use the library cuda.core."""

import functools
import math
import warnings
from collections.abc import Sequence
from typing import Any

from ..._support import extras
from ...compiler.machine_code import store
from ...errors import NotAvailableError
from ..codegen._cuda import THREADS

_FEW = 32  # threads per block for few rows: one warp, which distributes the rows over more multiprocessors
_MANY_ROWS = 1 << 15


@functools.cache
def core() -> Any:
    try:
        import cuda.core
    except ImportError as error:
        raise NotAvailableError(f"arrays on a GPU require NVRTC and cuda.core. {extras.cure('cuda')}") from error
    return cuda.core


def machine_code(text: str, architecture: str) -> bytes:
    """Compile CUDA C for an architecture such as ``sm_90``, or take the machine code from the cache."""
    library = core()
    name = store.digest("cuda", str(library.__version__), architecture, text)
    return store.kept(name, lambda: compiled(text, architecture))


def compiled(text: str, architecture: str) -> bytes:
    """Compile CUDA C; this requires neither a device nor a driver."""
    library = core()
    options = library.ProgramOptions(std="c++17", arch=architecture)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # missing or old drivers cause warnings, but a cubin needs no driver
        return bytes(library.Program(text, code_type="c++", options=options).compile("cubin").code)


class Cuda:
    """The CUDA driver of this machine."""

    def __init__(self) -> None:
        self._library = core()

    def architecture(self, device: int) -> str:
        return f"sm_{self._device(device).arch}"

    def _device(self, device: int) -> Any:
        try:
            cuda_device = self._library.Device(device)
            _ = cuda_device.arch  # queries the driver
        except Exception as error:  # cuda.core raises different errors for different missing libraries
            raise NotAvailableError(
                f"an array is on device {device}, but this device or the CUDA driver is missing "
                f"({type(error).__name__}: {error}). Use arrays in host memory."
            ) from error
        return cuda_device

    def load(self, device: int, code: bytes, name: str) -> Any:
        with _Current(self._library, device):
            return self._library.ObjectCode.from_cubin(code, name=name).get_kernel(name)

    def launch(self, device: int, stream: int, kernel: Any, rows: int, arguments: Sequence[Any]) -> None:
        threads = THREADS if rows >= _MANY_ROWS else _FEW
        with _Current(self._library, device):
            config = self._library.LaunchConfig(grid=math.ceil(rows / threads), block=threads)
            self._library.launch(self._library.Stream.from_handle(stream), config, kernel, *arguments)

    def finish(self, stream: int) -> None:
        self._library.Stream.from_handle(stream).sync()


class _Current:
    """Context manager in which a device is the current device."""

    def __init__(self, library: Any, device: int) -> None:
        self._library, self._device = library, device

    def __enter__(self) -> None:
        self._before = self._library.Device()
        self._library.Device(self._device).set_current()

    def __exit__(self, *_: object) -> None:
        if self._before.device_id != self._device:
            self._before.set_current()


@functools.cache
def driver() -> Cuda:
    return Cuda()
