"""Summarize a robot: its closed loops, rotor speeds, reference pose, and the armature in its file.

``pin-clusters info`` prints this summary. It also prints clusters, rotors and dimensions from ``ClusterModel``.
"""

from dataclasses import dataclass

import numpy as np

from .._support.trees import in_v
from ..algorithms.dynamics.condition import condition
from ..model import Cluster, ClusterModel, LoopAnalysis
from .study._samples import column_names


@dataclass(frozen=True)
class ClosedLoop:
    """Properties of the closed loops in one cluster."""

    cluster: int  # index in ``model.clusters``
    closed_by: tuple[str, ...]  # labels of the loop-closure constraints
    solved: int  # number of constraint equations that are solved
    stated: int  # total number of constraint equations; those that are not solved are redundant
    chosen_at_each_pose: bool  # whether the solved equations are selected anew at each pose
    worst_condition: float  # largest condition number (see ``condition``) over several poses of the assembly mode
    condition: float  # condition number of the dependent-joint Jacobian at the reference pose; 1 is best
    dropped: float  # largest residual of the redundant equations, [rad] or a fraction of the loop's length


def closed_loops(model: ClusterModel) -> list[ClosedLoop]:
    """List the closed loops of a robot, with one entry per cluster that has loops.

    Args:
        model: The robot.

    Example:
        >>> import pin_clusters as pc
        >>> from pin_clusters.studies import composition
        >>> loop, = composition.closed_loops(pc.load("four_bar"))
        >>> loop.solved, loop.stated
        (2, 5)
    """
    loops = []
    reference_conditions = iter(condition(model, model.createData(), model.q_reference))
    for i, (cluster, loop) in enumerate(zip(model.clusters, model.tables.topology.loops, strict=True)):
        if loop is not None:
            loops.append(
                ClosedLoop(
                    i,
                    _closed_by(model, cluster),
                    loop.rank,
                    _stated(model, loop),
                    loop.pivoted,
                    loop.worst_condition,
                    next(reference_conditions).K_d,
                    loop.dropped,
                )
            )
    return loops


def _closed_by(model: ClusterModel, cluster: Cluster) -> tuple[str, ...]:
    sources: set[int] = {id(c.source) for c in model.closures} | {id(row.source) for row in model.coupling_rows}
    return tuple(str(c.label) for c in cluster.constraints if id(c) in sources)


def _stated(model: ClusterModel, loop: LoopAnalysis) -> int:
    """Count a cluster's constraint equations; omit couplings that are evaluated after the loops are solved."""
    follow = {id(row) for row in loop.followers}
    implicit = sum(row.dependent in loop.joints and id(row) not in follow for row in model.coupling_rows)
    return sum(c.size for c in loop.closures) + implicit


def rotor_speeds(model: ClusterModel) -> dict[str, dict[str, float]]:
    """Return gear ratios by rotor and joint; a rotor's speed relative to its carrier is sum(ratio * joint velocity).

    Without closed loops, the ratios refer to independent velocities. With closed loops, they refer to the joints
    of the spanning tree that drive the rotor, so they are valid at every pose.

    Args:
        model: The robot.

    Example:
        >>> import pin_clusters as pc
        >>> from pin_clusters.studies import composition
        >>> composition.rotor_speeds(pc.load("mit_humanoid_leg"))["hip_rz_rotor"]
        {'hip_rz': 6.0}
    """
    labels = column_names(model)
    of_tree = {int(joint.idx_v): name for name, joint in zip(model.tree.names, model.tree.joints, strict=True)}
    if model.closures:
        return {r.name: {of_tree[iv]: ratio for iv, ratio in r.drivers} for r in model.rotors}
    return {r.name: {labels[i]: float(r.row[i]) for i in np.flatnonzero(r.row)} for r in model.rotors}


def file_armature(model: ClusterModel) -> dict[str, np.ndarray]:
    """Return the armature in the robot's file by joint name, [kg m^2] or [kg]; omit joints without armature."""
    tree, values = model.own_tree, model.inertia_tree.armature
    joint_armature = {j: values[in_v(tree, j)] for j in {*range(1, tree.njoints)} - {r.joint_id for r in model.rotors}}
    return {tree.names[j]: a for j, a in joint_armature.items() if a.any()}


def reference_pose(model: ClusterModel) -> dict[str, np.ndarray]:
    """Return the reference pose by joint name, [rad] or [m]; continuous joints have one angle, not cosine and sine."""
    coordinates = {}
    for name, joint in list(zip(model.tree.names, model.tree.joints, strict=True))[1:]:
        q = model.q_reference[joint.idx_q : joint.idx_q + joint.nq]
        coordinates[name] = np.array([np.arctan2(q[1], q[0])]) if joint.nq == 2 and joint.nv == 1 else q
    return coordinates
