"""Functions for many states at once, with the names of the functions for one state and one row per state.

``rnea``, ``aba``, ``nonLinearEffects``, ``crba``, ``computeMinverse`` and, without closed loops, derivatives run
robot-specific code on SIMD packs of ``lanes`` states (8 with AVX-512, 4 with AVX2, otherwise 2). Other functions run
the kernels for one state row by row in compiled code. The rows are divided among ``threads`` threads. Results agree
with the functions for one state up to rounding and do not depend on threads or other rows. Rows become NaN if the input
is not finite, an independent motion moves no inertia, or a closed loop is open or singular. Batch functions take no
data, because each thread has its own workspace. Models with a ``Coupling`` defined by a Python function run row by row
in Python. For arrays on a GPU, functions are enqueued on the stream of the array library, results stay on the GPU, and
``threads`` has no effect.
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
    """Number of states in one SIMD register of this processor."""


def __getattr__(name: str) -> Any:
    # The number is determined on access, because this initializes LLVM.
    if name == "lanes":
        return _lanes_of_host()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
