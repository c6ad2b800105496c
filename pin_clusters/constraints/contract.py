"""The contract of constraints: methods of a new constraint, which the model calls.

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
        """Return one row per dependent joint, with joint ids of ``tree``; empty if there are none."""


@runtime_checkable
class LoopConstraint(Protocol):
    """A constraint with loop closures.

    It may have ``independent``, names of its preferred independent joints, and ``branch``, +1 or -1 per assembly mode.
    """

    @property
    def label(self) -> str:
        """Name of the constraint in messages."""

    def closures(self, tree: pin.Model) -> Sequence[Closure]:
        """Return the closures, with joint ids of ``tree``; empty if there are none."""


@runtime_checkable
class SolvedConstraint(LoopConstraint, Protocol):
    """A constraint with loop closures whose assemblies are known in closed form."""

    def closed_form(self, tree: pin.Model) -> ClosedForm | None:
        """Return all assemblies as explicit functions of the independent joints, or None if there are none."""
