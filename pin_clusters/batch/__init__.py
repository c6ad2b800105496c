"""Many states at once: the names of the functions of one state, over rows.

``rnea``, ``aba``, ``nonLinearEffects``, ``crba``, ``computeMinverse`` and, without closed loops, derivatives run code
of the robot's own on packs of ``lanes`` states (8 with AVX-512, 4 with AVX2, or 2); the others run the kernels of the
single state row after row, without Python between them. ``threads`` share the rows of either. Results agree with the
single state to rounding, and depend neither on the threads nor on the other rows. A row that is not finite, a joint
that moves no inertia, or a closed loop that is open or singular gives a row of NaN. No function takes a data: each
thread has a workspace of its own. Models with a ``Coupling`` on a Python function run one state after the other. Arrays
that live on a GPU stay there: the functions are enqueued on the stream of their library, and ``threads`` means nothing.
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
    """How many states one SIMD register of this processor holds."""


def __getattr__(name: str) -> Any:
    """Look up ``lanes`` when it is asked for: it asks LLVM."""
    if name == "lanes":
        return _lanes_of_host()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
