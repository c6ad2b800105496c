"""Make the pictures of the examples: ``python examples/pictures/make.py [folder] [number ...]``.

Each function ``draw_NN`` draws the result of ``main()`` of its example. The picture of example 10 is a screenshot of
the page that the example writes, and needs Chromium and Playwright.
"""

from __future__ import annotations

import importlib.util
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from PIL import Image

HERE = Path(__file__).parent
# the palette of Okabe and Ito, which colour-blind readers can distinguish
BLUE, ORANGE, GREEN, RED, SKY, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#777777"
BROWSER = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
           "--ignore-gpu-blocklist")  # fmt: skip
TIME, WAIT = 0.83, 3.0  # time shown in the screenshot, and time to draw it [s]

sys.path.insert(0, str(HERE.parent))  # for ppo.py
mpl.use("Agg")
mpl.rcParams.update({
    "font.size": 9.0, "axes.titlesize": 10.0, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "axes.axisbelow": True, "grid.color": "#e4e4e4", "legend.frameon": False, "figure.dpi": 110,
})  # fmt: skip


def sheet(columns: int = 2, **how: Any) -> tuple[Figure, Any]:
    """Return an empty figure."""
    return plt.subplots(1, columns, figsize=(7.6, 2.9), layout="constrained", **how)


def draw_01(example: ModuleType, found: dict[str, np.ndarray]) -> Figure:
    """Torques of knee and ankle, exact and with armature."""
    figure, axes = sheet()
    time = example.DT * np.arange(example.STEPS)
    for ax, name, i in zip(axes, ("knee", "ankle"), (3, 4), strict=True):
        ax.plot(time, found["exact"][:, i], color=BLUE, label="exact")
        ax.plot(time, found["armature"][:, i], color=ORANGE, ls="--", label="armature")
        ax.set(title=f"torque of the {name}", xlabel="time [s]", ylabel="[N m]", xlim=(0, 1))
    axes[0].set_ylim(None, 13.0)
    axes[0].legend(loc="upper center", ncols=2)
    return figure


def draw_02(example: ModuleType, found: dict[str, np.ndarray]) -> Figure:
    """Errors of two approximations at one state."""
    figure, ax = sheet(1)
    x = np.arange(len(example.LINKS))
    for k, (name, color) in enumerate((("none", GREY), ("diagonal", ORANGE))):
        ax.bar(x + 0.36 * k - 0.18, found[name] - found["exact"], 0.34, color=color, label=f"armature: {name}")
    ax.axhline(0.0, color="black", lw=0.8)
    ax.set_xticks(x, list(example.LINKS))
    ax.set(title="torque error of two approximations at one state", ylabel="[N m]")
    ax.legend()
    return figure


def draw_03(example: ModuleType, found: np.ndarray) -> Figure:
    """Energies of the swing."""
    figure, (left, right) = sheet()
    time, kinetic, total = found.T
    left.plot(time, kinetic, color=BLUE, label="kinetic")
    left.plot(time, total - kinetic, color=ORANGE, label="potential")
    left.plot(time, total, color="black", lw=1.0, label="sum")
    left.set(title="energy of the swinging four-bar", xlabel="time [s]", ylabel="[J]")
    left.legend(loc="center right")
    right.semilogy(time[1:], np.abs(total - total[0])[1:] / kinetic.max() + 1e-17, color=BLUE, lw=0.8)
    right.set(title="energy drift / largest kinetic energy", xlabel="time [s]", ylim=(1e-17, 1e-8))
    return figure


def draw_04(example: ModuleType, found: tuple[np.ndarray, ...]) -> Figure:
    """Gear ratio and reflected inertia of the cable."""
    figure, (left, right) = sheet()
    angle, ratio, reflected = found
    left.plot(angle, ratio, color=BLUE)
    left.set(title="gear ratio, motor to elbow", xlabel="elbow [rad]", ylim=(0, None))
    right.plot(angle, reflected, color=ORANGE)
    right.axhline(example.MASS * example.LENGTH**2 / 3, color=GREY, ls=":", label="inertia of the forearm")
    right.set(title="reflected inertia of the motor", xlabel="elbow [rad]", ylabel="[kg m$^2$]", ylim=(0, 0.042))
    right.legend(loc="upper right")
    return figure


