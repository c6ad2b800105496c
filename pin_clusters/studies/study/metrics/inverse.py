"""Torque error along a motion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....algorithms.dynamics.rnea import rnea
from ....model import ClusterModel
from ...pages.results import Result
from .._samples import as_model, chosen, column_names, documented, quotient, rms, rows
from ..rungs import along


@dataclass(frozen=True, eq=False)
class InverseError(Result):
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

    _json = "robot samples largest_exact:largest rms peak percent"

    @property
    def percent(self) -> dict[str, np.ndarray]:
        """RMS error in per cent of the column's largest exact torque, shape (nv,)."""
        return {rung: 100.0 * quotient(x, self.largest) for rung, x in self.rms.items()}


@documented
def inverse(
    model: ClusterModel, q: Any, v: Any, a: Any, rungs: Iterable[str] | None = None, drop_rotors: bool = False
) -> InverseError:
    """Compare the torques of a motion."""
    as_model(model, "metrics.inverse")
    q, v, a = rows(model, q, v, a)
    exact, found = along(model, chosen(model, rungs, drop_rotors), rnea, q, v, a)
    errors = {name: x - exact for name, x in found.items()}
    return InverseError(
        model.name, column_names(model), len(q), np.abs(exact).max(axis=0),
        {name: rms(x) for name, x in errors.items()}, {name: np.abs(x).max(axis=0) for name, x in errors.items()},
    )  # fmt: skip
