"""Contacts and impacts: against Pinocchio's own where there are no transmissions, against dense equations elsewhere."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises
from support.touching import pinocchio_s

import pin_clusters as pc
from pin_clusters.verification.baselines import projection

pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
POINT, WHOLE = pin.ContactType.CONTACT_3D, pin.ContactType.CONTACT_6D
LOCAL, ALIGNED = pin.LOCAL, pin.LOCAL_WORLD_ALIGNED
NEW = not pin.__version__.startswith("3.")
# M, of condition up to 1e5, is solved in another order, and J M^-1 J' after that
CLOSE = 1e-9


def close(x: Any, y: Any, scale: float = 1.0) -> bool:
    x, y = np.asarray(x), np.asarray(y)
    return x.shape == y.shape and np.abs(x - y).max(initial=0.0) < CLOSE * max(scale, np.abs(y).max(initial=0.0))


def humanoid() -> pin.Model:
    tree = pin.buildSampleModelHumanoid()
    tree.lowerPositionLimit[:3], tree.upperPositionLimit[:3] = -1.0, 1.0
    return tree


def state(model: pc.ClusterModel, seed: int = 0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    q = pc.integrate(model, pc.neutral(model), 0.2 * rng.standard_normal(model.nv))
    return q, rng.standard_normal(model.nv), 10.0 * rng.standard_normal(model.nv)


def set_gains(c: Any, Kp: float, Kd: float) -> None:
    """Pinocchio 3 has a gain per row, and another name for them."""
    gains = c.m_baumgarte_parameters if hasattr(c, "m_baumgarte_parameters") else c.corrector
    if NEW:
        gains.Kp, gains.Kd = Kp, Kd
    else:
        gains.Kp[:], gains.Kd[:] = Kp, Kd


def contacts(model: Any, joints: list[int], kind: Any, frame: Any, seed: int = 0) -> list[Any]:
    """Return contacts of bodies with the world, and one between two of them."""
    pin.seed(seed)
    found = []
    for j in joints:
        c = pc.RigidConstraintModel(kind, model, j, pin.SE3.Random(), 0, pin.SE3.Random(), frame)
        set_gains(c, 30.0, 7.0)
        found.append(c)
    found.append(pc.RigidConstraintModel(kind, model, joints[0], pin.SE3.Random(), joints[-1], pin.SE3.Random(), frame))
    return found


@pytest.mark.jitless
@pytest.mark.parametrize("frame", [LOCAL, ALIGNED])
@pytest.mark.parametrize("kind", [POINT, WHOLE])
def test_as_pinocchio_without_transmissions(kind: Any, frame: Any) -> None:
    tree = humanoid()
    model = pc.ClusterModel(tree)
    data, (q, v, tau) = model.createData(), state(model)
    models = contacts(model, [tree.getJointId("rleg_wrist2_joint"), tree.getJointId("lleg_wrist2_joint")], kind, frame)
    if kind == WHOLE:
        models = models[1:]  # the third would be redundant
    mine, theirs = [c.createData() for c in models], pinocchio_s(models)
    reference = tree.createData()
    for d in (*mine, *theirs[1]):
        d.contact_acceleration_desired = pin.Motion(np.arange(1.0, 7.0))
    pin.initConstraintDynamics(tree, reference, *theirs[: 1 + NEW])
    pc.initConstraintDynamics(model, data, models, mine)
    expected = pin.constraintDynamics(tree, reference, q, v, tau, *theirs, pin.ProximalSettings(1e-12, 1e-12, 0.0, 1))
    assert close(pc.constraintDynamics(model, data, q, v, tau, models, mine), expected)
    assert close(data.ddq, expected)
    assert close(data.lambda_c, reference.lambda_c)
    for c, d, e in zip(models, mine, theirs[1], strict=True):
        assert close(d.contact_force.vector, e.contact_force.vector)
        for name in ("contact_placement_error", "contact_velocity_error", "contact_acceleration_error"):
            assert close(getattr(d, name).vector, getattr(e, name).vector), (name, c.type)
        for name in ("oMc1", "oMc2", "c1Mc2"):
            assert close(getattr(d, name).homogeneous, getattr(e, name).homogeneous)
    mass = pc.computeDelassusMatrix(model, data, q, models, mine)
    inverse = pc.computeDampedDelassusMatrixInverse(model, data, q, models, mine, 1e-3)
    assert close(inverse @ (mass + 1e-3 * np.eye(len(mass))), np.eye(len(mass)), 1e2)
    scaled = pc.computeDampedDelassusMatrixInverse(model, data, q, models, mine, 1e-3, True)
    assert close(scaled, 1e-3 * inverse)
    pin.computeJointJacobians(tree, reference, q)
    pc.computeJointJacobians(model, data, q)
    J = np.vstack([pin.getConstraintJacobian(tree, reference, c, d) for c, d in zip(*theirs, strict=True)])
    assert close(pc.getConstraintsJacobian(model, data, models, mine), J)
    # Pinocchio's own (4.1) forgets the second body of a contact, and that axes may be those of the world
    assert close(mass, J @ pc.computeMinverse(model, data, q) @ J.T)
    if kind == POINT and frame == LOCAL:
        with_world = pinocchio_s(models[:2])
        pin.initConstraintDynamics(tree, reference, *with_world[: 1 + NEW])
        assert close(mass[:6, :6], pin.computeDelassusMatrix(tree, reference, q, *with_world, 0.0))


@pytest.mark.jitless
@pytest.mark.parametrize("frame", [LOCAL, ALIGNED])
@pytest.mark.parametrize("kind", [POINT, WHOLE])
def test_impacts_as_pinocchio_without_transmissions(kind: Any, frame: Any) -> None:
    """With the world: of two bodies Pinocchio (4.1) forgets the velocity of the second one."""
    tree = humanoid()
    model = pc.ClusterModel(tree)
    data, (q, v, _) = model.createData(), state(model)
    models = contacts(model, [tree.getJointId("rleg_wrist2_joint"), tree.getJointId("lleg_wrist2_joint")], kind, frame)
    mine, theirs, reference = [c.createData() for c in models[:2]], pinocchio_s(models[:2]), tree.createData()
    pin.initConstraintDynamics(tree, reference, *theirs[: 1 + NEW])
    after = pin.impulseDynamics(tree, reference, q, v, *theirs, 0.3)
    assert close(pc.impulseDynamics(model, data, q, v, models[:2], mine, 0.3), after)
    assert close(data.impulse_c, reference.impulse_c)
    assert close(data.dq_after, after)
    for d, e in zip(mine, theirs[1], strict=True):
        assert close(d.contact_force.vector, e.contact_force.vector)


def dense(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, tau: np.ndarray, models: list[Any]) -> Any:
    """Accelerations, forces and rows by the dense equations: rows and drift of the tree, M and bias projected."""
    tree = model.tree
    work = projection.createData(model)
    M, h = projection.crba(model, work, q), projection.rnea(model, work, q, v, np.zeros(model.nv))
    data = model.createData()
    G, g = pc.coupling_jacobian(model, data, q), pc.coupling_bias(model, data, q, v)
    reference, datas = tree.createData(), [c.createData() for c in models]
    pin.computeJointJacobians(tree, reference, q)
    pin.forwardKinematics(tree, reference, q, G @ v, g)
    rows, missing = [], []
    for c, d in zip(models, datas, strict=True):
        if NEW:
            c.calc(tree, reference, d)
        rows.append(pin.getConstraintJacobian(tree, reference, c, d) @ G)
        # points that move with both bodies: the drift is their relative acceleration at a = 0
        one, two = (
            reference.oMi[j] * p for j, p in ((c.joint1_id, c.joint1_placement), (c.joint2_id, c.joint2_placement))
        )
        accelerations = []
        for j, place in ((c.joint1_id, c.joint1_placement), (c.joint2_id, c.joint2_placement)):
            frame = pin.Frame("f", j, 0, place, pin.OP_FRAME)
            a = place.actInv(reference.a[j])
            w = place.actInv(reference.v[j])
            accelerations.append(
                (reference.oMi[j] * frame.placement).rotation @ (a.linear + np.cross(w.angular, w.linear))
            )
        missing.append(
            one.rotation.T @ (accelerations[1] - accelerations[0])
            if c.reference_frame == LOCAL
            else accelerations[1] - accelerations[0]
        )
        assert two is not None
    J, b = np.vstack(rows), np.concatenate(missing)
    n, m = model.nv, len(b)
    solved = np.linalg.lstsq(np.block([[M, J.T], [J, np.zeros((m, m))]]), np.concatenate([tau - h, b]), rcond=1e-12)[0]
    return solved[:n], -solved[n:], J, M


@pytest.mark.jitless
@pytest.mark.parametrize("frame", [LOCAL, ALIGNED])
@pytest.mark.parametrize("name", ["mini_cheetah", "tello", "six_bar", "teleop_arm"])
def test_rotors_belts_and_loops(name: str, frame: Any) -> None:
    """Points without gains, on bodies and on bodies of rotors."""
    model = pc.load(name)
    data, (q, v, tau) = model.createData(), state(model)
    models = contacts(model, [model.njoints - 1, 2] if model.nv > 8 else [model.njoints - 1], POINT, frame)
    if model.nv <= 8:
        models = models[:1]
    for c in models:
        set_gains(c, 0.0, 0.0)
    a, force, J, M = dense(model, q, v, tau, models)
    mine = [c.createData() for c in models]
    assert close(pc.constraintDynamics(model, data, q, v, tau, models, mine), a, np.linalg.norm(a))
    assert close(J.T @ data.lambda_c, J.T @ force, np.linalg.norm(J.T @ force))
    pc.computeJointJacobians(model, data, q)
    assert close(pc.getConstraintsJacobian(model, data, models, mine), J)
    after = pc.impulseDynamics(model, data, q, v, models, mine, 0.5)
    assert close(J @ after, -0.5 * J @ v, 1e2 * np.linalg.norm(v))
    assert close(M @ (after - v), J.T @ data.impulse_c, np.linalg.norm(M @ v))
    drift = J @ np.cos(np.arange(model.nv))  # rows may be redundant, but not contradict each other
    assert close(J @ pc.forwardDynamics(model, data, q, v, tau, J, drift), -drift, np.linalg.norm(a))
    for same in (
        pc.impulseDynamics(model, data, q, v, J, 0.5),
        pc.impulseDynamics(model, data, q, v, J, 0.5, 0.0),
        pc.impulseDynamics(model, data, q, v, J, r_coeff=0.5, mu=0.0),
    ):
        assert close(same, after, np.linalg.norm(after))
    damped = pc.impulseDynamics(model, data, q, v, J, 0.5, 1e3)
    assert close(damped, pc.impulseDynamics(model, data, q, v, models, mine, 0.5, 1e3), np.linalg.norm(v))
    assert not close(damped, after)


@pytest.mark.jitless
def test_desired_motions_count() -> None:
    """With gains, a contact that is off its wished placement is pulled there; what it should do is added."""
    model = pc.load("mini_cheetah")
    data, (q, v, tau) = model.createData(), state(model)
    (c, *_) = contacts(model, [4], WHOLE, LOCAL)
    d = c.createData()
    c.desired_contact_acceleration = pin.Motion(np.arange(6.0))
    pc.constraintDynamics(model, data, q, v, tau, [c], [d])
    first = data.ddq.copy()
    c.desired_contact_placement = d.c1Mc2  # it is where it should be
    c.desired_contact_velocity = d.contact_velocity_error  # and as fast
    pc.constraintDynamics(model, data, q, v, tau, [c], [d])
    assert np.abs(d.contact_placement_error.vector).max() < 1e-12
    assert np.abs(d.contact_acceleration_error.vector).max() < 1e-9
    assert not close(first, data.ddq)


@pytest.mark.jitless
def test_redundant_contacts() -> None:
    """The same point twice: half of the force each; and Pinocchio's iteration ends at the same accelerations."""
    model = pc.load("mini_cheetah")
    data, (q, v, tau) = model.createData(), state(model)
    (c, *_) = contacts(model, [4], POINT, LOCAL)
    once = pc.constraintDynamics(model, data, q, v, tau, [c], [c.createData()])
    force = data.lambda_c.copy()
    twice = pc.constraintDynamics(model, data, q, v, tau, [c, c], [c.createData(), c.createData()])
    assert close(twice, once, np.linalg.norm(once))
    assert close(data.lambda_c, 0.5 * np.concatenate([force, force]))
    settings = pin.ProximalSettings(1e-10, 1e-10, 1e-6, 50)
    iterated = pc.constraintDynamics(model, data, q, v, tau, [c, c], [c.createData(), c.createData()], settings)
    assert close(iterated, once, 1e2 * np.linalg.norm(once))  # to the accuracy of the settings


