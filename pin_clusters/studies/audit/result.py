"""Run an audit: a study, its verdict, the causes of the errors, and the alternatives to armature."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ... import approximations
from ..._support.docstrings import AS_IN_STUDY, STUDY, stock
from ...constraints import Motor, Rotor
from ...errors import ModelError, PinClustersWarning
from ...files.writers.motors import suggested, told
from ...model import ClusterModel, alike, check_model
from ...simulation.ground.plane import Ground
from .. import study
from ..pages.results import Result, Shown, finite, plain
from ..study import Decomposition, StudyResult, Trajectory, report
from ..study._samples import spread, usual
from ..study.accuracy import Base, states
from ..study.approximate_dynamics import Progress, in_thousandths
from . import snippets
from .exercised import Exercised, exercised
from .reflected import Reflected, reflect
from .simulated import Simulated, simulated
from .verdict import THRESHOLDS, Verdict, check_threshold, judge
from .walk import Walked, walked

SAMPLES = 1000  # Number of evenly spaced samples of the motion at which the error is decomposed


@dataclass(frozen=True, eq=False)
class AuditResult(Shown, Result):
    """The result of an audit: whether armature is accurate enough, the causes of its error, and alternatives.

    Attributes:
        study: Torques of the exact robot and of its approximations along the motion.
        verdict: The answer for each purpose, in numbers and in words.
        exercised: Range of motion of each joint, and the joints that the motion does not exercise.
        why: Physical causes of the torque error of the judged approximation (``verdict.asked``).
        simulated: Errors that the approximations cause in a simulation.
        reflected: Reflected inertia, and armature for the joints of another simulator.
        scripts: Code for other simulators: ``"mujoco_xml"``, ``"mujoco_python"``, ``"pinocchio"``.
        walk: Errors that the approximations cause at touch-down, if requested.
        losses: Names of rotors whose motors or gears have losses. The audit ignores these losses.
    """

    robot: str
    study: StudyResult
    verdict: Verdict
    exercised: Exercised
    why: Decomposition
    simulated: Simulated
    reflected: Reflected
    scripts: dict[str, str]
    walk: Walked | None = None
    losses: tuple[str, ...] = ()

    @property
    def percent(self) -> dict[str, np.ndarray]:
        """RMS error of each approximation relative to the joint's peak torque, shape (joints,), [%]."""
        return self.study.share(self.study.rms_error)

    @property
    def order(self) -> list[int]:
        """Indices of the joints in the study, by decreasing error of the judged approximation."""
        columns = self.study.actuated
        # Joints whose errors differ only by rounding keep the robot's order.
        values = np.round(self.percent[self.verdict.asked][columns], 9)
        return [int(columns[k]) for k in np.argsort(-values, kind="stable")]

    def as_dict(self) -> dict[str, Any]:
        return finite(
            {
                "robot": self.robot,
                "verdict": self.verdict.as_dict(),
                "exercised": self.exercised.as_dict(),
                "study": report.as_dict(self.study),
                "percent_of_peak_torque": plain(self.percent, self.study.joints),
                "peak_error": plain(self.study.peak_error, self.study.joints),
                "decomposition": self.why.as_dict(),
                **self.simulated.as_dict(),
                "reflected_inertia": self.reflected.as_dict(),
                "scripts": self.scripts,
                "losses_left_out": list(self.losses),
                **({} if self.walk is None else {"walk": self.walk.as_dict()}),
            }
        )


