"""Forces of constraints: of loops, rods and couplings, and the bearing wrench of every joint."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import ArrayLike, vector
from ...constraints.closures import FrameClosure, JointClosure, RodClosure
from ...model import ClusterData, ClusterModel
from .._shared import bridge as _bridge
from .._shared import check as _check
from .._shared.loads import Loads, pull
from ..dynamics.aba import aba
from ._multipliers import Multipliers


@dataclass(frozen=True, eq=False)
class LoopWrench:
    """What a loop of two frames transmits.

    Attributes:
        constraint: Label of the user's constraint.
        joints: Names of the joints that move the bodies of frames a and b.
        placement: Frame a in the frame of its joint, turned so that the axis of the loop is its z axis.
        wrench: Wrench of body a on body b, [force; moment], shape (6,), [N] and [N m]: in axes of ``placement``, the
            moment about the origin of frame b. Body b's on body a is the opposite at the same point.
        multipliers: One per row of the closure, in its order.
        unique: Whether motion and torques determine it; otherwise it is a part of the solution of minimum norm.
    """

    constraint: str
    joints: tuple[str, str]
    placement: pin.SE3
    wrench: np.ndarray
    multipliers: np.ndarray
    unique: bool


@dataclass(frozen=True, eq=False)
class RodForce:
    """What a rod transmits.

    Attributes:
        constraint: Label of the user's constraint.
        joints: Names of the joints that move the bodies of its ends.
        tension: [N]; positive if it pulls its ends together. Of a rod with mass, whose tension is not the same all
            along, it is the part that keeps its length; weight and inertia are in the forces of the ends.
        force_a: Force of the rod on the body of end a, in axes of the world, shape (3,), [N].
        force_b: The same at end b.
        unique: Whether motion and torques determine it; otherwise it is a part of the solution of minimum norm.
    """

    constraint: str
    joints: tuple[str, str]
    tension: float
    force_a: np.ndarray
    force_b: np.ndarray
    unique: bool


@dataclass(frozen=True, eq=False)
class CouplingForce:
    """What an equation between joint coordinates transmits: a gear, a belt, a differential, a function of joints.

    Attributes:
        constraint: Label of the user's constraint.
        joints: Names of the joints that it ties.
        torques: Torque that it adds to that of each of these joints, shape (joints,), [N m] or [N].
        multipliers: One per equation; ``torques = jacobian' multipliers``.
        unique: Whether motion and torques determine it; otherwise it is a part of the solution of minimum norm.
    """

    constraint: str
    joints: tuple[str, ...]
    torques: np.ndarray
    multipliers: np.ndarray
    unique: bool


@dataclass(frozen=True, eq=False)
class ConstraintForces:
    """Forces of all constraints and bearings at one state.

    Attributes:
        loops: One per entry of ``model.closures``, in their order.
        couplings: One per entry of ``model.coupling_rows``, in their order.
        joints: Wrench that the body of the parent exerts on that of the child through each joint of the tree, torques
            of motors and couplings included; shape (njoints, 6), [linear; angular] in the joint frame, [N] and [N m];
            the first row, the universe's, is 0.
        unique: Whether motion and torques determine each of those, shape (njoints,).
        rotors: Torque on each of ``model.rotors`` about its axis, shape (len(model.rotors),), [N m].
        acceleration: Of the independent joints, shape (nv,).
    """

    loops: tuple[LoopWrench | RodForce | CouplingForce, ...]
    couplings: tuple[CouplingForce, ...]
    joints: np.ndarray
    unique: np.ndarray
    rotors: np.ndarray
    acceleration: np.ndarray


@_check.documented()
def constraint_forces(
    model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike, tau_tree: ArrayLike, fext: Any = None
) -> ConstraintForces:
    """Compute what loops, rods, couplings and bearings transmit while the robot moves freely under torques.

    Along its own motion a joint transmits ``tau_tree``, plus the torques of the couplings that tie it, minus what its
    armature and the rotors that it drives take up: ``S' f = tau_tree + couplings - armature a - ratio * rotors``.

    Where constraints are redundant (planar loops in space: the axes are parallel anyway) only some combinations are
    determined; then the multipliers are those of minimum norm, forces times the length of their loop and moments
    alike, and what depends on that choice is flagged. Rows that repeat others but for the digits of a file (1.5708)
    count as repeating them, and the forces are known to that misfit.

    Args:
        data: Its workspace; ``data.ddq`` and ``data.tree`` are filled.
        q: Configuration of the whole tree, shape (nq,), on the couplings (not checked unless ``data.check``).
        tau_tree: Torques of motors and springs on every joint of the tree, shape (tree.nv,), [N m] or [N].

    Returns:
        The forces; the arrays are fresh.

    Raises:
        SingularClusterError: A joint moves no inertia, or loops cannot be solved for their dependent joints.

    References:
        Featherstone, "Rigid Body Dynamics Algorithms", chapter 8 (closed loops: tree forces and multipliers).

    Example:
        A body on a prismatic joint that a gear holds by another one:

        >>> import numpy as np, pinocchio as pin, pin_clusters as pc
        >>> tree = pin.Model()
        >>> for name in ("left", "right"):
        ...     j = tree.addJoint(0, pin.JointModelPZ(), pin.SE3.Identity(), name)
        ...     tree.appendBodyToJoint(j, pin.Inertia(2.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
        >>> model = pc.ClusterModel(tree, [pc.Gear("left", "right", -1.0)])
        >>> forces = pc.constraint_forces(model, model.createData(), np.zeros(2), [0.0], [0.0, 0.0])
        >>> forces.couplings[0].torques.round(6).tolist()  # they balance each other: both weights
        [19.62, 19.62]
    """
    q, v = _check.state(model, data, q, v)
    given = vector(model, "tau_tree", tau_tree, model.own_tree.nv, "nv of the spanning tree")
    outer = np.zeros((model.njoints, 6)) if fext is None else _check.forces(model, fext)
    G, g = _bridge.matrix_and_bias(model, data, q, v)
    a = aba(model, data, q, v, given @ G, None if fext is None else outer)
    loads = Loads(model, data.tree, q, G @ v, G @ a + g, outer)
    solved = Multipliers(model, data.tree, q)
    found = solved.solve(loads.torque() - given)
    tau = loads.torque(solved.wrenches(found))
    joints = np.array([f.vector for f in data.tree.f])
    joints[0] = 0.0
    tau -= model.inertia_tree.armature * loads.motion[2] + loads.reflected  # what the wrenches do
    rotors = [
        loads.spin[k] if r.joint_id is None else tau[model.own_tree.idx_vs[r.joint_id]]
        for k, r in enumerate(model.rotors)
    ]
    return ConstraintForces(
        loops=tuple(_of_closure(model, solved, loads, i, found) for i in range(len(model.closures))),
        couplings=tuple(
            _of_joints(model, solved, len(model.closures) + i, found) for i in range(len(model.coupling_rows))
        ),
        joints=joints,
        unique=solved.determined(),
        rotors=np.array(rotors),
        acceleration=a,
    )


def _of_closure(
    model: ClusterModel, solved: Multipliers, loads: Loads, i: int, found: np.ndarray
) -> LoopWrench | RodForce | CouplingForce:
    """Return what entry i of ``model.closures`` transmits."""
    c = model.closures[i]
    if isinstance(c, JointClosure):
        return _of_joints(model, solved, i, found)
    assert isinstance(c, FrameClosure | RodClosure)
    names = model.names[c.joint_a], model.names[c.joint_b]
    own = found[solved.rows[i]].copy()
    if isinstance(c, FrameClosure):
        wrench = solved.wrench(i, found)
        return LoopWrench(c.source.label, names, c.placement_a.copy(), wrench, own, solved.unique(i))
    push = own[0] * pull(solved.data, c)
    at_a, at_b = loads.at_ends(c) if c.mass > 0.0 else (np.zeros(3), np.zeros(3))
    return RodForce(c.source.label, names, -float(own[0]), -push - at_a, push - at_b, solved.unique(i))


def _of_joints(model: ClusterModel, solved: Multipliers, i: int, found: np.ndarray) -> CouplingForce:
    """Return what entry i of all equations, one between coordinates, transmits."""
    c = solved.closures[i]
    assert isinstance(c, JointClosure)
    joints = tuple(model.names[j] for j in c.joints)
    return CouplingForce(
        c.source.label, joints, solved.torques(i, found), found[solved.rows[i]].copy(), solved.unique(i)
    )
