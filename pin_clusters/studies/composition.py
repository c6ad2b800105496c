"""What a robot is made of, as numbers: closed loops, speeds of rotors, armature of the file, the reference pose.

``pin-clusters info`` prints it. Clusters, rotors and dimensions are attributes of the model.
"""

from dataclasses import dataclass

import numpy as np

from .._support.trees import in_v
from ..algorithms.dynamics.condition import condition
from ..model import Cluster, ClusterModel, LoopAnalysis
from .study._samples import column_names


@dataclass(frozen=True)
class ClosedLoop:
    """The closed loops of a cluster.

    Attributes:
        cluster: Index among ``model.clusters``.
        closed_by: Labels of the constraints that close them.
        solved: Number of constraint equations that are solved.
        stated: Number of constraint equations that the constraints state; the others repeat those that are solved.
        chosen_at_each_pose: Whether the equations that are solved are chosen anew at each pose.
        worst_condition: Worst condition number of the dependent joints over some poses on the assembly mode.
        condition: Condition number of the dependent joints at the reference pose; 1 is best.
        dropped: Largest residual of the equations that are not solved, [rad] or as a part of the loop's length.
    """

    cluster: int
    closed_by: tuple[str, ...]
    solved: int
    stated: int
    chosen_at_each_pose: bool
    worst_condition: float
    condition: float
    dropped: float


def closed_loops(model: ClusterModel) -> list[ClosedLoop]:
    """Return the closed loops of a robot, cluster by cluster.

    Args:
        model: The robot.

    Example:
        >>> import pin_clusters as pc
        >>> from pin_clusters.studies import composition
        >>> loop, = composition.closed_loops(pc.load("four_bar"))
        >>> loop.solved, loop.stated
        (2, 5)
    """
    found = []
    at_reference = iter(condition(model, model.createData(), model.q_reference))
    for i, (cluster, loop) in enumerate(zip(model.clusters, model.tables.topology.loops, strict=True)):
        if loop is not None:
            found.append(
                ClosedLoop(
                    i,
                    _closed_by(model, cluster),
                    loop.rank,
                    _stated(model, loop),
                    loop.pivoted,
                    loop.worst_condition,
                    next(at_reference).K_d,
                    loop.dropped,
                )
            )
    return found


def _closed_by(model: ClusterModel, cluster: Cluster) -> tuple[str, ...]:
    """Return the labels of the constraints that close a cluster's loops."""
    sources: set[int] = {id(c.source) for c in model.closures} | {id(row.source) for row in model.coupling_rows}
    return tuple(str(c.label) for c in cluster.constraints if id(c) in sources)


def _stated(model: ClusterModel, loop: LoopAnalysis) -> int:
    """Count the equations of a cluster as the user stated them; couplings that only follow are none."""
    follow = {id(row) for row in loop.followers}
    implicit = sum(row.dependent in loop.joints and id(row) not in follow for row in model.coupling_rows)
    return sum(c.size for c in loop.closures) + implicit


def rotor_speeds(model: ClusterModel) -> dict[str, dict[str, float]]:
    """Return the speed of each rotor in its carrier as a linear function of joint velocities.

    Args:
        model: The robot.

    Returns:
        For each rotor the factors by joint: of independent velocities without closed loops. With closed loops the
        factors are of velocities of the tree, since these hold at any pose.

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
    """Return the armature that the robot's file gives, by joint, shape (nv of the joint,), [kg m^2] or [kg].

    Joints without armature are left out, and so are rotors.
    """
    tree, values = model.own_tree, model.inertia_tree.armature
    own = {j: values[in_v(tree, j)] for j in {*range(1, tree.njoints)} - {r.joint_id for r in model.rotors}}
    return {tree.names[j]: a for j, a in own.items() if a.any()}


def reference_pose(model: ClusterModel) -> dict[str, np.ndarray]:
    """Return the coordinates of the reference pose by joint, [rad] or [m].

    A continuous joint, whose configuration is a cosine and a sine, has its angle.
    """
    found = {}
    for name, joint in list(zip(model.tree.names, model.tree.joints, strict=True))[1:]:
        q = model.q_reference[joint.idx_q : joint.idx_q + joint.nq]
        found[name] = np.array([np.arctan2(q[1], q[0])]) if joint.nq == 2 and joint.nv == 1 else q
    return found
