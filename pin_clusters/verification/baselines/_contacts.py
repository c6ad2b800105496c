"""Convert a model with loops to a tree and contacts, for Pinocchio's constrained algorithms."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.trees import in_q, in_v
from ...constraints.closures import FrameClosure, JointClosure, RodClosure
from ...errors import NotAvailableError
from ...model import ClusterModel, expand, index_maps, visit
from ..null_space import NullSpace

_ACCURATE = 1e-4
"""Tolerance for the rank of contact rows; numbers in robot files have errors of this relative size."""


def refuse(model: ClusterModel, rotors: str) -> None:
    """Raise ``NotAvailableError`` if Pinocchio's rigid constraints cannot represent a constraint of the model."""
    cure = " Use baselines.projection or baselines.lagrange."
    if model.coupling_rows:
        raise NotAvailableError(
            f"Pinocchio has no constraint for {model.coupling_rows[0].source.label}, because a coupling of joints is "
            "neither a contact nor a loop." + cure
        )
    bodiless = [r for r in model.rotors if r.source is not None]
    if bodiless and rotors != "armature":
        raise NotAvailableError(
            f"Pinocchio has no constraint for the rotor {bodiless[0].name!r}."
            + cure
            + " For an approximation, use createData(model, rotors='armature')."
        )
    for closure in model.closures:
        if isinstance(closure, JointClosure):
            raise NotAvailableError(f"Pinocchio does not support {closure.source.label}, which couples angles." + cure)
        if isinstance(closure, RodClosure) and not closure.mass > 0.0:
            raise NotAvailableError(
                f"{closure.source.label} has no mass, but Pinocchio needs a rod with mass. Pass mass=... to pc.Rod."
            )
        if isinstance(closure, FrameClosure) and not _kind(closure):
            raise NotAvailableError(
                f"Pinocchio only has 3D and 6D contacts, which cannot close the loop {closure.source.label}." + cure
            )


class Cut:
    """A depth-first tree in which every rod with mass is a body, and contacts that close its loops.

    Attributes:
        tree: Pinocchio's model: the user's joints (rotors lumped into their carriers), and one universal joint per rod.
        contacts: Pinocchio's constraint models.
        at_q: Index in this tree's q of each entry of the user's q, shape (nq,).
        at_v: Index in this tree's v of each entry of the user's tree velocity, shape (model.tree.nv,).
        ids: Joint id in this tree of each joint of the user's tree, shape (njoints,).
    """

    def __init__(self, model: ClusterModel, reference: np.ndarray) -> None:
        user = _lumped(model)
        self.user, self.user_data = user, user.createData()
        self.rods = [c for c in model.closures if isinstance(c, RodClosure)]
        pin.forwardKinematics(user, self.user_data, reference)
        self.roots = [self._root(c) for c in self.rods]
        self.tree, self.ids, self.at_q, self.at_v, self.rod_ids = _with_rods(user, self.rods, self.roots)
        self.tree.gravity = pin.Motion(user.gravity)
        armature = np.zeros(self.tree.nv)
        armature[self.at_v] = np.array(user.armature)
        for r in model.rotors:
            for i, ratio in r.drivers if r.source is not None else ():
                armature[self.at_v[i]] += r.axial_inertia * ratio**2
        self.tree.armature = armature
        self.contacts = pin.StdVec_RigidConstraintModel()
        self._close(model, reference)

    def state(self, q: np.ndarray, v_tree: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute q and v of this tree for a state of the user's tree."""
        full_q, full_v = np.zeros(self.tree.nq), np.zeros(self.tree.nv)
        full_q[self.at_q], full_v[self.at_v] = q, v_tree
        if self.rods:
            pin.forwardKinematics(self.user, self.user_data, q, v_tree)
        for rod, root, j in zip(self.rods, self.roots, self.rod_ids, strict=True):
            x, rate = self._direction(rod, root)
            second = np.arctan2(x[0], np.hypot(x[1], x[2]))
            first = np.arctan2(-x[1], x[2])
            (s1, s2), (c1, c2) = np.sin([first, second]), np.cos([first, second])
            turn = np.array([[0.0, c2], [-c1 * c2, s1 * s2], [-s1 * c2, -c1 * s2]])
            full_q[in_q(self.tree, j)] = first, second
            full_v[in_v(self.tree, j)] = np.linalg.lstsq(turn, rate / np.linalg.norm(x), rcond=None)[0]
        return full_q, full_v

    def _root(self, rod: RodClosure) -> pin.SE3:
        """Return the frame of a rod's joint in body a. Its z axis is along the rod, which avoids singularities."""
        z = self._direction(rod, pin.SE3(np.eye(3), rod.point_a))[0]
        z = z / np.linalg.norm(z)
        x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
        x /= np.linalg.norm(x)
        return pin.SE3(np.stack([x, np.cross(z, x), z], axis=1), np.asarray(rod.point_a))

    def _direction(self, rod: RodClosure, root: pin.SE3) -> tuple[np.ndarray, np.ndarray]:
        """Compute the vector from end a to end b of a rod, and its time derivative, in the rod's joint frame."""
        data = self.user_data
        a, b = data.oMi[rod.joint_a], data.oMi[rod.joint_b]
        frame = a * root
        velocity = b.act(data.v[rod.joint_b]) - a.act(data.v[rod.joint_a])  # relative motion about the world's origin
        end = b.act(np.asarray(rod.point_b))
        rate = velocity.linear + np.cross(velocity.angular, end)
        return frame.actInv(end), frame.rotation.T @ rate

    def _close(self, model: ClusterModel, reference: np.ndarray) -> None:
        ranks = _Ranks(model, reference)
        for closure in model.closures:
            if isinstance(closure, RodClosure):
                j = self.rod_ids[self.rods.index(closure)]
                assert closure.length is not None
                tip = pin.SE3(np.eye(3), np.array([0.0, 0.0, closure.length]))
                self._point(j, tip, int(self.ids[closure.joint_b]), pin.SE3(np.eye(3), np.asarray(closure.point_b)))
                continue
            assert isinstance(closure, FrameClosure)
            ends = int(self.ids[closure.joint_a]), closure.placement_a, int(self.ids[closure.joint_b])
            if _kind(closure) == "fixed":
                self._add(pin.ContactType.CONTACT_6D, *ends, closure.placement_b)
                continue
            if _kind(closure) == "pin" and not ranks.is_planar(closure):
                raise NotAvailableError(
                    f"{closure.source.label} constrains a point in two directions, and the mechanism is not planar. "
                    "Pinocchio has no contact of this type. Use baselines.projection or baselines.lagrange."
                )
            self._point(*ends, closure.placement_b)
            if _kind(closure) == "revolute" and not ranks.point_suffices(closure):
                # Add a second point on the axis. One of the six rows of both points is redundant.
                along = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.2]))
                self._point(ends[0], ends[1] * along, ends[2], closure.placement_b * along)

    def _point(self, j: int, at: pin.SE3, k: int, there: pin.SE3) -> None:
        self._add(pin.ContactType.CONTACT_3D, j, at, k, there)

    def _add(self, kind: Any, j: int, at: pin.SE3, k: int, there: pin.SE3) -> None:
        self.contacts.append(pin.RigidConstraintModel(kind, self.tree, j, at, k, there, pin.ReferenceFrame.LOCAL))


