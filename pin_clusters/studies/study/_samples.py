"""States and approximations as studies take them: checked, one row per sample."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ... import approximations
from ..._support.arrays import numbers
from ..._support.docstrings import STUDY, stock
from ...approximations import LABELS, Approximation
from ...errors import ConfigurationError, ShapeError, UnknownNameError
from ...model import ClusterModel
from .trajectories._base import joint_of

documented = stock(
    STUDY,
    """
    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel, or an array does not hold real numbers.
        UnknownNameError: The robot has no such approximation.
        ShapeError: A size is wrong.
        ModelError: Without closed loops, a dependent joint is not a rotor.
    """,
)


def chosen(model: ClusterModel, rungs: Iterable[str] | None, drop_rotors: bool = False) -> Mapping[str, Approximation]:
    """Return the approximations of these names, in this order; all by default. See ``documented`` for errors."""
    if isinstance(rungs, Mapping):  # others
        return rungs
    known = approximations.names(model)
    if rungs is None:
        rungs = known
    names = [rungs] if isinstance(rungs, str) else list(rungs)
    for name in names:
        if name not in known:
            raise UnknownNameError(
                f"model {model.name!r} has no approximation {name!r}. It has: {', '.join(map(repr, known))}."
            )
    ladder = approximations.of(model, drop_rotors)
    return {name: ladder[name] for name in names}


def usual(rungs: Iterable[str]) -> str:
    """Return which of a robot's approximations simulators use."""
    return next(rung for rung in ("diagonal", "armature", "frozen") if rung in rungs)


def rows(model: ClusterModel, q: Any, *rates: Any, names: str = "qvax") -> tuple[np.ndarray, ...]:
    """Return states as contiguous float64 arrays with one row per sample; one sample may come as a vector.

    ``names`` is how messages call the arguments, one letter each; ``t`` is tau. A ``ShapeError`` is a wrong size, an
    ``ArgumentTypeError`` what is no real number, a ``ConfigurationError`` what is not finite.
    """
    found: list[np.ndarray] = []
    samples = -1
    widths = (model.nq, *[model.nv] * len(rates))
    for letter, x, width in zip(names, (q, *rates), widths, strict=False):
        name = "tau" if letter == "t" else letter
        given = numbers(name, x)
        if given.ndim == 1:
            given = given[None]
        if given.ndim != 2 or given.shape[1] != width or (samples >= 0 and len(given) != samples):
            count = "N" if samples < 0 else str(samples)
            size = "nq" if name == "q" else "nv"
            raise ShapeError(
                f"{name} has shape {np.shape(x)}, but model {model.name!r} needs ({count}, {size}) = "
                f"({count}, {width}), one row per sample."
            )
        samples = len(given)
        if not np.all(np.isfinite(given)):
            row = int(np.flatnonzero(~np.isfinite(given).all(axis=1))[0])
            raise ConfigurationError(f"{name} is not finite in row {row}: {given[row]}. Repair the sample.")
        found.append(np.ascontiguousarray(given, dtype=float))
    if not samples:
        raise ShapeError("q has no rows: at least one sample is needed.")
    return tuple(found)


def label(rung: str) -> str:
    """Return what tables and plots call an approximation, or the exact robot."""
    return LABELS.get(rung, rung)


def labels(rungs: Iterable[str]) -> dict[str, str]:
    """Return the same for several, by name."""
    return {rung: label(rung) for rung in rungs}


def locked(drop_rotors: bool, dropped: str = "dropped") -> str:
    """Say what became of the rotors of the approximations."""
    return dropped if drop_rotors else "locked into their carriers"


def column_names(model: ClusterModel) -> tuple[str, ...]:
    """Return a name for each entry of v: the joint, with the number of the axis if it has several."""
    found = []
    for name in model.independent_joints:
        nv = joint_of(model, name).nv
        found += [name] if nv == 1 else [f"{name}[{i}]" for i in range(nv)]
    return tuple(found)


def spread(n: int, most: int) -> np.ndarray:
    """Return at most so many indices of n samples, evenly spread."""
    return np.unique(np.linspace(0, n - 1, most).astype(int))


def rms(x: np.ndarray) -> np.ndarray:
    """Return the root of the mean square over the samples, the first axis."""
    return np.asarray(np.sqrt(np.mean(np.square(x), axis=0)))


def length_rms(x: np.ndarray) -> float:
    """Return the RMS over the samples of the length of a vector, shape (N, n)."""
    return float(np.sqrt(np.mean(np.sum(np.square(x), axis=1))))


def by_parts(x: np.ndarray) -> dict[str, float]:
    """Return the same of both parts of a motion or force, shape (N, 6)."""
    return {"linear": length_rms(x[:, :3]), "angular": length_rms(x[:, 3:])}


def quotient(x: Any, y: Any) -> np.ndarray:
    """Return x / y; 0 where both are 0, infinite where only y is."""
    x, y = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((x == 0.0) & (y == 0.0), 0.0, x / y)
