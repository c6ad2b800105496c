"""Inverse dynamics along a motion: exactly, and on each rung of the ladder (``pin_clusters.approximations``)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ... import approximations
from ..._support.docstrings import STUDY, stock
from ...algorithms.dynamics.rnea import rnea
from ...approximations import RUNGS
from ...model import ClusterModel

__all__ = ["RUNGS", "Progress", "torques"]

_CHUNK = 500

Progress = Callable[[int, int], None]


def part_of(progress: Progress | None, i: int, n: int) -> Progress | None:
    """Return what is called in the i-th of n equal parts of the work."""
    if progress is None:
        return None
    return lambda done, total: progress(i * total + done, n * total)


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
    data = model.createData()
    ladder = approximations.of(model, drop_rotors)
    calls: dict[str, Callable[..., np.ndarray]] = {"exact": lambda *state: rnea(model, data, *state)}
    # block is diagonal and a product with a matrix: all samples at once
    calls |= {name: rung.rnea for name, rung in ladder.items() if name != "block"}
    found = {}
    for k, (name, call) in enumerate(calls.items()):
        tell = part_of(progress, k, len(calls))
        found[name] = tau = np.empty_like(v)
        for i in range(len(q)):
            tau[i] = call(q[i], v[i], a[i])
            if tell is not None and ((i + 1) % _CHUNK == 0 or i + 1 == len(q)):
                tell(i + 1, len(q))
    block = ladder.get("block")
    if isinstance(block, approximations.Block):
        found["block"] = found["diagonal"] + a @ block.off_diagonal
    return found
