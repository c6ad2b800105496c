"""Define the result of an identification."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..._support.whole_files import whole
from ...model import ClusterModel
from ..pages.results import Result, Shown, by_name, finite


@dataclass(frozen=True, eq=False)
class Identification(Shown, Result):
    """Parameters of a robot, estimated from a log.

    Attributes:
        robot: Name of the robot; ``log`` is the name of the log, ``cutoff`` the cutoff frequency of its filter, [Hz].
        parameters: Labels such as ``"knee: mass"``; ``units`` contains the units, ``prior`` the values in the model.
        estimate: Estimated values; parameters without information in the log stay as close to the prior as possible.
        error: Standard error (of a t distribution) of the estimate before it was moved to a physical value; infinite if
            the log cannot determine the parameter alone.
        interval: Interval of two standard errors around that estimate, clipped to physical values, shape
            (2, parameters). The interval of a parameter at a bound lies on one side of the bound.
        correlation: Correlation of the estimates, shape (parameters, parameters).
        bias: Effect of the motion's noise on the estimates, which has been subtracted.
        unidentifiable: Labels of parameters that the log cannot distinguish from others or does not excite.
        weak: Labels of parameters whose error exceeds the estimate; ``moved`` lists those moved to a physical value.
        combinations: Identifiable combinations of several parameters: label, value, error.
        rows: Names of motors or joints.
        rms: RMS residual torque in the last part of the log, with the prior and with parameters from the first part,
            shape (2, rows), [N m] or [N]; ``r2`` is the explained share of the variance.
        time: Times of that last part, [s]; ``measured`` contains its filtered torques, shape (N, rows), and
            ``predicted`` contains the torques of both models, (2, N, rows).
        model: The robot with the estimates.
    """

    robot: str
    log: str
    cutoff: float
    parameters: tuple[str, ...]
    units: tuple[str, ...]
    prior: np.ndarray
    estimate: np.ndarray
    error: np.ndarray
    interval: np.ndarray
    correlation: np.ndarray
    bias: np.ndarray
    unidentifiable: tuple[str, ...]
    weak: tuple[str, ...]
    moved: tuple[str, ...]
    combinations: tuple[tuple[str, float, float], ...]
    rows: tuple[str, ...]
    rms: np.ndarray
    r2: np.ndarray
    time: np.ndarray
    measured: np.ndarray
    predicted: np.ndarray
    model: ClusterModel

    @property
    def test(self) -> dict[str, dict[str, float]]:
        """Cross-validation of each row: ``rms``, ``r2``, ``rms_of_prior`` and ``r2_of_prior`` in the last part."""
        keys = [f"{of}{prior}" for of in ("rms", "r2") for prior in ("_of_prior", "")]
        return {row: by_name(keys, x) for row, *x in zip(self.rows, *self.rms, *self.r2, strict=True)}

    def as_dict(self) -> dict[str, Any]:
        """Convert to plain numbers and text for JSON; values that are not finite become None."""
        entries = super().as_dict()
        return finite({key: x for key, x in entries.items() if key not in ("time", "measured", "predicted", "model")})

    def page(self, path: str | Path) -> Path:
        """Write only the page, which needs no network; ``write`` also writes a file with the numbers."""
        with whole(Path(path)) as (part,):
            part.write_text(next(iter(type(self)._texts(self).values()))(), encoding="utf-8", newline="\n")
        return Path(path)
