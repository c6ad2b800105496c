"""Measure the error of forward dynamics as a function of the torque magnitude."""

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
from ..approximate_dynamics import Progress, along
from ..plots import STYLES, Figure, head, named, panels
from ..trajectories import held, moved_joints
from ..trajectories._base import joint_of
from ._experiment import Experiment, documented, rotors
from ._part import Rows

SAMPLES, BINS = 2000, 10
ANGLE, LOOP_ANGLE, SPEED = 1.0, 0.1, 1.0
"""Largest joint offset, and largest offset in closed loops, [rad] or [m]; standard deviation of velocities, [rad/s]."""


@dataclass(frozen=True, eq=False)
class TorqueMagnitude(Experiment):
    """Errors of forward dynamics at random states."""

    robot: str  # name of the robot
    drop_rotors: bool  # whether the approximate robots omit the rotors
    joints: tuple[str, ...]  # joint name of each column
    alpha: np.ndarray  # torque magnitude / ``max_torque``, shape (N,), evenly spaced from 0 to 1
    max_torque: np.ndarray  # largest torque, shape (joints,), [N m] or [N]
    exact: np.ndarray  # exact accelerations, shape (N, joints), [rad/s^2] or [m/s^2]
    errors: dict[str, np.ndarray]  # approximate minus exact acceleration of each approximation, shape (N, joints)
    seed: int  # seed of the random numbers

    def binned(self, bins: int = BINS) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return the centres of the bins of alpha and, in each bin, mean |acceleration|, |error| and relative error."""
        bin_of_sample = np.minimum((self.alpha * bins).astype(int), bins - 1)
        norm = np.linalg.norm(self.exact, axis=1)

        def mean(x: np.ndarray) -> np.ndarray:
            return np.array([x[bin_of_sample == b].mean() for b in range(bins)])

        errors = {level: np.linalg.norm(e, axis=1) for level, e in self.errors.items()}
        return (
            (np.arange(bins) + 0.5) / bins,
            mean(norm),
            {level: mean(e) for level, e in errors.items()},
            {level: mean(e / norm) for level, e in errors.items()},
        )

    @property
    def title(self) -> str:
        return (
            f"{self.robot}: forward dynamics at {len(self.alpha)} random states under random torques of up to alpha "
            f"times the largest torque; rotors {rotors(self.drop_rotors)}."
        )

    @property
    def summary(self) -> str:
        _, _, _, share = self.binned()
        errors_text = ", ".join(f"{100.0 * x[-1]:.3g} % with {LABELS[r]}" for r, x in share.items())
        return f"Mean acceleration error at the largest torques, relative to the acceleration: {errors_text}."

    def as_dict(self) -> dict[str, Any]:
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
        middle, norm, errors, share = self.binned()
        norms: Rows = [("alpha", *(f"{x:.2f}" for x in middle)), ("exact", *(f"{x:.3g}" for x in norm))]
        norms += [(LABELS[r], *(f"{x:.3g}" for x in values)) for r, values in errors.items()]
        shares: Rows = [norms[0], *((LABELS[r], *(f"{100.0 * x:.3g}" for x in v)) for r, v in share.items())]
        return [
            ("Mean norm of the joint acceleration and of its error, rad/s^2 (m/s^2)", list(zip(*norms, strict=True))),
            ("Mean error, % of the acceleration", list(zip(*shares, strict=True))),
        ]

    def draw(self, figure: Figure) -> None:
        middle, norm, errors, share = self.binned(20)
        left, right = panels(figure, 2, left=0.08, gap=0.22, top=1.4, bottom=0.5)
        left.plot(middle, norm, **STYLES["exact"])
        for level in errors:
            left.plot(middle, errors[level], **STYLES[level])
            right.plot(middle, 100.0 * share[level], **STYLES[level])
        for axes, title, y in (
            (left, "mean norm: exact acceleration, and errors", "[rad/s$^2$]"),
            (right, "mean error relative to the exact acceleration", "[%]"),
        ):
            axes.set_yscale("log")
            axes.set_xlim(0.0, 1.0)
            named(axes, title, r"$\alpha$ = largest torque / torque limit", y)
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
    """Compare forward dynamics at random states under torques of increasing magnitude.

    One-dof joints have coordinates within 1 rad (m) of zero or, with closed loops, 0.1 rad (m) of the reference pose.
    Velocities are normally distributed with a standard deviation of 1 rad/s (m/s). Sample i has the torque
    ``alpha_i * u`` with ``alpha_i = i / (samples - 1)``; u is uniformly distributed within +/- ``max_torque``.

    Args:
        model: The robot; a floating base has no torque and its acceleration is ignored.
        samples: Number of states.
        max_torque: Largest torque of the independent one-dof joints, scalar or shape (joints,), [N m] or [N]; by
            default, the effort limits of the model. A missing limit raises ``ModelError``.
    """
    whole_number("samples", samples, 2 * BINS)
    joints = moved_joints(model)
    columns = [model.joint_idx_v(name) for name in joints]
    if max_torque is None:
        max_torque = model.tree.effortLimit[[joint_of(model, name).idx_v for name in joints]]
    limits = np.broadcast_to(np.asarray(max_torque, dtype=float), len(joints))
    useful = (limits > 0.0) & (limits < 1e6)
    if not useful.all():
        unlimited = joints[int(np.argmin(useful))]
        raise ModelError(
            f"joint {unlimited!r} of {model.name!r} has no effort limit to scale torques with. Pass max_torque= [N m]."
        )
    rng = np.random.default_rng(seed)
    alpha = np.linspace(0.0, 1.0, samples)
    q, (step, v, tau) = np.empty((samples, model.nq)), np.zeros((3, samples, model.nv))
    for i in range(samples):
        step[i, columns] = (LOOP_ANGLE if model.closures else ANGLE) * rng.uniform(-1.0, 1.0, len(joints))
        q[i] = integrate(model, held(model), step[i])
        v[i, columns] = SPEED * rng.normal(size=len(joints))
        tau[i, columns] = alpha[i] * limits * rng.uniform(-1.0, 1.0, len(joints))
    exact, approximate = along(model, approximations.of(model, drop_rotors), aba, q, v, tau, progress=progress)
    errors = {name: (x - exact)[:, columns] for name, x in approximate.items()}
    max_torques = np.array(limits)
    return TorqueMagnitude(model.name, drop_rotors, joints, alpha, max_torques, exact[:, columns], errors, seed)
