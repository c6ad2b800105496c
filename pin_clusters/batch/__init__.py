"""Functions for many states at once, with the names of the functions for one state. Each array row is one state.

``rnea``, ``aba``, ``nonLinearEffects``, ``crba`` and ``computeMinverse`` run robot-specific code on groups of ``lanes``
states in SIMD registers (8 states with AVX-512, 4 with AVX2, otherwise 2), as do derivative functions for models
without loops. Other functions process rows one by one in compiled code. The rows are divided among ``threads`` threads.
Each row of a result equals the result for one state up to rounding, and does not depend on the number of threads or on
other rows. A row of the result is NaN if its input is not finite, if an independent joint moves no inertia, or if a
closed loop violates its constraints or is singular. Batch functions have no argument ``data``, because each thread has
its own workspace. If a ``Coupling`` is defined by a Python function, all rows are processed in Python. For arrays on a
GPU, calls are enqueued on the stream of the array library, results stay on the GPU, and ``threads`` has no effect.
"""

from typing import TYPE_CHECKING, Any

from ..compiler.machine_code.machine import lanes_of_host as _lanes_of_host
from .derivatives import computeABADerivatives as computeABADerivatives
from .derivatives import computeRNEADerivatives as computeRNEADerivatives
from .dynamics import aba as aba
from .dynamics import nonLinearEffects as nonLinearEffects
from .dynamics import rnea as rnea
from .kinematics import forwardKinematics as forwardKinematics
from .matrices import computeMinverse as computeMinverse
from .matrices import crba as crba
from .matrices import inverse_operational_inertia as inverse_operational_inertia
from .moves import integrate as integrate
from .moves import project as project
from .simulation import Motions as Motions
from .simulation import simulate as simulate

__all__ = ["lanes", *(name for name, x in globals().items() if str(getattr(x, "__module__", "")).startswith(__name__))]

if TYPE_CHECKING:
    lanes: int
    """Number of states that one SIMD register of this processor holds."""


def __getattr__(name: str) -> Any:
    # ``lanes`` is determined on first access, because this initializes LLVM.
    if name == "lanes":
        return _lanes_of_host()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
