"""Random robots for all tests: any joint type, order, coupling and rotor.

A ``Robot`` is a recipe: bodies by name, and constraints by name. It can be built in several joint orders and under
other names, which must not change the physics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

import pin_clusters as pc


def unit(rng: np.random.Generator) -> np.ndarray:
    axis = rng.normal(size=3)
    return axis / np.linalg.norm(axis)


def placement(rng: np.random.Generator, reach: float = 0.4) -> pin.SE3:
    return pin.SE3(pin.exp3(rng.normal(size=3)), reach * rng.uniform(-1.0, 1.0, size=3))


def inertia(rng: np.random.Generator, mass: float | None = None) -> pin.Inertia:
    """A physical inertia: the second moments are positive definite, so the triangle inequality holds."""
    m = float(rng.uniform(0.3, 2.0)) if mass is None else mass
    root = rng.normal(size=(3, 3)) * 0.15
    second = m * (root @ root.T + 1e-3 * np.eye(3))
    return pin.Inertia(m, 0.2 * rng.normal(size=3), np.trace(second) * np.eye(3) - second)


def rotor_inertia(rng: np.random.Generator, axis: np.ndarray, *, massless: bool = False) -> pin.Inertia:
    """Balanced and axisymmetric about the axis through the origin."""
    m = 0.0 if massless else float(rng.uniform(0.1, 0.6))
    transverse, axial = rng.uniform(2e-3, 8e-3, size=2)
    axial = min(axial, 1.9 * transverse)
    lever = np.zeros(3) if massless else float(rng.uniform(-0.1, 0.1)) * axis
    return pin.Inertia(m, lever, transverse * (np.eye(3) - np.outer(axis, axis)) + axial * np.outer(axis, axis))


# without parts that repeat each other: such a joint has a singular mass matrix
_COMPOSITES = (
    ("revolute",),
    ("continuous", "prismatic"),
    ("spherical", "PY"),
    ("RX", "spherical"),
    ("helical", "RUBY", "revolute"),
    ("translation", "RZ"),
    ("RX", "planar"),
    ("prismatic", "zyx"),
    ("universal", "HX"),
)


def _composite(rng: np.random.Generator) -> pin.JointModel:
    joint = pin.JointModelComposite()
    chosen = _COMPOSITES[int(rng.integers(len(_COMPOSITES)))]
    for part in chosen:
        joint.addJoint(KINDS[part](rng), placement(rng))
    return joint


def _perpendicular(rng: np.random.Generator) -> pin.JointModel:
    first = unit(rng)
    second = np.cross(first, unit(rng))
    return pin.JointModelUniversal(first, second / np.linalg.norm(second))


def _continuous(axis: np.ndarray) -> pin.JointModel:
    """Its axis cannot be set from Python, but read from a URDF."""
    x, y, z = (float(c) for c in axis)
    text = f"""<robot name="r"><link name="a"/><joint name="j" type="continuous"><parent link="a"/><child link="b"/>
        <axis xyz="{x!r} {y!r} {z!r}"/></joint><link name="b"><inertial><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" iyz="0" ixz="0"/></inertial></link></robot>"""
    return pin.buildModelFromXML(text).joints[1]


