"""Measure the accuracy of the operational family: ``python benchmarks/operational_accuracy.py [--quick]``.

Operational space, input matrices, hybrid dynamics, contacts and impacts on random mechanisms with gears, belts, loops
and rods, and on every shipped robot: the worst error of each function over max(1, largest entry) and over the condition
number by which rounding is amplified, against two oracles that share no code with the kernels: the dense reference by
cluster matrices, and projection of Pinocchio's tree. That number is cond(M); of M without the prescribed accelerations
for hybrid dynamics; times that of J M^-1 J' where this is inverted. Frames are at random places on random bodies, those
of rotors too, two on one body.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
import operational_cases
import operational_contacts
import pinocchio as pin
import timing
from operational_contacts import Errors, Exact
from support.frames import some

import pin_clusters as pc
from pin_clusters.verification import reference
from pin_clusters.verification.baselines import hybrid
from pin_clusters.verification.reference.operational import motors_of

RESULTS = Path(__file__).resolve().parent / "results" / "operational_accuracy.json"
AXES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)
QUICK = {
    "trees": ("tree-1", "belts-0"),
    "loops": ("spatial-5", "rssr_massive", "bennett-0"),
    "robots": ("teleop_arm, fixed",),
}
LIMITS = {"trees": 1e-13, "loops": 1e-11, "robots": 1e-13}
"""What all must agree to, where geometry is not misaligned; loops are also amplified by cond(K_d), up to 300."""
REGULAR = 1e8
"""Condition number of J M^-1 J' up to which it is inverted."""
SINGULAR = 1e13
"""Condition number of M from which on a robot is left out: planar linkages of rods without thickness, which float."""


def frames(x: Exact, rng: np.random.Generator, errors: Errors) -> None:
    """Judge what is asked of frames."""
    model, data, q, names = x.model, x.data, x.q, some(x.model, rng, 8)
    axes, force = AXES[int(rng.integers(3))], rng.normal(size=6)
    own, dense = pc.inverse_operational_inertia(model, data, q, names, axes), x.jacobians(names, axes)
    for oracle, J in dense.items():
        errors.keep("inverse_operational_inertia", oracle, own, J @ x.solve(oracle, J.T), x.condition)
    change, inverse = pc.apply_test_force(model, data, q, names[0], force)
    for oracle, J in x.jacobians(names[:1], pin.LOCAL).items():
        response = x.solve(oracle, J.T)
        errors.keep("apply_test_force", oracle, change, response @ force, x.condition)
        errors.keep("apply_test_force", oracle, inverse, J @ response, x.condition)
    moving = np.flatnonzero(own.diagonal() > 1e-9 * own.diagonal().max())  # the others have no inertia
    rows = [int(r) for r in rng.permutation(moving)[: min(4, model.nv)]]
    size = float(np.linalg.cond(own[np.ix_(rows, rows)]))
    if size < REGULAR:
        found = pc.operational_inertia(model, data, q, names, axes, rows)
        for oracle, J in dense.items():
            exact = np.linalg.inv(J[rows] @ x.solve(oracle, J[rows].T))
            errors.keep("operational_inertia", oracle, found, exact, size * x.condition)


def inputs(x: Exact, rng: np.random.Generator, errors: Errors) -> None:
    """Judge matrices of inputs, and the free acceleration of tasks."""
    model, data, q = x.model, x.data, x.q
    names, contacts = some(model, rng, 3), some(model, rng, 2)
    axes, (v, tau) = AXES[int(rng.integers(1, 3))], rng.normal(size=(2, model.nv))
    motors = {"dense": reference.motors(model, q)} if x.dense else {}
    for B in (None, rng.normal(size=(model.nv, 3))):
        response = pc.inverse_input_matrix(model, data, q, B, contacts, reference=axes)
        tasks, free = pc.task_input_matrix(model, data, q, names, B, contacts, reference=axes, v=v, tau=tau)
        J, Jc = x.jacobians(names, axes), x.jacobians(contacts, axes)
        for oracle in J:
            own = motors.get(oracle, motors_of(model, x.work.span, x.work.G)) if B is None else B
            linear = Jc[oracle].reshape(-1, 6, model.nv)[:, :3].reshape(-1, model.nv)
            exact = x.solve(oracle, np.hstack([own, linear.T]))
            errors.keep("inverse_input_matrix", oracle, response, exact, x.condition)
            errors.keep("task_input_matrix", oracle, tasks, J[oracle] @ exact, x.condition)
            a = x.solve(oracle, tau - x.bias(oracle, v))
            exact = J[oracle] @ a + x.drift(oracle, names, axes, v)
            errors.keep("task_input_matrix: free acceleration", oracle, free, exact, x.condition)


