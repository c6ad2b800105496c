"""Measure the errors of a robot's tree in MuJoCo, the correction by ``pc.mujoco.Exact``, and the time of both."""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pinocchio as pin

from .._support import extras
from ..algorithms.dynamics.rnea import rnea
from ..approximations.serial import serial_tree
from ..errors import ModelError
from ..files.writers import to_mjcf
from ..model import ClusterModel, check_model
from ..mujoco import Exact, Report
from . import study
from .audit.reflected import reflect
from .audit.simulated import ends
from .study import metrics
from .study._samples import quotient, rms, spread
from .study.accuracy import states
from .study.trajectories import base_columns
from .study.trajectories._base import base_pose

_SAMPLES, _POSES = 200, 20  # samples of the motion for torques, and for touch-downs
_ROUNDS, _STEPS = 15, 200
FILE, CALLBACK = "file", "callback"


@dataclass(frozen=True, eq=False)
class InMujoco:
    """Errors of a tree in MuJoCo without and with ``pc.mujoco.Exact``; dictionaries have the keys file and callback.

    Attributes:
        robot: Name of the model.
        motion: Description of the motion.
        joints: Names of the joints.
        torque: RMS torque error along the motion, [%] of the joint's peak torque, shape (joints,).
        touch: Mean error of the vertical impulse if the origin of a frame touches the ground without rebound, by frame,
            [%]. The poses are those of the motion.
        seconds: CPU time of ``mj_step`` at the initial state of the file, [s]; smallest of 15 measurements.
        report: Summary of the ``Exact`` object.
    """

    robot: str
    motion: str
    joints: tuple[str, ...]
    torque: dict[str, np.ndarray]
    touch: dict[str, dict[str, float]]
    seconds: dict[str, float]
    report: Report


def tree_of(model: ClusterModel) -> Any:
    """Return a ``mujoco.MjModel`` of the robot's tree with one constant armature per joint, as most files have."""
    if not model.closures:
        return extras.package("mujoco").MjModel.from_xml_string(to_mjcf(model, "diagonal"))
    reflected = reflect(model, model.q_reference[None])
    diagonal = dict(zip(reflected.joints, np.diag(reflected.matrix), strict=True))
    size = f'<size nuserdata="{2 * model.nq + 2}"/><option '
    text = to_mjcf(serial_tree(model, diagonal)).replace("<option ", size, 1)
    return extras.package("mujoco").MjModel.from_xml_string(text)


def measure(
    model: ClusterModel,
    mj_model: Any = None,
    trajectory: study.Trajectory | None = None,
    frames: Sequence[str] | None = None,
) -> InMujoco:
    """Compare a tree in MuJoCo with the exact robot, without and with the callback of ``pc.mujoco.Exact``.

    Args:
        model: The exact robot, as in ``pc.mujoco.Exact``.
        mj_model: The user's ``mujoco.MjModel``, which is not modified; by default, ``tree_of(model)``.
        trajectory: The motion, as in ``study.run``; by default, a sine motion of every joint.
        frames: Frames for ``touch``; by default, the outermost frame at the end of each of the two longest chains.

    Raises:
        ModelError: The robot has no rotors and no loops, or ``pc.mujoco.Exact`` rejects the model.
        UnknownNameError: The robot has no such frame.

    Example:
        >>> import pin_clusters as pc
        >>> from pin_clusters.studies import in_mujoco
        >>> result = in_mujoco.measure(pc.load("mit_humanoid_leg"))
        >>> bool(result.torque["file"].max() > 1.0), bool(result.torque["callback"].max() < 1e-6)
        (True, True)
    """
    check_model(model, "in_mujoco.measure")
    if not model.rotors and not model.closures:
        raise ModelError(f"{model.name!r} has no rotors and no loops. Add motors with --motors FILE, or with pc.Rotor.")
    file = tree_of(model) if mj_model is None else mj_model
    corrected = copy.copy(file)
    exact = Exact(model, corrected)
    result = study.run(model, trajectory, duration=2.0 / 3.0, dt=2e-3)
    _, *motion = states(model, result.trajectory, result.base)
    sides = {FILE: _Side(model, file, None), CALLBACK: _Side(model, corrected, exact)}
    joints, data = [result.joints[k] for k in result.actuated], model.createData()
    columns, samples = [model.joint_idx_v(name) for name in joints], spread(len(motion[0]), _SAMPLES)
    q, v, a = (x[samples] for x in motion)
    exact_torque = np.array([rnea(model, data, *x)[columns] for x in zip(q, v, a, strict=True)])
    errors = {}
    for name, side in sides.items():
        torque = np.array([side.rnea(*x)[columns] for x in zip(q, v, a, strict=True)])
        errors[name] = 100.0 * quotient(rms(torque - exact_torque), np.abs(exact_torque).max(axis=0))
    poses, levels = q[spread(len(q), _POSES)], cast("Any", sides)
    names = _tips(model, poses) if frames is None else frames
    touch = {x: metrics.osim_error(model, x, poses, levels, rows_of="vertical") for x in names}
    return InMujoco(
        robot=model.name,
        motion=result.trajectory.label,
        joints=tuple(joints),
        torque=errors,
        touch={frame: {name: 100.0 * x for name, x in error.mean.items()} for frame, error in touch.items()},
        seconds=_times(file, corrected, exact),
        report=exact.report(),
    )


