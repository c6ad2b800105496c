"""Settings of this process: whether kernels are compiled, and with which checks.

Environment:
    NUMBA_DISABLE_JIT: ``1`` runs every kernel as plain Python.
    PIN_CLUSTERS_BOUNDSCHECK: ``1`` compiles kernels with bounds checks, which are about twice as slow.
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
    """Import Numba although compiled code cannot run, because even plain Python kernels need its decorators."""
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
