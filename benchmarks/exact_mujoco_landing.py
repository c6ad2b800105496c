"""Draw a landing of the MIT Humanoid in MuJoCo: ``python benchmarks/exact_mujoco_landing.py [--output FILE]``.

The robot lands on its toes. The figure compares diagonal armature, ``pc.mujoco.Exact`` and the exact file, in which
rotors are bodies.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import mujoco
import numpy as np
from matplotlib.figure import Figure
from support import exact_mujoco as em
from support import landings

import pin_clusters as pc

FIGURE = Path(__file__).resolve().parent.parent / "docs" / "figures" / "exact_mujoco.png"
JOINT, STEP, DURATION = "right_knee", 2.5e-5, 2e-3


def landing(model: pc.ClusterModel, tree: Any, q: np.ndarray) -> np.ndarray:
    """Return the vertical impulse of all contacts [N s] and the speed of the knee [rad/s] after each time step."""
    d, force, impulse, rows = mujoco.MjData(tree), np.zeros(6), 0.0, [(0.0, 0.0)]
    em.Coordinates(model, tree).put(d, q, np.zeros(model.nv))
    for i in range(tree.njnt):  # In the exact file, rotors have joints.
        j = model.tree.getJointId(tree.joint(i).name)
        if 0 < j < model.tree.njoints and model.tree.nqs[j] == 1:
            d.qpos[tree.jnt_qposadr[i]] = q[model.tree.idx_qs[j]]
    d.qvel[2] = -landings.SPEED
    for _ in range(round(DURATION / STEP)):
        mujoco.mj_step(tree, d)
        for c in range(d.ncon):
            mujoco.mj_contactForce(tree, d, c, force)
            impulse += STEP * float(d.contact[c].frame.reshape(3, 3).T[2] @ force[:3])
        rows.append((impulse, float(d.joint(JOINT).qvel[0])))
    return np.array(rows)


def draw(path: Path) -> None:
    model = em.exact("mit_humanoid")
    q = landings.pose(model, landings.TILTS["toes"])
    trees = {name: landings.scene(pc.to_mjcf(model, name), STEP, 1.0) for name in ("diagonal", "exact")}
    curves = {
        "tree with diagonal armature": (landing(model, trees["diagonal"], q), "C1", "-"),
        "exact: rotors are bodies": (landing(model, trees["exact"], q), "0.65", "-"),
    }
    with pc.mujoco.Exact(model, trees["diagonal"]):
        curves["tree with pc.mujoco.Exact"] = landing(model, trees["diagonal"], q), "C0", "--"
    time = 1e3 * STEP * np.arange(round(DURATION / STEP) + 1)
    figure = Figure(figsize=(9.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for label, (rows, color, line) in curves.items():
        wide = 5.0 if label.startswith("exact") else 1.8
        for axes, column in ((left, 0), (right, 1)):
            axes.plot(time, rows[:, column], color=color, linestyle=line, linewidth=wide, label=label)
    left.set(ylabel="vertical impulse of the ground [N s]", xlabel="time [ms]")
    right.set(ylabel=f"speed of joint {JOINT} [rad/s]", xlabel="time [ms]")
    left.legend(fontsize="small")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main(arguments: list[str] | None = None) -> int:
    """Simulate and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=FIGURE)
    draw(parser.parse_args(arguments).output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
