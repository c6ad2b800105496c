"""Models with more frames, so that tests of operational space have them on every body, somewhere and turned."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from samples import trees

import pin_clusters as pc
from pin_clusters.model import alike


def with_frames(model: pc.ClusterModel, rng: np.random.Generator, each: int = 2) -> pc.ClusterModel:
    """The same model with frames ``<joint> 0``, ``<joint> 1`` ... on every body, the universe's too."""
    tree = model.own_tree.copy()
    for j, name in enumerate(tree.names):
        for k in range(each):
            tree.addFrame(pin.Frame(f"{name} {k}", j, 0, trees.placement(rng), pin.FrameType.OP_FRAME), False)
    # a model with loops is given its pose again
    return alike(model, tree)


def some(model: pc.ClusterModel, rng: np.random.Generator, most: int = 6) -> list[str]:
    """Names of such frames at random; two on one body, and one on a rotor's, where there are that many."""
    names = [f"{name} {k}" for name in model.own_tree.names for k in (0, 1)]
    found = [str(x) for x in rng.choice(names, size=min(most, len(names)), replace=False)]
    rotors = [r.joint_id for r in model.rotors if r.joint_id is not None]
    wanted = [f"{model.names[-1]} 0", f"{model.names[-1]} 1"]
    wanted += [f"{model.names[int(rng.choice(rotors))]} 0"] if rotors else []
    return list(dict.fromkeys([*wanted, *found]))


def joint_force(model: pc.ClusterModel, frame: str, force: np.ndarray) -> np.ndarray:
    """External forces of a force in a frame's own axes."""
    f = model.own_tree.frames[model.getFrameId(frame)]
    fext = np.zeros((model.njoints, 6))
    fext[f.parentJoint] = f.placement.act(pin.Force(force)).vector
    return fext


def gap(x: np.ndarray, y: np.ndarray, condition: float = 1.0) -> float:
    """Largest difference over max(1, largest entry) and over what the mass matrix amplifies rounding by.

    Bodies that loops hold fast have a Jacobian of rounding, where forces propagate to zero: hence the 1.
    """
    assert x.shape == y.shape, (x.shape, y.shape)
    worst = float(np.abs(x - y).max(initial=0.0))
    assert np.isfinite(worst)
    return worst / (max(float(np.abs(y).max(initial=0.0)), 1.0) * condition)
