"""What was found."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..._support.whole_files import whole
from ...model import ClusterModel
from ..pages.results import Result, Shown, by_name, finite


@dataclass(frozen=True, eq=False)
class Identification(Shown, Result):
    """Parameters of a robot as a log tells them.

    Attributes:
        robot: Name of the robot; ``log`` that of the log, ``cutoff`` of its filter, [Hz].
        parameters: Labels such as ``"knee: mass"``; ``units`` of each; ``prior``, what the model had.
        estimate: What the log says; where it says nothing, as near to the model as can be.
        error: One standard deviation, of a t distribution, of the estimate before it was moved to what is physical;
            infinite where the log tells nothing of a parameter alone.
        interval: Two errors about that estimate, cut at what is physical, shape (2, parameters). A parameter at a bound
            has an interval on one side of it.
        correlation: Of the estimates, shape (parameters, parameters).
        bias: What noise of the motion did to the estimates, which was taken away.
        unidentifiable: Labels of those that the log cannot tell from others, or sees nothing of.
        weak: Labels of those whose error is larger than the estimate; ``moved``: that were moved to what is physical.
        combinations: What the log tells of several together: label, value, error.
        rows: Names of motors or joints.
        rms: Of the torque that is left in the last part of the log, by the prior, and by parameters of the part before
            it, shape (2, rows), [N m] or [N]; ``r2`` the share of the variance that is explained.
        time: Of that part, [s]; ``measured``, its filtered torques, shape (N, rows); ``predicted``, (2, N, rows).
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
        """Cross-validation: by row, ``rms`` and ``r2`` of the last part of the log, and both ``_of_prior``."""
        keys = [f"{of}{prior}" for of in ("rms", "r2") for prior in ("_of_prior", "")]
        return {row: by_name(keys, x) for row, *x in zip(self.rows, *self.rms, *self.r2, strict=True)}

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers and text, ready for JSON; what is not finite is None."""
        found = super().as_dict()
        return finite({key: x for key, x in found.items() if key not in ("time", "measured", "predicted", "model")})

    def page(self, path: str | Path) -> Path:
        """Write the page alone, which needs no network; ``write`` puts the numbers beside it."""
        with whole(Path(path)) as (part,):
            part.write_text(next(iter(type(self)._texts(self).values()))(), encoding="utf-8", newline="\n")
        return Path(path)
