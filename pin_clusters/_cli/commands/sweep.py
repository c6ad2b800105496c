"""Commands for many robots or gear ratios: ``sweep ratio``, ``sweep robots``."""

from pathlib import Path
from typing import Any

import click

from .. import common
from . import CONTEXT, DROP_ROTORS, POSITIVE, WORKERS, file_of, folder_of, of_robot, output


@click.group(context_settings=CONTEXT)
def sweep() -> None:
    """Study many robots or many gear ratios.

    \b
    Examples:
      pin-clusters sweep ratio mit_humanoid_leg
      pin-clusters sweep robots --robots 10000 --output robots
    """  # noqa: D301 (click needs the backspace character)


@sweep.command(context_settings=CONTEXT)
@click.argument("robot", metavar="ROBOT|FILE", default="mit_humanoid_leg", callback=file_of)
@output("sweep_ratio")
@click.option("--factors", metavar="F,F,...", help="Factors of all ratios.  [default: 1/3,1/2,1,2,3,5,10,20]")
@click.option("--amplitude", type=POSITIVE, default=0.5, show_default=True, help="Amplitude of each joint, rad (m).")
@click.option("--frequency", type=POSITIVE, default=1.5, show_default=True, help="Frequency, Hz.")
@click.option("--duration", type=POSITIVE, default=5.0, show_default=True, help="Duration, s.")
@click.option("--dt", type=POSITIVE, default=5e-4, show_default=True, help="Time between samples, s.")
@DROP_ROTORS
@of_robot
@WORKERS
def ratio(
    robot: str,
    output: Path | None,
    factors: str | None,
    workers: int | None,
    independent: tuple[str, ...] | None,
    **options: Any,
) -> None:
    """Compute the errors of the approximations for many gear ratios.

    All gear ratios are multiplied by a factor f and all rotor inertias by 1/f^2, so the reflected inertia does not
    change. Then the robot moves as in `study`. ROBOT must have rotors; the default is the leg of arXiv 2311.13732. The
    command prints tables and writes ratio.json and ratio.png.

    \b
    Examples:
      pin-clusters sweep ratio
      pin-clusters sweep ratio mini_cheetah --factors 1,3,10
      pin-clusters sweep ratio my_robot.urdf --frequency 3 --workers 1
    """  # noqa: D301 (click needs the backspace character)
    from ...studies import sweeps
    from ...studies.sweeps import figures
    from ...studies.sweeps import ratio as ratios
    from ..sweep import parsed, show_ratio

    folder, out = folder_of(output, "sweep_ratio", robot), common.console()
    values = ratios.FACTORS if factors is None else parsed(factors)
    model = common.with_options(common.load(robot, root_joint=None), robot, independent)
    with common.output_folder(folder):
        with common.ProgressBar("gear ratios") as progress, sweeps.open_executor(workers) as executor:
            result = ratios.run(model, values, executor=executor, progress=progress, **options)
        show_ratio(result, out)
        files = [folder / "ratio.json", folder / "ratio.png"]
        with common.written(folder):
            result.write_json(files[0])
            figures.ratio(result, files[1])
    common.say_written(out, *files)


@sweep.command(context_settings=CONTEXT)
@output("sweep_robots", of_robot=False)
@click.option("--robots", type=click.IntRange(1), default=400, show_default=True, help="Number of robots.")
@click.option("--states", type=click.IntRange(1), default=25, show_default=True, help="Random states per robot.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the random numbers.")
@click.option("--resume", is_flag=True, help="Continue the sweep whose results are in --output.")
@WORKERS
@click.option("--dask", metavar="ADDRESS|local", help="Run on a Dask cluster; local starts one on this machine.")
@click.option("--chunk", type=click.IntRange(1), help="Robots per file.  [default: 1 % of --robots, at most 100]")
def robots(output: Path, robots: int, states: int, workers: int | None, dask: str | None, **options: Any) -> None:
    """Compute the errors of the approximations for random robots.

    The command generates robots with gears and belts, some with a floating base, as in the accuracy study of arXiv
    2311.13732. It compares inverse and forward dynamics of each approximation with the exact values, prints a table,
    and writes robots.json and robots.png next to the results of each robot, which `pc.sweeps.load` reads. The seed and
    the robot's index determine each robot. Ctrl-C keeps the finished results (exit code 130); --resume continues.

    \b
    Examples:
      pin-clusters sweep robots
      pin-clusters sweep robots --robots 10000 --output robots
      pin-clusters sweep robots --robots 10000 --output robots --resume
      pin-clusters sweep robots --dask local
      pin-clusters sweep robots --dask tcp://192.168.0.7:8786
    """  # noqa: D301 (click needs the backspace character)
    from ...studies import sweeps
    from ...studies.pages.results import write_json
    from ...studies.sweeps import figures
    from ...studies.sweeps import robots as random_robots
    from ..sweep import show_robots

    out = common.console()
    with common.ProgressBar("robots") as progress, sweeps.open_executor(workers, dask) as executor:
        result = random_robots.run(robots, states, folder=output, executor=executor, progress=progress, **options)
    show_robots(result, states, out)
    files = [output / "robots.json"]
    with common.written(output):
        write_json(random_robots.as_dict(result, states), files[0])
        if len(result.index):
            files.append(output / "robots.png")
            figures.robots(random_robots.summary(result, states), files[-1], len(result.failures))
    common.say_written(out, *files)