class _Ranks:
    """Checks whether one 3D contact can replace a hinge because the mechanism is planar."""

    def __init__(self, model: ClusterModel, q: np.ndarray) -> None:
        self.space = NullSpace(model, expand(model))
        self.K = self.space.jacobian(q) / self.space.scale[:, None]
        self.kept = np.ones(len(self.K), dtype=bool)
        self.rank = self._rank(self.kept)

    def point_suffices(self, closure: FrameClosure) -> bool:
        rows = self.space.rows_of[[c is closure for c in self.space.closures].index(True)]
        trial = self.kept.copy()
        trial[rows] &= np.any(closure.rows[:, :3], axis=1)
        if self._rank(trial) < self.rank:
            return False
        self.kept = trial
        return True

    def is_planar(self, closure: FrameClosure) -> bool:
        """Return whether the other constraints keep the point of a planar pin in its plane."""
        full_closure = dataclasses.replace(closure, rotation="none", rows=np.eye(6)[:3])
        extra_rows = self.space.frame_rows(full_closure)[:, self.space.span.from_tree_v]
        return int(np.linalg.matrix_rank(np.vstack([self.K[self.kept], extra_rows]), tol=_ACCURATE)) == self.rank

    def _rank(self, kept: np.ndarray) -> int:
        return int(np.linalg.matrix_rank(self.K[kept], tol=_ACCURATE)) if kept.any() else 0


def _kind(closure: FrameClosure) -> str:
    """Return the joint type of a closure, or "" if contacts cannot close it."""
    linear, angular = closure.rows[:, :3], closure.rows[:, 3:]
    if not angular.any() and np.linalg.matrix_rank(linear) == 2:
        return "pin"
    if np.linalg.matrix_rank(linear) < 3:
        return ""
    turns = int(np.linalg.matrix_rank(angular))
    return {("none", 0): "spherical", ("axis", 2): "revolute", ("full", 3): "fixed"}.get((closure.rotation, turns), "")


def _lumped(model: ClusterModel) -> pin.Model:
    """Copy the user's tree and lump the rotors into their carriers. Rods are omitted; they become bodies later."""
    tree = model.tree.copy()
    tree.armature = np.array(model.inertia_tree.armature)
    for r in model.rotors:
        if r.source is not None and r.inertia is not None and r.carrier_id:
            tree.inertias[r.carrier_id] = tree.inertias[r.carrier_id] + r.placement.act(r.inertia)
    return tree


def _with_rods(
    user: pin.Model, rods: list[RodClosure], roots: list[pin.SE3]
) -> tuple[pin.Model, np.ndarray, np.ndarray, np.ndarray, list[int]]:
    """Build a depth-first tree with rods; also return its indices for the user's joints, q and v, and for the rods."""
    tree, ids, rod_ids = pin.Model(), np.zeros(user.njoints, dtype=np.int64), [0] * len(rods)
    carriers: Any = [SimpleNamespace(carrier_id=rod.joint_a) for rod in rods]
    for kind, k in visit(user, carriers):
        if kind == "joint":
            ids[k] = tree.addJoint(int(ids[user.parents[k]]), user.joints[k], user.jointPlacements[k], user.names[k])
            tree.appendBodyToJoint(int(ids[k]), user.inertias[k], pin.SE3.Identity())
            continue
        rod, length = rods[k], rods[k].length
        assert length is not None
        joint = pin.JointModelUniversal(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
        rod_ids[k] = tree.addJoint(int(ids[rod.joint_a]), joint, roots[k], f"rod {k}")
        centre, moment = (length / 2.0, rod.mass * length**2 / 12.0) if rod.centre is None else (rod.centre, rod.moment)
        body = pin.Inertia(rod.mass, np.array([0.0, 0.0, centre]), moment * np.diag([1.0, 1.0, 0.0]))
        tree.appendBodyToJoint(rod_ids[k], body, pin.SE3.Identity())
    at_q, at_v = index_maps(user, tree, ids, range(1, user.njoints))
    return tree, ids, at_q, at_v, rod_ids
