"""Build the ``World`` of a simulation from the arguments ``ground``, ``touching`` and ``limits``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import ArrayLike, vector
from ..._support.trees import common_ancestor, joint_in_q, joint_in_v
from ...errors import ArgumentTypeError, ModelError, SimulationError
from ...model import ClusterModel, check_model
from ...model.configuration import check
from .near import Stops, World
from .plane import Ground, number
from .points import NO_POINTS, ContactPoints, contact_points
from .shapes import touching_of

ON_GROUND = ("moreau", "events")
"""Methods of simulations with ground, shapes or limits."""
_ON, _TRIES, _LIGHT = 1e-9, 10, 1e-3
"""Tolerance of the height [m], maximum number of iterations, and mass fraction below which a body counts as light."""
_LIMITS = {False: (False, False), True: (True, True), "position": (True, False), "effort": (False, True)}


def world_of(model: ClusterModel, ground: Any, touching: Any, limits: Any, itself: Any) -> tuple[World | None, bool]:
    """Return the world (None without ground, shapes and limits), and whether torques are limited."""
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
        if effort:  # torque limits are part of the steps of a World; this World has no contacts
            return World(model, None, NO_POINTS, None, Stops(model, any_end=False)), True
        return None, False
    points, shapes = NO_POINTS, None
    if ground is not None or touching is not None or itself:
        points, shapes = _touching(model, ground, touching, bool(itself))
    stops = Stops(model, any_end=stopped)
    return World(model, ground, points, shapes, stops), effort


def _checked(ground: Any, caller: str) -> Ground:
    if not isinstance(ground, Ground):
        raise ArgumentTypeError(
            f"{caller}: ground must be a pc.Ground, got {type(ground).__name__}. Example: pc.Ground(friction=0.8)."
        )
    return ground


def _touching(model: ClusterModel, ground: Ground | None, touching: Any, itself: bool) -> Any:
    if touching is None:
        touching = model.collision
        if not touching.ngeoms:
            raise SimulationError(
                f"simulate: model {model.name!r} has no collision shapes (model.collision) that can touch the ground. "
                'Pass points by frame or joint: touching={"foot": [0.0, 0.0, 0.0]}.'
            )
    if isinstance(touching, pin.GeometryModel):
        return touching_of(model, touching, ground, itself)
    if itself:
        raise SimulationError(
            "simulate: self_collisions needs shapes. Pass a pin.GeometryModel as touching, or omit touching to use "
            "model.collision."
        )
    points = touching if isinstance(touching, ContactPoints) else contact_points(model, touching)
    if ground is None:
        raise SimulationError("simulate: contact points (touching) need a ground. Pass ground=pc.Ground(friction=0.8).")
    if not len(points):
        raise SimulationError("simulate: touching contains no points, so nothing can touch the ground.")
    joints = points.joints.tolist()
    if max(joints) >= model.njoints or points.names not in ((), tuple(model.names[j] for j in joints)):
        raise SimulationError(
            f"simulate: touching belongs to a model whose joints differ from those of {model.name!r}. Pass "
            "pc.contact_points(model, {...}) of this model, or the dict itself."
        )
    return points, None


def on_ground(
    model: ClusterModel, q: ArrayLike, ground: Ground | None = None, touching: Any = None, *, above: float = 0.0
) -> np.ndarray:
    """Move a configuration along the ground's normal until its lowest point is on the ground.

    The function translates the base (a free-flyer, or prismatic joints at the root of the tree). All other joints keep
    their positions.

    Args:
        model: Cluster model whose base can move along the normal.
        q: Configuration of the robot, shape (nq,), [rad] or [m].
        ground: The ground; by default ``pc.Ground()``.
        touching: As in ``pc.simulate``.
        above: Height of the lowest point above the ground, [m].

    Returns:
        The new configuration, shape (nq,).

    Raises:
        ModelError: The base cannot move along the normal, or not far enough within its position limits.
        SimulationError: No part of the robot can touch the ground, or ``above`` is not finite.
        ConfigurationError: q is not a valid configuration.
        ArgumentTypeError: A type is wrong.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("mit_humanoid")
        >>> q = pc.on_ground(model, pc.neutral(model), touching=["left_toe"], above=0.1)
        >>> pc.framesForwardKinematics(model, data := model.createData(), q)
        >>> bool(abs(data.oMf[model.getFrameId("left_toe", pin.FIXED_JOINT)].translation[2] - 0.1) < 1e-12)
        True
    """
    check_model(model, "on_ground")
    ground, above = Ground() if ground is None else _checked(ground, "on_ground"), number("on_ground: above", above)
    points, shapes = _touching(model, ground, touching, False)
    world = World(model, ground, points, shapes, Stops(model, any_end=False))
    grounded = start = vector(model, "q", q, model.nq, "nq (the whole tree)")
    check(model, start)
    normal = np.array(ground.normal)
    up = _upwards(model, world, start, normal)
    for _ in range(_TRIES):
        # If nothing is within range, move one of the bodies to the ground first.
        if not np.isfinite(low := world.lowest(model, grounded)):
            pin.forwardKinematics(model.own_tree, data := model.own_tree.createData(), grounded)
            low = data.oMi[world.bodies[0]].translation @ normal - ground.height
        # The tolerance grows with the coordinates, because their relative rounding error is 1e-16.
        if abs(low) <= _ON * max(1.0, 1e-5 * np.abs(grounded).max()):
            break
        grounded = pin.integrate(model.own_tree, grounded, -low * up)
    else:
        raise ModelError(
            f"on_ground: the lowest point of model {model.name!r} stays {low:.3g} m from the ground, because the base "
            f"does not carry all of {', '.join(world.names)}. Pass only points on bodies that the base carries: "
            "touching={...}."
        )
    lifted = pin.integrate(model.own_tree, grounded, above * up)
    beyond = (lifted < model.lowerPositionLimit) | (lifted > model.upperPositionLimit)
    for i in np.flatnonzero(beyond & (np.abs(lifted - grounded) + np.abs(grounded - start) > _ON)).tolist():
        j = joint_in_q(model.own_tree, i)
        if model.own_tree.nqs[j] == model.own_tree.nvs[j]:  # a free-flyer, which has nq > nv, has no limits
            raise ModelError(
                f"on_ground: prismatic joint {model.names[j]!r} of model {model.name!r} would be at {lifted[i]:.3g} m, "
                f"beyond its limits of {model.lowerPositionLimit[i]:.3g} to {model.upperPositionLimit[i]:.3g} m."
            )
    return lifted


def _upwards(model: ClusterModel, world: World, q: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Compute the tree velocity that moves each base along the normal at 1 m/s, shape (tree.nv,).

    Each base moves with the translational joints that are nearest to the root and whose axes span the normal. These
    joints must carry every body that can touch the ground or has more than a thousandth of the mass.
    """
    tree, G, data, step = model.own_tree, model.tables.topology.G, model.own_tree.createData(), np.zeros(model.nv)
    pin.computeJointJacobians(tree, data, q)
    looped = {j for x in model.tables.topology.analyses for j in x.joints}
    free = [joint_in_v(tree, i) not in looped for i in model.idx_v_independent.tolist()]
    mass = np.array([x.mass for x in tree.inertias])
    mass[[r.joint_id for r in model.rotors if r.joint_id]] = 0.0
    for root in {int(tree.supports[j][1]) for j in world.bodies}:
        branch = [j for j in range(1, tree.njoints) if tree.supports[j][1] == root]
        carried = [j for j in branch if j in world.bodies or mass[j] > _LIGHT * mass[branch].sum()]
        J = pin.getJointJacobian(tree, data, common_ancestor(tree, carried), pin.LOCAL_WORLD_ALIGNED)
        J = J.reshape(6, -1) @ G
        slides = np.flatnonzero(free & (np.abs(J[3:]) < 1e-12).all(axis=0) & J[:3].any(axis=0))
        for n in range(1, len(slides) + 1):
            d = np.linalg.lstsq(J[:3, slides[:n]], normal, rcond=None)[0]
            if np.abs(J[:3, slides[:n]] @ d - normal).max() < 1e-9:
                step[slides[:n]] += d
                break
    if not step.any():
        raise ModelError(
            f"on_ground: model {model.name!r} has no free-flyer and no prismatic joints at its root that move it along "
            f"the normal {normal.tolist()} of the ground. Use q unchanged, or load the robot with a floating base: "
            "root_joint=pin.JointModelFreeFlyer()."
        )
    return np.asarray(G @ step)
