"""Dynamics along a motion: exactly, and on each rung of the ladder (``pin_clusters.approximations``)."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from ... import approximations
from ..._support.docstrings import STUDY, stock
from ...algorithms.dynamics.rnea import rnea
from ...approximations import Approximation
from ...model import ClusterModel
from ...verification.timing import Progress as Progress

_CHUNK = 500


def part_of(progress: Progress | None, i: int, n: int) -> Progress | None:
    """Return what is called in the i-th of n equal parts of the work."""
    if progress is None:
        return None
    return lambda done, total: progress(i * total + done, n * total)


def in_thousandths(progress: Progress | None) -> Callable[[float], None]:
    """Return what turns the part of the work that is done into the two numbers of a progress."""
    return lambda part: None if progress is None else progress(round(1000 * part), 1000)


def along(
    model: ClusterModel,
    ladder: Mapping[str, Approximation],
    algorithm: Callable[..., np.ndarray],
    *states: np.ndarray,
    progress: Progress | None = None,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return what an algorithm (rnea or aba) and that of each approximation compute at N states, shape (N, nv)."""
    calls: dict[str, Callable[..., np.ndarray]] = {"": partial(algorithm, model, model.createData())}
    calls |= {name: getattr(rung, algorithm.__name__) for name, rung in ladder.items()}
    n, found = len(states[0]), {name: np.empty((len(states[0]), model.nv)) for name in calls}
    for k, (name, call) in enumerate(calls.items()):
        tell = part_of(progress, k, len(calls))
        for i, state in enumerate(zip(*states, strict=True)):
            found[name][i] = call(*state)
            if tell is not None and ((i + 1) % _CHUNK == 0 or i + 1 == n):
                tell(i + 1, n)
    return found.pop(""), found


@stock(STUDY)
def torques(
    model: ClusterModel,
    q: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    *,
    drop_rotors: bool = False,
    progress: Progress | None = None,
) -> dict[str, np.ndarray]:
    """Compute inverse dynamics exactly and on each rung.

    Args:
        drop_rotors: Leave the rotors out of the approximate robots instead of locking them into their carriers.

    Returns:
        ``exact`` and each rung of ``approximations.names(model)``: torques, shape (N, nv), [N m] or [N].

    Raises:
        PinClustersError: The robot has no such approximation (a dependent joint that is not a rotor).
    """
    ladder = approximations.of(model, drop_rotors)
    # block is diagonal and a product with a matrix: all samples at once
    block = ladder.pop("block", None)
    exact, found = along(model, ladder, rnea, q, v, a, progress=progress)
    if isinstance(block, approximations.Block):
        found["block"] = found["diagonal"] + a @ block.off_diagonal
    return {"exact": exact, **found}
