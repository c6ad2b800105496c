"""Measure drift and order: ``python benchmarks/drift.py [--quick]``; some minutes.

Passive swing of mechanisms with closed loops in a vertical plane, from rest at a stated pose; they are conditioned
better than 1e2 all the time. Runge-Kutta of order 4 on the manifold: the unknowns of a step are the increment of the
independent joints and their velocity, and a stage is at ``pc.integrate(model, q, increment)``. Three measurements:

- drift: energy error over the largest kinetic energy, and how open the loops are, over 20 s;
- steps: how open the loops are after 1e5 steps (the same run where it has as many);
- order: the largest error of the state during a short time over several steps, against a finer one; its slope is the
  order.
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

import loop_cases
import numpy as np
import timing

import pin_clusters as pc

RESULTS = Path(__file__).parent / "results" / "drift.json"
FIGURE = Path(__file__).parent.parent / "docs" / "figures" / "drift.png"
ENERGY, CONDITION, RESIDUAL, ORDER = 1e-9, 1e2, 1e-13, (3.8, 4.2)
"""Goals: energy error, condition of the dependent joints, closure per scale, slope."""
DURATION, STEPS = 20.0, 100_000
EVERY = 50
"""Steps between two looks at energy, residual and condition."""
FINER = 4
"""How many times finer than the finest of the steps the reference of the order is."""


@dataclass(frozen=True)
class Swing:
    """A mechanism and its start.

    Attributes:
        make: Returns it; its base is fixed, its independent joints have one degree of freedom each.
        start: Coordinates of joints, [rad], from which ``pc.project`` makes the start, these held; at rest.
        dt: Step, [s].
        coarse: Largest step with which the order is measured, [s].
        short: For how long, [s].
    """

    make: Callable[[], pc.ClusterModel]
    start: dict[str, float]
    dt: float
    coarse: float
    short: float


SWINGS = {
    "four_bar": Swing(loop_cases.shipped("four_bar"), {"crank": 0.5}, 2e-4, 2e-3, 0.4),
    "watt_six_bar": Swing(loop_cases.shipped("watt_six_bar"), {"crank": 1.0}, 2e-4, 2e-3, 0.4),
    "tello_leg": Swing(loop_cases.tello_leg, {"left_hip_pitch": -0.3, "left_knee": 0.6}, 2e-4, 8e-3, 0.8),
    "delta": Swing(loop_cases.shipped("delta"), {"arm_1": 1.1, "arm_2": 1.25, "arm_3": 1.25}, 2e-4, 8e-3, 0.8),
}


def rk4(model: pc.ClusterModel, data: pc.ClusterData, q: np.ndarray, v: np.ndarray, h: float) -> tuple[Any, Any]:
    """Return q and v after a step without torques; the independents have one degree of freedom each."""
    tau, integrate, aba = np.zeros(model.nv), pc.integrate, pc.aba
    a1 = aba(model, data, q, v, tau)
    v2 = v + 0.5 * h * a1
    a2 = aba(model, data, integrate(model, q, 0.5 * h * v), v2, tau)
    v3 = v + 0.5 * h * a2
    a3 = aba(model, data, integrate(model, q, 0.5 * h * v2), v3, tau)
    v4 = v + h * a3
    a4 = aba(model, data, integrate(model, q, h * v3), v4, tau)
    moved = integrate(model, q, h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4))
    return moved, v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)


def start(model: pc.ClusterModel, swing: Swing) -> np.ndarray:
    """Return the assembled start."""
    q = model.q_reference.copy()
    for name, value in swing.start.items():
        q[model.tree.joints[model.tree.getJointId(name)].idx_q] = value
    return np.asarray(pc.project(model, q, hold=list(swing.start)))


def openness(model: pc.ClusterModel, q: np.ndarray, scales: np.ndarray) -> float:
    """Return the worst row, per what the rule of the residual allows relative to 1e-13: scale x max(1, |q| / 100)."""
    return float((np.abs(pc.residual(model, q)) / scales).max() / max(1.0, np.abs(q).max() / 100.0))


def drift(model: pc.ClusterModel, swing: Swing, duration: float, steps: int) -> dict[str, Any]:
    """Swing for a while; return energy error, residual and condition, at least over ``steps`` steps."""
    data, scales = model.createData(), np.array([row.scale for row in pc.residual_rows(model)])
    q, v = start(model, swing), np.zeros(model.nv)
    first = pc.computeMechanicalEnergy(model, data, q, v)
    n = round(duration / swing.dt)
    kinetic = condition = 0.0
    residual, errors, low, high = openness(model, q, scales), [0.0], q.copy(), q.copy()
    for k in range(1, max(n, steps) + 1):
        q, v = rk4(model, data, q, v, swing.dt)
        if k % EVERY == 0 or k in (n, steps):
            residual = max(residual, openness(model, q, scales))
            condition = max(condition, *(c.K_d for c in pc.condition(model, data, q)))
            if k <= n:
                kinetic = max(kinetic, pc.computeKineticEnergy(model, data, q, v))
                errors.append(abs(pc.computeMechanicalEnergy(model, data, q, v) - first))
                low, high = np.minimum(low, q), np.maximum(high, q)
    names = [n for n in model.tree.names[1:] if n in swing.start]
    at = [model.tree.joints[model.tree.getJointId(n)].idx_q for n in names]
    return {
        "dt": swing.dt,
        "duration": duration,
        "steps": max(n, steps),
        "energy": max(errors) / kinetic,
        "kinetic_J": kinetic,
        "residual": residual,
        "residual_at_the_end": openness(model, q, scales),
        "condition": condition,
        "range": {name: [round(float(low[i]), 3), round(float(high[i]), 3)] for name, i in zip(names, at, strict=True)},
        "history": [float(e / kinetic) for e in np.maximum.accumulate(errors)[:: max(1, len(errors) // 200)]],
    }


def path(model: pc.ClusterModel, swing: Swing, dt: float) -> np.ndarray:
    """Return the independent coordinates and velocities after each of the coarse steps of the short time."""
    data, q, v = model.createData(), start(model, swing), np.zeros(model.nv)
    own = [model.tree.joints[model.tree.getJointId(name)].idx_q for name in model.independent_joints]
    found = []
    for _ in range(round(swing.short / swing.coarse)):
        for _ in range(round(swing.coarse / dt)):
            q, v = rk4(model, data, q, v, dt)
        found.append(np.concatenate([q[own], v]))
    return np.array(found)


def order(model: pc.ClusterModel, swing: Swing, halvings: int) -> dict[str, Any]:
    """Return the largest errors of the state over steps that are halved, and the slope through their logarithms."""
    steps = [swing.coarse / 2**k for k in range(halvings + 1)]
    exact = path(model, swing, steps[-1] / FINER)
    errors = [float(np.abs(path(model, swing, h) - exact).max() / max(1.0, np.abs(exact).max())) for h in steps]
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    return {
        "short": swing.short,
        "steps": steps,
        "errors": errors,
        "slopes": [round(float(s), 3) for s in slopes],
        "slope": round(float(np.polyfit(np.log(steps), np.log(errors), 1)[0]), 3),
    }


def gates(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Compare with the goals."""
    d, low, high = found["drift"], *ORDER
    slope = found["order"]["slope"]
    pairs = [
        ("max |E - E0| / max T", d["energy"], ENERGY, d["energy"] <= ENERGY),
        ("closure per scale", d["residual"], RESIDUAL, d["residual"] <= RESIDUAL),
        ("cond(K_d)", d["condition"], CONDITION, d["condition"] <= CONDITION),
        ("slope", slope, 4.0, low <= slope <= high),
    ]
    return [{"what": w, "value": x, "limit": limit, "met": bool(met)} for w, x, limit, met in pairs]


