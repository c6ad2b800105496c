"""CUDA sources compiled by a C++ compiler, to be run on a processor.

``gpu_bundle.py`` copies this module into the bundle, so it must not import anything outside Python 3.9.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from gpu_driver import CudaError, MissingError

OPTIONS = ("-O0", "-shared", "-fPIC")  # g++ -O1 takes minutes for each of the large kernels
SHIM = """
#include <cmath>
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
static struct { long long x; } blockIdx, blockDim = {1}, threadIdx;
"""


def compiler() -> str:
    """Return the name of a C++ compiler.

    Raises:
        MissingError: There is none.
    """
    for name in (os.environ.get("CXX", ""), "g++", "clang++", "c++"):
        if name and shutil.which(name):
            return name
    raise MissingError("there is no C++ compiler. Install g++ or clang++, or set the environment variable CXX.")


def host_source(text: str, kernel: dict[str, Any]) -> str:
    """Return C++ that runs the threads of a kernel in a loop; ``run`` takes the arguments of ``cuLaunchKernel``."""
    kinds = {"in": f"const {kernel['real']} *", "out": f"{kernel['real']} *", "status": "signed char *"}
    passed = [f"*({kinds[role]}*)p[{i}]" for i, (role, *_) in enumerate(kernel["arguments"])]
    passed.append(f"*(long long *)p[{len(passed)}]")
    loop = f"for (long long i = 0; i < threads; i++) {{ blockIdx.x = i; {kernel['symbol']}({', '.join(passed)}); }}"
    return f'{SHIM}{text}\nextern "C" void run(void **p, long long threads)\n{{ {loop} }}\n'


class Compiled:
    """A kernel compiled for this processor.

    Args:
        folder: Where to write the source and the library.
        text: CUDA source.
        kernel: Entry of the manifest.

    Raises:
        MissingError: There is no compiler.
        CudaError: The compiler failed.
    """

    def __init__(self, folder: Path, text: str, kernel: dict[str, Any]) -> None:
        source, library = folder / f"{kernel['name']}.cpp", folder / f"{kernel['name']}.so"
        source.write_text(host_source(text, kernel), encoding="utf-8")
        command = [compiler(), *OPTIONS, str(source), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CudaError(f"{command[0]} failed: {done.stderr[-500:]}")
        self._run = ctypes.CDLL(str(library)).run

    def run(self, arrays: list[Any], rows: int) -> None:
        """Run the kernel on arrays, one per argument; two threads more than rows, which must not write."""
        values = [*(ctypes.c_void_p(x.ctypes.data) for x in arrays), ctypes.c_longlong(rows)]
        passed = (ctypes.c_void_p * len(values))(*(ctypes.addressof(x) for x in values))
        self._run(passed, ctypes.c_longlong(rows + 2))
