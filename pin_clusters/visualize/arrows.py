"""Draws forces as arrows in the scene."""

from dataclasses import dataclass
from typing import Any

import meshcat.geometry as mg
import numpy as np
import pinocchio as pin

from .._support.arrays import array
from ..algorithms.contacts.constraint_forces import LoopWrench, RodForce, constraint_forces
from ..constraints.closures import FrameClosure
from ..errors import ArgumentTypeError, ShapeError
from ..model import ClusterModel
from . import meshes, palette
from .rotors import name_of_node
from .skeleton import ends_of


@dataclass(frozen=True, eq=False)
class Arrow:
    """A force that is drawn as an arrow.

    Attributes:
        name: Name of the node in the scene.
        point: Point of application in the world, shape (3,), [m].
        force: Force in the world, shape (3,), [N].
        color: Colour such as ``"#d55e00"``.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> pc.visualize.Arrow("push", np.zeros(3), np.array([0.0, 0.0, 10.0]), "#009e73").name
        'push'
    """

    name: str
    point: np.ndarray
    force: np.ndarray
    color: str


def of_constraints(
    model: ClusterModel, data: Any, q: Any, v: Any, tau_tree: Any, fext: Any = None, *, bearings: bool = False
) -> list[Arrow]:
    """Return arrows for forces of loops and rods, external forces and (if ``bearings``) joint forces, without moments.

    The arrow of a loop is the force of body a on body b; the arrow of a joint is the force of the parent on the child.
    A rod has an arrow at each end: the rod's force on the body. External forces act at the origins of joint frames.
    """
    forces = constraint_forces(model, data, q, v, tau_tree, fext)
    poses = data.tree.oMi
    arrows: list[Arrow] = []
    for i, (c, force) in enumerate(zip(model.closures, forces.loops, strict=True)):
        name = f"{i}_{name_of_node(c.source.label)}"
        ends = [poses[body].act(point) for body, point in ends_of(c)]
        if isinstance(force, LoopWrench) and isinstance(c, FrameClosure):
            turned = poses[c.joint_a].rotation @ c.placement_a.rotation @ force.wrench[:3]
            arrows.append(Arrow(name, ends[1], turned, palette.FORCE))
        elif isinstance(force, RodForce):
            arrows.append(Arrow(f"{name}:a", ends[0], force.force_a, palette.FORCE))
            arrows.append(Arrow(f"{name}:b", ends[1], force.force_b, palette.FORCE))
    for j in range(1, model.njoints):
        name, M = name_of_node(model.names[j]), poses[j]
        if bearings:
            arrows.append(Arrow(f"joint:{name}", M.translation, M.rotation @ forces.joints[j, :3], palette.FORCE))
        if fext is not None:
            linear = fext[j].linear if isinstance(fext[j], pin.Force) else np.asarray(fext[j], dtype=float)[:3]
            if np.any(linear):
                arrows.append(Arrow(f"external:{name}", M.translation, M.rotation @ linear, palette.CONTACT))
    return arrows


def shape(unit: float, color: str) -> tuple[Any, Any]:
    mesh = meshes.arrow(0.03 * unit, color)
    # Without a depth test, the arrow is visible inside the body at which it begins.
    material = mg.MeshPhongMaterial(color=palette.number(color), depthTest=False, transparent=True)
    return mg.TriangularMeshGeometry(mesh.vertices, mesh.faces), material


def checked(name: Any, point: Any, force: Any, color: Any) -> Arrow:
    if not isinstance(name, str) or not isinstance(color, str):
        raise ArgumentTypeError(f"an arrow needs a name and a colour such as '#d55e00', got {name!r} and {color!r}.")
    values = {}
    for field, value in (("point", point), ("force", force)):
        values[field] = x = np.array(array(field, value))
        if x.shape != (3,):
            raise ShapeError(f"{field} of the arrow {name!r} has shape {x.shape}, expected (3,), in the world.")
    return Arrow(name, **values, color=color)
