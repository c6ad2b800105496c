"""The approximate robot of a robot: armature in the place of rotors; of differentials, a serial robot."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ...._support.trees import in_v
from ....approximations.armature import armature_model, independent_q
from ....approximations.armature import axial_inertia as axial
from ....errors import ModelError, PinClustersWarning
from ....files.readers import load
from ....model import ClusterModel, depth_first
from ....model.configuration import integrate, neutral
from ....verification.baselines import projection
from ._models import leaves
from ._numbers import Robot


@dataclass(frozen=True, eq=False)
class Pair:
    """A robot in a state, and its approximation.

    Attributes:
        model: The exact robot.
        tree: Pinocchio's model of the approximate one.
        same: That one for this package.
        q: Shape (model.nq,).
        q_tree: Shape (tree.nq,).
        v: Shape (nv,), of both.
        x: Acceleration or torque, shape (nv,), of both.
        frames: Frames at the ends of the branches, by id in the exact robot.
        frames_tree: The same in the approximate one.
        note: What is not as it is with the others, empty if nothing.
    """

    model: ClusterModel
    tree: pin.Model
    same: ClusterModel
    q: np.ndarray
    q_tree: np.ndarray
    v: np.ndarray
    x: np.ndarray
    frames: list[int]
    frames_tree: list[int]
    note: str


def pair(robot: Robot, seed: int = 0) -> Pair:
    """Return a robot of the tables in a random state near its reference pose, with its approximation."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PinClustersWarning)  # inertias as published
        model = load(robot.name) if robot.n is None else load(robot.name, n=robot.n)
        try:
            tree, note = armature_model(model, "diagonal"), ""
        except ModelError as error:
            tree, note = serial(model), f"baselines.armature_model cannot express {model.name}: {error}"
        same = ClusterModel(tree)
    rng = np.random.default_rng(seed)
    q = integrate(model, neutral(model), 0.1 * rng.uniform(-1.0, 1.0, model.nv))
    v, x = rng.standard_normal((2, model.nv))
    ends = [tree.names[j] for j in leaves(tree)]
    q_tree = np.ascontiguousarray(q[independent_q(model, tree)])
    frames, own = [model.getFrameId(n) for n in ends], [tree.getFrameId(n) for n in ends]
    return Pair(model, tree, same, q, q_tree, v, x, frames, own, note)


def serial(model: ClusterModel) -> pin.Model:
    """Return the tree without rotors, all of its joints free, and what rotors reflect to them as armature.

    What simulators use for a differential: its links' joints are driven directly. The armature is the diagonal of what
    the rotors reflect at the reference pose.

    Raises:
        ModelError: The joints that are left are not as many as the robot has degrees of freedom.
    """
    rotors = [r for r in model.rotors if r.joint_id is not None]
    locked = [r.joint_id for r in model.rotors if r.joint_id is not None]
    tree = depth_first(model.inertia_tree.copy(), locked)
    if tree.nv != model.nv:
        raise ModelError(
            f"{model.name}: without its rotors the tree has {tree.nv} degrees of freedom, the robot {model.nv}, so "
            "that no serial robot stands for it."
        )
    full = model.tree
    space = projection.createData(model)
    space.couple(model.q_reference)
    G = space.G[space.span.from_tree_v]
    free = [i for name in list(tree.names)[1:] for i in in_v(full, full.getJointId(name))]
    spins = [in_v(full, j)[0] for j in locked]
    reflected = G[spins] @ np.linalg.inv(G[free])
    inertia = np.array([axial(model, r) for r in rotors])
    total = np.array(tree.armature)
    total += np.einsum("ki,k,ki->i", reflected, inertia, reflected)
    tree.armature = total
    return tree
