"""How long first calls take where nothing is compiled: ``python benchmarks/first_calls.py [--output FILE]``.

Each is a process of its own with an empty cache: Python starts, imports, loads a robot, and calls once.
Times are seconds of the processor, as the machine may do other work: the least of some processes. The second column of
a function is the same with what the first process has kept.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import timing

RESULTS = Path(__file__).parent / "results" / "first_calls.json"
FUNCTIONS = {
    "rnea": "pc.rnea(model, data, q, x, x)",
    "aba": "pc.aba(model, data, q, x, x)",
    "computeRNEADerivatives": "pc.computeRNEADerivatives(model, data, q, x, x)",
    "computeABADerivatives": "pc.computeABADerivatives(model, data, q, x, x)",
    "hybrid_dynamics": "pc.hybrid_dynamics(model, data, q, x, x, x, np.arange(model.nv) % 2 == 0)",
    "inverse_operational_inertia": "pc.inverse_operational_inertia(model, data, q, [model.nframes - 1])",
    "constraintDynamics": "pc.constraintDynamics(model, data, q, x, x, [contact], [contact.createData()])",
    "its derivatives": (
        "pc.constraintDynamics(model, data, q, x, x, *(lists := ([contact], [contact.createData()]))); "
        "pc.computeConstraintDynamicsDerivatives(model, data, *lists)"
    ),
    "getFrameJacobian": "pc.computeJointJacobians(model, data, q); pc.getFrameJacobian(model, data, frame, pin.LOCAL)",
    "getFrameAccelerationDerivatives": (
        "pc.computeForwardKinematicsDerivatives(model, data, q, x, x); "
        "pc.getFrameAccelerationDerivatives(model, data, frame, pin.LOCAL)"
    ),
    "getFrameKinematicHessian": (
        "pc.computeJointKinematicHessians(model, data, q); pc.getFrameKinematicHessian(model, data, frame, pin.LOCAL)"
    ),
    "computeJointTorqueRegressor": "pc.computeJointTorqueRegressor(model, data, q, x, x)",
}
"""What is called first, of the last body that does not spin beside another."""
COMMANDS = (("study", "mit_humanoid_leg"), ("audit", "tello"), ("mechanism", "ankle_2rsu"))
CALL = """
import sys, warnings
import numpy as np, pinocchio as pin
warnings.simplefilter("ignore")
import pin_clusters as pc
model, x = pc.load(sys.argv[1]), None
data, x, q = model.createData(), np.ones(model.nv), np.array(model.q_reference)
joint = max(model.getJointId(name) for name in model.independent_joints)
frame = model.nframes - 1
contact = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model.tree, joint, pin.SE3.Identity(), pin.LOCAL)
exec(sys.argv[2])
"""


def seconds(command: list[str], cache: Path, folder: Path) -> float:
    """Return the processor time of a process and its children, which must succeed."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PIN_CLUSTERS_")}
    # with byte code, as pip leaves it
    environment |= {"PIN_CLUSTERS_CACHE": str(cache), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
    before = os.times()
    subprocess.run(command, env=environment, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def first(command: list[str], processes: int) -> dict[str, float]:
    """Return the least time with an empty cache, and with a full one."""
    cold, warm = [], []
    for _ in range(processes):
        with tempfile.TemporaryDirectory() as folder:
            cache = Path(folder, "cache")
            cache.mkdir(mode=0o700)
            cold.append(seconds(command, cache, Path(folder)))
            warm.append(seconds(command, cache, Path(folder)))
    return {"cold": round(min(cold), 2), "warm": round(min(warm), 2)}


def measure(robots: list[str], processes: int) -> dict[str, Any]:
    """Return the times of imports, of the first call of each function, and of commands."""
    python = [sys.executable, "-c"]
    imports = {name: first([*python, f"import {name}"], processes)["warm"] for name in ("pinocchio", "pin_clusters")}
    found: dict[str, Any] = {"imports": imports, "robots": {}, "commands": {}}
    for robot in robots:
        found["robots"][robot] = {
            name: first([*python, CALL, robot, call], processes) for name, call in FUNCTIONS.items()
        }
        print(robot, found["robots"][robot], flush=True)
    for command in COMMANDS:
        found["commands"][" ".join(command)] = first(
            [*python, "import pin_clusters_command as its; its.main()", *command], processes
        )
        print(*command, found["commands"][" ".join(command)], flush=True)
    return found


def table(results: dict[str, Any]) -> str:
    """Return the tables for the documentation."""
    from report_loops import markdown, where

    names = [
        "`computeConstraintDynamicsDerivatives`" if name == "its derivatives" else f"`{name}`"
        for name in next(iter(results["robots"].values()))
    ]
    rows = [
        [f"`{robot}`", *(f"{times['cold']:.1f} ({times['warm']:.1f})" for times in own.values())]
        for robot, own in results["robots"].items()
    ]
    for name, times in results["commands"].items():
        rows.append([f"`pin-clusters {name}`", f"{times['cold']:.1f} ({times['warm']:.1f})"])
    rows = [row + [""] * (1 + len(names) - len(row)) for row in rows]
    alone, ours = results["imports"]["pinocchio"], results["imports"]["pin_clusters"]
    return (
        "CPU time in seconds from the start of Python to the first result: with an empty cache, and in parentheses "
        "with the cache of the first process. The time includes all imports and loading the robot. "
        f"`import pinocchio` alone takes {alone:.2f} s, `import pin_clusters` {ours:.2f} s. Python byte code is "
        f"cached.\n\n{markdown(['', *names], rows)}\n\n{where(results)}"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", nargs="+", metavar="NAME", default=None)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--output", type=Path, default=RESULTS)
    chosen = parser.parse_args(arguments)
    import pin_clusters as pc

    found = measure(chosen.robots or list(pc.robots()), chosen.processes)
    timing.write({"machine": timing.machine()} | found, chosen.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
