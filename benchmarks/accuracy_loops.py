"""Measure the accuracy on closed loops: ``python benchmarks/accuracy_loops.py [--states N]``.

Mechanism x algorithm x oracle, the worst error over random assembled states where cond(K_d) < 1e3, relative to
max(1, largest entry of the oracle's result). The oracles share no code with the kernels:

- projection of Pinocchio's tree by a null space of all rows (singular value decomposition);
- KKT: Lagrange multipliers on the tree with cut joints;
- ``pin.constraintDynamics`` and ``pin.lcaba``, where contacts can say what the closures are;
- MuJoCo's mass matrix, ``mj_inverse`` and energies of the tree, projected by the same null space;
- the dense reference by cluster matrices; the same mechanism by generic constraints (twin);
- differences of the motion by ``pc.integrate`` for G, and of G v for g; and rnea for aba.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import loop_mechanisms
import numpy as np
import pinocchio as pin
import timing
from mujoco_tree import MujocoTree
from oracles import test_golden_loops as golden
from samples import mechanisms as loop_models

import pin_clusters as pc
from pin_clusters.verification import reference
from pin_clusters.verification.baselines import constrained, lagrange, projection

RESULTS = Path(__file__).resolve().parent / "results" / "accuracy_loops.json"
WELL_CONDITIONED = 1e3
LIMIT = 1e-10
"""What projection must agree to, where nothing is misaligned."""
PROJECTION, KKT, DENSE, TWIN, DIFFERENCES, SELF, MUJOCO = (
    "projection", "KKT", "dense", "twin", "differences", "itself", "MuJoCo",
)  # fmt: skip
STENCIL = ((4.0 / 5.0, 1), (-1.0 / 5.0, 2), (4.0 / 105.0, 3), (-1.0 / 280.0, 4))
STEPS = (0.04, 0.02, 0.01, 0.005, 0.0025, 0.00125)
"""Of the differences, [rad] or [m] of the fastest joint: their stencil is of 8th order."""

Errors = dict[str, dict[str, float]]


def relative(x: Any, exact: Any) -> float:
    """Return the largest difference over max(1, largest entry)."""
    x, exact = np.asarray(x, dtype=float), np.asarray(exact, dtype=float)
    return float(np.abs(x - exact).max()) / max(1.0, float(np.abs(exact).max()))


def keep(found: Errors, oracle: str, name: str, error: float) -> None:
    """Note an error if it is the largest so far; NaN is."""
    known = found.setdefault(oracle, {})
    known[name] = error if not error <= known.get(name, 0.0) else known.get(name, 0.0)


class Oracles:
    """The oracles of one model; those that cannot express it are None."""

    def __init__(self, sample: loop_mechanisms.Sample) -> None:
        self.model, self.twin = sample.model, sample.twin
        # a model with explicit rows only has no null space of its own; its twin has
        self.judged = sample.model if sample.model.closures or sample.twin is None else sample.twin
        self.work = projection.createData(self.judged)
        self.kkt = lagrange.createData(self.model)
        self.solvers = {s: _or_none(constrained.createData, self.model, s) for s in ("constraintDynamics", "lcaba")}
        self.mujoco = None if self.work.rods is not None else _or_none(MujocoTree, self.work.tree)

    def projected(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray) -> dict[str, Any] | None:
        """Return MuJoCo's numbers by G and g of the null space."""
        if self.mujoco is None:
            return None
        work, full_q = self.work, self.work.configuration(q)
        work.couple(q, v)
        G, g, mj = work.G, work.g, self.mujoco
        M = G.T @ mj.mass_matrix(full_q) @ G
        rest = G.T @ mj.torque(full_q, G @ v, g)
        T, U = mj.energies(full_q, G @ v)
        return {
            "crba": M, "rnea": G.T @ mj.torque(full_q, G @ v, G @ a + g), "aba": np.linalg.solve(M, tau - rest),
            "T": T, "U": U,
        }  # fmt: skip


