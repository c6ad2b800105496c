"""Mechanisms with closed loops for all tests: fixed ones, and loops closed at random in random trees.

A ``Mechanism`` is a tree, constraints and a pose in which they close. What states the tests need is solved for here, by
Newton's method on rows that share nothing with the package but the closures' data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from samples import linkages, trees

import pin_clusters as pc
from pin_clusters.constraints.closures import FrameClosure, JointClosure, RodClosure
from pin_clusters.model.expansion import expand
from pin_clusters.verification.null_space import NullSpace

X, Y, Z = np.eye(3)


@dataclass
class Mechanism:
    """A robot with loops.

    Attributes:
        tree: Spanning tree.
        constraints: What closes it.
        q0: Pose in which it is closed.
        independent: Names of independent joints; None leaves the choice to the model.
        nv: Degrees of freedom that it must have.
        spread: How far from q0 the states may be, [rad] or [m] of the independent joints.
        exact: Worst misalignment of its geometry; results are known to some multiples of it.
    """

    tree: pin.Model
    constraints: list[Any]
    q0: np.ndarray
    independent: tuple[str, ...] | None
    nv: int
    spread: float = 0.4
    exact: float = 0.0

    def build(self) -> pc.ClusterModel:
        return pc.ClusterModel(self.tree, self.constraints, self.q0, independent=self.independent)


class Builder:
    """A tree in the making: named revolute and other joints with random bodies, and the pose where they shall be."""

    def __init__(self, rng: np.random.Generator, gravity: Any = (1.0, -4.0, -8.0)) -> None:
        self.rng, self.tree = rng, pin.Model()
        self.tree.gravity = pin.Motion(np.array(gravity, dtype=float), np.zeros(3))
        self.pose: dict[str, np.ndarray] = {}
        self.armature: dict[str, float] = {}

    def add(
        self, name: str, parent: str | None, joint: Any, at: Any, q: Any = 0.0, *, mass: float | None = None
    ) -> str:
        where = at if isinstance(at, pin.SE3) else pin.SE3(np.eye(3), np.asarray(at, dtype=float))
        if isinstance(joint, np.ndarray):
            joint = pin.JointModelRevoluteUnaligned(joint / np.linalg.norm(joint))
        parent_id = 0 if parent is None else self.tree.getJointId(parent)
        j = self.tree.addJoint(parent_id, joint, where, name)
        self.tree.appendBodyToJoint(j, trees.inertia(self.rng, mass), pin.SE3.Identity())
        frame = pin.Frame(f"{name}_link", j, 0, pin.SE3.Identity(), pin.FrameType.BODY)
        self.tree.addFrame(frame, False)
        self.pose[name] = np.atleast_1d(np.asarray(q, dtype=float))
        if joint.nv < 6:
            self.armature[name] = float(self.rng.uniform(0.0, 0.05))
        return name

    def q(self) -> np.ndarray:
        q = pin.neutral(self.tree)
        for name, value in self.pose.items():
            joint = self.tree.joints[self.tree.getJointId(name)]
            if len(value) == joint.nq:
                q[joint.idx_q : joint.idx_q + joint.nq] = value
            elif joint.nq == 2:
                q[joint.idx_q : joint.idx_q + 2] = np.cos(value[0]), np.sin(value[0])
        armature = np.zeros(self.tree.nv)
        for name, number in self.armature.items():
            joint = self.tree.joints[self.tree.getJointId(name)]
            armature[joint.idx_v : joint.idx_v + joint.nv] = number
        self.tree.armature = armature
        return q

    def mechanism(self, constraints: list[Any], independent: tuple[str, ...] | None, nv: int, **more: Any) -> Mechanism:
        q = self.q()
        closed = close(self.tree, constraints, q)
        return Mechanism(self.tree, constraints, closed, independent, nv, **more)


# --- closing, without the package's own means ------------------------------------------------------------------------


class Loose:
    """What ``NullSpace`` reads of a model, made of a tree and constraints alone; rods are as long as they are in q."""

    def __init__(self, tree: pin.Model, constraints: list[Any], q: np.ndarray) -> None:
        data = tree.createData()
        pin.forwardKinematics(tree, data, q)
        self.tree, self.nq, self.rotors = tree, tree.nq, ()
        self.inertia_tree, self.gravity = tree, pin.Motion(tree.gravity)
        self.coupling_rows = [row for c in constraints if hasattr(c, "rows") for row in c.rows(tree)]
        self.closures = []
        for c in (x for k in constraints if hasattr(k, "closures") for x in k.closures(tree)):
            if isinstance(c, RodClosure) and c.length is None:
                gap = data.oMi[c.joint_b].act(c.point_b) - data.oMi[c.joint_a].act(c.point_a)
                c = RodClosure(
                    c.source, c.labels, c.units, c.joint_a, c.point_a, c.joint_b, c.point_b,
                    float(np.linalg.norm(gap)), c.mass,
                )  # fmt: skip
            self.closures.append(c)
        self.idx_v_independent, self.nv = np.arange(tree.nv), tree.nv


def residual(model: Any, q: np.ndarray) -> np.ndarray:
    """All rows, couplings first: what is 0 in an assembled pose."""
    tree, data = model.tree, model.tree.createData()
    pin.forwardKinematics(tree, data, q)

    def angle(j: int) -> float:
        i = tree.joints[j].idx_q
        return float(q[i]) if tree.joints[j].nq == 1 else float(np.arctan2(q[i + 1], q[i]))

    rows = [
        np.array([sum(c * angle(m) for m, c in zip(r.masters, r.coefficients, strict=True)) + r.offset])
        - angle(r.dependent)
        for r in model.coupling_rows
    ]
    for i, r in enumerate(model.coupling_rows):
        if tree.joints[r.dependent].nq == 2:
            rows[i] = np.arctan2(np.sin(rows[i]), np.cos(rows[i]))
    for c in model.closures:
        if isinstance(c, JointClosure):
            rows.append(np.asarray(c.value(np.array([angle(j) for j in c.joints]))))
        elif isinstance(c, RodClosure):
            gap = data.oMi[c.joint_b].act(c.point_b) - data.oMi[c.joint_a].act(c.point_a)
            rows.append(np.array([np.linalg.norm(gap) - c.length]))
        else:
            assert isinstance(c, FrameClosure)
            a, b = data.oMi[c.joint_a] * c.placement_a, data.oMi[c.joint_b] * c.placement_b
            ab = a.actInv(b)
            e = np.zeros(3)
            if c.rotation == "full":
                e = pin.log3(ab.rotation)
            elif c.rotation == "axis":
                across = np.cross(Z, ab.rotation[:, 2])
                sine = np.linalg.norm(across)
                e = across * (np.arctan2(sine, ab.rotation[2, 2]) / sine if sine > 0.0 else 1.0)
            elif c.rotation == "universal":
                e[2] = np.arcsin(np.clip(ab.rotation[2, 0], -1.0, 1.0))
            rows.append(c.rows @ np.concatenate([ab.translation, e]))
    return np.concatenate(rows) if rows else np.zeros(0)


def newton(model: Any, q: np.ndarray, hold: Any = (), rank_tolerance: float = 1e-4) -> np.ndarray:
    """Assemble from near by minimum-norm steps; the velocities in ``hold`` stay."""
    space = model.space if hasattr(model, "space") else NullSpace(model, expand(model))
    free = np.setdiff1d(np.arange(model.tree.nv), np.asarray(hold, dtype=int))
    best, smallest = q, np.inf
    for _ in range(60):
        value = residual(model, q)
        size = float(np.abs(value).max(initial=0.0))
        if size < smallest:
            best, smallest = q, size
        elif smallest < 1e-11:
            break
        K = space.jacobian(q)
        step = np.zeros(model.tree.nv)
        step[free] = -np.linalg.pinv(K[:, free], rcond=rank_tolerance) @ value
        step *= min(1.0, 0.5 / max(float(np.abs(step).max()), 1e-300))
        q = pin.integrate(model.tree, q, step)
    return best


def close(tree: pin.Model, constraints: list[Any], q: np.ndarray) -> np.ndarray:
    """An assembled pose near q."""
    q = newton(Loose(tree, constraints, q), q)
    return np.asarray(q)


def condition(model: Any, q: np.ndarray) -> float:
    """Condition number of K_d, scaled rows, worst cluster."""
    space = NullSpace(model, expand(model))
    K = space.jacobian(q) / space.scale[:, None]
    worst = 1.0
    for rows, columns, own, places in space.parts:
        dependent = np.setdiff1d(np.arange(len(columns)), places)
        rank = len(columns) - len(own)
        if rank:
            s = np.linalg.svd(K[np.ix_(rows, columns[dependent])], compute_uv=False)
            worst = max(worst, s[0] / max(s[rank - 1], 1e-300))
    return float(worst)


def random_pose(model: Any, q0: np.ndarray, rng: np.random.Generator, spread: float, exact: float = 0.0) -> np.ndarray:
    """An assembled pose away from q0, where K_d is well conditioned."""
    space = NullSpace(model, expand(model))
    for _ in range(50):
        direction, q = rng.normal(size=model.nv), q0
        for _ in range(4):
            space.at(q)
            q = newton(model, pin.integrate(model.tree, q, space.G @ direction * spread / 4.0))
            if np.abs(residual(model, q)).max(initial=0.0) > 1e-12 + exact or condition(model, q) > 300.0:
                break
        else:
            return q
        spread *= 0.8
    return q0


def move(model: Any, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Increment the independent joints, and solve the others from the tangent."""
    space = NullSpace(model, expand(model))
    space.at(q)
    start = pin.integrate(model.tree, q, space.G @ step)
    exact = np.zeros(model.tree.nv)
    exact[model.idx_v_independent] = step
    held = pin.integrate(model.tree, q, exact)
    for j in range(1, model.tree.njoints):
        joint = model.tree.joints[j]
        if joint.nv and joint.idx_v in model.idx_v_independent:
            start[joint.idx_q : joint.idx_q + joint.nq] = held[joint.idx_q : joint.idx_q + joint.nq]
    return newton(model, start, hold=model.idx_v_independent)


