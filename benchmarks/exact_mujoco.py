"""``pc.mujoco.Exact`` in MuJoCo: ``python benchmarks/exact_mujoco.py [--quick] [--output FILE]``.

Errors of accelerations against ``pc.aba`` in random states; impulses of landings; time of a step, with calls of the
tree, of the tree with the callback and of the exact file in turn; simulations with random torques on the ground.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import mujoco
import numpy as np
import timing
from report_loops import markdown, where
from support import exact_mujoco as em
from support import landings

import pin_clusters as pc
from pin_clusters.approximations.armature import reflected_inertia
from pin_clusters.model import loops_of

RESULTS = Path(__file__).resolve().parent / "results" / "exact_mujoco.json"
ROBOTS = ("mini_cheetah", "mit_humanoid", "jvrc1", "teleop_arm", "tello", "ankle_2rsu", "g1")
LEVELS = ("none", "diagonal", "block", "frozen", "callback")
TITLES = ("no armature", "diagonal armature", "constant armature matrix", "constant ΔM", "callback")
COST = ["robot", "tree [us]", "callback / tree", "exact file / tree", "tree, contacts [us]", "callback / tree"]
WALKERS = {"mini_cheetah": 6.0, "mit_humanoid": 15.0, "tello": 6.0, "g1": 15.0}
"""Robots that fall on the ground, and their largest random torque [N m]."""
HOLD, SPEED_LIMIT = 0.02, 1e4  # time for which a torque is constant [s]; a faster joint counts as divergence [rad/s]


def accuracy(name: str, n: int) -> dict[str, float]:
    """Return the root mean square error of the joint accelerations, relative to their root mean square."""
    model = em.exact(name)
    tree = em.tree_of(model)
    exact, at = pc.mujoco.Exact(model, tree), em.Coordinates(model, tree)
    d, data, q0 = mujoco.MjData(tree), model.createData(), pc.neutral(model)
    at.put(d, q0, np.zeros(model.nv))
    G = pc.coupling_jacobian(model, data, q0)
    B = np.zeros((tree.nv, tree.nv))
    B[np.ix_(at.dofs, at.dofs)] = reflected_inertia(model, G[None])[0][np.ix_(at.v, at.v)]
    added = {"none": 0.0 * B, "diagonal": np.diag(np.diag(B)), "block": B, "frozen": exact.delta(d)[0]}
    errors: dict[str, list[np.ndarray]] = {level: [] for level in LEVELS}
    expected, M = [], np.zeros((tree.nv, tree.nv))
    for q, v, tau in em.states(model, np.random.default_rng(1), n):
        at.put(d, q, v, tau)
        expected.append(at.acceleration(q, v, pc.aba(model, data, q, v, tau), tree.nv))
        mujoco.mj_forward(tree, d)
        mujoco.mj_fullM(tree, d, M)
        force = d.qfrc_applied - d.qfrc_bias
        for level, more in added.items():
            errors[level].append(np.linalg.solve(M + more, force) - expected[-1])
        with exact:
            mujoco.mj_forward(tree, d)
        errors["callback"].append(d.qacc - expected[-1])
    size = np.sqrt(np.mean(np.array(expected)[:, at.dofs] ** 2))
    return {level: float(np.sqrt(np.mean(np.array(e)[:, at.dofs] ** 2)) / size) for level, e in errors.items()}


def with_ground(model: pc.ClusterModel, dt: float) -> Any:
    """Return the tree above a plane, on which each body has a small sphere."""
    spec = mujoco.MjSpec.from_string(em.tree_text(model))
    for geom in list(spec.geoms):
        geom.contype = geom.conaffinity = 0
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[50, 50, 1], contype=1, conaffinity=1)
    for body in list(spec.bodies)[1:]:
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.02, 0, 0], mass=0, contype=0, conaffinity=1)
    spec.option.timestep = dt
    return spec.compile()


def on_eight_points(model: pc.ClusterModel) -> Any:
    """Return the tree at its neutral pose with four points on each of two leaf bodies, which touch a plane."""
    tree = em.tree_of(model)
    d = mujoco.MjData(tree)
    em.Coordinates(model, tree).put(d, pc.neutral(model), np.zeros(model.nv))
    mujoco.mj_kinematics(tree, d)
    leaves = sorted(set(range(1, tree.nbody)) - set(tree.body_parentid.tolist()), key=lambda b: d.xpos[b, 2])[:2]
    spec = mujoco.MjSpec.from_string(em.tree_text(model))
    for geom in list(spec.geoms):
        geom.contype = geom.conaffinity = 0
    height = d.xpos[leaves, 2].min() - 0.05
    for b in leaves:
        body = spec.body(tree.body(b).name)
        for x, y in ((-0.05, -0.03), (-0.05, 0.03), (0.1, -0.03), (0.1, 0.03)):
            place = d.xmat[b].reshape(3, 3).T @ (np.array([d.xpos[b, 0] + x, d.xpos[b, 1] + y, height]) - d.xpos[b])
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[5e-3, 0, 0], pos=place, mass=0, contype=0, conaffinity=1
            )
    plane = {"type": mujoco.mjtGeom.mjGEOM_PLANE, "size": [5, 5, 1], "contype": 1, "conaffinity": 1}
    spec.worldbody.add_geom(pos=[0, 0, height - 4.9e-3], **plane)
    return spec.compile()


def costs(name: str, rounds: int) -> dict[str, float]:
    """Return the least CPU time of a step [us], without contacts and with eight contacts (arms: four)."""
    model, times = em.exact(name), dict[str, float]()
    free, touching = em.tree_of(model, contacts=True), on_eight_points(model)
    free.geom_contype[:] = free.geom_conaffinity[:] = 0
    free.opt.timestep = touching.opt.timestep = 1e-5
    cases = {"tree": (free, None), "callback": (free, pc.mujoco.Exact(model, free))}
    cases |= {"tree, contacts": (touching, None), "callback, contacts": (touching, pc.mujoco.Exact(model, touching))}
    try:
        file = mujoco.MjModel.from_xml_string(pc.to_mjcf(model, "exact", integrator="Euler"))
        file.opt.timestep = 1e-5
        file.geom_contype[:] = file.geom_conaffinity[:] = 0
        cases["exact file"] = (file, None)
    except pc.PinClustersError as error:
        warnings.warn(f"{name}: {error}", stacklevel=1)
    for _ in range(rounds):
        for label, (tree, exact) in cases.items():
            d = mujoco.MjData(tree)
            if label != "exact file":
                em.Coordinates(model, tree).put(d, pc.neutral(model), np.zeros(model.nv))
            if exact is not None:
                exact.install()
            mujoco.mj_step(tree, d, 20)
            start = time.thread_time()
            mujoco.mj_step(tree, d, 300)
            assert d.ncon in (4, 8) or "contacts" not in label
            times[label] = min(times.get(label, np.inf), (time.thread_time() - start) / 300 * 1e6)
            if exact is not None:
                exact.remove()
    return times


def stability(name: str, dt: float, steps: int, callback: bool) -> dict[str, Any]:
    """Simulate random torques on the ground; count divergences and evaluations beyond the reach of the linkages."""
    model, rng = em.exact(name), np.random.default_rng(12345)
    tree, base = with_ground(model, dt), 6
    tree.dof_damping[base:], tree.jnt_limited[1:] = 0.2, 1
    q0 = pc.neutral(model)
    loops = {x for c in model.clusters if set(c.joints) & set(model.dependent_joints) for x in c.independent}
    loops -= (
        {x for r in model.rotors if r.joint_id is not None and r.spins for x in [r.name]} if model.closures else loops
    )
    exact, at = pc.mujoco.Exact(model, tree), em.Coordinates(model, tree)
    d, M, loops = mujoco.MjData(tree), np.zeros((tree.nv, tree.nv)), exact.report().loops
    start = {x: float(q0[model.tree.idx_qs[model.tree.getJointId(x)]]) for x in model.independent_joints[1:]}
    for i in range(1, tree.njnt):
        joint = tree.joint(i).name
        reach = 1.2 if joint not in loops else 0.2 if "roll" in joint or name == "tello" else 0.35
        tree.jnt_range[i] = start[joint] - reach, start[joint] + reach
    at.put(d, q0, np.zeros(model.nv))
    d.qpos[2] = 1.0
    begin, (dM, _) = d.qpos.copy(), exact.delta(d)
    mujoco.mj_forward(tree, d)
    mujoco.mj_fullM(tree, d, M)
    sizes = np.minimum(WALKERS[name], 300.0 * np.diag(M + dM))
    if callback:
        exact.install()
    else:
        tree.dof_armature[base:] = np.diag(dM)[base:]
    hold, diverged, fastest, beyond, failed, counted = round(HOLD / dt), 0, 0.0, 0, 0, 0
    for k in range(steps):
        if k % hold == 0:
            d.qfrc_applied[base:] = sizes[base:] * rng.normal(size=tree.nv - base)
        before = d.qpos.copy()
        mujoco.mj_step(tree, d)
        now = exact.beyond_reach(d)
        if now > counted:
            beyond, failed = beyond + 1, failed + (_reachable(model, exact, before, at) if beyond < 2000 else 0)
        counted = now
        speed = np.abs(d.qvel[base:]).max()
        if not speed < SPEED_LIMIT or any(d.warning[w].number for w in (4, 5, 6)):
            diverged += 1
            mujoco.mj_resetData(tree, d)
            d.qpos[:], counted = begin, 0
        else:
            fastest = max(fastest, speed)
    exact.remove()
    return {"diverged": diverged, "fastest": float(fastest), "beyond": beyond / steps, "failed": failed / steps}


def _reachable(model: pc.ClusterModel, exact: Any, qpos: np.ndarray, at: em.Coordinates) -> bool:
    """Return whether the exact model reaches the pose from the reference pose, away from singularities."""
    q, turn = pc.neutral(model), np.zeros(model.nv)
    turn[at.v] = qpos[at.qpos] - q[at.q]
    try:
        q = pc.integrate(model, q, turn)
    except pc.BranchLost:
        return False
    tree, loops = model.tree, loops_of(model).clusters
    places = {int(tree.idx_vs[j]): int(tree.idx_qs[j]) for j in range(1, tree.njoints)}
    dependent = q[[places[int(iv)] for loop in loops for iv in loop.dependents]]
    return float(exact._entry.traced.program(qpos, dependent, np.zeros(model.nv))[2][0]) < 1e-8


def tables(results: dict[str, Any]) -> str:
    """Return the tables of the page."""
    errors = [[f"`{x}`", *(_percent(e[level]) for level in LEVELS)] for x, e in results["accuracy"].items()]
    cost = [
        [f"`{x}`", f"{t['tree']:.1f}", f"{t['callback'] / t['tree']:.2f}", _ratio(t, "exact file", "tree"),
         f"{t['tree, contacts']:.1f}", f"{t['callback, contacts'] / t['tree, contacts']:.2f}"]
        for x, t in results["costs"].items()
    ]  # fmt: skip
    impulses = [
        [kind, f"{dt:g}", f"{x['bodies']:.3f}",
         *(f"{100.0 * (x[level] / x['bodies'] - 1.0):+.2f} %" for level in ("diagonal", "callback"))]
        for kind, dt, x in results["landings"]
    ]  # fmt: skip
    runs = [
        [f"`{x}`", f"{1e3 * dt:g}", *(str(r["diverged"]) for r in (diagonal, callback)),
         f"{100.0 * callback['beyond']:.2g} %", f"{100.0 * callback['failed']:.2g} %"]
        for x, dt, diagonal, callback in results["stability"]
    ]  # fmt: skip
    return "\n\n".join([
        where(results),
        f"Errors of joint accelerations against `pc.aba`, {results['states']} random states without contacts:",
        markdown(["robot", *TITLES], errors),
        "CPU time of `mj_step`, without contacts, and with eight contacts (arms: four):",
        markdown(COST, cost),
        "Vertical impulse of the MIT Humanoid in the first 2 ms of a landing at 1.4 m/s:",
        markdown(["landing", "time step [s]", "rotors as bodies [N s]", "diagonal armature", "callback"], impulses),
        f"{results['steps']} steps with random torques on the ground. The column *not closed* is the share of steps "
        "with an open loop, and *failed* the share that the exact model could close:",
        markdown(["robot", "step [ms]", "diverged, diagonal", "diverged, callback", "not closed", "failed"], runs),
    ])  # fmt: skip


def _percent(x: float) -> str:
    return f"{100.0 * x:.2g} %" if x > 1e-9 else f"{x:.0e}"


def _ratio(t: dict[str, float], a: str, b: str) -> str:
    return f"{t[a] / t[b]:.2f}" if a in t else "-"


def main(arguments: list[str] | None = None) -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--quick", action="store_true", help="few states and steps; writes nothing")
    chosen = parser.parse_args(arguments)
    quick = chosen.quick
    states, rounds, steps = (20, 2, 500) if quick else (1000, 15, 100_000)
    warnings.simplefilter("ignore", pc.PinClustersWarning)
    humanoid = em.exact("mit_humanoid")
    results = {
        "machine": timing.machine(),
        "states": states,
        "steps": steps,
        "accuracy": {name: accuracy(name, states) for name in ROBOTS},
        "costs": {name: costs(name, rounds) for name in ROBOTS},
        "landings": [(k, dt, landings.landing(humanoid, k, dt)) for k in landings.TILTS for dt in (1e-3, 2.5e-5)],
        "stability": [
            (name, dt, stability(name, dt, steps, False), stability(name, dt, steps, True))
            for name in WALKERS
            for dt in (1e-3, 2e-3, 5e-3)
        ],
    }
    if quick:
        print(tables(results))
    else:
        timing.write(results, chosen.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
