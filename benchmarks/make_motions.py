"""Make the motions that ship with the package: ``python benchmarks/make_motions.py [--check]``.

Writes ``robot_models/*/motions/*.csv``. Nothing is random, so the same numbers come out again. A motion is the
solution of as many equations as the robot has degrees of freedom, millisecond by millisecond: where the centre of mass
and the feet are, what the arms do, and either that the trunk stays level (gaits) or that the angular momentum of the
whole robot, spinning rotors included, is zero (jumps). Curves are polynomials of degree 5 between points, so that
velocities and accelerations are continuous; in flight the centre of mass falls freely.

The forces of the ground follow from the motion: the wrench that the exact robot needs is shared out to the feet that
stand, with weights that come and go smoothly.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from scipy.interpolate import BPoly

import pin_clusters as pc
from pin_clusters.studies.study import trajectories

ROBOTS = Path(__file__).resolve().parent.parent / "robot_models"
STEP, KEEP = 1e-3, 10
"""Time between solved samples [s], and which of them are written."""
GRAVITY = 9.81
FINE = 7
"""Decimals of what is written: 1e-7 rad at 100 Hz is 1e-3 rad/s^2."""

Curve = Callable[[float], np.ndarray]


@dataclass(frozen=True)
class Foot:
    """What touches the ground: a point of a body, and which of its rotations are held as well."""

    body: str
    point: tuple[float, float, float]
    rows: tuple[int, ...] = (0, 1, 2)
    """Of [linear; angular] in the world: 4 is pitch, 5 is yaw."""


@dataclass(frozen=True)
class Motion:
    """Targets as functions of time, [s]."""

    robot: str
    duration: float
    start: dict[str, float]
    feet: tuple[Foot, ...]
    com: Curve
    feet_at: tuple[Curve, ...]
    load: tuple[Callable[[float], float], ...]
    """How much of the ground's force a foot takes: 0 in the air."""
    arms: dict[str, Callable[[float], float]]
    level: bool
    """Whether the trunk stays level; otherwise the angular momentum is zero."""
    what: str


def smooth(s: float) -> float:
    """From 0 to 1 with the least jerk."""
    s = min(max(s, 0.0), 1.0)
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))


def bump(s: float) -> float:
    """From 0 to 1 and back to 0; velocity and acceleration are zero at both ends."""
    return (4.0 * s * (1.0 - s)) ** 3 if 0.0 < s < 1.0 else 0.0


def through(points: list[tuple[float, float, float, float]]) -> Callable[[float], float]:
    """Return the curve through (time, position, velocity, acceleration)."""
    rows = np.array(points)
    curve = BPoly.from_derivatives(rows[:, 0], rows[:, 1:])
    return lambda t: float(curve(min(max(t, rows[0, 0]), rows[-1, 0])))


# --- the four motions -------------------------------------------------------------------------------------------------

CHEETAH = tuple(Foot(f"{leg}_knee_link", (0.0, 0.0, -0.195)) for leg in ("FL", "FR", "HL", "HR"))
HUMANOID = tuple(Foot(f"{side}_ankle_link", (0.0, 0.0, -0.04), (0, 1, 2, 4, 5)) for side in ("left", "right"))
HIPS = {"FL": (0.19, 0.111), "FR": (0.19, -0.111), "HL": (-0.19, 0.111), "HR": (-0.19, -0.111)}
BENT = {f"{leg}_{joint}": x for leg in HIPS for joint, x in (("hip", 0.8), ("knee", -1.6))}
CROUCHED = {
    f"{side}_{joint}": x
    for side in ("left", "right")
    for joint, x in (("hip_ry", -0.4), ("knee", 0.8), ("ankle", -0.4), ("elbow", -0.6))
}


def stepping(
    home: tuple[float, float], speed: float, period: float, stance: float, phase: float, lift: float
) -> tuple[Curve, Callable[[float], float]]:
    """Return where a foot is that stands for a part of each period, and how it is loaded."""

    def split(t: float) -> tuple[float, float]:
        k, s = divmod(t / period + phase, 1.0)
        return float(k), float(s)

    def at(t: float) -> np.ndarray:
        k, s = split(t)
        swing = max(0.0, (s - stance) / (1.0 - stance))
        # in the middle of a stance the foot is below its home
        x = home[0] + speed * period * (k - phase + 0.5 * stance + smooth(swing))
        return np.array([x, home[1], lift * bump(swing), 0.0, 0.0])

    def load(t: float) -> float:
        _, s = split(t)
        ramp = min(0.25 * stance, 0.06)
        return smooth(s / ramp) * smooth((stance - s) / ramp) if s < stance else 0.0

    return at, load


