"""Measure the errors of inverse-dynamics torques and of forward-dynamics accelerations."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...._support import old_names
from ....algorithms.dynamics.aba import aba
from ....algorithms.dynamics.rnea import rnea
from ....model import ClusterModel, check_model
from ...pages.results import Result
from .._samples import by_parts, chosen, column_names, documented, quotient, rms, rows
from ..approximate_dynamics import along
from ..trajectories import base_columns


@dataclass(frozen=True, eq=False)
class InverseError(Result):
    """Errors of the inverse-dynamics torques along a motion.

    Attributes:
        largest: Largest magnitude of the exact torque in each column, shape (nv,), [N m] or [N].
        rms: RMS error by name of the approximation, shape (nv,).
        peak: Largest magnitude of the error by name of the approximation, shape (nv,).
    """

    robot: str
    names: tuple[str, ...]
    samples: int
    largest: np.ndarray
    rms: dict[str, np.ndarray]
    peak: dict[str, np.ndarray]

    _json = "robot samples largest_exact:largest rms peak percent"

    @property
    def percent(self) -> dict[str, np.ndarray]:
        """RMS error as a percentage of the column's largest exact torque, shape (nv,)."""
        return {level: 100.0 * quotient(x, self.largest) for level, x in self.rms.items()}


@old_names.argument("rungs", "levels")
@documented
def inverse(
    model: ClusterModel,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    levels: Iterable[str] | None = None,
    drop_rotors: bool = False,
) -> InverseError:
    """Compute the errors of the inverse-dynamics torques along a motion."""
    check_model(model, "metrics.inverse")
    q, v, a = rows(model, q, v, a)
    exact, approximate = along(model, chosen(model, levels, drop_rotors), rnea, q, v, a)
    errors = {name: x - exact for name, x in approximate.items()}
    return InverseError(
        model.name,
        column_names(model),
        len(q),
        np.abs(exact).max(axis=0),
        {name: rms(x) for name, x in errors.items()},
        {name: np.abs(x).max(axis=0) for name, x in errors.items()},
    )


@dataclass(frozen=True, eq=False)
class ForwardError(Result):
    """Errors of the forward-dynamics accelerations under the same torques.

    Attributes:
        exact: RMS of the exact acceleration, shape (nv,), [rad/s^2] or [m/s^2].
        rms: RMS error by name of the approximation, shape (nv,).
        base: ``"linear"`` and ``"angular"`` relative error of a floating base's acceleration for each approximation.
            The relative error is the RMS norm of the error divided by the RMS norm of the exact acceleration.
    """

    robot: str
    names: tuple[str, ...]
    samples: int
    exact: np.ndarray
    rms: dict[str, np.ndarray]
    base: dict[str, dict[str, float]]

    _json = "robot samples rms_exact:exact rms relative base_relative:base"

    @property
    def relative(self) -> dict[str, np.ndarray]:
        """RMS error divided by the RMS of the exact acceleration, shape (nv,); 1 is 100 %."""
        return {level: quotient(x, self.exact) for level, x in self.rms.items()}


@old_names.argument("rungs", "levels")
@documented
def forward_error(
    model: ClusterModel,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    levels: Iterable[str] | None = None,
    drop_rotors: bool = False,
) -> ForwardError:
    """Compute the errors of the accelerations under the same torques.

    Raises:
        SingularClusterError: The mass matrix of the robot or of an approximation is singular.
    """
    check_model(model, "metrics.forward_error")
    q, v, tau = rows(model, q, v, tau, names="qvt")
    exact, approximate = along(model, chosen(model, levels, drop_rotors), aba, q, v, tau)
    errors = {name: x - exact for name, x in approximate.items()}
    base: dict[str, dict[str, float]] = {}
    base_rows = base_columns(model)
    if base_rows is not None:
        largest = by_parts(exact[:, base_rows])
        base = {
            name: {part: float(quotient(size, largest[part])) for part, size in by_parts(x[:, base_rows]).items()}
            for name, x in errors.items()
        }
    return ForwardError(
        model.name, column_names(model), len(q), rms(exact), {name: rms(x) for name, x in errors.items()}, base
    )