# --- planar mechanisms ------------------------------------------------------------------------------------------------


def plane(rng: np.random.Generator, oblique: bool) -> pin.SE3:
    """Where the plane of a mechanism is: x and z of the ground, or anywhere."""
    return trees.placement(rng) if oblique else pin.SE3.Identity()


def four_bar(
    rng: np.random.Generator, *, serial: bool = False, oblique: bool = True, base: bool = False, kind: str = "revolute"
) -> Mechanism:
    """A Grashof crank-rocker: as two chains that meet, or as one chain that closes on the ground."""
    b = Builder(rng)
    on = b.add("base", None, pin.JointModelFreeFlyer(), np.zeros(3)) if base else None
    ground = plane(rng, oblique)
    b.add("crank", on, Y, ground, 0.7)
    b.add("coupler", "crank", Y, 0.35 * X, -0.9)
    rocker = ground * pin.SE3(np.eye(3), 1.0 * X)
    if serial:
        b.add("rocker", "coupler", Y, 0.9 * X, 1.8)
        anchor = ("base" if base else "universe", rocker)
        loop = pc.Loop(("rocker", -0.7 * Z), anchor, kind, Y)
    else:
        b.add("rocker", on, Y, rocker, -0.3)
        loop = pc.Loop(("coupler", 0.9 * X), ("rocker_link", 0.7 * Z), kind, Y)
    if base:
        b.pose["base"] = pin.SE3ToXYZQUAT(trees.placement(rng))
    return b.mechanism([loop], ("base", "crank") if base else ("crank",), 7 if base else 1)


