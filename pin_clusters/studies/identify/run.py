"""Estimate parameters of a robot from a log."""

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
from . import page as page  # registers the page for Identification.write
from .consistent import consistent
from .equations import Equations, equations
from .log import read_log
from .parameters import applied, scales, sought
from .result import Identification
from .smoothing import ORDER, channels, cutoff_of, noise_of, with_channels
from .solve import Fit, fit, in_a_row

_LEAST, _LAST = 3, 2  # Minimum torque samples per parameter; minimum samples for the prediction
_HIDDEN, _ZERO, _MOVED = 1e-6, 1e-6, 0.1
"""Largest null-space component and largest coefficient that count as zero; smallest correction / error in ``moved``."""


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
        model: The robot with prior values; parameters that are not estimated keep these values.
        log: A .csv or .npz file, a CSV file of a ROS bag, or a mapping of columns by name: ``time`` [s]; joints,
            ``JOINT.v``, ``JOINT.a``, base and forces as in ``Recorded.from_file``; and torques. Torque columns are
            ``MOTOR.tau`` (at the rotor, [N m]) or ``MOTOR.current`` ([A]) for all motors, or ``JOINT.tau`` (motor
            torque at each independent joint). The log must also contain all external forces.
        what: Kinds of parameters (``identification.KINDS``), or ``"NAME: KIND"``, where ``*`` matches any text.
            ``mass`` does not change the centre of mass. ``inertial`` selects all ten parameters. Springs must exist in
            the model. ``efficiency`` without ``back_efficiency`` estimates one value for both directions.
        cutoff: Cutoff frequency, [Hz], of a fourth-order Butterworth filter, which is applied forwards and backwards to
            motion, torques and equations. The default lies above the bandwidth of the motion. If the log contains all
            accelerations, the default is infinite (no filter).
        torque_constant: Torque constant of each motor, [N m/A]; required if the log contains currents.
        span: First and last time of the part of the log that is used, [s].
        degrees: Whether angles in the log are in degrees.
        allow_saturated: Whether to accept columns that stay constant at their extreme values, as saturated sensors do.
        friction_speed: Smoothing speed of dry friction, as in ``pc.passive_torque``, [rad/s] or [m/s].
        test: Fraction of the log, at its end, used for cross-validation. The final estimates use the whole log.
        noises: Number of repetitions with added noise, which estimate the bias caused by noise in the measured motion;
            0 turns this bias correction off.
        seed: Seed of the added noise.

    Returns:
        The estimates, their errors, and the robot with the estimates. The method ``write(folder)`` of the result writes
        an HTML page.

    Raises:
        ArgumentTypeError: An argument has the wrong type, or an option is out of range.
        UnknownNameError: A kind of parameter is unknown.
        ModelError: The robot has no parameter of a requested kind, or its gear losses cannot be estimated, because
            motors are coupled or no load is known.
        TrajectoryError: The log is invalid (names, gaps, rates, values that are not finite, saturation, length), or
            ``cutoff`` is not between 1 / duration and half the sampling rate.

    Warns:
        PinClustersWarning: The noise in the measured motion is too strong for reliable standard errors.

    References:
        Gautier, "Dynamic identification of robots with power model", 1997 (parallel filter); Newey and West,
        Econometrica 55, 1987, Bell and McCaffrey, Survey Methodology 28, 2002, and Sun, J. Econometrics 178, 2014
        (errors); Cook and Stefanski, JASA 89, 1994, and Carroll et al., JASA 91, 1996 (bias from noise of the motion);
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
    unknowns = sought(model, what)
    log_data = read_log(model, log, torque_constant or {}, span, degrees=degrees, allow_saturated=allow_saturated)
    motion, columns, time = log_data.motion, channels(log_data.motion), log_data.motion.time
    rate, cutoff = (len(time) - 1) / float(time[-1]), real(cutoff)
    if cutoff is None:
        cutoff = math.inf if set(motion.accelerations) >= set(motion.positions) else cutoff_of(columns, rate)
    if math.isfinite(cutoff) and not 1.0 / time[-1] < cutoff < 0.5 * rate:
        raise TrajectoryError(
            f"{motion.name}: cutoff = {cutoff:g} Hz must be above {1.0 / time[-1]:.3g} Hz, one period in the log, and "
            f"below {0.5 * rate:.4g} Hz, half the sampling rate. Use math.inf to turn the filter off."
        )
    # The filter distorts both ends of the log. Its output is sampled at about four times the cutoff frequency.
    filtering, used, min_lags = math.isfinite(cutoff), slice(0, len(time)), 0
    if filtering:
        edge, step = round(2.0 * rate / cutoff), max(1, int(rate / (4.0 * cutoff) + 1e-6))
        used, min_lags = slice(edge, len(time) - edge, step), math.ceil(6.0 * rate / step / cutoff)

    def filtered(x: np.ndarray) -> np.ndarray:
        return butterworth(x, rate, cutoff, ORDER) if filtering else x

    def equations_of(columns: np.ndarray) -> Equations:
        smooth = with_channels(motion, filtered(columns))
        log = dataclasses.replace(log_data, motion=smooth)
        return equations(model, log, unknowns, smooth.states(model), friction_speed, lambda x: filtered(x)[used])

    system, samples = equations_of(columns), len(time[used])
    if samples * len(system.names) < _LEAST * len(unknowns):
        raise TrajectoryError(
            f"{motion.name}: the filter of {cutoff:.3g} Hz leaves {samples} samples of {len(system.names)} torques, "
            f"which are too few for {len(unknowns)} parameters. Record a longer log, estimate fewer parameters, or "
            "raise the cutoff."
        )
    if (split := int((1.0 - test) * samples)) * len(system.names) < len(unknowns) or samples - split < _LAST:
        raise ArgumentTypeError(
            f"identify: test={test} leaves {split} of {samples} samples for a fit of {len(unknowns)} parameters and "
            f"{samples - split} for the prediction, which needs {_LAST}. The default is 0.3."
        )
    solution = fit(system, unknowns, min_lags)
    bias, influence = np.zeros(len(unknowns)), solution.influence
    if filtering and noises:
        # Simulation extrapolation: added noise reveals the bias caused by motion noise (Cook and Stefanski 1994).
        rng, strength = np.random.default_rng(seed), noise_of(columns, rate, cutoff)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PinClustersWarning)  # the fit without added noise has already warned
            noise = (strength * rng.standard_normal(columns.shape) for _ in range(noises))
            noisy_fits = [fit(equations_of(columns + x), unknowns, min_lags, solution) for x in noise]
        bias = np.mean([noisy.x for noisy in noisy_fits], axis=0) - solution.x
        # influence of the samples on (x - bias), after Carroll et al. 1996
        influence = 2.0 * influence - np.mean([noisy.influence for noisy in noisy_fits], axis=0)
    window_sums = np.sqrt(solution.variance_factor) * in_a_row(influence, solution.lags)
    covariance = window_sums.T @ window_sums
    correction = consistent(unknowns, solution.x - bias, solution.R)
    # Cross-validation: fit the first part of the log, then predict the last part with the prior and with this fit.
    training = {name: getattr(system, name)[:split] for name in ("residual", "measured", "X")}
    training_system = dataclasses.replace(system, **training, take=lambda y: system.take(y)[:split])
    x_training = fit(training_system, unknowns, min_lags).x
    residuals = np.array([system.evaluate(y)[0][split:] for y in (0.0 * x_training, x_training)])
    measured = system.measured[split:]
    rms = np.sqrt(np.mean(residuals**2, axis=1))
    hidden = np.linalg.norm(solution.hidden, axis=0) > _HIDDEN
    estimate, error = system.priors + correction, np.where(hidden, np.inf, np.sqrt(np.diag(covariance)))
    two_errors = system.priors + solution.x - bias + np.array([[-2.0], [2.0]]) * error
    interval = np.clip(two_errors, *np.array([p.bounds for p in unknowns]).T)

    if biased := [p.label for p, b, s in zip(unknowns, bias, error, strict=True) if abs(b) > s]:
        warnings.warn(
            f"{motion.name}: noise of the motion biases the estimates of {', '.join(biased[:3])}"
            f"{' and more' * (len(biased) > 3)} by more than their errors. The bias is subtracted, but the errors may "
            "be too small. Lower the cutoff, or record velocities.",
            PinClustersWarning,
            stacklevel=2,
        )

    def labels_where(mask: np.ndarray) -> tuple[str, ...]:
        return tuple(p.label for p, selected in zip(unknowns, mask, strict=True) if selected)

    labels = tuple(p.label for p in unknowns)
    return Identification(
        robot=model.name,
        log=motion.name,
        cutoff=cutoff,
        parameters=labels,
        units=tuple(p.unit for p in unknowns),
        prior=system.priors,
        estimate=estimate,
        error=error,
        interval=interval,
        correlation=covariance / np.maximum(np.outer(error, error), 1e-300),
        bias=bias,
        unidentifiable=labels_where(hidden),
        weak=labels_where(~hidden & (error > np.abs(estimate))),
        moved=labels_where(np.abs(correction - solution.x + bias) > _MOVED * error),
        combinations=_together(solution, labels, estimate, covariance, scales(unknowns)),
        rows=system.names,
        rms=rms,
        r2=1.0 - (rms / np.maximum(np.std(measured, axis=0), 1e-300)) ** 2,
        time=time[used][split:],
        measured=measured,
        predicted=measured - residuals,
        model=applied(model, unknowns, estimate),
    )


