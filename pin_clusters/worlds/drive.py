"""PD drives of joints, with torque limits."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._support.arrays import ArrayLike, joint_names, numbers
from ..errors import ArgumentTypeError, ShapeError, SimulationError, UnknownNameError, did_you_mean
from ..model import ClusterModel
from ..simulation.holding import joints_without_springs

LIMITS = (None, "motor")


@dataclass(frozen=True, eq=False)
class Drive:
    """PD control of joint positions inside each time step.

    The torque of a joint is kp (target - q) - kd v, with q and v at the end of the step. The drive is therefore stable
    for all gains and time steps. If a torque limit is reached, the joint gets the limit as a constant torque.

    Attributes:
        kp: Stiffness, one number or one per driven joint, [N m/rad] or [N/m].
        kd: Damping, one number or one per driven joint, [N m s/rad] or [N s/m].
        limit: None, or ``"motor"`` for the torque limits of ``pc.simulate(limits="effort")``.
        joints: Names of the driven joints. By default, all independent joints with one degree of freedom and without a
            stiff ``Spring``.
        range: Smallest and largest target, shape (2,) or (nu, 2), [rad] or [m]. Targets outside are clamped. None means
            no limit. ``pc.Worlds`` checks the shape and the order.

    Raises:
        SimulationError: A gain is negative or not finite, or ``limit`` is unknown.
        ArgumentTypeError: A type is wrong.

    Example:
        >>> import pin_clusters as pc
        >>> pc.Drive(kp=30.0, kd=0.8, limit="motor").kp
        30.0
    """

    kp: ArrayLike = 30.0
    kd: ArrayLike = 1.0
    limit: str | None = None
    joints: Sequence[str] | None = None
    range: ArrayLike | None = None

    def __post_init__(self) -> None:
        for name in ("kp", "kd"):
            gains = np.asarray(numbers(f"Drive: {name}", getattr(self, name)), dtype=float)
            wrong = ~np.isfinite(gains) | (gains < 0.0)
            if wrong.any():
                raise SimulationError(
                    f"Drive: {name} must be finite and not negative, got {gains[wrong].ravel()[0]:g}. Pass one number, "
                    "or one number per driven joint."
                )
        if self.limit not in LIMITS:
            raise SimulationError(f'Drive: limit must be None or "motor", got {self.limit!r}.')
        if self.joints is not None:
            object.__setattr__(self, "joints", joint_names("Drive: joints", self.joints))

    def of(self, model: ClusterModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the driven joints as pairs of indices in q and v, shape (nu, 2), and kp and kd, shape (nu,)."""
        tree, columns = model.own_tree, {int(iv): k for k, iv in enumerate(model.idx_v_independent)}
        single = {
            tree.names[j]: (tree.joints[j].idx_q, columns[tree.joints[j].idx_v])
            for j in range(1, tree.njoints)
            if tree.joints[j].nq == tree.joints[j].nv == 1 and tree.joints[j].idx_v in columns
        }
        names = self.joints
        if names is None:
            names = tuple(name for name in joints_without_springs(model) if name in single)
        for name in names:
            if name not in single:
                raise UnknownNameError(
                    f"Drive: {name!r} is not an independent joint with one degree of freedom of model "
                    f"{model.name!r}.{did_you_mean(name, single)}"
                )
        if not names:
            raise ArgumentTypeError(f"Drive: model {model.name!r} has no joints to drive. Pass drive=None.")
        driven = np.array([single[name] for name in names], dtype=np.int64)
        return driven, self._gains("kp", len(driven)), self._gains("kd", len(driven))

    def bounds(self, size: int) -> np.ndarray:
        """Return the lower and upper targets of ``size`` driven joints, shape (size, 2); infinite without a limit."""
        bounds = np.array(numbers("Drive: range", (-np.inf, np.inf) if self.range is None else self.range), dtype=float)
        if bounds.shape not in ((2,), (size, 2)):
            raise ShapeError(
                f"Drive: range has shape {bounds.shape}, expected (2,) or ({size}, 2): {size} driven joints."
            )
        for low, high in bounds.reshape(-1, 2).tolist():
            if not low <= high:
                raise SimulationError(
                    f"Drive: range must be (lower, upper) with lower <= upper, got ({low:g}, {high:g})."
                )
        return np.broadcast_to(bounds, (size, 2)).copy()

    def _gains(self, name: str, size: int) -> np.ndarray:
        gains = np.asarray(getattr(self, name), dtype=float)
        if gains.shape not in ((), (size,)):
            raise ShapeError(
                f"Drive: {name} has shape {gains.shape}, expected one number or shape ({size},): {size} joints are "
                "driven."
            )
        return np.broadcast_to(gains, (size,)).copy()
