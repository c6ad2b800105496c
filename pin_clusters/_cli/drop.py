"""What ``simulate`` and ``view --simulate`` are asked for, and what they print and write."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console

from .._support.whole_files import refused
from ..errors import PinClustersError, SimulationError
from ..model import ClusterModel
from ..simulation import Ground, SimulationResult
from ..studies import drops
from . import common, tables

LIMITS = {"all": True, "none": False, "position": "position", "effort": "effort"}
FILES = (".csv", ".npz", ".html", ".png")
_SHOWN = 12


def load(robot: str, base: str | None) -> ClusterModel:
    """Return a robot whose base is as its file or the package has it, or as it is asked for."""
    return common.floating(robot) if base == "floating" else common.load(robot, None if base == "fixed" else "default")


def of(
    model: ClusterModel,
    *,
    ground: bool | None,
    friction: float,
    height: float,
    drop: float | None,
    pose: Sequence[str],
    touching: Sequence[str],
    limits: str,
    **how: Any,
) -> drops.Drop:
    """Return the simulation that the options of a command describe; the robot decides about those that are None."""
    on = drops.floats(model) if ground is None else ground
    plane = Ground(friction, height=height) if on else None
    if plane is None and (touching or drop is not None):
        raise PinClustersError("--touching and --drop need a ground: say --ground, or --base floating.")
    points = touching_of(model, touching) if plane else None
    q = drops.posed(model, _poses(pose), "--pose")
    return drops.Drop.of(model, q, ground=plane, touching=points, drop=drop, limits=LIMITS[limits], **how)


def _poses(given: Sequence[str]) -> Iterator[tuple[str, float]]:
    """Yield the joints and values of ``--pose JOINT=VALUE,...``."""
    for part in ",".join(given).split(",") if given else ():
        pattern, _, value = part.partition("=")
        try:
            yield pattern.strip(), float(value)
        except ValueError:
            raise click.UsageError(f"--pose: {part!r} is not JOINT=NUMBER, such as '*_knee=1.2'.") from None


def touching_of(model: ClusterModel, given: Sequence[str]) -> Any:
    """Return what may touch: points by frame or joint, or the shapes of the robot."""
    if not given and not model.collision.ngeoms:
        ends = drops.limbs(model)
        raise SimulationError(
            f"robot {model.name!r} has no collision shapes, so nothing of it can touch the ground. Name points by "
            f"joint or frame, such as --touching '{ends[0] if ends else 'JOINT'}=0,0,-0.1' [m]; * is any text. "
            f"Its limbs end at: {', '.join(ends)}."
        )
    return drops.touching_points(model, _points(given), "--touching") if given else model.collision


def _points(given: Sequence[str]) -> Iterator[tuple[str, list[list[float]]]]:
    """Yield the names and points of ``--touching NAME=X,Y,Z;...``."""
    for text in given:
        pattern, _, place = text.partition("=")
        try:
            at = [[float(x) for x in point.split(",")] for point in (place or "0,0,0").split(";")]
        except ValueError:
            at = [[]]
        if any(len(point) != 3 for point in at):
            raise click.UsageError(f"--touching {text!r} is not NAME or NAME=X,Y,Z;X,Y,Z;..., in metres.")
        yield pattern.strip(), at


def run(drop: drops.Drop) -> tuple[SimulationResult, list[str]]:
    """Simulate with a progress bar; return the result, and notes on it."""
    with common.ProgressBar("simulation") as bar:
        return drop.run(bar)


def show(drop: drops.Drop, viewer: Any, found: SimulationResult, notes: list[str]) -> Sequence[str]:
    """Show the motion in a viewer, the ghost beside it; return the notes of the legend."""
    ghost = None
    if drop.ghost is not None:
        with common.ProgressBar("ghost") as bar:
            ghost, more = drop.run_ghost(bar)
        notes = [*notes, *more]
    return drop.animate(viewer, found, ghost, notes).notes


def summarise(found: SimulationResult, notes: Sequence[str], out: Console) -> None:
    """Print what happened."""
    said = list(notes)
    rows = [(f"{t.time:.4g}", t.body, f"{np.linalg.norm(t.impulse):.3g}") for t in found.touchdowns[:_SHOWN]]
    heads = "time [s]", "body", f"of {1e3 * drops.LANDING:g} ms [N s]"
    if rows:
        more = f", the first {_SHOWN} of {len(found.touchdowns)}" * (len(found.touchdowns) > _SHOWN)
        tables.put(out, tables.table_of(f"Touch-downs and their impulse{more}", "rlr", heads, rows))
    if len(found.contact_laws):
        laws = "{:.1g} N s outside of cones, {:.1g} m/s into what touches, {:.1g} J not lost".format(
            *found.contact_laws.max(axis=0)
        )
        said.append(f"Laws of contact: {laws}; work of impulses {found.contact_work.max():.1g} J or less.")
    hit = [name for name, l in zip(found.stops, found.limit_impulses.T, strict=True) if l.any()]
    said += [f"Stops reached: {', '.join(hit)}."] * bool(hit)
    still = np.abs(found.v[-1]).max(initial=0.0)
    said.append(f"Loops and couplings are open by {found.residual.max():.1g} of their scale at most.")
    said.append(f"At {found.time[-1]:g} s nothing moves faster than {still:.2g} rad/s (m/s). Method {found.method}.")
    for text in said:
        tables.say(out, text)


def write(drop: drops.Drop, found: SimulationResult, notes: list[str], files: Sequence[Path]) -> None:
    """Write files by their endings."""
    for file in files:
        with refused(common.OutputError, file, " Choose another --out."):
            if (kind := file.suffix.lower()) != ".html":
                writers: dict[str, Any] = {".csv": found.to_csv, ".npz": found.to_npz, ".png": found.plot}
                writers[kind](file)
                continue
            from ..visualize import offline

            with drop.viewer() as viewer:
                viewer.initViewer(viewer=offline(), loadModel=True)
                show(drop, viewer, found, notes)
                viewer.save(file)