# one degree of freedom: these can be coupled
SINGLE: dict[str, Callable[[np.random.Generator], pin.JointModel]] = {
    "RX": lambda rng: pin.JointModelRX(),
    "RY": lambda rng: pin.JointModelRY(),
    "RZ": lambda rng: pin.JointModelRZ(),
    "revolute": lambda rng: pin.JointModelRevoluteUnaligned(unit(rng)),
    "PX": lambda rng: pin.JointModelPX(),
    "PY": lambda rng: pin.JointModelPY(),
    "PZ": lambda rng: pin.JointModelPZ(),
    "prismatic": lambda rng: pin.JointModelPrismaticUnaligned(unit(rng)),
    "HX": lambda rng: pin.JointModelHX(0.2),
    "HY": lambda rng: pin.JointModelHY(-0.1),
    "HZ": lambda rng: pin.JointModelHZ(0.05),
    "helical": lambda rng: pin.JointModelHelicalUnaligned(unit(rng), float(rng.uniform(-0.3, 0.3))),
    "RUBX": lambda rng: pin.JointModelRUBX(),
    "RUBY": lambda rng: pin.JointModelRUBY(),
    "RUBZ": lambda rng: pin.JointModelRUBZ(),
    "continuous": lambda rng: _continuous(unit(rng)),
}
MULTIPLE: dict[str, Callable[[np.random.Generator], pin.JointModel]] = {
    "freeflyer": lambda rng: pin.JointModelFreeFlyer(),
    "spherical": lambda rng: pin.JointModelSpherical(),
    "zyx": lambda rng: pin.JointModelSphericalZYX(),
    "translation": lambda rng: pin.JointModelTranslation(),
    "planar": lambda rng: pin.JointModelPlanar(),
    "universal": _perpendicular,
    "composite": _composite,
}
KINDS = {**SINGLE, **MULTIPLE}
REVOLUTE = ("RX", "RY", "RZ", "revolute")


@dataclass
class Node:
    """A body and the joint that moves it."""

    name: str
    parent: str | None
    joint: pin.JointModel
    placement: pin.SE3
    inertia: pin.Inertia
    armature: float = 0.0

    @property
    def continuous(self) -> bool:
        return bool(self.joint.nq == 2 and self.joint.nv == 1)


Names = Callable[[str], str]


@dataclass
class Robot:
    """Recipe of a robot; ``constraints`` are made from a function that translates names."""

    nodes: list[Node] = field(default_factory=list)
    constraints: list[Callable[[Names], object]] = field(default_factory=list)
    gravity: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))

    def node(self, name: str) -> Node:
        return next(n for n in self.nodes if n.name == name)

    def path(self, name: str) -> list[str]:
        """Names from the root to a body, itself included."""
        found: list[str] = [name]
        while (up := self.node(found[-1]).parent) is not None:
            found.append(up)
        return found[::-1]

    def below(self, name: str) -> list[str]:
        return [n.name for n in self.nodes if name in self.path(n.name)[:-1]]

    def order(self, how: str, rng: np.random.Generator | None = None) -> list[Node]:
        """Joints with parents before children: ``"as_added"``, ``"depth_first"`` or ``"shuffled"``."""
        if how == "as_added":
            return list(self.nodes)
        if how == "depth_first":
            found: list[Node] = []

            def visit(parent: str | None) -> None:
                for n in self.nodes:
                    if n.parent == parent:
                        found.append(n)
                        visit(n.name)

            visit(None)
            return found
        assert rng is not None
        waiting, placed = list(self.nodes), []
        while waiting:
            ready = [n for n in waiting if n.parent is None or n.parent in {p.name for p in placed}]
            pick = ready[int(rng.integers(len(ready)))]
            waiting.remove(pick)
            placed.append(pick)
        return placed

    def tree(
        self, how: str = "as_added", rng: np.random.Generator | None = None, names: Names = lambda n: n
    ) -> pin.Model:
        model = pin.Model()
        model.gravity = pin.Motion(self.gravity, np.zeros(3))
        armature = {}
        for n in self.order(how, rng):
            parent = 0 if n.parent is None else model.getJointId(names(n.parent))
            j = model.addJoint(parent, n.joint, n.placement, names(n.name))
            model.appendBodyToJoint(j, n.inertia, pin.SE3.Identity())
            model.addFrame(pin.Frame(f"{names(n.name)}_link", j, 0, pin.SE3.Identity(), pin.FrameType.BODY), False)
            armature[j] = n.armature
        values = np.zeros(model.nv)
        for j, value in armature.items():
            joint = model.joints[j]
            values[joint.idx_v : joint.idx_v + joint.nv] = value
        model.armature = values
        return model

    def build(
        self, how: str = "as_added", rng: np.random.Generator | None = None, names: Names = lambda n: n
    ) -> pc.ClusterModel:
        return pc.ClusterModel(self.tree(how, rng, names), [make(names) for make in self.constraints])


