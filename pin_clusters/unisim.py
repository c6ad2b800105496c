"""A backend for UniSim (``unisim-core``) whose environments are the worlds of ``pc.Worlds``; extra ``unisim``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pinocchio as pin
from unisim.contract import SimBackend
from unisim.dr.types import DomainRandomizationCapabilities

from .errors import ArgumentTypeError, NotAvailableError, UnknownNameError, did_you_mean
from .worlds import Worlds

_FREE = 7, 6  # sizes of q and v of a floating base


class WorldsBackend(SimBackend):
    """UniSim's interface to ``pc.Worlds``.

    The public state has MuJoCo's layout: ``qpos`` contains the base position, the base quaternion (w, x, y, z) and the
    driven joints; ``qvel`` contains the linear velocity of the base in the world, its angular velocity in the body, and
    the driven joints. Dependent joints of closed loops are hidden: ``set_state`` closes the loops by projection.
    Controls are target positions of the driven joints.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("mit_humanoid")
        >>> worlds = pc.Worlds(model, 4, drive=pc.Drive(100.0, 3.0), vary="gains")
        >>> backend = pc.unisim.WorldsBackend(worlds)
        >>> backend.get_default_qpos().shape, backend.num_actuators
        ((25,), 18)
    """

    backend_type = "pin_clusters"

    def __init__(self, worlds: Worlds) -> None:
        """Wrap worlds of a robot with a floating base and a drive."""
        if not isinstance(worlds, Worlds):
            raise ArgumentTypeError(f"WorldsBackend: worlds must be pc.Worlds, got {type(worlds).__name__}.")
        model, tree = worlds.model, worlds.model.own_tree
        if not len(worlds.driven) or (tree.nqs[1], tree.nvs[1]) != _FREE:
            raise NotAvailableError(
                "WorldsBackend needs a robot with a floating base and a drive: load the robot with "
                "root_joint=pin.JointModelFreeFlyer(), and pass drive=pc.Drive(...) to pc.Worlds."
            )
        self._worlds, self._iq, self._iv = worlds, worlds.driven[:, 0], worlds.driven[:, 1]
        others = np.setdiff1d(np.arange(6, model.nv), self._iv)
        if len(others):
            joints = [model.independent_joints[i - 5] for i in others.tolist()]
            raise NotAvailableError(
                f"WorldsBackend: all joints need a drive, but these have none: {', '.join(joints)}."
            )

    # sizes and names
    num_envs = property(lambda self: self._worlds.n)
    model = property(lambda self: self._worlds.model)
    num_actuators = num_dof_vel = property(lambda self: self._worlds.nu)

    def get_actuator_names(self) -> tuple[str, ...]:
        """Return the names of the driven joints."""
        tree = self.model.own_tree
        names = {tree.joints[j].idx_q: tree.names[j] for j in range(1, tree.njoints)}
        return tuple(names[i] for i in self._iq.tolist())

    get_actuator_joint_names = get_actuator_names

    def get_joint_range(self, *, names: Sequence[str] | None = None) -> np.ndarray:
        """Return the position limits of the driven joints, shape (nu, 2), at most plus and minus pi."""
        self._reject_named_joint_ranges(names, "joint ranges")
        tree = self.model.own_tree
        limits = tree.lowerPositionLimit[self._iq], tree.upperPositionLimit[self._iq]
        return np.clip(np.stack(limits, axis=1), -np.pi, np.pi)

    def get_actuator_ctrl_range(self) -> np.ndarray:
        """Return the range of the targets, which is that of the joints."""
        return self.get_joint_range()

    def get_keyframe_qpos(self, name: str) -> np.ndarray:
        """Return the initial configuration; its name is ``home``."""
        if name != "home":
            raise KeyError(name)
        return self.get_default_qpos()

    def get_default_qpos(self) -> np.ndarray:
        """Return the initial configuration, shape (7 + nu,)."""
        return self._qpos(self._worlds.q0[None])[0]

    def get_init_qvel(self) -> np.ndarray:
        """Return zero velocities, shape (6 + nu,)."""
        return np.zeros(6 + self.num_actuators)

    def get_body_ids(self, names: Sequence[str]) -> np.ndarray:
        """Return the ids of the joints that carry bodies, joints or frames."""
        tree, ids = self.model.own_tree, []
        for name in names:
            if not tree.existFrame(name):
                known = did_you_mean(name, [f.name for f in tree.frames])
                raise UnknownNameError(f"model {self.model.name!r} has no body or frame {name!r}.{known}")
            ids.append(tree.frames[tree.getFrameId(name)].parentJoint)
        return np.array(ids, dtype=np.int32)

    def get_gravity(self) -> np.ndarray:
        """Return the gravity, [m/s^2]."""
        return np.array(self.model.gravity.linear)

    # steps, state and reset
    def materialize(self) -> None:
        """Do nothing: the worlds exist already."""

    def _host_step(self, ctrl: Any, nsteps: int = 1) -> None:
        worlds, targets = self._worlds, np.asarray(ctrl, dtype=float)
        if targets.shape != (worlds.n, worlds.nu):
            raise ValueError(f"ctrl has shape {targets.shape}, expected ({worlds.n}, {worlds.nu}).")
        if self._pre_step_control_fn is None:
            worlds.step(targets, substeps=nsteps)
            return
        for _ in range(nsteps):
            worlds.step(self._apply_pre_step_control(targets), substeps=1)

    def _host_get_state(self, fields: Sequence[str] | str | None = None) -> Mapping[str, np.ndarray]:
        w, names = self._worlds, ("qpos", "qvel", "ctrl") if fields is None else np.atleast_1d(fields).tolist()
        values: dict[str, Callable[[], np.ndarray]] = {
            "qpos": lambda: self._qpos(w.q),
            "qvel": lambda: self._qvel(w.q, w.v),
            "ctrl": lambda: w.targets.copy(),
        }
        return {name: values[name]() for name in names}

    def _host_set_state(self, env_indices: Any, qpos: Any, qvel: Any, randomization: Any = None) -> None:
        w, rows = self._worlds, np.asarray(env_indices, dtype=np.intp)
        qpos, qvel = np.asarray(qpos, dtype=float), np.asarray(qvel, dtype=float)
        q, v, mask = np.tile(w.q0, (w.n, 1)), np.zeros((w.n, w.model.nv)), np.zeros(w.n, dtype=bool)
        mask[rows] = True
        base = qpos[:, :3], qpos[:, [4, 5, 6, 3]]
        for index, x in ((slice(0, 3), base[0]), (slice(3, 7), base[1]), (self._iq, qpos[:, 7:])):
            columns = np.arange(w.model.nq)[index]
            q[rows[:, None], columns] = x
        v[rows[:, None], self._iv] = qvel[:, 6:]
        v[rows, :3] = np.einsum("nji,nj->ni", _rotations(base[1]), qvel[:, :3])
        v[rows, 3:6] = qvel[:, 3:6]
        w.reset(mask, q=q, v=v)
        if randomization is not None and not randomization.is_empty():
            for term in self.get_dr_capabilities().supported_reset_terms:
                values = getattr(randomization, term)
                if values is not None:
                    getattr(w, term)[rows] = np.asarray(values)

    def _host_reset(self, env_ids: np.ndarray | None = None) -> None:
        self._host_reset_default(env_ids)

    def _qpos(self, q: np.ndarray) -> np.ndarray:
        return np.concatenate([q[:, :3], q[:, [6, 3, 4, 5]], q[:, self._iq]], axis=1)

    def _qvel(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        linear = np.einsum("nij,nj->ni", _rotations(q[:, 3:7]), v[:, :3])
        return np.concatenate([linear, v[:, 3:6], v[:, self._iv]], axis=1)

    # randomization and sensors
    def get_dr_capabilities(self) -> DomainRandomizationCapabilities:
        """Return the terms that a reset can change: the gains, if they vary between worlds."""
        terms = {"kp", "kd"} if "gains" in self._worlds.varied else set[str]()
        return DomainRandomizationCapabilities(supported_reset_terms=frozenset(terms))

    def get_reset_term_default(self, term: str) -> np.ndarray:
        """Return the current gains, shape (N, nu)."""
        if term not in self.get_dr_capabilities().supported_reset_terms:
            raise KeyError(term)
        return np.array(getattr(self._worlds, term))

    def get_sensor_names(self) -> tuple[str, ...]:
        """Return the names of the sensors of the worlds."""
        return tuple(self._worlds.sensors)

    def get_sensor_view(self, name: str, device: Any | None = None) -> np.ndarray:
        """Return the values of a sensor, shape (N, size)."""
        if name not in self._worlds.sensors:
            raise KeyError(f"no sensor {name!r}.{did_you_mean(name, self._worlds.sensors)}")
        return self._worlds.sensors[name]


def _rotations(quaternions: np.ndarray) -> np.ndarray:
    """Return the rotation matrices of quaternions (x, y, z, w), shape (n, 3, 3)."""
    return np.array([pin.Quaternion(*x[[3, 0, 1, 2]].astype(float)).toRotationMatrix() for x in quaternions])
