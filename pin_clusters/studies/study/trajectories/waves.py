"""Waves: sine and chirp, with a phase per joint where several move the same links, and a smooth swing."""

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
_WAYS = 12
"""Directions in which loops are followed if joints have phases; a straight end between two is 3.5 % nearer, no more."""
_documented = stock(
    STUDY,
    """
    Args:
        amplitude: A, [rad], or [m] for a prismatic joint.
        frequency: f, [Hz].
        in_phase: All joints do the same, as in arXiv 2311.13732; otherwise see ``phases``.

    Raises:
        TrajectoryError: A number is not finite and positive, or there would be more than 400 000 samples.
    """,
)


class Wave:
    """Every independent one-dof joint follows a function of time; all else is held.

    About zero, or, where there are closed loops, about the reference pose. Joints with several degrees of freedom (a
    floating base too) stay in their neutral configuration, at rest.
    """

    # the fields are those of the dataclasses below, in their order
    amplitude: float
    duration: float
    dt: float
    in_phase: bool = True
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __post_init__(self) -> None:
        take(self, **{name: x for name, x in asdict(self).items() if name != "in_phase"})

    def phases(self, model: ClusterModel) -> dict[str, float]:
        """Return the phase of each joint that moves, [rad].

        The k-th of the n joints of a cluster that move has pi k / n (k = 0, 1, ...), so that any two of them go
        together at some time and against each other at another: in phase both cranks of an ankle only pitch it.
        Joints that share no rotor and no loop, and all of a wave ``in_phase``, have 0.
        """
        found = dict.fromkeys(moved_joints(model), 0.0)
        for cluster in () if self.in_phase else model.clusters:
            names = [name for name in cluster.independent if name in found]
            found.update((name, math.pi * k / len(names)) for k, name in enumerate(names))
        return found

    @property
    def samples(self) -> int:
        """Number of samples."""
        return len(self.time)

    @property
    def time(self) -> np.ndarray:
        """Times, shape (samples,), [s]."""
        return grid(self.duration, self.dt)

    @property
    def label(self) -> str:
        """The function, in words."""
        raise NotImplementedError

    @property
    def period(self) -> float | None:
        """Time after which the motion repeats, [s]; None if it does not."""
        return None

    def wave(self, phase: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what is added to a joint's coordinate, and its two derivatives, shape (samples,)."""
        raise NotImplementedError

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers, ready for JSON."""
        return asdict(self) | {"samples": self.samples}

    @documented
    def states(self, model: ClusterModel) -> Motion:
        """Return the motion of the whole robot; dependent joints follow their couplings, loops by continuation.

        Raises:
            ModelError: There is no joint to move.
            TrajectoryError: The loops cannot follow so far; see ``reachable``.
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
        """Return the amplitude that all joints can have: that of the wave, unless closed loops stop them before.

        Raises:
            ModelError: There is no joint to move.
            ConfigurationError: The reference pose is nearly singular.
        """
        phases = self.phases(model)
        if not model.closures:
            return Reach(self.amplitude, math.inf)
        ways = _WAYS if any(phases.values()) else 2
        directions = np.zeros((ways, model.nv))
        columns = [model.joint_idx_v(name) for name in phases]
        angles = 0.5 * math.pi + np.arange(ways)[:, None] * 2.0 * math.pi / ways
        directions[:, columns] = np.sin(angles + np.array([*phases.values()]))
        return reach(model, directions, self.amplitude)

    def fitted(self: W, model: ClusterModel) -> tuple[W, Reach]:
        """Return the same with the amplitude that ``reachable`` gives, and that."""
        found = self.reachable(model)
        return replace(self, amplitude=found.amplitude), found


@_documented
@dataclass(frozen=True)
class Sine(Wave):
    """``q_i(t) = A sin(w t + phase_i)``, ``w = 2 pi f``, for t = 0, dt, 2 dt, ... below the duration.

    In a robot with closed loops the sine is added to the reference pose. The numbers are those of the accuracy study of
    arXiv 2311.13732, whose joints are ``in_phase``.
    """

    amplitude: float = 0.5
    frequency: float = 1.5
    duration: float = 5.0
    dt: float = 5e-4
    in_phase: bool = False

    @property
    def label(self) -> str:
        """The function, in words."""
        return f"{self.amplitude:g} sin(2 pi {self.frequency:g} Hz t)"

    @property
    def period(self) -> float:
        """1 / f, [s]."""
        return 1.0 / self.frequency

    def wave(self, phase: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the sine and its two derivatives, shape (samples,)."""
        w = 2.0 * math.pi * self.frequency
        wave = np.sin(w * self.time + phase)
        rate = w * np.cos(w * self.time + phase)
        return self.amplitude * wave, self.amplitude * rate, -self.amplitude * w * w * wave


@_documented
@dataclass(frozen=True)
class Chirp(Wave):
    """``q_i(t) = A sin(p(t) + phase_i)`` with a frequency ``p' / 2 pi`` that grows (or falls) evenly with time.

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
        """The function, in words."""
        return f"{self.amplitude:g} sin(2 pi f t), f from {self.start:g} to {self.end:g} Hz"

    def wave(self, phase: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the chirp and its two derivatives, shape (samples,)."""
        t, A = self.time, self.amplitude
        slope = 2.0 * math.pi * (self.end - self.start) / self.duration
        rate = 2.0 * math.pi * self.start + slope * t
        phase = phase + 2.0 * math.pi * self.start * t + 0.5 * slope * t * t
        sine, cosine = np.sin(phase), np.cos(phase)
        return A * sine, A * rate * cosine, A * (slope * cosine - rate * rate * sine)


@_documented
@dataclass(frozen=True)
class Swing(Wave):
    """From the start to +A, to -A and back, at rest at each end, each way with the least jerk; all joints alike.

    A quarter of the duration for the first and the last way, half of it for the one between.
    """

    amplitude: float = 0.5
    duration: float = 2.0
    dt: float = 5e-4

    @property
    def label(self) -> str:
        """The function, in words."""
        return f"a minimum-jerk swing to +{self.amplitude:g}, -{self.amplitude:g} and back"

    def wave(self, phase: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the swing and its two derivatives, shape (samples,)."""
        ends = self.duration * np.array([0.0, 0.25, 0.75, 1.0])
        curve = spline(ends, self.amplitude * np.array([0.0, 1.0, -1.0, 0.0]), rest=True)
        return curve(self.time), curve(self.time, 1), curve(self.time, 2)
