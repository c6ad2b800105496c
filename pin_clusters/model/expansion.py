"""Expands a tree so that every rotor is a body and the joints are depth-first, as Pinocchio's algorithms require."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.groups import grouped
from .._support.trees import in_q, in_v
from ..constraints.rows import joint_id
from ..errors import ModelError
from .cluster_model import ClusterModel
from .editing import TreeCopy
from .elements import RotorElement


@dataclass(frozen=True, eq=False)
class SpanningTree:
    """A robot with a body for every rotor, with joints in an order that all of Pinocchio's algorithms accept."""

    # Depth-first ``pin.Model`` with the joints of ``model.tree``, and with one revolute joint per ``Rotor`` constraint,
    # which has the rotor's name. The tree has no frames. Users must not modify it.
    tree: pin.Model
    # Maps velocities of the user's tree to velocities of this tree, shape (tree.nv, model.tree.nv). It also maps
    # G(q) and the bias g of a model with loops.
    from_tree: np.ndarray
    from_tree_id: np.ndarray  # joint id in this tree of each joint of the user's tree, shape (njoints,)
    from_tree_q: np.ndarray  # index in this tree's q of each entry of the user's q, shape (nq,)
    from_tree_v: np.ndarray  # index in this tree's v of each entry of the velocity of the user's tree
    rotors: tuple[int, ...]  # joint ids in this tree of the ``Rotor`` constraints, in the order of ``model.rotors``
    coupling: np.ndarray | None  # G, shape (tree.nv, nv); None for a model with loops

    @property
    def G(self) -> np.ndarray:
        """Coupling matrix G, shape (tree.nv, nv). For the independent velocity v, the velocity of this tree is G v."""
        if self.coupling is None:
            raise ModelError(
                "The coupling matrix of a model with loops depends on q, so it is not constant. "
                "Use span.from_tree @ pc.coupling_jacobian(model, data, q)."
            )
        return self.coupling

    def joint_id(self, name: str) -> int:
        return self.tree.getJointId(name)

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """Return this tree's configuration for the user's q; the rotors of ``Rotor`` constraints are at angle 0."""
        expanded = np.zeros(self.tree.nq)
        expanded[self.from_tree_q] = np.asarray(q, dtype=float).ravel()
        return expanded

    def fext(self, forces: Sequence[Any] | np.ndarray) -> pin.StdVec_Force:
        """Return external forces on the user's joints (``pin.Force`` or array rows) in the joint order of this tree."""
        return joint_forces(self.tree, self.from_tree_id, forces)


def joint_forces(tree: pin.Model, ids: Iterable[int], forces: Iterable[Any]) -> pin.StdVec_Force:
    """Return a force for each joint: ``forces`` (``pin.Force`` or [linear; angular]) for ``ids``, zero otherwise."""
    on_tree = pin.StdVec_Force()
    on_tree.extend([pin.Force.Zero() for _ in range(tree.njoints)])
    for j, force in zip(ids, forces, strict=True):
        on_tree[int(j)] = force if isinstance(force, pin.Force) else pin.Force(np.asarray(force, dtype=float))
    return on_tree


def expand(model: ClusterModel) -> SpanningTree:
    """Turn every ``Rotor`` constraint into a body, and order the joints depth-first.

    If only the ``axial_inertia`` J of a rotor is given, the rotor is already a part of its carrier's link. The new body
    has no mass and the rotational inertia ``J s s'``, where s is the spin axis. This inertia is subtracted from the
    carrier. Rotors on the universe also get such a body, because the rest of their inertia has no effect.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> from pin_clusters.model import expand
        >>> tree = pin.buildSampleModelManipulator()
        >>> model = pc.ClusterModel(tree, [pc.Rotor("elbow_joint", 100.0, axial_inertia=1e-5)])
        >>> expand(model).tree.nv - tree.nv
        1
    """
    user = model.tree
    spinning = [r for r in model.rotors if r.source is not None]
    tree = pin.Model()
    tree.name = user.name
    tree.gravity = model.gravity
    from_tree_id = np.zeros(user.njoints, dtype=np.int64)
    rotor_id: dict[int, int] = {}
    for kind, k in visit(user, spinning):
        if kind == "joint":
            parent = int(from_tree_id[user.parents[k]])
            j = tree.addJoint(parent, user.joints[k], user.jointPlacements[k], user.names[k])
            tree.appendBodyToJoint(j, user.inertias[k], pin.SE3.Identity())
            from_tree_id[k] = j
        else:
            rotor_id[k] = _add_rotor(tree, int(from_tree_id[spinning[k].carrier_id]), spinning[k])
    from_tree_q, from_tree_v = index_maps(user, tree, from_tree_id, range(1, user.njoints))
    armature = np.zeros(tree.nv)
    # In inertia_tree, Rotor(armature="replace") has removed the armature of the driven joints.
    armature[from_tree_v] = model.inertia_tree.armature
    tree.armature = armature
    rotors = tuple(rotor_id[k] for k in range(len(spinning)))
    from_tree = np.zeros((tree.nv, user.nv))
    from_tree[from_tree_v, np.arange(user.nv)] = 1.0
    for j, rotor in zip(rotors, spinning, strict=True):
        for name, ratio in zip(rotor.source.joints, rotor.source.ratios, strict=True):
            from_tree[tree.joints[j].idx_v, user.joints[joint_id(user, name, rotor.source.label)].idx_v] += ratio
    G = None if model.closures else from_tree @ _coupling_matrix(model)
    for array in (from_tree, from_tree_id, from_tree_q, from_tree_v, *(() if G is None else (G,))):
        array.setflags(write=False)
    return SpanningTree(tree, from_tree, from_tree_id, from_tree_q, from_tree_v, rotors, G)


