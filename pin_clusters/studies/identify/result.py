"""What was found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..._support.whole_files import whole
from ...model import ClusterModel
from ..pages.results import Result, Shown, finite


@dataclass(frozen=True)
class Combination(Result):
    """What torques tell of several parameters together.

    Attributes:
        label: Such as ``"knee: Izz + 0.09 foot: mass"``.
        value: Of it.
        error: One standard deviation.
    """

    label: str
    value: float
    error: float


@dataclass(frozen=True, eq=False)
class Identification(Shown, Result):
    """Parameters of a robot as a log tells them.

    Attributes:
        robot: Name of the robot.
        log: Name of the log.
        parameters: Labels such as ``"knee: mass"``.
        units: Of each.
        prior: What the model had.
        estimate: What the log says; where it says nothing, as near to the model as can be.
        error: One standard deviation; infinite where the log tells nothing of a parameter alone.
        correlation: Of the estimates, shape (parameters, parameters).
        bias: What noise of the motion did to the estimates, which was taken away.
        bound: Labels of those that stand at the end of what is physical.
        unidentifiable: Labels of those that the log cannot tell apart from others, or sees nothing of.
        weak: Labels of those whose error is larger than the estimate.
        combinations: What it tells of them together.
        rows: Names of motors or joints.
        rms: By row, of the torque that the model leaves in the last part of the log: before, and with parameters of the
            part before it; shape (2, rows), [N m] or [N].
        r2: The same as share of the variance that is explained.
        time: Of that part, [s].
        measured: Its torques, filtered, shape (N, rows).
        predicted: Before and after, shape (2, N, rows).
        cutoff: Of the filter, [Hz].
        model: The robot with the estimates.
    """

    robot: str
    log: str
    parameters: tuple[str, ...]
    units: tuple[str, ...]
    prior: np.ndarray
    estimate: np.ndarray
    error: np.ndarray
    correlation: np.ndarray
    bias: np.ndarray
    bound: tuple[str, ...]
    unidentifiable: tuple[str, ...]
    weak: tuple[str, ...]
    combinations: tuple[Combination, ...]
    rows: tuple[str, ...]
    rms: np.ndarray
    r2: np.ndarray
    time: np.ndarray
    measured: np.ndarray
    predicted: np.ndarray
    cutoff: float
    model: ClusterModel

    _json = (
        "robot log cutoff parameters units prior estimate error correlation bias bound unidentifiable weak combinations "
        "rows rms r2"
    )

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers and text, ready for JSON; what is not finite is None."""
        return finite(super().as_dict())

    def page(self, path: str | Path) -> Path:
        """Write the page alone, which needs no network.

        Raises:
            OSError: It cannot be written.
        """
        text = next(iter(type(self)._texts(self).values()))
        with whole(Path(path)) as (part,):
            part.write_text(text, encoding="utf-8", newline="\n")
        return Path(path)
