"""Measure the accuracy of derivatives: ``python benchmarks/derivatives_accuracy.py [--quick]``.

Inverse and forward dynamics, gravity, static torques, the Coriolis matrix, centroidal dynamics; motions, contacts and
regressors (``derivatives_more.py``); on random trees, mechanisms with closed loops, functions of users, and every
shipped robot on both bases: the worst error over max(1, largest entry) against

- the NumPy reference, which shares no code with the kernels: Pinocchio's derivatives on the expanded tree, with G and
  how it changes;
- differences of the dynamics: of eighth order along ``pc.integrate``, exact ones in v and a;
- laws: M is ``crba``'s, C v and the rate of M, dtau/dv = 2 C, Hessian of the potential energy, M ddq/dq = -dtau/dq.

Derivatives of forward dynamics are over cond(M), those with contacts over that of J M^-1 J', too. Near dead centres:
``dead_centres.py``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import dead_centres
import derivatives_more
import loop_mechanisms
import numpy as np
import pinocchio as pin
import timing
from samples import coupled, pool
from samples import mechanisms as loop_models
from support import differences

import pin_clusters as pc
from pin_clusters.verification import reference

RESULTS = Path(__file__).resolve().parent / "results" / "derivatives_accuracy.json"
REFERENCE, DIFFERENCES, LAWS = "reference", "differences", "laws"
SINGULAR = 1e13
"""Condition number of M from which on a robot is left out: planar linkages of rods without thickness, which float."""
LIMITS = {"trees": 1e-11, "loops": 1e-9, "functions": 1e-7, "robots": 1e-10}
"""What all must agree to, where geometry is not misaligned; loops near limits of a linkage are hard on differences."""
WITH_CONTACTS = 10.0
"""How many times more with contacts: random ones are nearly redundant, and differences lose what is amplified."""
QUICK = {"trees": ("tree-1", "tree-2"), "loops": ("rssr_massive", "spatial-5"), "robots": ("teleop_arm",)}
Results = dict[str, np.ndarray]


class State:
    """A model at a random state."""

    def __init__(self, model: pc.ClusterModel, q: np.ndarray, rng: np.random.Generator) -> None:
        self.model, self.data, self.q = model, model.createData(), np.asarray(q)
        self.v, self.a, self.tau = rng.normal(size=(3, model.nv))
        self.fext = 5.0 * rng.normal(size=(model.njoints, 6))
        self.fext[0] = 0.0
        self.zero = np.zeros(model.nv)
        self.ddq = self.zero  # of the derivatives of forward dynamics, when they are there
        self.M = pc.crba(model, self.data, q).copy()
        self.condition = float(np.linalg.cond(self.M))

    def of_reference(self) -> Results:
        """Return what the reference says."""
        model, q, v, a, fext = self.model, self.q, self.v, self.a, self.fext
        names = (
            ("dtau_dq", "dtau_dv", "M"), ("ddq_dq", "ddq_dv", "Minv"), ("gravity",), ("static torque",), ("C",),
            ("dh_dq", "dhdot_dq", "dhdot_dv", "dhdot_da"),
        )  # fmt: skip
        values = (
            reference.rnea_derivatives(model, q, v, a, fext),
            reference.aba_derivatives(model, q, v, self.tau, fext),
            reference.rnea_derivatives(model, q, self.zero, self.zero)[:1],
            reference.rnea_derivatives(model, q, self.zero, self.zero, fext)[:1],
            (reference.coriolis_matrix(model, q, v),),
            reference.centroidal_derivatives(model, q, v, a),
        )
        return {n: x for some, found in zip(names, values, strict=True) for n, x in zip(some, found, strict=True)}

    def of_package(self) -> Results:
        """Return what the package says."""
        model, data, q, v, a = self.model, self.data, self.q, self.v, self.a
        found: dict[str, Any] = {}
        found["dtau_dq"], found["dtau_dv"], found["M"] = pc.computeRNEADerivatives(model, data, q, v, a, self.fext)
        one = pc.computeABADerivatives(model, data, q, v, self.tau, self.fext)
        found["ddq_dq"], found["ddq_dv"], found["Minv"] = one
        self.ddq = np.array(data.ddq)
        found["gravity"] = pc.computeGeneralizedGravityDerivatives(model, data, q)
        found["static torque"] = pc.computeStaticTorqueDerivatives(model, data, q, self.fext)
        found["C"] = pc.computeCoriolisMatrix(model, data, q, v)
        momentum = pc.computeCentroidalDynamicsDerivatives(model, data, q, v, a)
        found["dh_dq"], found["dhdot_dq"], found["dhdot_dv"], found["dhdot_da"] = momentum
        return {name: np.array(x) for name, x in found.items()}

    def of_differences(self) -> Results:
        """Return differences of the dynamics."""
        model, data, q, v, a, tau, fext = self.model, self.data, self.q, self.v, self.a, self.tau, self.fext

        def h(x: np.ndarray) -> np.ndarray:
            return np.array(pc.computeCentroidalMomentum(model, data, x, v).vector)

        def rate(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
            return np.array(pc.computeCentroidalMomentumTimeVariation(model, data, x, w, b).vector)

        found = {
            "dtau_dv": differences.quadratic(lambda w: pc.rnea(model, data, q, w, a, fext), v),
            "M": differences.linear(lambda b: pc.rnea(model, data, q, v, b, fext), a),
            "ddq_dv": differences.quadratic(lambda w: pc.aba(model, data, q, w, tau, fext), v),
            "Minv": differences.linear(lambda t: pc.aba(model, data, q, v, t, fext), tau),
            "dhdot_dv": differences.quadratic(lambda w: rate(q, w, a), v),
            "dhdot_da": differences.linear(lambda b: rate(q, v, b), a),
        }
        along = {
            "dtau_dq": lambda x: pc.rnea(model, data, x, v, a, fext),
            "ddq_dq": lambda x: pc.aba(model, data, x, v, tau, fext),
            "gravity": lambda x: pc.computeGeneralizedGravity(model, data, x).copy(),
            "static torque": lambda x: pc.rnea(model, data, x, self.zero, self.zero, fext),
            "dh_dq": h,
            "dhdot_dq": lambda x: rate(x, v, a),
        }
        return found | {name: differences.along(f, model, q) for name, f in along.items()}

    def laws(self, own: Results) -> dict[str, float]:
        """Return by how much what the package says misses laws."""
        model, data, q, v = self.model, self.data, self.q, self.v
        C, M, tree = own["C"], own["M"], model.tree
        torque = pc.nonLinearEffects(model, data, q, v) - pc.computeGeneralizedGravity(model, data, q)
        rate = differences.along(lambda x: pc.crba(model, data, x).copy(), model, q) @ v
        found = {
            "M": pool.error(M, self.M),
            "C: C v": pool.error(C @ v, torque),
            "C: dM/dt - 2 C skew": pool.error(C + C.T, rate),
        }
        whole = {tree.idx_vs[j] for j in range(1, tree.njoints) if tree.nvs[j] == 1}
        single = [k for k, i in enumerate(model.idx_v_independent) if int(i) in whole]
        if not self._turning_armature():
            found["C: dtau_dv = 2 C"] = pool.error(own["dtau_dv"][:, single], 2.0 * C[:, single])
        hessian = own["gravity"][np.ix_(single, single)]
        found["gravity: symmetric"] = pool.error(hessian, hessian.T)
        for name, torques in zip(("ddq_dq", "ddq_dv"), self.inverse(self.ddq), strict=True):
            size = np.linalg.norm(M, 2) * np.linalg.norm(own[name]) + np.linalg.norm(torques)
            found[f"{name}: backward"] = float(np.linalg.norm(M @ own[name] + torques) / max(size, 1e-300))
        return found

    def inverse(self, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return dtau/dq and dtau/dv of the package at an acceleration."""
        arguments = self.q, self.v, a, self.fext
        found = pc.computeRNEADerivatives(self.model, self.data, *arguments)
        return np.array(found[0]), np.array(found[1])

    def _turning_armature(self) -> bool:
        """Whether a dependent ball joint has armature, which is no inertia of a body: no C without torsion then."""
        tree, armature = self.model.tree, np.array(self.model.inertia_tree.armature)
        turning = [j for j in range(1, tree.njoints) if tree.nqs[j] > tree.nvs[j] > 1]
        dependent = np.setdiff1d(np.arange(tree.nv), self.model.idx_v_independent)
        return any(armature[i] for j in turning for i in dependent if 0 <= i - tree.idx_vs[j] < tree.nvs[j])


