"""Every bad robot: which exception, and what its message names. Bad files are in loaders/test_bad_input.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import trees
from support.messages import raises

import pin_clusters as pc
from pin_clusters import Belt, Gear, LinearCoupling, Rotor
from pin_clusters.errors import (
    ArgumentTypeError,
    ConstraintError,
    InertiaError,
    LoadError,
    ModelError,
    PinClustersError,
    ShapeError,
    UnknownNameError,
    UnsupportedJointError,
)

pytestmark = pytest.mark.jitless
ARM = trees.geared_arm().tree()  # joints r0 j0 r1 j1 ..., bodies r0_link j0_link ...
FLYING = trees.geared_arm(floating=True).tree()
Z = (0.0, 0.0, 1.0)
IDENTITY = pin.SE3.Identity()


def arm(*constraints: Any, tree: pin.Model = ARM) -> pc.ClusterModel:
    return pc.ClusterModel(tree, constraints)


def rotor(joints: Any = "j0", ratios: Any = 6.0, **options: Any) -> pc.ClusterModel:
    if not {"axial_inertia", "inertia"} & set(options):
        options["axial_inertia"] = 1e-4
    return arm(Rotor(joints, ratios, **options))


def body(mass: float = 1.0, lever: tuple[float, ...] = (0.0, 0.0, 0.1), moments: Any = (1.0, 1.0, 2.0)) -> pin.Inertia:
    return pin.Inertia(mass, np.array(lever), np.diag(moments))


def single(joint: pin.JointModel | None = None, inertia: pin.Inertia | None = None, **changes: Any) -> pc.ClusterModel:
    """One joint named 'only', with one thing wrong in its tree."""
    tree = pin.Model()
    tree.addJoint(0, pin.JointModelRY() if joint is None else joint, changes.pop("placement", IDENTITY), "only")
    tree.inertias[1] = body() if inertia is None else inertia
    for name, value in changes.items():
        setattr(tree, name, value)
    return pc.ClusterModel(tree)


def two_of_a_name() -> pc.ClusterModel:
    tree = ARM.copy()
    tree.names[2] = "r0"
    return pc.ClusterModel(tree)


def mimic() -> pin.Model:
    tree = pin.Model()
    for name in ("first", "second"):
        j = tree.addJoint(0, pin.JointModelRZ(), IDENTITY, name)
        tree.appendBodyToJoint(j, body(), IDENTITY)
    return pin.transformJointIntoMimic(tree, 1, 2, 2.0, 0.1)


def fractional() -> pc.ClusterModel:
    tree = pin.Model()
    tree.addJoint(0, pin.JointModelRUBZ(), IDENTITY, "wheel")
    tree.addJoint(0, pin.JointModelRZ(), IDENTITY, "dial")
    return pc.ClusterModel(tree, [Gear("wheel", "dial", 0.5)])


MODELS: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    # names
    "joint": (lambda: arm(Gear("j9", "r0", 2.0)), UnknownNameError, "Gear('j9', 'r0') 'j9' j0"),
    "joint, nearly": (lambda: arm(Gear("j0", "r00", 2.0)), UnknownNameError, "'r00' 'r0'"),
    "body": (lambda: arm(Belt("j0_lnk", "r0", 2.0)), UnknownNameError, "'j0_lnk' 'j0_link'"),
    "coupled joint": (lambda: arm(LinearCoupling("r0", {"jj": 2.0})), UnknownNameError, "LinearCoupling 'jj'"),
    "rotor's joint": (lambda: rotor("jj0"), UnknownNameError, "Rotor('rotor:jj0') 'jj0' 'j0'"),
    "carrier": (lambda: rotor(carrier="trunk", axis=Z), UnknownNameError, "'trunk'"),
    "belt's dependent": (lambda: arm(Belt("j1", "r1", 2.0, dependent="x")), UnknownNameError, "Belt 'x'"),
    "name is a number": (lambda: Gear(3, "r0", 2.0), ConstraintError, "3"),
    "joints are a number": (lambda: rotor(3), ConstraintError, "joints 3"),
    "no joints": (lambda: rotor([], []), ConstraintError, "joints"),
    "rotor named 3": (lambda: rotor(name=3), ConstraintError, "'j0' name 3"),
    "two rotors of a name": (lambda: arm(*[Rotor("j0", 2.0, axial_inertia=1.0)] * 2), ConstraintError, "'rotor:j0'"),
    "two loops of a name": (
        lambda: arm(*[pc.Loop(at, "universe", "spherical", name="pin") for at in ("j0", "j1")]),
        ConstraintError,
        "Loop('pin') name",
    ),
    "two rods of a name": (
        lambda: arm(*[pc.Rod(at, "universe", length=1.0, name="tie") for at in ("j0", "j1")]),
        ConstraintError,
        "Rod('tie') name",
    ),
    "rotor named as a joint": (lambda: rotor(name="r0"), ConstraintError, "'r0' name"),
    "two joints of a name": (two_of_a_name, ModelError, "'r0'"),
    "robot": (lambda: pc.load("mini_chetah"), UnknownNameError, "'mini_chetah' 'mini_cheetah'"),
    "robot, far off": (lambda: pc.load("xyz"), UnknownNameError, "'xyz' mit_humanoid_leg"),
    "robot 3": (lambda: pc.load(3), ArgumentTypeError, "int mini_cheetah"),
    "robot's parameter": (lambda: pc.load("mini_cheetah", n=3), ArgumentTypeError, "'mini_cheetah' 'n'"),
    "robot's size": (lambda: pc.load("geared_chain", n=0), LoadError, "n 1 0"),
    # who follows whom
    "claimed twice": (
        lambda: arm(Gear("j0", "r0", 2.0), Gear("j1", "r0", 3.0)), ConstraintError,
        "'r0' Gear('j0', 'r0') Gear('j1', 'r0')",
    ),
    "claimed twice, by body": (
        lambda: arm(Gear("j0", "r0", 2.0), Gear("j0", "r0_link", 2.0)), ConstraintError, "'r0'",
    ),
    "offsets": (
        lambda: arm(Gear("j0", "r0", 2.0), Gear("j0", "r0", 2.0, 0.1)), ConstraintError,
        "'r0' offsets 0 0.1",
    ),
    "offsets of gear and belt": (
        lambda: arm(Gear("j0", "r0", 2.0, 0.3), Belt("j0", "r0", 2.0)), ConstraintError, "0.3 0",
    ),
    "circle of two": (lambda: arm(Gear("j0", "r0", 2.0), Gear("r0", "j0", 0.5)), ConstraintError, "'r0' 'j0'"),
    "circle of three": (
        lambda: arm(Gear("j0", "j1", 2.0), Gear("j1", "j2", 2.0), Gear("j2", "j0", 2.0)), ConstraintError,
        "'j0'",
    ),
    "itself": (lambda: Gear("j0", "j0", 2.0), ConstraintError, "'j0'"),
    "belt to itself": (lambda: Belt("j0", "j0", 2.0), ConstraintError, "'j0'"),
    "sum with itself": (lambda: LinearCoupling("j0", {"j0": 2.0}), ConstraintError, "'j0'"),
    "itself by body": (lambda: arm(Gear("j0", "j0_link", 2.0)), ConstraintError, "'j0'"),
    "belt to itself by body": (lambda: arm(Belt("j0", "j0_link", 2.0)), ConstraintError, "'j0'"),
    "sum with itself by body": (lambda: arm(LinearCoupling("j0", {"j0_link": 2.0})), ConstraintError, "'j0'"),
    "leads twice": (
        lambda: arm(LinearCoupling("j1", {"j0": 2.0, "j0_link": 1.0})), ConstraintError, "'j0'",
    ),
    "drives twice": (lambda: rotor(["j0", "j0_link"], [1.0, 2.0]), ConstraintError, "'j0'"),
    "leads nobody": (lambda: LinearCoupling("j0", {}), ConstraintError, "'knee' 6.0"),
    "list of leaders": (lambda: LinearCoupling("j0", ["j1"]), ConstraintError, "'j1'"),
    "belt along a path": (lambda: arm(Belt("j0", "j2", 2.0)), ConstraintError, "'j0'"),
    "belt's dependent elsewhere": (
        lambda: arm(Belt("j1", "r1", 2.0, dependent="j3")), ConstraintError, "'j3' 'j1' 'r1'",
    ),
    # joints that cannot
    "free flyer": (
        lambda: arm(Gear("base", "r0", 2.0), tree=FLYING), UnsupportedJointError, "'base' JointModelFreeFlyer",
    ),
    "free flyer drives": (
        lambda: arm(Rotor("base", 2.0, axial_inertia=1.0), tree=FLYING), UnsupportedJointError, "'base' 6",
    ),
    "universe": (lambda: arm(Gear("universe", "r0", 2.0)), ConstraintError, "'universe'"),
    "fraction of a continuous joint": (
        fractional, UnsupportedJointError, "'wheel' 0.5 ratio pc.Rotor",
    ),
    "mimic": (lambda: pc.ClusterModel(mimic()), UnsupportedJointError, "mimic pc.expand_mimic(model)"),
    # rotors
    "armature": (
        lambda: arm(Rotor("only", 6.0, axial_inertia=1e-4), tree=single(armature=np.array([0.2])).tree),
        ConstraintError, "'only' armature 0.2 'replace' 'keep'",
    ),
    "armature=both": (lambda: rotor(armature="both"), ConstraintError, "'keep' 'replace' 'both'"),
    "no inertia": (lambda: rotor(axial_inertia=None), InertiaError, "axial_inertia"),
    "both inertias": (lambda: rotor(axial_inertia=1.0, inertia=body()), InertiaError, ""),
    "inertia is a number": (lambda: rotor(inertia=3.0), InertiaError, "pinocchio.Inertia float axial_inertia"),
    "axial inertia negative": (lambda: rotor(axial_inertia=-1.0), InertiaError, "axial_inertia -1.0"),
    "axial inertia nan": (lambda: rotor(axial_inertia=np.nan), InertiaError, "axial_inertia nan"),
    "axial inertia text": (lambda: rotor(axial_inertia="1"), InertiaError, "'1' str"),
    "off balance": (
        lambda: rotor(inertia=body(lever=(0.1, 0.0, 0.0)), axis=Z), InertiaError, "1.00e-01",
    ),
    "not axisymmetric": (
        lambda: rotor(inertia=body(moments=(1.0, 1.5, 2.0)), axis=Z), InertiaError, "",
    ),
    "rotor's mass negative": (lambda: rotor(inertia=body(-1.0), axis=Z), InertiaError, "-1"),
    "rotor's mass nan": (lambda: rotor(inertia=body(np.nan), axis=Z), InertiaError, ""),
    "rotor's lever inf": (lambda: rotor(inertia=body(lever=(0.0, 0.0, np.inf)), axis=Z), InertiaError, ""),
    "placement is a list": (lambda: rotor(placement=[0.0]), ConstraintError, "pinocchio.SE3 list"),
    "placement nan": (
        lambda: rotor(placement=pin.SE3(np.eye(3), np.array([0.0, 0.0, np.nan]))), ConstraintError, "",
    ),
    "placement stretched": (
        lambda: rotor(placement=pin.SE3(2.0 * np.eye(3), np.zeros(3))), ConstraintError, "pin.SE3",
    ),
    "axis not given": (
        lambda: rotor("j1", carrier="j3"), ConstraintError, "'j1' 'j3'",
    ),
    # trees
    "mass negative": (lambda: single(inertia=body(-1.0)), InertiaError, "'only' -1"),
    "mass nan": (lambda: single(inertia=body(np.nan)), InertiaError, "'only'"),
    "axis too long": (
        lambda: single(pin.JointModelRevoluteUnaligned(np.array([0.0, 3.0, 4.0]))), ModelError, "'only' 5",
    ),
    "axis zero": (lambda: single(pin.JointModelPrismaticUnaligned(np.zeros(3))), ModelError, "'only' 0"),
    "screw's axis": (
        lambda: single(pin.JointModelHelicalUnaligned(np.array([0.0, 0.0, 2.0]), 0.1)), ModelError, "'only' 2",
    ),
    "second axis": (
        lambda: single(pin.JointModelUniversal(np.array([1.0, 0.0, 0.0]), np.array([0.0, 2.0, 0.0]))), ModelError,
        "'only' 2",
    ),
    "joint's placement": (
        lambda: single(placement=pin.SE3(np.diag([1.0, 1.0, -1.0]), np.zeros(3))), ModelError, "'only'",
    ),
    "joint's placement nan": (
        lambda: single(placement=pin.SE3(np.eye(3), np.full(3, np.nan))), ModelError, "'only'",
    ),
    "armature nan": (lambda: single(armature=np.array([np.nan])), InertiaError, "armature 'only' nan"),
    "gravity nan": (lambda: single(gravity=pin.Motion(np.full(3, np.nan), np.zeros(3))), ModelError, ""),
    "gravity turns": (lambda: single(gravity=pin.Motion(np.zeros(3), np.ones(3))), ModelError, "1"),
    # arguments of the model
    "tree is a path": (lambda: pc.ClusterModel("robot.urdf"), ArgumentTypeError, "pinocchio.Model str"),
    "tree is a cluster model": (lambda: pc.ClusterModel(single()), ArgumentTypeError, "ClusterModel"),
    "one constraint": (lambda: pc.ClusterModel(ARM, Gear("j0", "r0", 2.0)), ArgumentTypeError, "Gear"),
    "constraints None": (lambda: pc.ClusterModel(ARM, None), ArgumentTypeError, "NoneType"),
    "constraint text": (lambda: arm("j0"), ConstraintError, "constraints[0] str pc.Rotor pc.Gear"),
    "constraint class": (lambda: arm(Gear), ConstraintError, "constraints[0] pc.Gear"),
    "list in a list": (lambda: arm([Gear("j0", "r0", 2.0)]), ConstraintError, "constraints[0]"),
    "gravity of two": (lambda: single().with_gravity([0.0, -9.81]), ShapeError, "2 3"),
    "gravity a number": (lambda: single().with_gravity(9.81), ShapeError, "1 3"),
    "gravity text": (lambda: single().with_gravity("down"), ArgumentTypeError, "with_gravity"),
    "gravity inf": (lambda: single().with_gravity([0.0, 0.0, np.inf]), ModelError, ""),
    "expand_mimic": (lambda: pc.expand_mimic(single()), ArgumentTypeError, "ClusterModel"),
}  # fmt: skip


@pytest.mark.parametrize("case", MODELS)
def test_bad_model(case: str) -> None:
    make, error, message = MODELS[case]
    with raises(error, message) as caught:
        make()
    assert isinstance(caught.value, PinClustersError)


RATIOS: dict[str, Callable[[Any], object]] = {
    "Gear": lambda r: Gear("j0", "r0", r),
    "Belt": lambda r: Belt("j0", "r0", r),
    "LinearCoupling": lambda r: LinearCoupling("r0", {"j0": r}),
    "Rotor": lambda r: Rotor("j0", r, axial_inertia=1e-4),
    "Rotor of two": lambda r: Rotor(["j0", "j1"], [1.0, r], axial_inertia=1e-4),
}
NO_RATIOS = {
    0: "0", np.nan: "nan", np.inf: "inf",
    "6": "'6' str", None: "None",
    True: "True", 6j: "6j",
}  # fmt: skip


@pytest.mark.parametrize("ratio", NO_RATIOS)
@pytest.mark.parametrize("kind", RATIOS)
def test_bad_ratio(kind: str, ratio: Any) -> None:
    with raises(ConstraintError, NO_RATIOS[ratio]) as caught:
        RATIOS[kind](ratio)
    assert kind.split()[0] in str(caught.value)


@pytest.mark.parametrize("offset", [np.nan, -np.inf, "1", None, [0.0]])
def test_bad_offset(offset: Any) -> None:
    for make in (Gear, Belt):
        with raises(ConstraintError, "offset"):
            make("j0", "r0", 2.0, offset)
    with raises(ConstraintError, "offset"):
        LinearCoupling("r0", {"j0": 2.0}, offset)


def test_missing_ratio() -> None:
    for make in (lambda: Gear("j0", "r0"), lambda: Belt("j0", "r0"), lambda: Rotor("j0", axial_inertia=1.0)):
        with raises(ConstraintError, "ratio None"):
            make()
    with raises(ConstraintError, "2 ratios 1"):
        rotor(["j0", "j1"], 2.0)


@pytest.mark.parametrize("axis", [(0.0, 0.0, 0.0), (0.0, 1.0), "z", (0.0, 1.0, np.nan), (0.0, 1j, 0.0), 1.0, np.eye(3)])
def test_bad_axis_of_a_rotor(axis: Any) -> None:
    with raises(ConstraintError, "axis"):
        rotor(axis=axis)


def test_axis_of_a_rotor_has_any_length() -> None:
    """A direction is what is meant, also where its square overflows."""
    for length in (1e-200, 1e-3, 2.0, 1e200):
        assert np.allclose(rotor(axis=(0.0, length, length)).rotors[0].axis, np.sqrt([0.0, 0.5, 0.5]))


def test_only_the_circle_is_named() -> None:
    with raises(ConstraintError) as caught:
        arm(Gear("j1", "r1", 2.0), Gear("j0", "j1", 2.0), Gear("j1", "j0", 2.0), Gear("r1", "r2", 2.0))
    assert "'j0'" in str(caught.value)
    assert "r1" not in str(caught.value)


def test_constraints_can_come_from_a_generator() -> None:
    model = pc.ClusterModel(ARM, (Gear(f"j{i}", f"r{i}", 2.0) for i in range(3)))
    assert len(model.constraints) == 3
    assert model.dependent_joints == ("r0", "r1", "r2")
    assert sum(len(c.constraints) for c in model.clusters) == 3
