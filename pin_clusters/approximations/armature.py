"""The approximation that most robots are simulated with: no rotors, but armature."""

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
    """Return the approximate robot: the independent joints only, for Pinocchio as it is.

    The rotors (driven leaf bodies of the tree, fingers that follow too, and ``Rotor`` constraints) are locked into
    their carriers at angle 0, so that the approximate robot has all the mass. What is lost is their spin relative to
    the carrier; armature puts the part of it back that is on the diagonal of the mass matrix.

    Args:
        model: Cluster model whose dependent joints are all rotors.
        armature: ``"none"``: the tree's own armature of the independent joints. ``"diagonal"``: the diagonal of
            ``G' I_r G`` on top, with the rotors' axial inertia and the armature of the dependent joints in ``I_r``.
        drop_rotors: Leave the rotors' mass and inertia out. (The mass of a ``Rotor`` given by its ``axial_inertia`` is
            in its carrier's link, from where it cannot be taken.)

    Returns:
        Depth-first model with the names, frames and limits of the independent joints.

    Raises:
        ModelError: The model has loops, a dependent joint is no rotor, a rotor is independent, or ``armature`` is
            unknown.

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
    """Pinocchio on the approximate robot, as ``armature_model`` has it, in the coordinates of the exact one.

    q is of the whole tree, shape (nq,); v, a and tau are in the public order, shape (nv,).

    Attributes:
        model: The exact robot.
        approximate: Pinocchio's model of the approximate one.
        data: Pinocchio's data of that.
        at_q: Index in q of each entry of its q.
        at_v: Index in its v of each entry of v.
    """

    def __init__(
        self, model: ClusterModel, armature: Literal["none", "diagonal"] = "diagonal", drop_rotors: bool = False
    ) -> None:
        self.model, self.approximate = model, armature_model(model, armature, drop_rotors)
        self.data = self.approximate.createData()
        self.at_q, self.at_v = independent_q(model, self.approximate), independent_v(model, self.approximate)
        self._first, self._second = np.zeros((2, model.nv))

    def configuration(self, q: ArrayLike) -> np.ndarray:
        """Return the approximate robot's configuration."""
        return np.asarray(q, dtype=float)[self.at_q]

    def rnea(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *fext: pin.StdVec_Force) -> np.ndarray:
        """Return the torques of a motion; forces are those on the approximate robot."""
        return self._dynamics(pin.rnea, q, v, a, *fext)

    def aba(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """Return the accelerations under torques."""
        return self._dynamics(pin.aba, q, v, tau)

    def crba(self, q: ArrayLike) -> np.ndarray:
        """Return the mass matrix."""
        return symmetric(pin.crba(self.approximate, self.data, self.configuration(q)))[np.ix_(self.at_v, self.at_v)]

    def on(self, j: int, what: Any) -> tuple[int, Any]:
        """Return where on the approximate robot a placement or a force on joint j of the tree is, and what it is there.

        What is on a rotor is on its carrier, at angle 0.
        """
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
    """A rotor as another simulator sees it: an inertia that joints turn together."""

    rotor: str  # its name
    inertia: float  # J about its axis, [kg m^2]
    ratios: dict[str, float]  # turns of the rotor per turn of each joint


_Driven = TypeVar("_Driven", bound=Driven)


def joined(drives: Iterable[_Driven]) -> list[_Driven]:
    """Return the rotors, one for all that always turn together, such as the stages of a gear."""
    found: list[_Driven] = []
    for d in drives:
        for k, other in enumerate(found):
            times = _times(d.ratios, other.ratios)
            if times is not None:
                found[k] = replace(other, inertia=other.inertia + d.inertia * times**2)
                break
        else:
            found.append(d)
    return found


def _times(ratios: dict[str, float], others: dict[str, float]) -> float | None:
    """Return how many times faster a rotor turns than another one that the same joints turn; None if it varies."""
    if set(ratios) != set(others):
        return None
    times = [ratios[name] / others[name] for name in others]
    return times[0] if all(abs(x - times[0]) <= 1e-12 * abs(times[0]) for x in times) else None


def symmetric(M: Any) -> np.ndarray:
    """Return a matrix of which only the upper triangle may be filled (older Pinocchio) as a whole one."""
    upper = np.triu(M)
    return upper + np.triu(upper, 1).T


def locked(model: ClusterModel) -> tuple[RotorElement, ...]:
    """Return what approximations lock: rotors and, without loops, which no ``pin.Model`` ties, links that follow."""
    return model.rotors if model.closures else find_rotors(model.own_tree, model.tables.topology, links=True)


def reflected_inertia(
    model: ClusterModel, G: np.ndarray | None = None, rotors: Iterable[RotorElement] | None = None
) -> np.ndarray:
    """Return ``G' I_r G``, shape (nv, nv): what the spin of rotors adds to M while the carriers stand.

    The rotors are those given, by default all that approximations lock. Where loops change the couplings, G has shape
    (poses, tree.nv, nv), for a matrix each.
    """
    total = np.zeros((*(() if G is None else G.shape[:1]), model.nv, model.nv))
    for r in locked(model) if rotors is None else rotors:
        row = r.row if G is None else sum((ratio * G[:, iv] for iv, ratio in r.drivers), np.zeros(model.nv))
        total += axial_inertia(model, r) * (row[..., :, None] * row[..., None, :])
    return total


def axial_inertia(model: ClusterModel, rotor: RotorElement) -> float:
    """Return the inertia of a rotor about its joint's axis, armature of its own joint included, [kg m^2]."""
    if rotor.joint_id is None:
        return rotor.axial_inertia
    joint = model.tree.joints[rotor.joint_id]
    S = joint_subspace(joint)
    own = rotor.axial_inertia
    if S is not None and rotor.inertia is not None:  # about the joint's axis, where an unbalanced body has more
        own = float(S @ rotor.inertia.matrix() @ S)
    return own + float(model.inertia_tree.armature[joint.idx_v])


def independent_v(model: ClusterModel, approximate: pin.Model) -> np.ndarray:
    """Return where each entry of v is in the approximate robot's velocity, shape (nv,)."""
    ids = [approximate.getJointId(name) for name in model.independent_joints]
    return np.array([i for j in ids for i in in_v(approximate, j)], dtype=np.int64)


def independent_q(model: ClusterModel, approximate: pin.Model) -> np.ndarray:
    """Return where each entry of the approximate robot's configuration is in q, shape (approximate.nq,)."""
    where = np.zeros(approximate.nq, dtype=np.int64)
    for name in list(approximate.names)[1:]:
        where[in_q(approximate, approximate.getJointId(name))] = in_q(model.tree, model.tree.getJointId(name))
    return where


def check_rotors(model: ClusterModel) -> None:
    """Refuse loops, dependents that are no rotors, and rotors that lead."""
    tree = model.tree
    if model.closures:
        raise ModelError(
            f"armature_model: {model.closures[0].source.label} closes a loop, whose joints no constant armature could "
            "stand for. Use baselines.unconstrained for an approximation, baselines.projection for the exact result."
        )
    parents = {int(p) for p in list(tree.parents)[1:]}
    carriers = {r.carrier_id for r in locked(model)}
    rotors = {r.joint_id: r for r in locked(model) if r.joint_id is not None}
    for row in model.coupling_rows:
        name = tree.names[row.dependent]
        if row.dependent not in rotors:
            raise ModelError(
                f"armature_model: dependent joint {name!r} ({row.source.label}) carries other bodies or rotors, so it "
                "is not a rotor that armature could stand for. Use baselines.projection, or lock the joint."
            )
        if rotors[row.dependent].spins:
            continue
        for m in row.masters:
            joint = tree.joints[m]
            axis = joint_axis(joint)
            leaf = m not in parents and m not in carriers and m not in rotors
            if leaf and axis is not None and not spin_defect(tree.inertias[m], axis):
                raise ModelError(
                    f"armature_model: {tree.names[m]!r} looks like a rotor but is independent, and {name!r} follows "
                    f"it. Turn the coupling round: make {name!r} independent and {tree.names[m]!r} dependent."
                )