def slider_crank(rng: np.random.Generator, *, serial: bool = False) -> Mechanism:
    b = Builder(rng)
    ground = plane(rng, True)
    b.add("crank", None, Y, ground, 0.5)
    b.add("coupler", "crank", Y, 0.3 * X, -0.8)
    if serial:
        b.add("slider", "coupler", Y, 0.8 * X, 0.3)
        loop = pc.Loop("slider", ("universe", ground), "prismatic", X)
    else:
        b.add("slider", None, pin.JointModelPrismaticUnaligned(X), ground, 1.0)
        loop = pc.Loop(("coupler", 0.8 * X), "slider", "revolute", Y)
    return b.mechanism([loop], ("crank",), 1)


def six_bar(rng: np.random.Generator) -> Mechanism:
    """One loop, three degrees of freedom."""
    b = Builder(rng)
    ground = plane(rng, True)
    b.add("j1", None, Y, ground, 0.4)
    b.add("j2", "j1", Y, 0.3 * X, -0.6)
    b.add("j3", "j2", Y, 0.3 * X, 0.5)
    b.add("j4", None, Y, ground, -0.7)
    b.add("j5", "j4", Y, 0.4 * X, 1.2)
    loop = pc.Loop(("j3", 0.3 * X), ("j5", 0.5 * X), "revolute", Y)
    return b.mechanism([loop], ("j1", "j2", "j3"), 3)


