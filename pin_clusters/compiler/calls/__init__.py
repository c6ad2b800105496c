"""Fast calls: plans by which the C extension executes a call from Python with compiled kernels.

A function that is decorated with ``fast`` has a Python form, which accepts every call, and plans for its usual forms.
A plan belongs to one data object (or model). ``Form`` writes the plan, and ``_native.c`` runs it.
"""

from .form import RESULT, Form, Plans, register
from .functions import fast, is_fast
from .state import of_state
from .tree import (
    AT_A_PLACE,
    of_derivatives,
    of_getter,
    of_hessian,
    of_jacobian,
    of_jacobian_at_place,
    of_pinocchio,
    of_tree,
)
from .watch import Watch

__all__ = [
    "AT_A_PLACE", "RESULT", "Form", "Plans", "Watch", "fast", "is_fast", "of_derivatives", "of_getter", "of_hessian",
    "of_jacobian", "of_jacobian_at_place", "of_pinocchio", "of_state", "of_tree", "register",
]  # fmt: skip
