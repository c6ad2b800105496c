"""The audit: a study, its verdict, the reasons, and what to use instead."""

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
from ..study.rungs import Progress, in_thousandths
from . import snippets
from .exercised import Exercised, exercised
from .reflected import Reflected, reflect
from .simulated import Simulated, simulated
from .verdict import THRESHOLDS, Verdict, check_threshold, judge
from .walk import Walked, walked

SAMPLES = 1000
"""Samples of the motion at which the error is taken apart, evenly spread."""


@dataclass(frozen=True, eq=False)
class AuditResult(Shown, Result):
    """Whether armature is enough for a robot, why, and what would be.

    Attributes:
        robot: Name of the robot.
        study: Torques of the exact robot and of its approximations along the motion.
        verdict: The answer.
        exercised: Which joints the motion moves.
        why: What the error of the approximation that is asked about is made of, at some samples of the motion.
        simulated: What the approximations do to a simulation.
        reflected: Reflected inertia, and what to put into the joints of another simulator.
        scripts: Lines for other simulators: ``"mujoco_xml"``, ``"mujoco_python"``, ``"pinocchio"``.
        walk: What the approximations do to touch-downs, if that was asked for.
        losses: Names of rotors whose motors or gears have losses, which are left out.
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
        """RMS of the error of each approximation as a part of the joint's peak torque, shape (joints,), [%]."""
        return self.study.share(self.study.rms_error)

    @property
    def order(self) -> list[int]:
        """Columns of the study that are joints, the one first at which what is asked about is worst."""
        columns = self.study.actuated
        # what differs by rounding only stays in the robot's order
        values = np.round(self.percent[self.verdict.asked][columns], 9)
        return [int(columns[k]) for k in np.argsort(-values, kind="stable")]

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers as plain numbers and text, ready for JSON."""
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
    """Find out whether armature is enough for a robot.

    Args:
        model: The robot, with its rotors.
        trajectory: As in ``study.run``: the motion; without one, a sine at every joint.
        threshold: Largest RMS torque error that is enough for torque control, [%] of the joint's peak torque.
        simulation: Largest RMS error of accelerations under the exact torques that is enough for it, [%] of their RMS.
        policy: The same for a policy that is trained in one.
        base: As in ``study.run``: a sine holds a floating base, a recorded motion moves it.
        frames: Names of frames at which to compare apparent inertia and drift; by default the ends of the longest
            chains.
        walk: Also let the exact robot and its approximations follow the motion, a recorded one, on a ground, their base
            in a soft harness, and compare touch-downs: impulses, torques, speeds of joints.
        drop: Let them fall from this height instead, in the first pose of the motion, without a harness, [m].
        ground: By default ``pc.Ground()``; with ``walk`` it is lifted to where the lowest point is most of the time.
        touching: What may touch, as in ``pc.simulate``.

    Returns:
        The verdict and all numbers; ``write`` makes a page of them.

    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel, or the threshold is no number.
        ThresholdError: A threshold is not between 0 and 100.
        ModelError: The robot has neither rotors nor closed loops, so there is nothing to audit; or what ``study.run``
            refuses; with ``walk`` or ``drop`` also if its base does not float, or nothing lands.
        TrajectoryError: A number of the motion is not allowed; with ``walk`` also if the motion is no recorded one of
            the base, or the harness carries more than 20 % of the weight.
        SimulationError: Nothing can touch the ground, or a simulation fails.
        UnknownNameError: There is no such frame.
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
            f"audit: of what follows other joints in {model.name!r}, this looks like fingers or links and not like "
            f"rotors: {', '.join(followers)}. The approximations lock it as they lock rotors, so its motion counts as "
            "an error. To leave it out, audit the robot without these couplings: pc.ClusterModel(model.tree, rotors).",
            PinClustersWarning,
            stacklevel=2,
        )
    thresholds = dict(zip(THRESHOLDS, map(check_threshold, (threshold, simulation, policy)), strict=True))
    for frame in frames or ():
        model.getFrameId(frame)  # before anything slow
    told = in_thousandths(progress)
    on_foot = walk or drop is not None  # first, as it refuses more
    moving = study.Sine(amplitude, frequency, duration, dt) if trajectory is None else trajectory
    if isinstance(moving, study.Sine | study.Chirp):  # in phase they begin in the reference pose, for a drop
        moving = replace(moving, in_phase=True)
    landed = walked(model, moving, drop, ground, touching, lambda x: told(0.5 * x)) if on_foot else None
    begun = 0.5 * on_foot
    found = study.run(
        model,
        trajectory,
        amplitude=amplitude,
        frequency=frequency,
        duration=duration,
        dt=dt,
        drop_rotors=drop_rotors,
        base=base,
        progress=lambda done, total: told(begun + (0.6 - begun) * done / total),
    )
    motion = states(model, found.trajectory, found.base)[1:]
    some = spread(len(found.time), SAMPLES)
    q, v, a = (x[some] for x in motion)
    why = study.decompose(model, q, v, a, usual(found.approximate), drop_rotors)
    told(0.7)
    forward = simulated(model, found, motion, frames, lambda part: told(0.7 + 0.25 * part))
    reflected = reflect(model, motion[0])
    moved = exercised(model, motion[0])
    verdict = judge(found, forward, thresholds, moved.still)
    told(1.0)
    scripts = _scripts(model, reflected)
    return AuditResult(model.name, found, verdict, moved, why, forward, reflected, scripts, landed, losses)


def _lossless(constraint: Any) -> Any:
    """Return a motor, or a rotor with its motor, without losses."""
    if isinstance(constraint, Motor):
        return replace(constraint, viscous=0.0, coulomb=0.0, efficiency=None, back_efficiency=None)
    motor = constraint.motor if isinstance(constraint, Rotor) else None
    return constraint if motor is None else replace(constraint, motor=_lossless(motor))


def check(model: ClusterModel) -> None:
    """Refuse what has no transmission.

    Raises:
        ArgumentTypeError: It is not a ClusterModel.
        ModelError: It has neither rotors nor closed loops.
    """
    check_model(model, "audit.run")
    followers = approximations.followers(model)
    if not model.rotors and not model.closures:
        moved = f" (driven fingers or links are none: {', '.join(followers)})" if followers else ""
        first = next((s.joint for s in suggested(model)), "JOINT")
        raise ModelError(
            f"nothing to audit: model {model.name!r} has no rotors{moved}.{told(model)} Add rotors: --rotor "
            f"'{first}=RATIO,INERTIA' or --motors FILE (pin-clusters motors writes a template), in Python "
            f"pc.Rotor({first!r}, ratio, axial_inertia=J) or pc.open_robot(..., motors=FILE)."
        )


def _scripts(model: ClusterModel, reflected: Reflected) -> dict[str, str]:
    if not model.rotors:
        return {}
    return {
        "mujoco_xml": snippets.mujoco_xml(reflected),
        "mujoco_python": snippets.mujoco_python(model.name, reflected),
        "pinocchio": snippets.pinocchio(model.name, model, reflected),
    }
