"""Operational inertia on the robot without rotors, armature in their place. Approximate.

What one does with Pinocchio as it is: ``armature_model``, then its recursive inverse of the mass matrix and Jacobians,
or its sparse Cholesky factorisation with one contact per frame. Rotors are locked into their carriers, and frames on
them move with these.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.docstrings import STATE, stock
from ...approximations.armature import WithoutRotors, symmetric
from ...errors import ArgumentTypeError
from ...model import ClusterModel
from ..reference.operational import FRAMES, picked
from ._frames import frames_of, jacobian
from ._workspace import DATA, check

_HOW = """
Args:
    how: ``"minverse"``: J M^-1 J' with ``pin.computeMinverse``; ``"cholesky"``: ``pin.ContactCholeskyDecomposition``
        with a contact in six directions at each frame, in the frames' own axes.
"""
_documented = stock(STATE, DATA, FRAMES, _HOW)

_MU = 1e-8
"""Added to the diagonal while it is factorised, where rows may be dependent, and taken off again."""


class ArmatureWorkspace(WithoutRotors):
    """The approximate robot, armature included, and Pinocchio's data of it."""

    def places(self, frames: Sequence[str | int]) -> list[tuple[int, pin.SE3]]:
        """Return joint and placement of frames of the cluster model; those of rotors are in their carriers."""
        return [self.on(int(frame.parentJoint), frame.placement) for frame in frames_of(self.model, frames)]


def createData(model: ClusterModel) -> ArmatureWorkspace:
    """Return a workspace for the functions of this module; one per thread.

    Raises:
        ModelError: ``armature_model`` cannot be made: the model has loops, or a dependent joint that is no rotor.
    """
    return ArmatureWorkspace(model)


@_documented
def inverse_operational_inertia(
    model: ClusterModel,
    data: ArmatureWorkspace,
    q: np.ndarray,
    frames: Sequence[str | int],
    reference: pin.ReferenceFrame = pin.LOCAL,
    rows: Any = None,
    *,
    how: str = "minverse",
) -> np.ndarray:
    """Compute J M^-1 J' of the approximate robot.

    Returns:
        Symmetric, shape (rows, rows).

    Raises:
        ArgumentTypeError: ``how`` is unknown, or ``"cholesky"`` is asked for other axes than ``pin.LOCAL``.
    """
    check(model, data, ArmatureWorkspace, __name__)
    tree, places = data.approximate, data.places(frames)
    if how == "cholesky" and reference == pin.LOCAL:
        wanted = picked(rows, len(places))
        return _by_contacts(data, q, places)[np.ix_(wanted, wanted)]
    if how != "minverse":
        raise ArgumentTypeError(
            f"how must be 'minverse', or 'cholesky' with reference = pin.LOCAL, got {how!r} with {reference!r}."
        )
    at = data.configuration(q)
    Minv = symmetric(pin.computeMinverse(tree, data.data, at))
    pin.computeJointJacobians(tree, data.data, at)
    J = jacobian(tree, data.data, places, reference)[picked(rows, len(places))]
    return J @ Minv @ J.T


def _by_contacts(data: ArmatureWorkspace, q: Any, places: list[tuple[int, pin.SE3]]) -> np.ndarray:
    """Return the inverse operational inertia of contacts in six directions, which Pinocchio factorises with M."""
    tree = data.approximate
    contacts = pin.StdVec_RigidConstraintModel()
    for j, placement in places:
        contacts.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, tree, j, placement))
    theirs = pin.StdVec_RigidConstraintData()
    theirs.extend([c.createData() for c in contacts])
    pin.computeJointJacobians(tree, data.data, data.configuration(q))
    pin.crba(tree, data.data, data.configuration(q))
    room: tuple[Any, ...] = (contacts,)
    if int(pin.__version__.split(".")[0]) >= 4:  # which asks for the data too, and for where the contacts are
        room = data.data, contacts, theirs
        for contact, own in zip(contacts, theirs, strict=True):
            contact.calc(tree, data.data, own)
    factors = pin.ContactCholeskyDecomposition(tree, *room)
    factors.compute(tree, data.data, contacts, theirs, _MU)
    return np.array(factors.getInverseOperationalSpaceInertiaMatrix()) - _MU * np.eye(6 * len(places))
