"""The command ``worlds``."""

import click

from .. import common
from . import CONTEXT, POSITIVE, ROBOT, of_robot


@click.command(context_settings=CONTEXT)
@ROBOT
@click.option("--ground/--no-ground", default=None, help="Add a ground plane.  [default: if the base floats]")
@click.option("--base", type=click.Choice(["fixed", "floating"]), help="[default: base of the robot]")
@click.option("--friction", type=click.FloatRange(0.0), default=0.8, show_default=True, help="Coulomb friction.")
@click.option("--pose", multiple=True, metavar="JOINT=VALUE,...", help="Pose, rad (m).  [default: reference]")
@click.option(
    "--touching",
    multiple=True,
    metavar="NAME[=X,Y,Z;...]",
    help="Contact points relative to a joint or frame, m; by default its origin.  [default: the collision shapes]",
)
@click.option("--sweeps", type=click.IntRange(1), default=10, show_default=True, help="Sweeps of the contact solver.")
@click.option("--kp", type=float, help="Stiffness of all driven joints, N m/rad (N/m).  [default: by weight]")
@click.option("--kd", type=float, help="Damping of all driven joints, N m s/rad (N s/m).  [default: by kp]")
@click.option("--dt", type=POSITIVE, default=2e-3, show_default=True, help="Time step, s.")
@of_robot
def worlds(
    robot: str,
    ground: bool | None,
    base: str | None,
    friction: float,
    pose: tuple[str, ...],
    touching: tuple[str, ...],
    sweeps: int,
    kp: float | None,
    kd: float | None,
    dt: float,
    independent: tuple[str, ...] | None,
) -> None:
    """Measure how fast and how accurately many copies of a robot step side by side (pc.Worlds).

    The command prints the time steps per second and core, the difference to pc.simulate after a step, the residual of
    the contact laws, and the closure of the loops. If MuJoCo is installed, it also times MuJoCo with the exported
    robot. In --pose and --touching, * matches any text.

    \b
    Examples:
      pin-clusters worlds mini_cheetah --touching "*_foot"
      pin-clusters worlds tello --touching "*_toe" --touching "*_heel"
    """  # noqa: D301 (click needs the backspace character)
    from ...simulation import Ground, on_ground
    from ...studies import drops, world_rates
    from .. import drop
    from .. import worlds as report

    model = common.with_options(drop.load(robot, base), robot, independent)
    plane = Ground(friction) if (drops.floats(model) if ground is None else ground) else None
    points = drop.touching_of(model, touching) if plane else None
    q = drops.posed(model, drop.poses(pose), "--pose")
    if plane is not None and drops.floats(model):
        q = on_ground(model, q, plane, points)
    rates = world_rates.measure(model, q, ground=plane, touching=points, dt=dt, sweeps=sweeps, kp=kp, kd=kd)
    report.show(model, rates, common.console())
