"""What an approximation gets wrong in flight: nothing touches the ground, so momentum should be kept."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ....algorithms.dynamics.aba import aba
from ....algorithms.dynamics.coupling import spanning_velocity
from ....algorithms.kinematics.centroidal import ccrba, computeCentroidalMomentumTimeVariation
from ....errors import ModelError
from ....model import ClusterModel, check_model, expand, rotor_ids
from ...pages.results import Result
from .._samples import by_parts, chosen, documented, length_rms, quotient, rows
from ..rungs import along
from ..trajectories import base_columns, floating_base


@dataclass(frozen=True, eq=False)
class FlightError(Result):
    """Errors of a robot in flight. All numbers are RMS over the states of the length of a vector.

    Attributes:
        robot: Name of the robot.
        samples: Number of states.
        base: Exact acceleration of the base relative to free fall: ``"linear"`` [m/s^2] and ``"angular"`` [rad/s^2].
        base_error: Its error for each approximation, in the same units.
        momentum_rate: Rate at which the robot's true momentum would change with the accelerations of the
            approximation, less gravity: ``"linear"`` [N] and ``"angular"`` about the centre of mass [N m]. It should be
            0, as no force acts; for ``"exact"`` it is the rounding.
        momentum: Angular momentum about the centre of mass, [kg m^2/s].
        spin: The part of it that the rotors' spin relative to their carriers has. An approximation without rotors does
            not see it.
        spin_rate: The turning of the whole robot, as one rigid body, that has the momentum of the spin, [rad/s].
    """

    robot: str
    samples: int
    base: dict[str, float]
    base_error: dict[str, dict[str, float]]
    momentum_rate: dict[str, dict[str, float]]
    momentum: float
    spin: float
    spin_rate: float

    _json = (
        "robot samples base base_error base_relative:relative momentum_rate angular_momentum:momentum "
        "angular_momentum_of_spin:spin turning_of_spin:spin_rate"
    )

    @property
    def relative(self) -> dict[str, dict[str, float]]:
        """Error of the base's acceleration over the exact one; 1 is 100 %."""
        return {
            rung: {part: float(quotient(x, self.base[part])) for part, x in errors.items()}
            for rung, errors in self.base_error.items()
        }


@documented
def flight(
    model: ClusterModel,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    rungs: Iterable[str] | None = None,
    drop_rotors: bool = False,
) -> FlightError:
    """Compare robots in flight: a floating base, and torques at the joints only.

    Args:
        model: A robot with a floating base that nothing ties to the world.
        tau: Torques, shape (N, nv); the six of the base are taken as 0.

    Raises:
        ModelError: The base does not float, something holds on to the world, or, without closed loops, a dependent
            joint is not a rotor.
        SingularClusterError: Of the robot or an approximation: a joint moves no inertia.
    """
    check_model(model, "metrics.flight")
    at = _flying_base(model)
    q, v, tau = rows(model, q, v, tau, names="qvt")
    tau = tau.copy()
    tau[:, at] = 0.0
    exact, found = along(model, chosen(model, rungs, drop_rotors), aba, q, v, tau)
    accelerations = {"exact": exact, **found}
    data, span, base_id = model.createData(), expand(model), model.tree.getJointId(floating_base(model))
    span_data, rotors = span.tree.createData(), [int(span.tree.joints[j].idx_v) for j in rotor_ids(model.rotors, span)]
    falling = np.array(model.gravity.linear)
    rates = {name: np.empty((len(q), 6)) for name in accelerations}
    base, momentum, spinning, turning = np.empty((len(q), 6)), *np.empty((3, len(q), 3))
    for i in range(len(q)):
        # all rotors relative to their carriers, in axes of the world
        speed = span.from_tree @ spanning_velocity(model, data, q[i], v[i])
        of_rotors = pin.computeCentroidalMap(span.tree, span_data, span.configuration(q[i]))[3:, rotors]
        spinning[i] = of_rotors @ speed[rotors]
        A = ccrba(model, data, q[i], v[i])
        momentum[i] = (A @ v[i])[3:]
        # turning the base turns all bodies as one; the momentum about the centre of mass is the composite inertia's
        turning[i] = np.linalg.solve(A[3:, at][:, 3:], spinning[i])
        weight = np.append(np.linalg.norm(A[:3, at.start]) * falling, np.zeros(3))
        for name, a in accelerations.items():
            rates[name][i] = computeCentroidalMomentumTimeVariation(model, data, q[i], v[i], a[i]).vector - weight
        base[i] = exact[i, at]
        base[i, :3] -= data.tree.oMi[base_id].rotation.T @ falling

    errors = {name: by_parts((x - exact)[:, at]) for name, x in found.items()}
    return FlightError(
        model.name,
        len(q),
        by_parts(base),
        errors,
        {name: by_parts(x) for name, x in rates.items()},
        length_rms(momentum),
        length_rms(spinning),
        length_rms(turning),
    )


def _flying_base(model: ClusterModel) -> slice:
    """Return where the velocity of a floating base is in v; a ``ModelError``, if something holds on to the world."""
    tree, at, base = model.tree, base_columns(model), floating_base(model)
    if at is None:
        raise ModelError(
            f"metrics.flight: model {model.name!r} has no floating base, so it cannot fly. Load it with "
            "root_joint=pin.JointModelFreeFlyer()."
        )
    fixed = [tree.names[j] for j in range(1, tree.njoints) if not tree.parents[j] and tree.names[j] != base]
    fixed += [r.name for r in model.rotors if not r.carrier_id]
    fixed += [str(c.source.label) for c in model.closures if 0 in (getattr(c, "joint_a", 1), getattr(c, "joint_b", 1))]
    if fixed:
        raise ModelError(
            f"metrics.flight: {', '.join(map(repr, fixed))} of model {model.name!r} hold on to the world, so it cannot "
            "fly."
        )
    return at