def draw_05(example: ModuleType, found: dict[str, np.ndarray]) -> Figure:
    """Parallelograms of torques."""
    figure, axes = sheet()
    for ax, pair in zip(axes, ("hip roll, pitch", "knee, ankle"), strict=True):
        for name, color in (("straight", BLUE), ("squat", ORANGE)):
            corners = found[f"{name}: {pair}"]
            ax.add_patch(Polygon(corners, closed=True, fc=color, ec=color, alpha=0.35, lw=2.0, label=name))
        first, second = pair.split(", ")
        ax.set(xlim=(-32, 32), ylim=(-27, 27), xlabel=f"{first} [N m]", ylabel=f"{second.removeprefix('hip ')} [N m]")
        ax.set_title(f"torque limits of {pair.replace(', ', ' and ')}", fontsize=9)
    axes[0].legend(loc="upper left")
    return figure


def draw_06(example: ModuleType, found: Any) -> Figure:
    """Errors per kind of joint."""
    figure, ax = sheet(1)
    study = found.study
    kinds = [j.removesuffix("_joint") for j in study.joints if not j.startswith("right")]
    columns = [k for k, j in enumerate(study.joints) if not j.startswith("right")]
    x = np.arange(len(kinds))
    for k, (level, color) in enumerate((("none", GREY), ("diagonal", BLUE))):
        share = found.percent[level][columns]
        ax.bar(x + 0.4 * k - 0.2, share, 0.38, color=color, label="no armature" if level == "none" else "armature")
    ax.axhline(
        found.verdict.torque.threshold,
        color=RED,
        ls="--",
        lw=1.2,
        label=f"threshold, {found.verdict.torque.threshold:g} %",
    )
    ax.set_yscale("log")
    ax.set_xticks(x, [k.removeprefix("left_").replace("_", " ") for k in kinds], rotation=40, ha="right")
    ax.set(title="G1: RMS torque error", ylabel="[% of peak torque]", ylim=(0.005, 200))
    ax.legend(ncols=3, loc="upper right")
    return figure


def draw_07(example: ModuleType, found: dict[str, np.ndarray]) -> Figure:
    """Torque and power of the motors of a leg."""
    figure, (left, right) = sheet()
    names = [r.name for r in example.pc.load("mit_humanoid").rotors]
    for part, color in (("hip_ry", GREEN), ("knee", BLUE), ("ankle", ORANGE)):
        k = names.index(f"left_{part}_rotor")
        left.plot(found["time"], found["torque"][:, k], color=color, label=part)
        right.plot(found["time"], found["power"][:, k], color=color, lw=1.2)
    left.set(title="walk: torque of the rotors, left leg", xlabel="time [s]", ylabel="[N m]", ylim=(None, 3.8))
    right.set(title="mechanical power of the motors", xlabel="time [s]", ylabel="[W]")
    left.legend(ncols=3, loc="upper center")
    return figure


def draw_08(example: ModuleType, found: dict[str, np.ndarray]) -> Figure:
    """Torque errors of armature in MuJoCo."""
    figure, ax = sheet(1)
    names = list(found["joints"])
    columns = [k for k, name in enumerate(names) if name.startswith("left")]
    x = np.arange(len(columns))
    ax.bar(x, 100 * (found["error"] / found["torque"])[columns], 0.6, color=ORANGE)
    ax.set_xticks(x, [names[k].removeprefix("left_") for k in columns], rotation=20)
    ax.set(title="armature in MuJoCo: RMS torque error / RMS torque", ylabel="[%]")
    return figure


def draw_09(example: ModuleType, found: dict[str, np.ndarray]) -> Figure:
    """The squat, and the torque of a knee motor with and without its limit."""
    figure, (left, right) = sheet()
    start = found["wanted"][0]
    left.plot(found["time"], 1e3 * (found["wanted"] - start), color=GREY, ls="--", label="desired")
    left.plot(found["time"], 1e3 * (found["reached"] - start), color=BLUE, label="simulated")
    left.set(title="squat: height of the centre of mass", xlabel="time [s]", ylabel="[mm]")
    left.legend()
    limit = example.LARGE
    example.LARGE = 100.0
    free = example.main()
    right.plot(free["time"], free["torque"], color=GREY, ls="--", label="motors without limit")
    right.plot(found["time"], found["torque"], color=BLUE, label="with limit")
    sign = np.sign(found["torque"][np.abs(found["torque"]).argmax()])
    right.axhline(sign * limit, color=RED, lw=1.0)
    right.set(title="torque of a knee motor", xlabel="time [s]", ylabel="[N m]")
    right.legend(loc="best")
    return figure


