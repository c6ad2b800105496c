"""Random robots with gears and belts, and random states of them: physical, and as varied as simple.

A robot is drawn so (U: uniform, L: uniform in the logarithm):

- 2 to 10 links; the base floats in half of the robots, with 5 to 20 kg. A link hangs from the one before it with
  probability 0.8, else from any earlier one or the base, so robots branch.
- Each link turns about one axis: x, y or z of its frame, or, in half of the cases, any direction. Its frame is turned
  at random and lies U(0.1, 0.5) m from its parent's, in a random direction.
- A link is a homogeneous box, so its inertia is one that a body can have: U(0.5, 3) kg, edges of U(0.05, 0.3) m
  (base: U(0.2, 0.5) m), turned at random, centre of mass within 0.15 m along each axis.
- Each joint has a rotor, a homogeneous steel cylinder (7000 kg/m^3) as long as U(0.5, 2) of its radius, of
  L(2e-6, 5e-4) kg m^2 about its axis, within 5 cm of the joint along each axis. It turns at a ratio of either sign,
  L(4, 100), but at most so much that it reflects 1 kg m^2. Its axis is parallel to the joint's, or, with probability
  0.3 (bevel gears), any.
- Gears: the rotor sits on the link before its joint. Belts: with probability 0.4, where the joint before has a gear,
  the joint is parallel to that one, its rotor sits beside the other's on the link before both, and turns with the sum
  of both angles.

States: angles U(-pi, pi), speeds U(-5, 5) rad/s, accelerations U(-50, 50) rad/s^2; a base of any orientation, along and
about each axis U(-1, 1) m/s, U(-2, 2) rad/s, U(-5, 5) m/s^2, U(-10, 10) rad/s^2.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ...constraints import Rotor
from ...model import ClusterModel

_STEEL = 7000.0


@dataclass(frozen=True)
class RandomRobot:
    """A robot and what it was drawn as.

    Numbers of links, of belts and of links that do not hang from the one before; whether its base floats; the largest
    magnitude of its ratios.
    """

    model: ClusterModel
    links: int
    belts: int
    floating: bool
    branches: int
    ratio: float


def robot(rng: np.random.Generator) -> RandomRobot:
    """Draw a robot."""
    n = int(rng.integers(2, 11))
    floating = bool(rng.random() < 0.5)
    parents = [int(k - 1 if k == 0 or rng.random() < 0.8 else rng.integers(-1, k)) for k in range(n)]
    belts = [False] * n
    tree = pin.Model()
    tree.name = "random_chain"
    ids = {-1: 0}
    if floating:
        ids[-1] = _add(
            tree, 0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base", _box(rng, (5.0, 20.0), (0.2, 0.5))
        )
    rotors: list[Rotor] = []
    axes: dict[int, np.ndarray] = {}  # of the joints, in the links' own frames
    for k in _depth_first(parents):
        up = parents[k]
        belts[k] = up >= 0 and not belts[up] and bool(rng.random() < 0.4)
        joint, own = _joint(rng)
        turn = _rotation(rng)
        if belts[k]:  # parallel to the joint before
            turn = _turned(own, axes[up]) @ pin.exp3(float(rng.uniform(-np.pi, np.pi)) * own)
        place = pin.SE3(turn, float(rng.uniform(0.1, 0.5)) * _direction(rng))
        ids[k] = _add(tree, ids[up], joint, place, f"joint_{k}", _box(rng, (0.5, 3.0), (0.05, 0.3)))
        axes[k] = own
        first = up if belts[k] else k
        rotors.append(_rotor(rng, tree, ids[first], axes[first], [f"joint_{i}" for i in sorted({first, k})]))
    model = ClusterModel(tree, rotors)
    branches = sum(up != k - 1 for k, up in enumerate(parents))
    ratio = max(abs(x) for rotor in rotors for x in np.atleast_1d(rotor.ratios).tolist())
    return RandomRobot(model, n, sum(belts), floating, branches, ratio)


def states(drawn: RandomRobot, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw n states: configurations (n, nq), velocities and accelerations (n, nv)."""
    model = drawn.model
    q = rng.uniform(-np.pi, np.pi, (n, model.nq))
    v = rng.uniform(-5.0, 5.0, (n, model.nv))
    a = rng.uniform(-50.0, 50.0, (n, model.nv))
    if drawn.floating:
        q[:, :3] = rng.uniform(-1.0, 1.0, (n, 3))
        turn = rng.normal(size=(n, 4))
        q[:, 3:7] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
        v[:, :6] = rng.uniform(-1.0, 1.0, (n, 6)) * (1.0, 1.0, 1.0, 2.0, 2.0, 2.0)
        a[:, :6] = rng.uniform(-1.0, 1.0, (n, 6)) * (5.0, 5.0, 5.0, 10.0, 10.0, 10.0)
    return q, v, a


