"""Forces of loop, rod and coupling constraints, and joint wrenches."""

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
    """Wrench of a loop-closure constraint between frame a on body a and frame b on body b.

    Attributes:
        constraint: Label of the constraint.
        joints: Names of the joints that move body a and body b.
        placement: Placement of frame a relative to the joint of body a. The z axis of frame a is the constraint axis.
        wrench: Wrench of body a on body b, [force; moment], shape (6,), [N] and [N m], in the axes of ``placement``.
            The moment is about the origin of frame b. Body b exerts the opposite wrench on body a.
        multipliers: Lagrange multipliers, one per constraint equation, [N] or [N m].
        unique: Whether the motion and the torques determine ``wrench``. If False, it is a minimum-norm solution.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> loop = pc.constraint_forces(model, model.createData(), pc.neutral(model), [0.0], np.zeros(3)).loops[0]
        >>> loop.joints, loop.wrench.shape
        (('coupler', 'rocker'), (6,))
    """

    constraint: str
    joints: tuple[str, str]
    placement: pin.SE3
    wrench: np.ndarray
    multipliers: np.ndarray
    unique: bool


@dataclass(frozen=True, eq=False)
class RodForce:
    """Forces of a rod that connects a point a on one body to a point b on another body.

    Attributes:
        constraint: Label of the constraint.
        joints: Names of the joints that move the bodies at the ends of the rod.
        tension: Force that keeps the length of the rod constant, [N]; positive if the rod pulls its ends together.
            Unlike ``force_a`` and ``force_b``, it excludes the weight and the inertia of the rod.
        force_a: Force of the rod on the body at end a, in world axes, shape (3,), [N].
        force_b: Force of the rod on the body at end b, in world axes, shape (3,), [N].
        unique: Whether the motion and the torques determine the forces. If False, they are a minimum-norm solution.
    """

    constraint: str
    joints: tuple[str, str]
    tension: float
    force_a: np.ndarray
    force_b: np.ndarray
    unique: bool


@dataclass(frozen=True, eq=False)
class CouplingForce:
    """Torques of a coupling constraint, such as a gear, a belt, a differential, or a function of joint coordinates.

    Attributes:
        constraint: Label of the constraint.
        joints: Names of the joints that the constraint couples.
        torques: Torque that the constraint adds to each of these joints, shape (joints,), [N m] or [N].
        multipliers: Lagrange multipliers, one per equation; ``torques`` is J' times these multipliers.
        unique: Whether the motion and ``tau_tree`` determine ``torques``. If False, they are a minimum-norm solution.
    """

    constraint: str
    joints: tuple[str, ...]
    torques: np.ndarray
    multipliers: np.ndarray
    unique: bool


@dataclass(frozen=True, eq=False)
class ConstraintForces:
    """Forces of all constraints and joints in one state.

    Attributes:
        loops: One ``LoopWrench``, ``RodForce`` or ``CouplingForce`` per constraint, in the order of ``model.closures``.
        couplings: One ``CouplingForce`` per coupling equation, in the order of ``model.coupling_rows``.
        joints: Wrench of the parent body on the child body at each joint of the tree, including torques of motors and
            couplings; shape (njoints, 6), [linear; angular] in the joint frame, [N] and [N m]. Row 0 is zero.
        unique: Whether the motion and the torques determine the wrench of each joint, shape (njoints,).
        rotors: Torque on each rotor about the rotor axis, in the order of ``model.rotors``, [N m].
        acceleration: Independent acceleration, shape (nv,), [rad/s^2] or [m/s^2].
    """

    loops: tuple[LoopWrench | RodForce | CouplingForce, ...]
    couplings: tuple[CouplingForce, ...]
    joints: np.ndarray
    unique: np.ndarray
    rotors: np.ndarray
    acceleration: np.ndarray