def random_tree(
    rng: np.random.Generator,
    n: int = 8,
    *,
    floating: bool = False,
    kinds: Sequence[str] | None = None,
    chain: float = 0.5,
    armature: bool = True,
) -> Robot:
    """A robot without constraints.

    Args:
        rng: Source of all randomness.
        n: Number of joints (the free flyer not counted).
        floating: Everything hangs from a free flyer.
        kinds: Keys of ``KINDS``; all by default.
        chain: Probability that a joint hangs from the one before; else from any, the root included.
        armature: Some on most joints.
    """
    robot = Robot(gravity=rng.normal(size=3) * 6.0)
    kinds = tuple(KINDS) if kinds is None else tuple(kinds)
    if floating:
        robot.nodes.append(Node("base", None, pin.JointModelFreeFlyer(), placement(rng), inertia(rng, 5.0)))
    for i in range(n):
        names = [x.name for x in robot.nodes]
        options: list[str | None] = list(names) if floating else [None, *names]
        parent = names[-1] if names and rng.random() < chain else options[int(rng.integers(len(options)))]
        kind = kinds[int(rng.integers(len(kinds)))]
        value = float(rng.uniform(0.0, 0.1)) if armature and rng.random() < 0.6 else 0.0
        robot.nodes.append(Node(f"j{i}", parent, KINDS[kind](rng), placement(rng), inertia(rng), value))
    return robot


def random_robot(
    rng: np.random.Generator,
    n: int = 7,
    *,
    floating: bool = False,
    kinds: Sequence[str] | None = None,
    couplings: int = 2,
    rotor_bodies: int = 3,
    rotors: int = 2,
    chain: float = 0.5,
    ratio: float = 6.0,
    armature: bool = True,
) -> Robot:
    """A random tree with random couplings.

    Args:
        rng: Source of all randomness.
        n: Number of joints before the rotors.
        floating: As in ``random_tree``.
        kinds: As in ``random_tree``.
        couplings: How many ``LinearCoupling`` between joints of the tree.
        rotor_bodies: How many rotors that are bodies, by ``Gear``, ``Belt`` or ``LinearCoupling``.
        rotors: How many ``Rotor``.
        chain: As in ``random_tree``.
        ratio: Largest ratio.
        armature: As in ``random_tree``.
    """
    robot = random_tree(rng, n, floating=floating, kinds=kinds, chain=chain, armature=armature)
    # a joint may lead those behind it in a random order: no cycles
    rank = {
        name: i for i, name in enumerate(rng.permutation([x.name for x in robot.nodes if x.joint.nv == 1]).tolist())
    }
    dependents: set[str] = set()
    for _ in range(couplings):
        free = [x for x in rank if x not in dependents and rank[x] > 0]
        if not free:
            break
        dependent = free[int(rng.integers(len(free)))]
        _couple(rng, robot, dependent, [x for x in rank if rank[x] < rank[dependent]], ratio=2.0)
        dependents.add(dependent)
    leaders = list(rank)
    for i in range(rotor_bodies if leaders else 0):
        _add_rotor_body(rng, robot, f"r{i}", leaders, ratio)
        if rng.random() < 0.3:
            leaders.append(f"r{i}")  # chains: a rotor that leads another one
    for i in range(rotors if rank else 0):
        _add_rotor(rng, robot, f"s{i}", leaders, ratio)
    return robot


def _ratio(rng: np.random.Generator, leader: Node, largest: float) -> float:
    """Of either sign, sometimes exactly 1; whole under a continuous joint, which does not know its turns."""
    if rng.random() < 0.15:
        return 1.0
    value = float(rng.uniform(0.3, largest)) * float(rng.choice([-1.0, 1.0]))
    return value if not leader.continuous else float(np.sign(value) * max(1.0, abs(round(value))))


