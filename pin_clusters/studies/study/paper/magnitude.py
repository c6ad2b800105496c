"""The error of forward dynamics against the magnitude of the torque."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .... import approximations
from ...._support.arrays import whole_number
from ...._support.picture_names import literal
from ....algorithms.dynamics.aba import aba
from ....approximations import LABELS
from ....errors import ModelError
from ....model import ClusterModel
from ....model.configuration import integrate
from ...pages.results import by_name, plain
from .._samples import labels, locked
from ..plots import STYLES, Figure, head, named, panels
from ..rungs import Progress, along
from ..trajectories import held, moved_joints
from ..trajectories._base import joint_of
from ._experiment import Experiment, documented, rotors
from ._part import Rows

SAMPLES, BINS = 2000, 10
ANGLE, LOOP_ANGLE, SPEED = 1.0, 0.1, 1.0
"""Largest angles [rad] or [m] of the states, those with closed loops, and the deviation of their velocities."""


@dataclass(frozen=True, eq=False)
class TorqueMagnitude(Experiment):
    """Errors of forward dynamics at random states.

    Attributes:
        robot: Its name.
        drop_rotors: Whether the approximate robots lack the rotors.
        joints: Columns of the accelerations.
        alpha: Magnitude of the torque, shape (N,), evenly from 0 to 1.
        max_torque: What it is multiplied by, shape (joints,), [N m] or [N].
        exact: Exact accelerations, shape (N, joints), [rad/s^2] or [m/s^2].
        errors: Per approximation, approximate minus exact, shape (N, joints).
        seed: Of the random numbers.
    """

    robot: str
    drop_rotors: bool
    joints: tuple[str, ...]
    alpha: np.ndarray
    max_torque: np.ndarray
    exact: np.ndarray
    errors: dict[str, np.ndarray]
    seed: int

    def binned(self, bins: int = BINS) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return, per range of alpha, its middle, the mean norm of the exact acceleration and of the errors.

        Returns:
            Middles, shape (bins,); exact norm; norm of the error per approximation; and its mean share, which is the
            mean of norm of error over norm of exact.
        """
        at = np.minimum((self.alpha * bins).astype(int), bins - 1)
        norm = np.linalg.norm(self.exact, axis=1)

        def mean(x: np.ndarray) -> np.ndarray:
            return np.array([x[at == b].mean() for b in range(bins)])

        errors = {rung: np.linalg.norm(e, axis=1) for rung, e in self.errors.items()}
        return (
            (np.arange(bins) + 0.5) / bins,
            mean(norm),
            {rung: mean(e) for rung, e in errors.items()},
            {rung: mean(e / norm) for rung, e in errors.items()},
        )

    @property
    def title(self) -> str:
        """What was done."""
        return (
            f"{self.robot}: forward dynamics at {len(self.alpha)} random states under random torques of up to alpha "
            f"times the largest torque; rotors {rotors(self.drop_rotors)}."
        )

    @property
    def summary(self) -> str:
        """What the errors are at the largest torques."""
        _, _, _, share = self.binned()
        said = ", ".join(f"{100.0 * x[-1]:.3g} % with {LABELS[r]}" for r, x in share.items())
        return f"Mean acceleration error at the largest torques, as a part of the acceleration: {said}."

    def as_dict(self) -> dict[str, Any]:
        """Return settings and errors per range of alpha, ready for JSON."""
        middle, norm, errors, share = self.binned()
        return plain(
            {
                "experiment": "torque-magnitude",
                "robot": self.robot,
                "samples": len(self.alpha),
                "seed": self.seed,
                "rotors_of_approximations": locked(self.drop_rotors),
                "joints": self.joints,
                "max_torque": by_name(self.joints, self.max_torque),
                "alpha": middle,
                "exact_norm": norm,
                "error_norm": errors,
                "error_share": share,
            }
        )

    def tables(self) -> list[tuple[str, Rows]]:
        """Return the mean errors per range of alpha."""
        middle, norm, errors, share = self.binned()
        first: Rows = [("alpha", *(f"{x:.2f}" for x in middle)), ("exact", *(f"{x:.3g}" for x in norm))]
        first += [(LABELS[r], *(f"{x:.3g}" for x in values)) for r, values in errors.items()]
        second: Rows = [first[0], *((LABELS[r], *(f"{100.0 * x:.3g}" for x in v)) for r, v in share.items())]
        return [
            ("Mean norm of the joint acceleration and of its error, rad/s^2 (m/s^2)", list(zip(*first, strict=True))),
            ("Mean error, % of the acceleration", list(zip(*second, strict=True))),
        ]

    def draw(self, figure: Figure) -> None:
        """Draw errors (left) and their shares (right) over alpha."""
        middle, norm, errors, share = self.binned(20)
        left, right = panels(figure, 2, left=0.08, gap=0.22, top=1.4, bottom=0.5)
        left.plot(middle, norm, **STYLES["exact"])
        for rung in errors:
            left.plot(middle, errors[rung], **STYLES[rung])
            right.plot(middle, 100.0 * share[rung], **STYLES[rung])
        for axes, title, y in (
            (left, "mean norm: exact acceleration, and errors", "[rad/s$^2$]"),
            (right, "mean error, as a part of the exact acceleration", "[%]"),
        ):
            axes.set_yscale("log")
            axes.set_xlim(0.0, 1.0)
            named(axes, title, "largest torque / largest torque allowed", y)
        head(
            figure,
            f"{literal(self.robot)}: forward dynamics against the magnitude of the torque",
            (
                f"{len(self.alpha)} random states, torques within $\\alpha$ times the limits, averaged over 20 ranges.",
                f"Rotors are {rotors(self.drop_rotors)}.",
            ),
            labels(["exact", *errors]),
        )


