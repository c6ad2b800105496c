"""Commands that inspect robots: ``info``, ``bench``, ``view``."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ...compiler.versions import show_versions
from ...errors import PinClustersError
from .. import common
from . import CONTEXT, POSITIVE, ROBOT, file_of, of_robot
from .simulate import options


@click.command(context_settings=CONTEXT)
@click.argument("robot", metavar="[ROBOT|FILE]", required=False, callback=file_of)
@of_robot
def info(robot: str | None, independent: tuple[str, ...] | None) -> None:
    """Show clusters, closed loops, rotors and reflected inertia.

    Warnings about the file go to stderr. Without ROBOT, the command shows versions and whether the C extension
    is active.

    \b
    Examples:
      pin-clusters info mit_humanoid
      pin-clusters info tello
      pin-clusters info robots/arm.urdf
      pin-clusters info                  versions, and whether the C extension is active
    """  # noqa: D301 (click needs the backspace character)
    from .. import info as command

    if robot is None:
        return show_versions()
    command.show(common.with_options(common.load(robot), robot, independent), common.console())


@click.command(context_settings=CONTEXT)
@ROBOT
@of_robot
@click.option("--repeats", type=click.IntRange(3, 1000), default=25, show_default=True, help="Timings per function.")
def bench(robot: str, repeats: int, independent: tuple[str, ...] | None) -> None:
    """Time rnea, aba and crba against Pinocchio.

    Pinocchio computes the approximate robot (armature, no rotors); this package computes the exact robot. The two
    packages are called alternately. Robots with closed loops are instead compared with projection and, if Pinocchio
    supports the loops, with pin.constraintDynamics. The first run compiles kernels.

    \b
    Examples:
      pin-clusters bench mit_humanoid
      pin-clusters bench jvrc1 --repeats 100
      pin-clusters bench tello
    """  # noqa: D301 (click needs the backspace character)
    from ...verification import peers
    from .. import bench as command

    model = common.with_options(common.load(robot), robot, independent)
    with common.ProgressBar("timing") as progress:
        timings = peers.measure(model, repeats=repeats, progress=progress)
    command.show(model, timings, common.console())


@click.command(context_settings=CONTEXT)
@ROBOT
@click.option("--static", type=click.Path(path_type=Path), metavar="FILE.html", help="Write a page that works offline.")
@click.option("--animate", metavar="MOTION", help="Motion: swing, sweep, random, a motion of `study`, or a recording.")
@click.option("--simulate", is_flag=True, help="Simulate the robot under PD control; implied by --ground.")
@click.option("--ghost", metavar="APPROXIMATION", help="Also show an approximation under equal torques: diagonal, ...")
@click.option("--duration", type=POSITIVE, help="Duration, s.  [default: swing 5, sweep 4, random 9, --simulate 1]")
@click.option("--amplitude", type=POSITIVE, help="Amplitude of swing and sweep, rad (m).  [default: 0.5]")
@click.option("--forces", is_flag=True, help="Draw the constraint forces of loops and rods as arrows.")
@click.option("--meshes", is_flag=True, help="Draw the meshes of FILE in place of joints and inertias.")
@of_robot
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the page.  [default: any free port]")
@click.option("--host", default="127.0.0.1", help="Address of the page; 0.0.0.0 in a container.  [default: 127.0.0.1]")
@click.option("--open/--no-open", "open_browser", default=True, help="Open a browser.  [default: open]")
@options
def view(
    robot: str, static: Path | None, animate: str | None, ghost: str | None, duration: float | None,
    amplitude: float | None, forces: bool, meshes: bool, independent: tuple[str, ...] | None, port: int | None,
    host: str, open_browser: bool, simulate: bool, base: str | None, **how: Any,
) -> None:  # fmt: skip
    """Show a robot with its rotors, belts, rods and loops in the browser.

    Without --static, the command serves a page on this machine until Ctrl-C. The page shows the joints and inertias of
    the robot, or its meshes (--meshes). Rotors turn with their gear ratio. The colour of closed loops changes to
    vermillion as their residual grows.

    \b
    Motions without contact; the base is fixed unless noted:
      swing   passive motion under gravity from a pose near the reference pose
      sweep   every independent joint along a sine about the reference pose
      random  through random poses that the loops can reach
      mini_cheetah_trot, ... or a .csv or .npz file: as in `study`, the base moves

    --simulate or --ground shows a simulation, like the command `simulate`: the robot holds its pose, and falls on the
    ground if its base floats. Arrows show the contact forces; the ghost is simulated in the same way.

    --ghost also shows a translucent robot, an approximation under equal torques: none, diagonal or block; for robots
    with closed loops unconstrained, frozen, "no rotor" or armature.

    \b
    Examples:
      pin-clusters view tello
      pin-clusters view four_bar --animate swing --forces
      pin-clusters view mit_humanoid_leg --animate sweep --ghost diagonal
      pin-clusters view mini_cheetah --animate mini_cheetah_trot --static trot.html
      pin-clusters view mit_humanoid --ground --ghost diagonal --touching "*_ankle=-0.05,0,-0.041;0.1,0,-0.041"
      pin-clusters view my_robot.urdf --port 7000 --no-open
      pin-clusters view my_robot.urdf --port 7000 --host 0.0.0.0 --no-open
    """  # noqa: D301 (click needs the backspace character)
    from ... import visualize  # noqa: F401 (raises early if meshcat is not installed)
    from ..._support.whole_files import refused, whole
    from ...studies import motions
    from .. import drop
    from .. import view as scene

    out = common.console()
    simulate = simulate or bool(how["ground"])
    of = click.get_current_context().get_parameter_source
    simulation_options = [name for name in (*how, "base") if of(name) is ParameterSource.COMMANDLINE]
    motion_options = [name for name in ("animate", "amplitude", "forces") if of(name) is ParameterSource.COMMANDLINE]
    if (simulation_options and not simulate) or (motion_options and simulate):
        option, word = (motion_options[0], "with") if simulate else (simulation_options[0], "without")
        raise click.UsageError(f"--{option} cannot be used {word} --simulate.")
    # Without --animate, the robot rests in its reference pose unless another option requires a motion.
    if (
        animate is None
        and not simulate
        and (ghost is not None or forces or duration is not None or amplitude is not None)
    ):
        animate = "swing"
    if animate is not None:
        motions.check(animate)
    if animate == "random" and (ghost is not None or forces):
        raise PinClustersError("random poses have no torques. Use --ghost and --forces with --animate swing or sweep.")
    if static is not None:
        common.check_writable(static, "--static")
    with nullcontext() if static is not None else scene.Server(port, host) as server:
        loaded = drop.load(robot, base) if simulate else scene.load(robot, animate)
        model = common.with_options(loaded, robot, independent)
        dropped = drop.of(model, duration=duration or 1.0, ghost=ghost, **how) if simulate else None
        if ghost is not None and not simulate:
            motions.check_ghost(model, ghost)
        visual = scene.meshes_of(model, robot) if meshes else None
        page = scene.page_of(model, visual, animate, ghost, duration, amplitude, forces, out, dropped)
        if static is not None:
            with refused(common.OutputError, static), whole(static) as (part,):
                part.write_text(page, encoding="utf-8")
            out.print(f"Written: {static} ({len(page) / 1e6:.1f} MB, works offline)", soft_wrap=True)
        elif server is not None:
            scene.serve(server, page, out, open_browser)