@pytest.mark.jitless
def test_what_has_no_solution() -> None:
    """A contact of the universe with itself moves nothing; a pose that is no number gives none."""
    model = pc.load("mini_cheetah")
    data, (q, v, tau) = model.createData(), state(model)
    c = pc.RigidConstraintModel(POINT, model, 0, pin.SE3.Identity(), 0, pin.SE3.Identity(), LOCAL)
    with raises(pc.RankError, "3 0 mu") as caught:
        pc.computeDampedDelassusMatrixInverse(model, data, q, [c], [c.createData()])
    assert caught.value.rank == 0
    with raises(pc.RankError, "mu constraintDynamics impulseDynamics"):
        pc.constraintDynamics(model, data, q, v, tau, [c], [c.createData()], pin.ProximalSettings(1e-9, 1e-9, 0.0, 3))
    assert close(pc.constraintDynamics(model, data, q, v, tau, [c], [c.createData()]), pc.aba(model, data, q, v, tau))
    (c, *_) = contacts(model, [4], POINT, LOCAL)
    assert np.isnan(pc.constraintDynamics(model, data, q * np.nan, v, tau, [c], [c.createData()])).any()


def test_no_contacts_and_copies() -> None:
    model = pc.load("mini_cheetah")
    data, (q, v, tau) = model.createData(), state(model)
    assert close(pc.constraintDynamics(model, data, q, v, tau, [], []), pc.aba(model, data, q, v, tau))
    (c, *_) = contacts(model, [4], POINT, LOCAL)
    pc.constraintDynamics(model, data, q, v, tau, [c], [c.createData()])
    for other in (data.copy(), pickle.loads(pickle.dumps(data))):
        assert np.array_equal(other.lambda_c, data.lambda_c)


