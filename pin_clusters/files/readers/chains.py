"""Benchmark chains of a paper: each link has a geared rotor (GT), or belts drive pairs of links (PBT).

Chignoli, Adrian, Kim, Wensing, "Recursive Rigid-Body Dynamics Algorithms for Systems with Kinematic Loops",
arXiv 2311.13732. The numbers are from the authors' library generalized_rbda (classes RevoluteChainWithRotor and
RevolutePairChainWithRotor with their fixed parameters).
"""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..._support.arrays import whole_number
from ..._support.docstrings import stock
from ...constraints import Belt, Gear
from ...errors import LoadError

RATIO = 6.0
_documented = stock(
    """
    Args:
        n: Number of links, at least 1.
        seed: Seed of random values that replace the published values. Links are boxes of 0.5 to 2 kg with edges of 0.1
            to 0.5 m and centres of mass within +-0.5 m. Joints have random directions and orientations, 0.5 to
            1.5 m apart. Balanced, axisymmetric rotors have 0.02 to 0.1 kg and 5e-5 to 2e-4 kg m^2, ratios +-3 to +-10.
        root_joint: Joint of an additional base body of 10 kg with 1 kg m^2 about each axis through its origin.

    Returns:
        The tree, whose joints are in depth-first order, and the couplings.

    Raises:
        LoadError: ``n`` or ``seed`` is invalid.
    """
)


@dataclass(frozen=True)
class _Link:
    """Data of a link and its rotor, which turn about the z axis of ``placement``, a frame on the previous link."""

    placement: pin.SE3
    inertia: pin.Inertia
    rotor: pin.Inertia
    ratio: float


def _published(k: int) -> _Link:
    """Build link ``k`` (1 m long, 1 kg at 0.5 m, central inertia 1 kg m^2) and its massless rotor of 1e-4 kg m^2."""
    placement = pin.SE3(np.eye(3), np.array([1.0 if k else 0.0, 0.0, 0.0]))
    body = pin.Inertia(1.0, np.array([0.5, 0.0, 0.0]), np.diag([0.0, 0.0, 1.0]))
    return _Link(placement, body, pin.Inertia(0.0, np.zeros(3), np.diag([0.0, 0.0, 1e-4])), RATIO)


def _random(k: int, rng: np.random.Generator) -> _Link:
    turned = pin.Quaternion(_unit(rng.normal(size=4))).toRotationMatrix()
    placement = pin.SE3(turned, rng.uniform(0.5, 1.5) * _unit(rng.normal(size=3)) if k else np.zeros(3))
    a, b, c = rng.uniform(0.1, 0.5, 3)  # edges of the box that represents the link, [m]
    mass = float(rng.uniform(0.5, 2.0))
    turn = pin.Quaternion(_unit(rng.normal(size=4))).toRotationMatrix()
    moments = turn @ np.diag(mass / 12.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])) @ turn.T
    body = pin.Inertia(mass, rng.uniform(-0.5, 0.5, 3), 0.5 * (moments + moments.T))
    axial = float(rng.uniform(5e-5, 2e-4))
    rotor = pin.Inertia(
        float(rng.uniform(0.02, 0.1)), np.array([0.0, 0.0, rng.uniform(-0.05, 0.05)]), axial * np.diag([0.6, 0.6, 1.0])
    )
    return _Link(placement, body, rotor, float(rng.uniform(3.0, 10.0)) * float(rng.choice([-1.0, 1.0])))


def _unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x)


@_documented
def geared_chain(
    n: int = 12, seed: int | None = None, root_joint: pin.JointModel | None = None
) -> tuple[pin.Model, tuple[Gear, ...]]:
    """Build a chain of ``n`` links, each driven through a gear by a rotor on the preceding link (the paper's GT).

    The joints are ``joint_1 ... joint_n`` and ``rotor_1 ... rotor_n``; the body of ``X`` is ``X_link``. Without a seed,
    the chain is planar: all axes are z, all links extend 1 m in x, all ratios are 6. Gravity is 9.81 m/s^2 along +x.
    """
    tree, ratios = _chain("geared_chain", n, seed, root_joint, 1)
    return tree, tuple(Gear(f"joint_{k}", f"rotor_{k}", r) for k, r in enumerate(ratios, 1))


@_documented
def belt_chain(
    n: int = 12, seed: int | None = None, root_joint: pin.JointModel | None = None
) -> tuple[pin.Model, tuple[Gear | Belt, ...]]:
    """Build a chain of ``n`` links in pairs; both rotors of a pair are on the preceding body (the paper's PBT).

    A gear couples the first rotor of a pair to the first link. A belt couples the second rotor to the sum of both joint
    angles. Names, numbers and gravity are as in ``geared_chain``. If a seed is given, the axes of the second rotor and
    the second link are not parallel.

    Args:
        n: Number of links, even and at least 2.
    """
    if isinstance(n, (int, np.integer)) and n % 2:
        raise LoadError(f"belt_chain: n must be even, because the links form pairs, got {n}. Try n={n + 1}.")
    tree, ratios = _chain("belt_chain", n, seed, root_joint, 2)
    return tree, tuple((Gear if k % 2 else Belt)(f"joint_{k}", f"rotor_{k}", r) for k, r in enumerate(ratios, 1))


def _chain(
    name: str, n: int, seed: int | None, root_joint: pin.JointModel | None, group: int
) -> tuple[pin.Model, list[float]]:
    whole_number(f"{name}: n", n, 1, LoadError, " of links")
    if seed is not None:
        whole_number(f"{name}: seed", seed, 0, LoadError, " or None")
    rng = None if seed is None else np.random.default_rng(seed)
    links = [_published(k) if rng is None else _random(k, rng) for k in range(n)]
    tree = pin.Model()
    tree.name = name
    tree.gravity.linear = np.array([9.81, 0.0, 0.0])
    carrier = 0
    if root_joint is not None:
        base = pin.Inertia(10.0, np.zeros(3), np.eye(3))
        carrier = _add(tree, 0, root_joint, pin.SE3.Identity(), "root_joint", "base_link", base)
    for k, link in enumerate(links):
        if k % group == 0:
            # Rotors come first, because a rotor between a link and its children would break the depth-first order.
            for i in range(k, k + group):
                placement = pin.SE3(links[i].placement.rotation, link.placement.translation)
                _add(
                    tree,
                    carrier,
                    pin.JointModelRZ(),
                    placement,
                    f"rotor_{i + 1}",
                    f"rotor_{i + 1}_link",
                    links[i].rotor,
                )
        joint = f"joint_{k + 1}"
        carrier = _add(tree, carrier, pin.JointModelRZ(), link.placement, joint, f"{joint}_link", link.inertia)
    return tree, [link.ratio for link in links]


def _add(
    tree: pin.Model, parent: int, joint: pin.JointModel, place: pin.SE3, name: str, body: str, inertia: pin.Inertia
) -> int:
    j = tree.addJoint(parent, joint, place, name)
    tree.addJointFrame(j)
    tree.appendBodyToJoint(j, inertia, pin.SE3.Identity())
    tree.addBodyFrame(body, j, pin.SE3.Identity(), -1)
    return int(j)
