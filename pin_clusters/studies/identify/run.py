"""From a log to parameters."""

import dataclasses
import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..._support.arrays import real, whole_number
from ...algorithms.dynamics.passive import check_friction_speed
from ...algorithms.parameters.identifiable import combination
from ...errors import ArgumentTypeError, PinClustersWarning, shown
from ...model import FRICTION_SPEED, ClusterModel, check_model
from ..study.trajectories import TrajectoryError
from ..study.trajectories._curves import butterworth
from . import page as page  # which says how results are written
from .consistent import consistent
from .equations import Equations, equations
from .log import read_log
from .parameters import applied, scales, sought
from .result import Identification
from .smoothing import ORDER, channels, cutoff_of, noise_of, with_channels
from .solve import Fit, fit, in_a_row

_LEAST, _LAST, _ALONE, _SMALL, _MOVED = 3, 2, 1e-6, 1e-6, 0.1
"""Torques by parameters; samples of the test; what is alone; of combinations nothing; of an error moved."""


def identify(
    model: ClusterModel,
    log: str | Path | Mapping[str, Any],
    what: str | Sequence[str] = ("rotor_inertia", "viscous", "coulomb"),
    *,
    cutoff: float | None = None,
    torque_constant: Mapping[str, float] | None = None,
    span: tuple[float, float] | None = None,
    degrees: bool = False,
    allow_saturated: bool = False,
    friction_speed: float = FRICTION_SPEED,
    test: float = 0.3,
    noises: int = 8,
    seed: int = 0,
) -> Identification:
    """Estimate parameters of a robot from a log of its motion and torques.

    Args:
        model: The robot as it is believed to be: what is not sought is taken from it.
        log: A .csv or .npz file, CSV of a ROS bag, or columns by name: ``time``; joints, ``JOINT.v``, ``JOINT.a``, base
            and forces as in ``Recorded.from_file``; ``MOTOR.tau`` at the rotor [N m] or ``MOTOR.current`` [A] of all
            motors, or ``JOINT.tau``, what motors make at independent joints. What else acts has to be in it.
        what: Kinds (``identification.KINDS``), or ``"NAME: KIND"``, ``*`` for any text. A mass keeps centre and shape;
            ``inertial`` are all ten parameters; springs have to be stated. ``efficiency`` alone is both.
        cutoff: Of the filter, [Hz]: Butterworth of order 4, forwards and backwards, of motion, torques and equations;
            by default above the band of the motion; none (infinite) if all accelerations are in the log.
        torque_constant: By motor, for currents, [N m/A].
        span: Part of the log, [s].
        degrees: Whether angles are in degrees.
        allow_saturated: Take columns that are flat at their extremes.
        friction_speed: As in ``pc.passive_torque``.
        test: Share of the log, its end, for cross-validation; estimates are of all of it.
        noises: How often noise is added to the motion, to see what its own noise does; 0: that is left.
        seed: Of that.

    Returns:
        Estimates, errors, and the robot with them; ``write(folder)`` makes a page.

    Raises:
        ArgumentTypeError: An argument has the wrong type, or an option is out of its range.
        UnknownNameError: There is no such kind.
        ModelError: The robot has nothing of a kind; of losses: motors do not turn independently, no load is known.
        TrajectoryError: The log is wrong: names, gaps, rates, what is not finite, saturated or too short; ``cutoff`` is
            not between one period in the log and half the rate of its samples.

    Warns:
        PinClustersWarning: Noise of the motion is too strong for the errors to be trusted.

    References:
        Gautier, "Dynamic identification of robots with power model", 1997 (parallel filter); Newey and West,
        Econometrica 55, 1987, Bell and McCaffrey, Survey Methodology 28, 2002, and Sun, J. Econometrics 178, 2014
        (errors); Cook and Stefanski, JASA 89, 1994, and Carroll et al., JASA 91, 1996 (noise of the motion, taken off);
        Rucker and Wensing, "Smooth parameterization of rigid-body inertia", 2022.

    Example:
        >>> import pin_clusters as pc
        >>> found = pc.identify(pc.load("mit_humanoid_leg"), "leg.csv", ["rotor_inertia", "*knee*: coulomb"])
        ... # doctest: +SKIP
    """
    check_model(model, "identify")
    friction_speed = check_friction_speed("identify", friction_speed)
    _check(test, cutoff, span, torque_constant)
    noises, seed = (whole_number(f"identify: {key}", x, 0) for key, x in (("noises", noises), ("seed", seed)))
    found = sought(model, what)
    read = read_log(model, log, torque_constant or {}, span, degrees=degrees, allow_saturated=allow_saturated)
    motion, columns, time = read.motion, channels(read.motion), read.motion.time
    rate, cutoff = (len(time) - 1) / float(time[-1]), real(cutoff)
    if cutoff is None:
        cutoff = math.inf if set(motion.accelerations) >= set(motion.positions) else cutoff_of(columns, rate)
    if math.isfinite(cutoff) and not 1.0 / time[-1] < cutoff < 0.5 * rate:
        raise TrajectoryError(
            f"{motion.name}: cutoff = {cutoff:g} Hz must be above {1.0 / time[-1]:.3g} Hz, one period in the log, and "
            f"below {0.5 * rate:.4g} Hz, half the rate of the samples. math.inf turns the filter off."
        )
    noisy, kept, least = math.isfinite(cutoff), slice(0, len(time)), 0
    if noisy:
        edge, step = round(2.0 * rate / cutoff), max(1, int(rate / (4.0 * cutoff) + 1e-6))
        kept, least = slice(edge, len(time) - edge, step), math.ceil(6.0 * rate / step / cutoff)

    def filtered(x: np.ndarray) -> np.ndarray:
        return butterworth(x, rate, cutoff, ORDER) if noisy else x

    def along(columns: np.ndarray) -> Equations:
        moved = with_channels(motion, filtered(columns))
        log = dataclasses.replace(read, motion=moved)
        return equations(model, log, found, moved.states(model), friction_speed, lambda x: filtered(x)[kept])

    e, n = along(columns), len(time[kept])
    if n * len(e.names) < _LEAST * len(found):
        raise TrajectoryError(
            f"{motion.name}: {n} samples are left behind the filter of {cutoff:.3g} Hz, of {len(e.names)} torques: "
            f"too short for {len(found)} parameters. Log longer, seek fewer, or raise the cutoff."
        )
    if (first := int((1.0 - test) * n)) * len(e.names) < len(found) or n - first < _LAST:
        raise ArgumentTypeError(
            f"identify: test={test} leaves {first} of {n} samples for a fit of {len(found)} parameters and {n - first} "
            f"for the prediction, which needs {_LAST}. The default is 0.3."
        )
    best = fit(e, found, least)
    bias, influence = np.zeros(len(found)), best.influence
    if noisy and noises:
        rng, strength = np.random.default_rng(seed), noise_of(columns, rate, cutoff)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PinClustersWarning)  # was said of the log itself
            noise = (strength * rng.standard_normal(columns.shape) for _ in range(noises))
            more = [fit(along(columns + x), found, least, best) for x in noise]
        bias = np.mean([m.x for m in more], axis=0) - best.x
        influence = 2.0 * influence - np.mean([m.influence for m in more], axis=0)  # of x - bias (Carroll et al. 1996)
    sums = np.sqrt(best.few) * in_a_row(influence, best.lags)
    cov = sums.T @ sums
    x = consistent(found, best.x - bias, best.R)
    start = {name: getattr(e, name)[:first] for name in ("left", "measured", "X")}
    early = fit(dataclasses.replace(e, **start, take=lambda y: e.take(y)[:first]), found, least).x
    left, measured = np.array([e.at(y)[0][first:] for y in (0.0 * early, early)]), e.measured[first:]
    rms = np.sqrt(np.mean(left**2, axis=1))
    hidden = np.linalg.norm(best.hidden, axis=0) > _ALONE
    estimate, error = e.priors + x, np.where(hidden, np.inf, np.sqrt(np.diag(cov)))
    ends = e.priors + best.x - bias + np.array([[-2.0], [2.0]]) * error
    interval = np.clip(ends, *np.array([p.bounds for p in found]).T)

    if far := [p.label for p, b, s in zip(found, bias, error, strict=True) if abs(b) > s]:
        warnings.warn(
            f"{motion.name}: noise of the motion moves {', '.join(far[:3])}{' and more' * (len(far) > 3)} by more "
            "than their errors, which may be too small, though it is taken off. Lower the cutoff, or log velocities.",
            PinClustersWarning,
            stacklevel=2,
        )

    def named(those: np.ndarray) -> tuple[str, ...]:
        return tuple(p.label for p, yes in zip(found, those, strict=True) if yes)

    return Identification(
        model.name, motion.name, cutoff, named(hidden | True), tuple(p.unit for p in found), e.priors, estimate,
        error, interval, cov / np.maximum(np.outer(error, error), 1e-300), bias, named(hidden),
        named(~hidden & (error > np.abs(estimate))), named(np.abs(x - best.x + bias) > _MOVED * error),
        _together(best, named(hidden | True), estimate, cov, scales(found)), e.names, rms,
        1.0 - (rms / np.maximum(np.std(measured, axis=0), 1e-300)) ** 2, time[kept][first:], measured, measured - left,
        applied(model, found, estimate),
    )  # fmt: skip


