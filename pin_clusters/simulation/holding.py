"""Torques that hold a pose: a PD controller whose gains come from the robot."""

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
"""Torque per radian, of the robot's weight at the distance of its centre of mass."""
DELAY = 0.04
"""[s]: damping over stiffness."""
_QUICKEST, _DAMPED = 0.2, 0.3
"""Of what steps can still follow: the frequency of a joint alone, and how much of its speed one step takes away."""


class Hold:
    """``tau = tau0 + kp (home - q) - kd v`` of the independent joints that are driven, for ``pc.simulate``.

    Free are joints of several degrees of freedom, such as a base that floats, and those with springs of the model.

    tau0 carries the robot at ``home``, unless kp is 0; what touches the ground there bears it, with the least forces.
    By default kp is five times weight times distance of centre of mass and joint (of a slider five times weight over
    the size of the robot), per radian, so that a robot on its feet does not topple; a joint that follows others counts
    with the square of its ratio. kd is 0.04 s times kp. Both end at what steps of ``dt`` can follow at a light joint.

    Args:
        model: The robot.
        home: Configuration, shape (nq,).
        dt: Step, [s].
        ground: What it stands on at home, if on anything.
        touching: As in ``pc.simulate``.
        kp: Of all driven joints, [N m/rad] or [N/m].
        kd: Of all driven joints, [N m s/rad] or [N s/m].

    Attributes:
        tau0: Shape (nv,), [N m] or [N].
        kp: Shape (nv,), zero where nothing drives.
        kd: Shape (nv,).

    Raises:
        SimulationError: A gain is negative or not finite, nothing could touch.
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
                raise SimulationError(f"{name} = {gain:g} is negative: it would push away from the pose.")
        springs = [s.along for s in model.constraints if isinstance(s, Spring) and any(s.stiffness)]
        single = {n: model.joint_idx_v(n) for n in model.independent_joints if tree.joints[tree.getJointId(n)].nv == 1}
        driven = np.isin(np.arange(model.nv), [i for n, i in single.items() if n not in springs])
        alone = 1.0 / np.diag(computeMinverse(model, data, self.home))  # inertia of each joint, the others limp
        stiff = np.minimum(_stiffness(model, self.home), alone * (_QUICKEST / dt) ** 2)
        self.kp = driven * (stiff if kp is None else kp)
        self.kd = driven * (np.minimum(DELAY * self.kp, _DAMPED / dt * alone) if kd is None else kd)
        self.tau0 = np.array(computeGeneralizedGravity(model, data, self.home))
        base = [i for i in range(model.nv) if i not in single.values()]
        world = None if ground is None else world_of(model, ground, touching, False, False)[0]
        if world is not None and base:
            on = Coordinates(model, model)
            near = world.look(self.home)
            J = world.rows(on, self.home, near)[near.normals]
            self.tau0 -= J.T @ np.maximum(np.linalg.lstsq(J[:, base].T, self.tau0[base], rcond=None)[0], 0.0)
        self.tau0 *= driven & (kp != 0.0)

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the torques, shape (nv,)."""
        return np.asarray(self.tau0 + self.kp * difference(self.model, q, self.home) - self.kd * v)


def _stiffness(model: ClusterModel, home: np.ndarray) -> np.ndarray:
    """Return the gain that the weight asks for, shape (nv,)."""
    tree, masses = model.own_tree, model.inertia_tree
    data = masses.createData()
    centre, weight = pin.centerOfMass(masses, data, home), 9.81 * data.mass[0]
    arms = np.array([np.linalg.norm(M.translation - centre) for M in data.oMi])
    rotors = {r.joint_id for r in model.rotors}
    found = np.zeros(tree.nv)
    for j in range(1, tree.njoints):
        if tree.joints[j].nv == 1 and j not in rotors:
            found[tree.joints[j].idx_v] = STIFFNESS * weight * (1.0 / arms.max() if slides(tree, j) else arms[j])
    return np.asarray(found @ coupling_jacobian(model, model.createData(), home) ** 2)