def _some(rng: np.random.Generator, names: Sequence[str], most: int = 3) -> list[str]:
    size = min(len(names), int(rng.integers(1, most + 1)))
    return [str(x) for x in rng.choice(np.array(names), size=size, replace=False)]


def _couple(rng: np.random.Generator, robot: Robot, dependent: str, leaders: Sequence[str], ratio: float) -> None:
    terms = {x: _ratio(rng, robot.node(x), ratio) for x in _some(rng, leaders)}
    offset = float(rng.normal()) if rng.random() < 0.7 else 0.0
    robot.constraints.append(
        lambda names, d=dependent, t=terms, o=offset: pc.LinearCoupling(
            names(d), {names(k): c for k, c in t.items()}, o
        )
    )


def _carrier(rng: np.random.Generator, robot: Robot, joint: str) -> str | None:
    """Where a rotor of a joint can sit: its parent mostly, but anywhere is allowed (None is the universe)."""
    roll = rng.random()
    if roll < 0.5:
        return robot.node(joint).parent
    if roll < 0.65:
        return joint
    if roll < 0.8 and (below := robot.below(joint)):
        return below[int(rng.integers(len(below)))]
    anywhere = [None, *(x.name for x in robot.nodes)]
    return anywhere[int(rng.integers(len(anywhere)))]


def _add_rotor_body(rng: np.random.Generator, robot: Robot, name: str, leaders: Sequence[str], ratio: float) -> None:
    """A rotor as a leaf body; balanced and axisymmetric in half the cases."""
    link = leaders[int(rng.integers(len(leaders)))]
    kind = ("revolute", "RX", "RY", "RZ", "continuous", "RUBZ", "prismatic")[
        int(rng.choice(7, p=[0.3, *[0.15] * 3, *[0.1] * 2, 0.05]))
    ]
    joint = SINGLE[kind](rng)
    axis = _axis(joint)
    body = rotor_inertia(rng, axis, massless=rng.random() < 0.2) if rng.random() < 0.6 else inertia(rng, 0.4)
    carrier = _carrier(rng, robot, link)
    armature = float(rng.uniform(0.0, 1e-3)) if rng.random() < 0.5 else 0.0
    robot.nodes.append(Node(name, carrier, joint, placement(rng), body, armature))
    offset = float(rng.normal()) if rng.random() < 0.5 else 0.0
    roll = rng.random()
    own = robot.path(link)
    nca = [a for a, b in zip(own, robot.path(name), strict=False) if a == b]
    between = own[len(nca) :]
    before = robot.path(name)[len(nca) : -1]
    whole = [robot.node(x) for x in (*between, *before)]
    if roll < 0.4 and between and not before and all(x.joint.nv == 1 for x in whole):
        r = _ratio(rng, robot.node(link), ratio)
        if any(x.continuous for x in whole):
            r = float(round(r)) or 1.0
        robot.constraints.append(lambda names: pc.Belt(names(link), names(name), r, offset))
    elif roll < 0.7:
        r = _ratio(rng, robot.node(link), ratio)
        robot.constraints.append(lambda names: pc.Gear(names(link), names(f"{name}") + "_link", r, offset))
    else:
        _couple(rng, robot, name, [x for x in leaders if x != name], ratio)


def _axis(joint: pin.JointModel) -> np.ndarray:
    data = joint.createData()
    joint.calc(data, np.eye(joint.nq)[0] if joint.nq == 2 else np.zeros(joint.nq))
    S = np.asarray(data.S).reshape(6)
    return S[3:] if np.any(S[3:]) else S[:3]


