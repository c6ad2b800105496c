"""``pin-clusters bench``: time per call against Pinocchio on the approximate robot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

from ..algorithms.aba import aba
from ..algorithms.crba import crba
from ..algorithms.rnea import rnea
from ..baselines import armature_model
from ..baselines.armature import independent_q
from ..configuration import randomConfiguration
from ..model import ClusterModel
from .timing import Call, Timing, interleaved

if TYPE_CHECKING:
    from rich.console import Console

    from .timing import Progress

ALGORITHMS = ("rnea", "aba", "crba")
_CLUSTER: dict[str, Callable[..., Any]] = {"rnea": rnea, "aba": aba, "crba": crba}
_PINOCCHIO: dict[str, Callable[..., Any]] = {"rnea": pin.rnea, "aba": pin.aba, "crba": pin.crba}


@dataclass(frozen=True, eq=False)
class State:
    """One state of a robot and of its approximation.

    Attributes:
        model: The robot.
        approximate: The same robot for Pinocchio: independent joints with armature, rotors locked into their carriers.
        q: Shape (model.nq,).
        q_approximate: Shape (approximate.nq,).
        v: Shape (nv,), for both.
        x: Acceleration or torque, shape (nv,), for both.
    """

    model: ClusterModel
    approximate: pin.Model
    q: np.ndarray
    q_approximate: np.ndarray
    v: np.ndarray
    x: np.ndarray

    def cluster_calls(self, model: ClusterModel | None = None) -> dict[str, Call]:
        """Return calls of this package's algorithms, by name.

        Args:
            model: A ClusterModel of the approximate tree, instead of the robot itself.
        """
        q = self.q if model is None else self.q_approximate
        model = model or self.model
        return _calls(_CLUSTER, model, model.createData(), q, self.v, self.x)

    def pinocchio_calls(self) -> dict[str, Call]:
        """Return calls of Pinocchio's algorithms on the approximate robot, by name."""
        tree = self.approximate
        return _calls(_PINOCCHIO, tree, tree.createData(), self.q_approximate, self.v, self.x)


def state(model: ClusterModel, seed: int = 0) -> State:
    """Return a random state.

    Raises:
        PinClustersError: The robot has no armature approximation.
    """
    approximate = armature_model(model, "diagonal")
    rng = np.random.default_rng(seed)
    pin.seed(seed)
    q = randomConfiguration(model)
    own = np.ascontiguousarray(q[independent_q(model, approximate)])
    return State(model, approximate, q, own, rng.standard_normal(model.nv), rng.standard_normal(model.nv))


def _calls(
    functions: dict[str, Callable[..., Any]], model: Any, data: Any, q: np.ndarray, v: np.ndarray, x: np.ndarray
) -> dict[str, Call]:
    return {name: (f, (model, data, q) if name == "crba" else (model, data, q, v, x)) for name, f in functions.items()}


def measure(
    model: ClusterModel, *, repeats: int = 25, progress: Progress | None = None
) -> dict[str, tuple[Timing, Timing]]:
    """Time each algorithm on one state, exact and approximate, interleaved.

    Returns:
        Per algorithm: (this package on the exact robot, Pinocchio on the approximate one).
    """
    one = state(model)
    ours, theirs = one.cluster_calls(), one.pinocchio_calls()
    calls = {f"pc {n}": ours[n] for n in ALGORITHMS} | {f"pin {n}": theirs[n] for n in ALGORITHMS}
    found = interleaved(calls, repeats=repeats, progress=progress)
    return {n: (found[f"pc {n}"], found[f"pin {n}"]) for n in ALGORITHMS}


def show(model: ClusterModel, found: dict[str, tuple[Timing, Timing]], out: Console) -> None:
    """Print the table of times and ratios."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(
        title=f"{escape(model.name)}: us per call, median (smallest)", box=box.SIMPLE_HEAD, title_justify="left",
        title_style="bold",
    )  # fmt: skip
    for column in ("", "pin_clusters, exact", "Pinocchio, approximate", "ratio"):
        table.add_column(column, justify="right" if column else "left")
    for name, (ours, theirs) in found.items():
        table.add_row(name, _us(ours), _us(theirs), f"{ours.ratio(theirs):.2f}")
    out.print(table)
    out.print(
        f"One state through the Python API; nv = {model.nv}, {model.tree.nv} in the spanning tree. The approximate "
        "robot has armature and no rotor bodies. Below 1, exact is faster.",
        soft_wrap=True,
    )


def _us(timing: Timing) -> str:
    return f"{1e6 * timing.median:.2f} ({1e6 * timing.minimum:.2f})"
