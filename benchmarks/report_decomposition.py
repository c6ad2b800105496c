"""Write the examples of ``docs/decomposition.md``: ``python benchmarks/report_decomposition.py [--check]``.

Fills what stands between ``<!-- generated: KEY -->`` and ``<!-- end -->``, keys ``decomposition`` and ``metrics``, with
what it computes now, and draws ``docs/figures/decomposition.png``.
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
from pin_clusters.approximations import LABELS, RUNGS
from pin_clusters.studies import study
from pin_clusters.studies.study import metrics

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "decomposition.md"
FIGURE = ROOT / "docs" / "figures" / "decomposition.png"
ROBOT = "mit_humanoid_leg"
# colours that people with any colour vision tell apart (Okabe and Ito)
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
        f"RMS [N m] and share of the parts of the error of diagonal armature: `{ROBOT}`, base fixed, "
        f"every joint moving as {sine.amplitude:g} sin(2 pi {sine.frequency:g} Hz t) rad for {sine.duration:g} s "
        f"({len(q)} samples), rotors locked into their carriers. Parts that are zero are not listed. The parts add up "
        f"to the error within 1e-{digits} N m at every sample."
    )
    return f"{text}\n\n{markdown(['', *found.names], rows)}", found, sine


def _cell(rms: float, share: float) -> str:
    """Return a number and its share, without a place to break the line."""
    return f"{rms:.3f}\u00a0({round(100.0 * share):d}\u00a0%)" if rms >= 5e-4 else "0"


def torso_and_leg() -> pc.ClusterModel:
    """Return one leg of the MIT humanoid on the torso of the whole robot, floating."""
    whole, leg = load("mit_humanoid", floating=True), load(ROBOT, floating=True)
    tree = leg.tree.copy()
    tree.inertias[1] = whole.tree.inertias[1]
    return pc.ClusterModel(tree, leg.constraints)


def measures() -> str:
    """Return the table of accelerations in flight, and a line on the momentum of spin."""
    model, rng = torso_and_leg(), np.random.default_rng(0)
    q = np.array([pc.integrate(model, pc.neutral(model), rng.uniform(-1.0, 1.0, model.nv)) for _ in range(STATES)])
    v, tau = rng.normal(size=(2, STATES, model.nv))
    tau[:, :6] = 0.0
    forward, flight = metrics.forward_error(model, q, v, tau), metrics.flight(model, q, v, tau)
    osim = metrics.osim_error(model, "ankle", q[:200])
    at = [forward.names.index(name) for name in ("hip_ry", "knee", "ankle")]
    rows = [
        [
            LABELS[rung],
            *(f"{100.0 * flight.relative[rung][part]:.1f}" for part in ("linear", "angular")),
            *(f"{100.0 * forward.relative[rung][i]:.1f}" for i in at),
            f"{100.0 * osim.mean[rung]:.1f}",
            f"{flight.momentum_rate[rung]['angular']:.2g}",
        ]
        for rung in RUNGS
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
        f"Torso and one leg of the MIT humanoid in flight, {STATES} random states (poses within 1 rad, rates and "
        "torques normal with 1 rad/s and 1 N m): RMS error of the accelerations in per cent of the exact RMS, "
        "mean error of the linear inertia at the ankle in per cent, and the rate at which the true angular momentum "
        "would change.\n\n"
        f"{markdown(head, rows)}\n\n"
        f"With both knees of the whole robot at 10 rad/s the rotors' spin has {spin.spin:.3f} N m s, as much as the "
        f"robot turning as one body at {spin.spin_rate:.2f} rad/s."
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
        axes.set_title(f"{joint}: exact minus diagonal armature, and what it consists of", loc="left", fontsize=11)
        axes.set_ylabel("torque [N m]")
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("time [s]")
    axes.set_xlim(0.0, sine.time[shown][-1])
    figure.savefig(FIGURE, dpi=130)


def main(arguments: list[str] | None = None) -> int:
    """Compute, fill and draw; with --check, only say whether the page is out of date."""
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