def _add_rotor(rng: np.random.Generator, robot: Robot, name: str, leaders: Sequence[str], ratio: float) -> None:
    """A rotor that is no body, on any carrier, about any axis."""
    joints = _some(rng, leaders, most=2)
    ratios = [float(rng.uniform(0.3, ratio)) * float(rng.choice([-1.0, 1.0])) for _ in joints]
    carrier = _carrier(rng, robot, joints[0])
    where = placement(rng) if rng.random() < 0.7 else None
    derived = carrier is not None and carrier == robot.node(joints[0]).parent and rng.random() < 0.5
    spare = robot.node(carrier).inertia if carrier is not None else None
    armature = rng.choice(["keep", "replace"]) if any(robot.node(j).armature for j in joints) else None
    options: dict[str, object] = {"placement": where, "armature": armature and str(armature)}
    axis: np.ndarray | None = None
    if not derived:
        axis = unit(rng)
        options["axis"] = tuple(2.0 * axis)
    if rng.random() < 0.5 and axis is not None:
        options["inertia"] = rotor_inertia(rng, axis, massless=rng.random() < 0.2)
    else:
        # part of the carrier's link, so not more than that has
        largest = 5e-3 if spare is None else 0.3 * float(np.linalg.eigvalsh(spare.inertia)[0])
        options["axial_inertia"] = float(rng.uniform(0.2, 1.0)) * min(5e-3, largest)
    robot.constraints.append(
        lambda names: pc.Rotor(
            [names(j) for j in joints],
            ratios,
            carrier="universe" if carrier is None else names(carrier),
            name=names(name),
            **options,  # type: ignore[arg-type]
        )
    )


def on_couplings(model: pc.ClusterModel, q: np.ndarray) -> np.ndarray:
    """Set the dependent joints of q, from the constraints as the user wrote them."""
    q, tree = np.array(q, dtype=float), model.tree

    def position(j: int) -> float:
        joint = tree.joints[j]
        i = joint.idx_q
        return float(q[i]) if joint.nq == 1 else float(np.arctan2(q[i + 1], q[i]))

    for row in model.coupling_rows:
        value = row.offset + sum(c * position(m) for m, c in zip(row.masters, row.coefficients, strict=True))
        joint = tree.joints[row.dependent]
        i = joint.idx_q
        q[i : i + joint.nq] = value if joint.nq == 1 else (np.cos(value), np.sin(value))
    return q


def random_state(
    model: pc.ClusterModel, rng: np.random.Generator, spread: float = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """q on the couplings, v, a, and external forces (njoints, 6)."""
    neutral = pin.neutral(model.tree)
    q = on_couplings(model, pin.integrate(model.tree, neutral, spread * rng.normal(size=model.tree.nv)))
    v, a = rng.normal(size=model.nv), rng.normal(size=model.nv)
    return q, v, a, 5.0 * rng.normal(size=(model.njoints, 6))


def geared_arm(*, floating: bool = False, n: int = 4, ratio: float = 8.0) -> Robot:
    """A small robot that is the same every time: links with rotors on the link before, and a belt at the end."""
    rng = np.random.default_rng(7)
    robot = Robot()
    parent: str | None = None
    if floating:
        parent = "base"
        robot.nodes.append(Node("base", None, pin.JointModelFreeFlyer(), pin.SE3.Identity(), inertia(rng, 5.0)))
    for i in range(n):
        axis = unit(rng)
        at = placement(rng)
        robot.nodes.append(
            Node(f"r{i}", parent, pin.JointModelRevoluteUnaligned(axis), at, rotor_inertia(rng, axis), 0.0)
        )
        robot.nodes.append(Node(f"j{i}", parent, pin.JointModelRevoluteUnaligned(axis), at, inertia(rng), 0.0))
        if i and parent is not None and i == n - 1:
            terms = {f"j{i - 1}": ratio, f"j{i}": ratio}
            robot.constraints.append(
                lambda names, i=i, t=terms: pc.LinearCoupling(names(f"r{i}"), {names(k): c for k, c in t.items()})
            )
        else:
            robot.constraints.append(lambda names, i=i: pc.Gear(names(f"j{i}"), names(f"r{i}"), ratio))
        parent = f"j{i}"
    return robot
