"""What the page says beside the scene."""

from collections.abc import Iterable

from ..constraints.closures import FrameClosure, JointClosure, RodClosure
from . import palette
from .arrows import Arrow
from .figure import Figure
from .keyframes import Recording
from .page import Legend
from .rotors import name_of_node


def legend_of(figure: Figure, recording: Recording | None, arrows: Iterable[Arrow]) -> Legend:
    """Return the legend of a robot."""
    model, skeleton = figure.model, figure.skeleton
    kinds = {n.path.split("/")[0] for n in figure.nodes}
    levels = sorted({x for j, x in enumerate(skeleton.levels) if j and x >= 0})
    bodies = bool(kinds & {"links", "joints", "rotors"})
    followers = {n.path for n in figure.nodes} & {f"joints/{name_of_node(n)}" for n in model.dependent_joints}
    colors = {a.color for a in arrows}
    forces = recording is not None and recording.forces
    ghost, notes = ("", ()) if recording is None else (recording.ghost, recording.notes)
    entries = (
        *((bodies, palette.of_level(level), _members(figure, level)) for level in levels),
        (followers, palette.STRUCTURE, "light caps: joints that follow others"),
        ("rotors" in kinds, palette.MARK, "white spoke: a rotor, turning at its ratio"),
        ("belts" in kinds, palette.BELT, "belts and shafts"),
        ("closures" in kinds, palette.CLOSED, f"{_closures(figure)}, closed"),
        ("closures" in kinds, palette.OPEN, f"the same, open by {palette.AJAR:g} of their size"),
        (forces or palette.FORCE in colors, palette.FORCE, "forces of constraints"),
        (palette.CONTACT in colors, palette.CONTACT, "external forces"),
        (recording is not None and recording.contacts, palette.CONTACT, "forces of the ground"),
        (ghost, palette.GHOST, ghost),
    )
    return Legend(model.name or "robot", tuple((color, text) for shown, color, text in entries if shown), notes)


def _closures(figure: Figure) -> str:
    kinds = [name for name, kind in (("rods", RodClosure), ("loops", FrameClosure), ("differentials", JointClosure))
             if any(isinstance(c, kind) for c in figure.model.closures)]  # fmt: skip
    return " and ".join(filter(None, [", ".join(kinds[:-1]), *kinds[-1:]]))


def _members(figure: Figure, level: int) -> str:
    """Return the independent joints of a level, in short."""
    model = figure.model
    names = [name for name, own in zip(model.tree.names, figure.skeleton.levels, strict=True)
             if own == level and name in model.independent_joints]  # fmt: skip
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return shown or "-"
