"""Generate minimum-jerk motions between named poses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ....errors import did_you_mean
from ....model import ClusterModel
from . import _suspicions as suspicions
from ._base import Motion, TrajectoryError, coordinates, documented, grid, held, moved_joints, numbers, take
from ._whole import whole

Pose: TypeAlias = str | Mapping[str, float]


def spline(times: ArrayLike, values: ArrayLike, *, rest: bool) -> Callable[..., np.ndarray]:
    """Return the minimum-jerk curve that passes through values at given times and is at rest at both ends.

    Minimizing the integral of the squared third derivative gives polynomials of degree 5 between the points. With
    ``rest``, the velocity is zero at every point; otherwise, the first four derivatives are continuous at inner
    points. The curve is a function of time and derivative order; ``values`` has the shape (k,) or (k, n).
    """
    from scipy.interpolate import BPoly, make_interp_spline

    times, values = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
    zeros = np.zeros_like(values)
    if rest or len(times) == 2:
        return BPoly.from_derivatives(times, np.stack([values, zeros, zeros], axis=1))
    end_conditions = [(1, zeros[0]), (2, zeros[0])]
    return make_interp_spline(times, values, k=5, bc_type=(end_conditions, end_conditions))  # type: ignore[arg-type]


@dataclass(frozen=True)
class MinimumJerk:
    """The minimum-jerk motion through given poses, which is at rest at the first and the last pose.

    A pose is a mapping of joint names to coordinates, [rad] or [m], or the name of a pose. In a mapping, omitted joints
    keep their coordinates from the previous pose. Valid names are ``"neutral"``, ``"reference"``
    (``model.q_reference``) and the keys of ``model.tree.referenceConfigurations`` (read from an SRDF file). Joints
    omitted in the first pose start in the reference pose, which is the neutral pose for robots without closed loops.

    Attributes:
        poses: At least two poses.
        duration: Time from the first to the last pose, [s].
        times: Times of the poses, [s], from 0 to the duration; None selects even spacing.
        rest: Whether the robot stops at each pose; otherwise, it passes through the inner poses without stopping.
        dt: Time between samples, [s].

    Raises:
        TrajectoryError: There are fewer than two poses, or the times do not increase.

    Example:
        >>> from pin_clusters.studies.study import trajectories
        >>> squat = trajectories.MinimumJerk(["neutral", {"hip_ry": -0.8, "knee": 1.6}, "neutral"], duration=1.0)
        >>> squat.label
        'minimum jerk through 3 poses in 1 s'
    """

    poses: Sequence[Pose]
    duration: float = 2.0
    times: Sequence[float] | None = None
    rest: bool = False
    dt: float = 5e-4

    def __post_init__(self) -> None:
        poses = self.poses
        if isinstance(poses, (str, Mapping)) or not isinstance(poses, Sequence) or len(poses) < 2:
            raise TrajectoryError(f"poses must be a list of at least two poses, got {poses!r}.")
        object.__setattr__(self, "poses", tuple(poses))
        take(self, duration=self.duration, dt=self.dt)
        times = np.linspace(0.0, self.duration, len(poses)) if self.times is None else numbers("times", self.times)
        if (
            len(times) != len(poses)
            or not np.all(np.diff(times) > 0.0)
            or times[0] != 0.0
            or times[-1] != self.duration
        ):
            raise TrajectoryError(
                f"times must be {len(poses)} increasing numbers, one for each pose, from 0 to the duration of "
                f"{self.duration:g} s; got {', '.join(f'{t:g}' for t in times)}."
            )
        object.__setattr__(self, "times", tuple(map(float, times)))

    @property
    def label(self) -> str:
        return f"minimum jerk through {len(self.poses)} poses in {self.duration:g} s"

    def as_dict(self) -> dict[str, Any]:
        return {
            "poses": [pose if isinstance(pose, str) else dict(pose) for pose in self.poses],
            "times": list(self.times or ()),
            "rest": self.rest,
            "duration": self.duration,
            "dt": self.dt,
            "samples": len(grid(self.duration, self.dt)),
        }

    @documented
    def states(self, model: ClusterModel) -> Motion:
        """Sample the motion of the whole robot; continuation keeps closed loops closed.

        Raises:
            TrajectoryError: A pose or a joint is unknown, or a closed loop cannot follow.
            ModelError: No joint can be moved.
        """
        joints = moved_joints(model)
        points = [coordinates(model, held(model), joints)]
        for pose in self.poses:
            points.append(_coordinates(model, joints, pose, points[-1]))
        suspicions.angles(model, "a pose", dict(zip(joints, np.abs(points).max(axis=0), strict=True)))
        curve, time = spline(self.times or (), points[1:], rest=self.rest), grid(self.duration, self.dt)
        value, rate, acceleration = curve(time), curve(time, 1), curve(time, 2)
        curves = dict(zip(joints, zip(value.T, rate.T, acceleration.T, strict=True), strict=True))
        return whole(model, time, curves)


def _coordinates(model: ClusterModel, joints: tuple[str, ...], pose: Pose, before: np.ndarray) -> np.ndarray:
    if isinstance(pose, str):
        named_poses = {str(p.key()): np.asarray(p.data()) for p in model.tree.referenceConfigurations}
        available = {"neutral": pin.neutral(model.tree), "reference": model.q_reference} | named_poses
        if pose not in available:
            raise TrajectoryError(f"{model.name!r} has no pose {pose!r}.{did_you_mean(pose, list(available))}")
        return coordinates(model, np.asarray(available[pose]), joints)
    point = before.copy()
    for name, value in pose.items():
        if name not in joints:
            raise TrajectoryError(
                f"a pose contains {name!r}, which is not an independent one-dof joint of {model.name!r}."
                f"{did_you_mean(name, joints, limit=len(joints))}"
            )
        if not isinstance(value, (int, float, np.integer, np.floating)) or not np.isfinite(value):
            raise TrajectoryError(f"a pose sets {name!r} to {value!r}; the value must be a finite number, in rad or m.")
        point[joints.index(name)] = value
    return point