def watt_six_bar(rng: np.random.Generator) -> Mechanism:
    """Two loops that share links; one degree of freedom."""
    b = Builder(rng)
    ground = plane(rng, True)
    b.add("crank", None, Y, ground, 0.9)
    b.add("coupler", "crank", Y, 0.35 * X, -1.0)
    b.add("rocker", None, Y, ground * pin.SE3(np.eye(3), 1.0 * X), -0.3)
    b.add("fifth", "coupler", Y, 0.5 * X - 0.3 * Z, 0.3)
    b.add("sixth", "rocker", Y, 0.6 * Z + 0.4 * X, 0.2)
    loops = [
        pc.Loop(("coupler", 0.9 * X), ("rocker", 0.7 * Z), "revolute", Y, name="first"),
        pc.Loop(("fifth", 0.8 * X), ("sixth", 0.6 * Z), "revolute", Y, name="second"),
    ]
    return b.mechanism(loops, ("crank",), 1, spread=0.25)


def sloppy_four_bar(rng: np.random.Generator, quarter: float = 1.5708) -> Mechanism:
    """Planar but for 1.5708 in place of a quarter turn."""
    b = Builder(rng)
    turn = pin.SE3(pin.rpy.rpyToMatrix(quarter, 0.0, 0.0), np.zeros(3))
    b.add("crank", None, Z, turn, 0.7)
    b.add("coupler", "crank", Z, 0.35 * X, -0.9)
    b.add("rocker", None, Y, X, 0.3)
    loop = pc.Loop(("coupler", 0.9 * X), ("rocker", pin.SE3(turn.rotation, 0.7 * Z)), "revolute", Z)
    return b.mechanism([loop], ("crank",), 1, exact=1e-5)


def geared_five_bar(rng: np.random.Generator) -> Mechanism:
    """A loop and a gear between the same joints."""
    b = Builder(rng)
    ground = plane(rng, True)
    b.add("left", None, Y, ground, 1.9)
    b.add("left_rod", "left", Y, 0.4 * X, -1.2)
    b.add("right", None, Y, ground * pin.SE3(np.eye(3), 0.5 * X), 0.3)
    b.add("right_rod", "right", Y, 0.4 * X, 1.4)
    loop = pc.Loop(("left_rod", 0.6 * X), ("right_rod", 0.6 * X), "revolute", Y)
    offset = 0.3 + 0.5 * 1.9
    gear = pc.LinearCoupling("right", {"left": -0.5}, offset)
    return b.mechanism([loop, gear], ("left",), 1, spread=0.2)


def rotors_on_a_loop(rng: np.random.Generator, *, base: bool = True) -> Mechanism:
    """A four-bar with rotors: of a dependent joint, of several joints, carried inside and outside; and one body."""
    m = four_bar(rng, base=base)
    tree = m.tree
    axis, where = trees.unit(rng), trees.placement(rng)
    j = tree.addJoint(tree.getJointId("crank"), pin.JointModelRevoluteUnaligned(axis), where, "wheel")
    tree.appendBodyToJoint(j, trees.rotor_inertia(rng, axis), pin.SE3.Identity())
    skew = trees.unit(rng)
    options = {"armature": "keep", "placement": trees.placement(rng)}
    carrier = "base" if base else "universe"
    m.constraints += [
        pc.LinearCoupling("wheel", {"coupler": 7.0, "rocker": -3.0}, 0.2),
        pc.Rotor("rocker", -9.0, inertia=trees.rotor_inertia(rng, Y), axis=Y, carrier=carrier, name="r1", **options),
        pc.Rotor(
            ["coupler", "rocker"], [5.0, -4.0], inertia=trees.rotor_inertia(rng, skew), axis=skew, carrier="coupler",
            name="r2", **options,
        ),
        pc.Rotor(
            ["crank", "coupler", "rocker"], [6.0, 2.0, 1.5], inertia=trees.rotor_inertia(rng, skew), axis=skew,
            carrier="rocker", name="r3", **options,
        ),
    ]  # fmt: skip
    q = pin.neutral(tree)
    for k in range(1, tree.njoints - 1):
        joint = tree.joints[k]
        q[joint.idx_q : joint.idx_q + joint.nq] = m.q0[joint.idx_q : joint.idx_q + joint.nq]
    m.q0 = close(tree, m.constraints, trees.on_couplings(Loose(tree, m.constraints, q), q))
    return m


# --- spatial mechanisms -----------------------------------------------------------------------------------------------


