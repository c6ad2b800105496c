"""Measurements of robots with closed loops; all with ``pin_clusters.verification.timing.interleaved``."""

from __future__ import annotations

import itertools
from typing import Any

import kernel_loop
import loop_cases
import numpy as np
import pinocchio as pin
import tello_by_hand
from timing import number

import pin_clusters as pc
from pin_clusters import batch
from pin_clusters.constraints.closures import JointClosure
from pin_clusters.verification.baselines import constrained, projection
from pin_clusters.verification.timing import Call, Timing, interleaved

SOLVERS = ("constraintDynamics", "lcaba")
MU = (1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2)
CAPS, ENOUGH = (1, 2, 3, 5), 50
"""Numbers of iterations: what the oracle may choose, and what is never reached."""
ORACLE = ", oracle"
STATES, MOST_SETTINGS = 8, 4
OFF = 0.1
"""How far from assembled ``project`` starts: each joint of the loops, [rad] or [m / 10]."""


def states(model: pc.ClusterModel, n: int = STATES, seed: int = 0) -> list[tuple[np.ndarray, ...]]:
    """Return random assembled q, v, tau."""
    pin.seed(seed)
    rng = np.random.default_rng(seed)
    return [(pc.randomConfiguration(model), *rng.standard_normal((2, model.nv))) for _ in range(n)]


def error(x: np.ndarray, reference: np.ndarray) -> float:
    """Return the largest difference over max(1, largest entry of the reference)."""
    return float(np.abs(x - reference).max() / max(1.0, np.abs(reference).max()))


def share(times: dict[str, Timing], above: str, below: str) -> dict[str, float]:
    """Return the median ratio of paired repeats, and its spread (half the distance of the quartiles over it)."""
    ratios = times[above].samples / times[below].samples
    low, median, high = np.percentile(ratios, [25, 50, 75])
    return {"median": round(float(median), 3), "spread": round(float((high - low) / 2.0 / median), 3)}


