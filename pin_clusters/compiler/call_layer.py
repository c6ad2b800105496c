"""The active call layer, which is either the C extension or Python."""

from typing import Any

import numpy as np
import pinocchio as pin

from . import switches
from .native import extension


def layer() -> str:
    reason = extension.missing
    if not switches.JIT:
        reason = "kernels are not compiled in this process"
    elif switches.BOUNDSCHECK:
        reason = "PIN_CLUSTERS_BOUNDSCHECK=1"
    return f"Python ({reason})" if reason else "C"


native: Any = extension.native if layer() == "C" else None
"""The C extension, or None if all calls run in Python."""


class _PythonOwner:
    """Base class of data and models if there is no extension; its methods do nothing."""

    __slots__ = ()

    def _accept_model(self, model: Any) -> None: ...

    def _forget_plans(self, *function: Any) -> None: ...

    def _remember_plan(self, function: Any, plan: Any, most: int) -> None: ...


_Base: Any = native.Owner if native else _PythonOwner


class Owner(_Base):
    """Base class of data and models, which store plans. A call uses the plans of its argument ``data`` or ``model``."""

    __slots__ = ()

    def _plans_of(self, function: Any) -> tuple[Any, ...]:
        plans: tuple[Any, ...] = function.plans(self, function)
        return plans


def tell_compiled() -> None:
    if native is not None:
        native.compiled()


def _introduce() -> None:
    """Pass sample objects to the extension, which determines the memory layout of ``pin.Force`` and ``pin.SE3``."""
    numbers = np.linspace(0.3, 0.7, 18)
    force, forces = pin.Force(numbers[:6].copy()), pin.StdVec_Force()
    forces.append(force)
    placement = pin.SE3(numbers[6:15].reshape(3, 3).T.copy(), numbers[15:].copy())
    holder_at = next(kind for kind in pin.Force.__mro__ if kind.__name__ == "instance").__basicsize__ - 8
    native.introduce(pin.Force, pin.StdVec_Force, pin.SE3, holder_at, force, forces, placement, numbers)


if native is not None:
    _introduce()