def _check(test: Any, cutoff: Any, span: Any, torque_constant: Any) -> None:
    low, high = (real(x) for x in span) if isinstance(span, (list, tuple)) and len(span) == 2 else (None, None)
    constants = torque_constant.items() if isinstance(torque_constant, Mapping) else [(None, None)]
    valid_constants = all(isinstance(motor, str) and math.isfinite(real(k) or math.nan) for motor, k in constants)
    for name, value, valid, expected in (
        ("test", test, 0.0 < (real(test) or 0.0) < 1.0, "a share between 0 and 1"),
        ("cutoff", cutoff, cutoff is None or (real(cutoff) or 0.0) > 0.0, "a frequency above 0 [Hz], or None"),
        ("span", span, span is None or (low is not None and high is not None and low < high), "(first, last) time [s]"),
        (
            "torque_constant",
            torque_constant,
            torque_constant is None or valid_constants,
            "a mapping of motors to numbers other than 0",
        ),
    ):
        if not valid:
            raise ArgumentTypeError(f"identify: {name} must be {expected}, got {shown(value)}.")


def _together(
    solution: Fit, labels: tuple[str, ...], estimate: np.ndarray, covariance: np.ndarray, scale: np.ndarray
) -> tuple[tuple[str, float, float], ...]:
    from scipy.linalg import qr

    H = solution.hidden
    order = qr(H, mode="r", pivoting=True)[1] if len(H) else np.arange(len(labels))
    dependent, independent = np.sort(order[: len(H)]), np.sort(order[len(H) :])
    basis = np.eye(len(labels))[independent]
    basis[:, dependent] = -np.linalg.solve(H[:, dependent], H[:, independent]).T
    basis *= solution.size / solution.size[independent][:, None]
    basis[np.abs(basis) * scale < _ZERO * scale[independent][:, None]] = 0.0
    errors = np.sqrt(np.einsum("ij,jk,ik->i", basis, covariance, basis))
    return tuple(
        (combination(row, int(k), labels), float(row @ estimate), float(error))
        for row, k, error in zip(basis, independent, errors, strict=True)
        if np.count_nonzero(row) > 1
    )
