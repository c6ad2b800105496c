"""Pinocchio's read-only attributes and look-ups on a cluster model."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import pinocchio as pin

from .errors import NotAvailableError, UnknownNameError, did_you_mean


class TreeAttributes:
    """What a ``pin.Model`` offers to readers, with the same names.

    Attributes of size nq are those of the tree; those of size nv (``armature``, ``effortLimit``, ``velocityLimit``,
    ``friction``, ``damping``) are the independent joints' ones. Look-ups of unknown names raise.
    """

    __slots__ = ()
    tree: pin.Model
    idx_v_independent: np.ndarray

    @property
    def njoints(self) -> int:
        """Number of joints of the tree, the universe included."""
        return int(self.tree.njoints)

    @property
    def nbodies(self) -> int:
        """Number of bodies of the tree."""
        return int(self.tree.nbodies)

    @property
    def nframes(self) -> int:
        """Number of frames of the tree."""
        return int(self.tree.nframes)

    @property
    def names(self) -> Any:
        """Names of the joints, ``"universe"`` first."""
        return self.tree.names

    @property
    def frames(self) -> Any:
        """Frames of the tree."""
        return self.tree.frames

    @property
    def joints(self) -> Any:
        """Joint models of the tree."""
        return self.tree.joints

    @property
    def parents(self) -> Any:
        """Parent joint of each joint."""
        return self.tree.parents

    @property
    def children(self) -> Any:
        """Child joints of each joint."""
        return self.tree.children

    @property
    def supports(self) -> Any:
        """Joints from the universe to each joint."""
        return self.tree.supports

    @property
    def subtrees(self) -> Any:
        """Joints of the subtree of each joint."""
        return self.tree.subtrees

    @property
    def inertias(self) -> Any:
        """Inertias of the bodies as the user gave them: rotors are not lumped here."""
        return self.tree.inertias

    @property
    def jointPlacements(self) -> Any:
        """Placement of each joint in its parent's frame."""
        return self.tree.jointPlacements

    @property
    def idx_qs(self) -> Any:
        """First index in q of each joint."""
        return self.tree.idx_qs

    @property
    def nqs(self) -> Any:
        """Size in q of each joint."""
        return self.tree.nqs

    @property
    def lowerPositionLimit(self) -> np.ndarray:
        """Lower limits of q, shape (nq,)."""
        return np.array(self.tree.lowerPositionLimit)

    @property
    def upperPositionLimit(self) -> np.ndarray:
        """Upper limits of q, shape (nq,)."""
        return np.array(self.tree.upperPositionLimit)

    @property
    def referenceConfigurations(self) -> Any:
        """Named configurations of the tree."""
        return self.tree.referenceConfigurations

    @property
    def armature(self) -> np.ndarray:
        """Armature of the independent joints, shape (nv,), [kg m^2] or [kg]."""
        return np.array(self.tree.armature)[self.idx_v_independent]

    @property
    def effortLimit(self) -> np.ndarray:
        """Effort limits of the independent joints, shape (nv,)."""
        return np.array(self.tree.effortLimit)[self.idx_v_independent]

    @property
    def velocityLimit(self) -> np.ndarray:
        """Velocity limits of the independent joints, shape (nv,)."""
        return np.array(self.tree.velocityLimit)[self.idx_v_independent]

    @property
    def friction(self) -> np.ndarray:
        """Dry friction of the independent joints, shape (nv,); no algorithm uses it, as in Pinocchio."""
        return np.array(self.tree.friction)[self.idx_v_independent]

    @property
    def damping(self) -> np.ndarray:
        """Damping of the independent joints, shape (nv,); no algorithm uses it, as in Pinocchio."""
        return np.array(self.tree.damping)[self.idx_v_independent]

    def existJointName(self, name: str) -> bool:
        """Return whether a joint has that name."""
        return bool(self.tree.existJointName(name))

    def existBodyName(self, name: str) -> bool:
        """Return whether a body frame has that name."""
        return bool(self.tree.existBodyName(name))

    def existFrame(self, name: str, *types: Any) -> bool:
        """Return whether a frame has that name (and type)."""
        return bool(self.tree.existFrame(name, *types))

    def getJointId(self, name: str) -> int:
        """Return the id of a joint.

        Raises:
            UnknownNameError: No joint has that name (Pinocchio returns njoints instead).
        """
        if not self.tree.existJointName(name):
            raise UnknownNameError(f"no joint {name!r} in model {self.tree.name!r}." + did_you_mean(name, self.names))
        return int(self.tree.getJointId(name))

    def getFrameId(self, name: str, *types: Any) -> int:
        """Return the id of a frame.

        Raises:
            UnknownNameError: No frame has that name (Pinocchio returns nframes instead).
        """
        if not self.tree.existFrame(name, *types):
            known = [f.name for f in self.tree.frames]
            raise UnknownNameError(f"no frame {name!r} in model {self.tree.name!r}." + did_you_mean(name, known))
        return int(self.tree.getFrameId(name, *types))

    def getBodyId(self, name: str) -> int:
        """Return the frame id of a body.

        Raises:
            UnknownNameError: No body has that name.
        """
        if not self.tree.existBodyName(name):
            known = [f.name for f in self.tree.frames if f.type == pin.FrameType.BODY]
            raise UnknownNameError(f"no body {name!r} in model {self.tree.name!r}." + did_you_mean(name, known))
        return int(self.tree.getBodyId(name))

    def __getattr__(self, name: str) -> NoReturn:
        """Explain why an attribute is missing; reached only for names that do not exist."""
        if not name.startswith("_") and hasattr(pin.Model, name):
            raise NotAvailableError(
                f"ClusterModel has no {name!r}: that attribute of pin.Model speaks of the spanning tree or changes it. "
                f"Read it from model.tree.{name}; to change a robot, change its pin.Model and make a new ClusterModel."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
