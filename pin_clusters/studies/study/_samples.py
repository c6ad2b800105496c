"""Check samples and select approximations for the study functions. Every array has one row per sample."""

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
        ArgumentTypeError: ``model`` is not a ClusterModel, or an array contains values that are not real numbers.
        UnknownNameError: The robot has no approximation with the given name.
        ShapeError: An array has the wrong size.
        ModelError: The robot has no closed loops, and a dependent joint is not a rotor.
    """,
)


def chosen(model: ClusterModel, levels: Iterable[str] | None, drop_rotors: bool = False) -> Mapping[str, Approximation]:
    """Return the approximations that ``levels`` lists, in this order; if ``levels`` is None, return all of them."""
    if isinstance(levels, Mapping):  # ``levels`` already maps names to approximations
        return levels
    available = approximations.names(model)
    if levels is None:
        levels = available
    names = [levels] if isinstance(levels, str) else list(levels)
    for name in names:
        if name not in available:
            raise UnknownNameError(
                f"model {model.name!r} has no approximation {name!r}. Use one of {', '.join(map(repr, available))}."
            )
    approximation_by_name = approximations.of(model, drop_rotors)
    return {name: approximation_by_name[name] for name in names}


def usual(levels: Iterable[str]) -> str:
    return next(level for level in ("diagonal", "armature", "frozen") if level in levels)


def rows(model: ClusterModel, q: Any, *rates: Any, names: str = "qvax") -> tuple[np.ndarray, ...]:
    """Convert states to contiguous float64 arrays with one row per sample; a vector is a single sample.

    ``names`` contains one letter per argument, for error messages; ``t`` means tau. A wrong size raises ``ShapeError``.
    A value that is not real raises ``ArgumentTypeError``, and an infinite value raises ``ConfigurationError``.
    """
    arrays: list[np.ndarray] = []
    samples = -1
    widths = (model.nq, *[model.nv] * len(rates))
    for letter, x, width in zip(names, (q, *rates), widths, strict=False):
        name = "tau" if letter == "t" else letter
        array = numbers(name, x)
        if array.ndim == 1:
            array = array[None]
        if array.ndim != 2 or array.shape[1] != width or (samples >= 0 and len(array) != samples):
            count = "N" if samples < 0 else str(samples)
            size = "nq" if name == "q" else "nv"
            raise ShapeError(
                f"{name} has shape {np.shape(x)}, but model {model.name!r} needs ({count}, {size}) = "
                f"({count}, {width}), one row per sample."
            )
        samples = len(array)
        if not np.all(np.isfinite(array)):
            row = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
            raise ConfigurationError(f"{name} is not finite in row {row}: {array[row]}. Correct this sample.")
        arrays.append(np.ascontiguousarray(array, dtype=float))
    if not samples:
        raise ShapeError("q has no rows: at least one sample is needed.")
    return tuple(arrays)


def label(level: str) -> str:
    return LABELS.get(level, level)


def labels(levels: Iterable[str]) -> dict[str, str]:
    return {level: label(level) for level in levels}


def locked(drop_rotors: bool, dropped: str = "dropped") -> str:
    return dropped if drop_rotors else "locked into their carriers"


def column_names(model: ClusterModel) -> tuple[str, ...]:
    columns = []
    for name in model.independent_joints:
        nv = joint_of(model, name).nv
        columns += [name] if nv == 1 else [f"{name}[{i}]" for i in range(nv)]
    return tuple(columns)


def spread(n: int, most: int) -> np.ndarray:
    return np.unique(np.linspace(0, n - 1, most).astype(int))


def rms(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(np.mean(np.square(x), axis=0)))


def length_rms(x: np.ndarray) -> float:
    """Compute the RMS of the Euclidean norms of the rows of x, shape (N, n)."""
    return float(np.sqrt(np.mean(np.sum(np.square(x), axis=1))))


def by_parts(x: np.ndarray) -> dict[str, float]:
    return {"linear": length_rms(x[:, :3]), "angular": length_rms(x[:, 3:])}


def quotient(x: Any, y: Any) -> np.ndarray:
    """Divide x by y; the result is 0 if both are 0, and infinite if only y is 0."""
    x, y = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((x == 0.0) & (y == 0.0), 0.0, x / y)
