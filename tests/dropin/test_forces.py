"""Forces of joints after ``rnea``, those that frames support, and inverse dynamics with frictional contacts."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from samples import mixed, plain
from support.messages import raises

import pin_clusters as pc

pytestmark = [pytest.mark.jitless, pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")]
ROUNDING = 1e-10  # of two algorithms, relative to the largest entry
of_pinocchio_4 = pytest.mark.skipif(not pin.__version__.startswith("4"), reason="constraint models of Pinocchio 4")


def close(x: np.ndarray, y: np.ndarray, rounding: float = ROUNDING) -> bool:
    return bool(np.abs(x - y).max() < rounding * max(1.0, np.abs(y).max()))


@pytest.mark.parametrize("robot", plain.TREES)
def test_without_constraints_forces_are_pinocchios(robot: str, rng: np.random.Generator) -> None:
    tree = plain.TREES[robot]()
    model, theirs = pc.ClusterModel(tree), tree.createData()
    data, q = model.createData(), pin.randomConfiguration(tree)
    v, a = rng.normal(size=(2, tree.nv))
    pin.forwardKinematics(tree, theirs, q, v, a)  # of which Pinocchio's function reads accelerations
    for package, of, to in ((pin, tree, theirs), (pc, model, data)):
        package.rnea(of, to, q, v, a)
    for frame in range(tree.nframes):
        expected = pin.computeSupportedForceByFrame(tree, theirs, frame).vector
        assert close(pc.computeSupportedForceByFrame(model, data, frame).vector, expected)
    other = pin.randomConfiguration(tree)
    pc.rnea(model, data, other, v, a, np.ones((tree.njoints, 6)))
    with raises(pc.NotComputedError, "data.f pc.rnea"):
        pc.computeSupportedForceByFrame(model, data, 1)


@pytest.mark.parametrize("robot", ["mini_cheetah", *mixed.KINDS])
def test_forces_are_those_of_a_tree_whose_rotors_are_bodies(robot: str, rng: np.random.Generator) -> None:
    model = mixed.robot(robot) if robot in mixed.KINDS else pc.load(robot)
    tree, G = mixed.rotors_as_bodies(model)
    q, v, a = mixed.random_state(model)
    data, theirs = model.createData(), tree.createData()
    pc.rnea(model, data, q, v, a)
    motion = np.concatenate([q, np.zeros(tree.nq - model.nq)]), G @ v, G @ a
    pin.forwardKinematics(tree, theirs, *motion)
    pin.rnea(tree, theirs, *motion)
    for j in range(1, model.njoints):
        assert close(data.f[j].vector, theirs.f[j].vector), model.names[j]
    for i, frame in enumerate(list(model.frames)[1:], 1):
        expected, j, place = pin.computeSupportedForceByFrame(tree, theirs, i), frame.parentJoint, frame.placement
        for r in model.rotors:  # inertias of frames, from which nothing was taken off, include axial inertias
            if r.source is not None and r.inertia is None and r.carrier_id == j and j:
                axial = pin.Inertia(0.0, np.zeros(3), r.axial_inertia * np.outer(r.axis, r.axis))
                expected -= place.actInv(axial * theirs.a_gf[j] + axial.vxiv(theirs.v[j]))
        assert close(pc.computeSupportedForceByFrame(model, data, i).vector, expected.vector), frame.name


def test_closed_loops_share_forces() -> None:
    model = pc.load("four_bar")
    data, v = model.createData(), np.ones(model.nv)
    pc.rnea(model, data, pc.neutral(model), v, v)
    with raises(pc.NotComputedError, "data.f 'four_bar' pc.constraint_forces"):
        pc.computeSupportedForceByFrame(model, data, 1)


def test_forces_were_not_computed() -> None:
    model = pc.load("mit_humanoid_leg")
    data = model.createData()
    with raises(pc.NotComputedError, "data.f pc.rnea"):
        _ = data.f
    pc.forwardKinematics(model, data, pc.neutral(model), np.ones(model.nv), np.ones(model.nv))
    with raises(pc.NotComputedError, "data.a_gf pc.rnea"):
        pc.jointBodyRegressor(model, data, 1)


def contacts(model: pc.ClusterModel, joints: list[int]) -> tuple[list, list]:
    models = []
    for j in joints:
        place = pin.SE3(pin.exp3(np.array([0.1, 0.2, 0.3])), np.array([0.05, 0.0, -0.2]))
        contact = pc.PointContactConstraintModel(model, 0, pin.SE3.Identity(), j, place)
        contact.setFriction(0.6)
        contact.setCompliance(np.full(3, 1e-3))
        models.append(contact)
    return models, [c.createData() for c in models]


SETTINGS = (1e-14, 1e-14, 1e-6, 2000)


@of_pinocchio_4
@pytest.mark.parametrize("robot", ["solo12", "mini_cheetah", "mit_humanoid"])
def test_contact_inverse_dynamics(robot: str, rng: np.random.Generator) -> None:
    """The torques are those of rnea less J' f; f keeps to its cones and leaves the points to Signorini and Coulomb."""
    model = pc.ClusterModel(plain.solo12()) if robot == "solo12" else pc.load(robot)
    feet = [j for j in range(1, model.njoints) if not len(model.tree.children[j])][:2]
    data, q, dt = model.createData(), pc.integrate(model, pc.neutral(model), 0.2 * rng.normal(size=model.nv)), 1e-2
    v, a = rng.normal(size=(2, model.nv))
    correction, settings = np.array([0.0, 0.1, -3.0, 0.2, 0.0, -2.0]), pin.ProximalSettings(*SETTINGS)
    models, datas = contacts(model, feet)
    for _ in range(2):  # the second time with members of data that are owed
        fine, tau, f = pc.contactInverseDynamics(model, data, q, v, a, dt, models, datas, correction, settings)
        assert fine
        assert np.abs(f).max() > 1e-2
    tree = model.tree
    theirs, G, bias = tree.createData(), pc.coupling_jacobian(model, data, q), pc.coupling_bias(model, data, q, v)
    pin.computeJointJacobians(tree, theirs, q)
    places = [(c.joint2_id, c.joint2_placement, pin.LOCAL_WORLD_ALIGNED) for c in models]
    J = np.vstack([pin.getFrameJacobian(tree, theirs, *place)[:3] for place in places])  # in axes of the ground
    assert close(tau, pc.rnea(model, model.createData(), q, v, a) - (J @ G).T @ f, 1e-9)
    assert np.array_equal(data.tau, tau)
    assert np.array_equal(data.lambda_c, f)
    after = (
        J @ (G @ v + dt * (G @ a + bias)) + correction + 1e-3 * dt * f
    )  # velocities, with the give of the compliance
    for force, velocity in zip(f.reshape(-1, 3), after.reshape(-1, 3), strict=True):
        slip, push = np.linalg.norm(velocity[:2]), np.linalg.norm(force[:2])
        assert push <= 0.6 * force[2] + 1e-6
        assert velocity[2] > -1e-6
        assert abs(velocity[2] * force[2]) < 1e-6
        if slip > 1e-6:  # friction at its limit, against the motion
            assert np.allclose(force[:2], -0.6 * force[2] * velocity[:2] / slip, atol=1e-5)


