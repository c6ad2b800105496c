"""What ``simulate`` and ``view --simulate`` do: a robot holds its pose by PD, and falls on a ground."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click
import numpy as np
import pinocchio as pin
from rich.console import Console

from .. import approximations
from .._support.whole_files import refused
from ..errors import PinClustersError, SimulationError, UnknownNameError, did_you_mean
from ..model import ClusterModel
from ..model.configuration import integrate
from ..simulation import Ground, SimulationResult, contact_points, on_ground
from ..simulation.holding import Hold
from ..studies.study.metrics.drift import simulated
from ..studies.study.trajectories import moved_joints
from . import common, motions, tables

LIMITS = {"all": True, "none": False, "position": "position", "effort": "effort"}
FILES = (".csv", ".npz", ".html", ".png")
_SHOWN, _LANDING = 12, 2e-3


def load(robot: str, base: str | None) -> ClusterModel:
    """Return a robot whose base is as its file or the package has it, or as it is asked for."""
    return common.floating(robot) if base == "floating" else common.load(robot, None if base == "fixed" else "default")


@dataclass(frozen=True, eq=False)
class Drop:
    """A simulation that is about to begin: the robot, where, who holds it, and arguments of ``pc.simulate``."""

    model: ClusterModel
    q0: np.ndarray
    hold: Hold
    how: dict[str, Any]
    notes: list[str]
    ghost: ClusterModel | None
    label: str

    @classmethod
    def of(
        cls, model: ClusterModel, *, ground: bool | None, friction: float, height: float, drop: float | None,
        pose: Sequence[str], touching: Sequence[str], limits: str, kp: float | None, kd: float | None, dt: float,
        ghost: str | None, **how: Any,
    ) -> "Drop":  # fmt: skip
        """Make it of the options of a command; what is None is left to the robot."""
        floats = model.njoints > 1 and model.own_tree.joints[1].shortname() == "JointModelFreeFlyer"
        plane = Ground(friction, height=height) if ground or (ground is None and floats) else None
        if plane is None and (touching or drop is not None):
            raise PinClustersError("--touching and --drop need a ground: say --ground, or --base floating.")
        points, q, notes = touching_of(model, touching) if plane else None, _posed(model, pose), []
        lifts = plane is not None and floats
        home = on_ground(model, q, plane, points) if lifts else q
        hold = Hold(model, home, dt, plane, points, kp, kd)
        if lifts:
            drop = 0.1 if drop is None else drop
            q = on_ground(model, q, plane, points, above=drop)
            notes.append(f"Dropped from {drop:g} m.")
        if (on := hold.kp > 0.0).any():
            gains = (f"{x[on].min():.3g} to {x[on].max():.3g}" for x in (hold.kp, hold.kd))
            notes.append("Its pose is held by PD, kp {}, kd {}.".format(*gains))
        how |= {"dt": dt, "ground": plane, "touching": points, "limits": LIMITS[limits]}
        beside = None if ghost is None else approximations.robot(model, ghost)
        return cls(model, q, hold, how, notes, beside, approximations.LABELS.get(ghost or "", ""))

    def run(self, what: str = "simulation", model: ClusterModel | None = None) -> SimulationResult:
        """Simulate the robot, or an approximation of it; if that ends early, the notes say why."""
        on = self.model if model is None else model
        with common.ProgressBar(what) as bar:
            found, why = simulated(on, self.q0, np.zeros(on.nv), self.hold, progress=bar, least=2, **self.how)
        self.notes.extend(motions.ended(what, found, why))
        return found

    def viewer(self) -> Any:
        """Return a viewer of the robot and of what may touch."""
        from ..visualize import MeshcatVisualizer
        from ..visualize.figure import KINDS

        return MeshcatVisualizer(self.model, None, self._shapes(), draw=KINDS)

    def _shapes(self) -> pin.GeometryModel | None:
        """Return what may touch: the robot's shapes, or balls at points, on legs of their own."""
        points = self.how["touching"]
        if points is None or isinstance(points, pin.GeometryModel):
            return points
        import coal

        found, at = pin.GeometryModel(), contact_points(self.model, points)
        for i, (j, x) in enumerate(zip(at.joints.tolist(), at.places, strict=True)):
            size = float(np.linalg.norm(x))
            leg = pin.SE3(pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), x).matrix(), 0.5 * x)
            parts = [("ball", coal.Sphere(0.01), pin.SE3(np.eye(3), x)), ("leg", coal.Cylinder(0.004, size), leg)]
            for name, shape, place in parts[: 1 + (size > 0.0)]:
                drawn = pin.GeometryObject(f"{name} {i}", j, 0, place, shape)
                drawn.meshColor = np.array([0.3, 0.32, 0.36, 1.0])
                found.addGeometryObject(drawn)
        return found

    def show(self, viewer: Any, found: SimulationResult) -> Sequence[str]:
        """Give the motion to a viewer, the ghost beside it; return what has to be said."""
        notes, more, plane = list(self.notes), dict[str, Any](), self.how["ground"]
        if self.ghost is not None:
            other = self.run("ghost", self.ghost)
            notes += [f"Ghost: {self.label}, dropped and held in the same way.", *self.notes[len(notes) :]]
            more = {
                "ghost": (other.time, other.q), "ghost_label": self.label, "ghost_contacts": other if plane else None,
            }  # fmt: skip
            if plane:
                both = f"{_landing(found):.3g} N s, of the ghost {_landing(other):.3g} N s"
                notes.append(f"Impulse of the first {1e3 * _LANDING:g} ms on the ground: {both}.")
        contacts = found if plane else None
        return viewer.animate(found.time, found.q, notes=notes, ground=plane, contacts=contacts, **more).notes


