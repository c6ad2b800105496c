"""Measure the cycle of a whole-body controller: ``python benchmarks/wbc.py [--quick]``.

Terms: M, h, placements, Jacobians and drifts of feet and hands, Jacobian of the centre of mass. Here one call,
``computeAllTerms(..., out=terms)``, on the exact robot; in Pinocchio the calls that give the same of the approximate
one, for the ankles on cranks of the serial one. Then the whole cycle with its quadratic program, by ProxQP.
Go2 and G1 are those of example-robot-data; their rotors and the cranks of G1 are assumed. It needs what ``.[examples]``
installs.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

import everyday
import numpy as np
import pinocchio as pin
import timing
from report_loops import markdown, where

import pin_clusters as pc
from pin_clusters.verification.baselines import armature_model
from pin_clusters.verification.timing import interleaved

RESULTS = Path(__file__).parent / "results" / "wbc.json"
ROBOTS = ("Go2", "G1", "G1, ankles on cranks", "mini_cheetah", "mit_humanoid", "tello")
FRAMES = {
    "Go2": ["FL_foot", "FR_foot", "RL_foot", "RR_foot"],
    "G1": [f"{side}_{link}" for link in ("ankle_roll_link", "wrist_yaw_link") for side in ("left", "right")],
    "mini_cheetah": ["FL_foot", "FR_foot", "HL_foot", "HR_foot"],
    "mit_humanoid": ["left_sole", "right_sole", "left_elbow", "right_elbow"],
    "tello": ["left_sole", "right_sole"],
}
ALIGNED, FRICTION = pin.LOCAL_WORLD_ALIGNED, 0.6
FULL = {"repeats": 601, "block": 5e-4}
QUICK = {"repeats": 9, "block": 5e-4}
PAIRS = (("pc.terms", "pin.terms"), ("pc.terms", "pin.lean"), ("pc.cycle", "pin.cycle"))
GOAL = 0.5


class Case(NamedTuple):
    """A robot, its frames, and a state; Pinocchio's robot in the same state."""

    model: pc.ClusterModel
    tree: pin.Model
    frames: list[str]
    q: np.ndarray
    v: np.ndarray
    q_tree: np.ndarray
    v_tree: np.ndarray


def geared(tree: pin.Model, joints: list[str], constraints: tuple[Any, ...] = ()) -> pc.ClusterModel:
    """Return a robot with a motor at each of some joints: with two planetary stages three rotors."""
    ball = pin.Inertia(0.05, np.zeros(3), 5e-6 * np.eye(3))
    ratios = (6.33,) if len(joints) == 12 else (22.5, 5.0, 1.8)
    rotors = [pc.Rotor(joint, x, inertia=ball, name=f"{joint}_{x:g}") for joint in joints for x in ratios]
    return pc.ClusterModel(tree, [*rotors, *constraints])


def with_cranks(tree: pin.Model) -> tuple[pin.Model, list[Any]]:
    """Return G1 with two cranks on each shank, and what ties them to the ankle."""
    tree, ankles = tree.copy(), []
    for side in ("left", "right"):
        knee, cranks = tree.getJointId(f"{side}_knee_joint"), []
        for name, y, z in (("outer", 0.04, -0.12), ("inner", -0.04, -0.19)):
            cranks.append(f"{side}_{name}_crank")
            at = pin.SE3(np.eye(3), np.array([0.0, y, z]))
            j = tree.addJoint(knee, pin.JointModelRY(), at, cranks[-1])
            tree.addJointFrame(j)
            tree.appendBodyToJoint(j, pin.Inertia(0.05, np.array([-0.02, 0, 0]), 1e-5 * np.eye(3)), pin.SE3.Identity())
        ends, pins = [(-0.04, 0.04, 0.0), (-0.04, -0.04, 0.0)], [(-0.04, 0.0, 0.0)] * 2
        joints = f"{side}_ankle_pitch_joint", f"{side}_ankle_roll_joint"
        ankles.append(pc.Differential.ankle_2rsu(*cranks, *joints, pins=pins, foot=ends))
    return tree, ankles