@stock(STUDY, AS_IN_STUDY)
def run(
    model: ClusterModel,
    trajectory: Trajectory | None = None,
    *,
    threshold: float = THRESHOLDS["torque control"],
    simulation: float = THRESHOLDS["simulation"],
    policy: float = THRESHOLDS["a policy"],
    amplitude: float = 0.5,
    frequency: float = 1.5,
    duration: float = 5.0,
    dt: float = 5e-4,
    drop_rotors: bool = False,
    base: Base | None = None,
    frames: Sequence[str] | None = None,
    walk: bool = False,
    drop: float | None = None,
    ground: Ground | None = None,
    touching: Any = None,
    progress: Progress | None = None,
) -> AuditResult:
    """Decide whether armature can replace the rotors of a robot.

    Args:
        model: The robot, with its rotors.
        trajectory: The motion, as in ``study.run``; by default a sine motion of every joint.
        threshold: Largest acceptable RMS torque error for torque control, [%] of the joint's peak torque.
        simulation: Largest acceptable RMS error of accelerations under the exact torques, [%] of the RMS acceleration.
        policy: As ``simulation``, but for training a policy in simulation, [%].
        base: As in ``study.run``. By default, a floating base is fixed in sine motions and moves in recorded motions.
        frames: Frame names for comparing apparent inertia and drift; by default the ends of the longest chains.
        walk: Whether to simulate the recorded motion on the ground, with a soft guide on the base, and to compare the
            impulses, torques and joint speeds at touch-down.
        drop: Height, [m], of a simulated fall without a guide, in the motion's first pose, to compare touch-downs.
        ground: Default: ``pc.Ground()``. With ``walk``, it is raised by the median height of the robot's lowest point.
        touching: Shapes that may touch the ground, as in ``pc.simulate``.

    Returns:
        The verdict and all numbers; ``write`` writes them as a page.

    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel, or a threshold is not a number.
        ThresholdError: A threshold is not between 0 and 100.
        ModelError: The robot has neither rotors nor closed loops, or ``study.run`` raises this error. With ``walk`` or
            ``drop``, the error is also raised if the base does not float, or if no foot lands.
        TrajectoryError: A value in the motion is out of range. With ``walk``, the error is also raised if the motion
            has no recorded base, or if the guide carries more than 20 % of the weight.
        SimulationError: No shape can touch the ground, or a simulation fails.
        UnknownNameError: A name in ``frames`` is not a frame.
        ConfigurationError: The reference pose of closed loops is nearly singular.

    Example:
        >>> import pin_clusters as pc
        >>> from pin_clusters import audit
        >>> result = audit.run(pc.load("mit_humanoid_leg"), duration=0.7)
        >>> result.verdict.enough, result.verdict.torque.worst["diagonal"].joint
        (False, 'ankle')
    """
    check(model)
    losses = tuple(r.name for r in model.rotors if r.motor is not None and r.motor.loses)
    if losses:
        model = alike(model, constraints=tuple(map(_lossless, model.constraints)))
    followers = approximations.followers(model)
    if followers:
        warnings.warn(
            f"audit: these dependent joints of {model.name!r} look like fingers or links, not like rotors: "
            f"{', '.join(followers)}. The approximations lock them like rotors, so their motion counts as an error. To "
            "exclude them, audit the robot without these couplings: pc.ClusterModel(model.tree, rotors).",
            PinClustersWarning,
            stacklevel=2,
        )
    thresholds = dict(zip(THRESHOLDS, map(check_threshold, (threshold, simulation, policy)), strict=True))
    for frame in frames or ():
        model.getFrameId(frame)  # raises an error for unknown names before the slow computations
    report_progress = in_thousandths(progress)
    # Touch-downs are simulated first, because this step raises most of the errors.
    on_foot = walk or drop is not None
    moving = study.Sine(amplitude, frequency, duration, dt) if trajectory is None else trajectory
    if isinstance(moving, study.Sine | study.Chirp):  # A drop must start in the reference pose, as motions in phase do.
        moving = replace(moving, in_phase=True)
    landed = walked(model, moving, drop, ground, touching, lambda x: report_progress(0.5 * x)) if on_foot else None
    start_share = 0.5 * on_foot
    studied = study.run(
        model,
        trajectory,
        amplitude=amplitude,
        frequency=frequency,
        duration=duration,
        dt=dt,
        drop_rotors=drop_rotors,
        base=base,
        progress=lambda done, total: report_progress(start_share + (0.6 - start_share) * done / total),
    )
    motion = states(model, studied.trajectory, studied.base)[1:]
    samples = spread(len(studied.time), SAMPLES)
    q, v, a = (x[samples] for x in motion)
    causes = study.decompose(model, q, v, a, usual(studied.approximate), drop_rotors)
    report_progress(0.7)
    forward = simulated(model, studied, motion, frames, lambda part: report_progress(0.7 + 0.25 * part))
    reflected = reflect(model, motion[0])
    moved = exercised(model, motion[0])
    verdict = judge(studied, forward, thresholds, moved.still)
    report_progress(1.0)
    scripts = _scripts(model, reflected)
    return AuditResult(model.name, studied, verdict, moved, causes, forward, reflected, scripts, landed, losses)


def _lossless(constraint: Any) -> Any:
    if isinstance(constraint, Motor):
        return replace(constraint, viscous=0.0, coulomb=0.0, efficiency=None, back_efficiency=None)
    motor = constraint.motor if isinstance(constraint, Rotor) else None
    return constraint if motor is None else replace(constraint, motor=_lossless(motor))


def check(model: ClusterModel) -> None:
    """Raise an error for robots that have no transmission to audit.

    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel.
        ModelError: The model has neither rotors nor closed loops.
    """
    check_model(model, "audit.run")
    followers = approximations.followers(model)
    if not model.rotors and not model.closures:
        moved = f" (driven fingers or links do not count: {', '.join(followers)})" if followers else ""
        example_joint = next((s.joint for s in suggested(model)), "JOINT")
        raise ModelError(
            f"nothing to audit: model {model.name!r} has no rotors{moved}.{told(model)} Add rotors: --rotor "
            f"'{example_joint}=RATIO,INERTIA' or --motors FILE (pin-clusters motors writes a template), in Python "
            f"pc.Rotor({example_joint!r}, ratio, axial_inertia=J) or pc.open_robot(..., motors=FILE)."
        )


def _scripts(model: ClusterModel, reflected: Reflected) -> dict[str, str]:
    if not model.rotors:
        return {}
    return {
        "mujoco_xml": snippets.mujoco_xml(reflected),
        "mujoco_python": snippets.mujoco_python(model.name, reflected),
        "pinocchio": snippets.pinocchio(model.name, model, reflected),
    }