def rssr(rng: np.random.Generator, *, mass: float = 0.0, uneven: bool = False) -> Mechanism:
    """Two cranks about skew axes and a rod, slender or with its mass near one end."""
    b = Builder(rng)
    b.add("input", None, Z, np.zeros(3), 0.4)
    b.add("output", None, X, [0.9, 0.3, 0.1], 1.0)
    b.add("passenger", "output", trees.unit(rng), [0.1, 0.2, 0.0], 0.3)
    across = 0.02 * mass
    inertia = pin.Inertia(mass, 0.45 * X, np.diag([1e-3, across, across])) if uneven else None
    rod = pc.Rod(("input", [0.3, 0.0, 0.05]), ("output", [0.05, 0.4, 0.0]), mass=mass, inertia=inertia)
    return b.mechanism([rod], ("input", "passenger"), 2)


def spatial_chain(rng: np.random.Generator, *, ball_in_tree: bool) -> Mechanism:
    """R-U-S-R with the ball as loop, or with the ball in the tree and the cross as loop."""
    b = Builder(rng)
    b.add("input", None, Z, np.zeros(3), 0.4)
    b.add("output", None, X, [0.9, 0.3, 0.1], 1.0)
    if ball_in_tree:
        b.add("link", "input", pin.JointModelSpherical(), [0.3, 0.0, 0.05], pin.Quaternion(pin.exp3(0.3 * Y)).coeffs())
        kind, axis, axis_b = "universal", Y, Z
    else:
        b.add("link", "input", pin.JointModelUniversal(Y, Z), [0.3, 0.0, 0.05], [0.1, 0.5])
        kind, axis, axis_b = "spherical", X, None
    q = b.q()
    data = b.tree.createData()
    pin.forwardKinematics(b.tree, data, q)
    end = data.oMi[b.tree.getJointId("output")].act(np.array([0.05, 0.4, 0.0]))
    tip = data.oMi[b.tree.getJointId("link")].actInv(end)
    loop = pc.Loop(("link", tip), ("output", [0.05, 0.4, 0.0]), kind, axis, axis_b)
    return b.mechanism([loop], ("input",), 1, spread=0.2)


def plate(rng: np.random.Generator, *, cranks: int) -> Mechanism:
    """A planar joint, tied to cranks by rods: three of them lead it, with one it leads the crank."""
    b = Builder(rng)
    b.add("base", None, pin.JointModelFreeFlyer(), np.zeros(3))
    b.add("plate", "base", pin.JointModelPlanar(), trees.placement(rng), [0.1, -0.05, np.cos(0.2), np.sin(0.2)])
    if cranks == 3:  # where it leads nobody it has no motor
        del b.armature["plate"]
    ties = []
    for k in range(cranks):
        turn = pin.exp3(2.0 * np.pi / 3.0 * k * Z)
        place = b.tree.jointPlacements[b.tree.getJointId("plate")]
        b.add(f"crank{k}", "base", Z, place * pin.SE3(turn, turn @ np.array([0.9, 0.0, 0.05])), 0.9 + 0.1 * k)
        tip, point = [-0.25, 0.2, 0.0], turn @ np.array([0.1, 0.35, 0.0])
        ties.append(pc.Rod((f"crank{k}", tip), ("plate", point), mass=0.3 * k))
    leaders = ("base", *(f"crank{k}" for k in range(3))) if cranks == 3 else ("base", "plate")
    return b.mechanism(ties, leaders, 9, spread=0.2)


def bennett(rng: np.random.Generator, *, fixed: bool = False) -> Mechanism:
    """Four hinges with skew axes that move by their exact proportions: a / sin(alpha) = b / sin(beta)."""
    a, alpha, beta = 0.5, 0.7, 1.3
    c = a * np.sin(beta) / np.sin(alpha)

    def link(length: float, twist: float) -> pin.SE3:
        return pin.SE3(np.eye(3), length * X) * pin.SE3(pin.exp3(twist * X), np.zeros(3))

    first = 0.8
    ratio = np.sin((beta + alpha) / 2.0) / np.sin((beta - alpha) / 2.0)
    second = 2.0 * np.arctan(ratio / np.tan(first / 2.0))
    b = Builder(rng)
    b.add("one", None, Z, np.zeros(3), first)
    b.add("two", "one", Z, link(a, alpha), second)
    b.add("three", "two", Z, link(c, beta), -first)
    if fixed:
        b.add("four", "three", Z, link(a, alpha), -second)
        loop = pc.Loop(("four", link(c, beta)), "universe", "fixed")
    else:
        loop = pc.Loop(("three", link(a, alpha)), ("universe", link(c, beta).inverse()), "revolute", Z)
    return b.mechanism([loop], ("one",), 1)