@documented
def run(
    model: ClusterModel,
    *,
    drop_rotors: bool = False,
    progress: Progress | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
    max_torque: ArrayLike | None = None,
) -> TorqueMagnitude:
    """Compare forward dynamics at random states under torques of growing magnitude.

    The state of sample i is random: one-dof joints within 1 rad (m) of zero, velocities normal with a deviation of
    1 rad/s (m/s). With closed loops the joints are within 0.1 rad (m) of the reference pose. The torque is
    ``alpha_i u``, ``alpha_i = i / (samples - 1)``, u uniform between minus and plus the largest torque.

    Args:
        model: The robot; a floating base gets no torque and its acceleration is not looked at.
        samples: How many states.
        max_torque: Shape (), or (joints,) for the independent one-dof joints, [N m] or [N]; by default the effort
            limits of the model.

    Raises:
        ArgumentTypeError: The number of samples is not allowed.
        ModelError: The model has no effort limits, and no torque was given.
    """
    whole_number("samples", samples, 2 * BINS)
    joints = moved_joints(model)
    columns = [model.joint_idx_v(name) for name in joints]
    if max_torque is None:
        max_torque = model.tree.effortLimit[[joint_of(model, name).idx_v for name in joints]]
    limits = np.broadcast_to(np.asarray(max_torque, dtype=float), len(joints))
    useful = (limits > 0.0) & (limits < 1e6)
    if not useful.all():
        bad = joints[int(np.argmin(useful))]
        raise ModelError(
            f"joint {bad!r} of {model.name!r} has no effort limit to scale torques with. Give max_torque=, N m."
        )
    rng = np.random.default_rng(seed)
    alpha = np.linspace(0.0, 1.0, samples)
    q, (step, v, tau) = np.empty((samples, model.nq)), np.zeros((3, samples, model.nv))
    for i in range(samples):
        step[i, columns] = (LOOP_ANGLE if model.closures else ANGLE) * rng.uniform(-1.0, 1.0, len(joints))
        q[i] = integrate(model, held(model), step[i])
        v[i, columns] = SPEED * rng.normal(size=len(joints))
        tau[i, columns] = alpha[i] * limits * rng.uniform(-1.0, 1.0, len(joints))
    exact, found = along(model, approximations.of(model, drop_rotors), aba, q, v, tau, progress=progress)
    errors = {name: (x - exact)[:, columns] for name, x in found.items()}
    kept = np.array(limits)
    return TorqueMagnitude(model.name, drop_rotors, joints, alpha, kept, exact[:, columns], errors, seed)