@_check.documented(_check.SINGULAR)
def constraint_forces(
    model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike, tau_tree: ArrayLike, fext: Any = None
) -> ConstraintForces:
    """Compute the forces of loops, rods, couplings and joints in a given state and under given torques.

    The projection of a joint wrench f onto the joint's motion axes S is ``S' f = tau_tree + couplings - armature * a -
    ratio * rotors``. The last two terms are the torques that accelerate the armature and the rotors of the joint.

    Redundant constraint equations, as for a planar four-bar with spatial revolute joints, determine only some
    combinations of the multipliers. Then ``unique`` is False for the affected results, which are a minimum-norm
    solution; in the norm, forces are multiplied by the loop length. Equations that are redundant except for rounding in
    a file (1.5708 for pi/2) count as redundant.

    Args:
        data: Workspace. The function fills ``data.ddq`` and ``data.tree``.
        tau_tree: Torques that motors and springs exert on each joint of the tree, shape (tree.nv,), [N m] or [N].

    Returns:
        Forces of all constraints and joints, in new arrays.

    References:
        Featherstone, "Rigid Body Dynamics Algorithms", chapter 8 (closed loops: tree forces and multipliers).

    Example:
        A gear couples two prismatic joints whose weights balance each other:

        >>> import numpy as np, pinocchio as pin, pin_clusters as pc
        >>> tree = pin.Model()
        >>> for name in ("left", "right"):
        ...     j = tree.addJoint(0, pin.JointModelPZ(), pin.SE3.Identity(), name)
        ...     tree.appendBodyToJoint(j, pin.Inertia(2.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
        >>> model = pc.ClusterModel(tree, [pc.Gear("left", "right", -1.0)])
        >>> forces = pc.constraint_forces(model, model.createData(), np.zeros(2), [0.0], [0.0, 0.0])
        >>> forces.couplings[0].torques.round(6).tolist()  # the weight of each body
        [19.62, 19.62]
    """
    q, v = _check.state(model, data, q, v)
    torques = vector(model, "tau_tree", tau_tree, model.own_tree.nv, "nv of the spanning tree")
    outer = np.zeros((model.njoints, 6)) if fext is None else _check.forces(model, fext)
    G, g = _bridge.matrix_and_bias(model, data, q, v)
    a = aba(model, data, q, v, torques @ G, None if fext is None else outer)
    loads = Loads(model, data.tree, q, G @ v, G @ a + g, outer)
    solved = Multipliers(model, data.tree, q)
    multipliers = solved.solve(loads.torque() - torques)
    tau = loads.torque(solved.wrenches(multipliers))
    joints = np.array([f.vector for f in data.tree.f])
    joints[0] = 0.0
    # Subtracting the effects of armatures and rotors leaves the torques of the joint wrenches.
    tau -= model.inertia_tree.armature * loads.motion[2] + loads.reflected
    rotors = [
        loads.spin[k] if r.joint_id is None else tau[model.own_tree.idx_vs[r.joint_id]]
        for k, r in enumerate(model.rotors)
    ]
    return ConstraintForces(
        loops=tuple(_of_closure(model, solved, loads, i, multipliers) for i in range(len(model.closures))),
        couplings=tuple(
            _of_joints(model, solved, len(model.closures) + i, multipliers) for i in range(len(model.coupling_rows))
        ),
        joints=joints,
        unique=solved.determined(),
        rotors=np.array(rotors),
        acceleration=a,
    )


def _of_closure(
    model: ClusterModel, solved: Multipliers, loads: Loads, i: int, multipliers: np.ndarray
) -> LoopWrench | RodForce | CouplingForce:
    c = model.closures[i]
    if isinstance(c, JointClosure):
        return _of_joints(model, solved, i, multipliers)
    assert isinstance(c, FrameClosure | RodClosure)
    names = model.names[c.joint_a], model.names[c.joint_b]
    values = multipliers[solved.rows[i]].copy()
    if isinstance(c, FrameClosure):
        wrench = solved.wrench(i, multipliers)
        return LoopWrench(c.source.label, names, c.placement_a.copy(), wrench, values, solved.unique(i))
    push = values[0] * pull(solved.data, c)
    at_a, at_b = loads.at_ends(c) if c.mass > 0.0 else (np.zeros(3), np.zeros(3))
    return RodForce(c.source.label, names, -float(values[0]), -push - at_a, push - at_b, solved.unique(i))


def _of_joints(model: ClusterModel, solved: Multipliers, i: int, multipliers: np.ndarray) -> CouplingForce:
    c = solved.closures[i]
    assert isinstance(c, JointClosure)
    joints = tuple(model.names[j] for j in c.joints)
    return CouplingForce(
        c.source.label, joints, solved.torques(i, multipliers), multipliers[solved.rows[i]].copy(), solved.unique(i)
    )
