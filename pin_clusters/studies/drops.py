"""Simulate a robot that falls onto the ground under PD control, as the commands ``simulate`` and ``view`` do."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import approximations
from ..errors import ModelError, UnknownNameError, did_you_mean
from ..model import ClusterModel
from ..model.configuration import integrate
from ..simulation import Ground, SimulationResult, on_ground
from ..simulation.holding import Hold
from .motions import ended
from .study.approximate_dynamics import Progress
from .study.metrics.drift import simulated
from .study.trajectories import moved_joints

if TYPE_CHECKING:
    from ..visualize import MeshcatVisualizer, Recording

LANDING = 2e-3  # Time after the first touch-down during which ground impulses are summed, [s]
_HEIGHT = 0.1  # default drop height, [m]


def floats(model: ClusterModel) -> bool:
    """Return whether the robot can fall, that is, whether its first joint is a free-flyer."""
    return model.njoints > 1 and bool(model.own_tree.joints[1].shortname() == "JointModelFreeFlyer")


def posed(model: ClusterModel, pose: Iterable[tuple[str, float]], what: str = "pose") -> np.ndarray:
    """Return the reference pose, shape (nq,), with some joint positions changed; closed loops remain closed.

    Args:
        model: The robot.
        pose: Pairs: a pattern for joint names, as in ``fnmatch`` (``*`` matches any text), and a position, [rad] or
            [m]. If several patterns match a joint, the last one applies. No match raises ``UnknownNameError``.
        what: Name of the argument in messages.

    Example:
        >>> import pin_clusters as pc
        >>> from pin_clusters.studies import drops
        >>> float(drops.posed(pc.load("four_bar"), [("cra*", 0.5)])[0])
        0.5
    """
    tree, step = model.own_tree, np.zeros(model.nv)
    for pattern, value in pose:
        for name in _matching(pattern, moved_joints(model), what):
            joint = tree.joints[tree.getJointId(name)]
            step[model.joint_idx_v(name)] = value - (model.q_reference[joint.idx_q] if joint.nq == 1 else 0.0)
    return integrate(model, model.q_reference, step)


def touching_points(
    model: ClusterModel, points: Iterable[tuple[str, Sequence[Sequence[float]]]], what: str = "touching"
) -> dict[str, list[Sequence[float]]]:
    """Return the points that may touch the ground, by joint or frame, for ``pc.simulate(touching=...)``.

    Args:
        model: The robot.
        points: Pairs: a name pattern for joints and frames (as in ``posed``), and points in the matching frames, [m].
        what: Name of the argument in messages.

    Example:
        >>> import pin_clusters as pc
        >>> from pin_clusters.studies import drops
        >>> list(drops.touching_points(pc.load("mit_humanoid"), [("*_ankle", [[0.1, 0.0, -0.041]])]))
        ['left_ankle', 'right_ankle']
    """
    tree = model.own_tree
    names = dict.fromkeys([*list(tree.names)[1:], *(f.name for f in tree.frames)])
    points_by_frame: dict[str, list[Sequence[float]]] = {}
    for pattern, frame_points in points:
        for name in _matching(pattern, names, what):
            points_by_frame.setdefault(name, []).extend(frame_points)
    return points_by_frame


def limbs(model: ClusterModel) -> list[str]:
    tree = model.own_tree
    inner = {0, *tree.parents, *(r.joint_id for r in model.rotors)}
    return [n for j, n in enumerate(tree.names) if j not in inner]


def _matching(pattern: str, names: Iterable[str], what: str) -> list[str]:
    names = list(names)
    matches = [name for name in names if fnmatchcase(name, pattern)]
    if not matches:
        raise UnknownNameError(f"{what}: no name matches {pattern!r}.{did_you_mean(pattern, names)}")
    return matches


@dataclass(frozen=True, eq=False)
class Drop:
    """A simulation in which PD control holds the robot's pose, with or without a ground. Create it with ``Drop.of``."""

    model: ClusterModel  # the robot
    q0: np.ndarray  # initial configuration, shape (nq,)
    hold: Hold  # the PD controller
    options: dict[str, Any]  # arguments of ``pc.simulate``
    notes: tuple[str, ...]  # sentences about the start and the controller
    ghost: ClusterModel | None  # an approximation of the robot, or None
    ghost_label: str  # label of the approximation in the legend

    @classmethod
    def of(
        cls,
        model: ClusterModel,
        q: np.ndarray | None = None,
        *,
        ground: Ground | None = None,
        touching: Any = None,
        drop: float | None = None,
        kp: float | None = None,
        kd: float | None = None,
        dt: float = 1e-3,
        ghost: str | None = None,
        **options: Any,
    ) -> "Drop":
        """Prepare the simulation. If the base floats, the robot is lifted above the ground.

        Args:
            model: The robot.
            q: Configuration to hold, shape (nq,); by default, the reference pose.
            ground: The ground; None means that there is no ground.
            touching: Points that may touch the ground, as in ``pc.simulate``.
            drop: Initial height of the lowest point above the ground, [m]; by default 0.1.
            kp: Stiffness of all driven joints, [N m/rad] or [N/m]; by default as in ``pc.simulation.holding.Hold``.
            kd: Damping of all driven joints, [N m s/rad] or [N s/m]; by default as in ``Hold``.
            dt: Time step, [s].
            ghost: Name of an approximation, which is simulated in the same way for comparison.
            options: Further arguments of ``pc.simulate``, such as ``duration``.

        Example:
            >>> import pin_clusters as pc
            >>> from pin_clusters.studies import drops
            >>> model = pc.load("mit_humanoid")
            >>> feet = drops.touching_points(model, [("*_ankle", [[0.1, 0.0, -0.041], [-0.05, 0.0, -0.041]])])
            >>> drop = drops.Drop.of(model, ground=pc.Ground(), touching=feet, drop=0.05, duration=0.02)
            >>> result, notes = drop.run()
            >>> notes[0]
            'Dropped from 0.05 m.'
        """
        if ground is None and (touching is not None or drop is not None):
            raise ModelError("`drop` and `touching` require a ground. Pass ground=pc.Ground().")
        q, notes = model.q_reference if q is None else q, []
        lifts = ground is not None and floats(model)
        home = on_ground(model, q, ground, touching) if lifts else q
        hold = Hold(model, home, dt, ground, touching, kp, kd)
        if lifts:
            drop = _HEIGHT if drop is None else drop
            q = on_ground(model, q, ground, touching, above=drop)
            notes.append(f"Dropped from {drop:g} m.")
        if (driven := hold.kp > 0.0).any():
            gains = (f"{x[driven].min():.3g} to {x[driven].max():.3g}" for x in (hold.kp, hold.kd))
            notes.append("A PD controller holds the pose, kp {}, kd {}.".format(*gains))
        options |= {"dt": dt, "ground": ground, "touching": touching}
        approximate = None if ghost is None else approximations.robot(model, ghost)
        return cls(model, q, hold, options, tuple(notes), approximate, approximations.LABELS.get(ghost or "", ""))

    def run(self, progress: Progress | None = None) -> tuple[SimulationResult, list[str]]:
        """Simulate the robot; return the result and the notes, which state the reason if the simulation ended early."""
        result, reason = self._simulated(self.model, progress)
        return result, [*self.notes, *ended("simulation", result, reason)]

    def run_ghost(self, progress: Progress | None = None) -> tuple[SimulationResult, list[str]]:
        assert self.ghost is not None
        sim, reason = self._simulated(self.ghost, progress)
        return sim, [f"Ghost: {self.ghost_label}, dropped and held in the same way.", *ended("ghost", sim, reason)]

    def _simulated(self, model: ClusterModel, progress: Progress | None) -> tuple[SimulationResult, str]:
        return simulated(model, self.q0, np.zeros(model.nv), self.hold, progress=progress, least=2, **self.options)

    def viewer(self) -> "MeshcatVisualizer":
        from ..visualize import MeshcatVisualizer, landing
        from ..visualize.figure import KINDS

        shapes = landing.touching_shapes(self.model, self.options["touching"])
        return MeshcatVisualizer(self.model, None, shapes, draw=KINDS)

    def animate(
        self, viewer: Any, found: SimulationResult, ghost: SimulationResult | None = None, notes: Sequence[str] = ()
    ) -> "Recording":
        """Show the results of ``run`` and ``run_ghost`` in a viewer, with notes in the legend; return the recording."""
        contacts, ghost_contacts = found if self.options["ground"] else None, ghost if self.options["ground"] else None
        if contacts is not None and ghost_contacts is not None:
            impulses = f"{landing_impulse(found):.3g} N s, ghost: {landing_impulse(ghost_contacts):.3g} N s"
            notes = [*notes, f"Impulse of the ground in the first {1e3 * LANDING:g} ms: {impulses}."]
        ghost_arguments = {} if ghost is None else {"ghost": (ghost.time, ghost.q), "ghost_label": self.ghost_label}
        animation: Recording = viewer.animate(
            found.time,
            found.q,
            notes=notes,
            ground=self.options["ground"],
            contacts=contacts,
            ghost_contacts=ghost_contacts,
            **ghost_arguments,
        )
        return animation


def landing_impulse(found: SimulationResult) -> float:
    """Compute the norm of the total ground impulse on the robot in the 2 ms after the first touch-down, [N s]."""
    if not found.touchdowns:
        return 0.0
    since = found.time - found.touchdowns[0].time
    pushes = found.contact_impulses[(since > -found.dt) & (since < LANDING)]
    return float(np.linalg.norm(pushes.reshape(-1, 3).sum(axis=0)))
