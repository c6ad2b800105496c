"""What the static map between joint and motor torques leaves out when a mechanism moves."""

from typing import Any, NamedTuple, Protocol

import numpy as np
import pinocchio as pin

from ..._support.arrays import ArrayLike, numbers
from ..._support.trees import in_v
from ...algorithms.dynamics.coupling import coupling_jacobian, spanning_acceleration, spanning_velocity
from ...algorithms.dynamics.rnea import rnea
from ...errors import ArgumentTypeError, ShapeError
from .mechanism import Mechanism


class Space(Protocol):
    """The members of a ``MotorSpace`` that are used here."""

    mechanism: Mechanism
    joints: tuple[str, ...]
    motors: tuple[str, ...]

    def configuration(self, x: Any) -> np.ndarray:
        """Return configurations with the joints at x."""
        ...


class StaticMapError(NamedTuple):
    """Torques of motors at times t, shape (N, n), [N m] or [N]; largest difference and root of the mean square in %."""

    t: np.ndarray
    motors: tuple[str, ...]
    exact: np.ndarray
    static: np.ndarray
    worst: float
    rms: float


def static_map_error(
    space: Space,
    t: ArrayLike,
    x: ArrayLike | None = None,
    *,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    a: ArrayLike | None = None,
    tau: ArrayLike | None = None,
) -> StaticMapError:
    """Return what the static map J^-T tau lacks along a motion, against exact inverse dynamics.

    The static map has torques that move links alone (no cranks, rods, rotors), as a serial model has. The motion is
    ``x``, shape (N, n), in a robot that rests otherwise (rates by a spline of fifth degree), or ``q``, ``v``, ``a`` of
    the robot, a row each time t [s]; ``tau``, shape (N, n), acts on the joints besides, as forces of the ground do.
    """
    m, n, times = space.mechanism, len(space.joints), numbers("t", t).astype(float)
    if times.ndim != 1 or len(times) < 6 or not (np.diff(times) > 0.0).all():
        raise ShapeError(f"t must be at least 6 growing times, got shape {times.shape}.")
    if len({x is not None, q is None, v is None, a is None}) > 1:
        raise ArgumentTypeError("static_map_error takes the motion of the joints, x, or q, v and a of the robot.")

    def rows(name: str, given: Any, size: int) -> np.ndarray:
        found = numbers(name, given).astype(float)
        if found.shape != (len(times), size):
            raise ShapeError(f"{name} has shape {found.shape}; expected {(len(times), size)}, a row for each time.")
        return found

    model = m.model if x is None else m.by_joints
    states = (("q", q, model.nq), ("v", v, model.nv), ("a", a, model.nv))
    motion = [rows(*one) for one in states] if x is None else _of_joints(space, times, rows("x", x, n))
    more = np.zeros((len(times), n)) if tau is None else rows("tau", tau, n)
    links, data, columns = _links(space), model.createData(), m.columns(model)
    light, (exact, static) = links.createData(), np.empty((2, len(times), n))
    for i, (q_i, v_i, a_i, more_i) in enumerate(zip(*motion, more, strict=True)):
        G = coupling_jacobian(model, data, q_i)[:, columns]
        back = np.linalg.inv(m.of_joints(G))
        J = m.of_motors(G) @ back
        speeds = spanning_velocity(model, data, q_i, v_i), spanning_acceleration(model, data, q_i, v_i, a_i)
        torques = np.array([rnea(model, data, q_i, v_i, a_i)[columns], pin.rnea(links, light, q_i, *speeds) @ G])
        exact[i], static[i] = np.linalg.solve(J.T, (torques @ back + more_i).T).T
    parts = [100.0 * float(norm(static - exact) / norm(exact)) for norm in (lambda x: np.abs(x).max(), np.linalg.norm)]
    return StaticMapError(times, space.motors, exact, static, *parts)


def _of_joints(space: Space, t: np.ndarray, x: np.ndarray) -> list[np.ndarray]:
    """Return q, v and a of a robot that rests, but for the mechanism: by a spline of fifth degree."""
    from scipy.interpolate import make_interp_spline  # whose import takes time

    m, spline = space.mechanism, make_interp_spline(t, x, k=5)
    model, columns = m.by_joints, m.columns(m.by_joints)
    back = np.linalg.inv(m.of_joints(coupling_jacobian(model, model.createData(), model.q_reference)[:, columns]))
    rates = np.zeros((2, len(t), model.nv))  # joints are independent, or in constant ratios to those that are
    rates[:, :, columns] = np.array([spline(t, 1), spline(t, 2)]) @ back.T
    return [space.configuration(x), *rates]


def _links(space: Space) -> pin.Model:
    """Return the tree as a serial model has it: what the joints carry, without cranks, rods and rotors."""
    m, tree = space.mechanism, space.mechanism.model.own_tree.copy()
    own = np.isin(np.arange(tree.nv), [i for j in m.ids for i in in_v(tree, j)])
    tree.armature = np.where(own, 0.0, tree.armature)
    for j in set(m.ids) - set(m.joints):
        tree.inertias[j] = pin.Inertia.Zero()
    return tree
