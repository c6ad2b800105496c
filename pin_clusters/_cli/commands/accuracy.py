"""Commands that measure the errors of approximations: ``study``, ``audit``."""

from functools import partial
from pathlib import Path
from typing import Any, Literal

import click

from .. import common
from . import CONTEXT, DROP_ROTORS, POSITIVE, ROBOT, explained, file_of, folder_of, keep, of_robot, output

PERCENT = click.FloatRange(0.0, 100.0, min_open=True)


@click.command(context_settings=CONTEXT)
@click.argument("robot", metavar="ROBOT|FILE", required=False, callback=file_of)
@output("study")
@click.option(
    "--trajectory",
    metavar="NAME|FILE",
    default="sine",
    show_default=True,
    help="sine, chirp, minimum-jerk, a motion that ships with the package, or a .csv or .npz recording.",
)
@click.option("--base", type=click.Choice(["fixed", "floating"]), help="[default: floating if the motion moves it]")
@click.option("--amplitude", type=POSITIVE, help="Amplitude of each joint, rad (m).  [default: 0.5; chirp: 0.2]")
@click.option("--frequency", type=POSITIVE, help="Frequency, Hz; chirp: final frequency.  [default: 1.5; chirp: 3.0]")
@click.option("--duration", type=POSITIVE, help="Duration, s.  [default: 5.0; minimum-jerk: 2.0]")
@click.option("--in-phase", is_flag=True, help="Move all joints in phase, as in arXiv 2311.13732.")
@click.option("--dt", type=POSITIVE, help="Time between samples, s.  [default: 0.0005; recordings: as recorded]")
@click.option(
    "--pose",
    "poses",
    multiple=True,
    metavar="POSE",
    help="Via pose of minimum-jerk: JOINT=VALUE,..., neutral or reference; specify at least two.",
)
@click.option("--cutoff", type=POSITIVE, help="Cut-off frequency of the low-pass filter for recordings, Hz.")
@click.option("--degrees", is_flag=True, help="Angles of the recording are in degrees.")
@click.option("--hold-missing", is_flag=True, help="Hold joints without recorded positions at the reference pose.")
@DROP_ROTORS
@of_robot
@click.option("--experiment", metavar="NAME", help="Run this experiment of arXiv 2311.13732 instead.")
def study(
    robot: str | None,
    output: Path | None,
    trajectory: str,
    base: Literal["fixed", "floating"] | None,
    drop_rotors: bool,
    independent: tuple[str, ...] | None,
    experiment: str | None,
    **options: Any,
) -> None:
    """Compare exact joint torques with approximations along a motion.

    By default, every independent joint moves as A sin(2 pi f t) and the base is fixed. Joints that share rotors or
    loops have different phases, so every degree of freedom of a differential moves. --trajectory selects other motions.
    The approximations are no armature, diagonal armature (Pinocchio, MuJoCo), and block armature, which includes the
    off-diagonal terms of belts. The command prints tables and writes study.json and study.png.

    A recording has a column "time" (s), one column per joint, named after the joint (rad, m), and x y z qx qy qz qw for
    the pose of a floating base. The package contains these motions: mini_cheetah_trot, mini_cheetah_jump,
    mit_humanoid_walk, mit_humanoid_jump.

    Robots with closed loops move about their reference pose. If the loops cannot follow the full amplitude, the command
    reduces and reports A. The approximations with closed loops:

    \b
      unconstrained          equations of the independent joints in the spanning
                             tree, tau = M_ii a + h_i, without loop-closure forces
      frozen loops           constant coupling Jacobian G0 of the reference pose, as
                             if the loops were gears: tau = G0' rnea(q, G0 v, G0 a)
                             with rnea of the spanning tree
      exact loops, no rotor  (robots with rotors) the rotors do not spin
      exact loops, armature  (robots with rotors) J ratio^2 of each rotor as armature
                             of the joints that drive it

    \b
    Experiments of the accuracy study of arXiv 2311.13732 (--experiment):
      torque-sinusoids       torques along sines of 0.25, 0.5, 0.75 and 1.5 Hz
      torque-magnitude       forward dynamics against the magnitude of the torque
      end-effector-tracking  path of the foot under equal torques in open loop
      random-chains          random chains (do not specify ROBOT)

    \b
    Examples:
      pin-clusters study mit_humanoid_leg
      pin-clusters study tello
      pin-clusters study mit_humanoid_leg --drop-rotors --output /tmp/dropped
      pin-clusters study my_robot.urdf --amplitude 0.2 --frequency 3
      pin-clusters study mini_cheetah --trajectory mini_cheetah_trot
      pin-clusters study my_robot.urdf --trajectory gait.csv --base floating
      pin-clusters study mit_humanoid_leg --trajectory minimum-jerk --pose neutral --pose knee=1.2
      pin-clusters study --experiment torque-sinusoids
    """  # noqa: D301 (click needs the backspace character)
    from ... import approximations
    from ..._support.whole_files import all_of
    from ...studies import study
    from ...studies.study import plots, report
    from .. import study as command
    from .. import tables

    out = common.console()
    if experiment is not None:
        if command.given(options) or trajectory != "sine" or base is not None or independent:
            raise click.UsageError("--experiment defines its own motion. Pass only ROBOT, --output and --drop-rotors.")
        folder = Path(f"study_{experiment}") if output is None else output
        command.run_experiment(experiment, robot, folder, out, drop_rotors=drop_rotors)
        return
    if robot is None:
        raise click.UsageError("Missing argument 'ROBOT|FILE'.")
    motion = command.trajectory_of(trajectory, options)
    folder = folder_of(output, "study", robot)
    model = common.with_options(command.load(robot, base, motion), robot, independent)
    with common.output_folder(folder):
        with common.ProgressBar("inverse dynamics") as progress:
            result = study.run(model, motion, base=base, drop_rotors=drop_rotors, progress=progress)
        command.show(result, out)
        if links := approximations.followers(model):
            tables.say(
                out,
                f"The approximations lock all dependent joints as if they were rotors. Here {', '.join(links)} look "
                "like fingers or links, so the errors above include the error of locking them.",
            )
        files = [folder / "study.json", folder / "study.png"]
        with common.written(folder):
            all_of(partial(report.write_json, result, files[0]), partial(plots.save, result, files[1]))
    common.say_written(out, *files)


