"""Which joints a motion exercises: nothing is known of one that stays where it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ...model import ClusterModel
from ..pages.results import Result
from ..study._samples import spread
from ..study.trajectories import floating_base
from ..study.trajectories._base import slides

LEAST = {"rad": 0.1, "m": 0.01}
"""A joint is exercised if it moves by more than this, from end to end."""


@dataclass(frozen=True)
class Exercised(Result):
    """How far each joint moves from end to end, links of loops too, rotors and a floating base not.

    Attributes:
        travel: By the joint's name, [rad] or [m]; of a joint with several axes the largest.
        still: Names of joints that are not exercised.
        sentence: The same in one sentence.
    """

    travel: dict[str, float]
    still: tuple[str, ...]
    sentence: str


def exercised(model: ClusterModel, q: np.ndarray) -> Exercised:
    """Return which joints move in some configurations, shape (N, nq)."""
    tree = model.tree
    rotors = {r.name for r in model.rotors} - set(model.independent_joints) | {floating_base(model)}
    moved = np.array([pin.difference(tree, q[0], q[i]) for i in spread(len(q), 1000)])
    joints = [(n, j) for n, j in zip(tree.names[1:], tree.joints[1:], strict=True) if j.nv and n not in rotors]
    travel = {n: float(np.ptp(moved[:, j.idx_v : j.idx_v + j.nv], axis=0).max()) for n, j in joints}
    still = tuple(n for n, x in travel.items() if x <= LEAST["m" if slides(model, n) else "rad"])
    count = f"{len(travel) - len(still)} of" if still else "all"
    least = " or ".join(f"{x:g} {unit}" for unit, x in LEAST.items())
    text = f"The motion exercises {count} {len(travel)} joints: they move by more than {least} from end to end."
    text += f" Not exercised, so that nothing is said about them: {', '.join(still)}." if still else ""
    return Exercised(travel, still, text)