def plot(swings: dict[str, Any], path: Path) -> None:
    """Draw errors over steps, and energy errors over time."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullFormatter

    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 4.0), layout="constrained")
    for (name, found), marker in zip(swings.items(), "osv^", strict=False):
        o, d = found["order"], found["drift"]
        left.loglog(1e3 * np.array(o["steps"]), o["errors"], marker=marker, label=f"{name}: slope {o['slope']:.2f}")
        times = np.linspace(0.0, d["duration"], len(d["history"]))
        right.semilogy(times[1:], np.maximum(d["history"][1:], 1e-17), label=f"{name}: dt = {1e3 * d['dt']:g} ms")
    every = [h for found in swings.values() for h in found["order"]["steps"]]
    highest = max(
        e / h**4 for f in swings.values() for h, e in zip(f["order"]["steps"], f["order"]["errors"], strict=True)
    )
    steps = np.array([min(every), max(every)])
    left.loglog(1e3 * steps, 3.0 * highest * steps**4, "k:", label="order 4")
    left.set(xlabel="step [ms]", ylabel="largest error of the state")
    left.set_xticks([1e3 * h for h in sorted(set(every))])
    left.xaxis.set_major_formatter("{x:g}")
    left.xaxis.set_minor_formatter(NullFormatter())
    right.axhline(ENERGY, color="k", linestyle=":", label="goal")
    right.set(xlabel="time [s]", ylabel="largest |E - E0| / max T so far", ylim=(1e-17, 1e-8))
    for axes, corner in ((left, "upper left"), (right, "lower right")):
        axes.legend(fontsize="small", loc=corner)
        axes.grid(alpha=0.3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def measure(duration: float, steps: int, halvings: int) -> dict[str, Any]:
    """Measure all swings."""
    found: dict[str, Any] = {}
    for name, swing in SWINGS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            model = swing.make()
        one: dict[str, Any] = {
            "start": swing.start, "order": order(model, swing, halvings), "drift": drift(model, swing, duration, steps),
        }  # fmt: skip
        one["gates"] = gates(one)
        found[name] = one
        o, d = one["order"], one["drift"]
        print(f"\n{name}, from {swing.start}, dt = {d['dt']:g} s, {d['steps']} steps, range {d['range']}")
        print("  errors " + ", ".join(f"{e:.1e}" for e in o["errors"]) + f"; slopes {o['slopes']}")
        for gate in one["gates"]:
            print(f"  {gate['what']:24} {gate['value']:9.3g}   goal {gate['limit']:<6g} {_verdict(gate)}")
        sys.stdout.flush()
    return found


def _verdict(gate: dict[str, Any]) -> str:
    return "met" if gate["met"] else "NOT MET"


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, write the results and draw them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a second of swing, few steps; writes nothing by itself")
    parser.add_argument("--output", type=Path, help="JSON file (default: results/drift.json, unless --quick)")
    parser.add_argument("--figure", type=Path, help="where to draw (default: docs/figures/drift.png, unless --quick)")
    chosen = parser.parse_args(arguments)
    swings = measure(1.0, 0, 2) if chosen.quick else measure(DURATION, STEPS, 4)
    results = {"machine": timing.machine(), "swings": swings}
    output = chosen.output or (None if chosen.quick else RESULTS)
    figure = chosen.figure or (None if chosen.quick else FIGURE)
    timing.write(results, output)
    if figure is not None:
        plot(swings, figure)
    return 0


if __name__ == "__main__":
    sys.exit(main())
