"""States of shipped robots for what differentiates by the raw entries of q, and what leads from these to a motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

import pin_clusters as pc

BASES: dict[str, dict[str, Any]] = {"default": {}, "floating": {"root_joint": pin.JointModelFreeFlyer()}}
ROBOTS = [(robot, base) for robot in pc.robots() for base in BASES]
OFTEN = [("mini_cheetah", "default"), ("tello", "default"), ("four_bar", "default"), ("cassie_leg", "floating")]


def drawn(robot: str, base: str, rng: np.random.Generator) -> tuple[pc.ClusterModel, dict[str, np.ndarray]]:
    """A robot at a random state."""
    model = pc.load(robot, **BASES[base])
    pin.seed(int(rng.integers(1000)))
    q = pc.randomConfiguration(model)
    return model, {"q": q} | {name: rng.normal(size=model.nv) for name in ("v", "a", "tau")}


def near(robot: str, rng: np.random.Generator, n: int) -> tuple[pc.ClusterModel, np.ndarray, np.ndarray, np.ndarray]:
    """A robot, and rows of states near its reference pose: q, v and torques or accelerations."""
    model = pc.load(robot)
    q = np.array([pc.integrate(model, model.q_reference, 0.1 * rng.normal(size=model.nv)) for _ in range(n)])
    v, x = rng.normal(size=(2, n, model.nv))
    return model, q, v, x


def tangent(model: pc.ClusterModel, q: np.ndarray) -> np.ndarray:
    """The derivative of ``integrate`` at 0: Pinocchio's of the tree, times what ties its joints."""
    G = pc.coupling_jacobian(model, model.createData(), q)
    return np.asarray(pin.tangentMap(model.own_tree, q) @ G)
