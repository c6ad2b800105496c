"""What is switched on in this process: whether kernels are compiled, with which checks, and what takes the calls.

Environment:
    NUMBA_DISABLE_JIT: ``1`` runs every kernel as plain Python.
    PIN_CLUSTERS_BOUNDSCHECK: ``1`` compiles with checked accesses (about twice slower).
"""

import os
import sys

from .native.memory import may_execute
from .native.telling import say


def _jit_is_on() -> bool:
    numba = sys.modules.get("numba")
    if numba is not None:
        return not numba.config.DISABLE_JIT
    return os.environ.get("NUMBA_DISABLE_JIT", "0").strip() in ("", "0")


def _import_numba_to_run_nothing() -> None:
    """Import Numba, for kernels are written with it, where it refuses because it could run nothing that it compiles."""
    from llvmlite import binding

    refuse = binding.check_jit_execution
    binding.check_jit_execution = lambda: None
    try:
        import numba
    finally:
        binding.check_jit_execution = refuse
    numba.config.DISABLE_JIT = 1


BOUNDSCHECK = os.environ.get("PIN_CLUSTERS_BOUNDSCHECK", "0") == "1"
JIT = _jit_is_on()
if not may_execute():
    if JIT:
        say(
            "this process may not execute what it writes to memory: neither fast calls nor Numba's code can be made, "
            "kernels run as plain Python, some hundred times slower"
        )
    JIT = False
    _import_numba_to_run_nothing()
