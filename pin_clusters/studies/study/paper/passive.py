"""Reproduce figures 4 and 5 of Yamane and Nakamura: falling chains with 30 degrees of freedom conserve energy."""

from collections.abc import Callable

import numpy as np
import pinocchio as pin

from ....algorithms.dynamics.energy import computeKineticEnergy
from ....model import ClusterModel
from ....model.configuration import neutral
from ....simulation import simulate
from ..plots import Figure, named, panels, titled
from ._effort import Effort
from ._models import balls
from ._numbers import YAMANE
from ._part import Results, Rows, Statement, nothing

TITLE = "Yamane and Nakamura, figures 4 and 5: chains of 30 degrees of freedom"
TIMED = (
    "Nothing is timed. `pc.simulate` integrates with `rkmk4`. The paper shows snapshots; this package chose the "
    "lengths, the masses and the shape of the branched chain."
)
SECONDS = (2.0, 1.0)
# figure number, and parent index of each body (0 is the world)
CHAINS = {"serial": ("Fig. 4", (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)), "branched": ("Fig. 5", (0, 1, 2, 1, 4, 1, 6, 1, 8, 9))}
SNAPSHOTS = 6
_DRIFT = 1e-6  # Energy counts as conserved up to this change, relative to the largest kinetic energy


def measure(effort: Effort, done: Callable[[], None]) -> Results:
    duration = effort.of(2.0, 2.0, 0.02)
    results: Results = {"duration": duration, "chains": {}}
    for name, (_, parents) in CHAINS.items():
        tree = balls(parents)
        model = ClusterModel(tree)
        runs = {}
        for dt in effort.of((2e-3, 1e-3), (4e-3, 2e-3), (4e-3, 2e-3)):
            result = simulate(
                model,
                neutral(model),
                np.zeros(model.nv),
                duration=duration,
                dt=dt,
                method="rkmk4",
                record=max(1, round(duration / dt / 125)),
            )
            data, total = model.createData(), result.energy
            kinetic = np.array(
                [computeKineticEnergy(model, data, q, v) for q, v in zip(result.q, result.v, strict=True)]
            )
            runs[f"{dt:g}"] = {
                "time": [round(float(x), 5) for x in result.time],
                "kinetic": [float(f"{x:.4g}") for x in kinetic],
                "potential": [float(f"{x:.4g}") for x in total - kinetic],
                "drift": [float(f"{x:.2e}") for x in total - total[0]],
            }
            done()
        shots = np.linspace(0, len(result.time) - 1, SNAPSHOTS).round().astype(int)
        results["chains"][name] = {
            "nv": model.nv,
            "parents": list(parents),
            "runs": runs,
            "snapshots": [
                {"time": round(float(result.time[i]), 4), "bodies": _lines(tree, result.q[i])} for i in shots
            ],
        }
    return results


def _lines(tree: pin.Model, q: np.ndarray) -> list[list[list[float]]]:
    """Return the x and z coordinates of both ends of each link, [m]."""
    data = tree.createData()
    pin.forwardKinematics(tree, data, q)
    end = np.array([1.0, 0.0, 0.0])
    return [
        [[round(float(p[0]), 3), round(float(p[2]), 3)] for p in (M.translation, M.act(end))]
        for M in list(data.oMi)[1:]
    ]


def _worst(run: dict[str, list[float]]) -> float:
    return max(abs(x) for x in run["drift"]) / max(run["kinetic"])


def tables(results: Results) -> list[tuple[str, Rows]]:
    rows: Rows = [
        (
            "chain",
            "degrees of freedom",
            "step [ms]",
            "largest kinetic energy [J]",
            "change of energy",
            "relative to the larger step",
        )
    ]
    for name, chain_results in results["chains"].items():
        previous = None
        for dt, run in chain_results["runs"].items():
            worst = _worst(run)
            part = "-" if previous is None else f"1 / {previous / worst:.1f}"
            largest_kinetic = f"{max(run['kinetic']):.1f}"
            rows.append((name, str(chain_results["nv"]), f"{1e3 * float(dt):g}", largest_kinetic, f"{worst:.1e}", part))
            previous = worst
    return [("Change of energy, relative to the largest kinetic energy", rows)]


def statements(results: Results) -> list[Statement]:
    verdicts = []
    for name, (figure, _) in CHAINS.items():
        chain_results = results["chains"][name]
        dt, run = list(chain_results["runs"].items())[-1]
        worst = _worst(run)
        verdicts.append(
            Statement(
                f"A {name} chain of {chain_results['nv']} degrees of freedom is simulated.",
                f"{YAMANE}, {figure}",
                f"{results['duration']:g} s of free motion from rest; energy changes by {worst:.0e} of the largest "
                f"kinetic energy with steps of {1e3 * float(dt):g} ms.",
                worst < _DRIFT,
            )
        )
    return verdicts


def draw(figure: Figure, results: Results) -> None:
    all_axes = panels(
        figure,
        3,
        2,
        height=7.6,
        left=0.055,
        right=0.985,
        gap=0.3,
        top=1.05,
        bottom=0.5,
        hspace=0.34,
        width_ratios=(1.25, 1.0, 1.0),
    )
    for row, (name, chain_results) in enumerate(results["chains"].items()):
        shape, energy, drift = all_axes[3 * row : 3 * row + 3]
        shots = chain_results["snapshots"]
        for k, shot in enumerate(shots):
            shade = 0.82 * (1.0 - k / max(1, len(shots) - 1))
            for line in shot["bodies"]:
                shape.plot(*zip(*line, strict=True), color=(shade, shade, shade), linewidth=1.3, zorder=2.0 + k)
        shape.plot(0.0, 0.0, marker="o", color="#D55E00", markersize=5.0, zorder=20.0)
        shape.set_aspect("equal", adjustable="datalim")
        named(shape, f"{name}, {chain_results['nv']} degrees of freedom", "x [m]", "z [m]")
        run = list(chain_results["runs"].values())[-1]
        energy.plot(run["time"], run["kinetic"], color="#D55E00", linewidth=1.5)
        energy.plot(run["time"], run["potential"], color="#0072B2", linewidth=1.5)
        total = [a + b for a, b in zip(run["kinetic"], run["potential"], strict=True)]
        energy.plot(run["time"], total, color="#000000", linewidth=1.5)
        for key, colour, y_pos in (("kinetic", "#D55E00", 0.9), ("potential", "#0072B2", 0.8), ("sum", "#000000", 0.7)):
            energy.text(0.03, y_pos, key, color=colour, fontsize=8.5, transform=energy.transAxes)
        named(energy, "energy", "time [s]", "[J]")
        for (dt, run_results), style in zip(chain_results["runs"].items(), (":", "-"), strict=True):
            largest = max(run_results["kinetic"])
            y = [max(abs(x) / largest, 1e-16) for x in run_results["drift"]]
            drift.plot(
                run_results["time"][1:],
                y[1:],
                color="#000000",
                linestyle=style,
                linewidth=1.3,
                label=f"steps of {1e3 * float(dt):g} ms",
            )
        drift.set_yscale("log")
        drift.legend(fontsize=8, frameon=False, loc="lower right")
        named(drift, "change of energy", "time [s]", "change / largest kinetic energy")
    line = (
        f"Ten bodies of 1 kg and 1 m on spherical joints, without torques; {SNAPSHOTS} poses over "
        f"{results['duration']:g} s, the last pose is black."
    )
    titled(figure, "Chains of 30 degrees of freedom fall from rest (figures 4 and 5)", (line,))


says = nothing
FIGURES = {"yamane_04_05_snapshots": draw}
