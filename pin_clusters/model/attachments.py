"""What hangs on a tree and changes no motion of it: collision shapes, and frames that are added afterwards."""

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
    """What a ``ClusterModel`` has on its bodies."""

    __slots__ = ()

    @property
    def collision(self) -> pin.GeometryModel:
        """A copy of the collision shapes, whose joints and frames are those of ``tree``; empty if there are none.

        ``pin.updateGeometryPlacements(model.tree, data.tree, geometry, geometry.createData())`` places them. There are
        no pairs unless the geometry that was given had some: ``geometry.addAllCollisionPairs()``.
        """
        return self._collision.clone()

    def with_frames(self, frames: Mapping[str, Any]) -> Self:
        """Return the same robot with further frames, such as feet; everything else is as it was.

        Independent joints, branches of loops and results are those of this model; what was compiled serves both.

        Args:
            frames: By name, where each is: the name of a joint, body or frame, or a pair of that name and a placement
                in it, a ``pin.SE3``, a 4x4 matrix or a point of three numbers, [m].

        Raises:
            ArgumentTypeError: ``frames`` is no mapping, or a name no text.
            ModelError: A name is taken.
            UnknownNameError: Nothing has the name where a frame shall be.
            ConstraintError: A place is none.

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
    """Return a copy of a user's geometry of a tree; an empty one of None.

    Raises:
        ArgumentTypeError: It is no ``pin.GeometryModel``.
        UnknownNameError: A shape is on a joint or frame that the tree does not have.
        ModelError: Its frame is on another joint, or its placement is none.
    """
    if given is None:
        return pin.GeometryModel()
    if not isinstance(given, pin.GeometryModel):
        raise ArgumentTypeError(
            f"ClusterModel: collision must be a pinocchio.GeometryModel or None, got {type(given).__name__}."
        )
    for shape in given.geometryObjects:
        who, j, k = f"ClusterModel: collision shape {shape.name!r}", int(shape.parentJoint), int(shape.parentFrame)
        cure = "Make the geometry from the tree itself, as pinocchio.buildGeomFromUrdf(tree, ...) does."
        if not j < tree.njoints:
            raise UnknownNameError(f"{who} is on joint {j}; the tree has the joints 0 to {tree.njoints - 1}. {cure}")
        if not k < tree.nframes:
            raise UnknownNameError(f"{who} is on frame {k}; the tree has the frames 0 to {tree.nframes - 1}. {cure}")
        if tree.frames[k].parentJoint != j:
            raise ModelError(
                f"{who} is on joint {tree.names[j]!r}, but its frame {tree.frames[k].name!r} is on joint "
                f"{tree.names[tree.frames[k].parentJoint]!r}. {cure}"
            )
        if defect := placement_defect(shape.placement):
            raise ModelError(f"{who}: its placement {defect}")
    return given.clone()


def _with_frames(tree: pin.Model, frames: Any) -> pin.Model:
    """Return a copy of a tree with further frames; see ``Attachments.with_frames``."""
    who = "with_frames"
    if not isinstance(frames, Mapping):
        raise ArgumentTypeError(
            f"{who}: frames must map names to places, such as {{'foot': ('knee', [0, 0, -0.2])}}, "
            f"got {type(frames).__name__}."
        )
    new = tree.copy()
    for name, where in frames.items():
        if not isinstance(name, str) or not name:
            raise ArgumentTypeError(f"{who}: the name of a frame must be text, got {name!r}.")
        if new.existFrame(name) or new.existJointName(name):
            raise ModelError(f"{who}: the model has a frame {name!r} already. Choose another name.")
        place = frame_of(where, f"frame {name!r}", who)
        j, M = resolve_frame(new, place, who)
        above = next((k for k, f in enumerate(new.frames) if f.name == short(place) and f.parentJoint == j), 0)
        new.addFrame(pin.Frame(name, j, above, M, pin.FrameType.OP_FRAME), False)
    return new
