"""Run the accuracy experiments of arXiv 2311.13732 by name.

- ``torque-sinusoids``: torques along sines of 0.25, 0.5, 0.75 and 1.5 Hz (figure 14; robot: ``mit_humanoid_leg``).
- ``random-chains``: errors for many random chains, with 25 states for each chain.
- ``torque-magnitude``: the error of forward dynamics as a function of the torque magnitude.
- ``end-effector-tracking``: drift of the end effector in open-loop simulations with exact inverse-dynamics torques.

The paper describes only the first experiment; its published code contains the other three. The durations and the
numbers of robots, states and samples are the authors' values; the distributions of the random states differ.

``published`` reproduces the tables and figures of three other papers and of this one, including ``torque-sinusoids``.
"""

from collections.abc import Callable
from typing import Any

from ....errors import UnknownNameError, did_you_mean
from ....files.readers import load
from ....model import ClusterModel
from ..approximate_dynamics import Progress
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
        model: The robot; by default ``mit_humanoid_leg`` on a fixed base. ``random-chains`` generates its robots.
        drop_rotors: Omit the rotors, including their mass, in the approximations; otherwise, the rotors are locked.
        progress: Callback that is called with (done, total) at intervals.
        options: Options of the experiment; see the function ``run`` of its module in ``study.paper``.

    Returns:
        The result, which has ``as_dict()``, ``tables()``, ``summary``, ``write_json(path)`` and ``save_plot(path)``.

    Raises:
        UnknownNameError: No experiment has this name.
        PinClustersError: The experiment cannot use the robot.

    Example:
        >>> from pin_clusters.studies.study import paper
        >>> result = paper.run("torque-sinusoids", duration=0.1)
        >>> result.frequencies
        (0.25, 0.5, 0.75, 1.5)
    """
    if name not in EXPERIMENTS:
        hint = did_you_mean(str(name), EXPERIMENTS, limit=len(EXPERIMENTS))
        raise UnknownNameError(f"no experiment is named {name!r}.{hint}")
    if model is None and name != "random-chains":
        model = load(ROBOT, root_joint=None)
    return _RUN[name](model, drop_rotors=drop_rotors, progress=progress, **options)
