"""Settings of this process, which determine whether kernels are compiled and whether array bounds are checked.

Environment:
    NUMBA_DISABLE_JIT: If ``1``, every kernel runs as plain Python.
    PIN_CLUSTERS_BOUNDSCHECK: If ``1``, kernels are compiled with bounds checks and are about twice as slow.
"""

import os
import sys

from .native.memory import may_execute
from .native.notices import print_notice


def _jit_is_on() -> bool:
    numba = sys.modules.get("numba")
    if numba is not None:
        return not numba.config.DISABLE_JIT
    return os.environ.get("NUMBA_DISABLE_JIT", "0").strip() in ("", "0")


def _import_numba_disabled() -> None:
    """Import Numba with its JIT disabled, because plain Python kernels also need Numba's decorators."""
    from llvmlite import binding

    check = binding.check_jit_execution
    binding.check_jit_execution = lambda: None
    try:
        import numba
    finally:
        binding.check_jit_execution = check
    numba.config.DISABLE_JIT = 1


BOUNDSCHECK = os.environ.get("PIN_CLUSTERS_BOUNDSCHECK", "0") == "1"
JIT = _jit_is_on()
if not may_execute():
    if JIT:
        print_notice(
            "this process must not execute memory that it has written. Fast calls and compilation are disabled, and "
            "kernels run as plain Python, about a hundred times slower"
        )
    JIT = False
    _import_numba_disabled()
