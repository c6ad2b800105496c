"""The machine code of calls, as one module."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .asker import Ask
from .desk import ASK, GROUPS
from .moves import Difference, Integrate, Project
from .of_columns import Columns, InputMatrix, OperationalInertia
from .of_contacts import ContactDerivatives, ContactDynamics
from .of_places import Accelerations, Center, Hessian, Hessians, Velocities
from .of_tree import FrameJacobian, Motion, Tree
from .parts import write_parts
from .usual import USUAL, UsualCall
from .wrappers import Signature, write_wrapper
from .writer import Library

_WRITERS: dict[str, Callable[[str, Library], Any]] = {
    **dict.fromkeys(USUAL, UsualCall),
    "quick_tree": Tree,
    "quick_motion": Motion,
    "quick_jacobian": FrameJacobian,
    "quick_velocities": Velocities,
    "quick_accelerations": Accelerations,
    "quick_hessian": Hessian,
    "computeJointKinematicHessians": Hessians,
    "getCenterOfMassVelocityDerivatives": Center,
    "quick_columns": Columns,
    "inverse_operational_inertia": OperationalInertia,
    "inverse_input_matrix": InputMatrix,
    "constraintDynamics": ContactDynamics,
    "computeConstraintDynamicsDerivatives": ContactDerivatives,
    "integrate": Integrate,
    "difference": Difference,
    "project": Project,
    ASK: Ask,
}


def module(groups: Iterable[str] = GROUPS, kernels: Sequence[Signature] = ()) -> str:
    """Return the code of functions; ``TABLE`` is to be filled with what its names say.

    Args:
        groups: Which functions.
        kernels: Kernels that are to be called from Python, for a library.
    """
    library = Library()
    write_parts(library)
    for group in groups:
        for name in GROUPS[group]:
            _WRITERS[name](name, library).write()
    for kernel in kernels:
        write_wrapper(library, kernel)
    return str(library.m)
