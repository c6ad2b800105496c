"""The approximation that most simulators use: joints have armature instead of rotors."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from .._support.trees import in_q, in_v, joint_axis, joint_subspace, spin_defect
from ..errors import ModelError
from ..model import ClusterModel, RotorElement, depth_first, find_rotors


def armature_model(
    model: ClusterModel, armature: Literal["none", "diagonal"] = "diagonal", drop_rotors: bool = False
) -> pin.Model:
    """Return the approximate robot as a ``pin.Model``, which has only the independent joints.

    The rotors (driven leaf bodies of the tree, dependent fingers, and ``Rotor`` constraints) are fixed to their
    carriers at angle 0, so the approximate robot has the full mass. The spin of the rotors relative to their carriers
    is neglected, except that armature adds the contribution of the spin to the diagonal of the mass matrix.

    Args:
        model: Cluster model without closed loops; all its dependent joints must be rotors.
        armature: ``"none"`` keeps only the armature of the independent joints in the tree. ``"diagonal"`` adds the
            diagonal of ``G' I_r G``, [kg m^2], where ``I_r`` contains the axial inertia of rotors and the armature of
            dependent joints.
        drop_rotors: Whether to omit the mass and inertia of the rotors. The mass of a ``Rotor`` with only an
            ``axial_inertia`` is not omitted, because it is part of the mass of the carrier.

    Returns:
        A ``pin.Model`` in depth-first order, with the names, frames and limits of the independent joints.

    Raises:
        ModelError: The model has closed loops, a dependent joint is not a rotor, a rotor is independent, or
            ``armature`` is unknown.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> from pin_clusters.verification.baselines import armature_model
        >>> tree = pin.buildSampleModelManipulator()
        >>> model = pc.ClusterModel(tree, [pc.Rotor("elbow_joint", 100.0, axial_inertia=1e-5)])
        >>> float(armature_model(model).armature[3])
        0.1
    """
    if armature not in ("none", "diagonal"):
        raise ModelError(f"armature_model: armature must be 'none' or 'diagonal', got {armature!r}.")
    check_rotors(model)
    tree = (model.tree if drop_rotors else model.inertia_tree).copy()
    tree.armature = model.inertia_tree.armature
    gone = [r.joint_id for r in locked(model) if r.joint_id is not None]
    if drop_rotors:
        for j in gone:
            tree.inertias[j] = pin.Inertia.Zero()
    tree = depth_first(tree, gone)
    if armature == "diagonal":
        total = np.array(tree.armature)
        total[independent_v(model, tree)] += np.diag(reflected_inertia(model))
        tree.armature = total
    return tree


class WithoutRotors:
    """Pinocchio's algorithms for the approximate robot of ``armature_model``, in the coordinates of the exact robot.

    q contains every joint of the tree, shape (nq,); v, a and tau contain the independent joints, shape (nv,). ``at_q``
    and ``at_v`` are the index arrays that ``independent_q`` and ``independent_v`` return.
    """

    def __init__(
        self, model: ClusterModel, armature: Literal["none", "diagonal"] = "diagonal", drop_rotors: bool = False
    ) -> None:
        self.model, self.approximate = model, armature_model(model, armature, drop_rotors)
        self.data = self.approximate.createData()
        self.at_q, self.at_v = independent_q(model, self.approximate), independent_v(model, self.approximate)
        self._first, self._second = np.zeros((2, model.nv))

    def configuration(self, q: ArrayLike) -> np.ndarray:
        return np.asarray(q, dtype=float)[self.at_q]

    def rnea(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *fext: pin.StdVec_Force) -> np.ndarray:
        return self._dynamics(pin.rnea, q, v, a, *fext)

    def aba(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> np.ndarray:
        return self._dynamics(pin.aba, q, v, tau)

    def crba(self, q: ArrayLike) -> np.ndarray:
        return symmetric(pin.crba(self.approximate, self.data, self.configuration(q)))[np.ix_(self.at_v, self.at_v)]

    def on(self, j: int, what: Any) -> tuple[int, Any]:
        """Return the approximate robot's joint that moves body j, and ``what`` (placement or force) in its frame."""
        tree = self.model.tree
        while j and not self.approximate.existJointName(tree.names[j]):
            what, j = tree.jointPlacements[j].act(what), int(tree.parents[j])
        return self.approximate.getJointId(tree.names[j]) if j else 0, what

    def _dynamics(self, function: Any, q: Any, v: Any, x: Any, *fext: Any) -> np.ndarray:
        self._first[self.at_v], self._second[self.at_v] = v, x
        state = self.configuration(q), self._first, self._second
        return function(self.approximate, self.data, *state, *fext)[self.at_v]


@dataclass(frozen=True)
class Driven:
    """A rotor in the representation of other simulators: an inertia that is driven by one or more joints."""

    rotor: str  # name of the rotor
    inertia: float  # axial inertia J, [kg m^2]
    ratios: dict[str, float]  # for each joint, turns of the rotor per turn of the joint


_Driven = TypeVar("_Driven", bound=Driven)


