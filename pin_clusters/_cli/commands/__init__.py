"""The commands: options, help, and steps; what the steps need is imported when they run, so that help is quick."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
POSITIVE = click.FloatRange(min=0.0, min_open=True)


def file_of(_: click.Context, __: click.Parameter, robot: str | None) -> str | None:
    """Return the file of a robot of robot_descriptions by its name, and all else as it is."""
    from ...files.readers.descriptions import described

    return robot and str(described(robot))


ROBOT = click.argument("robot", metavar="ROBOT|FILE", callback=file_of)


def names(_: click.Context, __: click.Parameter, text: str | None) -> tuple[str, ...] | None:
    """Split names at commas."""
    return None if text is None else tuple(name.strip() for name in text.split(",") if name.strip())


def keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Keep motors for ``common.as_asked``, which all commands call."""
    context.meta[str(parameter.name)] = value


_INDEPENDENT = click.option(
    "--independent",
    metavar="JOINT,...",
    callback=names,
    help="Joints of closed loops that shall be independent, in place of those that the file or the package chose.",
)
_MOTORS = click.option(
    "--motors",
    metavar="FILE",
    expose_value=False,
    callback=keep,
    help="Motors of the robot; `pin-clusters motors` writes a template.",
)
_ROTOR = click.option(
    "--rotor",
    metavar="JOINT=RATIO,INERTIA",
    multiple=True,
    expose_value=False,
    callback=keep,
    help="A rotor, kg m^2, on each joint whose name ends so, but for _joint (* is any text): calf=12.1,1.1e-4. Where "
    "the file has armature ...,replace or ...,keep. Several times.",
)

_WHAT = (
    "ROBOT ships with the package, or with robot_descriptions (g1_mj_description), by name; FILE is a URDF, URDF+, "
    "MJCF, SDF or YAML file (of extended URDF)."
)


def explained(command: Any) -> Any:
    """Let the help of a command say what ROBOT and FILE may be, behind its first sentence."""
    first, _, rest = inspect.cleandoc(command.__doc__ or "").partition("\n\n")
    command.__doc__ = f"{first}\n\n{_WHAT}\n\n{rest}"
    return command


def of_robot(command: Any) -> Any:
    """Give a command the options of all that take a robot."""
    return _INDEPENDENT(_MOTORS(_ROTOR(explained(command))))


DROP_ROTORS = click.option(
    "--drop-rotors", is_flag=True, help="Leave the rotors out of the approximations, mass and all."
)
WORKERS = click.option("--workers", type=click.IntRange(1), help="Processes; 1 starts none.  [default: all cores]")


def output(command: str, of_robot: bool = True) -> Callable[[Any], Any]:
    """Return the option of the folder of results, by default named after the command, and its robot."""
    default: dict[str, Any] = {} if of_robot else {"default": Path(command), "show_default": f"./{command}"}
    said = "Folder of the results." + f"  [default: ./{command}_ROBOT]" * of_robot
    return click.option("-o", "--output", type=click.Path(path_type=Path), help=said, **default)


def folder_of(output: Path | None, command: str, robot: str) -> Path:
    """Return that folder; of a file the name without its folder and ending counts."""
    return Path(f"{command}_{Path(robot).stem or 'robot'}") if output is None else output
