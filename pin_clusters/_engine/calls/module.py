"""The machine code of calls, as one module."""

from collections.abc import Callable
from typing import Any

from .asker import Ask
from .desk import ASK, GROUPS
from .moves import Difference, Integrate, Project, Tangent
from .of_columns import Columns, InputMatrix, OperationalInertia
from .of_contacts import ContactDerivatives, ContactDynamics
from .of_places import Accelerations, Center, Hessian, Hessians, Velocities
from .of_tree import GETTERS, FrameJacobian, FramePlacements, JacobianGetter, Motion, Terms, Tree
from .parts import write_parts
from .usual import USUAL, UsualCall
from .writer import Module

_WRITERS: dict[str, Callable[[str, Module], Any]] = {
    **dict.fromkeys(USUAL, UsualCall),
    "quick_tree": Tree,
    "quick_motion": Motion,
    "quick_terms": Terms,
    "quick_jacobian": FrameJacobian,
    **dict.fromkeys(GETTERS, JacobianGetter),
    "updateFramePlacements": FramePlacements,
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
    "dIntegrate": Tangent,
    "dDifference": Tangent,
    ASK: Ask,
}


def module(group: str) -> str:
    """Return the code of a group of functions; ``TABLE`` is to be filled with what its names say."""
    made = Module()
    write_parts(made)
    for name in GROUPS[group]:
        _WRITERS[name](name, made).write()
    return str(made.m)
