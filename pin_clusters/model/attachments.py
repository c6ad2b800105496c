"""Defines the parts of a model that do not affect its motion: collision shapes and additional frames."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Self

import pinocchio as pin

from .._support.trees import placement_defect
from ..constraints._frames import frame_of, resolve_frame, short
from ..errors import ArgumentTypeError, ModelError, UnknownNameError
from .packing import pack_tree
from .parts import ModelParts
from .trees import inertia_tree_of


class Attachments(ModelParts):
    """The collision shapes and additional frames of a ``ClusterModel``."""

    __slots__ = ()

    @property
    def collision(self) -> pin.GeometryModel:
        """Copy of the collision shapes, a ``pin.GeometryModel`` for ``tree``; it is empty if the model has no shapes.

        ``pin.updateGeometryPlacements(model.tree, data.tree, geometry, geometry.createData())`` computes their poses.
        Collision pairs are copied from the original geometry; ``geometry.addAllCollisionPairs()`` adds all pairs.
        """
        return self._collision.clone()

    def with_frames(self, frames: Mapping[str, Any]) -> Self:
        """Return the same robot with additional frames, such as feet.

        The new frames do not change any results. The original model and the new model share their compiled code.

        Args:
            frames: Maps the name of each new frame to its location: the name of a joint, body or frame, or a pair
                ``(name, placement)``. The placement is relative to the named joint, body or frame. It is a ``pin.SE3``,
                a 4x4 matrix, or a point, shape (3,), [m].

        Returns:
            A new model.

        Raises:
            ArgumentTypeError: ``frames`` is not a mapping, or a name is not a string.
            ModelError: A name is already used.
            UnknownNameError: A location refers to an unknown joint, body or frame.
            ConstraintError: A placement is not a rigid transform, or a point does not have three numbers.

        Example:
            >>> import pin_clusters as pc
            >>> model = pc.load("mit_humanoid").with_frames({"left_tip": ("left_ankle", [0.1, 0.0, -0.041])})
            >>> model.frames[model.getFrameId("left_tip")].parentJoint == model.getJointId("left_ankle")
            True
        """
        tree = _with_frames(self.own_tree, frames)
        lumped = inertia_tree_of(tree, self.rotors, self.closures)
        packed = pack_tree(tree, lumped, self.tables.topology, self.rotors)
        tables = dataclasses.replace(self.tables, tree=packed)
        other = self._but(tree=tree, own_tree=tree.copy(), inertia_tree=lumped, tables=tables)
        recipe = self._recipe()
        restored: Self = other if recipe is None else recipe.restore(other)
        return restored


def checked_collision(tree: pin.Model, given: Any) -> pin.GeometryModel:
    """Return a copy of the user's geometry (empty for None); raise an error if the geometry does not fit the tree."""
    if given is None:
        return pin.GeometryModel()
    if not isinstance(given, pin.GeometryModel):
        raise ArgumentTypeError(
            f"ClusterModel: collision must be a pinocchio.GeometryModel or None, got {type(given).__name__}."
        )
    for shape in given.geometryObjects:
        item, j, k = f"ClusterModel: collision shape {shape.name!r}", int(shape.parentJoint), int(shape.parentFrame)
        cure = "Create the geometry from this tree, for example by pinocchio.buildGeomFromUrdf(tree, ...)."
        if not j < tree.njoints:
            raise UnknownNameError(f"{item} is on joint {j}, but the tree has joints 0 to {tree.njoints - 1}. {cure}")
        if not k < tree.nframes:
            raise UnknownNameError(f"{item} is on frame {k}, but the tree has frames 0 to {tree.nframes - 1}. {cure}")
        if tree.frames[k].parentJoint != j:
            raise ModelError(
                f"{item} is on joint {tree.names[j]!r}, but its frame {tree.frames[k].name!r} is on joint "
                f"{tree.names[tree.frames[k].parentJoint]!r}. {cure}"
            )
        if defect := placement_defect(shape.placement):
            raise ModelError(f"{item}: its placement {defect}")
    return given.clone()


def _with_frames(tree: pin.Model, frames: Any) -> pin.Model:
    caller = "with_frames"
    if not isinstance(frames, Mapping):
        raise ArgumentTypeError(
            f"{caller}: frames must map names to locations, such as {{'foot': ('knee', [0, 0, -0.2])}}, "
            f"got {type(frames).__name__}."
        )
    new = tree.copy()
    for name, where in frames.items():
        if not isinstance(name, str) or not name:
            raise ArgumentTypeError(f"{caller}: the name of a frame must be text, got {name!r}.")
        if new.existFrame(name) or new.existJointName(name):
            raise ModelError(f"{caller}: the model already has a frame {name!r}. Choose another name.")
        location = frame_of(where, f"frame {name!r}", caller)
        j, M = resolve_frame(new, location, caller)
        above = next((k for k, f in enumerate(new.frames) if f.name == short(location) and f.parentJoint == j), 0)
        new.addFrame(pin.Frame(name, j, above, M, pin.FrameType.OP_FRAME), False)
    return new
