"""The kernel of contacts reads Pinocchio's objects where they are: as the Python way does, and never what is gone."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.messages import warns

import pin_clusters as pc
from pin_clusters.algorithms.contacts import _plans as _contact_plans
from pin_clusters.compiler.entry_points import JIT
from pin_clusters.kernels.bodies.rotation_angles import log6

pytestmark = [
    pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning"),
    pytest.mark.skipif(pin.__version__.startswith("3."), reason="Pinocchio 3 keeps gains elsewhere: all is Python"),
]
POINT, WHOLE = pin.ContactType.CONTACT_3D, pin.ContactType.CONTACT_6D
LOCAL, ALIGNED = pin.LOCAL, pin.LOCAL_WORLD_ALIGNED
# sums of some hundred terms in another order, times the condition of J M^-1 J'
CLOSE = 1e-13
FIELDS = (
    "contact_force", "contact_placement_error", "contact_velocity_error", "contact_acceleration_error",
    "contact1_velocity", "contact2_velocity",
)  # fmt: skip


def state(model: pc.ClusterModel, seed: int = 0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    q = pc.integrate(model, pc.neutral(model), 0.1 * rng.standard_normal(model.nv))
    return q, rng.standard_normal(model.nv), 10.0 * rng.standard_normal(model.nv)


def two_floating_arms() -> pc.ClusterModel:
    """Two robots in one model, neither fixed: what hangs from each is computed in axes of its own."""
    tree = pin.Model()
    tree.name = "two"
    for robot in range(2):
        j = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Random(), f"base{robot}")
        tree.appendBodyToJoint(j, pin.Inertia.Random(), pin.SE3.Identity())
        for i, joint in enumerate((pin.JointModelRX(), pin.JointModelRY(), pin.JointModelRZ())):
            j = tree.addJoint(j, joint, pin.SE3.Random(), f"arm{robot}_{i}")
            tree.appendBodyToJoint(j, pin.Inertia.Random(), pin.SE3.Identity())
    return pc.ClusterModel(tree)


def robot(name: str) -> pc.ClusterModel:
    pin.seed(3)
    return two_floating_arms() if name == "two" else pc.load(name)


def contact(kind: Any, model: Any, one: int, two: int, frame: Any, gains: tuple[float, float] = (30.0, 7.0)) -> Any:
    c = pc.RigidConstraintModel(kind, model, one, pin.SE3.Random(), two, pin.SE3.Random(), frame)
    c.m_baumgarte_parameters.Kp, c.m_baumgarte_parameters.Kd = gains
    c.desired_contact_placement = pin.SE3.Random()
    c.desired_contact_velocity, c.desired_contact_acceleration = pin.Motion.Random(), pin.Motion.Random()
    return c


def some(model: pc.ClusterModel, kind: Any, frame: Any, joints: tuple[str, str]) -> list[Any]:
    pin.seed(1)
    one, two = (model.getJointId(name) for name in joints)
    if model.name == "two":
        return [contact(kind, model, one, two, frame), contact(POINT, model, two, 0, frame)]
    sides = (one, 0) if frame == LOCAL else (0, one)
    return [contact(kind, model, *sides, frame), contact(POINT, model, two, one, frame)]


def data_of(models: list[Any]) -> list[Any]:
    found = [c.createData() for c in models]
    for i, d in enumerate(found):
        d.contact_acceleration_desired = pin.Motion(np.arange(6.0) + i)
    return found


CASES = (
    ("mini_cheetah", ("FL_knee", "HR_abad")),
    ("tello", ("left_knee", "right_ankle")),
    ("two", ("arm0_2", "arm1_1")),
    ("teleop_arm", ("", "")),
)


def joints_of(model: pc.ClusterModel, names: tuple[str, str]) -> tuple[str, str]:
    """Two joints that bodies of the kernels belong to, from the tips."""
    spinning = {r.joint_id for r in model.rotors}
    known = [n for j, n in enumerate(model.names) if j and j not in spinning and model.own_tree.nvs[j]]
    return (known[-1], known[len(known) // 2]) if not all(n in known for n in names) else names


@pytest.mark.jitless
@pytest.mark.parametrize("frame", [LOCAL, ALIGNED], ids=["local", "aligned"])
@pytest.mark.parametrize("kind", [POINT, WHOLE], ids=["point", "whole"])
@pytest.mark.parametrize(("name", "joints"), CASES, ids=[name for name, _ in CASES])
def test_as_the_python_way(
    name: str, joints: tuple[str, str], kind: Any, frame: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = robot(name)
    q, v, tau = state(model)
    models = some(model, kind, frame, joints_of(model, joints))
    if model.nv < 9:
        models = models[:1]
    found = []
    for way in ("kernel", "Python"):
        data, datas = model.createData(), data_of(models)
        if way == "Python":
            monkeypatch.setattr(_contact_plans, "_create", lambda *_: None)
        else:
            assert _contact_plans.find(model, data, models, datas)[0] is not None
        ddq = pc.constraintDynamics(model, data, q, v, tau, models, datas)
        numbers = [ddq, data.ddq.copy(), data.lambda_c.copy()]
        numbers += [getattr(d, field).vector for d in datas for field in FIELDS]
        numbers += [getattr(d, field).homogeneous for d in datas for field in ("oMc1", "oMc2", "c1Mc2")]
        numbers += [pc.impulseDynamics(model, data, q, v, models, datas, 0.4), data.dq_after, data.impulse_c]
        numbers += [d.contact_force.vector for d in datas]
        numbers += [pc.impulseDynamics(model, data, q, v, models, datas, 0.0, 0.1)]
        numbers += [pc.computeDelassusMatrix(model, data, q, models, datas, 0.1)]
        found.append(numbers)
    close = CLOSE * max(1e2, float(np.linalg.cond(found[1][-1] - 0.1 * np.eye(len(found[1][-1])))))
    assert close < 1e-4
    for i, (x, y) in enumerate(zip(*found, strict=True)):
        assert np.abs(x - y).max() <= close * max(1.0, np.abs(y).max()), i


@pytest.mark.jitless
@pytest.mark.skipif(JIT, reason="compiled code is called by kernels only; contacts of six rows have it")
def test_logarithms() -> None:
    rng = np.random.default_rng(0)
    axes = [*rng.standard_normal((20, 3)), *np.eye(3)]
    for angle in (0.0, 1e-12, 1e-8, 1e-4, 0.49, 0.51, 1.0, 2.0, 3.0, np.pi - 1e-6, np.pi):
        for axis in axes:
            M = pin.SE3(pin.exp3(axis / np.linalg.norm(axis) * angle), rng.standard_normal(3))
            found = log6(tuple(M.rotation.ravel()), _vector(M.translation))
            assert np.allclose(pin.exp6(np.array(found)).homogeneous, M.homogeneous, rtol=0.0, atol=1e-13)
            assert np.linalg.norm(found[3:]) == pytest.approx(angle, abs=1e-14)


def _vector(x: np.ndarray) -> Any:
    from pin_clusters.kernels.numbers.tuples import Vec3

    return Vec3(*map(float, x))


class Standing:
    """A robot on two feet, and what its next call must answer."""

    def __init__(self, container: Callable[[list[Any]], Any] = list) -> None:
        self.model, self.container = pc.load("mini_cheetah"), container
        self.data = self.model.createData()
        self.q, self.v, self.tau = state(self.model)
        pin.seed(2)
        ids = [self.model.getJointId(n) for n in ("FL_knee", "FR_knee")]
        self.one, self.two, self.three = (contact(POINT, self.model, j, 0, LOCAL) for j in (*ids, ids[0]))
        self.models = container([self.one, self.two])
        self.datas = container([c.createData() for c in (self.one, self.two)])
        for _ in range(3):
            self.call()

    def call(self) -> np.ndarray:
        return pc.constraintDynamics(self.model, self.data, self.q, self.v, self.tau, self.models, self.datas)

    def is_right(self) -> bool:
        """Whether the next call answers as a data that has never seen these contacts."""
        found, forces = self.call(), self.data.lambda_c.copy()
        fresh, datas = self.model.createData(), [c.createData() for c in self.models]
        # in a list of Python, items of Pinocchio's go the way of Python
        models = self.container(list(self.models))
        expected = pc.constraintDynamics(self.model, fresh, self.q, self.v, self.tau, models, datas)
        same = [
            np.array_equal(d.contact_force.vector, e.contact_force.vector)
            for d, e in zip(self.datas, datas, strict=True)
        ]
        return np.array_equal(found, expected) and np.array_equal(forces, fresh.lambda_c) and all(same)


def vector(things: list[Any]) -> Any:
    found = (
        pin.StdVec_RigidConstraintModel()
        if isinstance(things[0], pin.RigidConstraintModel)
        else pin.StdVec_RigidConstraintData()
    )
    for x in things:
        found.append(x)
    return found


def move(s: Standing) -> None:
    s.models[0].joint1_placement = pin.SE3.Random()
    s.models[1].joint2_placement.translation[:] = 7.0


def tune(s: Standing) -> None:
    s.models[0].m_baumgarte_parameters.Kp = 99.0
    s.models[1].desired_contact_acceleration = pin.Motion.Random()


def turn(s: Standing) -> None:
    s.models[0].reference_frame = ALIGNED


def elsewhere(s: Standing) -> None:
    s.models[0].joint1_id = s.model.getJointId("HL_knee")


def longer(s: Standing) -> None:
    c = contact(POINT, s.model, s.model.getJointId("HR_knee"), 0, LOCAL)
    for _ in range(20):  # so that Pinocchio's list must move
        s.models.append(c)
    del s.models[3:]
    s.datas.append(c.createData())


def shorter(s: Standing) -> None:
    del s.models[1:]
    del s.datas[1:]


def another(s: Standing) -> None:
    s.models[0] = contact(POINT, s.model, s.model.getJointId("HR_knee"), 0, ALIGNED)


def anew(s: Standing) -> None:
    pc.initConstraintDynamics(s.model, s.data, s.models, s.datas)


def by_rows(s: Standing) -> None:
    pc.forwardDynamics(s.model, s.data, s.q, s.v, s.tau, np.eye(2, s.model.nv), np.ones(2))


def impact(s: Standing) -> None:
    pc.impulseDynamics(s.model, s.data, s.q, s.v, s.models, s.datas, 0.5)


def mass(s: Standing) -> None:
    pc.computeDelassusMatrix(s.model, s.data, s.q, s.models, s.datas)


def proximal(s: Standing) -> None:
    settings = pin.ProximalSettings(1e-12, 1e-12, 1e-8, 5)
    pc.constraintDynamics(s.model, s.data, s.q, s.v, s.tau, s.models, s.datas, settings)


def much_else(s: Standing) -> None:
    for joint in range(70):  # more questions than the data keeps
        pc.inverse_operational_inertia(s.model, s.data, s.q, [joint % s.model.nframes], rows=[joint % 5])


def nothing(s: Standing) -> None:
    pass


SAME = (nothing, anew, by_rows, impact, mass, proximal, much_else)


@pytest.mark.parametrize("container", [list, vector, tuple], ids=["list", "vector", "tuple"])
@pytest.mark.parametrize(
    "change",
    [nothing, move, tune, turn, elsewhere, longer, shorter, another, anew, by_rows, impact, mass, proximal, much_else],
    ids=lambda f: f.__name__,
)
def test_what_changed_is_seen(change: Callable[[Standing], None], container: Callable[[list[Any]], Any]) -> None:
    if container is tuple and change in (longer, shorter, another):
        pytest.skip("tuples do not change")
    s = Standing(container)
    before = s.call()
    change(s)
    assert s.is_right()
    assert s.is_right()
    assert np.array_equal(before, s.call()) == (change in SAME)


@pytest.mark.skipif(not JIT, reason="machine code")
@pytest.mark.parametrize("container", [list, vector, tuple], ids=["list", "vector", "tuple"])
def test_the_usual_call_is_machine_code(container: Callable[[list[Any]], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    s = Standing(container)
    expected = s.call()

    def fail(*_: Any) -> None:
        raise AssertionError("Python was asked")

    monkeypatch.setattr(_contact_plans, "find", fail)
    assert np.array_equal(s.call(), expected)
    if container is not vector:  # other items
        again = pc.constraintDynamics(s.model, s.data, s.q, s.v, s.tau, list(s.models), list(s.datas))
        assert np.array_equal(again, expected)
    with pytest.raises(AssertionError, match="Python was asked"):
        pc.constraintDynamics(s.model, s.data, s.q, s.v, s.tau, s.models[:1], s.datas[:1])


@pytest.mark.parametrize("container", [list, vector], ids=["list", "vector"])
@pytest.mark.parametrize("wholly", [False, True], ids=["clear", "del"])
def test_all_feet_in_the_air(container: Callable[[list[Any]], Any], wholly: bool) -> None:
    s = Standing(container)
    for things in (s.models, s.datas):
        if wholly or container is vector:
            del things[0:]
        else:
            things.clear()
    for _ in range(2):
        expected = pc.aba(s.model, s.data, s.q, s.v, s.tau)  # another kernel
        assert np.allclose(s.call(), expected, rtol=CLOSE, atol=CLOSE * np.abs(expected).max())
    with pytest.raises(pc.PinClustersError):
        pc.constraintDynamics(s.model, s.data, s.q, s.v, s.tau, s.models, container([s.one.createData()]))


@pytest.mark.parametrize("of", ["models", "datas"])
def test_items_of_lists_of_pinocchio_are_found_where_they_are(of: str) -> None:
    s = Standing()
    there = vector(getattr(s, of))
    setattr(s, of, [there[0], there[1]])
    for _ in range(3):
        s.call()
    for _ in range(20):  # the list must move, and the items with it
        there.append(there[0])
    s.models[0].joint1_placement = pin.SE3.Random()
    fresh = s.model.createData()
    models, datas = vector(list(s.models)), vector([c.createData() for c in s.models])  # copies
    expected = pc.constraintDynamics(s.model, fresh, s.q, s.v, s.tau, models, datas)
    # one by the kernel, one by Python
    assert np.allclose(s.call(), expected, rtol=CLOSE, atol=CLOSE * np.abs(expected).max())
    for d, e in zip(s.datas, datas, strict=True):
        assert np.allclose(d.contact_force.vector, e.contact_force.vector, rtol=CLOSE, atol=CLOSE * np.abs(s.tau).max())


def test_a_contact_made_again_is_seen() -> None:
    s = Standing()
    s.call()
    s.models[0].__init__(POINT, s.model.own_tree, s.model.getJointId("HR_knee"), pin.SE3.Random(), LOCAL)
    assert s.is_right()


def test_other_lists_of_the_same_contacts() -> None:
    s = Standing()
    expected = s.call()
    assert np.array_equal(pc.constraintDynamics(s.model, s.data, s.q, s.v, s.tau, tuple(s.models), s.datas), expected)
    given = (c for c in s.models)
    assert np.array_equal(pc.constraintDynamics(s.model, s.data, s.q, s.v, s.tau, given, s.datas), expected)
    assert np.array_equal(pc.constraintDynamics(s.model, s.data, s.q, s.v, s.tau, s.models, vector(s.datas)), expected)


def test_copies_of_data() -> None:
    s = Standing()
    expected = s.call()
    for other in (s.data.copy(), copy.deepcopy(s.data), pickle.loads(pickle.dumps(s.data))):
        assert np.array_equal(other.lambda_c, s.data.lambda_c)
        assert np.array_equal(pc.constraintDynamics(s.model if other.model is s.model else other.model, other, s.q, s.v,
                                                    s.tau, s.models, s.datas), expected)  # fmt: skip


def test_forces_are_there_after_other_contacts() -> None:
    """Two sets of contacts in turn, as of a walking robot."""
    s = Standing()
    s.call()
    other, its_data = [s.three], [s.three.createData()]
    for _ in range(3):
        assert s.call() is not None
        assert s.data.lambda_c.shape == (6,)
        assert np.array_equal(s.data.lambda_c[:3], s.datas[0].contact_force.linear)
        pc.constraintDynamics(s.model, s.data, s.q, s.v, s.tau, other, its_data)
        assert s.data.lambda_c.shape == (3,)
        assert np.array_equal(s.data.lambda_c, its_data[0].contact_force.linear)


@pytest.mark.jitless
@pytest.mark.parametrize("way", ["kernel", "Python"])
def test_redundant_contacts(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two equal contacts do what one does, each with half of the force; if they differ, somebody is told."""
    model = pc.load("mini_cheetah")
    (q, v, tau), data = state(model), model.createData()
    pin.seed(4)
    foot = contact(POINT, model, model.getJointId("FL_knee"), 0, LOCAL)
    if way == "Python":
        monkeypatch.setattr(_contact_plans, "_create", lambda *_: None)
    once, its_data = pc.constraintDynamics(model, data, q, v, tau, [foot], [foot.createData()]), foot.createData()
    force = data.lambda_c.copy()
    assert (data.contact_rank, data.contact_residual < 1e-9) == (3, True)
    datas = [its_data, foot.createData()]
    twice = pc.constraintDynamics(model, data, q, v, tau, [foot, foot], datas)
    assert np.allclose(twice, once, rtol=1e-9)
    assert np.allclose(data.lambda_c, np.tile(0.5 * force, 2), rtol=1e-9)
    assert np.array_equal(its_data.contact_force.linear, data.lambda_c[:3])
    assert (data.contact_rank, data.contact_residual < 1e-8) == (3, True)
    impulse = pc.impulseDynamics(model, data, q, v, [foot, foot], datas)
    assert np.allclose(impulse, pc.impulseDynamics(model, data, q, v, [foot], datas[:1]), rtol=1e-9)
    assert data.contact_rank == 3
    proximal = pin.ProximalSettings(1e-13, 1e-13, 1e-6, 60)
    iterated = pc.constraintDynamics(model, data, q, v, tau, [foot, foot], datas, proximal)
    assert np.allclose(iterated, once, rtol=1e-6)
    datas[1].contact_acceleration_desired = pin.Motion(np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    with warns(pc.PinClustersWarning, "0 'FL_knee' 1 3 6"):
        pc.constraintDynamics(model, data, q, v, tau, [foot, foot], datas)
    assert data.contact_residual == pytest.approx(1.5)
    assert np.allclose(pc.constraintDynamics(model, data, q, v, tau, [foot], datas[:1]), once, rtol=1e-9)


@pytest.mark.jitless
def test_a_contact_that_nothing_moves_is_redundant() -> None:
    """Rows of rounding are small beside others, not beside themselves."""
    model = pc.load("six_bar")
    (q, v, tau), data = state(model), model.createData()
    pin.seed(5)
    last = [n for n in model.names[1:] if n in model.independent_joints][-1]
    c = pc.RigidConstraintModel(POINT, model, model.getJointId(last), pin.SE3.Random(), LOCAL)
    found = pc.constraintDynamics(model, data, q, v, tau, [c], [c.createData()])
    assert data.contact_rank < 3  # a plane mechanism
    assert np.abs(data.lambda_c).max() < 1e6
    assert np.all(np.isfinite(found))
