"""The command ``pin-clusters``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from . import __version__
from .errors import PinClustersError

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_POSITIVE = click.FloatRange(min=0.0, min_open=True)


class _Commands(click.Group):
    """A group that turns the user's mistakes into one line and exit code 1."""

    def invoke(self, ctx: click.Context) -> Any:
        from ._cli import common

        with common.warnings_as_lines():
            try:
                return super().invoke(ctx)
            except PinClustersError as error:
                common.error_line(error)
                ctx.exit(1)


@click.group(cls=_Commands, context_settings=_CONTEXT)
@click.version_option(__version__, prog_name="pin-clusters")
def main() -> None:
    """Exact dynamics of robots with gears, belts and closed loops, on top of Pinocchio.

    \b
    Examples:
      pin-clusters study mit_humanoid_leg     what the armature approximation gets wrong
      pin-clusters study tello                the same for closed loops and differentials
      pin-clusters audit mit_humanoid         is armature enough? one page that says so
      pin-clusters info mini_cheetah          what a robot is made of
      pin-clusters info my_robot.urdf         the same for a URDF or URDF+ file
      pin-clusters bench mit_humanoid         time per call against Pinocchio
      pin-clusters view tello                 look at it in the browser
      pin-clusters sweep ratio mit_humanoid   what armature misses, against the gear ratio

    Exit codes: 0 done, 1 a mistake in the input (one line on stderr says which), 2 wrong usage.
    """  # noqa: D301 (click wants the character)


@main.command(context_settings=_CONTEXT)
@click.argument("robot", metavar="ROBOT|FILE")
def info(robot: str) -> None:
    """Show clusters, closed loops, rotors and reflected inertia.

    ROBOT is the name of a robot that ships with the package, FILE a URDF or URDF+ file. Warnings about the description
    go to stderr.

    \b
    Examples:
      pin-clusters info mit_humanoid
      pin-clusters info tello
      pin-clusters info robots/arm.urdf
    """  # noqa: D301 (click wants the character)
    from ._cli import common
    from ._cli import info as command

    command.show(common.load(robot), common.console())


@main.command(context_settings=_CONTEXT)
@click.argument("robot", metavar="ROBOT|FILE")
@click.option("--repeats", type=click.IntRange(3, 1000), default=25, show_default=True, help="Blocks of each function.")
def bench(robot: str, repeats: int) -> None:
    """Time rnea, aba and crba against Pinocchio.

    Pinocchio computes the approximate robot (armature, no rotors), this package the exact one; calls are
    interleaved. A robot with closed loops has no such approximation: its rivals are projection and, where it can
    express the loops, pin.constraintDynamics. The first run compiles kernels.

    \b
    Examples:
      pin-clusters bench mit_humanoid
      pin-clusters bench jvrc1 --repeats 100
      pin-clusters bench tello
    """  # noqa: D301 (click wants the character)
    from ._cli import bench as command
    from ._cli import common

    model = common.load(robot)
    with common.ProgressBar("timing") as progress:
        found = command.measure(model, repeats=repeats, progress=progress)
    command.show(model, found, common.console())


@main.command(context_settings=_CONTEXT)
@click.argument("robot", metavar="ROBOT|FILE")
@click.option(
    "--static", type=click.Path(path_type=Path), metavar="FILE.html", help="Write one page that needs no network."
)
@click.option("--animate", metavar="MOTION", help="swing, sweep, random, a motion of `study`, or a recording.")
@click.option("--ghost", metavar="RUNG", help="An approximation under the same torques, translucent: diagonal, ...")
@click.option("--duration", type=_POSITIVE, help="Of the motion, s.  [default: swing 5, sweep 4, random 9]")
@click.option("--amplitude", type=_POSITIVE, help="Of swing and sweep, rad (m).  [default: 0.5]")
@click.option("--forces", is_flag=True, help="Arrows for the forces of loops and rods.")
@click.option("--meshes", is_flag=True, help="Draw the meshes of FILE in place of joints and inertias.")
@click.option("--port", type=click.IntRange(1, 65535), help="Serve the page there.  [default: any that is free]")
@click.option("--open/--no-open", "open_browser", default=True, help="Open a browser.  [default: open]")
def view(robot: str, **options: Any) -> None:
    """Look at a robot: rotors, belts, rods and loops, in the browser.

    Without --static, serves a page on this machine until Ctrl-C. Robots are drawn from their joints and inertias, or
    with the meshes of their file. Rotors turn at their ratio, closed loops turn to vermillion as they open.

    \b
    Motions, with a fixed base as there is no contact:
      swing   passive, under gravity, from a pose off the reference pose
      sweep   every independent joint along a sine about the reference pose
      random  through random poses that the loops can reach
      mini_cheetah_trot, ... or a .csv or .npz file: as in `study`, the base moves

    --ghost shows how far an approximation gets under the same torques: none, diagonal or block; with closed loops
    unconstrained, frozen, "no rotor" or armature.

    \b
    Examples:
      pin-clusters view tello
      pin-clusters view four_bar --animate swing --forces
      pin-clusters view mit_humanoid_leg --animate sweep --ghost diagonal
      pin-clusters view mini_cheetah --animate mini_cheetah_trot --static trot.html
      pin-clusters view my_robot.urdf --port 7000 --no-open
    """  # noqa: D301 (click wants the character)
    from ._cli import common
    from ._cli import view as command

    command.run(robot, common.console(), **options)