def sarrus(rng: np.random.Generator) -> Mechanism:
    """Two hinged pairs across each other: the platform moves on a straight line."""
    b = Builder(rng)
    b.add("a1", None, Y, [0.3, 0.0, 0.0], -0.5)
    b.add("a2", "a1", Y, 0.4 * Z, 1.0)
    b.add("platform", "a2", Y, 0.4 * Z, -0.5)
    b.add("b1", None, X, [0.0, 0.3, 0.0], 0.5)
    b.add("b2", "b1", X, 0.4 * Z, -1.0)
    loop = pc.Loop(("b2", 0.4 * Z), ("platform", [-0.3, 0.3, 0.0]), "revolute", X)
    return b.mechanism([loop], ("a1",), 1, spread=0.25)


def delta(rng: np.random.Generator, *, rods: int = 3, mass: float = 0.15) -> Mechanism:
    """Three arms, and a platform on a translation joint held by three rods or three pairs."""
    b = Builder(rng, gravity=(0.5, 0.3, -9.0))
    b.add("platform", None, pin.JointModelTranslation(), np.zeros(3), [0.02, -0.03, -0.6])
    constraints = []
    for k in range(3):
        turn = pin.exp3(2.0 * np.pi / 3.0 * k * Z)
        b.add(f"arm{k}", None, Y, pin.SE3(turn, turn @ (0.2 * X)), 0.5)
        offsets = (0.0,) if rods == 3 else (-0.05, 0.05)
        for n, y in enumerate(offsets):
            ends = (f"arm{k}", 0.3 * X + y * Y), ("platform", turn @ (0.06 * X + y * Y))
            constraints.append(pc.Rod(*ends, length=0.55, mass=mass, name=f"rod{k}{n}"))
    return b.mechanism(constraints, ("arm0", "arm1", "arm2"), 3, spread=0.3)


KINDS_OF_LOOPS = {
    "fixed": 6, "revolute": 5, "prismatic": 5, "cylindrical": 4, "spherical": 3, "universal": 4, "planar": 3,
}  # fmt: skip
SAFE = ("revolute", "RX", "prismatic", "PY", "helical", "continuous", "RUBZ", "spherical", "universal", "translation")


def random_mechanism(
    rng: np.random.Generator, *, floating: bool = False, loops: int = 1, rods: int = 1, rotors: int = 2
) -> Mechanism:
    """A random tree; loops are closed where the pose at random has put their frames."""
    while True:
        robot = trees.random_tree(rng, int(rng.integers(6, 11)), floating=floating, kinds=SAFE, chain=0.75)
        tree = robot.tree("shuffled", rng)
        q0 = pin.integrate(tree, pin.neutral(tree), 0.8 * rng.normal(size=tree.nv))
        data = tree.createData()
        pin.forwardKinematics(tree, data, q0)
        constraints: list[Any] = []
        names = list(tree.names)[2 if floating else 1 :]
        n_rows = 0
        for i in range(loops + rods):
            a, b = (str(x) for x in rng.choice(names, size=2, replace=False))
            if rng.random() < 0.3:
                b = "base" if floating else "universe"
            i_a, i_b = tree.getJointId(a), 0 if b == "universe" else tree.getJointId(b)
            own = _path(tree, i_a) ^ _path(tree, i_b)
            size = sum(tree.nvs[j] for j in own)
            if i >= loops:
                if size >= 2:
                    ends = (a, rng.normal(size=3) * 0.3), (b, rng.normal(size=3) * 0.3)
                    constraints.append(pc.Rod(*ends, mass=float(rng.choice([0.0, 0.4])), name=f"rod{i}"))
                    n_rows += 1
                continue
            fitting = [k for k, n in KINDS_OF_LOOPS.items() if n < size]
            if not fitting:
                continue
            kind = str(rng.choice(fitting))
            balls = {tree.joints[j].shortname() for j in (i_a, i_b) if j}
            if kind == "spherical" and "JointModelSpherical" in balls:
                continue  # the body between would spin about itself
            where = trees.placement(rng)
            there = data.oMi[i_b].actInv(data.oMi[i_a] * where)
            constraints.append(pc.Loop((a, where), (b, there), kind, Z, name=f"loop{i}"))
            n_rows += KINDS_OF_LOOPS[kind]
        if not constraints or not any(isinstance(c, pc.Loop) for c in constraints):
            continue
        single = [n for n in names if tree.nvs[tree.getJointId(n)] == 1]
        if not single:
            continue
        loose = Loose(tree, constraints, q0)
        space = NullSpace(loose, expand(loose))
        K = space.jacobian(q0)
        if any(len(rows) >= len(columns) for rows, columns, _, _ in space.parts):
            continue
        s = np.linalg.svd(K, compute_uv=False)
        independent = choose_independent(tree, K)
        if s[-1] < 0.02 * s[0] or len(s) < n_rows or independent is None or n_rows >= tree.nv:
            continue
        add_rotors(rng, constraints, single, rotors)
        return Mechanism(tree, constraints, q0, independent, tree.nv - n_rows, spread=0.15)