def _or_none(make: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return make(*arguments)
    except (pc.NotAvailableError, ModuleNotFoundError):
        return None


def compare(oracles: Oracles, found: Errors, q: np.ndarray, rng: np.random.Generator) -> float:
    """Compare everything at a pose with all oracles but the differences; return cond(M)."""
    model, judged, work = oracles.model, oracles.judged, oracles.work
    v, a, tau = rng.normal(size=(3, model.nv))
    fext = rng.normal(size=(model.njoints, 6))
    own = own_results(model, q, v, a, tau, fext)
    M = projection.crba(judged, work, q)
    exact = {
        "rnea": projection.rnea(judged, work, q, v, a),
        "rnea, fext": projection.rnea(judged, work, q, v, a, fext),
        "crba": M,
        "aba": projection.aba(judged, work, q, v, tau),
        "aba, fext": projection.aba(judged, work, q, v, tau, fext),
        "Minv": np.linalg.inv(M),
        "T": projection.computeKineticEnergy(judged, work, q, v),
        "U": projection.computePotentialEnergy(judged, work, q),
    }
    work.couple(q, v)
    exact |= {"G": work.loops.G, "g": work.loops.g} if work.loops is not None else {"G": model.coupling_matrix}
    others: dict[str, dict[str, Any]] = {
        PROJECTION: exact,
        KKT: {"aba": lagrange.aba(model, oracles.kkt, q, v, tau)},
        MUJOCO: oracles.projected(q, v, a, tau) or {},
        TWIN: own_results(oracles.twin, q, v, a, tau, fext) if oracles.twin is not None else {},
    }
    for solver, data in oracles.solvers.items():
        others[solver] = {"aba": constrained.aba(model, data, q, v, tau)} if data is not None else {}
    try:
        others[DENSE] = {"rnea": reference.rnea(model, q, v, a), "aba": reference.aba(model, q, v, tau)}
    except pc.NotAvailableError:
        pass  # rods with mass
    for oracle, results in others.items():
        for name, result in results.items():
            keep(found, oracle, name, relative(own[name], result))
    keep(found, SELF, "aba(rnea)", relative(pc.aba(model, model.createData(), q, v, own["rnea"]), a))
    return float(np.linalg.cond(M))


def own_results(
    model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray, fext: np.ndarray
) -> dict[str, Any]:
    """Return what the package says."""
    data = model.createData()
    return {
        "G": pc.coupling_jacobian(model, data, q).copy(),
        "g": pc.coupling_bias(model, data, q, v).copy(),
        "rnea": pc.rnea(model, data, q, v, a),
        "rnea, fext": pc.rnea(model, data, q, v, a, fext),
        "crba": pc.crba(model, data, q).copy(),
        "aba": pc.aba(model, data, q, v, tau),
        "aba, fext": pc.aba(model, data, q, v, tau, fext),
        "Minv": pc.computeMinverse(model, data, q).copy(),
        "T": pc.computeKineticEnergy(model, data, q, v),
        "U": pc.computePotentialEnergy(model, data, q),
    }


def derivative(f: Callable[[float], np.ndarray], fastest: float) -> np.ndarray | None:
    """Return df/dt at 0 by central differences, of the step that agrees best with the next; None near a dead centre.

    Args:
        f: A function of time.
        fastest: Speed of its fastest joint.
    """
    tried = []
    for step in STEPS:
        h = step / max(1.0, fastest)
        try:
            tried.append(np.asarray(sum(c * (f(k * h) - f(-k * h)) for c, k in STENCIL) / h))
        except (pc.BranchLost, pc.SingularClusterError):
            continue
    if len(tried) < 3:
        return None
    apart = [float(np.abs(x - y).max()) for x, y in itertools.pairwise(tried)]
    return tried[int(np.argmin(apart)) + 1]


def differences(model: pc.ClusterModel, found: Errors, q: np.ndarray, rng: np.random.Generator) -> None:
    """Compare G with differences of the assembled motion, and g with differences of G v."""
    data, v = model.createData(), rng.normal(size=model.nv)
    G = pc.coupling_jacobian(model, data, q).copy()
    v /= max(1.0, float(np.abs(G @ v).max()))

    def along(w: np.ndarray) -> np.ndarray | None:
        fastest = float(np.abs(G @ w).max())
        return derivative(lambda t: np.array(pin.difference(model.tree, q, pc.integrate(model, q, t * w))), fastest)

    columns = [along(e) for e in np.eye(model.nv)]
    for column, exact in zip(G.T, columns, strict=True):
        if exact is not None:
            keep(found, DIFFERENCES, "G", relative(column, exact))
    rate = derivative(lambda t: pc.coupling_jacobian(model, data, pc.integrate(model, q, t * v)) @ v, 1.0)
    if rate is not None:
        keep(found, DIFFERENCES, "g", relative(pc.coupling_bias(model, data, q, v), rate))


def measure(samples: Iterable[loop_mechanisms.Sample], rng: np.random.Generator) -> dict[str, Any]:
    """Return the worst errors over the poses that are well conditioned, and how many those are."""
    found: Errors = {}
    used, conditions, masses, exact = 0, [1.0], [1.0], 0.0
    for sample in samples:
        oracles = Oracles(sample)
        exact = max(exact, sample.exact)
        for q in sample.poses:
            condition = loop_models.condition(oracles.judged, q)
            if condition < WELL_CONDITIONED:
                used += 1
                conditions.append(condition)
                masses.append(compare(oracles, found, q, rng))
                differences(sample.model, found, q, rng)
    return {
        "states": used,
        "misaligned": exact,
        "condition": max(conditions),
        "mass_condition": max(masses),
        "worst": found,
    }


def golden_errors() -> dict[str, Errors]:
    """Return the errors against the numbers of the other library, at its states, without projection."""
    found: dict[str, Errors] = {}
    for robot, how, k in golden.CASES:
        case = golden.Case(robot, how, k)
        model, s, q, v = case.model, case.state, case.q, case.v
        data, M = model.createData(), case.matrix(s["H"])
        pairs = {
            "G": (pc.coupling_jacobian(model, data, q), case.G),
            "g": (pc.coupling_bias(model, data, q, v), case.g),
            "rnea": (pc.rnea(model, data, q, v, case.vector(s["ydd_id"])), case.vector(s["tau_id"])),
            "crba": (pc.crba(model, data, q), M),
            "aba": (pc.aba(model, data, q, v, case.vector(s["tau"])), case.vector(s["ydd_fd"])),
            "Minv": (pc.computeMinverse(model, data, q), np.linalg.inv(M)),
        }
        if case.fext is not None:
            a, tau, forced = (case.vector(s[x]) for x in ("ydd_id", "tau_id_with_fext", "ydd_fd_with_fext"))
            pairs["rnea, fext"] = pc.rnea(model, data, q, v, a, case.fext), tau
            pairs["aba, fext"] = pc.aba(model, data, q, v, case.vector(s["tau"]), case.fext), forced
        name = f"{robot}, {how}" if how else robot
        for algorithm, pair in pairs.items():
            keep(found.setdefault(name, {}), "golden", algorithm, relative(*pair))
    return found


def mechanisms(states: int, names: Iterable[str] | None = None) -> dict[str, Any]:
    """Return states used and worst errors, per mechanism."""
    found: dict[str, Any] = {}
    for name in names or loop_mechanisms.MECHANISMS:
        rng = np.random.default_rng(sum(map(ord, name)))
        one = measure(loop_mechanisms.MECHANISMS[name](rng, states), rng)
        found[name] = one
        print(f"{name:52} {one['states']:3} states, cond {one['condition']:5.0f}  {summary(one['worst'])}", flush=True)
    return found


def summary(errors: Errors) -> str:
    """Return the worst error per oracle."""
    return "  ".join(f"{oracle} {max(e.values()):.0e}" for oracle, e in errors.items() if e)


def missed(found: dict[str, Any]) -> list[str]:
    """Return the mechanisms on which projection is missed by more than the limit, of those that are aligned."""
    return [
        name for name, one in found.items()
        if not one["misaligned"] and not max(one["worst"][PROJECTION].values(), default=np.nan) <= LIMIT
    ]  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=25, help="random states per mechanism")
    parser.add_argument("--mechanisms", nargs="+", metavar="NAME", help="some only; writes nothing without --output")
    parser.add_argument("--output", type=Path)
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.mechanisms or () if name not in loop_mechanisms.MECHANISMS]
    if unknown:
        parser.error(f"unknown mechanism {unknown[0]!r}; known: {', '.join(loop_mechanisms.MECHANISMS)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        found = mechanisms(chosen.states, chosen.mechanisms)
        outsider = golden_errors()
    for name, errors in outsider.items():
        print(f"{name:52} {summary(errors)}")
    print(f"projection missed by more than {LIMIT:g}: {', '.join(missed(found)) or 'nowhere'}")
    results = {"machine": timing.machine(), "limit": LIMIT, "mechanisms": found, "golden": outsider}
    output = chosen.output or (None if chosen.mechanisms else RESULTS)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