def keep(found: dict[str, dict[str, float]], name: str, oracle: str, error: float) -> None:
    """Note an error if it is the largest so far; NaN is."""
    known = found.setdefault(name, {})
    known[oracle] = error if not error <= known.get(oracle, 0.0) else known.get(oracle, 0.0)


def judge(state: State, found: dict[str, dict[str, float]], seed: int) -> None:
    """Compare at a state with all oracles."""
    own = state.of_package()
    oracles = {REFERENCE: state.of_reference(), DIFFERENCES: state.of_differences()}
    for oracle, results in oracles.items():
        for name, exact in results.items():
            if name == "C" and state._turning_armature():
                continue
            amplified = state.condition if name in ("ddq_dq", "ddq_dv", "Minv") else 1.0
            keep(found, name, oracle, pool.error(own[name], exact) / amplified)
    for name, error in state.laws(own).items():
        keep(found, name, LAWS, error)
    for name, oracle, error in derivatives_more.errors(state, seed):
        keep(found, name, oracle, error)


Sample = tuple[str, pc.ClusterModel, list[np.ndarray], float]


def of_pool(keys: Iterable[pool.Key], states: int) -> Iterator[Sample]:
    """Yield samples of the tests."""
    for key in keys:
        rng, case = np.random.default_rng(zlib.crc32(str(key).encode())), pool.case(key)
        yield str(key), case.model, [case.pose(rng) for _ in range(states)], case.exact