@main.command(context_settings=_CONTEXT)
@click.argument("robot", metavar="ROBOT|FILE", required=False)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder of the results.  [default: ./study_ROBOT]"
)
@click.option(
    "--trajectory", metavar="NAME|FILE", default="sine", show_default=True,
    help="sine, chirp, minimum-jerk, a motion that ships with the package, or a .csv or .npz recording.",
)  # fmt: skip
@click.option("--base", type=click.Choice(["fixed", "floating"]), help="[default: floating if its motion is recorded]")
@click.option("--amplitude", type=_POSITIVE, help="Amplitude of each joint, rad (m).  [default: 0.5; chirp: 0.2]")
@click.option("--frequency", type=_POSITIVE, help="Frequency, Hz; of a chirp at its end.  [default: 1.5; chirp: 3.0]")
@click.option("--duration", type=_POSITIVE, help="Duration, s.  [default: 5.0; minimum-jerk: 2.0]")
@click.option("--dt", type=_POSITIVE, help="Time between samples, s.  [default: 0.0005; recordings: as recorded]")
@click.option(
    "--pose", "poses", multiple=True, metavar="POSE",
    help="Of minimum-jerk, at least two: JOINT=VALUE,... or neutral or reference.",
)  # fmt: skip
@click.option("--cutoff", type=_POSITIVE, help="Low-pass filter of a recording, Hz.")
@click.option("--degrees", is_flag=True, help="Angles of the recording are in degrees.")
@click.option("--hold-missing", is_flag=True, help="Joints that were not recorded stay where they are.")
@click.option("--drop-rotors", is_flag=True, help="Leave the rotors out of the approximations, mass and all.")
@click.option("--experiment", metavar="NAME", help="An experiment of the paper instead; see below.")
def study(
    robot: str | None, output: Path | None, trajectory: str, base: Literal["fixed", "floating"] | None,
    drop_rotors: bool, experiment: str | None, **options: Any,
) -> None:  # fmt: skip
    """Compare exact joint torques with approximations along a motion.

    Every independent joint moves as A sin(2 pi f t), the base is fixed; other motions by --trajectory. The
    approximations: no armature; diagonal armature (Pinocchio, MuJoCo); block armature, with the off-diagonal terms of
    belts. Prints tables and writes study.json and study.png.

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
    from ._cli import common
    from ._cli import study as command

    given = {name: value for name, value in options.items() if value not in (None, False, ())}
    if experiment is not None:
        if given or trajectory != "sine" or base is not None:
            raise click.UsageError("--experiment takes ROBOT, --output and --drop-rotors only.")
        folder = Path(f"study_{experiment}") if output is None else output
        command.run_experiment(experiment, robot, folder, common.console(), drop_rotors=drop_rotors)
        return
    if robot is None:
        raise click.UsageError("Missing argument 'ROBOT|FILE'.")
    motion = command.trajectory_of(trajectory, given)
    folder = Path(f"study_{common.short_name(robot)}") if output is None else output
    command.run(robot, folder, common.console(), trajectory=motion, base=base, drop_rotors=drop_rotors)


@main.command(context_settings=_CONTEXT)
@click.argument("robot", metavar="ROBOT|FILE")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder of the results.  [default: ./audit_ROBOT]"
)
@click.option(
    "--threshold", type=click.FloatRange(0.0, 100.0, min_open=True), default=5.0, show_default=True,
    help="Largest RMS torque error that is enough, % of the joint's peak torque.",
)  # fmt: skip
@click.option(
    "--frame", "frames", multiple=True, metavar="NAME",
    help="Frame whose inertia and drift to look at; several times.  [default: ends of the longest chains]",
)  # fmt: skip
def audit(
    robot: str, output: Path | None, threshold: float, frames: tuple[str, ...], trajectory: str,
    base: Literal["fixed", "floating"] | None, drop_rotors: bool, **options: Any,
) -> None:  # fmt: skip
    """Is armature enough? Write a page that says so.

    Compares the exact robot with its approximations along a motion, chosen as for `study`, and says whether the usual
    one, diagonal armature, stays within the threshold at every joint. Writes audit.html, one page that needs no
    network: verdict, worst joints, what the error is made of, the values for the best approximation, and the lines for
    MuJoCo and Pinocchio; and audit.json with all numbers.

    \b
    Examples:
      pin-clusters audit mit_humanoid
      pin-clusters audit tello --threshold 1
      pin-clusters audit mini_cheetah --trajectory mini_cheetah_trot
      pin-clusters audit my_robot.urdf --amplitude 0.2 --output /tmp/audit
    """  # noqa: D301 (click wants the character)
    from ._cli import audit as command
    from ._cli import common
    from ._cli.study import trajectory_of

    folder = Path(f"audit_{common.short_name(robot)}") if output is None else output
    given = {name: value for name, value in options.items() if value not in (None, False, ())}
    command.run(
        robot, folder, common.console(), threshold=threshold, trajectory=trajectory_of(trajectory, given),
        base=base, frames=frames or None, drop_rotors=drop_rotors,
    )  # fmt: skip


# the motion is chosen as for the study
audit.params += [p for p in study.params if p.name not in ("robot", "output", "experiment")]


@main.group(context_settings=_CONTEXT)
def sweep() -> None:
    """Study many robots or parameters at once.

    \b
    Examples:
      pin-clusters sweep ratio mit_humanoid_leg
      pin-clusters sweep robots --robots 10000 --output robots
    """  # noqa: D301 (click wants the character)


@sweep.command(context_settings=_CONTEXT)
@click.argument("robot", metavar="ROBOT|FILE", default="mit_humanoid_leg")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder of the results.  [default: ./sweep_ratio_ROBOT]"
)
@click.option("--factors", metavar="F,F,...", help="Factors of all ratios.  [default: 1/3,1/2,1,2,3,5,10,20]")
@click.option("--amplitude", type=_POSITIVE, default=0.5, show_default=True, help="Amplitude of each joint, rad (m).")
@click.option("--frequency", type=_POSITIVE, default=1.5, show_default=True, help="Frequency, Hz.")
@click.option("--duration", type=_POSITIVE, default=5.0, show_default=True, help="Duration, s.")
@click.option("--dt", type=_POSITIVE, default=5e-4, show_default=True, help="Time between samples, s.")
@click.option("--drop-rotors", is_flag=True, help="Leave the rotors out of the approximations, mass and all.")
@click.option("--workers", type=click.IntRange(1), help="Processes; 1 starts none.  [default: all cores]")
def ratio(
    robot: str, output: Path | None, factors: str | None, drop_rotors: bool, workers: int | None, **motion: float
) -> None:  # fmt: skip
    """Error of the approximations against the gear ratio.

    All ratios are multiplied by a factor f, and the rotors' inertias by 1/f^2, so that the inertia that they reflect to
    their joints stays the same; then the robot moves as in `study`. ROBOT needs rotors; without it, the leg of the
    paper is taken. Prints tables and writes ratio.json and ratio.png.

    \b
    Examples:
      pin-clusters sweep ratio
      pin-clusters sweep ratio mini_cheetah --factors 1,3,10
      pin-clusters sweep ratio my_robot.urdf --frequency 3 --workers 1
    """  # noqa: D301 (click wants the character)
    from ._cli import common
    from ._cli import sweep as command

    folder = Path(f"sweep_ratio_{common.short_name(robot)}") if output is None else output
    command.ratio(robot, folder, common.console(), factors=factors, drop_rotors=drop_rotors, workers=workers, **motion)


@sweep.command(context_settings=_CONTEXT)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default=Path("sweep_robots"), show_default="./sweep_robots",
    help="Folder of the results.",
)  # fmt: skip
@click.option("--robots", type=click.IntRange(1), default=400, show_default=True, help="Number of robots.")
@click.option("--states", type=click.IntRange(1), default=25, show_default=True, help="Random states of each.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the random numbers.")
@click.option("--resume", is_flag=True, help="Go on with what --output holds of the same sweep.")
@click.option("--workers", type=click.IntRange(1), help="Processes; 1 starts none.  [default: all cores]")
@click.option("--dask", metavar="ADDRESS|local", help="Run on a Dask cluster; local starts one on this machine.")
@click.option("--chunk", type=click.IntRange(1), help="Robots per file.  [default: a hundredth, at most 100]")
def robots(output: Path, **options: Any) -> None:
    """Error of the approximations over random robots.

    Draws robots with gears and belts, some with a floating base, as in the accuracy study of arXiv 2311.13732, and
    compares inverse and forward dynamics of each approximation with the exact ones. Prints a table, and writes
    robots.json and robots.png next to the results of each robot, which `pin_clusters.sweeps.load` reads. Robot i of a
    seed is always the same. Ctrl-C leaves what is done; --resume goes on. Exit code 130 after Ctrl-C.

    \b
    Examples:
      pin-clusters sweep robots
      pin-clusters sweep robots --robots 10000 --output robots
      pin-clusters sweep robots --robots 10000 --output robots --resume
      pin-clusters sweep robots --dask local
      pin-clusters sweep robots --dask tcp://192.168.0.7:8786
    """  # noqa: D301 (click wants the character)
    from ._cli import common
    from ._cli import sweep as command

    command.robots(output, common.console(), **options)


if __name__ == "__main__":
    main()
