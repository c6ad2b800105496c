"""Commands that write a robot for other programs: ``export``, ``convert``, ``motors``."""

import warnings
from pathlib import Path
from typing import Any, Literal

import click

from ...errors import PinClustersWarning
from ...model import ClusterModel
from .. import common
from . import CONTEXT, POSITIVE, ROBOT, explained, folder_of, names, of_robot, output

FORMATS = {".urdf": "URDF+", ".xml": "MJCF", ".mjcf": "MJCF"}
"""Output formats by file extension."""


@click.command(context_settings=CONTEXT)
@ROBOT
@click.option(
    "--functions",
    metavar="NAME,NAME,...",
    callback=names,
    default="rnea,aba",
    show_default=True,
    help="Functions to export: names in pc.tracing.FUNCTIONS, or step.",
)
@output("export")
@click.option("--real", type=click.Choice(["double", "float"]), default="double", show_default=True, help="Data type.")
@click.option("--frames", metavar="NAME,...", callback=names, help="Frames for functions such as computeFrameJacobian.")
@click.option("--target", metavar="CPU|TRIPLE[,CPU]", help="CPU for ROBOT.o and ROBOT.so.  [default: this machine]")
@of_robot
@click.option("--name", help="Prefix of the names of files and functions.  [default: name of the robot]")
def export(
    robot: str,
    functions: tuple[str, ...],
    output: Path | None,
    real: str,
    frames: tuple[str, ...] | None,
    target: str | None,
    independent: tuple[str, ...] | None,
    name: str | None,
) -> None:
    """Write C code of a robot for a controller.

    The folder contains ROBOT.c and ROBOT.h (C99 that needs only sin, cos and sqrt of the C library), ROBOT.hpp (the
    interface for Eigen vectors), ROBOT.o and ROBOT.so in machine code, CMakeLists.txt, ROBOT.pc for pkg-config, and
    test/ROBOT_test.c, which compares results with those of this package. If an error occurs, no file is written.

    Each function has the form `void ROBOT_aba(const double *q, const double *v, const double *tau, double *ddq)`. It is
    exact, allocates no memory, contains no program loops and keeps no state. With closed loops, q must satisfy the
    constraints; `step` integrates q with a fixed number of Newton steps and returns the residual.

    \b
    Examples:
      pin-clusters export mini_cheetah
      pin-clusters export tello --functions rnea,aba,step -o tello_c
      pin-clusters export mit_humanoid_leg --real float --target armv7-linux-gnueabihf,cortex-a9
      pin-clusters export my_robot.urdf --functions computeFrameJacobian --frames foot
    """  # noqa: D301 (click needs the backspace character)
    from ...export import codegen

    model = common.with_options(common.load(robot), robot, independent)
    folder = folder_of(output, "export", robot)
    exported = codegen.export(model, folder, functions, real=real, frames=frames, target=target, name=name)
    for note in exported.notes:
        click.secho(f"note: {note}", fg="yellow", err=True)
    common.say_written(common.console(), *exported.files)


