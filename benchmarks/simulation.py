"""Measure simulation: ``python benchmarks/simulation.py [--quick]``; two minutes.

Passive motions, from a stated speed of all joints at random:

- order: the error of pose and velocity at the end of a short time over steps that are halved, against ``rkmk4`` with a
  quarter of the finest; its slope is the order of the method;
- drift: the largest energy error over the largest kinetic energy, during a longer time;
- speed: time of a step of ``pc.simulate`` with ``rk4``, and of the same method written in Python with ``pin.aba`` and
  ``pin.integrate`` on the approximate robot (independent joints, armature), interleaved. The latter is what one has
  without this package.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pinocchio as pin
import timing

import pin_clusters as pc
from pin_clusters.approximations.armature import independent_q
from pin_clusters.simulation import METHODS
from pin_clusters.verification import baselines
from pin_clusters.verification.timing import interleaved

RESULTS = Path(__file__).parent / "results" / "simulation.json"
FIGURE = Path(__file__).parent.parent / "docs" / "figures" / "convergence.png"
FINER = 4
"""How many times finer than the finest of the steps the reference of the order is."""


@dataclass(frozen=True)
class Motion:
    """A robot, and how it moves.

    Attributes:
        make: Returns the robot.
        speed: Standard deviation of the velocities at the start, [rad/s] or [m/s].
        coarse: Largest step with which the order is measured, [s].
        short: For how long, [s].
        base: What the table says.
    """

    make: Callable[[], pc.ClusterModel]
    speed: float
    coarse: float
    short: float
    base: str


def _still(name: str) -> pc.ClusterModel:
    """A robot without gravity."""
    return pc.load(name).with_gravity(np.zeros(3))


MOTIONS = {
    "mit_humanoid_leg": Motion(lambda: pc.load("mit_humanoid_leg", root_joint=None), 1.0, 8e-3, 0.32, "fixed"),
    "mini_cheetah": Motion(lambda: pc.load("mini_cheetah"), 2.0, 16e-3, 0.64, "floating, falls"),
    "four_bar": Motion(lambda: pc.load("four_bar"), 1.0, 2e-3, 0.32, "fixed, closed loop"),
    "four_bar, rocker": Motion(
        lambda: pc.with_independent(pc.load("four_bar"), ["rocker"])[0], 8.0, 2e-3, 0.32,
        "fixed, closed loop, through dead centres",
    ),
    "tello": Motion(lambda: _still("tello"), 1.0, 8e-3, 0.32, "floating, closed loops, without gravity"),
}  # fmt: skip
DURATION, DT = 10.0, 1e-3
SPEED = ("mit_humanoid_leg", "mini_cheetah", "mit_humanoid", "four_bar", "tello")
STEPS = 1000


def load(make: Callable[[], pc.ClusterModel]) -> pc.ClusterModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return make()


def start(model: pc.ClusterModel, speed: float) -> tuple[np.ndarray, np.ndarray]:
    return pc.neutral(model), speed * np.random.default_rng(1).normal(size=model.nv)


def order(model: pc.ClusterModel, motion: Motion, halvings: int) -> dict[str, Any]:
    """Return the error at the end over steps that are halved, and the slope through their logarithms, per method."""
    q, v = start(model, motion.speed)
    steps = [motion.coarse / 2**k for k in range(halvings + 1)]

    def end(method: str, dt: float) -> tuple[np.ndarray, np.ndarray, int]:
        found = pc.simulate(model, q, v, None, motion.short, dt, method=method, record=10**6)
        return found.q[-1], found.v[-1], len(found.switches)

    exact_q, exact_v, switches = end("rkmk4", steps[-1] / FINER)
    scale = max(1.0, float(np.abs(exact_v).max()))
    found: dict[str, Any] = {}
    for method in METHODS:
        errors = []
        for dt in steps:
            q_end, v_end, _ = end(method, dt)
            apart = np.abs(pin.difference(model.tree, exact_q, q_end)).max()
            errors.append(float(max(apart, np.abs(v_end - exact_v).max() / scale)))
        # what is at the level of rounding has no slope
        used = [k for k, e in enumerate(errors) if e > 1e-12]
        slope = (
            np.polyfit(np.log(np.array(steps)[used]), np.log(np.array(errors)[used]), 1)[0] if len(used) > 1 else 0.0
        )
        found[method] = {"errors": errors, "slope": round(float(slope), 2)}
    return {"steps": steps, "short": motion.short, "switches": switches, "methods": found}


def drift(model: pc.ClusterModel, motion: Motion, duration: float) -> dict[str, Any]:
    """Return the largest energy error over the largest kinetic energy, and how open loops are, per method."""
    q, v = start(model, motion.speed)
    data, found = model.createData(), {}
    for method in METHODS:
        try:
            r = pc.simulate(model, q, v, None, duration, DT, method=method, record=10)
        except pc.SimulationError as error:
            found[method] = {"failed": str(error)}
            continue
        kinetic = max(pc.computeKineticEnergy(model, data, x, w) for x, w in zip(r.q[::10], r.v[::10], strict=True))
        found[method] = {
            "energy": float(np.abs(r.energy - r.energy[0]).max() / kinetic),
            "residual": float(r.residual.max()),
            "switches": len(r.switches),
        }
    return {"dt": DT, "duration": duration, "methods": found}


def pinocchio_loop(model: pin.Model, q: np.ndarray, v: np.ndarray, steps: int, h: float) -> np.ndarray:
    """Do the same with Pinocchio in Python: classic Runge-Kutta."""
    data, tau, aba, integrate = model.createData(), np.zeros(model.nv), pin.aba, pin.integrate
    for _ in range(steps):
        a1 = aba(model, data, q, v, tau).copy()
        v2 = v + 0.5 * h * a1
        a2 = aba(model, data, integrate(model, q, 0.5 * h * v), v2, tau).copy()
        v3 = v + 0.5 * h * a2
        a3 = aba(model, data, integrate(model, q, 0.5 * h * v2), v3, tau).copy()
        v4 = v + h * a3
        a4 = aba(model, data, integrate(model, q, h * v3), v4, tau).copy()
        q = integrate(model, q, h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4))
        v = v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
    return q


def speed(name: str, repeats: int, steps: int) -> dict[str, Any]:
    """Time steps of one robot."""
    model = load(MOTIONS[name].make if name in MOTIONS else lambda: pc.load(name))
    q, v = start(model, 0.1)
    zero, duration = np.zeros(model.nv), steps * 1e-4

    def compiled(record: int) -> None:
        pc.simulate(model, q, v, None, duration, 1e-4, record=record)

    def function() -> None:
        pc.simulate(model, q, v, lambda t, q, v: zero, duration, 1e-4, record=10**6)

    calls: dict[str, Any] = {
        "compiled": (compiled, (10**6,)), "compiled, every step kept": (compiled, (1,)), "function": (function, ()),
    }  # fmt: skip
    if not model.closures:
        approximate = baselines.armature_model(model)
        q_own = q[independent_q(model, approximate)]
        calls["pinocchio"] = (pinocchio_loop, (approximate, q_own, v, steps, 1e-4))
    times = interleaved(calls, repeats=repeats, block=1e-3)
    found: dict[str, Any] = {"us_per_step": {k: round(1e6 * t.median / steps, 2) for k, t in times.items()}}
    if "pinocchio" in times:
        found["ratio"] = {
            k: round(times["pinocchio"].ratio(times[k]), 2)
            for k in ("compiled", "compiled, every step kept", "function")
        }
    return found


def plot(found: dict[str, Any], path: Path) -> None:
    """Draw errors over steps, one panel per robot."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    looks = {"semi_implicit": ("#E69F00", "^"), "rk4": ("#0072B2", "o"), "rkmk4": ("#D55E00", "s")}
    shown = [name for name in found if name != "four_bar, rocker"]
    figure, panels = plt.subplots(1, len(shown), figsize=(3.1 * len(shown), 4.1), layout="constrained", sharey=True)
    for axes, name in zip(np.atleast_1d(panels), shown, strict=True):
        one = found[name]["order"]
        steps = 1e3 * np.array(one["steps"])
        for method, (colour, marker) in looks.items():
            m = one["methods"][method]
            # where both are the same, rk4 is seen around rkmk4
            style = {"markersize": 9, "markerfacecolor": "none"} if method == "rk4" else {"markersize": 5}
            axes.loglog(steps, m["errors"], color=colour, marker=marker, linewidth=1.3, label=method, **style)
            below = method == "rkmk4"
            axes.annotate(
                f"{m['slope']:.2f}", (steps[len(steps) // 2], m["errors"][len(steps) // 2]), (0, -9 if below else 8),
                textcoords="offset points", ha="left" if below else "right", va="top" if below else "bottom",
                color=colour, fontsize=9.5,
            )  # fmt: skip
        axes.set_title(f"{name}\n{found[name]['base']}", fontsize=9.5)
        axes.set_xlabel("step [ms]")
        axes.set_xticks(steps, [f"{x:g}" for x in steps])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    first = np.atleast_1d(panels)[0]
    first.set_ylim(top=10.0)
    first.set_ylabel("error at the end (pose; velocity, relative)")
    figure.legend(*first.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle("Order of convergence: error over step, with the slope of each line", fontsize=12)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def measure(names: list[str], halvings: int, duration: float) -> dict[str, Any]:
    """Measure order and drift of robots."""
    found: dict[str, Any] = {}
    for name in names:
        motion = MOTIONS[name]
        model = load(motion.make)
        found[name] = {
            "base": motion.base, "order": order(model, motion, halvings), "drift": drift(model, motion, duration),
        }  # fmt: skip
        print(f"\n{name} ({motion.base})")
        for method in METHODS:
            o, d = found[name]["order"]["methods"][method], found[name]["drift"]["methods"][method]
            print(f"  {method:14} slope {o['slope']:5.2f}   errors {', '.join(f'{e:.1e}' for e in o['errors'])}   {d}")
        sys.stdout.flush()
    return found


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, write the results and draw them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two robots, few steps; writes nothing by itself")
    parser.add_argument("--output", type=Path, help="JSON file (default: results/simulation.json, unless --quick)")
    parser.add_argument(
        "--figure", type=Path, help="where to draw (default: docs/figures/convergence.png, unless --quick)"
    )
    chosen = parser.parse_args(arguments)
    names = ["mit_humanoid_leg", "four_bar"] if chosen.quick else list(MOTIONS)
    motions = measure(names, 1 if chosen.quick else 4, 0.5 if chosen.quick else DURATION)
    times = {}
    for name in names if chosen.quick else SPEED:
        times[name] = speed(name, 2 if chosen.quick else 15, 20 if chosen.quick else STEPS)
        print(
            f"{name}: us per step {times[name]['us_per_step']}; Pinocchio in Python over it: {times[name].get('ratio')}"
        )
        sys.stdout.flush()
    results = {"machine": timing.machine(), "motions": motions, "steps": 20 if chosen.quick else STEPS, "speed": times}
    output = chosen.output or (None if chosen.quick else RESULTS)
    figure = chosen.figure or (None if chosen.quick else FIGURE)
    timing.write(results, output)
    if figure is not None:
        plot(motions, figure)
    return 0


if __name__ == "__main__":
    sys.exit(main())
