"""The command ``mujoco``."""

from pathlib import Path

import click

from .. import common
from . import CONTEXT, ROBOT, of_robot


@click.command(context_settings=CONTEXT)
@ROBOT
@click.option("--mjcf", type=click.Path(path_type=Path), metavar="FILE", help="MJCF file of the same robot, as a tree.")
@click.option("--frame", "frames", multiple=True, metavar="NAME", help="Frame for touch-downs; repeatable.")
@of_robot
def mujoco(robot: str, mjcf: Path | None, frames: tuple[str, ...], independent: tuple[str, ...] | None) -> None:
    """Report the errors of a tree in MuJoCo, and the correction by pc.mujoco.Exact.

    The tree is the file of --mjcf, or FILE if FILE is an MJCF file. Otherwise, it is the tree of the robot with one
    constant armature per joint. The command prints the torque errors along a sine motion of all joints, the errors of
    the impulse at touch-down, both also with the callback, the time of a step, and the parts of the robot that MuJoCo
    does not simulate. No file is written. The command needs MuJoCo: pip install 'pin-clusters[mujoco]'.

    \b
    Examples:
      pin-clusters mujoco mit_humanoid
      pin-clusters mujoco my_robot.urdf --motors my_robot.motors.yaml --mjcf my_robot.xml
    """  # noqa: D301 (click needs the backspace character)
    from ..._support import extras
    from ...errors import LoadError
    from ...files.readers import buildModelFromMJCF, robots
    from ...files.readers.files import reader_of
    from ...studies import in_mujoco
    from .. import mujoco as report

    library, tree = extras.package("mujoco"), None
    model = common.with_options(common.load(robot), robot, independent)
    if mjcf is None and robot not in robots() and reader_of(robot) is buildModelFromMJCF:
        mjcf = Path(robot)
    if mjcf is not None:
        try:
            tree = library.MjModel.from_xml_path(str(mjcf))
        except ValueError as error:
            raise LoadError(f"MuJoCo cannot read {mjcf}: {error}") from None
    result = in_mujoco.measure(model, tree, frames=frames or None)
    report.show(result, str(mjcf or "constant armature"), common.console())
