"""From what the user gives as ground, touching and limits to what a simulation looks at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import vector
from ...errors import ArgumentTypeError, ModelError, SimulationError
from ...model import ClusterModel, check_model
from .near import World
from .plane import Ground
from .points import NOTHING, ContactPoints, contact_points
from .shapes import touching_of
from .stops import Stops

ON_GROUND = ("moreau", "events")
"""Names of the methods for robots on a ground."""
_LIMITS = {False: (False, False), True: (True, True), "position": (True, False), "effort": (False, True)}


def world_of(model: ClusterModel, ground: Any, touching: Any, limits: Any, itself: Any) -> tuple[World | None, bool]:
    """Return what a simulation looks at, None if nothing; and whether limits of torques are kept.

    Raises:
        SimulationError: Nothing could touch, or an argument is not allowed.
        ArgumentTypeError: A type is wrong.
    """
    if isinstance(limits, np.bool_):
        limits = bool(limits)
    if not isinstance(limits, (bool, str)) or limits not in _LIMITS:
        raise ArgumentTypeError(f'simulate: limits must be True, False, "position" or "effort", got {limits!r}.')
    if not isinstance(itself, (bool, np.bool_)):
        raise ArgumentTypeError(f"simulate: self_collisions must be True or False, got {itself!r}.")
    if ground is not None:
        _checked(ground, "simulate")
    stopped, effort = _LIMITS[limits]
    if ground is None and touching is None and not itself and not stopped:
        if effort:  # limits of torques alone: no impulses, but the same steps
            return World(model, None, NOTHING, None, Stops(model, any_end=False)), True
        return None, False
    points, shapes = NOTHING, None
    if ground is not None or touching is not None or itself:
        points, shapes = _touching(model, ground, touching, bool(itself))
    stops = Stops(model, any_end=stopped)
    return World(model, ground, points, shapes, stops), effort


def _checked(ground: Any, caller: str) -> Ground:
    if not isinstance(ground, Ground):
        raise ArgumentTypeError(
            f"{caller}: ground must be a pc.Ground, got {type(ground).__name__}. Make one: pc.Ground(friction=0.8)."
        )
    return ground


def _touching(model: ClusterModel, ground: Ground | None, touching: Any, itself: bool) -> Any:
    if touching is None:
        touching = model.collision
        if not touching.ngeoms:
            raise SimulationError(
                f"simulate: nothing of model {model.name!r} can touch: it has no collision shapes (model.collision). "
                'Name points: touching={"foot": [0.0, 0.0, 0.0]}, by frame or joint.'
            )
    if isinstance(touching, pin.GeometryModel):
        return touching_of(model, touching, ground, itself)
    if itself:
        raise SimulationError(
            "simulate: self_collisions needs shapes: touching must be a pin.GeometryModel, or left out for "
            "model.collision."
        )
    points = touching if isinstance(touching, ContactPoints) else contact_points(model, touching)
    if ground is None:
        raise SimulationError("simulate: points touch nothing without a ground: ground=pc.Ground(friction=0.8).")
    if not len(points):
        raise SimulationError("simulate: touching names no point, so nothing could touch the ground.")
    joints = points.joints.tolist()
    if max(joints) >= model.njoints or points.names not in ((), tuple(model.names[j] for j in joints)):
        raise SimulationError(
            f"simulate: touching was made for another model than {model.name!r}: its joints are others. Pass "
            "pc.contact_points(model, {...}) of this one, or the dict itself."
        )
    return points, None


def on_ground(
    model: ClusterModel, q: Any, ground: Ground | None = None, touching: Any = None, *, above: float = 0.0
) -> np.ndarray:
    """Return a configuration, lifted or lowered along the ground's normal until its lowest point is on it.

    Args:
        model: Cluster model with a free-flyer.
        q: Configuration, shape (nq,).
        ground: By default ``pc.Ground()``.
        touching: As in ``pc.simulate``.
        above: How far above the ground, [m].

    Returns:
        Shape (nq,), a fresh array.

    Raises:
        ModelError: The robot has no free-flyer.
        SimulationError: Nothing could touch.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("mit_humanoid")
        >>> q = pc.on_ground(model, pc.neutral(model), touching=["left_toe"], above=0.1)
        >>> pc.framesForwardKinematics(model, data := model.createData(), q)
        >>> bool(abs(data.oMf[model.getFrameId("left_toe", pin.FIXED_JOINT)].translation[2] - 0.1) < 1e-12)
        True
    """
    check_model(model, "on_ground")
    ground = Ground() if ground is None else _checked(ground, "on_ground")
    points, shapes = _touching(model, ground, touching, False)
    world = World(model, ground, points, shapes, Stops(model, any_end=False))
    tree = model.own_tree
    base = next((j for j in range(1, tree.njoints) if tree.joints[j].shortname() == "JointModelFreeFlyer"), None)
    if base is None or tree.parents[base]:
        raise ModelError(f"on_ground: model {model.name!r} has no free-flyer, so it stands where it is.")
    found = vector(model, "q", q, model.nq, "nq (the whole tree)").copy()
    i = tree.joints[base].idx_q
    up = tree.jointPlacements[base].rotation.T @ np.array(ground.normal)
    found[i : i + 3] += (above - world.lowest(model, found)) * up
    return found
