"""Compiling the functions of the baselines, at their first use, and keeping them where compiled kernels are kept."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from ..._engine import entry_points


@functools.cache
def compiled(module: str, name: str, title: str) -> Callable[..., Any]:
    """Return a function of ``_compiled``: it takes I, W, q, v, tau, fext, accelerations and forces.

    Args:
        module: Of ``_compiled``.
        name: Of the function.
        title: What the user is told is being compiled.
    """
    function = getattr(importlib.import_module(f".{module}", f"{__package__}._compiled"), name)
    if not entry_points.JIT:
        return function
    from numba import njit, types

    from ..._engine.kernels.compiling import cache as _cache
    from ..._engine.kernels.compiling.jit import OPTIONS

    vector, matrix = types.float64[::1], types.float64[:, ::1]
    signature = types.int64(types.int64[::1], *[vector] * 4, matrix, vector, matrix)
    dispatcher = njit(**OPTIONS)(function)
    _cache.compile_or_load(dispatcher, signature, name, title)
    return dispatcher
