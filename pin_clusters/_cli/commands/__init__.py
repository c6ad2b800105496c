"""Define options and help that commands share. Commands import their dependencies when they run, so help is fast."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
POSITIVE = click.FloatRange(min=0.0, min_open=True)


def file_of(_: click.Context, __: click.Parameter, robot: str | None) -> str | None:
    """Replace the name of a robot in robot_descriptions by the path of its file; return other arguments unchanged."""
    from ...files.readers.descriptions import described

    return robot and str(described(robot))


ROBOT = click.argument("robot", metavar="ROBOT|FILE", callback=file_of)


def names(_: click.Context, __: click.Parameter, text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(name.strip() for name in text.split(",") if name.strip())


def keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    context.meta[str(parameter.name)] = value


_INDEPENDENT = click.option(
    "--independent",
    metavar="JOINT,...",
    callback=names,
    help="Independent joints of closed loops, instead of the default joints.",
)
_MOTORS = click.option(
    "--motors",
    metavar="FILE",
    expose_value=False,
    callback=keep,
    help="File with the motors of the robot; `pin-clusters motors` writes a template.",
)
_ROTOR = click.option(
    "--rotor",
    metavar="JOINT=RATIO,INERTIA",
    multiple=True,
    expose_value=False,
    callback=keep,
    help="Rotor (inertia in kg m^2) on each joint whose name ends with JOINT or JOINT_joint (* matches any text), such "
    "as calf=12.1,1.1e-4. Append ,replace or ,keep if the file has armature. Repeatable.",
)

_WHAT = (
    "ROBOT is the name of a robot of this package or of robot_descriptions (g1_mj_description). FILE is a URDF, URDF+, "
    "MJCF, SDF or YAML (extended URDF) file."
)


def explained(command: Any) -> Any:
    """Insert the explanation of ROBOT and FILE after the first paragraph of the help of a command."""
    first, _, remainder = inspect.cleandoc(command.__doc__ or "").partition("\n\n")
    command.__doc__ = f"{first}\n\n{_WHAT}\n\n{remainder}"
    return command


def of_robot(command: Any) -> Any:
    return _INDEPENDENT(_MOTORS(_ROTOR(explained(command))))


DROP_ROTORS = click.option("--drop-rotors", is_flag=True, help="Remove rotors and their mass from the approximations.")
WORKERS = click.option("--workers", type=click.IntRange(1), help="Processes; 1 starts no others.  [default: all cores]")


def output(command: str, of_robot: bool = True) -> Callable[[Any], Any]:
    default: dict[str, Any] = {} if of_robot else {"default": Path(command), "show_default": f"./{command}"}
    help_text = "Folder for the results." + f"  [default: ./{command}_ROBOT]" * of_robot
    return click.option("-o", "--output", type=click.Path(path_type=Path), help=help_text, **default)


def folder_of(output: Path | None, command: str, robot: str) -> Path:
    return Path(f"{command}_{Path(robot).stem or 'robot'}") if output is None else output