def of_benchmarks(states: int) -> Iterator[Sample]:
    """Yield mechanisms whose other accuracies are measured, those of the tests aside."""
    for name, make in loop_mechanisms.MECHANISMS.items():
        if not name.startswith(("robot", "random")):
            for one in make(np.random.default_rng(zlib.crc32(name.encode())), states):
                yield name, one.model, one.poses, one.exact


def of_functions(states: int) -> Iterator[Sample]:
    """Yield a mechanism tied by a function, by what is known of the function."""
    for how in coupled.FUNCTIONS:
        rng = np.random.default_rng(7)
        model = coupled.mechanism(rng, how).build()
        steps = [np.r_[rng.normal(size=6), 0.3 * rng.normal()] for _ in range(states)]
        yield how, model, [loop_models.move(model, model.q_reference, step) for step in steps], 0.0


def of_robots(states: int, names: Iterable[str]) -> Iterator[Sample]:
    """Yield the shipped robots on both bases."""
    for name in names:
        for base, root in (("fixed", None), ("floating", pin.JointModelFreeFlyer())):
            model = pc.load(name, root_joint=root)
            pin.seed(len(name))
            yield f"{name}, {base}", model, [pc.randomConfiguration(model) for _ in range(states)], 0.0


def measure(samples: Iterable[Sample]) -> dict[str, Any]:
    """Return the worst errors of a group."""
    found: dict[str, Any] = {"mechanisms": 0, "inexact": 0, "states": 0, "worst": {}, "sloppy": {}, "singular": []}
    found["each"] = {}
    for name, model, poses, exact in samples:
        rng, worst = np.random.default_rng(zlib.crc32(name.encode())), {}
        found["mechanisms"] += 1
        found["inexact"] += bool(exact)
        for q in poses:
            state = State(model, q, rng)
            if state.condition > SINGULAR:
                found["singular"] = sorted({*found["singular"], name})
                continue
            found["states"] += 1
            judge(state, worst, found["states"])
        for quantity, errors in worst.items():
            for oracle, error in errors.items():
                keep(found["sloppy" if exact else "worst"], quantity, oracle, error)
        found["each"][name] = {oracle: max((e[oracle] for e in worst.values() if oracle in e), default=0.0)
                               for oracle in (REFERENCE, DIFFERENCES, LAWS)}  # fmt: skip
        print(f"{name:52} " + "  ".join(f"{o} {e:.0e}" for o, e in found["each"][name].items()), flush=True)
    return found


def missed(groups: dict[str, Any]) -> list[str]:
    """Return what is off by more than the limit of its group, or not a number."""
    return [
        f"{quantity} on {name} by {oracle} {error:.0e}"
        for name, one in groups.items()
        for quantity, errors in one["worst"].items()
        for oracle, error in errors.items()
        if not error <= LIMITS[name] * (WITH_CONTACTS if quantity.startswith(("contacts", "impact")) else 1.0)
    ]


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=2, help="random states per mechanism")
    parser.add_argument("--quick", action="store_true", help="a few mechanisms; writes nothing without --output")
    parser.add_argument("--output", type=Path)
    chosen = parser.parse_args(arguments)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        if chosen.quick:
            groups = {
                "trees": measure(of_pool(QUICK["trees"], 1)),
                "loops": measure(of_pool(QUICK["loops"], 1)),
                "functions": measure(of_functions(1)),
                "robots": measure(of_robots(1, QUICK["robots"])),
            }
        else:
            every = (*pool.LOOPS, *pool.MORE, *pool.FAMILIES)
            groups = {
                "trees": measure(of_pool(pool.TREES, chosen.states)),
                "loops": measure([*of_pool(every, chosen.states), *of_benchmarks(chosen.states)]),
                "functions": measure(of_functions(chosen.states)),
                "robots": measure(of_robots(chosen.states, pc.robots())),
            }
        near = dead_centres.measure(quick=chosen.quick)
    count = sum(one["mechanisms"] for one in groups.values())
    print(f"limits are missed by: {', '.join(missed(groups)) or 'nothing'}")
    print(f"{count} mechanisms, {time.perf_counter() - start:.0f} s")
    results = {
        "machine": timing.machine(), "states": chosen.states,
        "groups": groups, "dead centres": near,
    }  # fmt: skip
    output = chosen.output or (None if chosen.quick else RESULTS)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
