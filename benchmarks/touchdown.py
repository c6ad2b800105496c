"""Is armature enough at touch-down? ``python benchmarks/touchdown.py`` lets robots fall; ten minutes.

The exact robot and armature in place of its rotors fall on the same ground, in steps of the same length, held by the
same PD controller on the motors. In each row nothing but the rotors differs. ``report.py`` renders the tables.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import timing
from report_loops import markdown

import pin_clusters as pc
from pin_clusters import approximations
from pin_clusters.studies import study
from pin_clusters.studies.audit.walk import IMPACT, walked

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).parent / "results" / "touchdown.json"
STEPS = 2.5e-4, 6.25e-5
"""[s]: two, to see what a step changes."""
BLOW, AFTER, FRICTION = 2e-3, 0.05, 0.8
"""What counts as the blow, in which torques and speeds are looked at, [s]; of the ground."""
SOLE = [(x, y, -0.041) for x in (-0.05, 0.1) for y in (-0.03, 0.03)]
CROUCH = {"hip_ry": -0.4, "knee": 0.8, "ankle": -0.4}


@dataclass(frozen=True)
class Fall:
    """A fall: robot, feet in frames of joints [m], height [m], gains and pose [rad] by the ends of joints' names."""

    robot: str
    title: str
    feet: dict[str, list[tuple[float, float, float]]]
    above: float
    gains: dict[str, tuple[float, float]]
    pose: dict[str, float] = field(default_factory=dict)
    radius: float = 0.0


def _both(points: list[tuple[float, float, float]]) -> dict[str, list[tuple[float, float, float]]]:
    return {f"{side}_ankle": points for side in ("left", "right")}


_TOES = {f"{side}_foot": [(-0.052821, 0.092622, 0.0), (0.069746, -0.010224, 0.0)] for side in ("left", "right")}
"""Ends of the capsule, radius 20 mm, that `agility_cassie` in the MuJoCo Menagerie has for a foot."""
_TELLO = {"rotor_1": (20.0, 0.1), "rotor_2": (20.0, 0.1), "hip_yaw": (100.0, 2.0), "": (20.0, 0.5)}
"""Those of legs at the motors, which turn six times."""
FALLS = (
    Fall(
        "mini_cheetah", "four feet", {f"{leg}_knee": [(0.0, 0.0, -0.195)] for leg in ("FL", "FR", "HL", "HR")}, 0.4,
        {"": (60.0, 1.5)}, {"hip": -0.8, "knee": 1.6},
    ),
    Fall("mit_humanoid", "toes", _both(SOLE[2:]), 0.1, {"": (200.0, 4.0)}, CROUCH),
    Fall("mit_humanoid", "heels", _both(SOLE[:2]), 0.1, {"": (200.0, 4.0)}, CROUCH),
    Fall("mit_humanoid", "flat soles", _both(SOLE), 0.1, {"": (200.0, 4.0)}, CROUCH),
    Fall("tello_with_arms", "toes", _both(SOLE[2:]), 0.03, _TELLO),
    Fall("tello_with_arms", "heels", _both(SOLE[:2]), 0.03, _TELLO),
    Fall("tello_with_arms", "flat soles", _both(SOLE), 0.03, _TELLO),
    Fall(
        "cassie", "toes and heels, springs in the legs", _TOES, 0.1,
        {"hip_roll": (400.0, 8.0), "hip_yaw": (200.0, 4.0), "hip_pitch": (400.0, 8.0), "knee": (500.0, 10.0),
         "left_foot": (100.0, 2.0), "right_foot": (100.0, 2.0)},
        radius=0.02,
    ),
)  # fmt: skip
MOTORS_APART = "tello_with_arms", "cassie"
"""Robots with loops: each motor turns one joint of the tree."""


