"""From a log to parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...algorithms.parameters.identifiable import combination
from ...errors import ArgumentTypeError
from ...model import FRICTION_SPEED, ClusterModel, check_model
from ..study.trajectories import TrajectoryError
from ..study.trajectories._curves import butterworth
from . import motion as motions
from .consistent import consistent
from .equations import Equations, equations
from .log import read_log
from .parameters import Parameter, applied, sought
from .result import Combination, Identification
from .solve import Fit, fit, system

USUAL = ("rotor_inertia", "viscous", "coulomb")
_LEAST = 3
_ALONE, _SMALL, _MOVED = 1e-6, 1e-9, 0.1


def identify(
    model: ClusterModel,
    log: str | Path | Mapping[str, Any],
    what: str | Sequence[str] = USUAL,
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
    """..."""
    check_model(model, "identify")
    found = sought(model, what)
    read = read_log(model, log, torque_constant or {}, span, degrees, allow_saturated)
    columns, time = motions.channels(read.motion), read.motion.time
    rate = (len(time) - 1) / float(time[-1])
    if cutoff is None:
        cutoff = np.inf if set(read.motion.accelerations) >= set(read.motion.positions) else motions.cutoff_of(columns, rate)
    kept, lags = slice(0, len(time)), 0
    if np.isfinite(cutoff):
        edge, step = int(2.0 * rate / cutoff), max(1, int(rate / (4.0 * cutoff)))
        kept, lags = slice(edge, len(time) - edge, step), int(np.ceil(4.0 * rate / step / cutoff))

    def filtered(x: np.ndarray) -> np.ndarray:
        if np.isfinite(cutoff):
            x = butterworth(x, rate, cutoff, motions.ORDER)
        return x[kept]

    def along(columns: np.ndarray, *, quiet: bool = True) -> Equations:
        moved = motions.smooth(read.motion, columns, rate, cutoff)
        states = motions.states_of(model, moved, quiet=quiet)
        return equations(model, dataclasses.replace(read, motion=moved), found, states, friction_speed)

    e, n = along(columns, quiet=False), len(time[kept])
    if n * len(e.names) < _LEAST * len(found):
        raise TrajectoryError(
            f"{read.motion.name}: {n} samples are left behind the filter of {cutoff:.3g} Hz, of {len(e.names)} torques "
            f"each: too short for {len(found)} parameters. Log longer, seek fewer, or raise the cutoff."
        )
    best = fit(e, found, filtered, lags=lags)
    bias, cov = np.zeros(len(found)), best.covariance
    if np.isfinite(cutoff) and noises:
        rng, strength = np.random.default_rng(seed), motions.noise_of(columns, rate, cutoff)
        more = [
            fit(along(columns + strength * rng.standard_normal(columns.shape)), found, filtered, best.weights, lags).x
            for _ in range(noises)
        ]
        bias = np.mean(more, axis=0) - best.x
        cov = cov + np.cov(more, rowvar=False).reshape(cov.shape) / noises
    first, at = int((1.0 - test) * n), system(e, found, filtered)
    x = consistent(found, best.x - bias, best.R, best.size)
    early = fit(e, found, lambda y: filtered(y)[:first], lags=lags).x
    last = [at(y)[0][first:] for y in (np.zeros(len(found)), early)]
    measured = filtered(e.measured)[first:]
    rms, spread = np.sqrt(np.mean(np.square(last), axis=1)), np.maximum(np.std(measured, axis=0), 1e-300)
    estimate, labels = np.array([p.prior for p in found]) + x, tuple(p.label for p in found)
    hidden = np.linalg.norm(best.hidden, axis=0) > _ALONE
    error = np.sqrt(np.diag(cov))
    return Identification(
        model.name, read.motion.name, labels, tuple(p.unit for p in found), estimate - x, estimate,
        np.where(hidden, np.inf, error), cov / np.outer(error, error).clip(1e-300), bias,
        _named(labels, np.abs(x - best.x + bias) > _MOVED * error), _named(labels, hidden),
        _named(labels, ~hidden & (error > np.abs(estimate))), _combinations(best, labels, estimate, cov), e.names, rms,
        1.0 - rms**2 / spread**2, time[kept][first:], measured, measured - np.array(last), cutoff,
        applied(model, found, estimate),
    )  # fmt: skip


def _named(labels: tuple[str, ...], which: np.ndarray) -> tuple[str, ...]:
    return tuple(label for label, there in zip(labels, which, strict=True) if there)


def _combinations(
    best: Fit, labels: tuple[str, ...], estimate: np.ndarray, cov: np.ndarray
) -> tuple[Combination, ...]:
    """Return base parameters that are made of several: what moves along hidden directions does not change them."""
    from scipy.linalg import qr

    H = best.hidden
    if not len(H):
        return ()
    order = qr(H, mode="r", pivoting=True)[1]
    others, own = np.sort(order[: len(H)]), np.sort(order[len(H) :])
    basis = np.zeros((len(own), len(labels)))
    basis[:, own] = np.eye(len(own))
    basis[:, others] = -np.linalg.solve(H[:, others], H[:, own]).T
    basis[np.abs(basis) < _SMALL] = 0.0
    basis *= best.size / best.size[own][:, None]
    errors = np.sqrt(np.einsum("ij,jk,ik->i", basis, cov, basis))
    return tuple(
        Combination(combination(row, int(k), labels), float(row @ estimate), float(error))
        for row, k, error in zip(basis, own, errors, strict=True) if np.count_nonzero(row) > 1
    )  # fmt: skip
