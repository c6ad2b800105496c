"""Compute an approximate operational inertia of the robot, with armature instead of rotors.

Pinocchio computes this inertia of ``armature_model`` either from Jacobians and the inverse mass matrix, or by a sparse
Cholesky factorisation with one contact per frame. Rotors, and frames on rotors, are fixed to the carriers of the
rotors.
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
    how: ``"minverse"`` computes J M^-1 J' with ``pin.computeMinverse``. ``"cholesky"`` uses
        ``pin.ContactCholeskyDecomposition`` with a 6D contact at each frame, in the axes of the frames.
"""
_documented = stock(STATE, DATA, FRAMES, _HOW)

_MU = 1e-8
"""Regularisation for linearly dependent rows; this value is subtracted from the diagonal of the result."""


class ArmatureWorkspace(WithoutRotors):
    """Workspace with Pinocchio's model of the approximate robot with armature, and its data."""

    def places(self, frames: Sequence[str | int]) -> list[tuple[int, pin.SE3]]:
        """Return the joint and placement of each frame; frames on rotors are fixed to the carriers of the rotors."""
        return [self.on(int(frame.parentJoint), frame.placement) for frame in frames_of(self.model, frames)]


def createData(model: ClusterModel) -> ArmatureWorkspace:
    """Create a workspace for the functions of this module; use one per thread.

    Raises:
        ModelError: The model has no ``armature_model``, because it has loops or a dependent joint that is not a rotor.
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
    """Compute J M^-1 J' of the approximate robot, shape (rows, rows).

    Raises:
        ArgumentTypeError: ``how`` is unknown, or is ``"cholesky"`` with a reference that is not ``pin.LOCAL``.
    """
    check(model, data, ArmatureWorkspace, __name__)
    tree, places = data.approximate, data.places(frames)
    if how == "cholesky" and reference == pin.LOCAL:
        selected_rows = picked(rows, len(places))
        return _by_contacts(data, q, places)[np.ix_(selected_rows, selected_rows)]
    if how != "minverse":
        raise ArgumentTypeError(
            f"how must be 'minverse', or 'cholesky' with reference = pin.LOCAL, got {how!r} with {reference!r}."
        )
    q_tree = data.configuration(q)
    Minv = symmetric(pin.computeMinverse(tree, data.data, q_tree))
    pin.computeJointJacobians(tree, data.data, q_tree)
    J = jacobian(tree, data.data, places, reference)[picked(rows, len(places))]
    return J @ Minv @ J.T


def _by_contacts(data: ArmatureWorkspace, q: Any, places: list[tuple[int, pin.SE3]]) -> np.ndarray:
    """Compute the inverse operational inertia of 6D contacts by Pinocchio's contact Cholesky factorisation."""
    tree = data.approximate
    contacts = pin.StdVec_RigidConstraintModel()
    for j, placement in places:
        contacts.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, tree, j, placement))
    contact_datas = pin.StdVec_RigidConstraintData()
    contact_datas.extend([c.createData() for c in contacts])
    pin.computeJointJacobians(tree, data.data, data.configuration(q))
    pin.crba(tree, data.data, data.configuration(q))
    arguments: tuple[Any, ...] = (contacts,)
    if int(pin.__version__.split(".")[0]) >= 4:  # Version 4 requires data and placements.
        arguments = data.data, contacts, contact_datas
        for contact, contact_data in zip(contacts, contact_datas, strict=True):
            contact.calc(tree, data.data, contact_data)
    factors = pin.ContactCholeskyDecomposition(tree, *arguments)
    factors.compute(tree, data.data, contacts, contact_datas, _MU)
    return np.array(factors.getInverseOperationalSpaceInertiaMatrix()) - _MU * np.eye(6 * len(places))