def load(name: str) -> pc.ClusterModel:
    """Return a robot with its motors' inertia as rotors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        if name == "cassie":
            return pc.buildModelFromMJCF(str(ROOT / "robot_models/cassie/model.xml"), armature="rotor")
        return pc.load(name)


def robots(model: pc.ClusterModel) -> dict[str, pc.ClusterModel]:
    """Return the exact robot and what stands for it.

    With loops that is armature of the motors, exact loops: a motor turns nothing but its own joint there, so block and
    diagonal are the same.
    """
    levels = {"armature": "diagonal"} if model.closures else {"block": "block", "diagonal": "diagonal"}
    return {"exact": model} | {name: approximations.robot(model, level) for level, name in levels.items()}


def fall(model: pc.ClusterModel, robot: pc.ClusterModel, case: Fall, dt: float) -> dict[str, Any]:
    """Return what a robot feels of a fall, by joint; pose and controller are those of the exact one."""
    x, gains = np.zeros(model.nv), np.zeros((2, model.nv))
    for name in model.independent_joints[1:]:
        i = model.joint_idx_v(name)
        x[i] = next((a for end, a in case.pose.items() if name.endswith(end)), 0.0)
        gains[:, i] = next((g for end, g in case.gains.items() if name.endswith(end)), (0.0, 0.0))
    feet = pc.contact_points(model, case.feet, case.radius)
    home = pc.integrate(model, model.q_reference if model.closures else pc.neutral(model), x)
    home = pc.on_ground(model, home, touching=feet, above=case.above)

    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        off = pc.difference(model, q, home)
        off[:6] = 0.0
        return gains[0] * off - gains[1] * v

    duration = np.sqrt(2.0 * case.above / 9.81) + 2.0 * AFTER
    run = pc.simulate(robot, home, np.zeros(model.nv), control, duration, dt, ground=pc.Ground(FRICTION), touching=feet)
    up = run.contact_impulses[:, :, 2].sum(axis=1)
    k = int(np.flatnonzero(up > 1e-9)[0])
    after = slice(k, k + round(AFTER / dt))
    driven = [name for name in model.independent_joints[1:] if gains[0, model.joint_idx_v(name)]]
    columns = [model.joint_idx_v(name) for name in driven]
    return {
        "impulse": float(up[k : k + round(BLOW / dt)].sum()), "time": float(run.time[k]),
        "torque": dict(zip(driven, np.abs(run.tau[after][:, columns]).max(axis=0).tolist(), strict=True)),
        "speed": dict(zip(driven, np.abs(run.v[k + 2][columns]).tolist(), strict=True)),
        "residual": float(run.residual.max()), "sunk": float(run.gap.min()),
    }  # fmt: skip


def measure(falls: tuple[Fall, ...] = FALLS, steps: tuple[float, ...] = STEPS) -> list[dict[str, Any]]:
    """Return all falls."""
    found = []
    for case in falls:
        model = load(case.robot)
        entry: dict[str, Any] = {"robot": case.robot, "title": case.title, "above": case.above, "by_step": {}}
        for dt in steps:
            entry["by_step"][f"{dt:g}"] = {n: fall(model, robot, case, dt) for n, robot in robots(model).items()}
        found.append(entry)
        print(_row(entry))
    return found


def walk() -> dict[str, Any]:
    """Return touch-downs along the shipped walk."""
    model = load("mit_humanoid")
    found = walked(model, study.motion("mit_humanoid_walk"), None, None, None)
    print(found.sentence)
    return found.as_dict()


def _worst(runs: dict[str, Any], kind: str, last: str) -> str:
    exact, other = runs["exact"][kind], runs[last][kind]
    return max(exact, key=lambda name: abs(other[name] - exact[name]))


def _row(entry: dict[str, Any]) -> list[str]:
    coarse, fine = entry["by_step"].values()
    levels = [name for name in ("block", "diagonal") if name in fine]
    off = {r: 100.0 * (fine[r]["impulse"] / fine["exact"]["impulse"] - 1.0) for r in levels}
    row = [f"`{entry['robot']}`", f"{entry['title']}, {entry['above']:g} m"]
    row.append(f"{fine['exact']['impulse']:.3g} ({coarse['exact']['impulse']:.3g})")
    for r in ("block", "diagonal"):
        was = 100.0 * (coarse[r]["impulse"] / coarse["exact"]["impulse"] - 1.0) if r in off else 0.0
        row.append(f"{off[r]:+.1f} % ({was:+.1f})" if r in off else "the same")
    for kind in ("torque", "speed"):
        joint = _worst(fine, kind, levels[-1])
        row.append(f"{joint}: " + " / ".join(f"{fine[r][kind][joint]:.3g}" for r in ("exact", *levels)))
    return row


def table(results: dict[str, Any]) -> str:
    """Return what the documentation shows."""
    head = ["robot", "falls on", "exact [N s]", "block", "diagonal", "torque [N m]", "speed [rad/s]"]
    a, b = (1e3 * x for x in results["steps"])
    sunk = min(run["sunk"] for x in results["falls"] for runs in x["by_step"].values() for run in runs.values())
    opened = max(run["residual"] for x in results["falls"] for runs in x["by_step"].values() for run in runs.values())
    walk = results["walk"]
    largest = max(x["impulse"]["exact"] for x in walk["landings"])
    lines = [
        [f"{x['body']}, {x['time']['exact']:.2f} s", f"{x['impulse']['exact']:.2f}"]
        + [_percent(x["impulse"][r] - x["impulse"]["exact"], largest) for r in ("block", "diagonal")]
        + [f"{x['torque_at']}: " + " / ".join(_or_none(x["torque"][r]) for r in ("exact", "block", "diagonal"))]
        for x in walk["landings"]
    ]
    return "\n\n".join([
        f"The table shows the upward impulse of the exact robot in the first {1e3 * BLOW:g} ms after touch-down, and "
        f"the errors of block and diagonal armature. The step is {b:g} ms (in parentheses {a:g} ms). *Torque* is the "
        f"largest torque within {1e3 * AFTER:g} ms, for exact / block / diagonal, at the motor where exact and "
        f"diagonal armature differ most. *Speed* is the speed two steps after touch-down, at the joint where exact and "
        f"diagonal armature differ most. The friction coefficient is {FRICTION:g}. In robots with closed loops, block "
        "and diagonal armature are equal.",
        markdown(head, [_row(x) for x in results["falls"]]),
        f"The next table shows the touch-downs of `mit_humanoid_walk` (`pin-clusters audit mit_humanoid --walk`): the "
        f"impulse of the first {1e3 * IMPACT:g} ms, with errors in per cent of the largest impulse. The joints follow "
        f"the walk by gravity compensation and PD control. A soft spring guides the trunk with at most "
        f"{walk['harness']:.0f} N, {100.0 * walk['harness'] / walk['weight']:.0f} % of the weight. The step is "
        f"{1e3 * walk['dt']:g} ms.",
        markdown(["touch-down", "exact [N s]", "block", "diagonal", "torque [N m], exact / block / diagonal"], lines),
        f"No contact point sinks by more than {max(0.0, -sunk):.0e} m. Loop residuals are at most {opened:.0e}.",
    ])  # fmt: skip


def _percent(off: float, largest: float) -> str:
    return "no landing" if off != off else f"{100.0 * off / largest:+.0f} %"


def _or_none(x: float) -> str:
    return "-" if x != x else f"{x:.3g}"


def short(results: dict[str, Any]) -> str:
    """Return the most telling numbers, for the README."""
    fine = {
        x["title"]: x["by_step"][f"{results['steps'][-1]:g}"] for x in results["falls"] if x["robot"] == "mit_humanoid"
    }
    toes, heels = fine["toes"], fine["heels"]
    joint = _worst(heels, "torque", "diagonal")
    knee = _worst(toes, "speed", "diagonal")
    lines = [
        f"**{100.0 * (toes['diagonal']['impulse'] / toes['exact']['impulse'] - 1.0):+.0f} %**: impulse of a landing on "
        f"the toes with diagonal armature, {toes['diagonal']['impulse']:.2f} for {toes['exact']['impulse']:.2f} N s",
        f"**{100.0 * (heels['diagonal']['torque'][joint] / heels['exact']['torque'][joint] - 1.0):+.0f} %**: largest "
        f"torque at {joint} in a landing on the heels, {heels['diagonal']['torque'][joint]:.1f} for "
        f"{heels['exact']['torque'][joint]:.1f} N m",
        f"**{100.0 * (toes['diagonal']['speed'][knee] / toes['exact']['speed'][knee] - 1.0):+.0f} %**: speed of {knee} "
        f"right after the landing on the toes, {toes['diagonal']['speed'][knee]:.2f} for "
        f"{toes['exact']['speed'][knee]:.2f} rad/s",
    ]
    others = [x["by_step"][f"{results['steps'][-1]:g}"] for x in results["falls"] if x["robot"] in MOTORS_APART]
    most = max(abs(x["diagonal"]["impulse"] / x["exact"]["impulse"] - 1.0) for x in others)
    return (
        "The MIT Humanoid, the same controller and ground, only its rotors differ "
        "([all robots](docs/ground.md#is-armature-enough-at-touch-down)):\n\n"
        + "\n".join(f"- {x}" for x in lines)
        + f"\n\nFor Tello and Cassie, armature is enough: at most {100.0 * most:.1f} % off."
    )


def main(arguments: list[str] | None = None) -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=RESULTS)
    chosen = parser.parse_args(arguments)
    timing.write({"machine": timing.machine(), "falls": measure(), "walk": walk(), "steps": list(STEPS)}, chosen.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
