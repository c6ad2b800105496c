"""Every bad robot: which exception, and what its message names. Bad files are in loaders/test_bad_input.py."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import trees

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
    "joint": (lambda: arm(Gear("j9", "r0", 2.0)), UnknownNameError, r"Gear\('j9', 'r0'\): no joint or body 'j9'.*j0"),
    "joint, nearly": (lambda: arm(Gear("j0", "r00", 2.0)), UnknownNameError, "'r00'.*Did you mean 'r0'"),
    "body": (lambda: arm(Belt("j0_lnk", "r0", 2.0)), UnknownNameError, "'j0_lnk'.*Did you mean 'j0_link'"),
    "coupled joint": (lambda: arm(LinearCoupling("r0", {"jj": 2.0})), UnknownNameError, "LinearCoupling.*'jj'"),
    "rotor's joint": (lambda: rotor("jj0"), UnknownNameError, r"Rotor\('rotor:jj0'\).*'jj0'.*Did you mean 'j0'"),
    "carrier": (lambda: rotor(carrier="trunk", axis=Z), UnknownNameError, "Rotor.*no joint or body 'trunk'"),
    "belt's dependent": (lambda: arm(Belt("j1", "r1", 2.0, dependent="x")), UnknownNameError, "Belt.*'x'"),
    "name is a number": (lambda: Gear(3, "r0", 2.0), ConstraintError, "link must be the name.*got 3"),
    "joints are a number": (lambda: rotor(3), ConstraintError, "joints must be.*got 3"),
    "no joints": (lambda: rotor([], []), ConstraintError, r"joints must be.*got \[\]"),
    "rotor named 3": (lambda: rotor(name=3), ConstraintError, "'j0': name must be text, got 3"),
    "two rotors of a name": (lambda: arm(*[Rotor("j0", 2.0, axial_inertia=1.0)] * 2), ConstraintError, "Two rotors"),
    "two loops of a name": (
        lambda: arm(*[pc.Loop(at, "universe", "spherical", name="pin") for at in ("j0", "j1")]),
        ConstraintError,
        r"two of Loop\('pin'\).*name=",
    ),
    "two rods of a name": (
        lambda: arm(*[pc.Rod(at, "universe", length=1.0, name="tie") for at in ("j0", "j1")]),
        ConstraintError,
        r"two of Rod\('tie'\).*name=",
    ),
    "rotor named as a joint": (lambda: rotor(name="r0"), ConstraintError, "named 'r0', as is a joint.*name="),
    "two joints of a name": (two_of_a_name, ModelError, "Two joints.*'r0'"),
    "robot": (lambda: pc.load("mini_chetah"), UnknownNameError, "'mini_chetah'.*Did you mean 'mini_cheetah'"),
    "robot, far off": (lambda: pc.load("xyz"), UnknownNameError, "'xyz'.*Known names:.*mit_humanoid_leg"),
    "robot 3": (lambda: pc.load(3), ArgumentTypeError, "text, got int.*mini_cheetah"),
    "robot's parameter": (lambda: pc.load("mini_cheetah", n=3), ArgumentTypeError, "'mini_cheetah'.*'n'.*none"),
    "robot's size": (lambda: pc.load("geared_chain", n=0), LoadError, "n must be a whole number.*at least 1.*0"),
    # who follows whom
    "claimed twice": (
        lambda: arm(Gear("j0", "r0", 2.0), Gear("j1", "r0", 3.0)), ConstraintError,
        r"'r0' is claimed as dependent twice.*Gear\('j0', 'r0'\).*Gear\('j1', 'r0'\).*Drop one",
    ),
    "claimed twice, by body": (
        lambda: arm(Gear("j0", "r0", 2.0), Gear("j0", "r0_link", 2.0)), ConstraintError, "'r0'.*dependent twice",
    ),
    "offsets": (
        lambda: arm(Gear("j0", "r0", 2.0), Gear("j0", "r0", 2.0, 0.1)), ConstraintError,
        "'r0'.*contradictory offsets 0 and 0.1",
    ),
    "offsets of gear and belt": (
        lambda: arm(Gear("j0", "r0", 2.0, 0.3), Belt("j0", "r0", 2.0)), ConstraintError, "contradictory.*0.3 and 0",
    ),
    "circle of two": (lambda: arm(Gear("j0", "r0", 2.0), Gear("r0", "j0", 0.5)), ConstraintError, "cycle.*'r0', 'j0'"),
    "circle of three": (
        lambda: arm(Gear("j0", "j1", 2.0), Gear("j1", "j2", 2.0), Gear("j2", "j0", 2.0)), ConstraintError,
        "cycle: each of the joints .*'j0'.* Leave one joint independent",
    ),
    "itself": (lambda: Gear("j0", "j0", 2.0), ConstraintError, "'j0' is coupled to itself"),
    "belt to itself": (lambda: Belt("j0", "j0", 2.0), ConstraintError, "'j0' is coupled to itself"),
    "sum with itself": (lambda: LinearCoupling("j0", {"j0": 2.0}), ConstraintError, "'j0' is coupled to itself"),
    "itself by body": (lambda: arm(Gear("j0", "j0_link", 2.0)), ConstraintError, "'j0' is coupled to itself"),
    "belt to itself by body": (lambda: arm(Belt("j0", "j0_link", 2.0)), ConstraintError, "'j0'.*coupled to itself"),
    "sum with itself by body": (lambda: arm(LinearCoupling("j0", {"j0_link": 2.0})), ConstraintError, "itself"),
    "leads twice": (
        lambda: arm(LinearCoupling("j1", {"j0": 2.0, "j0_link": 1.0})), ConstraintError, "'j0' is named twice.*Add up",
    ),
    "drives twice": (lambda: rotor(["j0", "j0_link"], [1.0, 2.0]), ConstraintError, "'j0' is named twice.*Add up"),
    "leads nobody": (lambda: LinearCoupling("j0", {}), ConstraintError, r"must map.*\{'knee': 6.0\}.*got \{\}"),
    "list of leaders": (lambda: LinearCoupling("j0", ["j1"]), ConstraintError, r"must map.*got \['j1'\]"),
    "belt along a path": (lambda: arm(Belt("j0", "j2", 2.0)), ConstraintError, "'j0' carries.*LinearCoupling"),
    "belt's dependent elsewhere": (
        lambda: arm(Belt("j1", "r1", 2.0, dependent="j3")), ConstraintError, "'j3' is not between.*'j1', 'r1'",
    ),
    # joints that cannot
    "free flyer": (
        lambda: arm(Gear("base", "r0", 2.0), tree=FLYING), UnsupportedJointError, "'base' is a JointModelFreeFl",
    ),
    "free flyer drives": (
        lambda: arm(Rotor("base", 2.0, axial_inertia=1.0), tree=FLYING), UnsupportedJointError, "'base'.*6 degrees",
    ),
    "universe": (lambda: arm(Gear("universe", "r0", 2.0)), ConstraintError, "'universe' does not move"),
    "fraction of a continuous joint": (
        fractional, UnsupportedJointError, "'wheel' is continuous.*0.5 times.*revolute.*whole ratio.*pc.Rotor",
    ),
    "mimic": (lambda: pc.ClusterModel(mimic()), UnsupportedJointError, r"mimic joint.*pc.expand_mimic\(model\)"),
    # rotors
    "armature": (
        lambda: arm(Rotor("only", 6.0, axial_inertia=1e-4), tree=single(armature=np.array([0.2])).tree),
        ConstraintError, "'only' has armature 0.2.*'replace'.*'keep'",
    ),
    "armature=both": (lambda: rotor(armature="both"), ConstraintError, "'keep' or 'replace', got 'both'"),
    "no inertia": (lambda: rotor(axial_inertia=None), InertiaError, "either axial_inertia .* or inertia .*got neither"),
    "both inertias": (lambda: rotor(axial_inertia=1.0, inertia=body()), InertiaError, "got both"),
    "inertia is a number": (lambda: rotor(inertia=3.0), InertiaError, "pinocchio.Inertia.*got float.*axial_inertia"),
    "axial inertia negative": (lambda: rotor(axial_inertia=-1.0), InertiaError, "must not be negative, got -1.*kg m"),
    "axial inertia nan": (lambda: rotor(axial_inertia=np.nan), InertiaError, "axial_inertia must be finite, got nan"),
    "axial inertia text": (lambda: rotor(axial_inertia="1"), InertiaError, r"must be a number, got '1' \(str\)"),
    "off balance": (
        lambda: rotor(inertia=body(lever=(0.1, 0.0, 0.0)), axis=Z), InertiaError, "1.00e-01 m off.*as a body",
    ),
    "not axisymmetric": (
        lambda: rotor(inertia=body(moments=(1.0, 1.5, 2.0)), axis=Z), InertiaError, "not symmetric.*as a body",
    ),
    "rotor's mass negative": (lambda: rotor(inertia=body(-1.0), axis=Z), InertiaError, "mass is -1 kg.*negative"),
    "rotor's mass nan": (lambda: rotor(inertia=body(np.nan), axis=Z), InertiaError, "not finite"),
    "rotor's lever inf": (lambda: rotor(inertia=body(lever=(0.0, 0.0, np.inf)), axis=Z), InertiaError, "not finite"),
    "placement is a list": (lambda: rotor(placement=[0.0]), ConstraintError, "pinocchio.SE3.*got list"),
    "placement nan": (
        lambda: rotor(placement=pin.SE3(np.eye(3), np.array([0.0, 0.0, np.nan]))), ConstraintError, "is not finite",
    ),
    "placement stretched": (
        lambda: rotor(placement=pin.SE3(2.0 * np.eye(3), np.zeros(3))), ConstraintError, "a rotation.*normalize",
    ),
    "axis not given": (
        lambda: rotor("j1", carrier="j3"), ConstraintError, "'j1' is not fixed in the carrier 'j3'.*axis=",
    ),
    # trees
    "mass negative": (lambda: single(inertia=body(-1.0)), InertiaError, "'only' has mass -1"),
    "mass nan": (lambda: single(inertia=body(np.nan)), InertiaError, "'only'.*not finite"),
    "axis too long": (
        lambda: single(pin.JointModelRevoluteUnaligned(np.array([0.0, 3.0, 4.0]))), ModelError, "'only'.*length 5",
    ),
    "axis zero": (lambda: single(pin.JointModelPrismaticUnaligned(np.zeros(3))), ModelError, "'only'.*length 0.*unit"),
    "screw's axis": (
        lambda: single(pin.JointModelHelicalUnaligned(np.array([0.0, 0.0, 2.0]), 0.1)), ModelError, "'only'.*length 2",
    ),
    "second axis": (
        lambda: single(pin.JointModelUniversal(np.array([1.0, 0.0, 0.0]), np.array([0.0, 2.0, 0.0]))), ModelError,
        "'only'.*length 2",
    ),
    "joint's placement": (
        lambda: single(placement=pin.SE3(np.diag([1.0, 1.0, -1.0]), np.zeros(3))), ModelError, "'only'.*a rotation",
    ),
    "joint's placement nan": (
        lambda: single(placement=pin.SE3(np.eye(3), np.full(3, np.nan))), ModelError, "'only' is not finite",
    ),
    "armature nan": (lambda: single(armature=np.array([np.nan])), InertiaError, "armature of joint 'only' is nan"),
    "gravity nan": (lambda: single(gravity=pin.Motion(np.full(3, np.nan), np.zeros(3))), ModelError, "Gravity.*finite"),
    "gravity turns": (lambda: single(gravity=pin.Motion(np.zeros(3), np.ones(3))), ModelError, "angular part"),
    # arguments of the model
    "tree is a path": (lambda: pc.ClusterModel("robot.urdf"), ArgumentTypeError, "pinocchio.Model, got str"),
    "tree is a cluster model": (lambda: pc.ClusterModel(single()), ArgumentTypeError, "ClusterModel. Use it as"),
    "one constraint": (lambda: pc.ClusterModel(ARM, Gear("j0", "r0", 2.0)), ArgumentTypeError, r"list.*got Gear"),
    "constraints None": (lambda: pc.ClusterModel(ARM, None), ArgumentTypeError, "list of constraints.*got NoneType"),
    "constraint text": (lambda: arm("j0"), ConstraintError, r"constraints\[0\] is a str.*pc.Rotor, pc.Gear"),
    "constraint class": (lambda: arm(Gear), ConstraintError, r"constraints\[0\] is the class Gear.*pc.Gear\("),
    "list in a list": (lambda: arm([Gear("j0", "r0", 2.0)]), ConstraintError, r"constraints\[0\] is a list"),
    "gravity of two": (lambda: single().with_gravity([0.0, -9.81]), ShapeError, "size 2, expected 3"),
    "gravity a number": (lambda: single().with_gravity(9.81), ShapeError, "size 1, expected 3"),
    "gravity text": (lambda: single().with_gravity("down"), ArgumentTypeError, "g must hold real numbers"),
    "gravity inf": (lambda: single().with_gravity([0.0, 0.0, np.inf]), ModelError, "Gravity.*finite"),
    "expand_mimic": (lambda: pc.expand_mimic(single()), ArgumentTypeError, "ClusterModel"),
}  # fmt: skip


@pytest.mark.parametrize("case", MODELS)
def test_bad_model(case: str) -> None:
    make, error, message = MODELS[case]
    with pytest.raises(error, match=re.compile(message, re.DOTALL)) as caught:
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
    0: "is 0, which would tie", np.nan: "finite, got nan", np.inf: "finite, got inf",
    "6": r"number, got '6' \(str", None: "number, got None",
    True: r"number, got True \(bool", 6j: r"number, got 6j \(complex",
}  # fmt: skip


@pytest.mark.parametrize("ratio", NO_RATIOS)
@pytest.mark.parametrize("kind", RATIOS)
def test_bad_ratio(kind: str, ratio: Any) -> None:
    with pytest.raises(ConstraintError, match=NO_RATIOS[ratio]) as caught:
        RATIOS[kind](ratio)
    assert kind.split()[0] in str(caught.value)


@pytest.mark.parametrize("offset", [np.nan, -np.inf, "1", None, [0.0]])
def test_bad_offset(offset: Any) -> None:
    for make in (Gear, Belt):
        with pytest.raises(ConstraintError, match="offset must be"):
            make("j0", "r0", 2.0, offset)
    with pytest.raises(ConstraintError, match="offset must be"):
        LinearCoupling("r0", {"j0": 2.0}, offset)


def test_missing_ratio() -> None:
    for make in (lambda: Gear("j0", "r0"), lambda: Belt("j0", "r0"), lambda: Rotor("j0", axial_inertia=1.0)):
        with pytest.raises(ConstraintError, match=r"ratio.* must be a number, got None .*Give the turns"):
            make()
    with pytest.raises(ConstraintError, match="2 joints need as many ratios, got 1"):
        rotor(["j0", "j1"], 2.0)


@pytest.mark.parametrize("axis", [(0.0, 0.0, 0.0), (0.0, 1.0), "z", (0.0, 1.0, np.nan), (0.0, 1j, 0.0), 1.0, np.eye(3)])
def test_bad_axis_of_a_rotor(axis: Any) -> None:
    with pytest.raises(ConstraintError, match=r"Rotor.*axis must be three finite numbers, not all zero, got"):
        rotor(axis=axis)


def test_axis_of_a_rotor_has_any_length() -> None:
    """A direction is what is meant, also where its square overflows."""
    for length in (1e-200, 1e-3, 2.0, 1e200):
        assert np.allclose(rotor(axis=(0.0, length, length)).rotors[0].axis, np.sqrt([0.0, 0.5, 0.5]))


def test_only_the_circle_is_named() -> None:
    with pytest.raises(ConstraintError, match="cycle") as caught:
        arm(Gear("j1", "r1", 2.0), Gear("j0", "j1", 2.0), Gear("j1", "j0", 2.0), Gear("r1", "r2", 2.0))
    assert "'j0'" in str(caught.value)
    assert "r1" not in str(caught.value)


def test_constraints_can_come_from_a_generator() -> None:
    model = pc.ClusterModel(ARM, (Gear(f"j{i}", f"r{i}", 2.0) for i in range(3)))
    assert len(model.constraints) == 3
    assert model.dependent_joints == ("r0", "r1", "r2")
    assert sum(len(c.constraints) for c in model.clusters) == 3
