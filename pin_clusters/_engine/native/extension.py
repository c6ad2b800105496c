"""The C extension, if it was built and fits; without it every call is made in Python."""

import os
from typing import Any

import numpy as np
import pinocchio as pin

from ..switches import BOUNDSCHECK, JIT

INTERFACE = 1
"""The number that the C file must have: increase both when steps or methods change."""

native: Any = None
if os.environ.get("PIN_CLUSTERS_CALLS", "") != "python" and JIT and not BOUNDSCHECK:
    try:
        from ... import _native as native
    except ImportError:
        native = None


class _NoOwner:
    """Stands for the class of objects that keep plans."""

    __slots__ = ()

    def _accept_model(self, model: Any) -> None: ...

    def _forget_plans(self, *function: Any) -> None: ...

    def _remember_plan(self, function: Any, plan: Any, most: int) -> None: ...


Owner: Any = native.Owner if native else _NoOwner


def compiled() -> None:
    """Tell the extension that code has been compiled, so that more plans may be possible."""
    if native is not None:
        native.compiled()


def _introduce() -> None:
    """Show the extension how Pinocchio's objects look in memory: it reads forces and placements there."""
    numbers = np.linspace(0.3, 0.7, 18)
    forces = pin.StdVec_Force()
    force = pin.Force(numbers[:6].copy())
    forces.append(force)
    placement = pin.SE3(numbers[6:15].reshape(3, 3).T.copy(), numbers[15:].copy())
    holder_at = next(kind for kind in pin.Force.__mro__ if kind.__name__ == "instance").__basicsize__ - 8
    native.introduce(pin.Force, pin.StdVec_Force, pin.SE3, holder_at, force, forces, placement, numbers)


if native is not None:
    _introduce()
