"""Torque error along a motion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...algorithms.rnea import rnea
from ...model import ClusterModel
from .._samples import as_model, by_name, by_rung, chosen, column_names, quotient, rms, rows
from ._base import along


@dataclass(frozen=True, eq=False)
class InverseError:
    """Errors of the torques of a motion.

    Attributes:
        robot: Name of the robot.
        names: What the columns are.
        samples: Number of states.
        largest: Largest exact torque of each column, shape (nv,), [N m] or [N].
        rms: RMS error of each approximation, shape (nv,).
        peak: Largest error of each approximation, shape (nv,).
    """

    robot: str
    names: tuple[str, ...]
    samples: int
    largest: np.ndarray
    rms: dict[str, np.ndarray]
    peak: dict[str, np.ndarray]

    @property
    def percent(self) -> dict[str, np.ndarray]:
        """RMS error in per cent of the column's largest exact torque, shape (nv,)."""
        return {rung: 100.0 * quotient(x, self.largest) for rung, x in self.rms.items()}

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers, ready for JSON."""
        return {
            "robot": self.robot,
            "samples": self.samples,
            "largest_exact": by_name(self.names, self.largest),
            "rms": by_rung(self.names, self.rms),
            "peak": by_rung(self.names, self.peak),
            "percent": by_rung(self.names, self.percent),
        }


def inverse(
    model: ClusterModel, q: Any, v: Any, a: Any, rungs: Iterable[str] | None = None, drop_rotors: bool = False
) -> InverseError:
    """Compare the torques of a motion.

    Args:
        model: The robot.
        q: Configurations of the tree, shape (N, nq).
        v: Independent velocities, shape (N, nv).
        a: Independent accelerations, shape (N, nv).
        rungs: Names of approximations; all by default.
        drop_rotors: Leave the rotors' mass out of the approximations.

    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel, or an array does not hold real numbers.
        UnknownNameError: The robot has no such approximation.
        ShapeError: A size is wrong.
        ModelError: Without closed loops, a dependent joint is not a rotor.
    """
    as_model(model, "metrics.inverse")
    q, v, a = rows(model, q, v, a)
    exact, found = along(model, chosen(model, rungs, drop_rotors), rnea, q, v, a)
    errors = {name: x - exact for name, x in found.items()}
    return InverseError(
        model.name, column_names(model), len(q), np.abs(exact).max(axis=0),
        {name: rms(x) for name, x in errors.items()}, {name: np.abs(x).max(axis=0) for name, x in errors.items()},
    )  # fmt: skip
