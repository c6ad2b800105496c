"""Trees without constraints, for comparisons with Pinocchio itself; their joints are depth-first, as it needs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

_HALF = np.pi / 2


def _inertia(mass: float, x: float, y: float, z: float) -> pin.Inertia:
    """Return the inertia of a box about a point that is not its centre."""
    return pin.SE3(np.eye(3), np.array([0.3 * x, 0.1 * y, 0.4 * z])).act(pin.Inertia.FromBox(mass, x, y, z))


def _add(tree: pin.Model, parent: int, joint: pin.JointModel, place: pin.SE3, name: str, inertia: pin.Inertia) -> int:
    j = int(tree.addJoint(parent, joint, place, name))
    tree.appendBodyToJoint(j, inertia, pin.SE3.Identity())
    tree.addJointFrame(j)
    tree.addBodyFrame(f"{name}_body", j, pin.SE3(np.eye(3), np.array([0.1, 0.2, 0.3])), -1)
    return j


def panda() -> pin.Model:
    """Return an arm of seven joints with two fingers: the Denavit-Hartenberg parameters that Franka publishes."""
    tree = pin.Model()
    tree.name = "panda"
    rows = (  # a, d, alpha of the joint before, in the modified convention [m, rad]
        (0.0, 0.333, 0.0), (0.0, 0.0, -_HALF), (0.0, 0.316, _HALF), (0.0825, 0.0, _HALF), (-0.0825, 0.384, -_HALF),
        (0.0, 0.0, _HALF), (0.088, 0.0, _HALF),
    )  # fmt: skip
    parent = 0
    for i, (a, d, alpha) in enumerate(rows):
        turned = pin.utils.rotate("x", alpha)
        place = pin.SE3(turned, np.array([a, 0.0, 0.0]) + turned @ np.array([0.0, 0.0, d]))
        inertia = _inertia(3.5 - 0.3 * i, 0.10, 0.12, 0.25 - 0.02 * i)
        parent = _add(tree, parent, pin.JointModelRZ(), place, f"joint{i + 1}", inertia)
    for i, side in enumerate((1.0, -1.0)):
        place = pin.SE3(pin.utils.rotate("z", -np.pi / 4 + i * np.pi), np.array([0.0, 0.0, 0.107 + 0.0584]))
        _add(tree, parent, pin.JointModelPY(), place, f"finger{i + 1}", _inertia(0.1, 0.02, 0.02 * side, 0.05))
    return tree


def solo12() -> pin.Model:
    """Return a quadruped on a free base: the lengths of the legs of Solo12 (Grimminger et al. 2020)."""
    tree = pin.Model()
    tree.name = "solo12"
    base = _add(tree, 0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint", _inertia(1.43, 0.4, 0.2, 0.1))
    for name, x, y in (("FL", 1, 1), ("FR", 1, -1), ("HL", -1, 1), ("HR", -1, -1)):
        places = (np.array([0.1946 * x, 0.0875 * y, 0.0]), np.array([0.0, 0.014 * y, 0.0]),
                  np.array([0.0, 0.03745 * y, -0.16]))  # fmt: skip
        parent = base
        for part, joint, place in zip(
            ("HAA", "HFE", "KFE"), (pin.JointModelRX(), pin.JointModelRY(), pin.JointModelRY()), places, strict=True
        ):
            at = pin.SE3(np.eye(3), place)
            parent = _add(tree, parent, joint, at, f"{name}_{part}", _inertia(0.15, 0.03, 0.03, 0.16))
    return tree


def _kinds() -> dict[str, tuple[str, list[tuple[pin.JointModel, pin.SE3]]]]:
    """Return joints by name: the joint that carries each, and the simple joints that it consists of."""
    axis = np.array([0.6, 0.0, 0.8])
    here = pin.SE3.Identity()
    between = pin.SE3(pin.exp3(np.array([0.3, 0.2, -0.1])), np.array([0.1, -0.2, 0.3]))
    single = {
        "free": ("", pin.JointModelFreeFlyer()), "ball": ("free", pin.JointModelSpherical()),
        "turn": ("ball", pin.JointModelRX()), "slide": ("turn", pin.JointModelPZ()),
        "unbounded": ("slide", pin.JointModelRUBY()), "plane": ("free", pin.JointModelPlanar()),
        "turn_along": ("plane", pin.JointModelRevoluteUnaligned(axis)),
        "slide_along": ("zyx", pin.JointModelPrismaticUnaligned(axis)), "shift": ("free", pin.JointModelTranslation()),
        "screw": ("cross", pin.JointModelHX(0.1)), "screw_along": ("screw", pin.JointModelHelicalUnaligned(axis, 0.2)),
    }  # fmt: skip
    several = {
        "zyx": ("turn_along", [(pin.JointModelRZ(), here), (pin.JointModelRY(), here), (pin.JointModelRX(), here)]),
        "cross": ("shift", [(pin.JointModelRX(), here), (pin.JointModelRY(), here)]),
        "both": ("free", [(pin.JointModelRX(), here), (pin.JointModelPY(), between)]),
    }
    order = "free ball turn slide unbounded plane turn_along zyx slide_along shift cross screw screw_along both"
    found = {name: (carrier, [(joint, here)]) for name, (carrier, joint) in single.items()} | several
    return {name: found[name] for name in order.split()}


def _as_one(name: str, parts: list[tuple[pin.JointModel, pin.SE3]]) -> pin.JointModel:
    if name == "zyx":
        return pin.JointModelSphericalZYX()
    if name == "cross":
        return pin.JointModelUniversal(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    if len(parts) == 1:
        return parts[0][0]
    joint = pin.JointModelComposite()
    for part, place in parts:
        joint.addJoint(part, place)
    return joint


def all_kinds(split: bool = False) -> pin.Model:
    """Return a tree that has each kind of joint, one behind another and in branches.

    Args:
        split: Whether joints that consist of several (ZYX, universal, composite) are given as chains of these, with
            massless bodies between them. The configurations, velocities and bodies are the same.
    """
    rng = np.random.default_rng(2)
    tree = pin.Model()
    tree.name = "all kinds"
    ids = {"": 0}
    for name, (carrier, parts) in _kinds().items():
        mass, *sides = rng.uniform(0.1, 0.5, size=4)
        place, parent = pin.exp6(pin.Motion(rng.normal(size=6))), ids[carrier]
        if split:
            for i, (joint, at) in enumerate(parts[:-1]):
                parent, place = tree.addJoint(parent, joint, place * at, f"{name}_{i}"), pin.SE3.Identity()
        joint, at = parts[-1] if split else (_as_one(name, parts), pin.SE3.Identity())
        ids[name] = _add(tree, parent, joint, place * at, name, _inertia(10 * mass, *sides))
    return tree


def _limited(make: Callable[[], pin.Model]) -> Callable[[], pin.Model]:
    """Set the limits from which random configurations are drawn."""

    def made() -> pin.Model:
        tree = make()
        tree.lowerPositionLimit, tree.upperPositionLimit = -np.ones(tree.nq), np.ones(tree.nq)
        return tree

    return made


TREES = {"panda": _limited(panda), "solo12": _limited(solo12), "kinds": _limited(all_kinds)}
