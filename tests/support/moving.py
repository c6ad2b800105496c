"""Motions of frames and points, as functions of a state, and their derivatives as the package has them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

import pin_clusters as pc

FRAMES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)
PLACES = 4  # of each robot


def places(model: pc.ClusterModel, rng: np.random.Generator) -> list[int]:
    """Frames: the last one, and others."""
    some = rng.choice(model.nframes, size=min(PLACES, model.nframes), replace=False)
    return sorted({model.nframes - 1, *some.tolist()})


def motions(model: pc.ClusterModel, frames: list[int]) -> Callable[..., np.ndarray]:
    """What tells of each frame its motion in its own axes and the world's, and that of its origin as of a point."""
    data, tree = model.createData(), model.tree

    def at(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        pc.forwardKinematics(model, data, q, v, a)
        found = []
        for frame in frames:
            of_frame = tree, data.tree, frame
            for rf in FRAMES[:2]:
                found += [pin.getFrameVelocity(*of_frame, rf).vector, pin.getFrameAcceleration(*of_frame, rf).vector]
            for rf in (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED):
                found.append(pin.getFrameVelocity(*of_frame, rf).linear)
                found.append(pin.getFrameClassicalAcceleration(*of_frame, rf).linear)
        return np.concatenate(found)

    return at


def derived(model: pc.ClusterModel, data: pc.ClusterData, frames: list[int]) -> list[np.ndarray]:
    """Derivatives of that by q, v and a, as the package has them."""
    by: list[list[np.ndarray]] = [[], [], []]
    for frame in frames:
        place = model.frames[frame]
        pairs = [
            (f(model, data, frame, rf), g(model, data, frame, rf))
            for f, g in ((pc.getFrameVelocityDerivatives, pc.getFrameAccelerationDerivatives),)
            for rf in FRAMES[:2]
        ]
        for rf in (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED):
            where = model, data, place.parentJoint, place.placement, rf
            pairs.append((pc.getPointVelocityDerivatives(*where), pc.getPointClassicAccelerationDerivatives(*where)))
        for (v_q, v_v), (again, a_q, a_v, a_a) in pairs:
            # robot-specific code of the two functions may fuse other multiplications and additions
            assert np.allclose(again, v_q, rtol=0.0, atol=0.0 if data.engine == "tables" else 1e-13 * abs(v_q).max())
            for rows, pair in zip(by, ((v_q, a_q), (v_v, a_v), (np.zeros_like(v_q), a_a)), strict=True):
                rows.extend(pair)
    return [np.vstack(rows) for rows in by]


def rate_of_coupling(model: pc.ClusterModel, data: pc.ClusterData, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """dG/dt, as what is asked for the rates of Jacobians leaves it in the data."""
    pc.computeJointJacobiansTimeVariation(model, data, q, v)
    return np.array(data._G[model.tree.nv :])