def draw_11(example: ModuleType, found: dict[str, Any]) -> Figure:
    """Motor torques of both programs, and computation times."""
    figure, (left, right) = sheet()
    for (name, (torques, *_)), marker, color in zip(found.items(), "o.", (GREY, BLUE), strict=True):
        left.plot(torques, marker, color=color, label=name)
    left.set(title="motor torques", xlabel="motor", ylabel="[N m]")
    left.legend(loc="lower center")
    for i, (_, made, needed) in enumerate(found.values()):
        right.bar(i, 1e6 * made, color=BLUE, label="build" if not i else None)
        right.bar(i, 1e6 * needed, bottom=1e6 * made, color=GREY, label="solve" if not i else None)
    right.set(title="computation time", ylabel="[us]", xticks=[0, 1], xticklabels=list(found))
    right.margins(y=0.4)
    right.legend()
    return figure


def draw_12(example: ModuleType, found: dict[str, dict[str, np.ndarray]]) -> Figure:
    """Acceleration of a knee in a swing, and touch-down impulses."""
    figure, (left, right) = sheet()
    swing = slice(example.STAND, example.STAND + example.SWING)
    lands = found["exact"]["impulse"].any(axis=(1, 2)).nonzero()[0]
    feet = [(k, i) for k, pair in zip(lands, example.PAIRS[::-1], strict=True) for i in pair]
    looks = ("exact", "exact", BLUE, "-"), ("there", "armature", ORANGE, "--")
    for n, (run, name, color, style) in enumerate(looks):
        knee = found[run]["a"][swing, 11]
        left.plot(example.DT * np.arange(example.SWING), knee, style, color=color, label=name)
        up = [1e3 * found[run]["impulse"][k, i, 2] for k, i in feet]
        right.bar(np.arange(4) + 0.38 * n - 0.19, up, 0.36, color=color, label=name)
    left.set(title="knee acceleration of a swing leg", xlabel="time [s]", ylabel="[rad/s$^2$]")
    right.set_xticks(np.arange(4), [example.LEGS[i] for _, i in feet])
    right.set(title="vertical touch-down impulse at 1 m/s", ylabel="[mN s]", ylim=(0, 440))
    left.legend(loc="lower left", title="same states, same torques", alignment="left")
    right.legend(ncols=2)
    return figure


def draw_13(example: ModuleType, found: dict[str, np.ndarray]) -> Figure:
    """Landing impulses over the knee angle and over the gear ratios."""
    figure, axes = sheet(3)
    names = "exact", "armature", "armature and coupling of belts", "locked rotors"
    looks = [*zip(names, (BLUE, ORANGE, RED, GREY), ("-", "--", ":", "-."), strict=True)]
    for ax, key in zip(axes, ("toes", "heels", "scaled"), strict=True):
        across = example.SCALES if key == "scaled" else example.BENDS
        for column, (name, color, style) in zip(found[key].T, looks, strict=True):
            ax.plot(across, column, style, color=color, label=name)
        ax.set(xlabel="knees [rad]", ylim=(0, None), title=f"landing on {key}: upward impulse")
    axes[0].set(ylabel="[N s]")
    axes[2].set(xlabel="factor of all gear ratios", title=f"on toes, knees at {example.BEND} rad")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def draw_14(example: ModuleType, found: dict[str, np.ndarray]) -> Figure:
    """Identified rotor inertias with confidence intervals, and torque errors along another motion."""
    figure, axes = sheet()
    rows = np.arange(len(found["names"]))
    share = found["found"] / found["truth"]
    axes[0].errorbar(share, rows, xerr=2.0 * found["deviation"] / found["truth"], fmt="o", color=BLUE, capsize=3)
    axes[0].axvline(1.0, color=GREY, lw=1.0)
    axes[0].set(yticks=rows, yticklabels=[name.replace("_rotor", "") for name in found["names"]], ylim=(-0.5, 3.5))
    axes[0].set(title="identified / true rotor inertia", xlabel="bars: two standard deviations", xlim=(-9, 9))
    joints = np.arange(len(found["rotors"]))
    for shift, key, color in ((-0.2, "rotors", BLUE), (0.2, "armature", ORANGE)):
        axes[1].bar(joints + shift, found[key], 0.38, color=color, label=f"fit with {key}")
    axes[1].axhline(example.NOISE, color=GREY, ls="--", label="measurement noise")
    axes[1].set(xticks=joints, xticklabels=["hip_rz", "hip_rx", "hip_ry", "knee", "ankle"], ylabel="[N m]")
    axes[1].set(title="torque error along another motion", ylim=(0, 0.75))
    axes[1].legend(loc="upper center", fontsize=7.5)
    return figure


