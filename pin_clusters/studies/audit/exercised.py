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
_SAMPLES, _NAMED = 1000, 3


@dataclass(frozen=True)
class Exercised(Result):
    """How far each joint moves from end to end, links of loops too, rotors and a floating base not.

    Attributes:
        travel: By the joint's name, [rad] or [m]; of a joint with several axes the largest.
        still: Names of joints that are not exercised.
        least: What a joint has to move by, per unit.
        sentence: The same in one sentence.
    """

    travel: dict[str, float]
    still: tuple[str, ...]
    least: dict[str, float]
    sentence: str


def exercised(model: ClusterModel, q: np.ndarray) -> Exercised:
    """Return which joints move in some configurations, shape (N, nq)."""
    tree, base = model.tree, floating_base(model)
    rotors = {r.name for r in model.rotors} - set(model.independent_joints)
    moved = np.array([pin.difference(tree, q[0], q[i]) for i in spread(len(q), _SAMPLES)])
    travel, still = {}, []
    for joint, name in zip(tree.joints[1:], tree.names[1:], strict=True):
        if joint.nv and name not in rotors and name != base:
            travel[name] = float(np.ptp(moved[:, joint.idx_v : joint.idx_v + joint.nv], axis=0).max())
            if travel[name] <= LEAST["m" if slides(model, name) else "rad"]:
                still.append(name)
    least = " or ".join(f"{x:g} {unit}" for unit, x in LEAST.items())
    text = (
        f"The motion exercises {f'{len(travel) - len(still)} of' if still else 'all'} {len(travel)} joints: they move "
    )
    text += f"by more than {least} from end to end."
    if still:
        text += f" Not exercised, so that nothing is said about them: {', '.join(still)}."
    return Exercised(travel, tuple(still), LEAST, text)


def some(names: tuple[str, ...]) -> str:
    """Return the first of some names, and how many more there are."""
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if names[_NAMED:] else "")
