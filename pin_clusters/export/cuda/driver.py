"""Compiling for GPUs, and starting kernels there: NVRTC and the driver, by the library cuda.core."""

import functools
import math
import warnings
from collections.abc import Sequence
from typing import Any

from ..._support import extras
from ...compiler.machine_code import store
from ...errors import NotAvailableError
from ..codegen._cuda import THREADS

_FEW = 32  # threads of a block where there are few rows: one warp, so that all multiprocessors have some
_MANY_ROWS = 1 << 15


@functools.cache
def core() -> Any:
    """Return the library.

    Raises:
        NotAvailableError: It is not installed.
    """
    try:
        import cuda.core
    except ImportError as error:
        raise NotAvailableError(f"arrays on a GPU need NVRTC and cuda.core. {extras.cure('cuda')}") from error
    return cuda.core


def machine_code(text: str, architecture: str) -> bytes:
    """Return the machine code of CUDA C for an architecture such as ``sm_90``: kept from earlier, or made now."""
    library = core()
    name = store.digest("cuda", str(library.__version__), architecture, text)
    return store.kept(name, lambda: compiled(text, architecture))


def compiled(text: str, architecture: str) -> bytes:
    """Return the same, made now; this needs neither a device nor a driver."""
    library = core()
    options = library.ProgramOptions(std="c++17", arch=architecture)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a driver that is missing or older: a cubin does not care
        return bytes(library.Program(text, code_type="c++", options=options).compile("cubin").code)


class Cuda:
    """The driver of this machine: what is needed of a device."""

    def __init__(self) -> None:
        self._library = core()

    def architecture(self, device: int) -> str:
        """Return that of a device, as ``sm_90``."""
        return f"sm_{self._device(device).arch}"

    def _device(self, device: int) -> Any:
        try:
            found = self._library.Device(device)
            _ = found.arch  # asks the driver
        except Exception as error:  # cuda.core has errors of its own for each library that is missing
            raise NotAvailableError(
                f"an array says that it lives on device {device}, but there is no such device or no CUDA driver "
                f"({type(error).__name__}: {error}). Use arrays in the memory of the host."
            ) from error
        return found

    def load(self, device: int, code: bytes, name: str) -> Any:
        """Return a kernel of machine code."""
        with _Current(self._library, device):
            return self._library.ObjectCode.from_cubin(code, name=name).get_kernel(name)

    def launch(self, device: int, stream: int, kernel: Any, rows: int, arguments: Sequence[Any]) -> None:
        """Start a kernel over rows: few blocks of many threads, or many of few."""
        threads = THREADS if rows >= _MANY_ROWS else _FEW
        with _Current(self._library, device):
            config = self._library.LaunchConfig(grid=math.ceil(rows / threads), block=threads)
            self._library.launch(self._library.Stream.from_handle(stream), config, kernel, *arguments)

    def finish(self, stream: int) -> None:
        """Wait until all is done on a stream."""
        self._library.Stream.from_handle(stream).sync()


class _Current:
    """Makes a device the current one, and afterwards the one that it was."""

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
    """Return the driver of this process."""
    return Cuda()
