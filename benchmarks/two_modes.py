"""Compare the two modes on a ground: ``python benchmarks/two_modes.py [--quick]``; three minutes.

Moreau's rule at seven step sizes is compared with motion from event to event. Both use the same laws and the same
solver of impacts, but neither the same steps nor the same forces in between. The order is the slope of a line that is
fitted to the logarithms of errors and step sizes.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pinocchio as pin
import timing
from report_loops import markdown, where

import pin_clusters as pc
from pin_clusters.files import readers as loaders

RESULTS = Path(__file__).parent / "results" / "two_modes.json"
STEPS, EVENTS = tuple(1e-3 * 0.5**k for k in range(7)), (1e-3, 5e-4)
"""Of time-stepping; of the other mode, beside which it is seen how far that is to be trusted."""
HALF = 0.1, 0.06, 0.04
Motion = Callable[..., pc.SimulationResult]


def held_up(model: pc.ClusterModel, q: np.ndarray, stiffness: float, damping: float) -> Callable[..., np.ndarray]:
    """Return PD torques of all joints but the base."""

    def torque(t: float, now: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.r_[np.zeros(6), (-stiffness * pc.difference(model, q, now) - damping * v)[6:]]

    return torque


def block() -> Motion:
    """Return a block that is thrown across a slope of 0.3 rad, lands flat, slides along a curve and stops."""
    tree = pin.Model()
    tree.name = "block"
    joint = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "block")
    tree.appendBodyToJoint(joint, pin.Inertia.FromBox(1.0, *(2.0 * x for x in HALF)), pin.SE3.Identity())
    model, signs = pc.ClusterModel(tree), np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T
    corners = {"block": signs * HALF}
    ground = pc.Ground(0.6, (np.sin(0.3), 0.0, np.cos(0.3)))
    q = pc.neutral(model)
    q[:7] = pin.SE3ToXYZQUAT(pin.SE3(pin.utils.rpyToMatrix(0.0, 0.3, 0.0), np.zeros(3)))
    q = pc.on_ground(model, q, ground, corners, above=0.02)
    return lambda **how: pc.simulate(
        model, q, [0.3, 1.0, 0, 0, 0, 0], None, 0.5, ground=ground, touching=corners, **how
    )


def quadruped() -> Motion:
    """Return mini_cheetah, dropped from 0.1 m with bent legs under PD."""
    model = loaders.load("mini_cheetah")
    feet = FEET
    rest = pc.integrate(model, pc.neutral(model), np.r_[np.zeros(6), np.tile([0.0, 0.6, -1.2], 4)])
    q = pc.on_ground(model, rest, touching=feet, above=0.1)
    return lambda **how: pc.simulate(
        model, q, np.zeros(18), held_up(model, rest, 40.0, 1.0), 0.3, ground=pc.Ground(), touching=feet, **how
    )


def toes() -> Motion:
    """Return mit_humanoid, leaning forward, dropped onto its toes from 0.02 m under PD; then the heels land."""
    model = loaders.load("mit_humanoid")
    soles = SOLES
    lean = np.zeros(model.nv)
    lean[4] = 0.1
    rest = pc.integrate(model, pc.neutral(model), lean)
    q = pc.on_ground(model, rest, touching=soles, above=0.02)
    return lambda **how: pc.simulate(
        model, q, np.zeros(model.nv), held_up(model, rest, 60.0, 2.0), 0.15, ground=pc.Ground(), touching=soles, **how
    )


def thrown(name: str, feet: dict[str, Any], pose: dict[int, float], speed: list[float], gains: tuple[float, float],
           friction: float, above: float, duration: float) -> Motion:  # fmt: skip
    """Return a robot that is thrown forward and sideways, lands on one foot after the other, slides and stops.

    Args:
        name: Name of the robot.
        feet: Points that touch.
        pose: Changes of the neutral pose by index of velocity [rad].
        speed: Linear velocity of the base [m/s].
        gains: Stiffness and damping of the joints.
        friction: Friction coefficient.
        above: Height of the lowest point [m].
        duration: Length of the motion [s].
    """
    model = loaders.load(name)
    change = np.zeros(model.nv)
    change[list(pose)] = list(pose.values())
    rest = pc.integrate(model, pc.neutral(model), change)
    q = pc.on_ground(model, rest, touching=feet, above=above)
    v = np.r_[speed, np.zeros(model.nv - len(speed))]
    ground, torque = pc.Ground(friction), held_up(model, rest, *gains)
    return lambda **how: pc.simulate(model, q, v, torque, duration, ground=ground, touching=feet, **how)


FEET = {f"{leg}_knee": [0.0, 0.0, -0.195] for leg in ("FL", "FR", "HL", "HR")}
SOLES = {f"{side}_ankle": [[-0.05, 0.0, -0.041], [0.1, 0.0, -0.041]] for side in ("left", "right")}
CROUCH = {6 + 3 * leg + joint: angle for leg in range(4) for joint, angle in ((1, 0.6), (2, -1.2))}


def stops() -> Motion:
    """Return ankle_2rsu, driven into and out of the stops of its ankle and of its cranks."""
    model = loaders.load("ankle_2rsu")

    def torque(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([4.0 * np.cos(8.0 * t), 2.0])

    return lambda **how: pc.simulate(model, pc.neutral(model), np.zeros(2), torque, 0.45, limits="position", **how)


MOTIONS = {
    "block, thrown across a slope": block,
    "`mini_cheetah`, dropped from 0.1 m": quadruped,
    "`mit_humanoid`, on its toes": toes,
    "`mini_cheetah`, thrown": lambda: thrown(
        "mini_cheetah", FEET, {**CROUCH, 3: 0.1, 4: 0.15}, [0.6, 0.3, 0.0], (40.0, 1.0), 0.5, 0.03, 0.2
    ),
    "`mit_humanoid`, thrown": lambda: thrown(
        "mit_humanoid", SOLES, {3: 0.05, 4: 0.1}, [0.4, 0.2, 0.0], (60.0, 2.0), 0.4, 0.02, 0.12
    ),
    "`tello`, thrown": lambda: thrown("tello", SOLES, {3: 0.04, 4: 0.1}, [0.3, 0.2, 0.0], (10.0, 0.1), 0.4, 0.01, 0.1),
    "`ankle_2rsu`, into its stops": stops,
}


def pushed(result: pc.SimulationResult) -> np.ndarray:
    """Return all impulses of the ground, in axes of the world, or of the stops."""
    return result.contact_impulses.sum(axis=(0, 1)) if result.bodies else result.limit_impulses.sum(axis=0)


def compare(motion: Motion) -> dict[str, Any]:
    """Return differences and times of both modes."""
    found, taken = {}, {}
    for method, steps in (("events", EVENTS), ("moreau", STEPS)):
        motion(dt=steps[0], method=method)  # compiles what it needs, which is not measured
        for dt in steps:
            begin = time.process_time()
            found[method, dt] = motion(dt=dt, method=method)
            taken[method, dt] = time.process_time() - begin
    best = found["events", EVENTS[-1]]

    def apart(other: pc.SimulationResult) -> list[float]:
        return [float(np.abs(f(other) - f(best)).max()) for f in (lambda r: r.q[-1], lambda r: r.v[-1], pushed)]

    return {
        "events": apart(found["events", EVENTS[0]]),
        "moreau": [apart(found["moreau", dt]) for dt in STEPS],
        "impulse": float(np.linalg.norm(pushed(best))),
        "touchdowns": len(best.touchdowns),
        "laws": best.contact_laws.max(axis=0).tolist(),
        "gap": float(best.gap.min(initial=0.0)),
        "slower": taken["events", EVENTS[0]] / taken["moreau", EVENTS[0]],
    }


def order(errors: list[float], size: float) -> str:
    """Fit the order; a dash if errors are not above the tolerance of the solver."""
    if min(errors) < 1e-8 * max(1.0, size):
        return "-"
    return f"{np.polyfit(np.log(STEPS), np.log(errors), 1)[0]:.2f}"


def table(results: dict[str, Any]) -> str:
    """Return the table for the page."""
    shown = STEPS[::2]
    head = [
        "", *(f"`moreau`, {1e3 * dt:.4g} ms" for dt in shown), "order", f"`events`, {1e3 * EVENTS[0]:g} ms",
        "time ratio",
    ]  # fmt: skip
    blocks = []
    for i, what in (
        (0, "Largest error of an entry of q at the end [m, rad]"),
        (2, "Largest error of the total impulse [N s, N m s]"),
    ):
        rows = [
            [
                name,
                *(f"{one[i]:.1e}" for one in x["moreau"][::2]),
                order([one[i] for one in x["moreau"]], x["impulse"]),
                f"{x['events'][i]:.0e}",
                f"{x['slower']:.0f}",
            ]
            for name, x in results["motions"].items()
        ]
        blocks.append(f"{what}:\n\n{markdown(head, rows)}")
    text = (
        f"The reference is `events` at {1e3 * EVENTS[-1]:g} ms. The order is fitted over {len(STEPS)} step sizes from "
        f"{1e3 * STEPS[0]:g} to {1e3 * STEPS[-1]:.3g} ms. *Time ratio* is the processor time of `events` divided by "
        "the time of `moreau` at the same dt."
    )
    return "\n\n".join([where(results), text, *blocks])


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the block alone; a first impression")
    parser.add_argument("--output", type=Path, help="JSON file (default: results/two_modes.json, unless --quick)")
    chosen = parser.parse_args(arguments)
    results: dict[str, Any] = {"machine": timing.machine(), "motions": {}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        for name in list(MOTIONS)[: 1 if chosen.quick else None]:
            results["motions"][name] = found = compare(MOTIONS[name]())
            print(name, *(f"  {key}: {x}" for key, x in found.items()), sep="\n", flush=True)
    print(table(results))
    timing.write(results, chosen.output or (None if chosen.quick else RESULTS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