def draw_15(example: ModuleType, found: dict[str, dict[str, Any]]) -> Figure:
    """Final poses and ankle angles of the exact leg under three plans."""
    figure, (left, right) = sheet(2, width_ratios=(1, 1.25))
    best = found["exact, torques alone"]
    left.plot(*best["legs"][0][:, [0, 2]].T, "o-", color=GREY, lw=1.5, ms=3)
    left.text(*best["legs"][0][1, [0, 2]] + (0.03, -0.03), "start", color=GREY)
    time = example.DT * np.arange(example.STEPS + 1)
    for name, color in (("exact", BLUE), ("armature and belts", RED), ("armature", ORANGE)):
        alone, led = (found[f"{name}, {way}"] for way in ("torques alone", "with feedback"))
        left.plot(*alone["legs"][-1][:, [0, 2]].T, "o-", color=color, lw=2.0, ms=3)
        left.plot(*alone["legs"][:, 3, [0, 2]].T, color=color, lw=0.8)
        more = f": effort {led['effort'] / best['effort'] - 1.0:+.1%}" if name != "exact" else ""
        right.plot(time, np.degrees(alone["moves"][:, 4]), color=color, label=f"{name}")
        right.plot(time, np.degrees(led["moves"][:, 4]), "--", color=color, label=f"with feedback{more}")
    left.set(title="exact leg under three plans", xlabel="forward [m]", ylabel="upward [m]", aspect="equal")
    right.set(title="ankle angle [deg]", xlabel="time [s]", xlim=(0, None))
    right.legend(title="planned with", alignment="left", fontsize=8)
    return figure


def draw_16(example: ModuleType, found: dict[str, dict[str, np.ndarray]]) -> Figure:
    """Motions of the exact robots under two plans: path of the pendulum tip, and crank angle."""
    figure, (left, right) = sheet(2, width_ratios=(1, 1.35))
    for name, color in (("armature", ORANGE), ("exact", BLUE)):
        for key, style, width in (("planned", ":", 1.0), ("played", "-", 1.4)):
            angles = np.cumsum(found[f"double pendulum, {name}"][key], axis=1)
            joints = np.cumsum(0.3 * np.stack([np.sin(angles), np.cos(angles)], axis=-1), axis=1)
            if name == "exact" or key == "played":
                left.plot(*joints[:, 1].T, style, color=color, lw=width)
            crank = np.degrees(found[f"four-bar, {name}"][key][:, 0])
            time = np.linspace(0.0, 1.5, len(crank))
            words = {"planned": f"planned with {name}", "played": "executed by the robot"}[key]
            right.plot(time, crank, style, color=color, lw=width, label=words)
        left.plot(*np.vstack([np.zeros(2), joints[-1]]).T, "o-", color=color, lw=3.0, ms=4)
    left.set(title="double pendulum: path and final pose", xlabel="[m]", ylabel="upward [m]")
    left.set(aspect="equal", xlim=(-0.5, 0.5))
    right.set(title="four-bar: crank angle [deg]", xlabel="time [s]", xlim=(0, None))
    right.legend(fontsize=8, loc="upper left")
    return figure


def draw_17(example: ModuleType, found: dict[str, np.ndarray]) -> Figure:
    """Height on the rail, and contact force with its friction cone."""
    figure, (left, right) = sheet()
    time = np.linspace(0.0, example.DURATION, example.STEPS + 1)
    fine = np.linspace(0.0, example.DURATION, len(found["height"]))
    left.plot(time, 100.0 * found["q"][:, 0], "o", color=ORANGE, ms=3.5, label="planned")
    left.plot(fine, 100.0 * found["height"], color=BLUE, label="simulated")
    left.set(title="height on the rail", xlabel="time [s]", ylabel="[cm]")
    left.legend(loc="upper left")
    x, _, z = found["forces"].T
    right.fill_between(time[:-1], -example.FRICTION * z, example.FRICTION * z, color="#eeeeee", step="post")
    right.step(time[:-1], z, where="post", color=BLUE, label="up")
    right.step(time[:-1], x, where="post", color=RED, label="forward, with friction limits")
    right.set(title="contact force", xlabel="time [s]", ylabel="[N]")
    right.legend(loc="upper right")
    return figure


