"""Loops that cannot move, or only to first order, as files written for soft constraints have them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from ...._support.trees import between, in_v
from ....constraints import LinearCoupling, Loop
from ....constraints.closures import FrameClosure
from ....errors import LoadError
from .._trees import merged
from ._couplings import angle
from ._parts import Joint, Parts
from ._spanning import Spanning

RANK = 1e-4  # of singular values of columns of about unit length; printed digits leave axes off by some 1e-6


def sliding_triangle(joint: Joint, spanning: Spanning, parts: Parts) -> LinearCoupling | None:
    """Return the coupling in the place of a slider that two parallel hinges hold in one direction only, or None.

    Two bodies turn about parallel hinges of a third one, and a slider between them points across the line of the
    hinges' centres: they can turn together to first order, and then no more, as the slider would have to give way by
    the square of the angle. Who writes such a file means that they turn alike (Cassie's leaf springs).
    """
    if joint.kind != "prismatic":
        return None
    ways = spanning.between(joint.parent, joint.child)
    hinges = [b.joint for way in ways for b in way if b.joint.kind != "fixed"]
    if len(hinges) != 2 or any(h.kind not in ("revolute", "continuous") for h in hinges):
        return None
    axes = [h.place.rotation @ h.axes[0].direction for h in hinges]
    slide = joint.place.rotation @ joint.axes[0].direction
    apart = np.cross(axes[0], hinges[1].place.translation - hinges[0].place.translation)
    length = np.linalg.norm(apart)
    if length < 1e-9 or np.linalg.norm(np.cross(apart / length, slide)) > 1e-3:
        return None
    try:
        terms = angle(joint, spanning, joint.parent, joint.child, axes[0])
    except LoadError:  # the hinges are not parallel
        return None
    (follower, sign), (leader, other) = sorted(terms.items(), key=lambda item: _carries(item[0], parts))
    return LinearCoupling(follower, {leader: -other / sign})


def _carries(name: str, parts: Parts) -> bool:
    """Say whether a joint has a limit, a spring or damping; the other one follows."""
    axis = parts.joints[name].axes[0]
    return bool(axis.stiffness or axis.damping or np.isfinite(axis.lower) or np.isfinite(axis.upper))


def locked(tree: pin.Model, loops: Sequence[Loop]) -> list[tuple[Loop, ...]]:
    """Return the groups of loops that leave their joints no motion at all in the pose of the file."""
    if not loops:  # a pin.Data of thousands of joints does not fit into memory
        return []
    data, q = tree.createData(), pin.neutral(tree)
    pin.computeJointJacobians(tree, data, q)
    pin.updateFramePlacements(tree, data)
    closures = [closure for loop in loops for closure in loop.closures(tree)]
    paths = [between(tree, closure.bodies) for closure in closures]
    found = []
    for joints in merged(paths):
        here = [k for k, path in enumerate(paths) if path <= joints]
        columns = [c for j in sorted(joints) for c in in_v(tree, j)]
        K = np.vstack([_rows(tree, data, closures[k]) for k in here])[:, columns]
        lengths = np.maximum(np.abs(K).max(axis=0), 1e-9)  # of metres per radian
        if np.linalg.matrix_rank(K / lengths, tol=RANK) == len(columns):
            found.append(tuple(loops[k] for k in here))
    return found


def _rows(tree: pin.Model, data: pin.Data, closure: FrameClosure) -> np.ndarray:
    """Return the velocities that a loop forbids, per velocity of the tree, where it is closed; shape (rows, nv)."""
    places = [data.oMi[j] * at for j, at in closure.ends]
    Ja, Jb = (
        place.toActionMatrixInverse() @ _jacobian(tree, data, j)
        for (j, _), place in zip(closure.ends, places, strict=True)
    )
    relative = places[0].actInv(places[1]).toActionMatrix() @ Jb - Ja
    if closure.rotation == "universal":  # no turn about what is across both axes
        across = np.cross([0.0, 0.0, 1.0], places[0].rotation.T @ places[1].rotation[:, 0])
        return np.vstack([relative[:3], across @ relative[3:]])
    return closure.rows @ relative


def _jacobian(tree: pin.Model, data: pin.Data, j: int) -> np.ndarray:
    if j == 0:
        return np.zeros((6, tree.nv))
    return pin.getJointJacobian(tree, data, j, pin.WORLD).reshape(6, -1)  # of one column Pinocchio gives a vector


def weld(parts: Parts, tree: pin.Model, groups: Sequence[Sequence[Loop]]) -> tuple[Parts, list[str]]:
    """Return the parts with the joints of some loops fixed, and the names of these."""
    names = set[str]()
    for loop in (loop for group in groups for loop in group):
        (closure,) = loop.closures(tree)
        names |= {tree.names[k] for k in between(tree, closure.bodies)} | {str(loop.name)}
    fixed = [name for name in parts.joints if name in names]
    joints = {
        name: dataclasses.replace(j, kind="fixed", axes=()) if name in names else j for name, j in parts.joints.items()
    }
    return dataclasses.replace(parts, joints=joints), fixed
