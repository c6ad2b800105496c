"""Measure the error of an approximation in flight, during which only gravity may change the momentum."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ...._support import old_names
from ....algorithms.dynamics.aba import aba
from ....algorithms.dynamics.coupling import spanning_velocity
from ....algorithms.kinematics.centroidal import ccrba, computeCentroidalMomentumTimeVariation
from ....errors import ModelError
from ....model import ClusterModel, check_model, expand, rotor_ids
from ...pages.results import Result
from .._samples import by_parts, chosen, documented, length_rms, quotient, rows
from ..approximate_dynamics import along
from ..trajectories import base_columns, floating_base


@dataclass(frozen=True, eq=False)
class FlightError(Result):
    """Errors of a robot in flight. Each value is the RMS, over all states, of the norm of a vector.

    Attributes:
        base: Exact acceleration of the base relative to free fall: ``"linear"`` [m/s^2] and ``"angular"`` [rad/s^2].
        base_error: Error of the base acceleration for each approximation, in the same units.
        momentum_rate: Rate of change of the exact robot's momentum under the approximation's accelerations, minus the
            effect of gravity: ``"linear"`` [N] and ``"angular"`` about the centre of mass [N m]. The exact value is 0,
            because no other force acts; the value for ``"exact"`` is the rounding error.
        momentum: Angular momentum about the centre of mass, [kg m^2/s].
        spin: Part of ``momentum`` due to the rotors' spin relative to carriers; approximations without rotors omit it.
        spin_rate: Angular velocity, [rad/s], at which the robot, as one rigid body, would have the momentum ``spin``.
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
        """Error of the base acceleration divided by the exact acceleration; 1 is 100 %."""
        return {
            level: {part: float(quotient(x, self.base[part])) for part, x in errors.items()}
            for level, errors in self.base_error.items()
        }


@old_names.argument("rungs", "levels")
@documented
def flight(
    model: ClusterModel,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    levels: Iterable[str] | None = None,
    drop_rotors: bool = False,
) -> FlightError:
    """Compute the errors for a floating robot in flight, on which only joint torques and gravity act.

    Args:
        model: A robot with a floating base and no constraint to the world.
        tau: Torques, shape (N, nv); the six entries of the base are ignored and set to 0.

    Raises:
        ModelError: The base does not float; a joint, rotor or loop is attached to the world; or the robot has no closed
            loops and a dependent joint is not a rotor.
        SingularClusterError: The mass matrix of the robot or of an approximation is singular.
    """
    check_model(model, "metrics.flight")
    base_rows = _flying_base(model)
    q, v, tau = rows(model, q, v, tau, names="qvt")
    tau = tau.copy()
    tau[:, base_rows] = 0.0
    exact, approximate = along(model, chosen(model, levels, drop_rotors), aba, q, v, tau)
    accelerations = {"exact": exact, **approximate}
    data, span, base_id = model.createData(), expand(model), model.tree.getJointId(floating_base(model))
    span_data, rotors = span.tree.createData(), [int(span.tree.joints[j].idx_v) for j in rotor_ids(model.rotors, span)]
    falling = np.array(model.gravity.linear)
    rates = {name: np.empty((len(q), 6)) for name in accelerations}
    base, momentum, spin_momentum, spin_rate = np.empty((len(q), 6)), *np.empty((3, len(q), 3))
    for i in range(len(q)):
        speed = span.from_tree @ spanning_velocity(model, data, q[i], v[i])
        rotor_columns = pin.computeCentroidalMap(span.tree, span_data, span.configuration(q[i]))[3:, rotors]
        spin_momentum[i] = rotor_columns @ speed[rotors]
        A = ccrba(model, data, q[i], v[i])
        momentum[i] = (A @ v[i])[3:]
        # Rotating the base rotates all bodies as one rigid body, so these columns of A are the composite inertia.
        spin_rate[i] = np.linalg.solve(A[3:, base_rows][:, 3:], spin_momentum[i])
        weight = np.append(np.linalg.norm(A[:3, base_rows.start]) * falling, np.zeros(3))
        for name, a in accelerations.items():
            rates[name][i] = computeCentroidalMomentumTimeVariation(model, data, q[i], v[i], a[i]).vector - weight
        base[i] = exact[i, base_rows]
        base[i, :3] -= data.tree.oMi[base_id].rotation.T @ falling

    errors = {name: by_parts((x - exact)[:, base_rows]) for name, x in approximate.items()}
    return FlightError(
        model.name,
        len(q),
        by_parts(base),
        errors,
        {name: by_parts(x) for name, x in rates.items()},
        length_rms(momentum),
        length_rms(spin_momentum),
        length_rms(spin_rate),
    )


def _flying_base(model: ClusterModel) -> slice:
    """Return the columns of a floating base in v; raise ``ModelError`` if the robot is attached to the world."""
    tree, base_rows, base = model.tree, base_columns(model), floating_base(model)
    if base_rows is None:
        raise ModelError(
            f"metrics.flight: model {model.name!r} has no floating base, so it cannot fly. Load it with "
            "root_joint=pin.JointModelFreeFlyer()."
        )
    fixed = [tree.names[j] for j in range(1, tree.njoints) if not tree.parents[j] and tree.names[j] != base]
    fixed += [r.name for r in model.rotors if not r.carrier_id]
    fixed += [str(c.source.label) for c in model.closures if 0 in (getattr(c, "joint_a", 1), getattr(c, "joint_b", 1))]
    if fixed:
        raise ModelError(
            f"metrics.flight: {', '.join(map(repr, fixed))} attach model {model.name!r} to the world, so it "
            "cannot fly. Pass a model without these attachments."
        )
    return base_rows