def joined(drives: Iterable[_Driven]) -> list[_Driven]:
    """Merge rotors whose speeds are proportional, such as the stages of a gear."""
    merged: list[_Driven] = []
    for d in drives:
        for k, earlier in enumerate(merged):
            ratio = _times(d.ratios, earlier.ratios)
            if ratio is not None:
                merged[k] = replace(earlier, inertia=earlier.inertia + d.inertia * ratio**2)
                break
        else:
            merged.append(d)
    return merged


def _times(ratios: dict[str, float], others: dict[str, float]) -> float | None:
    """Return the constant speed ratio of two rotors, or None if it is not constant."""
    if set(ratios) != set(others):
        return None
    times = [ratios[name] / others[name] for name in others]
    return times[0] if all(abs(x - times[0]) <= 1e-12 * abs(times[0]) for x in times) else None


def symmetric(M: Any) -> np.ndarray:
    """Fill the lower triangle of a symmetric matrix, because older Pinocchio versions fill only the upper triangle."""
    upper = np.triu(M)
    return upper + np.triu(upper, 1).T


def locked(model: ClusterModel) -> tuple[RotorElement, ...]:
    """Return the bodies that approximations fix to their carriers: rotors and, without loops, dependent leaf links."""
    return model.rotors if model.closures else find_rotors(model.own_tree, model.tables.topology, links=True)


def reflected_inertia(
    model: ClusterModel, G: np.ndarray | None = None, rotors: Iterable[RotorElement] | None = None
) -> np.ndarray:
    """Return ``G' I_r G`` [kg m^2], shape (nv, nv): the part of the mass matrix due to the spin of rotors.

    ``rotors`` defaults to ``locked(model)``. If the couplings change with the pose, pass G of shape (poses, tree.nv,
    nv); the result then contains one matrix for each pose.
    """
    total = np.zeros((*(() if G is None else G.shape[:1]), model.nv, model.nv))
    for r in locked(model) if rotors is None else rotors:
        row = r.row if G is None else sum((ratio * G[:, iv] for iv, ratio in r.drivers), np.zeros(model.nv))
        total += axial_inertia(model, r) * (row[..., :, None] * row[..., None, :])
    return total


def axial_inertia(model: ClusterModel, rotor: RotorElement) -> float:
    """Return the inertia of a rotor about its joint axis, including the armature of the joint, [kg m^2]."""
    if rotor.joint_id is None:
        return rotor.axial_inertia
    joint = model.tree.joints[rotor.joint_id]
    S = joint_subspace(joint)
    inertia = rotor.axial_inertia
    if S is not None and rotor.inertia is not None:  # S' I S is also correct for unbalanced rotors
        inertia = float(S @ rotor.inertia.matrix() @ S)
    return inertia + float(model.inertia_tree.armature[joint.idx_v])


def independent_v(model: ClusterModel, approximate: pin.Model) -> np.ndarray:
    """Return, for each entry of v, its index in the velocity of the approximate robot, shape (nv,)."""
    ids = [approximate.getJointId(name) for name in model.independent_joints]
    return np.array([i for j in ids for i in in_v(approximate, j)], dtype=np.int64)


def independent_q(model: ClusterModel, approximate: pin.Model) -> np.ndarray:
    """Return, for each entry of the approximate robot's configuration, its index in q, shape (approximate.nq,)."""
    indices = np.zeros(approximate.nq, dtype=np.int64)
    for name in list(approximate.names)[1:]:
        indices[in_q(approximate, approximate.getJointId(name))] = in_q(model.tree, model.tree.getJointId(name))
    return indices


def check_rotors(model: ClusterModel) -> None:
    """Raise ``ModelError`` if the model has loops, dependent joints that are not rotors, or independent rotors."""
    tree = model.tree
    if model.closures:
        raise ModelError(
            f"armature_model: {model.closures[0].source.label} closes a loop, which constant armature cannot "
            "represent. Use pc.baselines.unconstrained for approximate or pc.baselines.projection for exact results."
        )
    parents = {int(p) for p in list(tree.parents)[1:]}
    carriers = {r.carrier_id for r in locked(model)}
    rotors = {r.joint_id: r for r in locked(model) if r.joint_id is not None}
    for row in model.coupling_rows:
        name = tree.names[row.dependent]
        if row.dependent not in rotors:
            raise ModelError(
                f"armature_model: dependent joint {name!r} ({row.source.label}) carries other bodies or rotors, so "
                "armature cannot represent this joint. Use pc.baselines.projection, or lock the joint."
            )
        if rotors[row.dependent].spins:
            continue
        for m in row.masters:
            joint = tree.joints[m]
            axis = joint_axis(joint)
            leaf = m not in parents and m not in carriers and m not in rotors
            if leaf and axis is not None and not spin_defect(tree.inertias[m], axis):
                raise ModelError(
                    f"armature_model: {tree.names[m]!r} looks like a rotor but is independent, and {name!r} depends "
                    f"on it. Reverse the coupling: make {name!r} independent and {tree.names[m]!r} dependent."
                )