def trot() -> Motion:
    """A trot of 0.6 m/s: diagonal legs together, 2.5 steps a second each."""
    speed, period, stance = 0.6, 0.4, 0.55
    start = 0.5 * stance  # in the middle of a stance, where nothing changes
    steps = {leg: stepping(HIPS[leg], speed, period, stance, start + (leg in ("FR", "HL")) / 2, 0.05) for leg in HIPS}
    return Motion(
        "mini_cheetah", 1.6, BENT, CHEETAH,
        lambda t: np.array([speed * t, 0.0, 0.27 - 0.004 * np.cos(4.0 * np.pi * t / period)]),
        tuple(at for at, _ in steps.values()), tuple(load for _, load in steps.values()),
        {}, True, "a trot at 0.6 m/s",
    )  # fmt: skip


def walk() -> Motion:
    """A walk of 0.3 m/s, 0.9 s for two steps; the centre of pressure stays within 0.08 m of the ankle."""
    speed, period, stance = 0.3, 0.9, 0.62
    w = 2.0 * np.pi / period  # it starts in the middle of the left foot's stance, the weight over it
    homes = ((0.0, 0.08), (0.0, -0.08))
    steps = [stepping(home, speed, period, stance, 0.5 * stance + 0.5 * k, 0.05) for k, home in enumerate(homes)]
    arms = {}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        arms[f"{side}_shoulder_ry"] = lambda t, sign=sign: 0.25 * sign * float(np.sin(w * t))
        arms[f"{side}_shoulder_rx"] = lambda t, sign=sign: 0.12 * sign
        arms[f"{side}_shoulder_rz"] = lambda t: 0.0
        arms[f"{side}_elbow"] = lambda t, sign=sign: -0.6 + 0.1 * sign * float(np.sin(w * t))
    return Motion(
        "mit_humanoid", 1.8, CROUCHED, HUMANOID,
        lambda t: np.array([
            speed * t - 0.005 * np.sin(2.0 * w * t),
            0.02 * np.cos(w * t),
            0.60 + 0.008 * np.cos(2.0 * w * t),
        ]),
        tuple(at for at, _ in steps), tuple(load for _, load in steps),
        arms, True, "a walk at 0.3 m/s",
    )  # fmt: skip


def jumping(
    stand: float, crouch: float, leave: float, speed: float, downward: float, push: float
) -> tuple[Callable[[float], float], float, float, float]:
    """Return the height of the centre of mass in a jump; when the feet leave, when they land, and the end."""
    down, air = 0.35, 2.0 * speed / GRAVITY
    leaving = down + push
    landing = leaving + air
    end = landing + push + 0.45
    height = through([
        (0.0, stand, 0.0, 0.0),
        (down, crouch, 0.0, downward),
        (leaving, leave, speed, -GRAVITY),
        (landing, leave, -speed, -GRAVITY),
        (landing + push, crouch, 0.0, downward),
        (end, stand, 0.0, 0.0),
    ])  # fmt: skip
    return height, leaving, landing, end


def standing(home: tuple[float, float], leaving: float, landing: float, lift: float, forward: float) -> Curve:
    def at(t: float) -> np.ndarray:
        s = (t - leaving) / (landing - leaving)
        return np.array([home[0] + forward * smooth(s), home[1], lift * bump(s), 0.0, 0.0])

    return at


def on_the_ground(leaving: float, landing: float) -> Callable[[float], float]:
    return lambda t: 0.0 if leaving < t < landing else 1.0


def still(t: float) -> np.ndarray:
    return np.zeros(2)


def cheetah_jump() -> Motion:
    """A jump of 0.3 s on the spot."""
    height, leaving, landing, end = jumping(0.27, 0.18, 0.30, 1.5, 13.0, 0.14)
    return Motion(
        "mini_cheetah", end + 0.1, BENT, CHEETAH,
        lambda t: np.array([0.0, 0.0, height(t)]),
        tuple(standing(home, leaving, landing, 0.09, 0.0) for home in HIPS.values()),
        (on_the_ground(leaving, landing),) * 4,
        {}, False, f"a jump on the spot, {landing - leaving:.2f} s in the air",
    )  # fmt: skip