def case(name: str) -> Case:
    """Return a robot in a state near that where it is built."""
    rng, frames = np.random.default_rng(0), FRAMES[name.partition(",")[0]]
    if name not in ("Go2", "G1", "G1, ankles on cranks"):
        model = pc.load(name)
        q, v = (
            pc.integrate(model, pc.neutral(model), 0.1 * rng.standard_normal(model.nv)),
            rng.standard_normal(model.nv),
        )
        tree, (q_tree, v_tree, _) = everyday.rival(model, q, v, np.zeros(model.nv))
        return Case(model, tree, frames, q, v, q_tree, v_tree)
    file = "go2_description/urdf/go2.urdf" if name == "Go2" else "g1_description/urdf/g1_29dof_rev_1_0.urdf"
    serial = pin.buildModelFromUrdf(str(everyday.SHARE / file), pin.JointModelFreeFlyer())
    joints = list(serial.names)[2:]
    model, approximate = geared(serial, joints), armature_model(geared(serial, joints), "diagonal")
    if "cranks" in name:
        tree, ankles = with_cranks(serial)
        cranks = [joint for joint in tree.names if "crank" in joint]
        model = geared(tree, [joint for joint in joints if "ankle" not in joint] + cranks, tuple(ankles))
    q, v = pc.integrate(model, pc.neutral(model), 0.1 * rng.standard_normal(model.nv)), rng.standard_normal(model.nv)
    rates = pc.spanning_velocity(model, model.createData(), q, v)
    return Case(model, approximate, frames, q, v, q[: serial.nq].copy(), rates[: serial.nv].copy())


def pinocchio_terms(one: Case, lean: bool) -> Callable[[], tuple[Any, ...]]:
    """Return Pinocchio's calls; lean: without those whose results others leave as well."""
    model, q, v, data, rest = one.tree, one.q_tree, one.v_tree, one.tree.createData(), np.zeros(one.tree.nv)
    ids = [model.getFrameId(name) for name in one.frames]

    def terms() -> tuple[Any, ...]:
        M, h = pin.crba(model, data, q), pin.nonLinearEffects(model, data, q, v)
        pin.forwardKinematics(model, data, q, v, rest)
        if not lean:
            pin.updateFramePlacements(model, data)
        J_com = pin.jacobianCenterOfMass(model, data, q)  # leaves those of joints as well
        J = [pin.getFrameJacobian(model, data, i, ALIGNED) for i in ids]
        return M, h, J_com, J, [pin.getFrameClassicalAcceleration(model, data, i, ALIGNED) for i in ids]

    return terms


def terms_here(one: Case) -> Callable[[], pc.FrameTerms]:
    """Return the one call."""
    model, q, v, data = one.model, one.q, one.v, one.model.createData()
    room = pc.FrameTerms(model, one.frames, ALIGNED)

    def terms() -> pc.FrameTerms:
        pc.computeAllTerms(model, data, q, v, out=room)
        return room

    return terms


class Program:
    """min |a - wanted|^2 + the centre's, so that M a + h = S' tau + J' f, feet stay, forces within pyramids."""

    def __init__(self, nv: int, feet: int) -> None:
        """Make the solver; x = (a, tau, f)."""
        import proxsuite

        m, k = nv - 6, 3 * feet
        cone = np.array([[1, 0, FRICTION], [-1, 0, FRICTION], [0, 1, FRICTION], [0, -1, FRICTION]])
        self.nv, self.m, n, rows = nv, m, nv + m + k, nv + k
        self.H, self.g, self.A, self.b = 1e-3 * np.eye(n), np.zeros(n), np.zeros((rows, n)), np.zeros(rows)
        self.A[6:nv, nv : nv + m] = -np.eye(m)
        self.C = np.zeros((m + 4 * feet, n))
        self.C[:m, nv : nv + m], self.C[m:, nv + m :] = np.eye(m), np.kron(np.eye(feet), cone)
        self.low, self.high = np.repeat([-200.0, 0.0], [m, 4 * feet]), np.repeat([200.0, 1e6], [m, 4 * feet])
        self.qp, self.begun = proxsuite.proxqp.dense.QP(n, rows, len(self.C)), False

    def solve(self, M: Any, h: Any, J_com: Any, J: Any, drift: Any) -> np.ndarray:
        """Return x; J and drift are those of the feet, rows of three."""
        nv, m = self.nv, self.m
        self.A[:nv, :nv], self.A[:nv, nv + m :], self.A[nv:, :nv] = M, -J.T, J
        self.b[:nv], self.b[nv:] = -h, -drift
        self.H[:nv, :nv] = 100 * J_com.T @ J_com + np.eye(nv)
        given = self.H, self.g, self.A, self.b, self.C, self.low, self.high
        (self.qp.update if self.begun else self.qp.init)(*given)
        self.begun = True
        self.qp.solve()
        return np.array(self.qp.results.x)