def random_planar(
    rng: np.random.Generator, *, floating: bool = False, loops: int = 1, rotors: int = 1, serial: bool = False
) -> Mechanism:
    """Hinges and slides of one plane, anywhere in space; three of the five rows of each loop repeat others."""
    while True:
        b = Builder(rng, rng.normal(size=3) * 6.0)
        base = b.add("base", None, pin.JointModelFreeFlyer(), np.zeros(3)) if floating else None
        if floating:
            b.pose["base"] = pin.SE3ToXYZQUAT(trees.placement(rng))
        ground, names = trees.placement(rng), []
        for i in range(int(rng.integers(4, 8))):
            up = names[-1] if names and (serial or rng.random() < 0.6) else None
            flat = pin.SE3(pin.exp3(rng.normal() * Y), rng.uniform(-0.5, 0.5) * X + rng.uniform(-0.5, 0.5) * Z)
            slide = rng.random() < 0.15
            joint = pin.JointModelPrismaticUnaligned(X) if slide else Y
            names.append(b.add(f"j{i}", up or base, joint, flat if up else ground * flat, 0.6 * rng.normal()))
        q0, tree = b.q(), b.tree
        data = tree.createData()
        pin.forwardKinematics(tree, data, q0)
        constraints: list[Any] = []
        for i in range(loops):
            one, two = (str(x) for x in rng.choice(names, size=2, replace=False))
            if serial or rng.random() < 0.2:
                one, two = names[-1 - i], base or "universe"
            j, k = tree.getJointId(one), 0 if two == "universe" else tree.getJointId(two)
            tip = pin.SE3(np.eye(3), rng.uniform(-0.4, 0.4) * X + rng.uniform(-0.4, 0.4) * Z)
            where = data.oMi[k].actInv(data.oMi[j] * tip)
            constraints.append(pc.Loop((one, tip), (two, where), "revolute", Y, name=f"loop{i}"))
        loose = Loose(tree, constraints, q0)
        space = NullSpace(loose, expand(loose))
        K = space.jacobian(q0)
        moves = [len(c) > np.linalg.matrix_rank(K[np.ix_(r, c)], tol=1e-3) for r, c, _, _ in space.parts]
        independent = choose_independent(tree, K)
        if not all(moves) or np.linalg.matrix_rank(K, tol=1e-3) != 2 * loops or independent is None:
            continue
        add_rotors(rng, constraints, names, rotors)
        return Mechanism(tree, constraints, q0, independent, tree.nv - 2 * loops, spread=0.15)


def add_rotors(rng: np.random.Generator, constraints: list[Any], names: list[str], n: int) -> None:
    """Rotors of one to three of these joints, anywhere."""
    for i in range(n):
        size = min(len(names), int(rng.integers(1, 4)))
        chosen = [str(x) for x in rng.choice(names, size=size, replace=False)]
        axis = trees.unit(rng)
        constraints.append(
            pc.Rotor(
                chosen, [float(x) for x in rng.normal(size=size) * 4.0], inertia=trees.rotor_inertia(rng, axis),
                axis=axis, placement=trees.placement(rng), carrier=str(rng.choice([*names, "universe"])),
                armature="keep", name=f"rotor{i}",
            )
        )  # fmt: skip


def _path(tree: pin.Model, j: int) -> set[int]:
    found = set()
    while j:
        found.add(j)
        j = int(tree.parents[j])
    return found


def choose_independent(tree: pin.Model, K: np.ndarray, worst: float = 100.0) -> tuple[str, ...] | None:
    """Joints, whole ones only, whose velocities determine the others; None if there are none."""
    dependent: list[int] = []
    rank = int(np.linalg.matrix_rank(K, tol=1e-3))
    for j in range(tree.njoints - 1, 0, -1):
        columns = list(range(tree.idx_vs[j], tree.idx_vs[j] + tree.nvs[j]))
        trial = dependent + columns
        if len(trial) <= rank and np.any(K[:, columns]):
            s = np.linalg.svd(K[:, trial], compute_uv=False)
            if s[0] < worst * s[-1]:
                dependent = trial
    if len(dependent) < rank:
        return None
    return tuple(tree.names[j] for j in range(1, tree.njoints) if tree.idx_vs[j] not in dependent)