def draw_18(example: ModuleType, found: dict[str, Any]) -> Figure:
    """Path of the trunk, and touch-down impulses."""
    figure, (left, right) = sheet()
    for (name, run), colour in zip(found.items(), (BLUE, ORANGE), strict=True):
        left.plot(run.time, 100.0 * run.q[:, 1], color=colour, label=f"{name}, lateral")
        right.plot(
            [t.time for t in run.touchdowns], [t.impulse[2] for t in run.touchdowns], ".", color=colour, label=name
        )
    for start in example.PUSHES:
        if start < run.time[-1]:
            left.axvspan(start, start + example.LONG, color="#dddddd")
    left.set(title="trunk (pushes in grey)", xlabel="time [s]", ylabel="[cm]")
    right.set(title="touch-down impulse of the first 2 ms", xlabel="time [s]", ylabel="[N s]")
    left.legend(fontsize=8)
    right.legend(fontsize=8)
    return figure


def draw_19(example: ModuleType, run: Any) -> Figure:
    """Motion of the pelvis, and forces of the feet."""
    figure, (left, right) = sheet()
    for i, name, colour in ((0, "forward", BLUE), (1, "to the left", RED), (2, "up", GREEN)):
        left.plot(run.time, 100.0 * (run.q[:, i] - run.q[0, i]), color=colour, label=name)
    force = run.contact_impulses[:-1, :, 2] / np.diff(run.time)[:, None]
    for b, colour in ((0, BLUE), (1, ORANGE)):
        right.plot(run.time[:-1], force[:, b], color=colour, lw=0.8, label=run.bodies[b].replace("_", " "))
    for start, _ in example.PUSHES:
        if start < run.time[-1]:
            left.axvspan(start, start + example.LONG, color="#dddddd")
    left.set(title="pelvis (pushes in grey)", xlabel="time [s]", ylabel="[cm]")
    right.set(title="vertical contact force", xlabel="time [s]", ylabel="[N]", ylim=(0, 500))
    left.legend(fontsize=8)
    right.legend(fontsize=8)
    return figure


def draw_20(example: ModuleType, found: dict[str, np.ndarray]) -> Figure:
    """Twist, and energy balance."""
    figure, (left, right) = sheet()
    left.axhspan(*np.degrees([-example.BACKLASH, example.BACKLASH]), color="#dddddd")
    left.plot(found["time"], np.degrees(found["twist"]), color=BLUE)
    left.set(title="twist of gear and link (backlash in grey)", xlabel="time [s]", ylabel="[deg]")
    for i, name, colour in (
        (0, "motor", BLUE),
        (1, "friction", RED),
        (2, "gear", ORANGE),
        (3, "damping", GREEN),
    ):
        right.plot(found["time"], found["energies"][:, i], color=colour, label=name)
    right.set(title="work of the motor, and losses", xlabel="time [s]", ylabel="[J]")
    right.legend(fontsize=8)
    return figure


def draw_21(example: ModuleType, found: Any) -> Figure:
    """Joint torque limits, and motor torque during a swing."""
    figure, (left, right) = sheet()
    for pitch, colour in zip(found["G1"]["polygons"], (BLUE, GREEN, ORANGE), strict=True):
        corners = found["G1"]["polygons"][pitch]
        left.fill(*corners.T, fill=False, edgecolor=colour, lw=1.6, label=f"pitch {pitch:g} rad")
    errors = found["G1"]["errors"][1.0]
    right.plot(errors.t, errors.exact[:, 0], color=BLUE, label="exact")
    right.plot(errors.t, errors.static[:, 0], color=RED, ls="--", label="static map")
    left.set(title="G1: torque limits with 25 N m motors", xlabel="pitch [N m]", ylabel="roll [N m]")
    right.set(title="motor torque, foot swings at 1 Hz", xlabel="time [s]", ylabel="[N m]")
    left.legend(fontsize=8)
    right.legend(fontsize=8)
    return figure


