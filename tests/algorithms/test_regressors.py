"""Regressors, inertial parameters, what torques determine of them, and derivatives with respect to ratios."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import warnings
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support import fast
from support.messages import warns

import pin_clusters as pc
from pin_clusters._support.trees import coordinate, set_coordinate
from pin_clusters.model import ClusterModel, alike, parameter_columns

SHIPPED = [(name, floating) for name in pc.robots() for floating in (False, True)]
# eighth order
STENCIL = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))


def loaded(name: str, floating: bool) -> pc.ClusterModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return pc.load(name, pin.JointModelFreeFlyer() if floating else None)


def of_bodies(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Pinocchio's columns: its regressor of each body, its Jacobians of the tree, projected."""
    tree, data, own = model.tree, model.tree.createData(), model.createData()
    G = pc.coupling_jacobian(model, own, q)
    rates = pc.spanning_velocity(model, own, q, v), pc.spanning_acceleration(model, own, q, v, a)
    pin.computeJointJacobians(tree, data, q)
    pin.forwardKinematics(tree, data, q, *rates)
    result = np.zeros((model.nv, 10 * (tree.njoints - 1)))
    for j in range(1, tree.njoints):
        felt = data.a[j] - data.oMi[j].actInv(tree.gravity)
        J = pin.getJointJacobian(tree, data, j, pin.LOCAL) @ G
        result[:, 10 * j - 10 : 10 * j] = J.T @ pin.bodyRegressor(data.v[j], felt)
    return result


def check_products(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, a: np.ndarray, gate: float) -> None:
    """Times the parameters the regressors are torques, energies and the centre of mass."""
    data, (values, labels) = model.createData(), pc.parameters(model)
    bodies = model.njoints - 1
    assert len(values) == len(labels) == len(set(labels))
    Y = pc.computeJointTorqueRegressor(model, data, q, v, a)
    assert Y.shape == (model.nv, len(values))
    assert pool.error(Y @ values, pc.rnea(model, data, q, v, a)) < gate
    np.testing.assert_array_equal(data.jointTorqueRegressor, Y)
    assert pool.error(Y[:, : 10 * bodies], of_bodies(model, q, v, a)) < gate
    kinetic = pc.computeKineticEnergyRegressor(model, data, q, v)
    potential = pc.computePotentialEnergyRegressor(model, data, q)
    static = pc.computeStaticRegressor(model, data, q)
    for name, found in (("kineticEnergy", kinetic), ("potentialEnergy", potential), ("static", static)):
        np.testing.assert_array_equal(getattr(data, f"{name}Regressor"), found)
    assert pool.error([kinetic @ values], [pc.computeKineticEnergy(model, data, q, v)]) < gate
    assert pool.error([potential @ values], [pc.computePotentialEnergy(model, data, q)]) < gate
    moments = np.concatenate([values[: 10 * bodies].reshape(bodies, 10)[:, :4].ravel(), values[10 * bodies :]])
    assert pool.error(static @ moments, pc.centerOfMass(model, data, q)) < gate


