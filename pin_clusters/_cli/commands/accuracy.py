"""Commands on what approximations get wrong: ``study``, ``audit``."""

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
@click.option("--base", type=click.Choice(["fixed", "floating"]), help="[default: floating if its motion is recorded]")
@click.option("--amplitude", type=POSITIVE, help="Amplitude of each joint, rad (m).  [default: 0.5; chirp: 0.2]")
@click.option("--frequency", type=POSITIVE, help="Frequency, Hz; of a chirp at its end.  [default: 1.5; chirp: 3.0]")
@click.option("--duration", type=POSITIVE, help="Duration, s.  [default: 5.0; minimum-jerk: 2.0]")
@click.option("--in-phase", is_flag=True, help="All joints do the same, as in arXiv 2311.13732.")
@click.option("--dt", type=POSITIVE, help="Time between samples, s.  [default: 0.0005; recordings: as recorded]")
@click.option(
    "--pose",
    "poses",
    multiple=True,
    metavar="POSE",
    help="Of minimum-jerk, at least two: JOINT=VALUE,... or neutral or reference.",
)
@click.option("--cutoff", type=POSITIVE, help="Low-pass filter of a recording, Hz.")
@click.option("--degrees", is_flag=True, help="Angles of the recording are in degrees.")
@click.option("--hold-missing", is_flag=True, help="Joints that were not recorded stay where they are.")
@DROP_ROTORS
@of_robot
@click.option("--experiment", metavar="NAME", help="An experiment of the paper instead; see below.")
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

    Every independent joint moves as A sin(2 pi f t), the base is fixed; joints that share rotors or loops do so with a
    phase each, so that every freedom of a differential moves. Other motions by --trajectory. The approximations: no
    armature; diagonal armature (Pinocchio, MuJoCo); block armature, with the off-diagonal terms of belts. Prints tables
    and writes study.json and study.png.

    A recording has a column "time" (s) and a column per joint, by its name (rad, m); x y z qx qy qz qw is the pose of a
    floating base. Motions that ship with the package: mini_cheetah_trot, mini_cheetah_jump, mit_humanoid_walk,
    mit_humanoid_jump.

    Robots with closed loops move about their reference pose, and A is cut if the loops cannot follow so far (said on
    screen, in study.json and in the plot). Their approximations:

    \b
      unconstrained          the independent joints' own rows of the spanning tree,
                             tau = M_ii a + h_i, without what the dependents carry
      frozen loops           the coupling G0 of the reference pose at every pose, as
                             if the loops were gears: tau = G0' rnea(q, G0 v, G0 a)
                             with rnea of the spanning tree
      exact loops, no rotor  (if it has rotors) the rotors do not spin
      exact loops, armature  (if it has rotors) J ratio^2 of each rotor as armature
                             of the joints that drive it

    \b
    Experiments of the accuracy study of arXiv 2311.13732, by --experiment:
      torque-sinusoids       torques along sines of 0.25, 0.5, 0.75 and 1.5 Hz
      torque-magnitude       forward dynamics against the magnitude of the torque
      end-effector-tracking  the same torques in open loop, where the foot goes
      random-chains          many random chains, without ROBOT

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
    """  # noqa: D301 (click wants the character)
    from ... import approximations
    from ..._support.whole_files import all_of
    from ...studies import study
    from ...studies.study import plots, report
    from .. import study as command
    from .. import tables

    out = common.console()
    if experiment is not None:
        if command.given(options) or trajectory != "sine" or base is not None or independent:
            raise click.UsageError("--experiment takes ROBOT, --output and --drop-rotors only.")
        folder = Path(f"study_{experiment}") if output is None else output
        command.run_experiment(experiment, robot, folder, out, drop_rotors=drop_rotors)
        return
    if robot is None:
        raise click.UsageError("Missing argument 'ROBOT|FILE'.")
    motion = command.trajectory_of(trajectory, options)
    folder = folder_of(output, "study", robot)
    model = common.as_asked(command.load(robot, base, motion), robot, independent)
    with common.output_folder(folder):
        with common.ProgressBar("inverse dynamics") as progress:
            result = study.run(model, motion, base=base, drop_rotors=drop_rotors, progress=progress)
        command.show(result, out)
        if links := approximations.followers(model):
            tables.say(
                out,
                f"What follows other joints (here {', '.join(links)}) is locked in the approximations as "
                "rotors are, but looks like fingers or links: that error is in the numbers, too.",
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
    help="Largest RMS torque error that is enough for torque control, % of the joint's peak torque.",
)
@click.option("--simulation", type=PERCENT, default=10.0, show_default=True, help="Of accelerations, % of their RMS.")
@click.option("--policy", type=PERCENT, default=20.0, show_default=True, help="The same for a policy that is trained.")
@click.option(
    "--frame",
    "frames",
    multiple=True,
    metavar="NAME",
    help="Frame whose inertia and drift to look at; several times.  [default: ends of the longest chains]",
)
@click.option(
    "--walk",
    is_flag=False,
    flag_value="",
    metavar="[MOTION]",
    help="Compare touch-downs along a recorded motion, too.  [default: the walk or trot that ships with the robot]",
)
@click.option("--drop", type=POSITIVE, metavar="HEIGHT", help="Compare a landing, let fall from this height, m.")
@click.option("--friction", type=click.FloatRange(0.0, 10.0), default=0.8, show_default=True, help="Of the ground.")
@click.option(
    "--touching",
    multiple=True,
    metavar="NAME[=X,Y,Z;...]",
    help="What touches: frames, or points of frames or joints, m.  [default: the robot's shapes]",
)
@click.option(
    "--from-armature",
    type=POSITIVE,
    metavar="RATIO",
    expose_value=False,
    callback=keep,
    help="Take armature for rotors behind gears of that ratio: inertia = armature / RATIO^2.",
)
@explained
def audit(
    robot: str, output: Path | None, threshold: float, simulation: float, policy: float, frames: tuple[str, ...],
    walk: str | None, drop: float | None, friction: float, touching: tuple[str, ...], trajectory: str,
    base: Literal["fixed", "floating"] | None, drop_rotors: bool, independent: tuple[str, ...] | None, **options: Any,
) -> None:  # fmt: skip
    """Is armature enough? Write a page that says so.

    Compares the exact robot with its approximations along a motion, chosen as for `study`, and says whether the usual
    one, diagonal armature, is enough for torque control, for simulation and for a policy: a line and a threshold each.
    It names the joints that the motion does not exercise. Writes audit.html, one page that needs no
    network: verdict, worst joints, what the error is made of, the values for the best approximation, and the lines for
    MuJoCo and Pinocchio; and audit.json with all numbers.

    \b
    Examples:
      pin-clusters audit mit_humanoid
      pin-clusters audit tello --threshold 1
      pin-clusters audit mini_cheetah --trajectory mini_cheetah_trot
      pin-clusters audit my_robot.urdf --amplitude 0.2 --output /tmp/audit
      pin-clusters audit my_robot.xml --from-armature 9
      pin-clusters audit mit_humanoid --walk
      pin-clusters audit my_robot.urdf --walk gait.csv --touching "*_ankle=0.1,0,0;-0.05,0,0"
    """  # noqa: D301 (click wants the character)
    from ...simulation.ground.plane import Ground
    from ...studies import audit
    from .. import drop as drops
    from .. import study as motions
    from .. import tables

    folder, out = folder_of(output, "audit", robot), common.console()
    if walk is not None:
        trajectory = motions.walk_of(robot, walk)
    motion = motions.trajectory_of(trajectory, options)
    # as it is, floating or not, where nothing is said: what its base does is for the study to say
    as_it_is = base is None and not Path(robot).is_file()
    model = common.load(robot) if as_it_is else motions.load(robot, base, motion)
    model = common.as_asked(model, robot, independent)
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
        losses = f"Losses of motors are left out: {', '.join(result.losses)}." if result.losses else ""
        for text in (verdict.sentence, *lines, verdict.flight, result.exercised.sentence, verdict.advice, losses):
            tables.say(out, text) if text else None
        if result.walk:
            tables.say(out, f"{result.walk.motion}: {result.walk.sentence}")
        with common.written(folder):
            files = audit.write(result, folder)
    common.say_written(out, *files)


# the motion is chosen as for the study
audit.params += [p for p in study.params if p.name not in ("robot", "output", "experiment")]