def humanoid_jump() -> Motion:
    """A jump of 0.3 s on the spot; the arms swing forward and up."""
    height, leaving, landing, end = jumping(0.60, 0.49, 0.63, 1.4, 10.0, 0.17)
    swing = through([
        (0.0, 0.0, 0.0, 0.0), (0.35, 0.7, 0.0, 0.0), (leaving + 0.12, -0.9, 0.0, 0.0), (landing + 0.25, 0.2, 0.0, 0.0),
        (end, 0.0, 0.0, 0.0),
    ])  # fmt: skip
    arms: dict[str, Callable[[float], float]] = {}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        arms[f"{side}_shoulder_ry"] = swing
        arms[f"{side}_shoulder_rx"] = lambda t, sign=sign: 0.12 * sign
        arms[f"{side}_shoulder_rz"] = lambda t: 0.0
        arms[f"{side}_elbow"] = lambda t: -0.6
    return Motion(
        "mit_humanoid", end + 0.1, CROUCHED, HUMANOID,
        lambda t: np.array([0.0, 0.0, height(t)]),
        tuple(standing(home, leaving, landing, 0.08, 0.0) for home in ((0.0, 0.08), (0.0, -0.08))),
        (on_the_ground(leaving, landing),) * 2,
        arms, False, f"a jump on the spot with an arm swing, {landing - leaving:.2f} s in the air",
    )  # fmt: skip


MOTIONS: dict[str, Callable[[], Motion]] = {
    "mini_cheetah_trot": trot,
    "mini_cheetah_jump": cheetah_jump,
    "mit_humanoid_walk": walk,
    "mit_humanoid_jump": humanoid_jump,
}


# --- solving ----------------------------------------------------------------------------------------------------------


