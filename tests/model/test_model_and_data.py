"""Models cannot be changed, their attributes are Pinocchio's, and copies and pickles are as good as the original."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import trees
from support.calls import ALL, call, state
from support.messages import raises

import pin_clusters as pc
from pin_clusters.errors import ArgumentTypeError, DataMismatchError, ModelError, NotAvailableError, UnknownNameError

pytestmark = pytest.mark.jitless


def model_with_armature() -> pc.ClusterModel:
    robot = trees.geared_arm()
    for i, node in enumerate(robot.nodes):
        node.armature = 0.01 * (i + 1)
    return robot.build()


def test_attributes_of_the_tree() -> None:
    model = model_with_armature()
    tree = model.tree
    assert (model.njoints, model.nframes, model.nbodies) == (tree.njoints, tree.nframes, tree.nbodies)
    assert list(model.names) == list(tree.names)
    assert [f.name for f in model.frames] == [f.name for f in tree.frames]
    assert [j.idx_q for j in model.joints] == [j.idx_q for j in tree.joints]
    for name in ("parents", "nqs", "idx_qs"):
        assert list(getattr(model, name)) == list(getattr(tree, name))
    assert all(x == y for x, y in zip(model.inertias, tree.inertias, strict=True))
    assert all(x == y for x, y in zip(model.jointPlacements, tree.jointPlacements, strict=True))
    assert np.array_equal(model.lowerPositionLimit, tree.lowerPositionLimit)
    assert list(model.hasConfigurationLimit()) == list(tree.hasConfigurationLimit())


def test_attributes_of_size_nv_are_the_independent_joints_ones() -> None:
    model = model_with_armature()
    assert model.armature.shape == (model.nv,)
    for name in ("armature", "effortLimit", "velocityLimit", "friction", "damping"):
        for joint in model.independent_joints:
            i, at = model.joint_idx_v(joint), model.tree.joints[model.getJointId(joint)].idx_v
            assert getattr(model, name)[i] == getattr(model.tree, name)[at]
    for name in ("lowerEffortLimit", "upperEffortLimit", "lowerVelocityLimit", "upperVelocityLimit"):
        if hasattr(pin.Model, name):
            assert getattr(model, name).shape == (model.nv,)
        else:
            assert not hasattr(model, name)


def test_look_ups() -> None:
    model = pc.load("mit_humanoid_leg")
    tree = model.tree
    for j, name in enumerate(tree.names):
        assert model.getJointId(name) == j
        assert model.existJointName(name)
    for frame in tree.frames:
        assert model.getFrameId(frame.name, frame.type) == tree.getFrameId(frame.name, frame.type)
        assert model.existFrame(frame.name, frame.type)
    body = next(f.name for f in tree.frames if f.type == pin.FrameType.BODY)
    assert model.getBodyId(body) == tree.getBodyId(body)
    assert not model.existJointName("tail")
    assert not model.existBodyName("tail")
    assert not model.existFrame("tail")
    assert not model.existFrame(body, pin.FrameType.SENSOR)


UNKNOWN: dict[str, tuple[Callable[[pc.ClusterModel], Any], type[Exception], str]] = {
    "joint": (lambda m: m.getJointId("kne"), UnknownNameError, "'kne' 'mit_humanoid_leg' 'knee'"),
    "frame": (lambda m: m.getFrameId("kne"), UnknownNameError, "'kne' 'knee'"),
    "frame of a type": (
        lambda m: m.getFrameId("knee", pin.FrameType.SENSOR), UnknownNameError, "'knee' JOINT",
    ),
    "body": (lambda m: m.getBodyId("knee_lnk"), UnknownNameError, "'knee_lnk' 'knee_link'"),
    "index": (lambda m: m.joint_idx_v("kne"), UnknownNameError, "'kne'"),
    "index of a dependent joint": (
        lambda m: m.joint_idx_v("knee_rotor"), ModelError, "'knee_rotor' pc.spanning_velocity",
    ),
    "index of the universe": (lambda m: m.joint_idx_v("universe"), UnknownNameError, "'universe'"),
    "id of a number": (lambda m: m.getJointId(3), ArgumentTypeError, "3"),
    "frame None": (lambda m: m.existFrame(None), ArgumentTypeError, "None"),
    "idx_vs": (lambda m: m.idx_vs, NotAvailableError, "'idx_vs' model.joint_idx_v(name) model.tree.idx_vs"),
    "nvs": (lambda m: m.nvs, NotAvailableError, "'nvs' model.tree.nvs"),
    "rotorInertia": (lambda m: m.rotorInertia, NotAvailableError, "'rotorInertia' model.rotors"),
    "addJoint": (lambda m: m.addJoint, NotAvailableError, "'addJoint' ClusterModel"),
    "saveToText": (lambda m: m.saveToText, NotAvailableError, "pickle pc.to_urdf pc.to_mjcf"),
    "data.dFda": (lambda m: m.createData().dFda, NotAvailableError, "'dFda' model.inertia_tree d.dFda"),
    "nonsense": (lambda m: m.nonsense, AttributeError, "'ClusterModel' 'nonsense'"),
    "data.nonsense": (lambda m: m.createData().nonsense, AttributeError, "'ClusterData'"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNKNOWN)
def test_unknown_names_raise(case: str) -> None:
    look, error, message = UNKNOWN[case]
    with raises(error, message):
        look(pc.load("mit_humanoid_leg"))


def test_models_cannot_be_changed() -> None:
    model = model_with_armature()
    for name in ("nq", "tree", "armature", "name"):
        with raises(AttributeError, f"'{name}' ClusterModel"):
            setattr(model, name, 1)
    with raises(AttributeError, "'gravity' model.with_gravity(g)"):
        model.gravity = pin.Motion.Zero()
    with raises(AttributeError, "'nq'"):
        del model.nq
    for array in (
        model.armature, model.effortLimit, model.lowerPositionLimit, model.upperPositionLimit, model.coupling_matrix,
        model.idx_v_independent, model.rotors[0].row,
    ):  # fmt: skip
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1.0
    data = model.createData()
    for name in ("M", "tau", "ddq", "oMi", "model"):
        with pytest.raises(AttributeError, match=name):
            setattr(data, name, 1)
    with pytest.raises(AttributeError):
        data.anything = 1


def test_gravity() -> None:
    s = state()
    before = pc.rnea(*s[:5])
    with raises(pc.ModelError, "'linear' model.with_gravity(g)"):
        s.model.gravity.linear = np.zeros(3)
    with pytest.raises(ValueError, match="read-only"):
        s.model.gravity.linear[:] = 0.0
    with raises(pc.ModelError, "'mass' pc.with_parameters"):
        s.model.inertias[1].mass = 5.0
    with raises(pc.ModelError, "pc.with_parameters"):
        s.model.inertias[1] = pin.Inertia.Random()
    with raises(pc.ModelError, "'placement' model.with_frames"):
        s.model.frames[1].placement = pin.SE3.Random()
    assert np.array_equal(s.model.gravity.linear, [0.0, 0.0, -9.81])
    assert np.array_equal(pc.rnea(*s[:5]), before)
    g = np.array([1.0, 2.0, 3.0])
    for given in (g, g.tolist(), g[:, None], pin.Motion(g, np.zeros(3))):
        other = s.model.with_gravity(given)
        assert np.array_equal(other.gravity.linear, g)
        assert np.array_equal(other.tree.gravity.linear, g)
        assert (other.name, other.constraints) == (s.model.name, s.model.constraints)
    assert np.array_equal(s.model.gravity.linear, [0.0, 0.0, -9.81])
    weightless = s.model.with_gravity(np.zeros(3))
    assert np.abs(pc.computeGeneralizedGravity(weightless, weightless.createData(), s.q)).max() < 1e-12


def spoil(tree: pin.Model) -> None:
    tree.inertias[2] = pin.Inertia.Random()
    tree.gravity = pin.Motion.Zero()
    tree.armature = np.ones(tree.nv)
    tree.jointPlacements[1] = pin.SE3.Random()


def grow(tree: pin.Model) -> None:
    tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "new")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        pytest.param(name, change, marks=[pytest.mark.long] * (change is grow and i % 4 > 0))
        for i, name in enumerate(ALL)
        for change in (spoil, grow)
    ],
)
def test_changing_the_tree_has_no_effect_and_is_found(name: str, change: Callable[[pin.Model], None]) -> None:
    given = trees.geared_arm(floating=True).tree()
    model = pc.ClusterModel(given, trees.geared_arm(floating=True).build().constraints)
    s, other = state(model), state()
    change(given)  # the user's own is not even looked at
    change(model.tree)
    changed = s._replace(data=model.createData())
    wanted = call(name, other)
    for each in (s, changed):
        result = call(name, each)
        assert np.array_equal(*(np.asarray(getattr(x, "vector", x)) for x in (result, wanted))) or result is wanted
    assert (model.njoints, model.nq) == (other.model.njoints, other.model.nq)
    assert np.array_equal(model.gravity.linear, other.model.gravity.linear)
    assert pickle.loads(pickle.dumps(model)).njoints == other.model.njoints
    s.data.check = True
    with raises(DataMismatchError, "model.tree ClusterModel"):
        call(name, s)


def test_what_a_rotor_was_made_of_can_be_changed() -> None:
    placement, inertia = pin.SE3.Identity(), pin.Inertia(0.5, np.zeros(3), np.diag([1e-3, 1e-3, 2e-3]))
    rotor = pc.Rotor("j0", 6.0, inertia=inertia, placement=placement, axis=(0.0, 0.0, 1.0), carrier="j0")
    placement.translation, inertia.mass = np.ones(3), 7.0
    assert not rotor.placement.translation.any()
    assert rotor.inertia.mass == 0.5


def again(x: Any) -> list[Any]:
    return [copy.copy(x), copy.deepcopy(x), x.copy(), *(pickle.loads(pickle.dumps(x, n)) for n in (2, 5))]


def test_copies_of_a_model() -> None:
    rng = np.random.default_rng(1)
    model = trees.random_robot(rng, 7, floating=True).build().with_gravity([1.0, 2.0, 3.0])
    s = state(model)
    wanted = pc.aba(*s)
    for other in again(model):
        assert repr(other) == repr(model)
        assert str(other) == str(model)
        assert other.independent_joints == model.independent_joints
        assert np.array_equal(pc.aba(other, other.createData(), s.q, s.v, s.a, s.fext), wanted)


def test_copies_of_data_keep_the_results() -> None:
    s = state()
    pc.computeAllTerms(*s[:4])
    pc.updateFramePlacements(*s[:2])
    pc.aba(*s)
    pc.rnea(*s[:5])
    pc.computeMinverse(*s[:3])
    s.data.check = True
    kept = {n: np.array(getattr(s.data, n)) for n in ("tau", "ddq", "nle", "g", "M", "Minv", "J", "Jcom", "Ag")}
    for other in again(s.data):
        assert other.check
        assert other.hg == s.data.hg
        assert other.kinetic_energy == s.data.kinetic_energy
        assert all(x == y for x, y in zip(other.oMf, s.data.oMf, strict=True))
        for name, value in kept.items():
            assert np.array_equal(getattr(other, name), value)
            assert not np.shares_memory(getattr(other, name), getattr(s.data, name))
        pc.rnea(other.model, other, s.q, -s.v, s.a)
        pc.crba(other.model, other, pc.neutral(other.model))
        assert all(np.array_equal(getattr(s.data, n), x) for n, x in kept.items())
    model, data = pickle.loads(pickle.dumps((s.model, s.data)))  # they still belong together
    assert np.array_equal(pc.aba(model, data, s.q, s.v, s.a, s.fext), kept["ddq"])
    assert copy.copy(s.data).model is s.model
    assert copy.deepcopy(s.data).model is s.model


def test_a_model_is_made_once() -> None:
    model = trees.geared_arm().build()
    with raises(ModelError, "ClusterModel"):
        model.__init__(pin.buildSampleModelManipulator())  # type: ignore[misc]
    assert model.nv == trees.geared_arm().build().nv


WRONG_TREES: dict[str, Any] = {
    "None": (lambda: None, ArgumentTypeError, "data.tree pinocchio.Data NoneType model.own_tree.createData"),
    "text": (lambda: "tree", ArgumentTypeError, "str"),
    "a model": (pin.buildSampleModelManipulator, ArgumentTypeError, "Model"),
    "nothing in it": (lambda: pin.Data.__new__(pin.Data), ArgumentTypeError, "__init__"),
    "another robot's": (
        lambda: pin.buildSampleModelManipulator().createData(),
        DataMismatchError,
        "oMi 7",
    ),
}


@pytest.mark.parametrize("what", WRONG_TREES)
def test_the_tree_of_a_data_is_compared_before_it_replaces(what: str) -> None:
    make, error, message = WRONG_TREES[what]
    model = trees.geared_arm(floating=True).build()
    data, q = model.createData(), pc.neutral(model)
    before = data.tree
    with raises(error, message):
        data.tree = make()
    assert data.tree is before
    pc.forwardKinematics(model, data, q, np.ones(model.nv))
    other = model.createData()
    pc.forwardKinematics(model, other, q, np.ones(model.nv))
    assert all(x == y for x, y in zip(before.oMi, other.tree.oMi, strict=True))
    state = data.__reduce__()[2] | {"tree": pin.buildSampleModelManipulator().createData()}
    with raises(DataMismatchError, "data.tree oMi model.own_tree.createData"):
        model.createData().__setstate__(state)


def resize(tree: pin.Data) -> None:
    tree.J = np.zeros((6, 1))


MOVED: dict[str, Callable[[pin.Data], Any]] = {
    "oMi grows": lambda tree: [tree.oMi.append(pin.SE3.Identity()) for _ in range(100)],
    "v shrinks": lambda tree: tree.v.__delitem__(slice(1, None)),
    "J": resize,
    "made again": lambda tree: tree.__init__(pin.buildSampleModelManipulator()),
    "another text": lambda tree: tree.loadFromString(pin.buildSampleModelManipulator().createData().saveToString()),
}


@pytest.mark.parametrize("what", MOVED)
def test_the_tree_of_a_data_that_moved_in_memory(what: str) -> None:
    """What it has no room for any more is refused; nothing is written where it was before."""
    model = trees.geared_arm(floating=True).build()
    data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
    for _ in range(2):
        pc.forwardKinematics(model, data, q, v)
        pc.computeJointJacobians(model, data, q)
    MOVED[what](data.tree)
    rooms = [np.full(size, 7.0) for size in (12, 64, 200, 500, 12 * model.njoints) for _ in range(50)]
    for function in (pc.forwardKinematics, pc.computeJointJacobiansTimeVariation):
        with raises(DataMismatchError, "data.tree model.own_tree.createData ClusterData"):
            function(model, data, q, v)
    assert all((x == 7.0).all() for x in rooms)


def test_the_tree_of_a_data_that_moved_and_fits_is_found_again() -> None:
    model = trees.geared_arm(floating=True).build()
    data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
    pc.forwardKinematics(model, data, q, v)
    for _ in range(100):
        data.tree.oMi.append(pin.SE3.Identity())
    del data.tree.oMi[model.njoints :]
    other, q = model.createData(), pc.integrate(model, q, 0.1 * v)
    for x in (data, other):
        pc.forwardKinematics(model, x, q, v)
    assert all(x == y for x, y in zip(data.oMi, other.oMi, strict=True))


def test_a_constraint_is_frozen_through_and_through() -> None:
    coupling = pc.LinearCoupling("b", {"a": 2.0})
    with pytest.raises(TypeError):
        coupling.independent["a"] = 5.0  # type: ignore[index]
    assert pickle.loads(pickle.dumps(coupling)) == copy.deepcopy(coupling) == coupling
    assert repr(coupling) == "LinearCoupling('b', {'a': 2.0}, offset=0.0)"


def test_a_changed_inertia_tree_is_found() -> None:
    model = pc.ClusterModel(pin.buildSampleModelManipulator())
    data = model.createData()
    data.check = True
    model.inertia_tree.inertias[1] = pin.Inertia.Zero()
    with raises(DataMismatchError, "inertia_tree"):
        pc.centerOfMass(model, data, pc.neutral(model))


def test_making_a_tree_takes_no_data_of_pinocchio(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ``pin.Data`` has tables of nv^3 numbers: gigabytes for hundreds of joints."""
    robot = trees.geared_arm(floating=True).build()
    tree, constraints = robot.tree.copy(), robot.constraints

    def refuse(*_: object) -> None:
        raise AssertionError("a pin.Data is made")

    monkeypatch.setattr(pin.Model, "createData", refuse)
    monkeypatch.setattr(pin, "Data", refuse)
    model = pc.ClusterModel(tree, constraints)
    with pytest.raises(AssertionError, match="is made"):
        model.createData()
