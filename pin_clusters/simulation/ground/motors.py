"""Torques that motors can give: the model's ``effortLimit``, at the motor's side where the robot has rotors."""

import numpy as np

from ...algorithms._shared import bridge as _bridge
from ...algorithms.dynamics.motor import rotor_rows
from ...model import ClusterModel

_NONE = 1e300
"""A limit that is larger is none."""


class Motors:
    """Limits of torques: of rotors that are joints of the tree, of their own joints; of other joints, of themselves."""

    def __init__(self, model: ClusterModel) -> None:
        tree, self._model, self._data = model.own_tree, model, model.createData()
        limit = tree.effortLimit
        bodies = [(i, r.joint_id) for i, r in enumerate(model.rotors) if r.joint_id is not None]
        self._rotors = [i for i, j in bodies if limit[tree.idx_vs[j]] < _NONE]
        self._most = np.array([limit[tree.idx_vs[model.rotors[i].joint_id]] for i in self._rotors])
        driven = np.zeros(model.nv, dtype=bool)
        for i in self._rotors:
            driven |= model.rotors[i].row != 0.0
        own = limit[model.idx_v_independent]
        self._own = np.where((own < _NONE) & ~driven, own, np.inf)

    def give(self, q: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Return the torques that act, shape (nv,), of those that are asked for."""
        given = np.clip(tau, -self._own, self._own)
        if self._rotors:
            self._data._supply(q)
            B = rotor_rows(self._model, _bridge.matrix(self._model, self._data, q))[self._rotors].T
            u = np.linalg.lstsq(B, given, rcond=None)[0]
            given = given + B @ (np.clip(u, -self._most, self._most) - u)
        return np.asarray(given)
