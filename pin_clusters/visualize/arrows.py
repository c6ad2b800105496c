"""Forces as arrows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import meshcat.geometry as mg
import numpy as np
import pinocchio as pin

from ..algorithms.constraint_forces import LoopWrench, RodForce, constraint_forces
from ..arrays import array
from ..constraints.closures import FrameClosure, RodClosure
from ..errors import ArgumentTypeError, ShapeError
from ..model import ClusterModel
from . import meshes, palette
from .rotors import name_of_node


@dataclass(frozen=True, eq=False)
class Arrow:
    """A force in the world.

    Attributes:
        name: Of its node.
        point: Where it acts, shape (3,), [m].
        force: Shape (3,), [N].
        color: Like ``"#d55e00"``.
    """

    name: str
    point: np.ndarray
    force: np.ndarray
    color: str


def of_constraints(
    model: ClusterModel, data: Any, q: Any, v: Any, tau_tree: Any, fext: Any = None, *, bearings: bool = False
) -> list[Arrow]:
    """Return the forces of loops and rods, and of joints if asked, at one state; external forces too.

    A loop's arrow is the force of body a on body b, a rod's are its forces on the bodies of its ends, a joint's is the
    force of the parent on the child, an external one acts at the origin of its joint frame. Moments are not drawn.

    Args:
        model: The robot.
        data: Its workspace.
        q: Configuration of the whole tree, shape (nq,).
        v: Independent velocity, shape (nv,), [rad/s] or [m/s].
        tau_tree: Torques on every joint of the tree, shape (tree.nv,), [N m] or [N].
        fext: External forces in joint frames, as in ``pc.aba``.
        bearings: Whether joints get arrows.

    Raises:
        PinClustersError: As ``pc.constraint_forces``.
    """
    found = constraint_forces(model, data, q, v, tau_tree, fext)
    poses = data.tree.oMi
    arrows: list[Arrow] = []
    for i, (c, force) in enumerate(zip(model.closures, found.loops, strict=True)):
        name = f"{i}_{name_of_node(c.source.label)}"
        if isinstance(force, LoopWrench) and isinstance(c, FrameClosure):
            turned = poses[c.joint_a].rotation @ c.placement_a.rotation @ force.wrench[:3]
            arrows.append(Arrow(name, poses[c.joint_b].act(c.placement_b.translation), turned, palette.FORCE))
        elif isinstance(force, RodForce) and isinstance(c, RodClosure):
            arrows.append(Arrow(f"{name}:a", poses[c.joint_a].act(c.point_a), force.force_a, palette.FORCE))
            arrows.append(Arrow(f"{name}:b", poses[c.joint_b].act(c.point_b), force.force_b, palette.FORCE))
    for j in range(1, model.njoints):
        name, M = name_of_node(model.names[j]), poses[j]
        if bearings:
            arrows.append(Arrow(f"joint:{name}", M.translation, M.rotation @ found.joints[j, :3], palette.FORCE))
        if fext is not None:
            linear = fext[j].linear if isinstance(fext[j], pin.Force) else np.asarray(fext[j], dtype=float)[:3]
            if np.any(linear):
                arrows.append(Arrow(f"external:{name}", M.translation, M.rotation @ linear, palette.CONTACT))
    return arrows


def scale(model: ClusterModel, arrows: Iterable[Arrow], size: float) -> float:
    """Return the length of an arrow per force, [m/N], such that the largest is a third as long as the robot.

    Args:
        model: The robot; a millionth of its weight and less is rounding and no force.
        arrows: All that are drawn at this scale.
        size: Of the robot, [m].
    """
    tree = model.inertia_tree
    weight = sum(float(I.mass) for I in tree.inertias) * float(np.linalg.norm(tree.gravity.linear))
    largest = max([1e-6 * weight, *(float(np.linalg.norm(a.force)) for a in arrows)])
    return size / (3.0 * largest) if largest > 0.0 else 1.0


def shape(unit: float, color: str) -> tuple[Any, Any]:
    """Return geometry and material of an arrow."""
    mesh = meshes.arrow(0.03 * unit, color)
    # not hidden by the bodies in which it begins
    material = mg.MeshPhongMaterial(color=palette.number(color), depthTest=False, transparent=True)
    return mg.TriangularMeshGeometry(mesh.vertices, mesh.faces), material


def checked(name: Any, point: Any, force: Any, color: Any) -> Arrow:
    """Return an arrow of the user's.

    Raises:
        ArgumentTypeError: The name or the colour is not text.
        ShapeError: Point or force is not three numbers.
    """
    if not isinstance(name, str) or not isinstance(color, str):
        raise ArgumentTypeError(f"an arrow has a name and a colour like '#d55e00', got {name!r} and {color!r}.")
    values = {}
    for what, given in (("point", point), ("force", force)):
        values[what] = x = np.array(array(what, given))
        if x.shape != (3,):
            raise ShapeError(f"{what} of the arrow {name!r} has shape {x.shape}, expected (3,), in the world.")
    return Arrow(name, **values, color=color)
