"""The first CUDA device, used through the driver API and ctypes; it needs nothing but the NVIDIA driver.

``gpu_bundle.py`` copies this module into the bundle, so it must not import anything outside Python 3.9.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import re
import time
from typing import Any, Callable, Iterator  # noqa: UP035  (Python 3.9)

LOG_BUFFER, LOG_SIZE, ERROR_BUFFER, ERROR_SIZE, LOG_VERBOSE = 3, 4, 5, 6, 12  # of CUjit_option
LOCAL_BYTES, REGISTERS = 3, 4  # of CUfunction_attribute
MAJOR, MINOR = 75, 76  # of CUdevice_attribute
UNTIMED = 2  # launches before the measurement
TARGET = 2e-3  # s between two events; one short launch would be timed together with its call from Python


class MissingError(Exception):
    """This machine lacks something; the message says how to get it."""


class CudaError(Exception):
    """A call of the CUDA driver, or of a compiler, failed."""


class Gpu:
    """The first CUDA device.

    Attributes:
        architecture: For example ``sm_90``.
        about: Name of the device, architecture, and the latest CUDA version that the driver supports.

    Raises:
        MissingError: There is no driver, or no device.
    """

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise MissingError(
                f"the NVIDIA driver is missing ({error}). Use a machine with an NVIDIA GPU and its driver, and start "
                "containers with access to the GPU (docker run --gpus all)."
            ) from error
        device, value, version = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        try:
            self.call("cuInit", ctypes.c_uint(0))
            self.call("cuDeviceGetCount", ctypes.byref(value))
            if not value.value:
                raise CudaError("cuDeviceGetCount returned 0")
        except CudaError as error:
            raise MissingError(
                f"the NVIDIA driver offers no GPU ({error}). Check the output of nvidia-smi and the variable "
                "CUDA_VISIBLE_DEVICES, and start containers with access to the GPU (docker run --gpus all)."
            ) from error
        context, name, number = ctypes.c_void_p(), ctypes.create_string_buffer(256), []
        self.call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(0))
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.call("cuDeviceGetName", name, ctypes.c_int(len(name)), device)
        self.call("cuDriverGetVersion", ctypes.byref(version))
        for attribute in (MAJOR, MINOR):
            self.call("cuDeviceGetAttribute", ctypes.byref(value), ctypes.c_int(attribute), device)
            number.append(value.value)
        self.architecture = f"sm_{number[0]}{number[1]}"
        cuda = f"{version.value // 1000}.{version.value % 1000 // 10}"
        self.about = {"device": name.value.decode(), "architecture": self.architecture, "CUDA of the driver": cuda}

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver; raise ``CudaError`` if it fails."""
        code = getattr(self._library, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self._library.cuGetErrorName(ctypes.c_int(code), ctypes.byref(text))
            raise CudaError(f"{name}: {(text.value or str(code).encode()).decode()}")

    def load(self, image: bytes, symbol: str) -> tuple[Any, dict[str, Any]]:
        """Load a cubin, or PTX, which the driver compiles.

        Returns:
            The kernel; and its registers, its local memory [bytes per thread], the time to load it [s], and the spills
            [bytes written and read per thread] if the driver's compiler reports them.
        """
        log, error = ctypes.create_string_buffer(1 << 16), ctypes.create_string_buffer(1 << 12)
        options = {
            LOG_BUFFER: ctypes.addressof(log), LOG_SIZE: len(log), ERROR_BUFFER: ctypes.addressof(error),
            ERROR_SIZE: len(error), LOG_VERBOSE: 1,
        }  # fmt: skip
        keys, values = (ctypes.c_int * 5)(*options), (ctypes.c_void_p * 5)(*options.values())
        module, function, value = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
        start = time.monotonic()
        try:
            self.call(
                "cuModuleLoadDataEx", ctypes.byref(module), ctypes.c_char_p(image), ctypes.c_uint(5), keys, values
            )
        except CudaError as failed:
            raise CudaError(f"{failed} {error.value.decode(errors='replace').strip()}".strip()) from failed
        self.call("cuModuleGetFunction", ctypes.byref(function), module, ctypes.c_char_p(symbol.encode()))
        about: dict[str, Any] = {"load [s]": round(time.monotonic() - start, 2)}
        for name, attribute in (("registers", REGISTERS), ("local", LOCAL_BYTES)):
            self.call("cuFuncGetAttribute", ctypes.byref(value), ctypes.c_int(attribute), function)
            about[name] = value.value
        spilled = [int(x) for x in re.findall(r"(\d+) bytes spill", log.value.decode(errors="replace"))]
        return function, {**about, **({"spills": sum(spilled)} if spilled else {})}

    @contextlib.contextmanager
    def buffers(self, sizes: list[int]) -> Iterator[list[ctypes.c_uint64]]:
        """Allocate device memory of several sizes [bytes]; free it at the end. A size of 0 gives a null pointer."""
        found: list[ctypes.c_uint64] = []
        try:
            for size in sizes:
                pointer = ctypes.c_uint64(0)
                if size:
                    self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
                found.append(pointer)
            yield found
        finally:
            for pointer in found:
                if pointer.value:
                    self.call("cuMemFree_v2", pointer)

    def free_memory(self) -> int:
        """Return the number of free bytes of the device."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value

    def fill(self, pointer: ctypes.c_uint64, array: Any, rows: int) -> None:
        """Copy the rows of an array to the device, repeated until there are as many rows as requested."""
        size, done = array.nbytes // len(array), min(rows, len(array))
        self.call("cuMemcpyHtoD_v2", pointer, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(done * size))
        while done < rows:
            more = min(done, rows - done)
            target = ctypes.c_uint64(pointer.value + done * size)
            self.call("cuMemcpyDtoD_v2", target, pointer, ctypes.c_size_t(more * size))
            done += more

    def launcher(self, function: Any, pointers: list[ctypes.c_uint64], rows: int, threads: int) -> Callable[[], None]:
        """Return a call that starts a kernel over rows, in blocks of some threads."""
        values = [*pointers, ctypes.c_longlong(rows)]
        passed = (ctypes.c_void_p * len(values))(*(ctypes.addressof(x) for x in values))
        shape = [ctypes.c_uint(x) for x in (-(-rows // threads), 1, 1, threads, 1, 1, 0)]
        none, start = ctypes.c_void_p(), self._library.cuLaunchKernel

        def run(keep: Any = values) -> None:  # the driver reads these values at each launch
            if start(function, *shape, none, passed, none):
                self.call("cuLaunchKernel", function, *shape, none, passed, none)

        return run

    def run(self, function: Any, arrays: list[Any], rows: int, threads: int) -> None:
        """Copy arrays to the device, run a kernel, and copy the arrays back."""
        with self.buffers([x.nbytes for x in arrays]) as pointers:
            for pointer, x in zip(pointers, arrays):  # noqa: B905  (Python 3.9)
                self.fill(pointer, x, rows)
            self.launcher(function, pointers, rows, threads)()
            self.call("cuCtxSynchronize")
            for pointer, x in zip(pointers, arrays):  # noqa: B905
                self.call("cuMemcpyDtoH_v2", ctypes.c_void_p(x.ctypes.data), pointer, ctypes.c_size_t(x.nbytes))

    def seconds(self, launch: Callable[[], None], limit: float = 0.15) -> float:
        """Return the least time of a launch, by events around launches that follow each other without a gap."""
        start, stop, elapsed = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_float()
        for event in (start, stop):
            self.call("cuEventCreate", ctypes.byref(event), ctypes.c_uint(0))
        best, times, end = math.inf, 1, time.monotonic() + limit
        for repeat in range(100):
            if repeat >= UNTIMED + 3 and time.monotonic() > end:
                break
            self.call("cuEventRecord", start, ctypes.c_void_p())
            for _ in range(times):
                launch()
            self.call("cuEventRecord", stop, ctypes.c_void_p())
            self.call("cuEventSynchronize", stop)
            self.call("cuEventElapsedTime", ctypes.byref(elapsed), start, stop)
            took = max(1e-3 * elapsed.value / times, 1e-9)
            times = max(1, min(200, int(TARGET / took)))
            if repeat >= UNTIMED:
                best = min(best, took)
        for event in (start, stop):
            self.call("cuEventDestroy_v2", event)
        return best
