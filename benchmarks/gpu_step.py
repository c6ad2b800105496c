"""The contact step of ``pc.Worlds`` in a bundle of ``gpu.py``: program, states near the ground, expected outputs."""

from __future__ import annotations

import many_worlds
import numpy as np

import pin_clusters as pc
from pin_clusters.compiler.tracing import Program
from pin_clusters.compiler.tracing.expressions import Graph
from pin_clusters.compiler.tracing.program import objects

ROBOTS = ("mini_cheetah", "tello")
OUTPUTS = ("q_next", "v_next", "impulses")
ACCURATE = 0.1
"""Largest difference to ``pc.batch.simulate`` [rad/s]; ten sweeps are accurate to 0.02 rad/s in most states."""


def program(robot: str, sweeps: int = 10) -> Program:
    """Return the program of a step without torque limits, and with the outputs that other steps need."""
    model, options = many_worlds.setup(robot)
    kp, kd = many_worlds.GAINS[robot]
    contact = {name: options[name] for name in ("dt", "ground", "touching")}
    step = pc.trace(model, "step", drive=pc.Drive(kp, kd), passive=False, sweeps=sweeps, **contact)
    given = Graph().inputs(0, sum(size for _, size in step.inputs))
    entries = step.by_output(step.run(step.constants.tolist(), given))
    return Program.of(step.name, step.inputs, {name: objects(own) for name, _, own in entries if name in OUTPUTS})


def data(robot: str, rows: int) -> dict[str, np.ndarray]:
    """Return states of robots that land, and the outputs of the program in float64.

    The feet hit the ground at 0.5 to 1 m/s or are 1 cm above it. All contacts are thus clearly closed or open, so that
    float32 and float64 agree on them.

    Raises:
        ArithmeticError: The velocities differ from those of ``pc.batch.simulate``.
    """
    model, options = many_worlds.setup(robot)
    rng, q = np.random.default_rng(0), np.tile(options["q"], (rows, 1))
    change = np.c_[np.zeros((rows, 6)), 0.05 * rng.normal(size=(rows, model.nv - 6))]
    q = pc.batch.integrate(model, q, change)
    feet, ground = options["touching"], options["ground"]
    q = np.array([pc.on_ground(model, x, ground, feet, above=0.01 * (i % 4 == 0)) for i, x in enumerate(q)])
    v = np.c_[np.zeros((rows, 2)), -rng.uniform(0.5, 1.0, rows), 0.1 * rng.normal(size=(rows, model.nv - 3))]
    driven, *_ = pc.Drive(*many_worlds.GAINS[robot]).of(model)
    target = q[:, driven[:, 0]] + 0.1 * rng.normal(size=(rows, len(driven)))
    given = {"q": q, "v": v, "target": target, "last": np.zeros((rows, 3 * len(feet.joints)))}
    traced = program(robot)
    found = dict(zip(OUTPUTS, traced(*(given[name] for name, _ in traced.inputs)), strict=True))
    exact = many_worlds.simulated(robot, model, options, q, v, target)
    worst = float(np.abs(found["v_next"] - exact.v).max())
    if not worst <= ACCURATE:
        raise ArithmeticError(f"{robot}: the traced step differs from pc.batch.simulate by {worst:.1e} rad/s.")
    return given | {f"step.{name}": x for name, x in found.items()}