def _check(test: Any, cutoff: Any, span: Any, torque_constant: Any) -> None:
    """Raise ``ArgumentTypeError`` for options of ``identify`` that are wrong for every log."""
    low, high = (real(x) for x in span) if isinstance(span, (list, tuple)) and len(span) == 2 else (None, None)
    constants = torque_constant.items() if isinstance(torque_constant, Mapping) else [(None, None)]
    known = all(isinstance(motor, str) and math.isfinite(real(k) or math.nan) for motor, k in constants)
    for name, given, right, wanted in (
        ("test", test, 0.0 < (real(test) or 0.0) < 1.0, "a share between 0 and 1"),
        ("cutoff", cutoff, cutoff is None or (real(cutoff) or 0.0) > 0.0, "a frequency above 0 [Hz], or None"),
        ("span", span, span is None or (low is not None and high is not None and low < high), "(first, last) time [s]"),
        ("torque_constant", torque_constant, torque_constant is None or known, "numbers other than 0, by motor"),
    ):
        if not right:
            raise ArgumentTypeError(f"identify: {name} must be {wanted}, got {shown(given)}.")


def _together(
    best: Fit, labels: tuple[str, ...], estimate: np.ndarray, cov: np.ndarray, scale: np.ndarray
) -> tuple[tuple[str, float, float], ...]:
    """Return base parameters that are made of several: what moves along hidden directions does not change them."""
    from scipy.linalg import qr

    H = best.hidden
    order = qr(H, mode="r", pivoting=True)[1] if len(H) else np.arange(len(labels))
    others, own = np.sort(order[: len(H)]), np.sort(order[len(H) :])
    basis = np.eye(len(labels))[own]
    basis[:, others] = -np.linalg.solve(H[:, others], H[:, own]).T
    basis *= best.size / best.size[own][:, None]
    basis[np.abs(basis) * scale < _SMALL * scale[own][:, None]] = 0.0
    errors = np.sqrt(np.einsum("ij,jk,ik->i", basis, cov, basis))
    return tuple(
        (combination(row, int(k), labels), float(row @ estimate), float(error))
        for row, k, error in zip(basis, own, errors, strict=True)
        if np.count_nonzero(row) > 1
    )