@pool.each()
def test_times_parameters_they_are_torques_energies_and_the_centre(key: Any, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    check_products(s.model, s.q, s.v, s.a, max(1e-13, 10.0 * s.case.rounding * (s.case.mechanism is not None)))


@pool.each()
def test_columns_are_differences_of_models(key: Any, rng: np.random.Generator) -> None:
    """Torques of models with one parameter changed, each compiled anew from its own tree and constraints."""
    s = pool.state(key, rng)
    model, columns = s.model, parameter_columns(s.model)
    values, _ = pc.parameters(model)
    Y = pc.computeJointTorqueRegressor(model, s.data, s.q, s.v, s.a)
    for i in range(columns.rotors_from, columns.width):
        changed = values.copy()
        changed[i] *= 3.0
        other = pc.with_parameters(model, changed)
        tau = pc.rnea(other, other.createData(), s.q, s.v, s.a) - Y @ values
        assert pool.error(Y[:, i] * 2.0 * values[i], tau) < 1e-10


@pytest.mark.parametrize("robot", pool.some(SHIPPED, [("mit_humanoid_leg", True), ("delta", False)]))
def test_shipped_robots(robot: tuple[str, bool], rng: np.random.Generator) -> None:
    """Fixed and floating."""
    model = loaded(*robot)
    pin.seed(1)
    check_products(model, pc.randomConfiguration(model), *rng.normal(size=(2, model.nv)), 1e-12)


@pytest.mark.jitless
@pytest.mark.parametrize("make", [pin.buildSampleModelManipulator, pin.buildSampleModelHumanoidRandom])
def test_without_constraints_they_are_pinocchios(make: Any, rng: np.random.Generator) -> None:
    tree = make()
    tree.lowerPositionLimit, tree.upperPositionLimit = -np.ones(tree.nq), np.ones(tree.nq)
    model = pc.ClusterModel(tree)
    data, theirs, q = model.createData(), tree.createData(), pin.randomConfiguration(tree)
    v, a = rng.normal(size=(2, tree.nv))
    for name, given in (
        ("computeJointTorqueRegressor", (q, v, a)),
        ("computeStaticRegressor", (q,)),
        ("computeKineticEnergyRegressor", (q, v)),
        ("computePotentialEnergyRegressor", (q,)),
    ):
        ours, expected = getattr(pc, name)(model, data, *given), getattr(pin, name)(tree, theirs, *given)
        # Pinocchio leaves armature out; this package has a column for each
        width = expected.shape[-1]
        assert pool.error(ours[..., :width], expected) < 1e-13, name
        assert ours.shape[-1] - width == np.count_nonzero(tree.armature)


@pytest.mark.jitless
def test_results_are_fresh_and_kept() -> None:
    model = pc.load("mit_humanoid_leg")
    data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
    assert data.jointTorqueRegressor.shape == (5, 100)
    first = pc.computeJointTorqueRegressor(model, data, q, v, v)
    expected = first.copy()
    first[:] = np.nan
    data.jointTorqueRegressor[:] = np.nan  # a copy
    np.testing.assert_array_equal(pc.computeJointTorqueRegressor(model, data, q, v, v), expected)
    for other in (copy.deepcopy(data), pickle.loads(pickle.dumps(data))):
        np.testing.assert_array_equal(other.jointTorqueRegressor, expected)
        np.testing.assert_array_equal(pc.computeJointTorqueRegressor(other.model, other, q, v, v), expected)


@pytest.mark.parametrize("name", ["mini_cheetah", "four_bar"])
def test_the_usual_call_is_machine_code(name: str, rng: np.random.Generator) -> None:
    """The same numbers as those of the Python function, which is not called."""
    model = loaded(name, name == "mini_cheetah")
    data, q = model.createData(), pc.neutral(model)
    v, a = rng.normal(size=(2, model.nv))
    slow = fast.python("computeJointTorqueRegressor")(model, data, q, v, a)
    pc.coupling_jacobian(model, data, q)
    pc.computeJointTorqueRegressor(model, data, q, v, a)
    with fast.no_python_calls():
        np.testing.assert_array_equal(pc.computeJointTorqueRegressor(model, data, q, v, a), slow)


@pytest.mark.jitless
@pool.each()
def test_parameters_come_back(key: Any, rng: np.random.Generator) -> None:
    model = pool.case(key).model
    values, labels = pc.parameters(model)
    same = pc.with_parameters(model, values)
    again, others = pc.parameters(same)
    np.testing.assert_allclose(again, values, rtol=1e-12, atol=1e-15)
    assert others == labels
    assert [r.row.tolist() for r in same.rotors] == [r.row.tolist() for r in model.rotors]
    s = pool.state(key, rng)
    tau = pc.rnea(model, s.data, s.q, s.v, s.a)
    assert pool.error(pc.rnea(same, same.createData(), s.q, s.v, s.a), tau) < 1e-11


@pytest.mark.parametrize("name", ["mit_humanoid_leg", "cassie_leg", "delta", "ankle_2rsu"])
def test_twice_the_parameters_are_twice_the_torques(name: str, rng: np.random.Generator) -> None:
    model = loaded(name, False)
    other = pc.with_parameters(model, 2.0 * pc.parameters(model)[0])
    q, v, a = pc.neutral(model), *rng.normal(size=(2, model.nv))
    tau = pc.rnea(model, model.createData(), q, v, a)
    assert pool.error(pc.rnea(other, other.createData(), q, v, a), 2.0 * tau) < 1e-11


def stacked_rank(model: pc.ClusterModel, states: list[tuple[np.ndarray, ...]]) -> tuple[int, np.ndarray]:
    """Rank of the regressors of states, and these with columns of one length."""
    data = model.createData()
    Y = np.vstack([pc.computeJointTorqueRegressor(model, data, *state) for state in states])
    size = np.linalg.norm(Y, axis=0)
    Y = Y / np.where(size > 1e-9 * size.max(), size, np.inf)
    s = np.linalg.svd(Y, compute_uv=False)
    return int((s > 1e-9 * s.max(initial=0.0)).sum()), Y * size


def check_rank(model: pc.ClusterModel, states: list[tuple[np.ndarray, ...]]) -> None:
    basis, labels = pc.identifiable_parameters(model)
    rank, Y = stacked_rank(model, states)
    assert len(basis) == len(labels) == rank
    names, pivots = pc.parameters(model)[1], (basis != 0.0).argmax(axis=1)
    assert all(label.startswith(names[i]) for i, label in zip(pivots, labels, strict=True))
    np.testing.assert_array_equal(basis[:, pivots], np.eye(rank))
    assert pool.error(Y[:, pivots] @ basis, Y) < 1e-8  # what is not in the basis changes no torque


@pytest.mark.ci
@pytest.mark.parametrize("robot", pool.some(SHIPPED, [("mit_humanoid_leg", False), ("four_bar", False)]))
def test_rank_on_shipped_robots(robot: tuple[str, bool], rng: np.random.Generator) -> None:
    model = loaded(*robot)
    pin.seed(2)
    count = 3 * parameter_columns(model).width // model.nv + 20
    check_rank(model, [(pc.randomConfiguration(model), *rng.normal(size=(2, model.nv))) for _ in range(count)])


@pytest.mark.ci
@pytest.mark.parametrize("seed", pool.some(range(40), 8))
def test_rank_on_random_trees(seed: int, rng: np.random.Generator) -> None:
    """Every joint type, couplings, rotors on any carrier."""
    key = f"tree-{seed}"
    model = pool.case(key).model
    if not model.nv:
        pytest.skip("nothing moves")
    states = []
    for _ in range(3 * parameter_columns(model).width // model.nv + 20):
        # along motions: the angle of a continuous joint jumps by a turn otherwise, and what follows it by more
        q = pc.integrate(model, pc.neutral(model), rng.uniform(-5.0, 5.0, model.nv))
        states.append((q, *rng.normal(size=(2, model.nv))))
    check_rank(model, states)


def check_identifiable(model: pc.ClusterModel, states: list[tuple[np.ndarray, ...]]) -> np.ndarray:
    """At states that it has not seen, by the columns that the docstring names."""
    basis, labels = pc.identifiable_parameters(model)
    own = ((basis == 1.0) & (np.count_nonzero(basis, axis=0) == 1)).argmax(axis=1)
    assert len(set(own)) == len(basis)
    assert all(label.startswith(pc.parameters(model)[1][i]) for i, label in zip(own, labels, strict=True))
    data = model.createData()
    for state in states:
        Y = pc.computeJointTorqueRegressor(model, data, *state)
        assert pool.error(Y[:, own] @ basis, Y) < 1e-8
    assert np.abs(basis).max() < 1e6
    again, _ = pc.identifiable_parameters(model, seed=5)
    np.testing.assert_allclose(again, basis, rtol=0.0, atol=1e-6 * np.abs(basis).max())
    return basis


AWKWARD = (
    "tree-1",
    "tree-3",
    1494,
    "plate_that_leads",
    101,
    105,
    109,
    "planar-1",
    "planar-11",
    "planar-6",
)


@pytest.mark.ci
@pytest.mark.parametrize("key", pool.some(AWKWARD, 1, rest="ci"))
@pytest.mark.parametrize("armature", [False, True])
def test_identifiable_parameters_of_awkward_robots(key: Any, armature: bool, rng: np.random.Generator) -> None:
    """A rod with mass above another loop, loops that hardly move; armature that differs between a base's axes."""
    model = pool.case(key).model
    if armature:
        tree = model.tree.copy()
        for j in (j for j in range(1, tree.njoints) if tree.nvs[j] > 1):
            tree.armature[tree.idx_vs[j] : tree.idx_vs[j] + tree.nvs[j]] = rng.uniform(0.05, 0.5, tree.nvs[j])
        model = alike(model, tree=tree)
    states = [pool.state(key, rng) for _ in range(12)]
    check_identifiable(model, [(s.q, s.v, s.a) for s in states])


WITHOUT_GAP = {690: 26, 234: 31, 202: 41}
"""Seeds of mechanisms, and how many singular values of their largest cluster are above 1e-8."""


@pytest.mark.parametrize("key", pool.some(WITHOUT_GAP, 3, everyday=1))
def test_singular_values_without_a_gap(key: int, rng: np.random.Generator) -> None:
    """Loops of up to seven bodies whose singular values decrease by factors of 2 to 60, to 1e-15.

    Over other states, the columns that are kept stay independent: 1e-10 is a thousand times above rounding.
    """
    case, found = pool.case(key), list[np.ndarray]()
    model, data, q = case.model, case.model.createData(), case.q
    with warns(pc.PinClustersWarning, f"identifiable_parameters {WITHOUT_GAP[key]} 1e-08"):
        basis, labels = pc.identifiable_parameters(model)
    assert len(labels) == len(basis)
    own = ((basis == 1.0) & (np.count_nonzero(basis, axis=0) == 1)).argmax(axis=1)
    while len(found) < 200:
        try:
            q = pc.integrate(model, q if len(found) % 8 else case.q, rng.uniform(-0.5, 0.5, model.nv))
            Y = pc.computeJointTorqueRegressor(model, data, q, *rng.normal(size=(2, model.nv)))
        except (pc.BranchLost, pc.SingularClusterError):
            q = case.q
            continue
        found.append(Y / np.abs(Y).max())
    s = np.linalg.svd((X := np.vstack(found)[:, own]) / np.linalg.norm(X, axis=0), compute_uv=False)
    assert s[-1] > 1e-10 * s[0]
    assert pool.error(X @ basis, np.vstack(found)) < 1e-5


@pytest.mark.parametrize("part", [1e-3, 3e-4, 1e-5])
def test_a_parameter_that_torques_hardly_feel(part: float, rng: np.random.Generator) -> None:
    """The inertia about x where the axis is almost across it; it is no base parameter, but no torque lacks it."""
    tree = pin.Model()
    body = pin.Inertia(1.0, np.array([0.1, 0.0, 0.2]), np.diag([0.1, 0.2, 0.25]))
    axis = np.array([part, 0.6, np.sqrt(0.64 - part * part)])
    slide = tree.addJoint(0, pin.JointModelPZ(), pin.SE3.Identity(), "slide")
    hinge = tree.addJoint(slide, pin.JointModelRevoluteUnaligned(axis), pin.SE3.Identity(), "hinge")
    for j in (slide, hinge):
        tree.appendBodyToJoint(j, body, pin.SE3.Identity())
    model = pc.ClusterModel(tree)
    basis = check_identifiable(model, [tuple(rng.normal(size=(3, 2))) for _ in range(12)])
    k = pc.parameters(model)[1].index("hinge: Ixx")
    (row,) = np.flatnonzero(basis[:, k])
    ratio = basis[row, k] / basis[row, pc.parameters(model)[1].index("hinge: Iyy")]
    assert abs(ratio / (part / 0.6) ** 2 - 1.0) < 1e-3


def test_what_armature_of_a_base_is_told_from() -> None:
    """By hand: A a in the body, no w x A w: along axes never a mass; of a ball three equal ones are an inertia."""
    for joint, alone in ((pin.JointModelFreeFlyer(), 15), (pin.JointModelSpherical(), 11)):
        tree = pin.Model()
        tree.appendBodyToJoint(
            tree.addJoint(0, joint, pin.SE3.Identity(), "base"), pin.Inertia.Random(), pin.SE3.Identity()
        )
        tree.armature = 0.1 * np.arange(1.0, tree.nv + 1.0)
        assert len(pc.identifiable_parameters(pc.ClusterModel(tree))[0]) == alone


def test_labels_of_a_pendulum() -> None:
    """By hand: torque = Izz a + g (mx cos q - my sin q) about a horizontal axis."""
    tree = pin.Model()
    j = tree.addJoint(0, pin.JointModelRZ(), pin.SE3(pin.rpy.rpyToMatrix(np.pi / 2, 0.0, 0.0), np.zeros(3)), "arm")
    tree.appendBodyToJoint(j, pin.Inertia(2.0, np.array([0.3, 0.0, 0.0]), 0.1 * np.eye(3)), pin.SE3.Identity())
    model = pc.ClusterModel(tree, [pc.Rotor("arm", 10.0, axial_inertia=1e-3)])
    basis, labels = pc.identifiable_parameters(model)
    # the rotor is carried by the universe: its inertia cannot be told from that of the arm
    assert labels == ("arm: mx", "arm: my", "arm: Izz + 100 rotor:arm: axial inertia")
    np.testing.assert_allclose(basis @ pc.parameters(model)[0], [0.6, 0.0, 0.1 + 2.0 * 0.09 + 0.1], atol=1e-12)


def on_couplings(model: pc.ClusterModel, q: np.ndarray) -> np.ndarray:
    """The independent joints where they are, the dependent ones where their couplings have them."""
    q = q.copy()
    for row in model.coupling_rows:
        follow = sum(c * coordinate(model.tree, m, q) for m, c in row.terms) + row.offset
        set_coordinate(model.tree, row.dependent, q, follow)
    return q


def check_ratios(model: pc.ClusterModel, rng: np.random.Generator) -> None:
    pin.seed(3)
    q, v, a = pc.randomConfiguration(model), *rng.normal(size=(2, model.nv))
    slopes, labels = pc.computeRatioDerivatives(model, model.createData(), q, v, a)
    assert slopes.shape == (model.nv, len(labels))
    assert len(set(labels)) == len(labels)
    seen = 0
    for i, c in enumerate(model.constraints):
        for label, name, change in changes(c):
            x = 1e-3 * max(1.0, abs(change(None)))

            def tau(k: int, i: int = i, change: Any = change, x: float = x) -> np.ndarray:
                constraints = list(model.constraints)
                constraints[i] = change(k * x)
                other: ClusterModel = alike(model, constraints=tuple(constraints))
                return pc.rnea(other, other.createData(), on_couplings(other, q), v, a)

            expected = sum(w * (tau(k) - tau(-k)) for k, w in STENCIL) / x
            column = slopes[:, labels.index(f"{c.label}: {label}{name}")]
            assert np.abs(column - expected).max() < 1e-9 * max(1.0, np.abs(expected).max()), label
            seen += 1
    assert seen == len(labels)


def changes(c: Any) -> list[tuple[str, str, Any]]:
    """What is named in the label of each ratio of a constraint, and what changes it; of None: the number itself."""
    if isinstance(c, pc.Rotor):
        several = len(c.ratios) > 1

        def rotor(i: int) -> Any:
            return lambda x: (
                c.ratios[i] if x is None else
                dataclasses.replace(c, ratios=tuple(r + x * (k == i) for k, r in enumerate(c.ratios)))
            )  # fmt: skip

        return [("ratio", f" of {name}" if several else "", rotor(i)) for i, name in enumerate(c.joints)]
    if isinstance(c, (pc.Gear, pc.Belt)):
        return [("ratio", "", lambda x: c.ratio if x is None else dataclasses.replace(c, ratio=c.ratio + x))]
    if isinstance(c, pc.LinearCoupling):

        def linear(name: str) -> Any:
            return lambda x: (
                c.independent[name] if x is None else
                dataclasses.replace(c, independent={**c.independent, name: c.independent[name] + x})
            )  # fmt: skip

        return [("coefficient of ", name, linear(name)) for name in c.independent]
    return []


@pytest.mark.parametrize(
    "name",
    pool.some(
        ["mini_cheetah", "mit_humanoid", "mit_humanoid_leg", "teleop_arm", "jvrc1", "cassie_leg", "tello_with_arms"],
        ["mit_humanoid_leg", "cassie_leg"],
        everyday=1,
    ),
)
def test_ratios_of_shipped_robots(name: str, rng: np.random.Generator) -> None:
    check_ratios(loaded(name, False), rng)


def test_ratios_of_chains_of_couplings(rng: np.random.Generator) -> None:
    tree = pin.buildSampleModelManipulator()
    check_ratios(
        pc.ClusterModel(
            tree,
            [
                pc.LinearCoupling("elbow_joint", {"shoulder1_joint": 0.7, "shoulder3_joint": -0.4}, offset=0.2),
                pc.LinearCoupling("wrist1_joint", {"elbow_joint": 2.0}),
                pc.Rotor(["wrist1_joint"], [9.0], axial_inertia=3e-3),
                pc.Rotor(
                    ["shoulder3_joint", "wrist2_joint"], [7.0, -3.0], axial_inertia=3e-3, axis=(0.3, -0.4, 0.8),
                    carrier="shoulder2_joint", name="far",
                ),
            ],
        ),
        rng,
    )  # fmt: skip


@pytest.mark.parametrize("dependent", ["left2", "right2"])
def test_ratios_of_belts_of_links(dependent: str, rng: np.random.Generator) -> None:
    """Either side of a belt may follow, with an offset."""
    tree = pin.Model()
    for side, y in (("left", 0.2), ("right", -0.2)):
        parent = 0
        for i in (1, 2):
            M = pin.SE3(np.eye(3), np.array([0.3, y, 0.1]))
            parent = tree.addJoint(parent, pin.JointModelRY() if i == 1 else pin.JointModelRX(), M, f"{side}{i}")
            tree.appendBodyToJoint(parent, pin.Inertia.Random(), pin.SE3.Identity())
    belt = pc.Belt("left2", "right2", 1.7, offset=0.3, dependent=dependent)
    check_ratios(pc.ClusterModel(tree, [belt]), rng)


@pytest.mark.jitless
def test_robots_without_joints_and_side_by_side(rng: np.random.Generator) -> None:
    nobody, nothing = pc.ClusterModel(pin.Model()), np.zeros(0)
    data = nobody.createData()
    assert pc.computeJointTorqueRegressor(nobody, data, nothing, nothing, nothing).shape == (0, 0)
    assert pc.computeStaticRegressor(nobody, data, nothing).shape == (3, 0)
    assert pc.computeRatioDerivatives(nobody, data, nothing, nothing, nothing)[0].shape == (0, 0)
    assert pc.identifiable_parameters(nobody)[0].shape == (0, 0)
    assert pc.with_parameters(nobody, nothing).nv == 0
    tree = pin.Model()
    for name in ("one", "other"):
        j = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Random(), name)
        tree.appendBodyToJoint(j, pin.Inertia.Random(), pin.SE3.Identity())
    model = pc.ClusterModel(tree)
    check_products(model, pc.randomConfiguration(model), *rng.normal(size=(2, model.nv)), 1e-12)
    assert len(pc.identifiable_parameters(model)[0]) == 20


def test_without_gravity_first_moments_of_a_fixed_axis_are_not_felt() -> None:
    tree = pin.Model()
    tree.appendBodyToJoint(
        tree.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "arm"), pin.Inertia.Random(), pin.SE3.Identity()
    )
    model = pc.ClusterModel(tree)
    assert pc.identifiable_parameters(model)[1] == ("arm: my", "arm: mz", "arm: Ixx")
    assert pc.identifiable_parameters(model.with_gravity(np.zeros(3)))[1] == ("arm: Ixx",)
