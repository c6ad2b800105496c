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
        robot: Name of the robot. ``log`` is the name of the log, and ``cutoff`` is the cutoff frequency, [Hz].
        parameters: Labels such as ``"knee: mass"``. ``units`` contains their units, ``prior`` the values in the model.
        estimate: Estimated values. Parameters that the log does not determine stay as close to the prior as possible.
        error: Standard error (of a t distribution) of the estimate before it was corrected to a physical value. The
            error is infinite for the parameters in ``unidentifiable``.
        interval: Estimate before this correction, plus and minus two standard errors, clipped to physical values,
            shape (2, parameters). If the estimate is at a bound, the interval lies on one side of the bound.
        correlation: Correlation of the estimates, shape (parameters, parameters).
        bias: Bias caused by noise in the measured motion; the estimates are already corrected for it.
        unidentifiable: Labels of parameters whose effect on the torques is zero or cannot be separated from others.
        weak: Labels of parameters whose error exceeds the estimate. ``moved`` lists those corrected to physical values.
        combinations: Label, value and error of each identifiable combination of several parameters.
        rows: Names of the motors or joints whose torques are compared.
        rms: RMS torque error in the last part of the log, shape (2, rows), [N m] or [N]: with prior parameters, and
            with parameters estimated from the first part. ``r2`` contains the coefficients of determination R^2.
        time: Times in the last part of the log, [s]. ``measured`` contains the filtered torques, shape (N, rows), and
            ``predicted`` contains the torques predicted with both parameter sets, shape (2, N, rows).
        model: The robot with the estimated parameters.
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
        """Prediction errors in the last part, by motor or joint: ``rms``, ``r2``, ``rms_of_prior``, ``r2_of_prior``."""
        keys = [f"{of}{prior}" for of in ("rms", "r2") for prior in ("_of_prior", "")]
        return {row: by_name(keys, x) for row, *x in zip(self.rows, *self.rms, *self.r2, strict=True)}

    def as_dict(self) -> dict[str, Any]:
        """Convert the result to numbers and text for JSON; values that are not finite become None."""
        entries = super().as_dict()
        return finite({key: x for key, x in entries.items() if key not in ("time", "measured", "predicted", "model")})

    def page(self, path: str | Path) -> Path:
        """Write only the self-contained HTML page; ``write`` also writes a file with the numbers."""
        with whole(Path(path)) as (part,):
            part.write_text(next(iter(type(self)._texts(self).values()))(), encoding="utf-8", newline="\n")
        return Path(path)
