"""Error of the static map between joint and motor torques while the mechanism moves."""

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
    """The members of ``MotorSpace`` that this module uses."""

    mechanism: Mechanism
    joints: tuple[str, ...]
    motors: tuple[str, ...]

    def configuration(self, x: Any) -> np.ndarray:
        """Return configurations with joint positions x."""
        ...


class StaticMapError(NamedTuple):
    """Motor torques along a motion, and the error of the static map.

    ``t`` [s] has shape (N,); ``exact`` and ``static`` have shape (N, n), [N m] or [N]. ``worst`` is the largest
    difference in percent of the largest exact torque. ``rms`` is the RMS difference in percent of the RMS exact torque.
    """

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
    """Compare the static map J^-T tau with exact inverse dynamics along a motion.

    For the static map, tau is computed with a serial model, which contains the links but no cranks, rods and rotors.

    Args:
        space: The ``MotorSpace``.
        t: Times, shape (N,), [s].
        x: Joint positions, shape (N, n). Joints outside the mechanism do not move. Velocities and accelerations come
            from a quintic spline through x.
        q: Configurations of the robot, shape (N, nq), instead of x; ``v`` and ``a`` are then required.
        v: Independent velocities, shape (N, nv).
        a: Independent accelerations, shape (N, nv).
        tau: Additional torques on the joints, such as ground reactions, shape (N, n).

    Returns:
        Exact and static motor torques, and their difference in percent.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> ankle = pc.MotorSpace(pc.load("ankle_2rsu"), ["ankle_pitch", "ankle_roll"], ["crank_left", "crank_right"])
        >>> t = np.linspace(0.0, 1.0, 50)
        >>> error = ankle.static_map_error(t, 0.1 * np.sin(6.0 * t)[:, None] * np.ones(2))
        >>> error.exact.shape, error.worst > 0.0
        ((50, 2), True)
    """
    m, n, times = space.mechanism, len(space.joints), numbers("t", t).astype(float)
    if times.ndim != 1 or len(times) < 6 or not (np.diff(times) > 0.0).all():
        raise ShapeError(f"t must contain at least 6 increasing times, got shape {times.shape}.")
    if len({x is not None, q is None, v is None, a is None}) > 1:
        raise ArgumentTypeError("static_map_error requires either the joint positions x, or q, v and a of the robot.")

    def rows(name: str, given: Any, size: int) -> np.ndarray:
        array = numbers(name, given).astype(float)
        if array.shape != (len(times), size):
            raise ShapeError(f"{name} has shape {array.shape}, expected {(len(times), size)}: one row per time sample.")
        return array

    model = m.model if x is None else m.by_joints
    states = (("q", q, model.nq), ("v", v, model.nv), ("a", a, model.nv))
    motion = [rows(*state) for state in states] if x is None else _of_joints(space, times, rows("x", x, n))
    extra_torques = np.zeros((len(times), n)) if tau is None else rows("tau", tau, n)
    links, data, columns = _links(space), model.createData(), m.columns(model)
    light, (exact, static) = links.createData(), np.empty((2, len(times), n))
    for i, (q_i, v_i, a_i, more_i) in enumerate(zip(*motion, extra_torques, strict=True)):
        G = coupling_jacobian(model, data, q_i)[:, columns]
        back = np.linalg.inv(m.of_joints(G))
        J = m.of_motors(G) @ back
        speeds = spanning_velocity(model, data, q_i, v_i), spanning_acceleration(model, data, q_i, v_i, a_i)
        torques = np.array([rnea(model, data, q_i, v_i, a_i)[columns], pin.rnea(links, light, q_i, *speeds) @ G])
        exact[i], static[i] = np.linalg.solve(J.T, (torques @ back + more_i).T).T
    parts = [100.0 * float(norm(static - exact) / norm(exact)) for norm in (lambda x: np.abs(x).max(), np.linalg.norm)]
    return StaticMapError(times, space.motors, exact, static, *parts)


def _of_joints(space: Space, t: np.ndarray, x: np.ndarray) -> list[np.ndarray]:
    """Return q, v and a from a quintic spline of x; all joints outside the mechanism are at rest."""
    from scipy.interpolate import make_interp_spline  # this import is slow

    m, spline = space.mechanism, make_interp_spline(t, x, k=5)
    model, columns = m.by_joints, m.columns(m.by_joints)
    back = np.linalg.inv(m.of_joints(coupling_jacobian(model, model.createData(), model.q_reference)[:, columns]))
    # The map from the joints to the independent joints is constant.
    rates = np.zeros((2, len(t), model.nv))
    rates[:, :, columns] = np.array([spline(t, 1), spline(t, 2)]) @ back.T
    return [space.configuration(x), *rates]


def _links(space: Space) -> pin.Model:
    """Return the tree as a serial model, which contains the joints' links but no cranks, rods and rotors."""
    m, tree = space.mechanism, space.mechanism.model.own_tree.copy()
    of_mechanism = np.isin(np.arange(tree.nv), [i for j in m.ids for i in in_v(tree, j)])
    tree.armature = np.where(of_mechanism, 0.0, tree.armature)
    for j in set(m.ids) - set(m.joints):
        tree.inertias[j] = pin.Inertia.Zero()
    return tree
