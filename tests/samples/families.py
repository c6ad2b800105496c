"""Families of mechanisms with closed loops: geometry, lengths, axes, rotors and states drawn anew per seed.

Planar loops (also written with 1.5708 for a quarter turn), spatial loops and rods on random trees, Bennett's and
Sarrus' linkage with exact geometry; on the ground and on floating bases, with rotors on joints of the loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from samples import mechanisms, trees

import pin_clusters as pc

X, Y, Z = np.eye(3)


def base_of(b: mechanisms.Builder, rng: np.random.Generator, floating: bool) -> str | None:
    """A free flyer somewhere, or nothing."""
    if not floating:
        return None
    b.add("base", None, pin.JointModelFreeFlyer(), np.zeros(3))
    b.pose["base"] = pin.SE3ToXYZQUAT(trees.placement(rng))
    return "base"


def with_rotors(b: mechanisms.Builder, loop: pc.Loop, joints: list[str], base: str | None, n: int, **more: Any) -> Any:
    """One velocity of the loop leads; rotors of any of its joints, on any of its bodies."""
    constraints: list[Any] = [loop]
    mechanisms.add_rotors(b.rng, constraints, joints, n)
    independent = ((base,) if base else ()) + (joints[0],)
    return b.mechanism(constraints, independent, 7 if base else 1, **more)


def bennett(rng: np.random.Generator, *, floating: bool = False, fixed: bool = False) -> mechanisms.Mechanism:
    """Lengths, twists and pose at random, in Bennett's proportions; the place of its ground hinge too."""
    a, alpha, beta = rng.uniform(0.3, 0.7), rng.uniform(0.4, 1.0), rng.uniform(1.1, 1.9)
    c = a * np.sin(beta) / np.sin(alpha)
    first = float(rng.uniform(0.5, 1.2)) * rng.choice([-1.0, 1.0])
    ratio = np.sin((beta + alpha) / 2.0) / np.sin((beta - alpha) / 2.0)
    second = 2.0 * np.arctan(ratio / np.tan(first / 2.0))

    def bar(length: float, twist: float) -> pin.SE3:
        return pin.SE3(np.eye(3), length * X) * pin.SE3(pin.exp3(twist * X), np.zeros(3))

    b = mechanisms.Builder(rng, rng.normal(size=3) * 6.0)
    base, ground = base_of(b, rng, floating), trees.placement(rng)
    b.add("one", base, Z, ground, first)
    b.add("two", "one", Z, bar(a, alpha), second)
    b.add("three", "two", Z, bar(c, beta), -first)
    joints = ["one", "two", "three"]
    if fixed:
        b.add("four", "three", Z, bar(a, alpha), -second)
        joints.append("four")
        loop = pc.Loop(("four", bar(c, beta)), (base or "universe", ground), "fixed")
    else:
        back = ground * bar(c, beta).inverse()
        loop = pc.Loop(("three", bar(a, alpha)), (base or "universe", back), "revolute", Z)
    return with_rotors(b, loop, joints, base, int(rng.integers(1, 3)), spread=0.25)


def sarrus(rng: np.random.Generator, *, floating: bool = False) -> mechanisms.Mechanism:
    """Two hinged legs of any lengths in planes that meet at any angle: the platform moves along their common line."""
    angle = rng.uniform(0.6, 2.4)
    turn = pin.exp3(angle * Z)
    b = mechanisms.Builder(rng, rng.normal(size=3) * 6.0)
    base, ground = base_of(b, rng, floating), trees.placement(rng)
    # each leg leans by theta below and by phi above, so that its end is over x = start - drift, at the same height
    theta, low, high, start = rng.uniform(0.4, 0.7), rng.uniform(0.35, 0.5), rng.uniform(0.35, 0.5), 0.3
    phi = np.arcsin(low * np.sin(theta) / high)  # the leg's end is right above its foot
    b.add("a1", base, Y, ground * pin.SE3(np.eye(3), start * X), -theta)
    b.add("a2", "a1", Y, low * Z, theta + phi)
    b.add("platform", "a2", Y, high * Z, -phi)
    top = low * np.cos(theta) + high * np.cos(phi)
    ratio = rng.uniform(0.55, 0.8)  # the second leg: other lengths, the same height
    second = top / (2.0 * np.cos(ratio))
    b.add("b1", base, Y, ground * pin.SE3(turn, turn @ (start * X)), -ratio)
    b.add("b2", "b1", Y, second * Z, 2.0 * ratio)
    # on the platform: where the second leg ends, turned as that leg is
    seat = pin.SE3(turn, turn @ (start * X) - start * X)
    loop = pc.Loop(("b2", second * Z), ("platform", seat), "revolute", Y)
    return with_rotors(b, loop, ["a1", "a2", "platform", "b1", "b2"], base, int(rng.integers(1, 4)), spread=0.15)


def sloppy(rng: np.random.Generator, *, floating: bool = False) -> mechanisms.Mechanism:
    """A planar four-bar, each of whose bodies is turned by a rounded quarter turn."""
    b = mechanisms.Builder(rng, rng.normal(size=3) * 6.0)
    base, ground = base_of(b, rng, floating), trees.placement(rng)
    turn = pin.SE3(pin.rpy.rpyToMatrix(1.5708, 0.0, 0.0), np.zeros(3))
    lengths = rng.uniform(0.3, 0.4), rng.uniform(0.8, 1.0), rng.uniform(0.6, 0.8)
    b.add("crank", base, Z, ground * turn, rng.uniform(0.2, 1.0))
    b.add("coupler", "crank", Z, lengths[0] * X, -0.9)
    b.add("rocker", base, Y, ground * pin.SE3(np.eye(3), X), 0.3)
    loop = pc.Loop(("coupler", lengths[1] * X), ("rocker", pin.SE3(turn.rotation, lengths[2] * Z)), "revolute", Z)
    return with_rotors(b, loop, ["crank", "coupler", "rocker"], base, int(rng.integers(1, 3)), exact=1e-5)


def planar(rng: np.random.Generator, seed: int) -> mechanisms.Mechanism:
    return mechanisms.random_planar(
        rng, floating=seed % 2 == 1, loops=1 + seed // 2 % 2, rotors=1 + seed % 3, serial=seed % 4 == 3
    )


def spatial(rng: np.random.Generator, seed: int) -> mechanisms.Mechanism:
    return mechanisms.random_mechanism(
        rng, floating=seed % 2 == 1, loops=1 + seed // 4 % 2, rods=seed // 2 % 2, rotors=1 + seed % 3
    )


FAMILIES: dict[str, tuple[Any, int]] = {
    "planar": (planar, 16),
    "spatial": (spatial, 20),
    "bennett": (lambda rng, seed: bennett(rng, floating=seed % 2 == 1, fixed=seed % 4 > 1), 10),
    "sarrus": (lambda rng, seed: sarrus(rng, floating=seed % 2 == 1), 8),
    "sloppy": (lambda rng, seed: sloppy(rng, floating=seed % 2 == 1), 6),
}
