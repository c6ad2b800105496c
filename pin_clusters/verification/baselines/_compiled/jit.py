"""How compiled functions of the baselines are declared: with the flags of the kernels, for fair times."""

from __future__ import annotations

from typing import Any

from numba import njit

from ...._engine.kernels.compiling.inner import InnerCompiler
from ...._engine.switches import BOUNDSCHECK

OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}, "boundscheck": BOUNDSCHECK}

jit = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=InnerCompiler, **OPTIONS)