def _depth_first(parents: list[int], up: int = -1) -> Iterator[int]:
    """Yield the links in the order that Pinocchio wants them."""
    for k, parent in enumerate(parents):
        if parent == up:
            yield k
            yield from _depth_first(parents, k)


def _add(tree: pin.Model, parent: int, joint: pin.JointModel, place: pin.SE3, name: str, body: pin.Inertia) -> int:
    j = tree.addJoint(parent, joint, place, name)
    tree.appendBodyToJoint(j, body, pin.SE3.Identity())
    return int(j)


def _direction(rng: np.random.Generator, n: int = 3) -> np.ndarray:
    x = rng.normal(size=n)
    return np.asarray(x / np.linalg.norm(x))


def _rotation(rng: np.random.Generator) -> np.ndarray:
    return np.asarray(pin.Quaternion(_direction(rng, 4)).toRotationMatrix())


def _turned(axis: np.ndarray, onto: np.ndarray) -> np.ndarray:
    """Return a rotation that turns one unit vector onto another."""
    return np.asarray(pin.Quaternion.FromTwoVectors(axis, onto).toRotationMatrix())


def _joint(rng: np.random.Generator) -> tuple[pin.JointModel, np.ndarray]:
    """Return a joint and its axis in its own frame."""
    if rng.random() < 0.5:
        axis = _direction(rng)
        return pin.JointModelRevoluteUnaligned(axis), axis
    i = int(rng.integers(3))
    return (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)[i](), np.eye(3)[i]


def _box(rng: np.random.Generator, masses: tuple[float, float], edges: tuple[float, float]) -> pin.Inertia:
    mass = float(rng.uniform(*masses))
    a, b, c = rng.uniform(*edges, size=3)
    turn = _rotation(rng)
    moments = turn @ np.diag(mass / 12.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])) @ turn.T
    return pin.Inertia(mass, rng.uniform(-0.15, 0.15, 3), 0.5 * (moments + moments.T))


def _rotor(rng: np.random.Generator, tree: pin.Model, beside: int, own: np.ndarray, joints: list[str]) -> Rotor:
    """Return the rotor of some joints, on the link before a joint (its id and its axis are given)."""
    axial = float(np.exp(rng.uniform(np.log(2e-6), np.log(5e-4))))
    slender = float(rng.uniform(0.5, 2.0))
    radius = (2.0 * axial / (_STEEL * np.pi * slender)) ** 0.2
    mass = _STEEL * np.pi * slender * radius**3
    across = mass * radius**2 * (3.0 + slender**2) / 12.0
    ratio = float(np.exp(rng.uniform(np.log(4.0), np.log(min(100.0, axial**-0.5))))) * float(rng.choice([-1.0, 1.0]))
    place = tree.jointPlacements[beside]
    axis = place.rotation @ own if rng.random() < 0.7 else _direction(rng)
    z = np.array([0.0, 0.0, 1.0])
    return Rotor(
        joints,
        [ratio] * len(joints),
        inertia=pin.Inertia(mass, np.zeros(3), np.diag([across, across, axial])),
        axis=z.tolist(),
        placement=pin.SE3(_turned(z, axis), place.translation + rng.uniform(-0.05, 0.05, 3)),
        carrier=str(tree.names[int(tree.parents[beside])]),
        name="rotor_of_" + "_and_".join(joints),
    )
