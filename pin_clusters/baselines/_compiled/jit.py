"""How compiled functions of the baselines are declared."""

from __future__ import annotations

from typing import Any

from numba import njit

OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}
"""As the kernels have them, for fair times."""

jit = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **OPTIONS)