def _tips(model: ClusterModel, q: np.ndarray) -> list[str]:
    """Return the frames that are farthest from the last joints of the longest chains, such as toes and hands."""
    frames, names = model.tree.frames, [f.name for f in model.tree.frames]
    of_joint = [[f for f in frames if f.parentJoint == frames[model.getFrameId(x)].parentJoint] for x in ends(model, q)]
    unique = ([f for f in x if names.count(f.name) == 1] for x in of_joint)
    return [max(x, key=lambda f: float(np.linalg.norm(f.placement.translation))).name for x in unique]


class _Side:
    """The dynamics of a tree in MuJoCo, in the coordinates of the exact robot, with Delta M and Delta h if given."""

    def __init__(self, model: ClusterModel, mj_model: Any, exact: Exact | None) -> None:
        self.model, self.mj_model, self.exact, self.base = model, mj_model, exact, base_columns(model)
        self.mujoco, tree = extras.package("mujoco"), model.tree
        self.dofs, self.qpos = np.zeros(model.nv, dtype=int), np.zeros((0, 2), dtype=int)
        names = {mj_model.joint(i).name: i for i in range(mj_model.njnt)}
        for name in model.independent_joints:
            j = tree.getJointId(name)
            columns = model.joint_idx_v(name) + np.arange(tree.nvs[j])
            joint = mj_model.joint(names.get(name, int(np.argmin(mj_model.jnt_type))))  # A free joint may have no name.
            self.dofs[columns] = joint.dofadr[0] + np.arange(len(columns))
            order = np.array([0, 1, 2, 6, 3, 4, 5] if tree.nqs[j] == 7 else [0])
            places = np.stack([joint.qposadr[0] + np.arange(len(order)), tree.idx_qs[j] + order], axis=1)
            self.qpos = np.concatenate([self.qpos, places])

    def check(self, _: np.ndarray) -> None:
        """Do nothing; approximations check the pose here."""

    def crba(self, q: np.ndarray) -> np.ndarray:
        return self._terms(q, np.zeros(self.model.nv))[0]

    def rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        M, h, a = *self._terms(q, v), a.copy()
        if self.base is not None:  # MuJoCo's acceleration of the base is the derivative of its velocity in the world.
            a[self.base][:3] += np.cross(v[self.base][3:], v[self.base][:3])
        return np.asarray(M @ a + h)

    def _terms(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mujoco, mj_model, turn = self.mujoco, self.mj_model, np.eye(self.model.nv)
        if self.base is not None:  # A floating base of MuJoCo moves along the axes of the world.
            linear = slice(self.base.start, self.base.start + 3)
            turn[linear, linear] = pin.Quaternion(q[base_pose(self.model)][3:]).matrix()
        d, M = mujoco.MjData(mj_model), np.zeros((mj_model.nv, mj_model.nv))
        d.qpos[self.qpos[:, 0]], d.qvel[self.dofs] = q[self.qpos[:, 1]], turn @ v
        mujoco.mj_fwdPosition(mj_model, d)
        mujoco.mj_fwdVelocity(mj_model, d)
        mujoco.mj_fullM(mj_model, d, M)
        dM, dh = (0.0, 0.0) if self.exact is None else self.exact.delta(d)
        M, h = (M + dM)[np.ix_(self.dofs, self.dofs)], (d.qfrc_bias + dh)[self.dofs]
        return turn.T @ M @ turn, turn.T @ h


def _times(file: Any, corrected: Any, exact: Exact) -> dict[str, float]:
    """Time both models in turn, so that other programs affect both equally."""
    mujoco, least = extras.package("mujoco"), {FILE: np.inf, CALLBACK: np.inf}
    with exact:
        for _ in range(_ROUNDS):
            for name, mj_model in ((FILE, file), (CALLBACK, corrected)):
                d = mujoco.MjData(mj_model)
                mujoco.mj_step(mj_model, d, nstep=10)
                start = time.thread_time()
                mujoco.mj_step(mj_model, d, nstep=_STEPS)
                least[name] = min(least[name], (time.thread_time() - start) / _STEPS)
    return least