class Solver:
    """Newton's method on the targets of one motion."""

    def __init__(self, motion: Motion) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            self.model = pc.load(motion.robot)
        self.motion, self.data = motion, self.model.createData()
        self.tree = self.model.tree
        self.frames = [self.tree.getFrameId(foot.body) for foot in motion.feet]
        self.mass = pin.computeTotalMass(self.tree)
        self.arms = {name: self.model.joint_idx_v(name) for name in motion.arms}

    def start(self) -> np.ndarray:
        """Return a pose from which Newton's method finds the first sample."""
        v = np.zeros(self.model.nv)
        for name, value in self.motion.start.items():
            v[self.model.joint_idx_v(name)] = value
        q = pc.integrate(self.model, pc.neutral(self.model), v)
        shift = np.zeros(self.model.nv)
        shift[:3] = self.motion.com(0.0) - pc.centerOfMass(self.model, self.data, q)
        return np.asarray(pc.integrate(self.model, q, shift))

    def equations(self, q: np.ndarray, t: float, still: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Return what is missing to the targets, and its Jacobian; ``still`` is the sample before, if there is one."""
        m, model, data = self.motion, self.model, self.data
        J = [np.array(pc.jacobianCenterOfMass(model, data, q))]
        missing = [m.com(t) - pc.centerOfMass(model, data, q)]
        rotation = pin.Quaternion(q[3:7]).matrix()
        if m.level or still is None:
            turn = np.zeros((3, model.nv))
            turn[:, 3:6] = rotation
            J.append(turn)
            missing.append(-rotation @ pin.log3(rotation))
        else:
            J.append(np.array(pc.computeCentroidalMap(model, data, q))[3:])
            missing.append(-J[-1] @ pc.difference(model, still, q))
        for foot, frame, at in zip(m.feet, self.frames, m.feet_at, strict=True):
            wanted = at(t)
            pc.framesForwardKinematics(model, data, q)
            place = data.tree.oMf[frame]
            arm = place.rotation @ np.array(foot.point)
            jacobian = np.array(pc.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED))
            jacobian[:3] -= pin.skew(arm) @ jacobian[3:]
            turned = pin.log3(place.rotation)
            error = np.concatenate([wanted[:3] - (place.translation + arm), -turned])
            J.append(jacobian[list(foot.rows)])
            missing.append(error[list(foot.rows)])
        if self.arms:
            columns = list(self.arms.values())
            J.append(np.eye(model.nv)[columns])
            angles = [q[self.tree.joints[self.tree.getJointId(name)].idx_q] for name in self.arms]
            missing.append(np.array([f(t) for f in m.arms.values()]) - angles)
        return np.concatenate(missing), np.vstack(J)

    def solve(self) -> np.ndarray:
        """Return the configurations, shape (samples, nq)."""
        steps = round(self.motion.duration / STEP)
        q, found = self.start(), []
        for k in range(steps + 1):
            still = q if k else None
            for _ in range(30):
                missing, J = self.equations(q, k * STEP, still)
                if np.abs(missing).max() < 1e-12:
                    break
                step = np.linalg.solve(J, missing)
                q = np.asarray(pc.integrate(self.model, q, step / max(1.0, np.abs(step).max() / 0.3)))
            else:
                left = np.abs(missing).max()
                raise RuntimeError(f"{self.motion.what}: no pose at t = {k * STEP:g} s, {left:.1e} missing")
            found.append(q)
        return np.array(found)


def columns(motion: Motion) -> dict[str, np.ndarray]:
    """Return the columns of the file."""
    solver = Solver(motion)
    q = solver.solve()[::KEEP]
    time = np.arange(len(q)) * STEP * KEEP
    model, tree = solver.model, solver.tree
    found = {"time": time} | {name: q[:, i] for i, name in enumerate(("x", "y", "z", "qx", "qy", "qz", "qw"))}
    for name in model.independent_joints:
        joint = tree.joints[tree.getJointId(name)]
        if joint.nv == 1:
            found[str(name)] = q[:, joint.idx_q]
    # from what a reader of the file gets
    found = {name: np.round(values, FINE) for name, values in found.items()}
    return found | forces(solver, trajectories.Recorded.from_columns(found))


def forces(solver: Solver, recorded: trajectories.Recorded) -> dict[str, np.ndarray]:
    """Return forces on the feet that stand, which together are the wrench that the motion needs."""
    model, data = solver.model, solver.data
    time, q, v, a = recorded.states(model)
    loads = np.array([[load(t) for load in solver.motion.load] for t in time])
    f = np.zeros((len(time), len(solver.frames), 6))
    # a foot that stands on a point takes no moment; one that lies flat some
    kinds = [np.r_[np.ones(3), np.full(3, 1e-2 if len(foot.rows) > 3 else 0.0)] for foot in solver.motion.feet]
    for i in range(len(time)):
        wrench = np.array(pc.rnea(model, data, q[i], v[i], a[i]))[:6]
        weights = np.sqrt(np.concatenate([w * kind for w, kind in zip(loads[i], kinds, strict=True)]))
        J, arms = [], []
        for foot, frame in zip(solver.motion.feet, solver.frames, strict=True):
            jacobian = np.array(pc.computeFrameJacobian(model, data, q[i], frame, pin.LOCAL_WORLD_ALIGNED))
            arms.append(data.tree.oMf[frame].rotation @ np.array(foot.point))
            jacobian[:3] -= pin.skew(arms[-1]) @ jacobian[3:]
            J.append(jacobian[:, :6].T)
        A = np.hstack(J) * weights
        # damped: two points do not hold a moment about the line between them
        x = weights * (A.T @ np.linalg.solve(A @ A.T + 1e-4 * np.eye(6), wrench))
        f[i] = x.reshape(-1, 6)
        for k, arm in enumerate(arms):
            f[i, k, 3:] += np.cross(arm, f[i, k, :3])
    return {
        f"{foot.body}.{name}": np.round(f[:, k, j], 3)
        for k, foot in enumerate(solver.motion.feet)
        for j, name in enumerate(("fx", "fy", "fz", "mx", "my", "mz"))
    }


def text(motion: Motion, found: dict[str, np.ndarray]) -> str:
    """Return the file."""
    lines = [
        f"# {motion.robot}: {motion.what}. Made by benchmarks/make_motions.py, not measured.",
        "# time [s]; pose of the floating base [m, unit quaternion]; joints [rad]; force and moment of the ground on "
        "the feet,\n# at the origin of the named frame, along the axes of the world [N, N m].",
        ",".join(found),
    ]
    for row in zip(*found.values(), strict=True):
        lines.append(",".join([f"{row[0]:.2f}", *(f"{x + 0.0:.{FINE}f}".rstrip("0").rstrip(".") for x in row[1:])]))
    return "\n".join(line.replace("-0,", "0,") for line in lines) + "\n"


def place(name: str) -> Path:
    """Return where a motion is written: beside the model of its robot."""
    robot, _, kind = name.rpartition("_")
    return ROBOTS / robot / "motions" / f"{kind}.csv"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with what is there; write nothing")
    arguments = parser.parse_args()
    bad = 0
    for name, make in MOTIONS.items():
        motion = make()
        path, new = place(name), text(motion, columns(motion))
        if not arguments.check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(new, encoding="utf-8")
        same = path.read_text(encoding="utf-8") == new
        bad += not same
        print(f"{name}: {motion.what}, {len(new) / 1000:.0f} kB" + ("" if same else " (differs)"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
