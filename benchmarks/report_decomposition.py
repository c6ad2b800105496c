"""Write the tables of ``docs/measured/decomposition.md``: ``python benchmarks/report_decomposition.py [--check]``.

Computes the tables ``decomposition`` and ``metrics``, writes them between ``<!-- generated: KEY -->`` and
``<!-- end -->``, and draws ``docs/figures/decomposition.png``.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin

sys.path.insert(0, str(Path(__file__).parent))

from report import fill
from report_loops import markdown

import pin_clusters as pc
from pin_clusters.approximations import LABELS, LEVELS
from pin_clusters.studies import study
from pin_clusters.studies.study import metrics

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "measured" / "decomposition.md"
FIGURE = ROOT / "docs" / "figures" / "decomposition.png"
ROBOT = "mit_humanoid_leg"
# the palette of Okabe and Ito, which colour-blind readers can distinguish
COLOURS = {
    "reflected, off-diagonal": "#D55E00",
    "carrier on joint": "#0072B2",
    "spin on carrier": "#009E73",
    "gyroscopic": "#CC79A7",
}
STATES = 2000


def load(name: str, *, floating: bool = False) -> pc.ClusterModel:
    """Load a robot without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return pc.load(name, root_joint=pin.JointModelFreeFlyer() if floating else None)


def example() -> tuple[str, study.Decomposition, study.Sine]:
    """Return the table of the parts of diagonal armature's error."""
    model, sine = load(ROBOT), study.Sine(in_phase=True)
    _, q, v, a = sine.states(model)
    found = study.decompose(model, q, v, a, "diagonal")
    rms, share = found.rms, found.share
    rows = [
        [f"`{part}`", *(_cell(x, y) for x, y in zip(rms[part], share[part], strict=True))]
        for part in study.PARTS
        if np.any(rms[part] > 0.0)
    ]
    rows.append(["total", *(f"{x:.3f}" for x in rms["total"])])
    digits = int(np.floor(-np.log10(max(found.residual, 1e-300)))) - 1  # the last digits differ between processors
    text = (
        f"Parts of the torque error of diagonal armature: RMS [N m] and share of the squared error. The robot is "
        f"`{ROBOT}` with a fixed base. Every joint follows {sine.amplitude:g} sin(2 pi {sine.frequency:g} Hz t) rad "
        f"for {sine.duration:g} s ({len(q)} samples). The rotors are locked into their carriers. Zero parts are "
        f"omitted. The parts add up to the error within 1e-{digits} N m at every sample."
    )
    return f"{text}\n\n{markdown(['', *found.names], rows)}", found, sine


def _cell(rms: float, share: float) -> str:
    """Return a number and its share, joined by non-breaking spaces."""
    return f"{rms:.3f}\u00a0({round(100.0 * share):d}\u00a0%)" if rms >= 5e-4 else "0"


def torso_and_leg() -> pc.ClusterModel:
    """Return one leg of the MIT humanoid on the torso of the whole robot, floating."""
    whole, leg = load("mit_humanoid", floating=True), load(ROBOT, floating=True)
    tree = leg.tree.copy()
    tree.inertias[1] = whole.tree.inertias[1]
    return pc.ClusterModel(tree, leg.constraints)


def measures() -> str:
    """Return the table of accelerations in flight, and a sentence about the angular momentum of the rotors."""
    model, rng = torso_and_leg(), np.random.default_rng(0)
    q = np.array([pc.integrate(model, pc.neutral(model), rng.uniform(-1.0, 1.0, model.nv)) for _ in range(STATES)])
    v, tau = rng.normal(size=(2, STATES, model.nv))
    tau[:, :6] = 0.0
    forward, flight = metrics.forward_error(model, q, v, tau), metrics.flight(model, q, v, tau)
    osim = metrics.osim_error(model, "ankle", q[:200])
    at = [forward.names.index(name) for name in ("hip_ry", "knee", "ankle")]
    rows = [
        [
            LABELS[level],
            *(f"{100.0 * flight.relative[level][part]:.1f}" for part in ("linear", "angular")),
            *(f"{100.0 * forward.relative[level][i]:.1f}" for i in at),
            f"{100.0 * osim.mean[level]:.1f}",
            f"{flight.momentum_rate[level]['angular']:.2g}",
        ]
        for level in LEVELS
    ]
    whole = load("mit_humanoid", floating=True)
    rates = np.zeros(whole.nv)
    for name in whole.independent_joints:
        if name.endswith("knee"):
            rates[whole.joint_idx_v(name)] = 10.0
    spin = metrics.flight(whole, pc.neutral(whole), rates, np.zeros(whole.nv))
    head = [
        "", "base, linear", "base, angular", "hip_ry", "knee", "ankle", "inertia at the ankle", "dL/dt [N m]",
    ]  # fmt: skip
    return (
        f"Torso and one leg of the MIT humanoid in free flight, {STATES} random states (poses within 1 rad, velocities "
        "and torques normally distributed with 1 rad/s and 1 N m). The columns are the RMS error of the accelerations "
        "in percent of their exact RMS, the mean error of the linear inertia at the ankle in percent, and the rate of "
        "change of the true angular momentum, which is zero for the exact robot.\n\n"
        f"{markdown(head, rows)}\n\n"
        f"When both knees of the whole robot turn at 10 rad/s, the rotors have an additional angular momentum of "
        f"{spin.spin:.3f} N m s. The whole robot has the same angular momentum if it turns as a rigid body at "
        f"{spin.spin_rate:.2f} rad/s."
    )


def draw(found: study.Decomposition, sine: study.Sine) -> None:
    """Draw the error at two joints over two periods, and its parts."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 5.4), layout="constrained")
    FigureCanvasAgg(figure)
    shown = slice(0, int(2.0 / sine.frequency / sine.dt))
    for axes, joint in zip(figure.subplots(2, 1, sharex=True), ("knee", "hip_rz"), strict=True):
        k = found.names.index(joint)
        axes.plot(sine.time[shown], found.total[shown, k], "k", lw=2.4, label="total error")
        for part, colour in COLOURS.items():
            x = found.parts[part][shown, k]
            if np.abs(x).max() > 1e-3 * np.abs(found.total[:, k]).max():
                share = 100.0 * found.share[part][k]
                axes.plot(sine.time[shown], x, color=colour, lw=1.6, label=f"{part} ({share:.0f} %)")
        axes.axhline(0.0, color="0.7", lw=0.8, zorder=0)
        axes.set_title(f"{joint}: torque error of diagonal armature, and its parts", loc="left", fontsize=11)
        axes.set_ylabel("torque [N m]")
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("time [s]")
    axes.set_xlim(0.0, sine.time[shown][-1])
    figure.savefig(FIGURE, dpi=130)


def main(arguments: list[str] | None = None) -> int:
    """Compute the tables, write them and draw the figure; with --check, only report whether the page is out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if the page is out of date")
    chosen = parser.parse_args(arguments)
    table, found, sine = example()
    before = PAGE.read_text(encoding="utf-8")
    after = fill(fill(before, "decomposition", table), "metrics", measures())
    if chosen.check:
        return int(after != before)
    if after != before:
        PAGE.write_text(after, encoding="utf-8")
        print(f"{PAGE.relative_to(ROOT)}: written")
    draw(found, sine)
    return 0


if __name__ == "__main__":
    sys.exit(main())
