"""Fast calls of Python functions. The C extension executes a *plan*, which lists the steps of a call.

A function with the decorator ``fast`` has plans for its typical argument lists; all other calls run the Python
function. A plan belongs to one data object (or model). ``Form`` writes the plan, and ``_native.c`` executes the plan.
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
