"""The lines for MuJoCo and Pinocchio do what the page says: MuJoCo's own mass matrix is the block approximation's."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
from samples import trees
from support import mjcf

import pin_clusters as pc
from pin_clusters import approximations
from pin_clusters.files import readers as loaders
from pin_clusters.studies.audit import snippets
from pin_clusters.studies.audit.reflected import Reflected, reflect
from pin_clusters.verification.baselines import armature_model

mujoco = pytest.importorskip("mujoco", minversion=snippets.MUJOCO_INVERSE)

# numbers of the lines have twelve digits
DIGITS = 1e-11


def load(name: str, root: Any = "default") -> pc.ClusterModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return loaders.load(name, root_joint=root)


def random_rotors(seed: int, floating: bool) -> pc.ClusterModel:
    """A tree of hinges and slides with rotors that one, two or three joints of one path turn, carried anywhere."""
    rng = np.random.default_rng(seed)
    tree = trees.random_tree(rng, 7, floating=floating, kinds=("revolute", "PY", "continuous", "RZ"), chain=0.6).tree()
    tree.name = "random"
    armature = np.array(tree.armature)
    single = [j for j in range(1, tree.njoints) if tree.joints[j].nv == 1]
    armature[tree.joints[single[0]].idx_v] = 0.02  # some of the tree's own
    tree.armature = armature
    rotors = []
    for n in range(6):
        end = int(rng.choice(single))
        path = [j for j in tree.supports[end] if j in single]
        some = [int(j) for j in rng.permutation(path)[: int(rng.integers(1, 4))]]
        carrier = str(rng.choice([tree.names[j] for j in single if j != end]))
        rotors.append(
            pc.Rotor(
                [tree.names[j] for j in some], list(rng.uniform(-9.0, 9.0, size=len(some))),
                axial_inertia=float(rng.uniform(1e-4, 1e-3)), axis=trees.unit(rng), carrier=carrier,
                armature="keep", name=f"rotor {n} of 'six' & more",
            )
        )  # fmt: skip
    return pc.ClusterModel(tree, rotors)


def staged(second: float = 2.0) -> pc.ClusterModel:
    """Two motors of two stages each on two joints: the rotors of one turn together."""
    tree = trees.random_tree(np.random.default_rng(4), 4, kinds=("RY", "RX"), chain=1.0).tree()
    tree.name = "staged"
    joints = [tree.names[1], tree.names[2]]
    rotors = [
        pc.Rotor(
            joints, [n, sign * n], axial_inertia=scale * J, axis=[0, 1, 0], armature="keep", name=f"{sign:+g} x {n:g}"
        )
        for scale, sign in ((1.0, 1.0), (second, -1.0))
        for J, n in ((1e-4, 20.0), (3e-4, 5.0))
    ]
    return pc.ClusterModel(tree, rotors)


CASES = {
    "staged": staged,
    "mit_humanoid_leg": lambda: load("mit_humanoid_leg", None),
    "mit_humanoid, floating": lambda: load("mit_humanoid"),
    "teleop_arm": lambda: load("teleop_arm"),
    "jvrc1_as_published": lambda: load("jvrc1_as_published"),
    "random": lambda: random_rotors(1, False),
    "random, floating": lambda: random_rotors(2, True),
}


@pytest.fixture(scope="module", params=CASES)
def model(request: pytest.FixtureRequest) -> pc.ClusterModel:
    return CASES[request.param]()


def reflected(model: pc.ClusterModel) -> Reflected:
    return reflect(model, np.atleast_2d(pc.neutral(model)))


def check(model: pc.ClusterModel, compiled: Any, level: str = "block") -> None:
    """The mass matrix and the torques of MuJoCo are those of the approximation."""
    rng = np.random.default_rng(0)
    other, block = mjcf.Mujoco(mujoco, model, compiled), approximations.of(model)[level]
    for _ in range(3):
        q = pc.integrate(model, pc.neutral(model), 0.7 * rng.normal(size=model.nv))
        v, a = rng.normal(size=(2, model.nv))
        M, tau = block.crba(q), block.rnea(q, v, a)
        assert np.abs(other.mass_matrix(q) - M).max() < DIGITS * np.abs(M).max()
        assert np.abs(other.torque(q, v, a) - tau).max() < 10 * DIGITS * np.abs(tau).max()


def fragment(xml: str) -> tuple[dict[str, str], str]:
    """The lines for MJCF as a reader takes them: attributes of joints, and the rest as it stands."""
    root = ElementTree.fromstring(f"<mujoco>{xml}</mujoco>")
    attributes = {e.attrib["name"]: f'armature="{e.attrib["armature"]}"' for e in root.findall("joint")}
    rest = "".join(ElementTree.tostring(e, encoding="unicode") for e in root if e.tag != "joint")
    return attributes, rest


def test_the_lines_for_mjcf_make_the_block_approximation(model: pc.ClusterModel) -> None:
    tree = armature_model(model, "none")
    attributes, tendons = fragment(snippets.mujoco_xml(reflected(model)))
    assert set(attributes) <= set(tree.names)
    check(model, mujoco.MjModel.from_xml_string(mjcf.write(tree, attributes, tendons)))


def test_the_script_for_mjspec_welds_rotors_and_makes_the_same(
    model: pc.ClusterModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if model.name == "jvrc1_as_published":
        pytest.skip("MuJoCo takes no body whose moments of inertia are those of no rigid body")
    # the whole tree with its rotors as bodies; what Rotor constraints add to their carriers is in inertia_tree
    tree = model.inertia_tree.copy()
    (tmp_path / f"{model.name}.xml").write_text(mjcf.write(tree))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(snippets.mujoco_python(model.name, reflected(model)), names)
    check(model, names["model"])


def test_the_lines_in_the_docs_are_those_of_the_robot() -> None:
    docs = (Path(__file__).parents[2] / "docs" / "audit.md").read_text(encoding="utf-8")
    example = re.search(r"```xml\n<tendon>\n(.*?)</tendon>", docs, re.S)
    assert example is not None
    assert example[1] in snippets.mujoco_xml(reflected(load("mit_humanoid")))
    assert f"MuJoCo {snippets.MUJOCO} or later" in docs
    assert f"MuJoCo {snippets.MUJOCO_INVERSE} or later" in docs


def test_rotors_that_turn_together_share_a_tendon() -> None:
    found = snippets.tendons(reflected(staged()))
    assert len(found) == 2
    assert [d.inertia for d in found] == pytest.approx([1e-4 + 3e-4 / 16.0, 2e-4 + 6e-4 / 16.0], rel=1e-14)


def test_equal_motors_for_sum_and_difference_are_twice_the_armature() -> None:
    model = staged(1.0)
    found = reflected(model)
    assert snippets.tendons(found) == ()
    assert len(snippets.cancelling(found)) == 4
    own, (first, second) = found.own, found.joints
    twice = 2.0 * (1e-4 * 20.0**2 + 3e-4 * 5.0**2)
    armature = snippets.joint_armature(found)
    assert [armature[n] - own.get(n, 0.0) for n in (first, second)] == pytest.approx([twice] * 2, rel=1e-12)
    attributes, rest = fragment(snippets.mujoco_xml(found))
    assert rest == ""
    check(model, mujoco.MjModel.from_xml_string(mjcf.write(armature_model(model, "none"), attributes)))


def test_a_wrong_sign_of_a_ratio_is_seen(tmp_path: Path) -> None:
    model = CASES["mit_humanoid_leg"]()
    attributes, tendons = fragment(snippets.mujoco_xml(reflected(model)))
    broken = tendons.replace('joint="knee" coef="12"', 'joint="knee" coef="-12"')
    assert broken != tendons
    with pytest.raises(AssertionError):
        check(
            model, mujoco.MjModel.from_xml_string(mjcf.write(armature_model(model, "none"), attributes, broken))
        )  # fmt: skip


def test_without_shared_rotors_there_are_no_tendons() -> None:
    model = load("jvrc1")
    text = snippets.mujoco_xml(reflected(model))
    assert "tendon" not in text
    assert text.count("<joint ") == len(model.rotors)
    attributes, rest = fragment(text)
    assert rest == ""
    compiled = mujoco.MjModel.from_xml_string(mjcf.write(armature_model(model, "none"), attributes))
    check(model, compiled, "diagonal")


def test_joints_on_different_branches_are_told_and_lose_what_is_off_the_diagonal() -> None:
    tree = pin.Model()
    tree.name = "two arms"
    for name in ("left", "right"):
        j = tree.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), name)
        tree.appendBodyToJoint(j, pin.Inertia(1.0, np.array([0.1, 0.0, -0.3]), 0.02 * np.eye(3)), pin.SE3.Identity())
    rotor = pc.Rotor(["left", "right"], [5.0, -5.0], axial_inertia=1e-3, axis=[0, 1, 0])
    model = pc.ClusterModel(tree, [rotor])
    found = reflected(model)
    assert [d.apart for d in found.drives] == [True]
    attributes, tendons = fragment(snippets.mujoco_xml(found))
    compiled = mujoco.MjModel.from_xml_string(mjcf.write(armature_model(model, "none"), attributes, tendons))
    M = mjcf.Mujoco(mujoco, model, compiled).mass_matrix(pc.neutral(model))
    block, diagonal = (approximations.of(model)[level].crba(pc.neutral(model)) for level in ("block", "diagonal"))
    assert block[0, 1] == pytest.approx(-0.025)
    # if this fails, MuJoCo has learnt it, and the page and the docs can say so
    assert np.allclose(M, diagonal, rtol=1e-12, atol=0.0)


def urdf(name: str) -> str:
    return loaders.library.folders()[name].joinpath("model.urdf").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["mit_humanoid", "mit_humanoid_leg", "teleop_arm"])
def test_the_script_for_pinocchio(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(name)
    (tmp_path / f"{name}.urdf").write_text(urdf(name))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(snippets.pinocchio(name, model, reflected(model)), names)
    found, levels = names["model"], approximations.of(model)
    rng = np.random.default_rng(0)
    q = pc.integrate(model, pc.neutral(model), 0.5 * rng.normal(size=model.nv))
    from pin_clusters.approximations.armature import independent_q, independent_v

    at_q, at_v = independent_q(model, found), independent_v(model, found)
    M = pin.crba(found, found.createData(), q[at_q])
    M = np.triu(M) + np.triu(M, 1).T
    diagonal, block = levels["diagonal"].crba(q), levels["block"].crba(q)
    cut = np.ix_(at_v, at_v)
    assert np.abs(M[cut] - diagonal).max() < DIGITS * np.abs(M).max()
    if "B" in names:
        assert np.abs((M + names["B"])[cut] - block).max() < DIGITS * np.abs(M).max()
    else:
        assert np.array_equal(diagonal, block)


def test_closed_loops_get_armature_on_the_joints_that_drive() -> None:
    model = load("tello")
    found = reflected(model)
    armature = approximations.of(model)["armature"].armature  # type: ignore[attr-defined]
    for name, value in found.armature.items():
        assert value == pytest.approx(armature[model.tree.joints[model.tree.getJointId(name)].idx_v], rel=1e-12)
    assert found.low is not None
    assert found.high is not None
    assert np.all(np.diag(found.low) <= np.diag(found.high))
