"""Define waves: a sine and a chirp with different phases for the joints of a cluster, and a smooth swing."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from ...._support.docstrings import STUDY, stock
from ....model import ClusterModel
from ..reach import Reach, reach
from . import _suspicions as suspicions
from ._base import Motion, centre, documented, grid, moved_joints, take
from ._whole import whole
from .minimum_jerk import spline

W = TypeVar("W", bound="Wave")
_DIRECTIONS = 12  # Number of tested directions if phases differ; limits in other directions are at most 3.5 % lower
_documented = stock(
    STUDY,
    """
    Args:
        amplitude: A, [rad], or [m] for a prismatic joint.
        frequency: f, [Hz].
        in_phase: Whether all joints move in phase, as in arXiv 2311.13732; otherwise see ``phases``.

    Raises:
        TrajectoryError: A value is not finite and positive, or there would be more than 400 000 samples.
    """,
)


class Wave:
    """A motion in which each independent one-dof joint follows a function of time.

    The joints move about zero or, with closed loops, about the reference pose. Joints with several degrees of freedom
    (including a floating base) are held in their neutral configuration.
    """

    amplitude: float  # the dataclasses below define these fields, in this order
    duration: float
    dt: float
    in_phase: bool = True
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __post_init__(self) -> None:
        take(self, **{name: x for name, x in asdict(self).items() if name != "in_phase"})

    def phases(self, model: ClusterModel) -> dict[str, float]:
        """Return the phase of each moving joint, [rad].

        The k-th of the n moving joints of a cluster has the phase pi k / n (k = 0, 1, ...). Any two of these joints
        then move partly together and partly in opposite directions. Two cranks of an ankle that move in phase would
        only pitch the foot. The phase is 0 if a joint shares no rotor or loop with others, or if ``in_phase`` is true.
        """
        phases = dict.fromkeys(moved_joints(model), 0.0)
        for cluster in () if self.in_phase else model.clusters:
            names = [name for name in cluster.independent if name in phases]
            phases.update((name, math.pi * k / len(names)) for k, name in enumerate(names))
        return phases

    @property
    def samples(self) -> int:
        return len(self.time)

    @property
    def time(self) -> np.ndarray:
        """Sample times, shape (samples,), [s]."""
        return grid(self.duration, self.dt)

    @property
    def label(self) -> str:
        """Formula of the motion, as text."""
        raise NotImplementedError

    @property
    def period(self) -> float | None:
        """Period of the motion, [s]; None if it is not periodic."""
        return None

    def wave(self, phase: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the offset of a joint's coordinate and the first two derivatives of this offset, shape (samples,)."""
        raise NotImplementedError

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"samples": self.samples}

    @documented
    def states(self, model: ClusterModel) -> Motion:
        """Sample the motion of the whole robot; continuation keeps closed loops closed.

        Raises:
            ModelError: No joint can be moved.
            TrajectoryError: The loops cannot follow the amplitude; see ``reachable``.
        """
        phases, about = self.phases(model), centre(model)
        suspicions.angles(model, f"an amplitude of {self.amplitude:g}", dict.fromkeys(phases, self.amplitude))
        waves = {phase: self.wave(phase) for phase in set(phases.values())}
        curves = {
            name: (x + waves[phase][0], *waves[phase][1:])
            for x, (name, phase) in zip(about, phases.items(), strict=True)
        }
        return whole(model, self.time, curves)

    def reachable(self, model: ClusterModel) -> Reach:
        """Return the largest amplitude, up to the wave's amplitude, that all joints can reach.

        Raises:
            ModelError: No joint can be moved.
            ConfigurationError: The reference pose is nearly singular.
        """
        phases = self.phases(model)
        if not model.closures:
            return Reach(self.amplitude, math.inf)
        direction_count = _DIRECTIONS if any(phases.values()) else 2
        directions = np.zeros((direction_count, model.nv))
        columns = [model.joint_idx_v(name) for name in phases]
        angles = 0.5 * math.pi + np.arange(direction_count)[:, None] * 2.0 * math.pi / direction_count
        directions[:, columns] = np.sin(angles + np.array([*phases.values()]))
        return reach(model, directions, self.amplitude)

    def fitted(self: W, model: ClusterModel) -> tuple[W, Reach]:
        """Return the wave with the amplitude from ``reachable``, and the ``Reach`` that describes the limit."""
        limit = self.reachable(model)
        return replace(self, amplitude=limit.amplitude), limit


@_documented
@dataclass(frozen=True)
class Sine(Wave):
    """``q_i(t) = A sin(w t + phase_i)``, ``w = 2 pi f``, for t = 0, dt, 2 dt, ... below the duration.

    For a robot with closed loops, the sine is added to the reference pose. The defaults are the values of the accuracy
    study in arXiv 2311.13732, where all joints move ``in_phase``.
    """

    amplitude: float = 0.5
    frequency: float = 1.5
    duration: float = 5.0
    dt: float = 5e-4
    in_phase: bool = False

    @property
    def label(self) -> str:
        return f"{self.amplitude:g} sin(2 pi {self.frequency:g} Hz t)"

    @property
    def period(self) -> float:
        return 1.0 / self.frequency

    def wave(self, phase: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        w = 2.0 * math.pi * self.frequency
        wave = np.sin(w * self.time + phase)
        rate = w * np.cos(w * self.time + phase)
        return self.amplitude * wave, self.amplitude * rate, -self.amplitude * w * w * wave


@_documented
@dataclass(frozen=True)
class Chirp(Wave):
    """``q_i(t) = A sin(p(t) + phase_i)`` with a frequency ``p' / (2 pi)`` that changes linearly with time.

    Args:
        start: Frequency at t = 0, [Hz].
        end: Frequency at the end, [Hz].
    """

    amplitude: float = 0.2
    start: float = 0.25
    end: float = 3.0
    duration: float = 5.0
    dt: float = 5e-4
    in_phase: bool = False

    @property
    def label(self) -> str:
        return f"{self.amplitude:g} sin(2 pi f t), f from {self.start:g} to {self.end:g} Hz"

    def wave(self, phase: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        t, A = self.time, self.amplitude
        slope = 2.0 * math.pi * (self.end - self.start) / self.duration
        rate = 2.0 * math.pi * self.start + slope * t
        phase = phase + 2.0 * math.pi * self.start * t + 0.5 * slope * t * t
        sine, cosine = np.sin(phase), np.cos(phase)
        return A * sine, A * rate * cosine, A * (slope * cosine - rate * rate * sine)


@_documented
@dataclass(frozen=True)
class Swing(Wave):
    """Minimum-jerk swing from 0 to +A, to -A and back to 0, at rest at these points; all joints move in phase.

    The first and the last part take a quarter of the duration each; the middle part takes half of the duration.
    """

    amplitude: float = 0.5
    duration: float = 2.0
    dt: float = 5e-4

    @property
    def label(self) -> str:
        return f"a minimum-jerk swing to +{self.amplitude:g}, -{self.amplitude:g} and back"

    def wave(self, phase: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        ends = self.duration * np.array([0.0, 0.25, 0.75, 1.0])
        curve = spline(ends, self.amplitude * np.array([0.0, 1.0, -1.0, 0.0]), rest=True)
        return curve(self.time), curve(self.time, 1), curve(self.time, 2)
