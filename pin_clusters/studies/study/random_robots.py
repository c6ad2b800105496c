"""Draw random robots with gears, belts and physically consistent inertias, and draw random states.

A robot is drawn as follows (U: uniform distribution; L: log-uniform distribution):

- The robot has 2 to 10 links. In half of the robots, the base floats and has a mass of 5 to 20 kg. The parent of a link
  is the previous link with probability 0.8; otherwise, it is any earlier link or the base.
- Each link rotates about one axis: x, y or z of its frame or, in half of the cases, an arbitrary direction. Its frame
  has a random orientation and lies U(0.1, 0.5) m from its parent's frame, in a random direction.
- A link is a homogeneous box, which makes its inertia physically consistent. It has the mass U(0.5, 3) kg, edges of
  U(0.05, 0.3) m (base: U(0.2, 0.5) m), a random orientation, and a centre with coordinates within +/- 0.15 m.
- Each joint has a rotor, a homogeneous steel cylinder (7000 kg/m^3) that is U(0.5, 2) times as long as its radius. The
  axial inertia is L(2e-6, 5e-4) kg m^2. The rotor is within 5 cm of the joint along each axis. The gear ratio has a
  random sign and the magnitude L(4, 100); the reflected inertia is limited to 1 kg m^2. The rotor axis is
  parallel to the joint axis or, with probability 0.3 (bevel gears), arbitrary.
- Gear: the rotor is mounted on the parent link of its joint. Belt: if the parent joint has a gear, a belt is drawn with
  probability 0.4. The joint axis is then parallel to the parent joint's axis, the rotor is mounted next to the parent's
  rotor, and it turns with the sum of the two joint angles.

States: angles U(-pi, pi), velocities U(-5, 5) rad/s, accelerations U(-50, 50) rad/s^2. A floating base has a random
orientation and, per axis, velocities U(-1, 1) m/s, U(-2, 2) rad/s, accelerations U(-5, 5) m/s^2, U(-10, 10) rad/s^2.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ...constraints import Rotor
from ...model import ClusterModel

_STEEL = 7000.0  # density, [kg/m^3]


@dataclass(frozen=True)
class RandomRobot:
    """A random robot; ``branches`` counts the links whose parent is not the previous link."""

    model: ClusterModel
    links: int
    belts: int
    floating: bool
    branches: int
    ratio: float


def robot(rng: np.random.Generator) -> RandomRobot:
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
    axes: dict[int, np.ndarray] = {}  # joint axes in the link frames
    for k in _depth_first(parents):
        parent = parents[k]
        belts[k] = parent >= 0 and not belts[parent] and bool(rng.random() < 0.4)
        joint, axis = _joint(rng)
        turn = _rotation(rng)
        if belts[k]:  # align the joint axis with the parent joint's axis
            turn = _turned(axis, axes[parent]) @ pin.exp3(float(rng.uniform(-np.pi, np.pi)) * axis)
        placement = pin.SE3(turn, float(rng.uniform(0.1, 0.5)) * _direction(rng))
        ids[k] = _add(tree, ids[parent], joint, placement, f"joint_{k}", _box(rng, (0.5, 3.0), (0.05, 0.3)))
        axes[k] = axis
        link = parent if belts[k] else k
        rotors.append(_rotor(rng, tree, ids[link], axes[link], [f"joint_{i}" for i in sorted({link, k})]))
    model = ClusterModel(tree, rotors)
    branches = sum(parent != k - 1 for k, parent in enumerate(parents))
    ratio = max(abs(x) for rotor in rotors for x in np.atleast_1d(rotor.ratios).tolist())
    return RandomRobot(model, n, sum(belts), floating, branches, ratio)


def states(drawn: RandomRobot, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw n states: configurations, shape (n, nq), and velocities and accelerations, shape (n, nv)."""
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


def _depth_first(parents: list[int], root: int = -1) -> Iterator[int]:
    """Yield the links in depth-first order, as Pinocchio requires."""
    for k, parent in enumerate(parents):
        if parent == root:
            yield k
            yield from _depth_first(parents, k)


def _add(tree: pin.Model, parent: int, joint: pin.JointModel, placement: pin.SE3, name: str, body: pin.Inertia) -> int:
    j = tree.addJoint(parent, joint, placement, name)
    tree.appendBodyToJoint(j, body, pin.SE3.Identity())
    return int(j)


def _direction(rng: np.random.Generator, n: int = 3) -> np.ndarray:
    x = rng.normal(size=n)
    return np.asarray(x / np.linalg.norm(x))


def _rotation(rng: np.random.Generator) -> np.ndarray:
    return np.asarray(pin.Quaternion(_direction(rng, 4)).toRotationMatrix())


def _turned(axis: np.ndarray, onto: np.ndarray) -> np.ndarray:
    return np.asarray(pin.Quaternion.FromTwoVectors(axis, onto).toRotationMatrix())


def _joint(rng: np.random.Generator) -> tuple[pin.JointModel, np.ndarray]:
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


def _rotor(
    rng: np.random.Generator, tree: pin.Model, reference_joint: int, joint_axis: np.ndarray, joints: list[str]
) -> Rotor:
    axial = float(np.exp(rng.uniform(np.log(2e-6), np.log(5e-4))))
    slender = float(rng.uniform(0.5, 2.0))
    radius = (2.0 * axial / (_STEEL * np.pi * slender)) ** 0.2
    mass = _STEEL * np.pi * slender * radius**3
    across = mass * radius**2 * (3.0 + slender**2) / 12.0
    ratio = float(np.exp(rng.uniform(np.log(4.0), np.log(min(100.0, axial**-0.5))))) * float(rng.choice([-1.0, 1.0]))
    reference_placement = tree.jointPlacements[reference_joint]
    axis = reference_placement.rotation @ joint_axis if rng.random() < 0.7 else _direction(rng)
    z = np.array([0.0, 0.0, 1.0])
    return Rotor(
        joints,
        [ratio] * len(joints),
        inertia=pin.Inertia(mass, np.zeros(3), np.diag([across, across, axial])),
        axis=z.tolist(),
        placement=pin.SE3(_turned(z, axis), reference_placement.translation + rng.uniform(-0.05, 0.05, 3)),
        carrier=str(tree.names[int(tree.parents[reference_joint])]),
        name="rotor_of_" + "_and_".join(joints),
    )