def _landing(found: SimulationResult) -> float:
    """Return the impulse of the time after the first touch-down, on all bodies, [N s]."""
    if not found.touchdowns:
        return 0.0
    since = found.time - found.touchdowns[0].time
    pushes = found.contact_impulses[(since > -found.dt) & (since < _LANDING)]
    return float(np.linalg.norm(pushes.reshape(-1, 3).sum(axis=0)))


def _matching(pattern: str, names: Iterable[str], what: str) -> list[str]:
    """Return the names that a pattern with ``*`` and ``?`` fits."""
    names = list(names)
    found = [name for name in names if fnmatchcase(name, pattern)]
    if not found:
        raise UnknownNameError(f"{what}: nothing is called {pattern!r}.{did_you_mean(pattern, names)}")
    return found


def _posed(model: ClusterModel, given: Sequence[str]) -> np.ndarray:
    """Return the reference pose, but with joints where they are asked for."""
    tree, step = model.own_tree, np.zeros(model.nv)
    for part in ",".join(given).split(",") if given else ():
        pattern, _, value = part.partition("=")
        try:
            angle = float(value)
        except ValueError:
            raise click.UsageError(f"--pose: {part!r} is not JOINT=NUMBER, such as '*_knee=1.2'.") from None
        for name in _matching(pattern.strip(), moved_joints(model), "--pose"):
            joint = tree.joints[tree.getJointId(name)]
            step[model.joint_idx_v(name)] = angle - (model.q_reference[joint.idx_q] if joint.nq == 1 else 0.0)
    return integrate(model, model.q_reference, step)


def touching_of(model: ClusterModel, given: Sequence[str]) -> Any:
    """Return what may touch: points by frame or joint, or the shapes of the robot."""
    tree = model.own_tree
    shapes = model.collision
    if not given and not shapes.ngeoms:
        inner = {0, *tree.parents, *(r.joint_id for r in model.rotors)}
        ends = [n for j, n in enumerate(tree.names) if j not in inner]
        raise SimulationError(
            f"robot {model.name!r} has no collision shapes, so nothing of it can touch the ground. Name points by "
            f"joint or frame, such as --touching '{ends[0] if ends else 'JOINT'}=0,0,-0.1' [m]; * is any text. "
            f"Its limbs end at: {', '.join(ends)}."
        )
    names = dict.fromkeys([*list(tree.names)[1:], *(f.name for f in tree.frames)])
    points: dict[str, list[list[float]]] = {}
    for text in given:
        pattern, _, place = text.partition("=")
        try:
            at = [[float(x) for x in point.split(",")] for point in (place or "0,0,0").split(";")]
        except ValueError:
            at = [[]]
        if any(len(point) != 3 for point in at):
            raise click.UsageError(f"--touching {text!r} is not NAME or NAME=X,Y,Z;X,Y,Z;..., in metres.")
        for name in _matching(pattern.strip(), names, "--touching"):
            points.setdefault(name, []).extend(at)
    return points if given else shapes


def summarise(drop: Drop, found: SimulationResult, out: Console) -> None:
    """Print what happened."""
    said = list(drop.notes)
    rows = [(f"{t.time:.4g}", t.body, f"{np.linalg.norm(t.impulse):.3g}") for t in found.touchdowns[:_SHOWN]]
    heads = "time [s]", "body", f"of {1e3 * _LANDING:g} ms [N s]"
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


def write(drop: Drop, found: SimulationResult, files: Sequence[Path]) -> None:
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
                drop.show(viewer, found)
                viewer.save(file)
