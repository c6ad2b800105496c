"""What ``pc.to_mjcf`` writes in MuJoCo, beside this package: ``python benchmarks/mujoco_files.py [--quick]``; a minute.

Both get the same torques for two seconds, held for 1 ms each, and MuJoCo the files best, diagonal and exact. The error
is that of the coordinates of the independent joints, [rad]; limits of joints are off, as nothing has them here.

- With rotors, in free fall, every joint gets ``A M_ii w^2 cos(w t)`` N m from rest at the reference pose, with 1, 1.5
  and 2 Hz in turn; A is 0.1 rad for the quadruped, 0.03 rad for the humanoid, whose limbs whirl if it is more, and 0.05
  rad of the motors for Tello.
- Closed loops swing passively from rest at a stated pose.

MuJoCo takes steps of 1, 1/4 and 1/16 ms with its Runge-Kutta method, and 1 ms with ``implicitfast``; equalities have a
time constant of two steps, so that they stiffen with the step. Here it is Runge-Kutta with 1 ms, on the manifold, and
once more with 1/4 ms, which tells how good that is.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import mujoco
import numpy as np
import pinocchio as pin
import timing

import pin_clusters as pc

RESULTS = Path(__file__).parent / "results" / "mujoco_files.json"
FIGURE = Path(__file__).parent.parent / "docs" / "figures" / "mujoco_files.png"
DURATION, HOLD = 2.0, 1e-3
AMPLITUDE = {"mini_cheetah": 0.1, "mit_humanoid": 0.03, "tello": 0.05}
"""[rad], of what drives a robot in free fall."""
ROBOTS: dict[str, dict[str, float]] = {
    "mini_cheetah": {},
    "mit_humanoid": {},
    "four_bar": {"crank": 2.0},
    "ankle_2rsu": {"ankle_pitch": 0.3, "ankle_roll": 0.1},
    "tello": {},
}
"""Robots, with the start of those that swing passively: coordinates of joints from the reference pose, [rad]."""
APPROXIMATIONS = ("best", "diagonal", "exact")
STEPS = (("implicitfast", 1), ("RK4", 1), ("RK4", 4), ("RK4", 16))
"""Integrator, and steps per millisecond."""


def load(name: str) -> pc.ClusterModel:
    """Return a robot, without the warnings about its numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return pc.load(name)


def moved(model: pc.ClusterModel) -> list[str]:
    """Return the independent joints of one degree of freedom."""
    return [n for n in model.independent_joints if model.tree.nvs[model.getJointId(n)] == 1]


def torques(model: pc.ClusterModel, samples: int) -> np.ndarray:
    """Return what drives a robot, shape (samples, nv), [N m]."""
    tau = np.zeros((samples, model.nv))
    if model.name not in AMPLITUDE:
        return tau
    M, t = pc.crba(model, model.createData(), pc.neutral(model)), HOLD * np.arange(samples)
    for k, name in enumerate(moved(model)):
        i, w = model.joint_idx_v(name), 2.0 * np.pi * (1.0 + 0.5 * (k % 3))
        tau[:, i] = AMPLITUDE[model.name] * M[i, i] * w**2 * np.cos(w * t)
    return tau


def start(model: pc.ClusterModel, given: dict[str, float]) -> np.ndarray:
    """Return the configuration from which a robot starts."""
    step = np.zeros(model.nv)
    for name, value in given.items():
        step[model.joint_idx_v(name)] = value
    return pc.integrate(model, pc.neutral(model), step)


