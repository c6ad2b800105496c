"""Pinocchio's read-only attributes and look-ups on a cluster model."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import pinocchio as pin

from ..constraints.rows import model_name
from ..errors import ArgumentTypeError, NotAvailableError, UnknownNameError, did_you_mean

# sizes and indices of velocities count independent joints here, but dependent ones too in the tree
_ROUTES = {
    "nvs": "In the tree it is model.tree.nvs; a dependent joint has no place in v (see model.independent_joints).",
    "idx_vs": "The index in v of an independent joint is model.joint_idx_v(name); in the tree it is model.tree.idx_vs.",
    "rotorInertia": "No algorithm uses it, in Pinocchio neither; rotors are pc.Rotor constraints, see model.rotors.",
    "rotorGearRatio": "No algorithm uses it, in Pinocchio neither; rotors are pc.Rotor constraints, see model.rotors.",
}


def _text(name: Any) -> str:
    """Return a name.

    Raises:
        ArgumentTypeError: It is no text.
    """
    if not isinstance(name, str):
        raise ArgumentTypeError(f"a name must be text, got {name!r} ({type(name).__name__}).")
    return name


class TreeAttributes:
    """What a ``pin.Model`` offers to readers, with the same names.

    Attributes of size nq are those of the tree; those of size nv (``armature``, ``effortLimit``, ``velocityLimit``,
    ``friction``, ``damping``) are the independent joints' ones; all are read-only. The joints are the tree's, so
    ``joints[i].idx_v`` is an index in the tree's velocity: in v it is ``joint_idx_v(name)``. Look-ups of unknown names
    raise.
    """

    __slots__ = ()
    tree: pin.Model
    own_tree: pin.Model
    idx_v_independent: np.ndarray

    @property
    def njoints(self) -> int:
        """Number of joints of the tree, the universe included."""
        return int(self.own_tree.njoints)

    @property
    def nbodies(self) -> int:
        """Number of bodies of the tree."""
        return int(self.own_tree.nbodies)

    @property
    def nframes(self) -> int:
        """Number of frames of the tree."""
        return int(self.own_tree.nframes)

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
        return self._array("lowerPositionLimit")

    @property
    def upperPositionLimit(self) -> np.ndarray:
        """Upper limits of q, shape (nq,)."""
        return self._array("upperPositionLimit")

    @property
    def referenceConfigurations(self) -> Any:
        """Named configurations of the tree."""
        return self.tree.referenceConfigurations

    @property
    def armature(self) -> np.ndarray:
        """Armature of the independent joints, shape (nv,), [kg m^2] or [kg]."""
        return self._independent("armature")

    @property
    def effortLimit(self) -> np.ndarray:
        """Effort limits of the independent joints, shape (nv,)."""
        return self._independent("effortLimit")

    @property
    def velocityLimit(self) -> np.ndarray:
        """Velocity limits of the independent joints, shape (nv,)."""
        return self._independent("velocityLimit")

    @property
    def friction(self) -> np.ndarray:
        """Dry friction of the independent joints, shape (nv,); no algorithm uses it, as in Pinocchio."""
        return self._independent("friction")

    @property
    def damping(self) -> np.ndarray:
        """Damping of the independent joints, shape (nv,); no algorithm uses it, as in Pinocchio."""
        return self._independent("damping")

    @property
    def lowerEffortLimit(self) -> np.ndarray:
        """Lower effort limits of the independent joints, shape (nv,); of Pinocchio 4."""
        return self._independent("lowerEffortLimit")

    @property
    def upperEffortLimit(self) -> np.ndarray:
        """Upper effort limits of the independent joints, shape (nv,); of Pinocchio 4."""
        return self._independent("upperEffortLimit")

    @property
    def lowerVelocityLimit(self) -> np.ndarray:
        """Lower velocity limits of the independent joints, shape (nv,); of Pinocchio 4."""
        return self._independent("lowerVelocityLimit")

    @property
    def upperVelocityLimit(self) -> np.ndarray:
        """Upper velocity limits of the independent joints, shape (nv,); of Pinocchio 4."""
        return self._independent("upperVelocityLimit")

    def _array(self, name: str) -> np.ndarray:
        """Return a copy that cannot be written, lest somebody take it for the model's own."""
        values = np.array(getattr(self.own_tree, name))
        values.setflags(write=False)
        return values

    def _independent(self, name: str) -> np.ndarray:
        values = self._array(name)[self.idx_v_independent]
        values.setflags(write=False)
        return values

    def hasConfigurationLimit(self) -> Any:
        """Return for each entry of q whether its joint type can have limits."""
        return self.own_tree.hasConfigurationLimit()

    def existJointName(self, name: str) -> bool:
        """Return whether a joint has that name."""
        return bool(self.own_tree.existJointName(_text(name)))

    def existBodyName(self, name: str) -> bool:
        """Return whether a body frame has that name."""
        return bool(self.own_tree.existBodyName(_text(name)))

    def existFrame(self, name: str, *types: Any) -> bool:
        """Return whether a frame has that name (and type)."""
        return bool(self.own_tree.existFrame(_text(name), *types))

    def getJointId(self, name: str) -> int:
        """Return the id of a joint.

        Raises:
            UnknownNameError: No joint has that name (Pinocchio returns njoints instead).
            ArgumentTypeError: It is no text.
        """
        tree = self.own_tree
        if not tree.existJointName(_text(name)):
            raise UnknownNameError(f"no joint {name!r} in {model_name(tree)}." + did_you_mean(name, tree.names))
        return int(tree.getJointId(name))

    def getFrameId(self, name: str, *types: Any) -> int:
        """Return the id of a frame.

        Raises:
            UnknownNameError: No frame has that name (Pinocchio returns nframes instead).
            ArgumentTypeError: It is no text.
        """
        tree = self.own_tree
        if not tree.existFrame(_text(name), *types):
            same = [str(f.type) for f in tree.frames if f.name == name]
            if same:
                raise UnknownNameError(
                    f"frame {name!r} of model {tree.name!r} is a {', a '.join(same)}, not that type."
                )
            known = [f.name for f in tree.frames]
            raise UnknownNameError(f"no frame {name!r} in {model_name(tree)}." + did_you_mean(name, known))
        return int(tree.getFrameId(name, *types))

    def getBodyId(self, name: str) -> int:
        """Return the frame id of a body.

        Raises:
            UnknownNameError: No body has that name.
            ArgumentTypeError: It is no text.
        """
        tree = self.own_tree
        if not tree.existBodyName(_text(name)):
            known = [f.name for f in tree.frames if f.type == pin.FrameType.BODY]
            raise UnknownNameError(f"no body {name!r} in {model_name(tree)}." + did_you_mean(name, known))
        return int(tree.getBodyId(name))

    def __getattr__(self, name: str) -> NoReturn:
        """Explain why an attribute is missing; reached only for names that do not exist."""
        if not name.startswith("_") and hasattr(pin.Model, name):
            cure = _ROUTES.get(name, f"If it is the tree's that you mean, it is model.tree.{name}.")
            if name.startswith(("add", "append", "load")):
                cure = "A ClusterModel is immutable: change the pin.Model and make a new ClusterModel."
            raise NotAvailableError(f"ClusterModel has no {name!r} (pin.Model has). {cure}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
