"""Let robots with loops swing in MuJoCo, ever stiffer, and here: ``python benchmarks/mjcf_swing.py``; half a minute.

The same MJCF file is read by both. In MuJoCo loops and couplings are springs of time constant ``solref``; it and the
time step, a tenth of it, go to zero together, with the integrator RK4, Newton's solver to 1e-12, and no contacts or
joint limits. Here they hold exactly, with springs and dampers of the file (``pc.simulate``). The error is the
largest difference of a joint angle, of those that both have, over the whole swing.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import timing
from report_loops import where

import pin_clusters as pc

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).parent / "results" / "mjcf_swing.json"
CONSTANTS = (0.002, 0.001, 0.0005, 0.00025, 0.000125)
"""solref: time constants, [s]."""
STEPS_PER_CONSTANT = 10
IMPEDANCE = 0.99
"""solimp: constant, so that the error falls evenly."""
SWINGS = {"cassie": 0.5, "robotiq_2f85": 0.2}
"""Robots, and for how long they swing, [s]."""
FINE = 1.0e-4
"""Step here, [s]; half of it tells its error."""
SAMPLE = 0.01
"""Between two comparisons, [s]."""


def text_of(robot: str) -> str:
    """Return the file of a robot on a fixed base."""
    root = ET.parse(ROOT / "robot_models" / robot / "model.xml").getroot()
    for body in root.iter("body"):
        for free in body.findall("freejoint"):
            body.remove(free)
            for key in root.iter("key"):
                key.set("qpos", " ".join(key.get("qpos", "").split()[7:]))
    return ET.tostring(root, encoding="unicode")


def here(text: str, duration: float, dt: float) -> tuple[pc.ClusterModel, dict[str, np.ndarray]]:
    """Swing here; return the angles of all joints of one coordinate, at the samples."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.buildModelFromMJCF(text)
    found = pc.simulate(
        model, pc.neutral(model), np.zeros(model.nv), duration=duration, dt=dt, record=round(SAMPLE / dt)
    )
    tree = model.tree
    return model, {n: found.q[:, tree.joints[tree.getJointId(n)].idx_q] for n in tree.names[1:]}


def there(text: str, duration: float, constant: float) -> dict[str, np.ndarray]:
    """Swing in MuJoCo; return the same."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(text)
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_ACTUATION
    per_sample = math.ceil(SAMPLE * STEPS_PER_CONSTANT / constant)
    model.opt.timestep = SAMPLE / per_sample
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.iterations, model.opt.tolerance = 200, 1e-12
    model.eq_solref[:] = constant, 1.0
    model.eq_solimp[:] = IMPEDANCE, IMPEDANCE, 0.001, 0.5, 2.0
    state = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, state, 0)
    angles = [state.qpos.copy()]
    for _ in range(round(duration / SAMPLE)):
        for _ in range(per_sample):
            mujoco.mj_step(model, state)
        angles.append(state.qpos.copy())
    hinges = [j for j in range(model.njnt) if model.jnt_type[j] >= 2]
    return {model.joint(j).name: np.array(angles)[:, model.jnt_qposadr[j]] for j in hinges}


def worst(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> float:
    """Return the largest difference of the joints that both have, [rad]."""
    return max(float(np.abs(one[n] - other[n]).max()) for n in one if n in other)


def measure(robots: dict[str, float], constants: tuple[float, ...] = CONSTANTS, dt: float = FINE) -> dict[str, Any]:
    """Return errors by robot."""
    found = {}
    for robot, duration in robots.items():
        text = text_of(robot)
        model, exact = here(text, duration, dt)
        _, finer = here(text, duration, 0.5 * dt)
        errors = [worst(finer, there(text, duration, c)) for c in constants]
        swing = max(float(np.ptp(x)) for x in finer.values())
        own = worst(exact, finer)
        found[robot] = {
            "duration": duration, "nv": model.nv, "swing": swing, "own_error": own, "solref": list(constants),
            "dt": [SAMPLE / math.ceil(SAMPLE * STEPS_PER_CONSTANT / c) for c in constants], "errors": errors,
        }  # fmt: skip
        print(f"{robot}: swings by {swing:.3g} rad, own error {own:.1e}")
        for c, e in zip(constants, errors, strict=True):
            print(f"  solref {c:g} s: {e:.3e} rad")
    return found


def table(results: dict[str, Any]) -> str:
    """Return the table of the documentation."""
    robots = results["robots"]
    first = next(iter(robots.values()))
    head = ["solref [s]", "time step [s]", *(f"`{name}`" for name in robots)]
    rows = [
        [f"{c:g}", f"{h:.3g}", *(f"{r['errors'][i]:.1e}" for r in robots.values())]
        for i, (c, h) in enumerate(zip(first["solref"], first["dt"], strict=True))
    ]
    rows.append(["reference solution", f"{results['dt']:g}", *(f"{r['own_error']:.0e}" for r in robots.values())])
    lines = [" | ".join(row) for row in (head, ["---", *["---:"] * (len(head) - 1)], *rows)]
    swings = "; ".join(
        f"`{n}` swings for {r['duration']:g} s and by up to {r['swing']:.2g} rad" for n, r in robots.items()
    )
    return (
        f"{where(results)}\n\n"
        f"Largest error of a joint angle [rad] in MuJoCo {results['mujoco']} during a free swing from the reference "
        f"pose. The base is fixed, and the springs and dampers of the files act: {swings}. The time constant of the "
        f"equality constraints (`solref`) and the time step decrease together; `solimp` is {IMPEDANCE:g}. The last row "
        "is the change of the reference solution, computed by pin_clusters, at half its time step.\n\n"
        + "\n".join(f"| {line} |" for line in lines)
    )


def main(arguments: list[str] | None = None) -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", nargs="+", choices=list(SWINGS), default=list(SWINGS))
    parser.add_argument("--output", type=Path, default=RESULTS)
    chosen = parser.parse_args(arguments)
    import mujoco

    found = measure({name: SWINGS[name] for name in chosen.robots})
    timing.write(
        {"machine": timing.machine(), "robots": found, "dt": FINE, "mujoco": mujoco.__version__}, chosen.output
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