def kernel_call(data: pc.ClusterData, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> Call:
    """Return the compiled function itself, without the checks of ``pc.aba`` and its new array."""
    return data._kernels["aba"].function(), (data._pointers["ddq"].address, q, v, tau, np.zeros(len(v)))


def prepare(workspace: Any, state: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """Return q, v, tau of Pinocchio's tree, rods included."""
    q, v, tau = state
    torque = np.zeros(workspace.tree.nv)
    torque[workspace.independent] = tau
    return (*workspace.state(q, v), torque)


def bare_call(workspace: Any, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> Call:
    """Return Pinocchio's function itself, on what the baseline prepared: no null space, no rods' angles in the time."""
    contacts = workspace.contacts, workspace.contact_datas
    solve = getattr(pin, workspace.solver)
    return solve, (workspace.tree, workspace.data, q, v, tau, *contacts, workspace.settings)


def peers(model: pc.ClusterModel, samples: list[tuple[np.ndarray, ...]]) -> dict[str, dict[str, Any]]:
    """Find for each solver of Pinocchio the fastest settings that reach the accuracy at all states.

    Two ways to choose: by the solver's own test (``accuracy=1e-8``, which ends its iterations), or by an oracle that
    knows how many iterations are enough, fewer than the solver needs to see that it is there.

    Returns:
        Per solver, and per solver with ``", oracle"``: workspace, settings, error (of the independent acceleration,
        against projection) and iterations used; or why it is left out.
    """
    work = projection.createData(model)
    exact = [projection.aba(model, work, *s) for s in samples]
    found: dict[str, dict[str, Any]] = {}
    prepared: list[tuple[np.ndarray, ...]] = []
    for solver, oracle in itertools.product(SOLVERS, (False, True)):
        good: list[dict[str, Any]] = []
        best, name = np.inf, solver + (ORACLE if oracle else "")
        for mu, most in itertools.product(MU, CAPS if oracle else (ENOUGH,)):
            try:
                data = constrained.createData(model, solver, accuracy=loop_cases.ACCURACY, mu=mu, iterations=most)
            except pc.NotAvailableError as reason:
                found[name] = {"left_out": str(reason)}
                break
            prepared = prepared or [prepare(data, s) for s in samples]
            errors, used = [], 0
            for s, a in zip(prepared, exact, strict=True):
                solve, arguments = bare_call(data, *s)
                errors.append(error(solve(*arguments)[data.independent], a))
                used = max(used, data.settings.iter)
            worst = max(errors) if np.isfinite(errors).all() else np.inf
            best = min(best, worst)
            if worst <= loop_cases.ACCURACY and (oracle or used < ENOUGH):
                settings = {"accuracy": loop_cases.ACCURACY, "mu": mu, "iterations": most}
                good.append({"workspace": data, "settings": settings, "used": used, "error": worst})
        if name in found:
            continue
        if not good:
            found[name] = {"left_out": f"does not reach {loop_cases.ACCURACY:g}; best {best:.1e}"}
            continue
        good.sort(key=lambda g: (g["used"], g["error"]))
        few = {str(i): bare_call(g["workspace"], *prepared[0]) for i, g in enumerate(good[:MOST_SETTINGS])}
        times = interleaved(few, repeats=5, block=1e-3)
        found[name] = good[int(min(times, key=lambda i: times[i].median))]
    return found


def rivalry(case: loop_cases.Case, *, repeats: int, block: float) -> dict[str, Any]:
    """Time ``pc.aba`` on the robot with rotors against Pinocchio's constrained algorithms on it with armature."""
    model = case.make()
    plain = loop_cases.without_rotors(model)
    samples = states(plain)
    one, data, data_plain = samples[0], model.createData(), plain.createData()
    work = projection.createData(model)
    own_error = max(error(pc.aba(model, data, *s), projection.aba(model, work, *s)) for s in samples)
    against = peers(plain, samples)
    calls: dict[str, Call] = {
        "pc.aba": (pc.aba, (model, data, *one)),
        "kernel": kernel_call(data, *one),
        "pc.aba without rotors": (pc.aba, (plain, data_plain, *one)),
    }
    used = [s for s, r in against.items() if "workspace" in r]
    calls |= {f"pin.{s}": bare_call(against[s]["workspace"], *prepare(against[s]["workspace"], one)) for s in used}
    loops: dict[str, Call] = {}
    for s in (s for s in used if s in SOLVERS):
        r = against[s]
        made = kernel_loop.of_pinocchio(r["workspace"], r["settings"], *prepare(r["workspace"], one))
        if made is not None:
            loops[f"pin.{s} in C++"], out = made
            loops[f"pin.{s} in C++"][0](*loops[f"pin.{s} in C++"][1])
            solve, arguments = bare_call(r["workspace"], *prepare(r["workspace"], one))
            r["error_in_C++"] = error(out, np.asarray(solve(*arguments)))
    if loops:
        loops["kernel in a loop"] = kernel_loop.of_kernel(calls["kernel"])
    times = interleaved(calls | loops, repeats=repeats, block=block)
    for name in loops:
        times[name] = Timing(times[name].samples / kernel_loop.CALLS, times[name].calls)
    found: dict[str, Any] = {
        "nv": model.nv,
        "nv_tree": model.tree.nv,
        "loops": count_loops(model),
        "rotors": len(model.rotors),
        "error": own_error,
        "rivals": {s: {k: x for k, x in r.items() if k != "workspace"} for s, r in against.items()},
        "times": {name: number(t) for name, t in times.items()},
        "api": {s: share(times, f"pin.{s}", "pc.aba") for s in used},
        "kernel": {s: share(times, f"pin.{s}", "kernel") for s in used},
    }
    own = [s for s in used if s in SOLVERS]
    if own:
        workspace = against[own[0]]["workspace"]
        found["nv_rival"], found["contacts"] = int(workspace.tree.nv), len(workspace.contacts)
        fastest = min(own, key=lambda s: times[f"pin.{s}"].median)
        found["fastest"] = fastest
        oracles = [s for s in used if s not in SOLVERS]
        found["fastest_oracle"] = min(oracles, key=lambda s: times[f"pin.{s}"].median, default=None)
        kernels, how = found["kernel"][fastest], "called from Python"
        if loops:
            quickest = min(own, key=lambda s: times[f"pin.{s} in C++"].median)
            kernels, how = share(times, f"pin.{quickest} in C++", "kernel in a loop"), "in loops"
        found["kernels"] = kernels | {"how": how}
        found["gates"] = [
            gate(f"pin.{fastest} / pc.aba{what}, at least", measured["median"], goal)
            for measured, what, goal in (
                (found["api"][fastest], "", case.api),
                (kernels, f", kernels {how}", case.kernel),
            )
            if goal is not None
        ]
    return found


def count_loops(model: pc.ClusterModel) -> int:
    """Return the number of loops that do not repeat others: a pair of parallel rods counts once.

    A closure of angles counts once per equation: each of the two push-rods of Tello's hip closes a loop.
    """
    kept = [c for loop in model.tables.topology.loops if loop is not None for c in loop.kept]
    return sum(c.size if isinstance(c, JointClosure) else 1 for c in kept)


def gate(what: str, value: float, limit: float, *, most: bool = False) -> dict[str, Any]:
    """Return a goal, and whether it is met."""
    return {"what": what, "value": value, "limit": limit, "met": value <= limit if most else value >= limit}


def tello(*, repeats: int, block: float) -> dict[str, Any]:
    """Time ``pc.aba`` of Tello against projections of it, and against ``pc.aba`` of mit_humanoid."""
    model, humanoid = loop_cases.make("tello"), loop_cases.make("mit_humanoid")
    data = model.createData()
    by_hand = tello_by_hand.ByHand(model, model.q_reference)
    general, held = projection.createData(model), projection.createData(model)
    samples = states(model)
    errors = {"pc.aba": 0.0, "by hand": 0.0}
    for s in samples:
        exact = projection.aba(model, general, *s)
        errors["pc.aba"] = max(errors["pc.aba"], error(pc.aba(model, data, *s), exact))
        errors["by hand"] = max(errors["by hand"], error(by_hand.aba(*s), exact))
    one = samples[0]
    projection.aba(model, held, *one)
    held.hold = True
    other = humanoid, humanoid.createData(), *states(humanoid, 1)[0]
    calls: dict[str, Call] = {
        "pc.aba": (pc.aba, (model, data, *one)),
        "kernel": kernel_call(data, *one),
        "projection, null space": (projection.aba, (model, general, *one)),
        "projection, G by hand": (by_hand.aba, one),
        "projection, G held": (projection.aba, (model, held, *one)),
        "pc.aba of mit_humanoid": (pc.aba, other),
    }
    t = interleaved(calls, repeats=repeats, block=block)
    ratios = {name: share(t, name, "pc.aba") for name in calls if name.startswith("projection")}
    humanoids = share(t, "pc.aba", "pc.aba of mit_humanoid")
    return {
        "nv": model.nv,
        "nv_tree": model.tree.nv,
        "errors": errors,
        "times": {name: number(x) for name, x in t.items()},
        "ratio": ratios,
        "mit_humanoid": humanoids,
        "gates": [
            gate("projection, G by hand / pc.aba, at least", ratios["projection, G by hand"]["median"],
                 loop_cases.GOALS["projection"]),
            gate("pc.aba of tello / of mit_humanoid, at most", humanoids["median"], loop_cases.GOALS["mit_humanoid"],
                 most=True),
        ],
    }  # fmt: skip


def displaced(model: pc.ClusterModel, q: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Move each joint on a path of a loop by 0.1 rad or 0.01 m, in a random sense."""
    step, tree = np.zeros(model.tree.nv), model.tree
    for cluster in model.clusters:
        if any(hasattr(c, "closures") for c in cluster.constraints):
            for joint in (tree.joints[tree.getJointId(name)] for name in cluster.joints):
                size = 0.1 * OFF if joint.shortname().startswith("JointModelP") else OFF
                step[joint.idx_v : joint.idx_v + joint.nv] = size * rng.choice([-1.0, 1.0], size=joint.nv)
    return np.array(pin.integrate(tree, q, step))


def projections(name: str, *, repeats: int, block: float) -> dict[str, Any]:
    """Time ``pc.project`` from 0.1 rad off, and ``pc.integrate`` of a step, next to ``pc.aba``; over some states."""
    model = loop_cases.make(name)
    data, rng = model.createData(), np.random.default_rng(1)
    samples = states(model, 4)
    starts = [displaced(model, q, rng) for q, _, _ in samples]
    worst = max(float(np.abs(pc.residual(model, pc.project(model, q))).max()) for q in starts)
    calls: dict[str, Call] = {f"project {i}": (pc.project, (model, q)) for i, q in enumerate(starts)}
    calls |= {
        "pc.integrate": (pc.integrate, (model, samples[0][0], 1e-3 * samples[0][1])),
        "pc.aba": (pc.aba, (model, data, *samples[0])),
    }
    t = interleaved(calls, repeats=repeats, block=block)
    mean = np.mean([t[f"project {i}"].samples for i in range(len(starts))], axis=0)
    t["pc.project"] = Timing(mean, t["project 0"].calls)
    loops = count_loops(model)
    each = 1e6 * float(np.median(mean)) / loops
    return {
        "loops": loops,
        "residual": worst,
        "times": {n: number(t[n]) for n in ("pc.project", "pc.integrate", "pc.aba")},
        "per_loop_us": round(each, 3),
        "over_aba": share(t, "pc.project", "pc.aba"),
        "gates": [gate("pc.project per loop [us], at most", round(each, 3), loop_cases.GOALS["project_us"], most=True)],
    }


def batches(name: str, *, repeats: int, block: float, size: int) -> dict[str, Any]:
    """Time ``pc.batch.aba`` per state on one thread against ``pc.aba`` of one state."""
    model = loop_cases.make(name)
    q, v, tau = (np.array(x) for x in zip(*states(model, size), strict=True))
    out, data = np.zeros_like(v), model.createData()
    batch.aba(model, q, v, tau, out=out)
    single = np.array([pc.aba(model, data, *s) for s in zip(q, v, tau, strict=True)])

    def whole() -> None:
        batch.aba(model, q, v, tau, threads=1, out=out)

    t = interleaved(
        {"batch": (whole, ()), "pc.aba": (pc.aba, (model, data, q[0], v[0], tau[0]))}, repeats=repeats, block=block
    )
    t["pc.batch.aba"] = Timing(t["batch"].samples / size, t["batch"].calls)
    return {
        "states": size,
        "lanes": batch.lanes,
        "error": max(error(x, y) for x, y in zip(out, single, strict=True)),
        "times": {n: number(t[n]) for n in ("pc.batch.aba", "pc.aba")},
        "speedup": share(t, "pc.aba", "pc.batch.aba"),
    }
