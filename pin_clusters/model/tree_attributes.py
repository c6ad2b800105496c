"""Provides the attributes of ``pin.Model`` (read-only) and its name look-ups for a cluster model."""

from operator import attrgetter
from typing import Any, NoReturn

import numpy as np
import pinocchio as pin

from ..constraints.rows import model_name
from ..errors import ArgumentTypeError, NotAvailableError, UnknownNameError, did_you_mean, shown
from .fixed import FixedFrame, FixedInertia, FixedList, FixedPlacement

# Alternatives to attributes of pin.Model that a ClusterModel does not have.
_ROUTES = {
    "nvs": "For the tree, use model.tree.nvs; a dependent joint has no entry in v (see model.independent_joints).",
    "idx_vs": "Use model.joint_idx_v(name) for the index in v, or model.tree.idx_vs for the tree's velocity.",
    "rotorInertia": "No algorithm uses it, as in Pinocchio; rotors are pc.Rotor constraints, see model.rotors.",
    "rotorGearRatio": "No algorithm uses it, as in Pinocchio; rotors are pc.Rotor constraints, see model.rotors.",
}


def _text(name: Any) -> str:
    if not isinstance(name, str):
        raise ArgumentTypeError(f"a name must be text, got {shown(name)} ({type(name).__name__}).")
    return name


def instead_of_setting(kind: type, name: str) -> str:
    if name == "gravity":
        return "Use model.with_gravity(g)."
    if hasattr(kind, name) or hasattr(pin.Model, name):
        return "Create a new ClusterModel."
    return (
        "Code that stores its own attributes on a pin.Model, such as pink.Configuration, needs model.tree. The tree "
        "has the same q; for a velocity v of the tree, v[model.idx_v_independent] is the velocity of the ClusterModel."
    )


def forwarded(path: str, doc: str) -> Any:
    return property(attrgetter(path), doc=doc)


def _fixed(name: str, kind: Any, doc: str) -> Any:
    return property(lambda model: FixedList(getattr(model.own_tree, name), kind, kind.cure), doc=doc)


def _array(name: str, doc: str, at: str | None = None) -> Any:
    """Return a property that returns a read-only copy, so that users cannot change the model's array.

    ``at`` is the name of the attribute that contains the indices of the copied entries; None copies all entries.
    """

    def get(model: "TreeAttributes") -> np.ndarray:
        values = np.array(getattr(model.own_tree, name))[... if at is None else getattr(model, at)]
        values.setflags(write=False)
        return values

    return property(get, doc=doc)


def _undivided(name: str, doc: str) -> Any:
    """Return a property for a list of velocity indices or sizes, which exists only if no joint is dependent."""

    def get(model: "TreeAttributes") -> Any:
        if len(model.idx_v_independent) < model.own_tree.nv:
            raise AttributeError(name)  # __getattr__ then suggests an alternative.
        return getattr(model.tree, name)

    return property(get, doc=doc)


def _independent(name: str, what: str, more: str = "") -> Any:
    return _array(name, f"{what} of the independent joints, shape (nv,){more}.", "idx_v_independent")


