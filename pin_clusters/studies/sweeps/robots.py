"""Compute the errors of the approximations for many random robots, with any executor; save them in a folder.

``study.random_chains`` defines the robots and the errors. The same seed and case number always produce the same robot.
"""

from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

from ..._support.docstrings import stock
from ...compiler.choice import engine
from ...verification.timing import Progress
from ..study import random_chains
from ..study.random_chains import RandomChains
from .engine import RUNNING
from .engine import run as sweep
from .result import SweepResult


@stock(RUNNING)
@engine("tables")  # each case has another robot, so robot-specific code would not pay off
def run(
    robots: int = random_chains.ROBOTS,
    states: int = random_chains.STATES,
    *,
    seed: int = 0,
    folder: str | Path | None = None,
    executor: Executor | None = None,
    resume: bool = False,
    chunk: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> SweepResult:
    """Compute the errors of the approximations for random robots.

    Args:
        robots: Number of robots.
        states: Number of random states of each robot.

    Returns:
        The results of ``study.random_chains.case``, one row per robot; ``summary`` converts them to ``RandomChains``.
    """
    return sweep(
        partial(random_chains.case, states=int(states)),
        range(robots),
        seed=seed,
        folder=folder,
        executor=executor,
        resume=resume,
        chunk=chunk,
        workers=workers,
        progress=progress,
    )


def summary(result: SweepResult, states: int) -> RandomChains:
    """Convert the results of the successful cases to a result of ``study.random_chains.experiment``."""
    return RandomChains(len(result.index), states, result.seed, dict(result))


def as_dict(result: SweepResult, states: int) -> dict[str, Any]:
    effort = result.effort
    return (summary(result, states).as_dict() if len(result.index) else {}) | {
        "robots_asked_for": result.cases,
        "digest": result.digest,
        "failures": [{"case": f.case, "type": f.type, "message": f.message} for f in result.failures],
        "effort": {
            "seconds": effort.seconds,
            "robots_computed": effort.computed,
            "robots_read": effort.read,
            "workers": effort.workers,
            "largest_worker_mb": effort.peak / 2**20,
            "own_mb": effort.own / 2**20,
        },
    }