def prescribed(x: Exact, rng: np.random.Generator, errors: Errors) -> None:
    """Judge hybrid dynamics, with external forces and without."""
    model, q = x.model, x.q
    fext = rng.normal(size=(model.njoints, 6))
    fext[0] = 0.0
    for share, forces in ((0.3, None), (0.7, fext)):
        mask = rng.random(model.nv) < share
        v, tau, a = rng.normal(size=(3, model.nv))
        found = np.concatenate(pc.hybrid_dynamics(model, x.data, q, v, tau, a, mask, forces))
        condition = float(np.linalg.cond(x.M[np.ix_(~mask, ~mask)])) if not mask.all() else 1.0
        given = q, v, tau, a, mask, forces
        if x.dense:
            errors.keep(
                "hybrid_dynamics", "dense", found, np.concatenate(reference.hybrid_dynamics(model, *given)), condition
            )
        exact = np.concatenate(hybrid.hybrid_dynamics(model, x.work, *given))
        errors.keep("hybrid_dynamics", "projection", found, exact, condition)


def judge(case: operational_cases.Case, states: int, rng: np.random.Generator) -> Errors:
    """Return the worst errors on a mechanism."""
    errors = Errors()
    for _ in range(states):
        x = Exact(case.model, case.pose(rng))
        if x.condition > SINGULAR:
            return Errors(singular=1)
        frames(x, rng, errors)
        inputs(x, rng, errors)
        prescribed(x, rng, errors)
        operational_contacts.contacts(x, rng, errors)
    return errors


def group(name: str, chosen: Iterable[str], states: int) -> dict[str, Any]:
    """Return the worst errors on a group of mechanisms, and how many there were."""
    makers, whole, sloppy, singular = operational_cases.cases()[name], Errors(), Errors(), []
    robots: dict[str, Any] = {}
    used = inexact = 0
    for one in chosen:
        rng = np.random.default_rng(zlib.crc32(one.encode()))
        case = makers[one](rng)
        errors = judge(case, states, rng)
        if errors.singular:
            singular.append(one)
            continue
        used, inexact = used + 1, inexact + bool(case.exact)
        (sloppy if case.exact else whole).join(errors)
        if name == "robots":
            robots[one] = errors.worst
        print(f"{one:36} {errors.summary()}", flush=True)
    found = {"mechanisms": used, "inexact": inexact, "singular": singular, "worst": whole.worst, "sloppy": sloppy.worst}
    return found | {"contacts": dict(whole.counts)} | ({"robots": robots} if robots else {})


def missed(found: dict[str, Any]) -> list[str]:
    """Return the functions whose error is above the limit of a group, with the error; NaN is."""
    worst = {
        (name, function): max(by.values(), key=lambda e: np.inf if np.isnan(e) else e)
        for name, one in found.items() for function, by in one["worst"].items()
    }  # fmt: skip
    return [f"{function} on {name} {e:.1e}" for (name, function), e in worst.items() if not e <= LIMITS[name]]


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=2, help="random states per mechanism")
    parser.add_argument("--quick", action="store_true", help="some mechanisms, one state; writes nothing by default")
    parser.add_argument("--output", type=Path, help="JSON file (default: results/operational_accuracy.json)")
    chosen = parser.parse_args(arguments)
    start, found, states = time.perf_counter(), {}, 1 if chosen.quick else chosen.states
    for name, makers in operational_cases.cases().items():
        found[name] = group(name, QUICK[name] if chosen.quick else makers, states)
    print(f"{time.perf_counter() - start:.0f} s; limits are missed by: {', '.join(missed(found)) or 'nothing'}")
    results = {"machine": timing.machine(), "states": states, "limits": LIMITS, "groups": found}
    output = chosen.output or (None if chosen.quick else RESULTS)
    if output is not None:
        output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
