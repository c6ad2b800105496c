"""Rotor data in the wrong unit, or stated twice: an error where no mass matrix is left, else a warning."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from samples.stumbles import arm, rotor
from support.messages import raises, warns

import pin_clusters as pc
from pin_clusters.model import cluster_model, plausibility

pytestmark = pytest.mark.jitless
UNIT = "1e-7 kg m^2"


@pytest.mark.parametrize("floating", [False, True])
def test_motors_as_they_are_pass_without_a_warning(floating: bool) -> None:
    # a strain-wave drive of 160, an outrunner of 9, a servo of 350 on a hand of 60 g (a small one, and one as large as
    # the hand's inertia), a rotor given with its mass
    drone = pin.Inertia(0.055, np.zeros(3), np.diag([3.6e-5, 3.6e-5, 6.3e-5]))
    for constraints in (
        [rotor("shoulder", 160.0, 5e-5), rotor("elbow", 9.0, 1.7e-4), rotor("wrist", 350.0, 2e-8)],
        [rotor("wrist", 350.0, 1e-5), rotor("elbow", -1.0, 5e-5)],
        [pc.Rotor("elbow", 9.0, inertia=drone, axis=(0, 0, 1))],
    ):
        arm(*constraints, floating=floating)  # warnings are errors in this suite


GEARED = (
    "ankle_2rsu", "belt_chain", "cassie_leg", "geared_chain", "jvrc1", "mini_cheetah", "mit_humanoid",
    "mit_humanoid_leg", "teleop_arm", "tello", "tello_with_arms",
)  # fmt: skip
# whose files have links that no real body is
TOLD = ("jvrc1", "mini_cheetah")


@pytest.mark.parametrize("name", GEARED)
def test_shipped_robots_pass_without_a_word_about_rotors(name: str) -> None:
    if name not in TOLD:
        pc.load(name)
        return
    with warns(pc.PinClustersWarning) as told:
        pc.load(name)
    assert len(told) == 1


def test_a_rotor_in_g_cm2_that_leaves_no_mass_matrix_is_an_error() -> None:
    # 92 g cm^2, typed as it stands in the catalogue
    with raises(pc.InertiaError, f"'rotor:elbow' 92 'shoulder' {UNIT}"):
        arm(rotor("elbow", 9.0, 92.0))
    with raises(pc.InertiaError, "'rotor:shoulder' 'base' 0.107"):
        arm(rotor("shoulder", 9.0, 0.92), floating=True)


def test_the_refusal_is_that_of_the_mass_matrix() -> None:
    """Oracle: the mass matrix of the kernels of a rotor just below the limit, and, added to the link, of any."""
    link = arm().own_tree.inertias[1].inertia
    room = link[1, 1]  # of the shoulder's link, about the axis of the elbow
    model = arm(rotor("elbow", 9.0, 0.99 * room))
    for _ in range(20):
        M = pc.crba(model, model.createData(), pc.randomConfiguration(model))
        assert np.linalg.eigvalsh(M)[0] > 0.0
    whole = pin.Inertia(20.0, np.zeros(3), np.diag([1.0, 1.0, 2.0]))
    with warns(pc.PinClustersWarning, "'elbow' ratio"):
        model = arm(pc.Rotor("elbow", 9.0, inertia=whole, axis=(0, 0, 1)))
    assert np.linalg.eigvalsh(pc.crba(model, model.createData(), pc.neutral(model)))[0] > 0.0


@pytest.mark.parametrize("floating", [False, True])
def test_the_mass_matrix_that_is_looked_at(floating: bool) -> None:
    """Oracle: the mass matrix of the kernels, at poses all over, with rotors across axes, added and as links."""
    disc = pin.Inertia(0.055, np.zeros(3), np.diag([3.6e-3, 3.6e-3, 6.3e-3]))
    plain = arm(floating=floating).own_tree
    rotors = [
        rotor("wrist", 7.0, 2e-3, axis=(0.3, -0.5, 0.8)), rotor("elbow", -9.0, 3e-3, carrier="wrist", axis=(1, 2, 3)),
        pc.Rotor("shoulder", 6.0, inertia=disc, axis=(0, 0, 1), carrier="elbow"),
    ]  # fmt: skip
    model = _unchecked(plain, rotors)
    data = model.createData()
    for _ in range(5):
        q = pc.randomConfiguration(model)
        M = plausibility._mass_matrix(model.own_tree, model.rotors, model.tables.topology, q)
        assert np.allclose(M, pc.crba(model, data, q), rtol=1e-12, atol=1e-14)


def test_a_pose_that_is_not_the_reference_shows_it() -> None:
    """The rotor lies across the first axis at the reference, and along it where the second joint is at 90 degrees."""
    tree, j = pin.Model(), 0
    for name, joint in (("yaw", pin.JointModelRZ()), ("pitch", pin.JointModelRX()), ("tool", pin.JointModelRY())):
        j = tree.addJoint(j, joint, pin.SE3.Identity(), name)
        tree.appendBodyToJoint(j, pin.Inertia(1.0, np.zeros(3), 0.01 * np.eye(3)), pin.SE3.Identity())
    heavy = rotor("tool", 8.0, 1.0)
    at_reference = _unchecked(tree, [heavy])
    data, q = at_reference.createData(), pin.neutral(tree)
    assert np.linalg.eigvalsh(pc.crba(at_reference, data, q))[0] > 0.0
    q[1] = np.pi / 2
    assert np.linalg.eigvalsh(pc.crba(at_reference, data, q))[0] < 0.0
    with raises(pc.InertiaError, "'rotor:tool' 'pitch'"):
        pc.ClusterModel(tree, [heavy])


def _unchecked(tree: pin.Model, constraints: list[pc.Rotor]) -> pc.ClusterModel:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster_model, "check_rotors", lambda *_: None)
        return pc.ClusterModel(tree, constraints)


def test_two_rotors_that_their_link_holds_singly_only() -> None:
    room = arm().own_tree.inertias[1].inertia[1, 1]
    one, two = (rotor("elbow", r, 0.7 * room, name=n) for r, n in ((3.0, "one"), (5.0, "two")))
    arm(one)
    with warns(pc.PinClustersWarning, "'one' 'shoulder' 'two' 0.0105 0.015"):
        arm(one, two)


def test_a_link_that_is_too_light_but_leaves_a_mass_matrix() -> None:
    # such a motor is not in the link before the joint that it turns
    with warns(pc.PinClustersWarning, "'rotor:elbow' 'shoulder' 0.015 carrier"):
        model = arm(rotor("elbow", 7.0, 2e-2))
    M = pc.crba(model, model.createData(), pc.neutral(model))
    assert np.linalg.eigvalsh(M)[0] > 0.0


@pytest.mark.parametrize(
    ("ratio", "axial", "shown"),
    [
        (9.0, 9.2e-3, "1e+04"),  # 92 g cm^2, as if one were 1e-4 kg m^2
        (350.0, 2e-1, ""),
        (9.0, 9.2e-20, ""),  # converted too often
    ],
)
def test_a_slip_that_leaves_a_mass_matrix_is_a_warning(ratio: float, axial: float, shown: str) -> None:
    with warns(pc.PinClustersWarning, f"'rotor:wrist' {shown} 'wrist' {UNIT}"):
        arm(rotor("wrist", ratio, axial, carrier="universe", axis=(1, 0, 0)))


@pytest.mark.parametrize(("mass", "axial"), [(0.055, 6.3e-2), (0.055, 6.3e-12)])
def test_mass_and_inertia_that_no_rotor_has(mass: float, axial: float) -> None:
    inertia = pin.Inertia(mass, np.zeros(3), np.diag([axial / 2, axial / 2, axial]))
    with warns(pc.PinClustersWarning, f"'rotor:elbow' {mass} {UNIT}"):
        arm(pc.Rotor("elbow", 9.0, inertia=inertia, axis=(0, 0, 1)))


def test_rotors_that_are_links_of_the_tree() -> None:
    def geared(axial: float, mass: float = 0.055) -> pc.ClusterModel:
        tree = arm().own_tree.copy()
        j = tree.addJoint(1, pin.JointModelRY(), pin.SE3.Identity(), "motor")
        tree.appendBodyToJoint(
            j, pin.Inertia(mass, np.zeros(3), np.diag([axial / 2, axial, axial / 2])), pin.SE3.Identity()
        )
        return pc.ClusterModel(tree, [pc.Gear("elbow", "motor", 9.0)])

    geared(6.3e-5)
    # links without mass, as some files have them: nothing but what they turn tells of them
    with warns(pc.PinClustersWarning, "'motor' 'elbow' ratio"):
        geared(1.0, mass=0.0)
    with warns(pc.PinClustersWarning, f"'motor' 0.063 1.07 {UNIT}"):
        geared(6.3e-2)


def test_armature_and_a_rotor_for_the_same_motor() -> None:
    reflected = 100.0**2 * 1e-6
    with warns(pc.PinClustersWarning, "'wrist' armature 0.01 'replace'"):
        arm(rotor("wrist", 100.0, 1e-6, armature="keep"), armature=reflected)
    with warns(pc.PinClustersWarning, "'wrist' ratio armature"):
        arm(rotor("wrist", 100.0, 1e-6, armature="keep"), armature=0.9995 * reflected)
    arm(rotor("wrist", 100.0, 1e-6, armature="replace"), armature=reflected)
    arm(rotor("wrist", 100.0, 1e-6, armature="keep"), armature=0.9 * reflected)


def test_aba_blames_the_rotor_where_only_other_poses_show_it() -> None:
    plain = pc.load("four_bar")
    heavy = pc.Rotor("crank", 0.5, axial_inertia=0.5, carrier="coupler", axis=(0, 1, 0))
    with warns(pc.PinClustersWarning, "'rotor:crank' 'coupler'"):
        model = pc.ClusterModel(plain.own_tree, [*plain.constraints, heavy])  # other poses of loops are not known yet
    data, q = model.createData(), pc.neutral(model)
    assert pc.crba(model, data, q)[0, 0] > 0.0
    for _ in range(12):
        q = pc.integrate(model, q, [0.1])
    assert pc.crba(model, data, q)[0, 0] < 0.0
    with raises(pc.SingularClusterError, f"'crank' 'rotor:crank' 0.5 {UNIT}"):
        pc.aba(model, data, q, [0.0], [1.0])


@pytest.mark.parametrize("ratio", [1e300, -1e300, 1e9, 1e-9, 1e-300, -1e-300])
def test_ratios_that_no_transmission_has(ratio: float) -> None:
    for make in (
        lambda: rotor("elbow", ratio, 1e-5), lambda: pc.Gear("elbow", "wrist", ratio),
        lambda: pc.Belt("elbow", "wrist", ratio), lambda: pc.LinearCoupling("elbow", {"wrist": ratio}),
    ):  # fmt: skip
        with raises(pc.ConstraintError, "1e-08 1e+08"):
            make()
