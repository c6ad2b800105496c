"""Matches the joints of a ``ClusterModel`` with the joints of an ``MjModel``, and compares axes, anchors and masses."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.trees import in_q, joint_axis, slides
from ..approximations.serial import inside_chain
from ..constraints.closures import massive
from ..errors import ModelError, UnsupportedJointError
from ..model import ClusterModel
from ._library import library

_SAME = 1e-4
"""Tolerance of the axes [1] and the anchors [m], as in ``into_mjcf``."""
_MASS = 1e-3
"""Relative tolerance of masses."""
FREE, BALL, SLIDE, HINGE = range(4)
_KINDS = ("free", "ball", "slide", "hinge")
Row = tuple[str, str, str, str]
"""A difference: joint, quantity, its values in the ``ClusterModel`` and in the ``MjModel``."""


@dataclass(frozen=True, eq=False)
class Match:
    """The joints that are in both models.

    Attributes:
        model: The exact robot.
        mj_model: The tree in MuJoCo.
        joints: Dictionary from the name of an independent joint to its ids in the tree of ``model`` and in MuJoCo.
        dofs: Index in ``qvel`` of each independent velocity, shape (model.nv,).
        free: Index in q and index in v of the floating base; None for a fixed base.
        inertias: For each joint of the tree of ``model``, the inertia that moves with this joint in MuJoCo.
        turns: For each matched joint id, the rotation from the frame of the joint to the frame of MuJoCo's body.
    """

    model: ClusterModel
    mj_model: Any
    joints: dict[str, tuple[int, int]]
    dofs: np.ndarray
    free: tuple[int, int] | None
    inertias: list[pin.Inertia]
    turns: dict[int, np.ndarray]


def match(model: ClusterModel, mj_model: Any) -> Match:
    """Match two models; raise ``ModelError`` with a table of the differences if they are not the same robot."""
    between = inside_chain(model)
    if between:
        raise ModelError(
            f"Exact: the dependent joints {', '.join(map(repr, between))} of {model.name!r} carry independent joints. "
            "A serial tree without these joints moves differently, so no change of its mass matrix makes it exact. "
            "Select other independent joints with pc.with_independent, or simulate pc.to_mjcf(model, 'exact')."
        )
    tree, differences, joints = model.own_tree, list[Row](), dict[str, tuple[int, int]]()
    there = {mj_model.joint(i).name: i for i in range(mj_model.njnt)}
    root = [i for i in range(mj_model.njnt) if mj_model.jnt_type[i] == FREE]
    for name in model.independent_joints:
        j = tree.getJointId(name)
        i = there.get(name, -1)
        if i < 0 and tree.nvs[j] == 6 and len(root) == 1:
            i = root[0]  # A free joint often has no name.
        if i < 0:
            differences.append((name, "joint", "exists", "missing"))
        elif _kind(tree, j) != mj_model.jnt_type[i]:
            differences.append((name, "type", _KINDS[_kind(tree, j)], _KINDS[mj_model.jnt_type[i]]))
        else:
            joints[name] = j, i
    for name in model.dependent_joints:
        if name in there:
            differences.append((name, "joint", "dependent", "a joint of the tree"))
    if not differences:
        differences += _other_carriers(mj_model, joints)
    if differences:
        raise _mismatch(model, differences)
    dofs, free = np.zeros(model.nv, dtype=np.int64), None
    for name, (j, i) in joints.items():
        v = model.joint_idx_v(name)
        dofs[v : v + tree.nvs[j]] = mj_model.jnt_dofadr[i] + np.arange(tree.nvs[j])
        if tree.nvs[j] == 6:
            free = int(tree.idx_qs[j]), v
    data = library().MjData(mj_model)
    library().mj_kinematics(mj_model, data)
    places = tree.createData()
    pin.forwardKinematics(tree, places, configuration(model, mj_model, joints, data.qpos))
    for name, (j, i) in joints.items():
        differences += _of_place(tree, places.oMi[j], name, j, data, i, int(mj_model.jnt_bodyid[i]))
    if differences:
        raise _mismatch(model, differences)
    inertias = _inertias(tree, places, mj_model, data, joints)
    if differences := _of_masses(model, joints, inertias):
        raise _mismatch(model, differences)
    bodies = {j: data.xmat[mj_model.jnt_bodyid[i]].reshape(3, 3) for j, i in joints.values()}
    turns = {j: axes.T @ places.oMi[j].rotation for j, axes in bodies.items()}
    return Match(model, mj_model, joints, dofs, free, inertias, turns)


def configuration(model: ClusterModel, mj_model: Any, joints: dict[str, tuple[int, int]], qpos: Any) -> np.ndarray:
    """Return q with the joints of ``qpos``, which are numbers or expressions; other entries are from the reference."""
    q = model.q_reference.astype(np.asarray(qpos).dtype)
    for j, i in joints.values():
        at, first = in_q(model.own_tree, j), int(mj_model.jnt_qposadr[i])
        if len(at) == 7:
            w = qpos[first + 3 : first + 7]
            size = np.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2] + w[3] * w[3])
            q[at.start : at.stop] = [*qpos[first : first + 3], *(x / size for x in (w[1], w[2], w[3], w[0]))]
        elif len(at) == 2:
            q[at.start : at.stop] = [np.cos(qpos[first]), np.sin(qpos[first])]
        else:
            q[at.start] = qpos[first]
    return q


def _kind(tree: pin.Model, j: int) -> int:
    if tree.nvs[j] == 6:
        return FREE
    if tree.nvs[j] != 1:
        raise UnsupportedJointError(
            f"Exact: joint {tree.names[j]!r} has {tree.nvs[j]} degrees of freedom. Only free joints and joints with "
            "one degree of freedom are supported."
        )
    return SLIDE if slides(tree, j) else HINGE


def _other_carriers(mj_model: Any, joints: dict[str, tuple[int, int]]) -> list[Row]:
    """Return joints of MuJoCo that carry joints of the robot, but are not in the exact model."""
    own, others = {i for _, i in joints.values()}, set[int]()
    for i in own:
        k = int(mj_model.dof_parentid[mj_model.jnt_dofadr[i]])
        while k >= 0:
            others |= {int(mj_model.dof_jntid[k])} - own
            k = int(mj_model.dof_parentid[k])
    return [(mj_model.joint(i).name or f"joint {i}", "joint", "missing", "carries the robot") for i in sorted(others)]


def _of_place(tree: pin.Model, place: pin.SE3, name: str, j: int, data: Any, i: int, body: int) -> list[Row]:
    if tree.nvs[j] == 6:
        there = pin.SE3(data.xmat[body].reshape(3, 3), data.xpos[body])
        same = place.isApprox(there, _SAME)
        return [] if same else [(name, "pose [m]", _shown(place.translation), _shown(there.translation))]
    axis = place.rotation @ joint_axis(tree.joints[j])
    if not np.allclose(axis, data.xaxis[i], rtol=0.0, atol=_SAME):
        return [(name, "axis", _shown(axis), _shown(data.xaxis[i]))]
    apart = np.linalg.norm(np.cross(place.translation - data.xanchor[i], axis))
    same = slides(tree, j) or apart < _SAME
    return [] if same else [(name, "anchor [m]", _shown(place.translation), _shown(data.xanchor[i]))]


def _inertias(
    tree: pin.Model, places: pin.Data, mj_model: Any, data: Any, joints: dict[str, tuple[int, int]]
) -> list[pin.Inertia]:
    """Return the inertia of the MuJoCo bodies that move with each joint, in the frame of the joint in ``tree``."""
    joint_of_body, inertias = {0: 0}, [pin.Inertia.Zero() for _ in range(tree.njoints)]
    last = {int(mj_model.jnt_bodyid[i]): j for j, i in sorted(joints.values(), key=lambda x: x[1])}
    for b in range(1, mj_model.nbody):
        # -1 stands for bodies of other joints, such as objects in the scene.
        alone = joint_of_body[int(mj_model.body_parentid[b])] if not mj_model.body_jntnum[b] else -1
        j = joint_of_body[b] = last.get(b, alone)
        if j > 0 and mj_model.body_mass[b] > 0.0:
            axes = data.ximat[b].reshape(3, 3)
            inertia = axes @ np.diag(mj_model.body_inertia[b]) @ axes.T
            whole = pin.Inertia(float(mj_model.body_mass[b]), data.xipos[b].copy(), 0.5 * (inertia + inertia.T))
            inertias[j] = inertias[j] + places.oMi[j].actInv(whole)
    return inertias


def _of_masses(model: ClusterModel, joints: dict[str, tuple[int, int]], inertias: list[pin.Inertia]) -> list[Row]:
    """Compare masses; a body of the tree may include or omit the rotors, cranks and rods that it carries."""
    tree, free = model.own_tree, {j for j, _ in joints.values()}
    carrier = list(range(tree.njoints))
    most = np.array([inertia.mass for inertia in tree.inertias])
    for k in (k for k in range(1, tree.njoints) if k not in free):
        # The supports of a joint are its ancestors, from the universe to the joint.
        carrier[k] = next(int(p) for p in reversed(list(tree.supports[k])) if int(p) in free or not p)
        most[carrier[k]] += most[k]
    for r in model.rotors:
        if r.source is not None and r.inertia is not None:
            most[carrier[r.carrier_id]] += r.inertia.mass
    for rod in massive(model.closures):
        for end in {carrier[k] for k in rod.bodies}:
            most[end] += rod.mass
    differences = []
    for name, (j, _) in joints.items():
        low, high, there = tree.inertias[j].mass, most[j], inertias[j].mass
        if not low * (1.0 - _MASS) <= there <= high * (1.0 + _MASS):
            here = f"{low:g}" if high == low else f"{low:g} to {high:g}"
            differences.append((name, "mass [kg]", here, f"{there:g}"))
    return differences


def _shown(x: np.ndarray) -> str:
    return " ".join(f"{y:.5g}" for y in x)


def _mismatch(model: ClusterModel, rows: list[Row]) -> ModelError:
    head = ("joint", "quantity", "ClusterModel", "MjModel")
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(4)]
    lines = ["  ".join(x.ljust(w) for x, w in zip(row, widths, strict=True)).rstrip() for row in (head, *rows)]
    return ModelError(
        f"Exact: {model.name!r} and the MjModel are not the same robot ({len(rows)} differences, at qpos0):\n"
        + "\n".join(lines)
    )