CURES: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda x: x.run([x.c], None), pc.ArgumentTypeError, "contact_datas"),
    (lambda x: x.run([x.c], []), pc.ShapeError, "1 contact_models 0 contact_datas"),
    (lambda x: x.run(x.c, [x.d]), pc.ArgumentTypeError, "pin.RigidConstraintModel"),
    (lambda x: x.run([1], [x.d]), pc.ArgumentTypeError, "contact_models[0] pin.RigidConstraintModel"),
    (lambda x: x.run([x.c], [1]), pc.ArgumentTypeError, "contact_datas[0] pin.RigidConstraintData"),
    (lambda x: x.run([x.world], [x.d]), pc.ConstraintError, "WORLD"),
    (lambda x: x.run([x.far], [x.d]), pc.ConstraintError, "'mini_cheetah' contact_models pc.RigidConstraintModel"),
    (lambda x: pc.impulseDynamics(x.model, x.data, x.q, x.v, [x.c], [x.d], 1.5), pc.ArgumentTypeError, "r_coeff"),
    (lambda x: pc.impulseDynamics(x.model, x.data, x.q, x.v, [x.c], [x.d], "1"), pc.ArgumentTypeError, "r_coeff str"),
    (lambda x: pc.forwardDynamics(x.model, x.data, x.q, x.v, x.v, np.zeros((2, 3)), [0, 0]), pc.ShapeError, "nv 18"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), CURES)
def test_bad_input(call: Callable[[Any], Any], error: type[Exception], message: str) -> None:
    class Case:
        model = pc.load("mini_cheetah")
        data = model.createData()
        q, v, tau = state(model)
        c = pc.RigidConstraintModel(POINT, model, 4, LOCAL)
        world = pc.RigidConstraintModel(POINT, model, 4, LOCAL)
        world.reference_frame = pin.WORLD
        far = pc.RigidConstraintModel(POINT, humanoid(), 28, LOCAL)
        d = c.createData()

        def run(self, models: Any, datas: Any) -> Any:
            return pc.constraintDynamics(self.model, self.data, self.q, self.v, self.tau, models, datas)

    with raises(error, message):
        call(Case())