class TreeAttributes:
    """Read-only attributes with the same names as in ``pin.Model``.

    Attributes of size nq equal the tree's. Attributes of size nv (``armature``, ``effortLimit``, ``velocityLimit``,
    ``friction``, ``damping``) have one entry per independent velocity. ``joints`` are the joints of the tree, so
    ``joints[i].idx_v`` is an index in the tree's velocity; the index in v is ``joint_idx_v(name)``. Methods such as
    ``getJointId`` raise an exception for unknown names.
    """

    __slots__ = ()
    tree: pin.Model
    own_tree: pin.Model
    idx_v_independent: np.ndarray

    njoints: int = forwarded("own_tree.njoints", "Number of joints of the tree, the universe included.")
    nbodies: int = forwarded("own_tree.nbodies", "Number of bodies of the tree.")
    nframes: int = forwarded("own_tree.nframes", "Number of frames of the tree.")
    names = forwarded("tree.names", 'Names of the joints, ``"universe"`` first.')
    frames = _fixed("frames", FixedFrame, "Frames of the tree.")
    joints = forwarded("tree.joints", "Joint models of the tree.")
    parents = forwarded("tree.parents", "Parent joint of each joint.")
    children = forwarded("tree.children", "Child joints of each joint.")
    supports = forwarded("tree.supports", "Joints from the universe to each joint.")
    subtrees = forwarded("tree.subtrees", "Joints of the subtree of each joint.")
    inertias = _fixed(
        "inertias", FixedInertia, "Inertias of the bodies as given, without lumped rotors, [kg], [m] and [kg m^2]."
    )
    jointPlacements = _fixed("jointPlacements", FixedPlacement, "Placement of each joint in its parent's frame.")
    idx_qs = forwarded("tree.idx_qs", "First index in q of each joint.")
    nqs = forwarded("tree.nqs", "Size in q of each joint.")
    idx_vs = _undivided("idx_vs", "First index in v of each joint; only for models without dependent joints.")
    nvs = _undivided("nvs", "Size in v of each joint; only for models without dependent joints.")
    lowerPositionLimit: np.ndarray = _array("lowerPositionLimit", "Lower limits of q, shape (nq,), [rad] or [m].")
    upperPositionLimit: np.ndarray = _array("upperPositionLimit", "Upper limits of q, shape (nq,), [rad] or [m].")
    referenceConfigurations = forwarded("tree.referenceConfigurations", "Named configurations of the tree.")
    armature: np.ndarray = _independent("armature", "Armature", ", [kg m^2] or [kg]")
    effortLimit: np.ndarray = _independent("effortLimit", "Effort limits", ", [N m] or [N]")
    velocityLimit: np.ndarray = _independent("velocityLimit", "Velocity limits", ", [rad/s] or [m/s]")
    friction: np.ndarray = _independent("friction", "Dry friction", "; no algorithm uses it, as in Pinocchio")
    damping: np.ndarray = _independent("damping", "Damping", "; no algorithm uses it, as in Pinocchio")
    lowerEffortLimit: np.ndarray = _independent("lowerEffortLimit", "Lower effort limits", "; of Pinocchio 4")
    upperEffortLimit: np.ndarray = _independent("upperEffortLimit", "Upper effort limits", "; of Pinocchio 4")
    lowerVelocityLimit: np.ndarray = _independent("lowerVelocityLimit", "Lower velocity limits", "; of Pinocchio 4")
    upperVelocityLimit: np.ndarray = _independent("upperVelocityLimit", "Upper velocity limits", "; of Pinocchio 4")

    def hasConfigurationLimit(self) -> Any:
        """Return for each entry of q whether its joint type can have limits."""
        return self.own_tree.hasConfigurationLimit()

    def existJointName(self, name: str) -> bool:
        """Return whether the model has a joint with this name."""
        return self.own_tree.existJointName(_text(name))

    def existBodyName(self, name: str) -> bool:
        """Return whether the model has a body with this name."""
        return self.own_tree.existBodyName(_text(name))

    def existFrame(self, name: str, *types: Any) -> bool:
        """Return whether the model has a frame with this name, and with the given type if ``types`` is passed."""
        return self.own_tree.existFrame(_text(name), *types)

    def getJointId(self, name: str) -> int:
        """Return the id of a joint.

        Raises:
            UnknownNameError: No joint has this name (Pinocchio returns njoints instead).
            ArgumentTypeError: The name is not text.
        """
        tree = self.own_tree
        if not tree.existJointName(_text(name)):
            raise UnknownNameError(f"no joint {name!r} in {model_name(tree)}." + did_you_mean(name, tree.names))
        return tree.getJointId(name)

    def getFrameId(self, name: str, *types: Any) -> int:
        """Return the id of a frame.

        Raises:
            UnknownNameError: No frame has this name and type (Pinocchio returns nframes instead).
            ArgumentTypeError: The name is not text.
        """
        tree = self.own_tree
        if not tree.existFrame(_text(name), *types):
            types_of_name = [str(f.type) for f in tree.frames if f.name == name]
            if types_of_name:
                raise UnknownNameError(
                    f"frame {name!r} of model {tree.name!r} has type {', '.join(types_of_name)}, not the type given."
                )
            frame_names = [f.name for f in tree.frames]
            raise UnknownNameError(f"no frame {name!r} in {model_name(tree)}." + did_you_mean(name, frame_names))
        return tree.getFrameId(name, *types)

    def getBodyId(self, name: str) -> int:
        """Return the frame id of a body.

        Raises:
            UnknownNameError: No body has this name.
            ArgumentTypeError: The name is not text.
        """
        tree = self.own_tree
        if not tree.existBodyName(_text(name)):
            body_names = [f.name for f in tree.frames if f.type == pin.FrameType.BODY]
            raise UnknownNameError(f"no body {name!r} in {model_name(tree)}." + did_you_mean(name, body_names))
        return tree.getBodyId(name)

    def __getattr__(self, name: str) -> NoReturn:
        if not name.startswith("_") and hasattr(pin.Model, name):
            cure = _ROUTES.get(name, f"For the tree, use model.tree.{name}.")
            if name == "addFrame":
                cure = "Use model.with_frames({name: (joint, placement)}), which returns a new model."
            elif name == "addJoint":
                cure = "Use model.with_joint(name, joint, parent=...), which returns a new model."
            elif name.startswith(("saveTo", "loadFrom")):
                cure = "Such a file has no rotors, couplings and loops. Use pickle, pc.to_urdf or pc.to_mjcf."
            elif name.startswith(("add", "append", "load")):
                cure = "A ClusterModel is immutable: change the pin.Model and create a new ClusterModel."
            raise NotAvailableError(f"ClusterModel has no {name!r}, unlike pin.Model. {cure}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
