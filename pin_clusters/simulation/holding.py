"""PD controller that holds a pose, with gains computed from the robot's masses and lengths."""

from typing import Any

import numpy as np
import pinocchio as pin

from .._support.trees import slides
from ..algorithms.dynamics.coupling import coupling_jacobian
from ..algorithms.dynamics.minverse import computeMinverse
from ..algorithms.dynamics.rnea import computeGeneralizedGravity
from ..constraints.spring import Spring
from ..errors import SimulationError
from ..model import ClusterModel
from ..model.configuration import difference
from ._coordinates import Coordinates
from .ground.plane import Ground, number
from .ground.world import world_of

STIFFNESS = 5.0
"""Default kp / (weight of the robot * distance between the joint and the centre of mass), [1/rad]."""
DELAY = 0.04
"""Default ratio kd / kp, [s]."""
_QUICKEST, _DAMPED = 0.2, 0.3
"""Largest natural angular frequency of a joint times dt, and largest fraction of the speed that one step may damp."""


class Hold:
    """Torque function for ``pc.simulate``: ``tau = tau0 + kp (home - q) - kd v`` for the driven independent joints.

    Joints with several degrees of freedom, such as a floating base, and joints with springs are not driven.

    tau0 compensates gravity at ``home``, unless kp is 0. If the robot stands on the ground, contact forces of minimum
    norm support it in this calculation. The default kp of a joint is five times the robot's weight times the distance
    between the joint and the centre of mass. The default kp of a slider is five times the weight divided by the robot's
    size. With these gains, a standing robot does not topple. The gain of each dependent joint is multiplied by the
    square of its velocity ratio and added to the gain of the independent joint. The default kd is 0.04 s times kp. Both
    default gains are limited so that the simulation of light joints is stable with the time step ``dt``.

    Args:
        model: The robot.
        home: Configuration to be held, shape (nq,).
        dt: Time step, [s].
        ground: The ground on which the robot stands at ``home``, or None.
        touching: As in ``pc.simulate``.
        kp: Stiffness of all driven joints, [N m/rad] or [N/m].
        kd: Damping of all driven joints, [N m s/rad] or [N s/m].

    Attributes:
        tau0: Constant torque, shape (nv,), [N m] or [N].
        kp: Stiffness, shape (nv,), zero for joints that are not driven, [N m/rad] or [N/m].
        kd: Damping, shape (nv,), [N m s/rad] or [N s/m].

    Raises:
        SimulationError: A gain is negative or not finite, or the robot has no parts that can touch the ground.
    """

    def __init__(
        self,
        model: ClusterModel,
        home: np.ndarray,
        dt: float,
        ground: Ground | None = None,
        touching: Any = None,
        kp: float | None = None,
        kd: float | None = None,
    ) -> None:
        tree, data = model.own_tree, model.createData()
        self.model, self.home = model, np.array(home)
        for name, gain in (("kp", kp), ("kd", kd)):
            if gain is not None and number(name, gain) < 0.0:
                raise SimulationError(f"{name} = {gain:g} is negative, which would drive the robot away from the pose.")
        single = {n: model.joint_idx_v(n) for n in model.independent_joints if tree.joints[tree.getJointId(n)].nv == 1}
        driven = np.isin(np.arange(model.nv), [single[n] for n in joints_without_springs(model)])
        # This is the inertia of each joint if all other joints can move freely.
        free_inertia = 1.0 / np.diag(computeMinverse(model, data, self.home))
        stiff = np.minimum(_stiffness(model, self.home), free_inertia * (_QUICKEST / dt) ** 2)
        self.kp = driven * (stiff if kp is None else kp)
        self.kd = driven * (np.minimum(DELAY * self.kp, _DAMPED / dt * free_inertia) if kd is None else kd)
        self.tau0 = np.array(computeGeneralizedGravity(model, data, self.home))
        base = [i for i in range(model.nv) if i not in single.values()]
        world = None if ground is None else world_of(model, ground, touching, False, False)[0]
        if world is not None and base:
            on = Coordinates(model, model)
            candidates = world.look(self.home)
            J = world.rows(on, self.home, candidates)[candidates.normals]
            self.tau0 -= J.T @ np.maximum(np.linalg.lstsq(J[:, base].T, self.tau0[base], rcond=None)[0], 0.0)
        self.tau0 *= driven & (kp != 0.0)

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the torques, shape (nv,), [N m] or [N]."""
        return np.asarray(self.tau0 + self.kp * difference(self.model, q, self.home) - self.kd * v)


def joints_without_springs(model: ClusterModel) -> list[str]:
    """Return the independent joints with one degree of freedom and without a spring of their own."""
    tree, sprung = model.own_tree, set[str]()
    for spring in model.constraints:
        if isinstance(spring, Spring) and any(spring.stiffness):
            names = [spring.along] if isinstance(spring.along, str) else list(spring.along)
            sprung |= set(names) if len(names) == 1 else set()
    return [n for n in model.independent_joints if tree.joints[tree.getJointId(n)].nv == 1 and n not in sprung]


def _stiffness(model: ClusterModel, home: np.ndarray) -> np.ndarray:
    """Compute the default gain of each independent joint, shape (nv,), [N m/rad] or [N/m]."""
    tree, masses = model.own_tree, model.inertia_tree
    data = masses.createData()
    centre, weight = pin.centerOfMass(masses, data, home), 9.81 * data.mass[0]
    arms = np.array([np.linalg.norm(M.translation - centre) for M in data.oMi])
    rotors = {r.joint_id for r in model.rotors}
    tree_gains = np.zeros(tree.nv)
    for j in range(1, tree.njoints):
        if tree.joints[j].nv == 1 and j not in rotors:
            tree_gains[tree.joints[j].idx_v] = STIFFNESS * weight * (1.0 / arms.max() if slides(tree, j) else arms[j])
    return np.asarray(tree_gains @ coupling_jacobian(model, model.createData(), home) ** 2)