@of_pinocchio_4
def test_contact_inverse_dynamics_is_pinocchios_without_constraints(rng: np.random.Generator) -> None:
    tree = plain.solo12()
    model, data = pc.ClusterModel(tree), tree.createData()
    q, correction = pin.neutral(tree), rng.normal(size=6)
    v, a = rng.normal(size=(2, tree.nv))
    models, datas = contacts(model, [4, 7])
    vectors = pin.StdVec_PointContactConstraintModel(), pin.StdVec_PointContactConstraintData()
    for given, vector in zip((models, datas), vectors, strict=True):
        for x in given:
            vector.append(x)
    pin.computeJointJacobians(tree, data, q)
    for contact, of in zip(*vectors, strict=True):
        contact.calc(tree, data, of)
    rest = 1e-2, *vectors, correction, pin.ProximalSettings(*SETTINGS), np.ones(6), True
    theirs = pin.contactInverseDynamics(tree, data, q, v, a, *rest)
    ours = pc.contactInverseDynamics(model, model.createData(), q, v, a, *rest)
    assert ours[0] == theirs[0]
    for x, y in zip(ours[1:], theirs[1:], strict=True):
        assert close(x, y, 1e-9)


@of_pinocchio_4
def test_bad_contacts() -> None:
    model = pc.load("mit_humanoid_leg")
    data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
    models, datas = contacts(model, [3])
    settings = pin.ProximalSettings(*SETTINGS)

    def call(models=models, datas=datas, correction=(0.0, 0.0, 0.0), settings=settings, dt=1e-3, v=v):
        pc.contactInverseDynamics(model, data, q, v, v, dt, models, datas, correction, settings)

    call()
    with raises(pc.ShapeError, "1 contact_models 0 contact_datas"):
        call(datas=[])
    with raises(pc.ShapeError, "constraint_correction 2 3"):
        call(correction=(0.0, 0.0))
    with raises(pc.ArgumentTypeError, "contact_models[0] pc.PointContactConstraintModel str"):
        call(models=["foot"])
    with raises(pc.ArgumentTypeError, "contact_datas[0] pin.PointContactConstraintData int"):
        call(datas=[1])
    for bad in ({"settings": 1.0}, {"dt": 0.0}, {"dt": "1e-3"}, {"settings": pin.ProximalSettings(1e-9, 0.0, 10)}):
        with raises(pc.ArgumentTypeError, "settings pin.ProximalSettings mu dt"):
            call(**bad)
    with raises(pc.SimulationError, "'mit_humanoid_leg' contact compliance"):
        call(v=np.full(model.nv, np.nan))
    larger = pc.load("mit_humanoid")
    with raises(pc.ConstraintError, f"contact_models[0] {larger.njoints - 1} {model.njoints - 1}"):
        call(*contacts(larger, [larger.njoints - 1]))
