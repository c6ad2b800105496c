"""Torque limits of motors: ``effortLimit`` on the motor side of gears, and the limits of ``Motor`` objects."""

import numpy as np

from ...algorithms._shared import bridge as _bridge
from ...algorithms.dynamics.motor import rotor_rows, varying_rates
from ...errors import NotAvailableError
from ...model import ClusterModel

_NONE = 1e300
"""Limits above this value count as unlimited."""


class Motors:
    """Torque limits of the motors.

    If a rotor is a joint of the tree, its limit is the ``effortLimit`` of this joint. The ``effortLimit`` of any other
    joint applies unless a limited rotor drives this joint. The ``torque_limits`` of a ``Motor`` apply in addition.
    """

    def __init__(self, model: ClusterModel) -> None:
        tree, self._model, self._data = model.own_tree, model, model.createData()
        limit = tree.effortLimit
        rotor_limits = [np.inf if r.joint_id is None else float(limit[tree.idx_vs[r.joint_id]]) for r in model.rotors]
        limited = [r.motor is not None and np.isfinite(r.motor.torque_limits([-1e9, 0.0])).any() for r in model.rotors]
        self._rotors = [i for i, rotor_limit in enumerate(rotor_limits) if rotor_limit < _NONE or limited[i]]
        self._most = np.array([rotor_limits[i] for i in self._rotors])
        self._motors = [(k, m) for k, i in enumerate(self._rotors) if (m := model.rotors[i].motor) is not None]
        driven = np.zeros(model.nv, dtype=bool)
        for r, rotor_limit in zip(model.rotors, rotor_limits, strict=True):
            if rotor_limit < _NONE:
                driven |= r.row != 0.0
        joint_limits = limit[model.idx_v_independent]
        self._own = np.where((joint_limits < _NONE) & ~driven, joint_limits, np.inf)

    def constant(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the torque limits for programs without branches.

        Returns:
            The limits of the independent joints, shape (nv,), the matrix from motor torques to independent torques,
            shape (nv, motors), and the ``limit_numbers`` of each motor, shape (motors, 4).

        Raises:
            NotAvailableError: The matrix depends on the configuration.
        """
        model, rotors = self._model, [self._model.rotors[i] for i in self._rotors]
        limits = np.full((len(self._most), 4), (np.inf, np.inf, 0.0, np.inf))
        limits[:, 0] = self._most
        for k, motor in self._motors:
            limits[k] = np.minimum(motor.limit_numbers, (limits[k, 0], np.inf, np.inf, np.inf))
        varying = varying_rates(model)
        moved = [r.name for r in rotors if any(varying[iv] for iv, _ in r.drivers)]
        if moved:
            raise NotAvailableError(
                f"model {model.name!r}: the ratio of motor {moved[0]!r} changes with the configuration, so that a "
                "traced step cannot limit its torque. Remove the limit, or use pc.simulate."
            )
        G = _bridge.matrix(model, self._data, model.q_reference)
        return self._own, rotor_rows(model, G)[self._rotors].T, limits

    def give(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Return the torques that act if ``tau`` is commanded and the limits apply, shape (nv,), [N m] or [N]."""
        limited = np.clip(tau, -self._own, self._own)
        if self._rotors:
            self._data._supply(q)
            B = rotor_rows(self._model, _bridge.matrix(self._model, self._data, q))[self._rotors].T
            u, low, high, speeds = np.linalg.lstsq(B, limited, rcond=None)[0], -self._most, self._most.copy(), v @ B
            for k, motor in self._motors:
                lower, upper = motor.torque_limits(speeds[k])
                low[k], high[k] = max(low[k], lower), min(high[k], upper)
            limited = limited + B @ (np.clip(u, low, high) - u)
        return np.asarray(limited)