def library(rng: np.random.Generator, name: str) -> Mechanism:
    """A mechanism of the library below one more joint."""
    seed = int(rng.integers(1000))
    pin.seed(seed)
    linkage: Any
    if name in ("push_rod_ankle", "ankle_2rsu"):
        rsu = name == "ankle_2rsu"
        b = linkages.ankle(seed, cranks=rsu)
        tree, foot = b.tree, b.tree.names[-1]
        feet = [b.at(foot, p) for p in linkages.FOOT_ENDS]
        if rsu:
            pins = [b.at(f"motor_{i}", p) for i, p in enumerate(linkages.PINS, start=1)]
            linkage = pc.Differential.ankle_2rsu("motor_1", "motor_2", "pitch", "roll", pins=pins, foot=feet)
        else:
            shank = [b.at("shank", p) for p in linkages.SHANK_ENDS]
            linkage = pc.Differential.push_rod_ankle("motor_1", "motor_2", "pitch", "roll", shank=shank, foot=feet)
    elif name == "five_bar":
        tree, closure = linkages.five_bar(seed)
        linkage = pc.Differential.five_bar("crank_1", "coupler_1", "crank_2", "coupler_2", closure)
    elif name == "SliderCrank":
        tree, closure = linkages.slider_crank(seed)
        linkage = pc.SliderCrank("crank", "coupler", "slider", closure)
    else:
        tree, closure = linkages.four_bar(seed, serial=name == "FourBar_serial")
        linkage = pc.FourBar("crank", "coupler", "rocker", closure)
    independent = (str(tree.names[1]), *linkage.independent)
    spread = 0.02 if name == "push_rod_ankle" else 0.2
    return Mechanism(tree, [linkage], np.zeros(tree.nq), independent, len(independent), spread=spread)


LIBRARY = ("FourBar", "FourBar_serial", "SliderCrank", "five_bar", "push_rod_ankle", "ankle_2rsu")
FIXED: dict[str, Callable[[np.random.Generator], Mechanism]] = {
    "four_bar": four_bar,
    "four_bar_upright": lambda rng: four_bar(rng, oblique=False),
    "four_bar_serial": lambda rng: four_bar(rng, serial=True),
    "four_bar_spherical": lambda rng: four_bar(rng, kind="spherical"),
    "four_bar_on_free_flyer": lambda rng: four_bar(rng, base=True),
    "four_bar_serial_on_free_flyer": lambda rng: four_bar(rng, serial=True, base=True),
    "slider_crank": slider_crank,
    "slider_crank_serial": lambda rng: slider_crank(rng, serial=True),
    "six_bar": six_bar,
    "watt_six_bar": watt_six_bar,
    "geared_five_bar": geared_five_bar,
    "rotors_on_a_loop": lambda rng: rotors_on_a_loop(rng, base=False),
    "rotors_on_a_loop_on_free_flyer": rotors_on_a_loop,
    "rssr": rssr,
    "rssr_massive": lambda rng: rssr(rng, mass=0.7),
    "rssr_uneven": lambda rng: rssr(rng, mass=0.7, uneven=True),
    "spatial_ball_loop": lambda rng: spatial_chain(rng, ball_in_tree=False),
    "spatial_ball_in_tree": lambda rng: spatial_chain(rng, ball_in_tree=True),
    "plate_that_leads": lambda rng: plate(rng, cranks=1),
    "plate_that_follows": lambda rng: plate(rng, cranks=3),
    "bennett": bennett,
    "bennett_fixed": lambda rng: bennett(rng, fixed=True),
    "sarrus": sarrus,
    "delta": delta,
    "delta_massless": lambda rng: delta(rng, mass=0.0),
    "delta_pairs": lambda rng: delta(rng, rods=6),
    "sloppy_four_bar": sloppy_four_bar,
    **{name: lambda rng, name=name: library(rng, name) for name in LIBRARY},
}


def random_one(rng: np.random.Generator, seed: int) -> Mechanism:
    """A mechanism at random: spatial ones in half the cases, planar in the others."""
    if seed % 2:
        return random_planar(rng, floating=seed % 4 == 1, loops=1 + seed % 3 % 2, rotors=seed % 3, serial=seed % 5 == 0)
    return random_mechanism(rng, floating=seed % 4 == 0, loops=1 + seed % 3 % 2, rods=seed // 2 % 2, rotors=seed % 3)
