"""The accuracy experiments of arXiv 2311.13732, by name.

- ``torque-sinusoids``: torques along sines of 0.25, 0.5, 0.75 and 1.5 Hz (its figure 14; robot: ``mit_humanoid_leg``).
- ``random-chains``: many random chains, 25 states each.
- ``torque-magnitude``: the error of forward dynamics against the magnitude of the torque.
- ``end-effector-tracking``: the torques of a motion in open loop, and where the end effector goes.

The paper's text has the first; the other three are in its published code only. How many robots, states and samples, and
for how long, is theirs; how random states are drawn is ours.

``published`` measures the tables and figures of this and three other papers, with ``torque-sinusoids`` among its parts.
"""

from collections.abc import Callable
from typing import Any

from ....errors import UnknownNameError, did_you_mean
from ....files.readers import load
from ....model import ClusterModel
from ..rungs import Progress
from . import chains, magnitude, sinusoids, tracking
from . import published as published
from ._experiment import Experiment
from .chains import RandomChainsExperiment
from .magnitude import TorqueMagnitude
from .sinusoids import FREQUENCIES, ROBOT, TorqueSinusoids
from .tracking import EndEffectorTracking

__all__ = [
    "EXPERIMENTS",
    "FREQUENCIES",
    "ROBOT",
    "EndEffectorTracking",
    "Experiment",
    "RandomChainsExperiment",
    "TorqueMagnitude",
    "TorqueSinusoids",
    "run",
]

_RUN: dict[str, Callable[..., Experiment]] = {
    "torque-sinusoids": sinusoids.run,
    "random-chains": chains.run,
    "torque-magnitude": magnitude.run,
    "end-effector-tracking": tracking.run,
}
EXPERIMENTS = tuple(_RUN)


def run(
    name: str,
    model: ClusterModel | None = None,
    *,
    drop_rotors: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> Experiment:
    """Run an experiment.

    Args:
        name: One of ``EXPERIMENTS``.
        model: The robot; by default ``mit_humanoid_leg`` on a fixed base. ``random-chains`` has its own robots.
        drop_rotors: Leave the rotors out of the approximations, mass and all; otherwise they are locked.
        progress: Called with (done, total) now and then.
        options: Those of the experiment: see the ``run`` of each module of ``study.paper``.

    Returns:
        What was found: ``as_dict()``, ``tables()``, ``summary``, ``write_json(path)``, ``save_plot(path)``.

    Raises:
        UnknownNameError: There is no such experiment.
        PinClustersError: The robot does not suit it.

    Example:
        >>> from pin_clusters.studies.study import paper
        >>> result = paper.run("torque-sinusoids", duration=0.1)
        >>> result.frequencies
        (0.25, 0.5, 0.75, 1.5)
    """
    if name not in EXPERIMENTS:
        hint = did_you_mean(str(name), EXPERIMENTS, limit=len(EXPERIMENTS))
        raise UnknownNameError(f"there is no experiment {name!r}.{hint}")
    if model is None and name != "random-chains":
        model = load(ROBOT, root_joint=None)
    return _RUN[name](model, drop_rotors=drop_rotors, progress=progress, **options)
