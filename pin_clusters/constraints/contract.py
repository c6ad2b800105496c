"""Protocols for constraints: the methods that a new constraint must implement, because the model calls them.

A constraint has a ``label`` (``rows.Constraint`` provides it) and at least one of the methods ``rows`` and
``closures``. Both raise ``UnknownNameError`` for unknown names, ``UnsupportedJointError`` for joints of the wrong type,
and ``ConstraintError`` if the joints do not form the mechanism. Closures derive from ``closures.BodyClosure`` or
``closures.JointClosure``.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import pinocchio as pin

from ._closed_form import ClosedForm
from .closures import Closure
from .rows import Row


@runtime_checkable
class RowConstraint(Protocol):
    """A constraint with constant coefficients, such as a gear."""

    @property
    def label(self) -> str:
        """Name of the constraint in messages."""

    def rows(self, tree: pin.Model) -> Sequence[Row]:
        """Return one linear equation per dependent joint, with joint ids of ``tree``, or an empty sequence."""


@runtime_checkable
class LoopConstraint(Protocol):
    """A constraint with loop closures.

    Two attributes are optional: ``independent`` contains the names of the preferred independent joints, and ``branch``
    (+1 or -1) selects the assembly mode.
    """

    @property
    def label(self) -> str:
        """Name of the constraint in messages."""

    def closures(self, tree: pin.Model) -> Sequence[Closure]:
        """Return the loop closures, with joint ids of ``tree``, or an empty sequence."""


@runtime_checkable
class SolvedConstraint(LoopConstraint, Protocol):
    """A constraint whose loop-closure equations can be solved in closed form."""

    def closed_form(self, tree: pin.Model) -> ClosedForm | None:
        """Return all assemblies as explicit functions of the independent joints, or None if no such functions exist."""
