"""Define the function ``mechanism``, which analyses the mechanisms of a robot, and the class of its result."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ...errors import ModelError, UnknownNameError, did_you_mean
from ...model import Cluster, ClusterModel, check_model
from ..pages.results import Shown
from ..study import Trajectory
from ..study.approximate_dynamics import Progress, in_thousandths
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
    """Results for one cluster.

    Attributes:
        cluster: The cluster, with its joints and constraints.
        loops: Whether the cluster has loop-closure constraints.
        sweeps: Motion of each independent joint through its range.
        region: Combined range of two independent joints; None unless the cluster has exactly two independent joints.
        transmissions: Velocity ratios and inertias along each sweep.
        motors: Motors of the cluster.
        torques: Deliverable joint torques; None if there are no motors.
        gains: Stiffness at two joints over the region, if two motors of unit stiffness drive them; otherwise None.
        lengths: Sensitivity of the dependent joints to lengths; None if there are no loops.
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
        """Names of the cluster's independent joints."""
        return ", ".join(self.cluster.independent)

    @property
    def is_linkage(self) -> bool:
        """Whether the cluster has loops, or several joints that are not rotors."""
        return self.loops or sum(not c.rotor for s in self.sweeps[:1] for c in s.joints) > 1


@dataclass(frozen=True, eq=False)
class MechanismResult(Shown):
    """Ranges, velocity ratios, motor torques, loads and sensitivities of a robot's mechanisms.

    Attributes:
        model: The robot.
        ranges: Range of every joint that moves, in the order of the tree.
        parts: Results for each cluster that has an independent joint with one degree of freedom.
        loads: Loads of bearings and rods along a motion.
        notes: Remarks, for example about joints that start beyond their limits.
    """

    model: ClusterModel
    ranges: tuple[JointRange, ...]
    parts: tuple[MechanismPart, ...]
    loads: Loads
    notes: tuple[str, ...]

    @property
    def linkages(self) -> tuple[MechanismPart, ...]:
        """The parts that are linkages; single joints with their gears are omitted."""
        return tuple(p for p in self.parts if p.is_linkage)

    def range(self, joint: str) -> JointRange:
        """Return the range of a joint.

        Raises:
            UnknownNameError: The model has no moving joint with this name.
        """
        return self._of(joint, "range", {r.joint: r for r in self.ranges})

    def part(self, joint: str) -> MechanismPart:
        """Return the results for the cluster of a joint.

        Raises:
            UnknownNameError: No analysed cluster contains a joint with this name.
        """
        return self._of(joint, "part", {name: p for p in self.parts for name in p.cluster.joints})

    def _of(self, joint: str, kind: str, entries: dict[str, T]) -> T:
        if joint not in entries:
            hint = did_you_mean(joint, entries)
            raise UnknownNameError(f"model {self.model.name!r} has no {kind} for joint {joint!r}.{hint}")
        return entries[joint]


def mechanism(
    model: ClusterModel, motion: Trajectory | None = None, *, progress: Progress | None = None
) -> MechanismResult:
    """Analyse linkages: ranges of motion, velocity ratios, motor torques, bearing loads, and length sensitivities.

    From the reference pose, ``pc.integrate`` moves one independent joint at a time in both directions, until a joint of
    its cluster reaches a limit or a loop cannot close. Bisection refines the end of the range. Floating bases and
    joints with several degrees of freedom do not move. Angles are in rad, lengths in m, forces in N, torques in N m,
    inertias in kg m^2 (kg for prismatic joints).

    Args:
        model: The robot. Use ``pc.with_independent`` to move other joints.
        motion: ``pc.study`` trajectory for the loads; by default, the independent joints move through their ranges.
        progress: Callback that is called with (done, total) at intervals.

    Returns:
        All results. The method ``write`` of the result writes a page and tables.

    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel.
        ModelError: The model has no independent joint with one degree of freedom.
        TrajectoryError: The motion does not fit the robot.

    References:
        Four-bar linkage: Freudenstein, "Approximate synthesis of four-bar linkages", Trans. ASME 77 (1955). The other
        results follow from virtual work and the implicit function theorem.

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
    report = in_thousandths(progress)
    movable = [c for c in model.clusters if coordinates(model, c.independent)]
    if not movable:
        raise ModelError(
            f"mechanism: model {model.name!r} has no independent joint with one degree of freedom to move."
        )
    parts = []
    for i, cluster in enumerate(movable):
        parts.append(_part(model, cluster))
        report(0.6 * (i + 1) / len(movable))
    sweeps = [s for p in parts for s in p.sweeps]
    drives = [next((p.motors for p in parts if p.cluster is c), ()) for c in model.clusters]
    trajectory = ThroughRange(sweeps) if motion is None else motion
    loaded = loads(model, trajectory, drives, lambda part: report(0.6 + 0.4 * part))
    report(1.0)
    anywhere = {c.name: p.region.extent(c.name) for p in parts if p.region for c in p.region.joints}
    for p in (p for p in parts if len(p.sweeps) > 2):
        anywhere |= together(model, p.cluster, p.sweeps)
    return MechanismResult(model, ranges(model, sweeps, anywhere), tuple(parts), loaded, _notes(model, parts))


def _part(model: ClusterModel, cluster: Cluster) -> MechanismPart:
    free = coordinates(model, cluster.independent)
    sweeps = tuple(sweep(model, cluster, c, SAMPLES) for c in free)
    driving = motors(model, cluster)
    loops, torque_sets = has_loops(model, cluster), torques(model, cluster, driving, sweeps)
    combined = region(model, cluster, (sweeps[0], sweeps[1]), CELLS) if len(sweeps) == 2 else None
    has_gains = (
        loops
        and torque_sets is not None
        and combined is not None
        and len(torque_sets.joints) == len(torque_sets.motors) == 2
    )
    return MechanismPart(
        cluster,
        loops,
        sweeps,
        combined,
        tuple(transmission(model, s) for s in sweeps),
        driving,
        torque_sets,
        stiffness(model, cluster, torque_sets, combined.q) if has_gains and torque_sets and combined else None,
        sensitivity(model, cluster.joints, sweeps) if loops else None,
    )


def _notes(model: ClusterModel, parts: list[MechanismPart]) -> tuple[str, ...]:
    remarks = []
    for p in parts:
        for c in p.sweeps[0].joints:
            x = c.value(model, model.q_reference)
            if not c.low - 1e-9 <= x <= c.high + 1e-9:
                remarks.append(
                    f"Joint {c.name} is at {x:.4g} {c.unit} in the reference pose, beyond its limits "
                    f"({c.low:.4g} to {c.high:.4g}). The analysis ignores these limits."
                )
    missing = [name for name in model.independent_joints if not coordinates(model, (name,))]
    if missing:
        remarks.append(f"Joints that do not move in this analysis: {', '.join(missing)}.")
    return tuple(remarks)
