"""Find the joints that a motion exercises; the audit cannot judge the other joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ...model import ClusterModel
from ..pages.results import Result
from ..study._samples import spread
from ..study.trajectories import floating_base
from ..study.trajectories._base import slides

LEAST = {"rad": 0.1, "m": 0.01}  # Smallest range of motion (peak to peak) that counts as exercised


@dataclass(frozen=True)
class Exercised(Result):
    """Range of motion of each joint, including joints in closed loops. Rotors and a floating base are omitted.

    Attributes:
        travel: Range of motion by joint name, [rad] or [m]. For joints with several axes, it is the largest range.
        still: Names of joints that the motion does not exercise.
        sentence: Summary in one sentence.
    """

    travel: dict[str, float]
    still: tuple[str, ...]
    sentence: str


def exercised(model: ClusterModel, q: np.ndarray) -> Exercised:
    tree = model.tree
    rotors = {r.name for r in model.rotors} - set(model.independent_joints) | {floating_base(model)}
    moved = np.array([pin.difference(tree, q[0], q[i]) for i in spread(len(q), 1000)])
    joints = [(n, j) for n, j in zip(tree.names[1:], tree.joints[1:], strict=True) if j.nv and n not in rotors]
    travel = {n: float(np.ptp(moved[:, j.idx_v : j.idx_v + j.nv], axis=0).max()) for n, j in joints}
    still = tuple(n for n, x in travel.items() if x <= LEAST["m" if slides(model, n) else "rad"])
    count = f"{len(travel) - len(still)} of" if still else "all"
    least = " or ".join(f"{x:g} {unit}" for unit, x in LEAST.items())
    text = f"The motion exercises {count} {len(travel)} joints: they move by more than {least} from end to end."
    text += f" These joints are not exercised and not judged: {', '.join(still)}." if still else ""
    return Exercised(travel, still, text)