@click.command(context_settings=CONTEXT)
@ROBOT
@output("audit")
@click.option(
    "--threshold",
    type=PERCENT,
    default=5.0,
    show_default=True,
    help="Largest RMS torque error for torque control, % of the joint's peak torque.",
)
@click.option(
    "--simulation", type=PERCENT, default=10.0, show_default=True, help="Largest RMS error / RMS acceleration, %."
)
@click.option(
    "--policy",
    type=PERCENT,
    default=20.0,
    show_default=True,
    help="Largest RMS acceleration error for training a policy, % of the RMS acceleration.",
)
@click.option(
    "--frame",
    "frames",
    multiple=True,
    metavar="NAME",
    help="Frame at which inertia and drift are compared; repeatable.  [default: ends of the longest chains]",
)
@click.option(
    "--walk",
    is_flag=False,
    flag_value="",
    metavar="[MOTION]",
    help="Also compare touch-downs along a recorded motion.  [default: the walk or trot that ships with the robot]",
)
@click.option("--drop", type=POSITIVE, metavar="HEIGHT", help="Compare a landing after a fall from this height, m.")
@click.option("--friction", type=click.FloatRange(0.0, 10.0), default=0.8, show_default=True, help="Coulomb friction.")
@click.option(
    "--touching",
    multiple=True,
    metavar="NAME[=X,Y,Z;...]",
    help="Contact points relative to a joint or frame, m; by default its origin.  [default: the collision shapes]",
)
@click.option(
    "--from-armature",
    type=POSITIVE,
    metavar="RATIO",
    expose_value=False,
    callback=keep,
    help="Convert armature to rotors behind gears of this ratio: inertia = armature / RATIO^2.",
)
@explained
def audit(
    robot: str, output: Path | None, threshold: float, simulation: float, policy: float, frames: tuple[str, ...],
    walk: str | None, drop: float | None, friction: float, touching: tuple[str, ...], trajectory: str,
    base: Literal["fixed", "floating"] | None, drop_rotors: bool, independent: tuple[str, ...] | None, **options: Any,
) -> None:  # fmt: skip
    """Is armature accurate enough? Write a page with the verdict.

    The audit compares the exact robot with its approximations along a motion, selected as in `study`. The verdict
    states whether diagonal armature, the usual approximation, is accurate enough for torque control, simulation and
    training a policy; each use has its own threshold. The verdict also lists the joints that the motion does not
    exercise. audit.html works offline and contains the verdict, the worst joints, the contributions to the error, the
    values of the best approximation, and code for MuJoCo and Pinocchio. audit.json contains all numbers.

    \b
    Examples:
      pin-clusters audit mit_humanoid
      pin-clusters audit tello --threshold 1
      pin-clusters audit mini_cheetah --trajectory mini_cheetah_trot
      pin-clusters audit my_robot.urdf --amplitude 0.2 --output /tmp/audit
      pin-clusters audit my_robot.xml --from-armature 9
      pin-clusters audit mit_humanoid --walk
      pin-clusters audit my_robot.urdf --walk gait.csv --touching "*_ankle=0.1,0,0;-0.05,0,0"
    """  # noqa: D301 (click needs the backspace character)
    from ...simulation.ground.plane import Ground
    from ...studies import audit
    from .. import drop as drops
    from .. import study as motions
    from .. import tables

    folder, out = folder_of(output, "audit", robot), common.console()
    if walk is not None:
        trajectory = motions.walk_of(robot, walk)
    motion = motions.trajectory_of(trajectory, options)
    # Without --base, a robot of the package keeps its default base; audit.run decides whether the base moves.
    as_it_is = base is None and not Path(robot).is_file()
    model = common.load(robot) if as_it_is else motions.load(robot, base, motion)
    model = common.with_options(model, robot, independent)
    audit.check(model)
    on_foot = walk is not None or drop is not None
    points = drops.touching_of(model, touching) if on_foot else None
    with common.output_folder(folder):
        with common.ProgressBar("audit") as progress:
            result = audit.run(
                model,
                motion,
                threshold=threshold,
                simulation=simulation,
                policy=policy,
                base=base,
                frames=frames or None,
                drop_rotors=drop_rotors,
                walk=walk is not None and drop is None,
                drop=drop,
                ground=Ground(friction),
                touching=points,
                progress=progress,
            )
        verdict = result.verdict
        lines = (f"- {line.sentence}" for line in verdict.lines.values())
        losses = f"Motor losses are not included: {', '.join(result.losses)}." if result.losses else ""
        for text in (verdict.sentence, *lines, verdict.flight, result.exercised.sentence, verdict.advice, losses):
            tables.say(out, text) if text else None
        if result.walk:
            tables.say(out, f"{result.walk.motion}: {result.walk.sentence}")
        with common.written(folder):
            files = audit.write(result, folder)
    common.say_written(out, *files)


# the options that select the motion
audit.params += [p for p in study.params if p.name not in ("robot", "output", "experiment")]
