"""Measure energy and drift with contacts: ``python benchmarks/standing.py [--quick]``; a minute.

Robots stand on feet that stay where they are, held up by springs in their joints, and swing for ten seconds. Nothing is
lost: kinetic, potential and spring energy together are constant, and what they are not is the error. Beside it the same
without bringing contacts back after each step.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pinocchio as pin
import timing

import pin_clusters as pc
from pin_clusters.files import readers as loaders
from pin_clusters.simulation._held_contacts import Contacts

RESULTS = Path(__file__).parent / "results" / "standing.json"
POINT, WHOLE = pin.ContactType.CONTACT_3D, pin.ContactType.CONTACT_6D
# robot, contacts, joints, spring of each joint [N m/rad]
CASES = {
    "mini_cheetah, two point feet": ("mini_cheetah", POINT, ("FL_knee", "HR_knee"), 40.0),
    "mini_cheetah, four point feet": ("mini_cheetah", POINT, ("FL_knee", "FR_knee", "HL_knee", "HR_knee"), 40.0),
    "tello, two soles": ("tello", WHOLE, ("left_ankle", "right_ankle"), 20.0),
}
SOLE = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.2]))


def swing(case: str, duration: float, dt: float, brought_back: bool = True) -> dict[str, float]:
    """Return errors of one simulation."""
    name, kind, joints, stiffness = CASES[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = loaders.load(name)
    springs = np.r_[np.zeros(6), np.full(model.nv - 6, stiffness)]
    start = np.r_[np.zeros(6), np.full(model.nv - 6, 0.1) * (-1.0) ** np.arange(model.nv - 6)]
    rest = pc.neutral(model)
    q = pc.integrate(model, rest, start)
    contacts = [
        pc.RigidConstraintModel(kind, model, model.getJointId(j), SOLE, pin.LOCAL_WORLD_ALIGNED) for j in joints
    ]

    def torque(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return -springs * pc.difference(model, rest, q)

    with ExitStack() as stack:
        if not brought_back:
            stack.enter_context(mock.patch.object(Contacts, "increment", return_value=None))
            stack.enter_context(mock.patch.object(Contacts, "velocity", lambda self, model, data, q, v: v))
        found = pc.simulate(
            model, q, np.zeros(model.nv), torque, duration, dt, method="rkmk4", record=10, contacts=contacts
        )
    data, kinetic = model.createData(), []
    for x, v in zip(found.q, found.v, strict=True):
        pc.computeKineticEnergy(model, data, x, v)
        kinetic.append(data.kinetic_energy)
    twists = np.array([pc.difference(model, rest, x) for x in found.q])
    energy = found.energy + 0.5 * twists**2 @ springs
    return {
        "energy": float(np.abs(energy - energy[0]).max() / max(kinetic)),
        "kinetic": float(max(kinetic)),
        "drift": float(found.residual.max()),
        "turned": float(np.abs(twists[:, 6:]).max()),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of a second; a first impression")
    parser.add_argument("--output", type=Path, help="JSON file (default: results/standing.json, unless --quick)")
    chosen = parser.parse_args(arguments)
    duration = 0.1 if chosen.quick else 10.0
    results: dict[str, Any] = {"machine": timing.machine(), "duration": duration, "cases": {}}
    for case in CASES:
        results["cases"][case] = found = {
            "1 ms": swing(case, duration, 1e-3),
            "0.5 ms": swing(case, duration, 5e-4),
            "1 ms, not brought back": swing(case, duration, 1e-3, brought_back=False),
        }
        print(case, *(f"  {name:24} {x}" for name, x in found.items()), sep="\n")
    timing.write(results, chosen.output or (None if chosen.quick else RESULTS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