@click.command(context_settings=CONTEXT)
@click.argument("robot", metavar="IN")
@click.argument("target", metavar="[OUT]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--into",
    type=click.Path(path_type=Path),
    metavar="THEIR.xml",
    help="Change only joints, tendons, equalities and motors of this MJCF file.  [default OUT: this file]",
)
@click.option(
    "--approximation",
    type=click.Choice(["best", "diagonal", "exact"]),
    help="MJCF only: approximation of the rotors, see above.  [default: best]",
)
@click.option("--meshes", is_flag=True, help="MJCF only: draw the meshes of IN instead of boxes.")
@click.option("--timestep", type=float, help="MJCF only: time step, s.  [default: 0.001]")
@click.option(
    "--for",
    "trainer",
    type=click.Choice(["mujoco", "mjlab", "genesis", "isaaclab"]),
    help="Write MJCF, motor settings and a report on torque errors into the folder OUT, for this training framework.",
)
@click.option("--gains", type=POSITIVE, metavar="HZ", help="Natural frequency of position gains for --for, such as 10.")
@of_robot
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
def convert(
    robot: str,
    target: Path | None,
    into: Path | None,
    approximation: Literal["best", "diagonal", "exact"] | None,
    meshes: bool,
    timestep: float | None,
    trainer: str | None,
    gains: float | None,
    force: bool,
    independent: tuple[str, ...] | None,
) -> None:
    """Write a robot in another format.

    IN is the name of a robot of the package, or a file. The extension of OUT selects the format: .urdf for URDF+, which
    contains a complete model; .xml or .mjcf for a complete MuJoCo model. A comment at the top of OUT lists the parts of
    the model that the format does not support. If an error occurs, OUT is not written. A conversion from MJCF to MJCF
    keeps sensors, contacts and other contents of IN that are not in the model. With --approximation exact or
    --timestep, this is impossible and a warning is printed.

    \b
    Rotors in MuJoCo:
      best      armature of joints and tendons, with off-diagonal terms
      diagonal  armature of joints only
      exact     bodies coupled by stiff equality constraints

    With --for mujoco or mjlab, the script ROBOT_exact.py makes the serial tree exact at run time (pc.mujoco.Exact).
    With --for isaaclab or genesis, constant armature remains, and the command prints its torque error.

    \b
    Examples:
      pin-clusters convert mini_cheetah mini_cheetah.xml
      pin-clusters convert ankle_2rsu ankle.xml --approximation exact
      pin-clusters convert my_robot.urdf my_robot.xml --meshes --force
      pin-clusters convert cassie_leg cassie_leg.urdf
      pin-clusters convert my_robot.urdf --into their_robot.xml
      pin-clusters convert my_robot.urdf --motors my_robot.motors.yaml --for mjlab --gains 10
      pin-clusters convert mit_humanoid --for mujoco
    """  # noqa: D301 (click needs the backspace character)
    from ...files import merging, readers, writers

    if trainer is not None:
        mjcf_options = {"--into": into, "--approximation": approximation, "--meshes": meshes, "--timestep": timestep}
        if clash := [name for name, value in mjcf_options.items() if value]:
            raise click.UsageError(f"{clash[0]} cannot be combined with --for.")
        return _for_trainer(
            common.with_options(common.load(robot), robot, independent), robot, trainer, target, gains, force
        )
    if gains is not None:
        raise click.UsageError("--gains needs --for.")
    force = force or (target is None and into is not None)
    target = target or into
    if target is None:
        raise click.UsageError("Specify the output file OUT, or --into THEIR.xml.")
    kind = FORMATS.get(target.suffix.lower())
    if kind is None:
        raise click.UsageError(f"{target} has the extension {target.suffix!r}; expected one of {', '.join(FORMATS)}.")
    mjcf_only = {"--approximation": approximation, "--meshes": meshes, "--timestep": timestep}
    for option in (name for name, value in mjcf_only.items() if value and kind != "MJCF"):
        raise click.UsageError(f"{option} does not apply to {kind}.")
    if into is not None and (kind != "MJCF" or meshes or timestep):
        raise click.UsageError("--into writes MJCF (.xml, .mjcf) and cannot be combined with --meshes or --timestep.")
    if target.exists() and not target.is_dir() and not force:
        raise common.OutputError(f"{target} exists. Add --force to replace it, or choose another name.")
    model = common.with_options(common.load(robot), robot, independent)
    if into is not None:
        merging.into_mjcf(model, into, approximation or "best", file=target)
    elif kind == "URDF+":
        writers.to_urdf(model, target)
    else:
        options: dict[str, Any] = {} if timestep is None else {"timestep": timestep}
        if meshes:
            from ..view import meshes_of

            options["visual_model"] = meshes_of(model, robot)
        # An edited file would keep the armature of its tendons, but `diagonal` allows armature only on joints.
        tendons = any(len(rotor.drivers) > 1 for rotor in model.rotors)
        anew = {"exact": True, "diagonal": tendons}.get(approximation or "best", False)
        why = ", ".join([f"--approximation {approximation}"] * anew + ["--timestep"] * bool(timestep))
        if robot in readers.robots() or readers.files.reader_of(robot) is not readers.buildModelFromMJCF:
            writers.to_mjcf(model, approximation or "best", file=target, **options)
        elif why := why or merging.keep(model, robot, target):
            lost = merging.write_anew(writers.to_mjcf(model, approximation or "best", **options), robot, target)
            warning = f"{target} contains only the model, without the other contents of {robot}{lost}; reason: {why}."
            warnings.warn(warning, PinClustersWarning, stacklevel=2)
    common.say_written(common.console(), target)
    return None


def _for_trainer(
    model: ClusterModel, robot: str, trainer: str, target: Path | None, gains: float | None, force: bool
) -> None:
    from ...studies import trainers

    folder = target or Path(f"{Path(robot).stem}_{trainer}")
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not force)):
        raise common.OutputError(f"{folder} exists. Add --force to replace files in it, or choose another folder.")
    done = trainers.write(model, trainer, folder, gains=gains, name=Path(robot).stem)
    for note in done.notes:
        click.secho(f"note: {note}", fg="yellow", err=True)
    worst, out = max(done.lost, key=lambda joint: done.lost[joint]), common.console()
    script = next((f" {f.name} removes this error in MuJoCo." for f in done.files if f.name.endswith("_exact.py")), "")
    out.print(
        f"RMS torque error with constant armature: at most {done.lost[worst]:.2g} % of the joint's peak torque "
        f"({worst}).{script}",
        soft_wrap=True,
    )
    common.say_written(out, *done.files)


@click.command(context_settings=CONTEXT)
@ROBOT
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="[default: NAME.motors.yaml]")
@click.option("--force", is_flag=True, help="Replace the output file if it exists.")
@explained
def motors(robot: str, output: Path | None, force: bool) -> None:
    """Write a template of a motor file for a robot, to be completed by hand.

    The template contains the joints with limits and armature, and the rotor inertias of links named *_rotor on fixed
    joints. Fill in gear ratios or gear stages. Pass the file to a command with --motors; no command reads it
    automatically.

    \b
    Examples:
      pin-clusters motors go2.urdf
      pin-clusters audit go2.urdf --motors go2.motors.yaml
    """  # noqa: D301 (click needs the backspace character)
    from ...files.motor_keys import ENDING
    from ...files.writers.motors import motors_template

    file = output or (Path(robot).parent if Path(robot).is_file() else Path()) / f"{Path(robot).stem}{ENDING}"
    if file.exists() and not force:
        raise common.OutputError(f"{file} exists. Add --force to replace it, or choose another --output.")
    motors_template(common.load(robot), file)
    common.say_written(common.console(), file)
