"""``simulate`` and ``view --simulate``: parse the options, run the simulation, print and write the results."""

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
    on = drops.floats(model) if ground is None else ground
    plane = Ground(friction, height=height) if on else None
    if plane is None and (touching or drop is not None):
        raise PinClustersError("--touching and --drop need a ground. Add --ground or --base floating.")
    points = touching_of(model, touching) if plane else None
    q = drops.posed(model, poses(pose), "--pose")
    return drops.Drop.of(model, q, ground=plane, touching=points, drop=drop, limits=LIMITS[limits], **how)


def poses(given: Sequence[str]) -> Iterator[tuple[str, float]]:
    for part in ",".join(given).split(",") if given else ():
        pattern, _, value = part.partition("=")
        try:
            yield pattern.strip(), float(value)
        except ValueError:
            raise click.UsageError(f"--pose: {part!r} must be JOINT=NUMBER, such as '*_knee=1.2'.") from None


def touching_of(model: ClusterModel, given: Sequence[str]) -> Any:
    if not given and not model.collision.ngeoms:
        ends = drops.limbs(model)
        raise SimulationError(
            f"robot {model.name!r} has no collision shapes, so it cannot touch the ground. Specify contact points on "
            f"joints or frames, such as --touching '{ends[0] if ends else 'JOINT'}=0,0,-0.1' [m]; * matches any text. "
            f"The limbs end at: {', '.join(ends)}."
        )
    return drops.touching_points(model, _points(given), "--touching") if given else model.collision


def _points(given: Sequence[str]) -> Iterator[tuple[str, list[list[float]]]]:
    for text in given:
        pattern, _, numbers = text.partition("=")
        try:
            points = [[float(x) for x in point.split(",")] for point in (numbers or "0,0,0").split(";")]
        except ValueError:
            points = [[]]
        if any(len(point) != 3 for point in points):
            raise click.UsageError(f"--touching {text!r} must be NAME or NAME=X,Y,Z;X,Y,Z;..., in metres.")
        yield pattern.strip(), points


def run(drop: drops.Drop) -> tuple[SimulationResult, list[str]]:
    with common.ProgressBar("simulation") as bar:
        return drop.run(bar)


def show(drop: drops.Drop, viewer: Any, found: SimulationResult, notes: list[str]) -> Sequence[str]:
    ghost = None
    if drop.ghost is not None:
        with common.ProgressBar("ghost") as bar:
            ghost, ghost_notes = drop.run_ghost(bar)
        notes = [*notes, *ghost_notes]
    return drop.animate(viewer, found, ghost, notes).notes


def summarise(found: SimulationResult, notes: Sequence[str], out: Console) -> None:
    """Print touch-downs, errors of the contact laws, and the largest residual of loops and couplings."""
    sentences = list(notes)
    rows = [(f"{t.time:.4g}", t.body, f"{np.linalg.norm(t.impulse):.3g}") for t in found.touchdowns[:_SHOWN]]
    heads = "time [s]", "body", f"impulse over {1e3 * drops.LANDING:g} ms [N s]"
    if rows:
        suffix = f", the first {_SHOWN} of {len(found.touchdowns)}" * (len(found.touchdowns) > _SHOWN)
        tables.put(out, tables.table_of(f"Touch-downs and their impulses{suffix}", "rlr", heads, rows))
    if len(found.contact_laws):
        laws = (
            "{:.1g} N s outside friction cones, {:.1g} m/s into a surface, {:.1g} J of impulse times gap speed".format(
                *found.contact_laws.max(axis=0)
            )
        )
        sentences.append(f"Largest contact errors: {laws}; work of impulses at most {found.contact_work.max():.1g} J.")
    hit = [name for name, l in zip(found.stops, found.limit_impulses.T, strict=True) if l.any()]
    sentences += [f"Stops reached: {', '.join(hit)}."] * bool(hit)
    still = np.abs(found.v[-1]).max(initial=0.0)
    sentences.append(f"Largest relative residual of loops and couplings: {found.residual.max():.1g}.")
    sentences.append(f"Largest joint speed at {found.time[-1]:g} s: {still:.2g} rad/s (m/s). Method: {found.method}.")
    for text in sentences:
        tables.say(out, text)


def write(drop: drops.Drop, found: SimulationResult, notes: list[str], files: Sequence[Path]) -> None:
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
