"""Torques that motors can give: ``effortLimit``, at the motor's side where the robot has rotors; those of ``Motor``."""

import numpy as np

from ...algorithms._shared import bridge as _bridge
from ...algorithms.dynamics.motor import rotor_rows
from ...model import ClusterModel

_NONE = 1e300
"""A limit that is larger is none."""


class Motors:
    """Limits of torques: of rotors that are joints of the tree, of their own joints; of other joints, of themselves.

    Where a ``Motor`` is stated, its ``torque_limits`` hold, too.
    """

    def __init__(self, model: ClusterModel) -> None:
        tree, self._model, self._data = model.own_tree, model, model.createData()
        limit = tree.effortLimit
        mine = [np.inf if r.joint_id is None else float(limit[tree.idx_vs[r.joint_id]]) for r in model.rotors]
        able = [r.motor is not None and np.isfinite(r.motor.torque_limits([-1e9, 0.0])).any() for r in model.rotors]
        self._rotors = [i for i, most in enumerate(mine) if most < _NONE or able[i]]
        self._most = np.array([mine[i] for i in self._rotors])
        self._motors = [(k, m) for k, i in enumerate(self._rotors) if (m := model.rotors[i].motor) is not None]
        driven = np.zeros(model.nv, dtype=bool)
        for r, most in zip(model.rotors, mine, strict=True):
            if most < _NONE:
                driven |= r.row != 0.0
        own = limit[model.idx_v_independent]
        self._own = np.where((own < _NONE) & ~driven, own, np.inf)

    def give(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Return the torques that act, shape (nv,), of those that are asked for."""
        given = np.clip(tau, -self._own, self._own)
        if self._rotors:
            self._data._supply(q)
            B = rotor_rows(self._model, _bridge.matrix(self._model, self._data, q))[self._rotors].T
            u, low, high, speeds = np.linalg.lstsq(B, given, rcond=None)[0], -self._most, self._most.copy(), v @ B
            for k, motor in self._motors:
                least, most = motor.torque_limits(speeds[k])
                low[k], high[k] = max(low[k], least), min(high[k], most)
            given = given + B @ (np.clip(u, low, high) - u)
        return np.asarray(given)