def rotor_ids(rotors: Sequence[RotorElement], span: SpanningTree) -> list[int]:
    bodies = iter(span.rotors)
    return [int(next(bodies) if r.joint_id is None else span.from_tree_id[r.joint_id]) for r in rotors]


def depth_first(tree: pin.Model, locked: Collection[int] = ()) -> pin.Model:
    """Return a copy of a tree with joints in depth-first order; replace the joints ``locked`` by fixed connections."""
    order = [k for _, k in visit(tree, ()) if k not in locked]
    if order == list(range(1, tree.njoints)):
        return tree.copy()
    copy = TreeCopy(tree)
    copy.add(order)
    for k in locked:
        copy.hold(k, tree.jointPlacements[k])
    copy.finish()
    return copy.tree


def visit(tree: pin.Model, rotors: Sequence[RotorElement]) -> Iterator[tuple[str, int]]:
    """Yield the joints in depth-first order; each rotor directly follows its carrier."""
    children = grouped((tree.parents[j], j) for j in range(1, tree.njoints))
    stack = [0]
    while stack:
        j = stack.pop()
        if j:
            yield "joint", j
        yield from (("rotor", i) for i, r in enumerate(rotors) if r.carrier_id == j)
        stack.extend(reversed(children.get(j, [])))


def _add_rotor(tree: pin.Model, carrier: int, rotor: RotorElement) -> int:
    axis = rotor.placement.rotation.T @ rotor.axis
    j = tree.addJoint(carrier, pin.JointModelRevoluteUnaligned(axis), rotor.placement, rotor.name)
    if rotor.inertia is not None and carrier:
        tree.appendBodyToJoint(j, rotor.inertia, pin.SE3.Identity())
        return int(j)
    spin = rotor.axial_inertia * np.outer(axis, axis)
    tree.inertias[j] = pin.Inertia(0.0, np.zeros(3), spin)
    if carrier:
        link = tree.inertias[carrier]
        link_alone = link.inertia - rotor.axial_inertia * np.outer(rotor.axis, rotor.axis)
        without = pin.Inertia(link)
        without.inertia = link_alone  # The constructor rejects a link with less inertia than the rotor.
        tree.inertias[carrier] = without
    return int(j)


def index_maps(
    user: pin.Model, tree: pin.Model, new_id: np.ndarray, joints: Iterable[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices in ``tree`` of the entries of the user's q and v; -1 for entries that ``tree`` lacks."""
    from_q, from_v = np.full(user.nq, -1, dtype=np.int64), np.full(user.nv, -1, dtype=np.int64)
    for k in joints:
        new = int(new_id[k])
        from_q[in_q(user, k)], from_v[in_v(user, k)] = in_q(tree, new), in_v(tree, new)
    return from_q, from_v


def _coupling_matrix(model: ClusterModel) -> np.ndarray:
    """Compute G of the user's tree from the couplings, independently of the G in the model's tables."""
    tree = model.tree
    G = np.zeros((tree.nv, model.nv))
    G[model.idx_v_independent, np.arange(model.nv)] = 1.0
    for row in model.coupling_rows:
        for master, coefficient in row.terms:
            G[tree.joints[row.dependent].idx_v] += coefficient * G[tree.joints[master].idx_v]
    return G