class There:
    """MuJoCo on a file.

    Args:
        model: The robot.
        approximation: Of the file.
        integrator: Of the file.
        finer: Steps per millisecond.
    """

    def __init__(self, model: pc.ClusterModel, approximation: str, integrator: str, finer: int) -> None:
        text = pc.to_mjcf(model, approximation, timestep=HOLD / finer, integrator=integrator)  # type: ignore[arg-type]
        self.model, self.finer, self.there = model, finer, mujoco.MjModel.from_xml_string(text)
        self.there.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
        self.data = mujoco.MjData(self.there)
        joints = [self.there.joint(name) for name in moved(model)]
        self.at_q, self.at_v = ([int(getattr(j, f)[0]) for j in joints] for f in ("qposadr", "dofadr"))

    def place(self, q: np.ndarray) -> None:
        """Go from the reference pose to a configuration: joints by name, what the file adds by its equalities."""
        mujoco.mj_resetDataKeyframe(self.there, self.data, 0)
        tree, known = self.model.tree, []
        for i in range(self.there.njnt):
            joint = self.there.joint(i)
            if tree.existJointName(joint.name) and tree.nvs[tree.getJointId(joint.name)] == 1:
                self.data.qpos[joint.qposadr[0]] = q[tree.idx_qs[tree.getJointId(joint.name)]]
                known.append(int(joint.dofadr[0]))
        self.there.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        others = np.setdiff1d(np.arange(self.there.nv), known)
        for _ in range(20 if self.model.closures and len(others) else 0):
            mujoco.mj_fwdPosition(self.there, self.data)
            J, step = np.array(self.data.efc_J).reshape(-1, self.there.nv), np.zeros(self.there.nv)
            step[others] = -np.linalg.lstsq(J[:, others], self.data.efc_pos, rcond=1e-10)[0]
            mujoco.mj_integratePos(self.there, self.data.qpos, step, 1.0)

    def run(self, q: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Return the coordinates of the independent joints each millisecond, shape (samples + 1, joints)."""
        self.place(q)
        own = [self.model.joint_idx_v(name) for name in moved(self.model)]
        found = [self.data.qpos[self.at_q].copy()]
        for row in tau:
            self.data.qfrc_applied[self.at_v] = row[own]
            for _ in range(self.finer):
                mujoco.mj_step(self.there, self.data)
            found.append(self.data.qpos[self.at_q].copy())
        return np.array(found)

    def opening(self) -> float:
        """Return how open the equalities are, [m] or [rad]."""
        mujoco.mj_forward(self.there, self.data)
        return float(np.abs(self.data.efc_pos[: self.data.ne]).max(initial=0.0))


def here(model: pc.ClusterModel, q: np.ndarray, tau: np.ndarray, finer: int) -> np.ndarray:
    """Return the same of this package."""
    held = np.repeat(tau, finer, axis=0)
    motion = pc.simulate(model, q, np.zeros(model.nv), held, duration=len(tau) * HOLD, dt=HOLD / finer, record=finer)
    return motion.q[:, [model.tree.idx_qs[model.getJointId(name)] for name in moved(model)]]


def measure(name: str, quick: bool) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return numbers of one robot, and the curves of its errors."""
    model = load(name)
    tau = torques(model, int(DURATION / HOLD / (10 if quick else 1)))
    q = start(model, ROBOTS[name])
    motion, fine = (here(model, q, tau, finer) for finer in (1, 4))
    levels = APPROXIMATIONS if model.rotors and not model.closures else ("exact",)
    found: dict[str, Any] = {
        "start": ROBOTS[name], "joints": len(moved(model)), "motion": float(np.ptp(fine, axis=0).max()),
        "here": float(np.abs(motion - fine).max()), "files": {},
    }  # fmt: skip
    curves: dict[str, np.ndarray] = {}
    for level in levels:
        rows = []
        for integrator, finer in STEPS[:2] if quick else STEPS:
            there = There(model, level, integrator, finer)
            off = np.abs(there.run(q, tau) - fine)
            rows.append(
                {"integrator": integrator, "step": HOLD / finer, "largest": float(off.max()),
                 "rms": float(np.sqrt(np.mean(off**2))), "opening": there.opening()}
            )  # fmt: skip
            if integrator == "RK4" and finer == (1 if quick else 4):
                curves[level] = off.max(axis=1)
        found["files"][level] = rows
    return found, curves


def draw(curves: dict[str, dict[str, np.ndarray]], file: Path) -> None:
    """Draw the error of each file over time."""
    from matplotlib.figure import Figure

    styles = {"diagonal": ("#D55E00", "-"), "best": ("#0072B2", (0, (5.0, 2.0))), "exact": ("#009E73", "-")}
    figure = Figure(figsize=(11.0, 5.6), dpi=110, layout="constrained")
    *axes, blank = figure.subplots(2, 3, sharex=True, sharey=True).ravel()
    blank.set_axis_off()
    for ax, (name, lines) in zip(axes, curves.items(), strict=True):
        for level in (r for r in styles if r in lines):
            colour, dash = styles[level]
            y = np.maximum(lines[level], 1e-13)
            ax.semilogy(HOLD * np.arange(len(y)), y, color=colour, linestyle=dash, linewidth=1.6, label=level)
        ax.set_title(name, loc="left", fontsize=10.5)
        ax.set_ylim(1e-12, 10.0)
        ax.grid(color="#dddddd", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    blank.legend(*axes[0].get_legend_handles_labels(), title="file", fontsize=10, frameon=False, loc="center left")
    for ax in axes[2:]:
        ax.set_xlabel("time [s]")
        ax.tick_params(labelbottom=True)
    figure.supylabel("largest error of a joint [rad]", fontsize=10.5)
    figure.suptitle("The files of pc.to_mjcf in MuJoCo, against exact dynamics: RK4, steps of 1/4 ms", fontsize=12)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="0.2 s and steps of 1 ms; writes nothing")
    options = parser.parse_args(arguments)
    robots, curves = {}, {}
    for name in ROBOTS:
        robots[name], curves[name] = measure(name, options.quick)
        print(f"{name}: moves {robots[name]['motion']:.2f} rad, here to {robots[name]['here']:.0e}")
        for level, rows in robots[name]["files"].items():
            said = ", ".join(f"{r['integrator']} {1e3 * r['step']:g} ms {r['largest']:.1e}" for r in rows)
            print(f"  {level}: {said} rad; open by {rows[-1]['opening']:.0e}")
    results = {"machine": timing.machine(), "mujoco": mujoco.__version__, "pin": pin.__version__, "robots": robots}
    if not options.quick:
        timing.write(results, RESULTS)
        draw(curves, FIGURE)
    return results


if __name__ == "__main__":
    main()
