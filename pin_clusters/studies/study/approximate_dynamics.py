"""Evaluate the dynamics of the exact robot and of each approximation along a motion."""

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
    if progress is None:
        return None
    return lambda done, total: progress(i * total + done, n * total)


def in_thousandths(progress: Progress | None) -> Callable[[float], None]:
    """Return a function that reports the completed fraction of the work to a progress callback."""
    return lambda part: None if progress is None else progress(round(1000 * part), 1000)


def along(
    model: ClusterModel,
    approximate_models: Mapping[str, Approximation],
    algorithm: Callable[..., np.ndarray],
    *states: np.ndarray,
    progress: Progress | None = None,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Evaluate an algorithm (rnea or aba) for the exact robot and its approximations at N states."""
    calls: dict[str, Callable[..., np.ndarray]] = {"": partial(algorithm, model, model.createData())}
    calls |= {name: getattr(approximation, algorithm.__name__) for name, approximation in approximate_models.items()}
    n, outputs = len(states[0]), {name: np.empty((len(states[0]), model.nv)) for name in calls}
    for k, (name, call) in enumerate(calls.items()):
        part_progress = part_of(progress, k, len(calls))
        for i, state in enumerate(zip(*states, strict=True)):
            outputs[name][i] = call(*state)
            if part_progress is not None and ((i + 1) % _CHUNK == 0 or i + 1 == n):
                part_progress(i + 1, n)
    return outputs.pop(""), outputs


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
    """Compute inverse dynamics exactly and with each approximation.

    Args:
        drop_rotors: Omit the rotors of the approximate robots instead of locking them to their carriers.

    Returns:
        Torques for ``exact`` and for each approximation of ``approximations.names(model)``, (N, nv), [N m] or [N].
    """
    approximate_models = approximations.of(model, drop_rotors)
    # The torques of "block" are the torques of "diagonal" plus one matrix product over all samples.
    block = approximate_models.pop("block", None)
    exact, approximate = along(model, approximate_models, rnea, q, v, a, progress=progress)
    if isinstance(block, approximations.Block):
        approximate["block"] = approximate["diagonal"] + a @ block.off_diagonal
    return {"exact": exact, **approximate}
