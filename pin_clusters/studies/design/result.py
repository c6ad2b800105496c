"""The questions of designers about one robot, answered."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ...errors import ModelError, UnknownNameError, did_you_mean
from ...model import Cluster, ClusterModel, check_model
from ..pages.results import Shown
from ..study import Trajectory
from ..study.rungs import Progress, in_thousandths
from .actuators import Motor, motors
from .coordinates import coordinates, has_loops
from .lengths import Sensitivity, sensitivity
from .loads import Loads, loads
from .motion import ThroughRange
from .ranges import JointRange, ranges
from .region import Region, region, together
from .sweep import Sweep, sweep
from .torques import Torques, stiffness, torques
from .transmission import Transmission, transmission

SAMPLES, CELLS = 181, 49
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class MechanismPart:
    """One cluster.

    Attributes:
        cluster: Its joints and constraints.
        loops: Whether its joints are tied by equations that depend on the pose.
        sweeps: The way of each of its independent joints through its range.
        region: What its two independent joints reach together; None if there are not two.
        transmissions: Ratios and inertias along each sweep.
        motors: What drives it.
        torques: What its motors can make at its joints; None without any.
        gains: Stiffness at two joints of motors with a stiffness of 1, over the region; None without two, or loops.
        lengths: How its dependent joints move for a little more length; None without loops.
    """

    cluster: Cluster
    loops: bool
    sweeps: tuple[Sweep, ...]
    region: Region | None
    transmissions: tuple[Transmission, ...]
    motors: tuple[Motor, ...]
    torques: Torques | None
    gains: np.ndarray | None
    lengths: Sensitivity | None

    @property
    def name(self) -> str:
        """Its independent joints."""
        return ", ".join(self.cluster.independent)

    @property
    def is_linkage(self) -> bool:
        """Whether it is more than a joint with its gear: it has loops, or several joints that are no rotors."""
        return self.loops or sum(not c.rotor for s in self.sweeps[:1] for c in s.joints) > 1


@dataclass(frozen=True, eq=False)
class MechanismResult(Shown):
    """Range, transmission, torque, loads and sensitivity of a robot's mechanisms.

    Attributes:
        model: The robot.
        ranges: Of every joint that moves, in the order of the tree.
        parts: One per cluster that has a joint of one degree of freedom to move.
        loads: What bearings and rods carry along a motion.
        notes: What one has to know, such as joints that start beyond their limits.
    """

    model: ClusterModel
    ranges: tuple[JointRange, ...]
    parts: tuple[MechanismPart, ...]
    loads: Loads
    notes: tuple[str, ...]

    @property
    def linkages(self) -> tuple[MechanismPart, ...]:
        """The parts that are more than a joint with its gear."""
        return tuple(p for p in self.parts if p.is_linkage)

    def range(self, joint: str) -> JointRange:
        """Return the range of a joint.

        Raises:
            UnknownNameError: No joint of that name moves.
        """
        return self._of(joint, "range", {r.joint: r for r in self.ranges})

    def part(self, joint: str) -> MechanismPart:
        """Return the cluster of a joint.

        Raises:
            UnknownNameError: No joint of that name is in any.
        """
        return self._of(joint, "part", {name: p for p in self.parts for name in p.cluster.joints})

    def _of(self, joint: str, what: str, found: dict[str, T]) -> T:
        if joint not in found:
            hint = did_you_mean(joint, found)
            raise UnknownNameError(f"no joint {joint!r} of {self.model.name!r} has a {what}.{hint}")
        return found[joint]


def mechanism(
    model: ClusterModel, motion: Trajectory | None = None, *, progress: Progress | None = None
) -> MechanismResult:
    """Answer what designers ask of a linkage: how far, how fast, how strong, what it carries, what a length matters.

    Ranges are found by ``pc.integrate`` from the reference pose, each independent joint both ways with the others at
    rest, until a joint of its cluster is at a limit or the loops cannot follow; the end is bisected. Floating bases and
    joints of several degrees of freedom stay where they are.

    Args:
        model: The robot; other joints as the independent ones (``pc.with_independent``) ask for other ranges.
        motion: Along which bearings and rods are loaded, a trajectory of ``pc.study``; without one, each independent
            joint goes through its range.
        progress: Called with (done, total) now and then.

    Returns:
        All numbers; ``write`` makes a page and tables of them.

    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel.
        ModelError: No joint with one degree of freedom is there to move.
        TrajectoryError: The motion does not fit the robot.

    References:
        Freudenstein, "Approximate synthesis of four-bar linkages", Trans. ASME 77 (1955), for the four-bar; virtual
        work and the implicit function theorem for all else.

    Example:
        >>> import pin_clusters as pc
        >>> result = pc.mechanism(pc.load("four_bar"))
        >>> rocker = result.range("rocker")
        >>> round(rocker.low, 4), round(rocker.high, 4), rocker.high_end.kind
        (-0.5455, 0.0795, 'turning point')
        >>> result.range("crank").turns
        True
    """
    check_model(model, "mechanism")
    told = in_thousandths(progress)
    movable = [c for c in model.clusters if coordinates(model, c.independent)]
    if not movable:
        raise ModelError(
            f"mechanism: model {model.name!r} has no independent joint with one degree of freedom, so there is nothing "
            "to move."
        )
    parts = []
    for i, cluster in enumerate(movable):
        parts.append(_part(model, cluster))
        told(0.6 * (i + 1) / len(movable))
    sweeps = [s for p in parts for s in p.sweeps]
    drives = [next((p.motors for p in parts if p.cluster is c), ()) for c in model.clusters]
    trajectory = ThroughRange(sweeps) if motion is None else motion
    loaded = loads(model, trajectory, drives, lambda part: told(0.6 + 0.4 * part))
    told(1.0)
    anywhere = {c.name: p.region.extent(c.name) for p in parts if p.region for c in p.region.joints}
    for p in (p for p in parts if len(p.sweeps) > 2):
        anywhere |= together(model, p.cluster, p.sweeps)
    return MechanismResult(model, ranges(model, sweeps, anywhere), tuple(parts), loaded, _notes(model, parts))


def _part(model: ClusterModel, cluster: Cluster) -> MechanismPart:
    free = coordinates(model, cluster.independent)
    sweeps = tuple(sweep(model, cluster, c, SAMPLES) for c in free)
    driving = motors(model, cluster)
    loops, made = has_loops(model, cluster), torques(model, cluster, driving, sweeps)
    both = region(model, cluster, (sweeps[0], sweeps[1]), CELLS) if len(sweeps) == 2 else None
    two = loops and made is not None and both is not None and len(made.joints) == len(made.motors) == 2
    return MechanismPart(
        cluster,
        loops,
        sweeps,
        both,
        tuple(transmission(model, s) for s in sweeps),
        driving,
        made,
        stiffness(model, cluster, made, both.q) if two and made and both else None,
        sensitivity(model, cluster.joints, sweeps) if loops else None,
    )


def _notes(model: ClusterModel, parts: list[MechanismPart]) -> tuple[str, ...]:
    found = []
    for p in parts:
        for c in p.sweeps[0].joints:
            x = c.value(model, model.q_reference)
            if not c.low - 1e-9 <= x <= c.high + 1e-9:
                found.append(
                    f"{c.name} stands at {x:.4g} {c.unit} in the reference pose, beyond its limits "
                    f"({c.low:.4g} to {c.high:.4g}): they do not count here."
                )
    missing = [name for name in model.independent_joints if not coordinates(model, (name,))]
    if missing:
        found.append(f"Held where they are: {', '.join(missing)}.")
    return tuple(found)