def draw_22(example: ModuleType, found: dict[str, tuple[float, list[float]]]) -> Figure:
    """Published armature, and the sum over the stages."""
    figure, axes = sheet()
    for ax, (name, (right, published)) in zip(axes, found.items(), strict=True):
        values = sorted(set(published) - {published[0 if name == "booster_t1" else -1]})
        ax.bar([f"{x:.3g}" for x in values], values, color=RED)
        ax.axhline(right, color=BLUE)
        ax.annotate(f"sum over the stages: {right:.4g}", (0.03, right), xycoords=("axes fraction", "data"), va="bottom")
        ax.set(
            title=f"{name}, knee", ylabel="armature [kg m^2]", xlabel="other published values", ylim=(0, 1.25 * right)
        )
    return figure


def draw_23(example: ModuleType, found: Any) -> Figure:
    """Reward and speed during a long training, and the replayed walk."""
    figure, (left, right) = sheet()
    left.plot(*found["history"][:, :2].T, color=BLUE, label="mean reward")
    left.plot(*found["history"][:, [0, 2]].T, color=ORANGE, label="mean speed [m/s]")
    right.plot(*found["walk"][:, :2].T, color=GREEN, label="forward position [m]")
    right.plot(*found["walk"][:, [0, 2]].T, color=GREY, label="height of the trunk [m]")
    left.set(title="training", xlabel="CPU time [s]")
    right.set(title="policy without noise, pc.simulate", xlabel="time [s]")
    left.legend(fontsize=8)
    right.legend(fontsize=8)
    return figure


def draw_24(example: ModuleType, found: Any) -> Figure:
    """Reward during a long training, and the replayed motion."""
    figure, (left, middle, right) = sheet(3)
    walk = found["walk"]
    left.plot(*found["history"][:, :2].T, color=BLUE)
    middle.plot(walk[:, 0], walk[:, 1], color=GREEN, label="forward position")
    middle.plot(walk[:, 0], walk[:, 2], color=GREY, label="height of the trunk")
    for k, (side, color) in enumerate((("left", BLUE), ("right", ORANGE))):
        right.plot(walk[:, 0], 100.0 * walk[:, 3 + k], color=color, label=f"{side} foot")
    left.set(title="training", xlabel="CPU time [s]", ylabel="mean reward")
    middle.set(title="policy without noise", xlabel="time [s]", ylabel="[m]")
    right.set(title="height of the feet", xlabel="time [s]", ylabel="[cm]", xlim=(1.0, 4.0))
    middle.legend(fontsize=8)
    right.legend(fontsize=8)
    return figure


def draw_10(example: ModuleType, found: Any) -> Image.Image:
    """Return a screenshot of the page."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(BROWSER))
        page = browser.new_page(viewport={"width": 800, "height": 520})
        page.goto(Path("leg.html").resolve().as_uri())
        page.wait_for_function("window.viewer !== undefined")
        page.evaluate("viewer.gui.domElement.style.display = 'none'")
        page.evaluate(
            "t => { viewer.animator.pause(); viewer.animator.seek(t); viewer.animator.display_progress(t); }", TIME
        )
        page.wait_for_timeout(1e3 * WAIT)
        shot = page.screenshot()
        browser.close()
    return Image.open(io.BytesIO(shot))


def image(drawn: Figure | Image.Image) -> Image.Image:
    """Return a picture with 256 colours, which keeps the file small."""
    if isinstance(drawn, Figure):
        buffer = io.BytesIO()
        drawn.savefig(buffer, format="png", dpi=110, facecolor="white")
        plt.close(drawn)
        drawn = Image.open(buffer)
    return drawn.convert("RGB").quantize(256, kmeans=4, dither=Image.Dither.NONE)


def main(folder: Path, numbers: list[str]) -> None:
    """Run the examples in a temporary folder and draw their results; some examples run longer than usual."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(HERE.parent.glob("[0-9][0-9]_*.py")):
        number = path.stem[:2]
        if numbers and number not in numbers:
            continue
        spec = importlib.util.spec_from_file_location(f"example_{number}", path)
        assert spec is not None
        assert spec.loader is not None
        example = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(example)
        draw: Callable[[ModuleType, Any], Figure | Image.Image] = globals()[f"draw_{number}"]
        before = Path.cwd()
        with tempfile.TemporaryDirectory() as work:
            os.chdir(work)
            try:
                seconds = {"18": 10.0, "19": 10.0, "23": 240.0, "24": 600.0}.get(number)
                longer = {} if seconds is None else {"seconds": seconds}
                image(draw(example, example.main(**longer))).save(folder / f"{number}.png", optimize=True)
            finally:
                os.chdir(before)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE, sys.argv[2:])
