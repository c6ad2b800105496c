"""What an approximation gets wrong in flight: nothing touches the ground, so momentum should be kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ...algorithms.aba import aba
from ...algorithms.centroidal import ccrba, computeCentroidalMomentumTimeVariation
from ...algorithms.coupling import spanning_velocity
from ...model import ClusterModel, expand, rotor_ids
from .._samples import as_model, chosen, length_rms, quotient, rows
from ._base import flying_base


@dataclass(frozen=True, eq=False)
class FlightError:
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

    @property
    def relative(self) -> dict[str, dict[str, float]]:
        """Error of the base's acceleration over the exact one; 1 is 100 %."""
        return {
            rung: {part: float(quotient(x, self.base[part])) for part, x in errors.items()}
            for rung, errors in self.base_error.items()
        }

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers, ready for JSON."""
        return {
            "robot": self.robot,
            "samples": self.samples,
            "base": self.base,
            "base_error": self.base_error,
            "base_relative": self.relative,
            "momentum_rate": self.momentum_rate,
            "angular_momentum": self.momentum,
            "angular_momentum_of_spin": self.spin,
            "turning_of_spin": self.spin_rate,
        }


def flight(
    model: ClusterModel, q: Any, v: Any, tau: Any, rungs: Iterable[str] | None = None, drop_rotors: bool = False
) -> FlightError:
    """Compare robots in flight: a floating base, and torques at the joints only.

    Args:
        model: A robot with a floating base that nothing ties to the world.
        q: Configurations of the tree, shape (N, nq).
        v: Independent velocities, shape (N, nv).
        tau: Torques, shape (N, nv); the six of the base are taken as 0.
        rungs: Names of approximations; all by default.
        drop_rotors: Leave the rotors' mass out of the approximations.

    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel, or an array does not hold real numbers.
        ModelError: The base does not float, something holds on to the world, or, without closed loops, a dependent
            joint is not a rotor.
        UnknownNameError: The robot has no such approximation.
        ShapeError: A size is wrong.
        SingularClusterError: Of the robot or an approximation: a joint moves no inertia.
    """
    as_model(model, "metrics.flight")
    first = flying_base(model, "metrics.flight")
    q, v, tau = rows(model, q, v, tau, names="qvt")
    tau = tau.copy()
    tau[:, first : first + 6] = 0.0
    data, ladder, spin = model.createData(), chosen(model, rungs, drop_rotors), _Spin(model)
    base_id = next(j for j in range(1, model.tree.njoints) if not model.tree.parents[j])
    falling = np.array(model.gravity.linear)
    accelerations = {"exact": np.array([aba(model, data, *state) for state in zip(q, v, tau, strict=True)])}
    for name, rung in ladder.items():
        accelerations[name] = np.array([rung.aba(*state) for state in zip(q, v, tau, strict=True)])
    rates = {name: np.empty((len(q), 6)) for name in accelerations}
    base, momentum, spinning, turning = np.empty((len(q), 6)), *np.empty((3, len(q), 3))
    for i in range(len(q)):
        A = ccrba(model, data, q[i], v[i])
        momentum[i], spinning[i] = (A @ v[i])[3:], spin.momentum(q[i], v[i])
        # turning the base turns all bodies as one; the momentum about the centre of mass is the composite inertia's
        turning[i] = np.linalg.solve(A[3:, first + 3 : first + 6], spinning[i])
        weight = np.append(np.linalg.norm(A[:3, first]) * falling, np.zeros(3))
        for name, a in accelerations.items():
            rates[name][i] = computeCentroidalMomentumTimeVariation(model, data, q[i], v[i], a[i]).vector - weight
        base[i] = accelerations["exact"][i, first : first + 6]
        base[i, :3] -= data.tree.oMi[base_id].rotation.T @ falling

    def parts(x: np.ndarray) -> dict[str, float]:
        return {"linear": length_rms(x[:, :3]), "angular": length_rms(x[:, 3:])}

    exact = accelerations["exact"][:, first : first + 6]
    errors = {name: parts(accelerations[name][:, first : first + 6] - exact) for name in ladder}
    return FlightError(
        model.name, len(q), parts(base), errors, {name: parts(x) for name, x in rates.items()},
        length_rms(momentum), length_rms(spinning), length_rms(turning),
    )  # fmt: skip


class _Spin:
    """The angular momentum of all rotors relative to their carriers, about the centre of mass of the robot."""

    def __init__(self, model: ClusterModel) -> None:
        self.model, self.data, self.span = model, model.createData(), expand(model)
        self.tree_data = self.span.tree.createData()
        self.rows = [int(self.span.tree.joints[j].idx_v) for j in rotor_ids(model, self.span)]

    def momentum(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return it in axes of the world, shape (3,)."""
        speed = self.span.from_tree @ spanning_velocity(self.model, self.data, q, v)
        A = pin.computeCentroidalMap(self.span.tree, self.tree_data, self.span.configuration(q))
        return np.asarray(A[3:, self.rows] @ speed[self.rows])