def cycles(one: Case, feet: int) -> dict[str, tuple[Callable[[], Any], tuple[()]]]:
    """Return the whole cycle of both, and the program alone."""
    ours, theirs = terms_here(one), pinocchio_terms(one, False)
    nv = one.model.nv

    def here() -> np.ndarray:
        t = ours()
        return first.solve(t.M, t.nle, t.Jcom, t.J[:feet, :3].reshape(-1, nv), t.classical_drift[:feet, :3].ravel())

    def there() -> np.ndarray:
        M, h, J_com, J, drift = theirs()
        return second.solve(
            M, h, J_com, np.vstack([x[:3] for x in J[:feet]]), np.concatenate([a.linear for a in drift[:feet]])
        )

    first, second = Program(nv, feet), Program(one.tree.nv, feet)
    return {"pc.cycle": (here, ()), "pin.cycle": (there, ())}


def measure(name: str, *, repeats: int, block: float) -> dict[str, Any]:
    """Time the terms of a robot, and its cycle."""
    one = case(name)
    calls: dict[str, Any] = {"pc.terms": (terms_here(one), ())}
    calls |= {"pin.terms": (pinocchio_terms(one, False), ()), "pin.lean": (pinocchio_terms(one, True), ())}
    if one.model.nv == one.tree.nv:  # not tello: its actuators are not those of its tree
        calls |= cycles(one, 4 if one.model.nv == 18 else 2)
    for call, _ in calls.values():
        call()
    t = interleaved(calls, repeats=repeats, block=block)
    return {
        "nv": one.model.nv,
        "rotors": len(one.model.rotors),
        "nv_there": one.tree.nv,
        "frames": len(one.frames),
        "times": {name: timing.number(x) for name, x in t.items()},
        "ratio": {b: round(t[a].minimum / t[b].minimum, 3) for a, b in PAIRS if a in t},
    }


def table(results: dict[str, Any]) -> str:
    """Return the table of the documentation."""
    head = ["robot", "nv", "rotors", "frames", "terms [us]", "fewest calls [us]", "cycle with QP [us]"]
    rows = []
    for name, r in results["robots"].items():
        cells = []
        for a, b in PAIRS:
            t = [r["times"][x]["min_us"] for x in (a, b)] if b in r["ratio"] else []
            cells.append(f"{t[0]:.1f} / {t[1]:.1f} = **{r['ratio'][b]:.2f}**" if t else "-")
        rows.append(
            [name if name[0].isupper() else f"`{name}`", str(r["nv"]), str(r["rotors"]), str(r["frames"]), *cells]
        )
    worst = max(r["ratio"][name] for r in results["robots"].values() for name in ("pin.terms", "pin.lean"))
    return "\n\n".join([
        where(results),
        f"Time in microseconds, minimum of {results['effort']['repeats']} repeats: one call of `pc.computeAllTerms` "
        "for the exact robot / Pinocchio's calls for the same terms of the approximate robot = ratio. Pinocchio "
        "computes the serial robot instead of the robot with ankles on cranks, and the open spanning tree of `tello`. "
        "*Fewest calls*: Pinocchio without `updateFramePlacements`. The quadratic program (QP) has three forces per "
        "foot, torque limits and friction cones. ProxQP solves it in both columns.",
        markdown(head, rows),
        f"Goal: a ratio of at most {GOAL:g} for the terms. The largest ratio is {worst:.2f}: "
        f"{'met' if worst <= GOAL else 'not met'}.",
    ])  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats; a first impression")
    parser.add_argument("--robots", nargs="+", metavar="NAME", default=list(ROBOTS), choices=ROBOTS)
    parser.add_argument("--output", type=Path, help="JSON file (default: results/wbc.json, unless --quick)")
    chosen = parser.parse_args(arguments)
    effort = QUICK if chosen.quick else FULL
    results: dict[str, Any] = {"machine": timing.machine(), "effort": effort, "robots": {}}
    for name in chosen.robots:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            results["robots"][name] = found = measure(name, **effort)
        print(name, {k: x["min_us"] for k, x in found["times"].items()}, found["ratio"])
    timing.write(results, chosen.output or (None if chosen.quick else RESULTS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
