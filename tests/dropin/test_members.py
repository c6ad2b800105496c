"""Members of data after each call: what Pinocchio's function of the same name leaves there, or reading them raises."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples.bad_loops import parallelogram
from samples.plain import TREES, all_kinds
from support.messages import raises
from support.overloads import bodies, external_forces, numbers

import pin_clusters as pc
from pin_clusters.compiler.owed import OWED, bits

pytestmark = [
    pytest.mark.jitless,
    pytest.mark.skipif(not pin.__version__.startswith("4.1"), reason="compares with Pinocchio 4.1"),
]
ROUNDING = 1e-10  # of two algorithms, relative to the largest entry

MEMBERS = (
    "liMi oMi v a f a_gf J dJ Jcom Ag dAg hg dhg com vcom acom mass Ig M Minv nle g tau ddq kinetic_energy "
    "potential_energy mechanical_energy dtau_dq dtau_dv ddq_dq ddq_dv C"
).split()
FORMS = {
    "rnea": "q v a", "nonLinearEffects": "q v", "computeGeneralizedGravity": "q", "computeStaticTorque": "q fext",
    "aba": "q v a", "crba": "q", "computeMinverse": "q", "computeRNEADerivatives": "q v a",
    "computeABADerivatives": "q v a", "computeGeneralizedGravityDerivatives": "q",
    "computeStaticTorqueDerivatives": "q fext", "computeCoriolisMatrix": "q v", "computeKineticEnergy": "q v",
    "computePotentialEnergy": "q", "computeMechanicalEnergy": "q v",
    "computeCentroidalDynamicsDerivatives": "q v a", "computeJointTorqueRegressor": "q v a",
    "computeStaticRegressor": "q", "computeKineticEnergyRegressor": "q v", "computePotentialEnergyRegressor": "q",
    "jacobianCenterOfMass": "q", "computeCentroidalMap": "q", "ccrba": "q v", "dccrba": "q v",
    "computeCentroidalMapTimeVariation": "q v", "computeForwardKinematicsDerivatives": "q v a",
    "computeAllTerms": "q v", "forwardKinematics": "q v a", "computeJointJacobians": "q",
    "computeJointJacobiansTimeVariation": "q v", "centerOfMass": "q v a", "computeCentroidalMomentum": "q v",
    "computeCentroidalMomentumTimeVariation": "q v a",
}  # fmt: skip
"""Each function, and the state that it is given."""
MORE = {
    "computeABADerivatives": {"M"}, "computeGeneralizedGravityDerivatives": {"dtau_dq", "dtau_dv"},
    "computeStaticTorqueDerivatives": {"dtau_dq", "dtau_dv"}, "computeCentroidalMomentumTimeVariation": {"acom"},
    "computeCentroidalMapTimeVariation": {"hg", "vcom", "Ig"},
}  # fmt: skip
"""What a function writes that Pinocchio's leaves as it is."""
WRONG = {"computeCentroidalMapTimeVariation": {"dAg"}}
"""What Pinocchio 4.1 gets wrong."""
WHOLE_ONLY = {"computeCentroidalMomentum", "computeCentroidalMomentumTimeVariation",
              "computeCentroidalDynamicsDerivatives"}  # fmt: skip
"""Where Pinocchio leaves the centre of mass of the whole robot, and intermediate results behind it."""
OF_INVERSE_DYNAMICS = bits("a_gf f")
"""Members with tests of their own."""
SYMMETRIC = {"M", "Minv"}
"""Of which Pinocchio writes one half."""


def tree() -> pin.Model:
    return pin.buildSampleModelHumanoidRandom()


def states(model: pin.Model, rng: np.random.Generator) -> dict[str, Any]:
    """Return a state, and external forces on the bodies."""
    fext = rng.normal(size=(len(bodies(model)), 6))
    v, a = rng.normal(size=(2, model.nv))
    return {
        "q": pin.integrate(model, pin.neutral(model), 0.3 * rng.normal(size=model.nv)),
        "v": v,
        "a": a,
        "fext": fext,
    }


def call(package: Any, model: Any, data: Any, function: str, state: dict[str, Any]) -> None:
    tree = model if isinstance(model, pin.Model) else model.tree
    given = state | {"fext": external_forces(tree, state["fext"])}
    getattr(package, function)(model, data, *(given[name] for name in FORMS[function].split()))


def differing(ours: pc.ClusterData, theirs: pin.Data, names: list[str]) -> tuple[set[str], set[str]]:
    """Return the members that differ, and those that raise."""
    wrong, raising = set(), set()
    for name in names:
        try:
            x, y = getattr(ours, name), getattr(theirs, name)
        except pc.NotComputedError:
            raising.add(name)
            continue
        if name in SYMMETRIC:
            x, y = x[np.triu_indices(len(x))], y[np.triu_indices(len(y))]
        x, y = numbers(x), numbers(y)
        if x.shape != y.shape or not np.abs(x - y).max() < ROUNDING * max(1.0, np.abs(y).max()):
            wrong.add(name)
    return wrong, raising


@pytest.mark.parametrize("robot", [pytest.param(x, marks=[pytest.mark.ci] * (x != "kinds")) for x in TREES])
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("function", FORMS)
def test_each_call_leaves_what_pinocchios_leaves(
    function: str, times: int, robot: str, rng: np.random.Generator
) -> None:
    """After a history of other calls at another state; the second time the usual call is machine code."""
    plain = TREES[robot]()
    model = pc.ClusterModel(plain)
    before, now = states(plain, rng), states(plain, rng)
    # such that Pinocchio leaves no intermediate results under these names
    spoils = {name: OWED[name].spoils & ~OF_INVERSE_DYNAMICS if name in OWED else 0 for name in FORMS}
    history = [name for name in FORMS if not spoils[name] and name not in WRONG | MORE.keys()]
    history = [*(name for name in history if name not in WHOLE_ONLY), "dccrba", "computeRNEADerivatives",
               "computeCentroidalMap", "centerOfMass", "forwardKinematics"]  # fmt: skip

    def called(package: Any, of: Any) -> Any:
        data = of.createData()
        for name in history:
            call(package, of, data, name, before)
        for _ in range(times):
            call(package, of, data, function, now)
        return data

    left_out = MORE.get(function, set()) | WRONG.get(function, set()) | {"ddq", "ddq_dq", "ddq_dv", "C"} - {function}
    left_out |= {"com"} if function in WHOLE_ONLY else set()
    ours, names = called(pc, model), [name for name in MEMBERS if name not in left_out]
    wrong, raising = differing(ours, called(pin, plain), names)
    if robot == "kinds":  # Pinocchio 4.1 is wrong behind joints that consist of several
        wrong, _ = differing(ours, called(pin, all_kinds(split=True)), list(wrong))
    assert not wrong
    assert bin(spoils[function]).count("1") <= len(raising) <= 8, raising


@pytest.mark.parametrize("function", [
    "rnea", "nonLinearEffects", "computeGeneralizedGravity", "computeAllTerms", "computeStaticTorque",
    "computeJointTorqueRegressor",
])  # fmt: skip
def test_accelerations_and_forces_of_inverse_dynamics(function: str, rng: np.random.Generator) -> None:
    """Also after other calls, which Pinocchio does not let write them."""
    plain = tree()
    model = pc.ClusterModel(plain)
    ours, theirs = model.createData(), plain.createData()
    before, now = states(plain, rng), states(plain, rng)
    for package, of, data in ((pin, plain, theirs), (pc, model, ours)):
        for at, name in ((before, "rnea"), (now, function), (now, function), (now, "computeJointJacobians")):
            call(package, of, data, name, at)
    without_forces = function in ("computeStaticTorque", "computeJointTorqueRegressor", "computeAllTerms")
    for data in (ours, ours.copy(), pickle.loads(pickle.dumps(ours))):
        wrong, raising = differing(data, theirs, ["a_gf"] if without_forces else ["a_gf", "f"])
        assert not wrong | raising
    state = [now["q"], now["v"], now["a"]]
    joint = plain.njoints - 1
    pc.rnea(model, ours, *(2.0 * x if i else x for i, x in enumerate(state)))
    Y = pc.jointBodyRegressor(model, ours, joint)  # of the later call
    pin.rnea(plain, theirs, now["q"], 2.0 * now["v"], 2.0 * now["a"])
    assert np.allclose(Y, pin.jointBodyRegressor(plain, theirs, joint))


def test_body_regressors_after_inverse_dynamics(rng: np.random.Generator) -> None:
    for model in (pc.ClusterModel(tree()), pc.load("tello")):
        q = pc.integrate(model, pc.neutral(model), 0.05 * rng.normal(size=model.nv))
        v, a = rng.normal(size=(2, model.nv))
        data, fresh, joint = model.createData(), model.createData(), model.njoints - 1
        pc.forwardKinematics(model, data, q)
        pc.rnea(model, data, q, v, a)
        pc.forwardKinematics(model, fresh, q, v, a)
        M, v_joint, a_joint = fresh.oMi[joint], fresh.v[joint], fresh.a[joint]
        expected = pin.bodyRegressor(v_joint, a_joint - M.actInv(pin.Motion(np.array(model.gravity.vector))))
        assert np.allclose(pc.jointBodyRegressor(model, data, joint), expected, atol=ROUNDING)
        pc.aba(model, data, q, v, a)
        with raises(pc.NotComputedError, "data.a_gf pc.rnea"):
            pc.jointBodyRegressor(model, data, joint)


def test_what_cannot_be_computed_any_more_raises(rng: np.random.Generator) -> None:
    plain = tree()
    model = pc.ClusterModel(plain)
    data, one, other = model.createData(), states(plain, rng), states(plain, rng)
    pc.computeMinverse(model, data, one["q"])  # Pinocchio leaves J
    pc.crba(model, data, one["q"])  # at the same q: it is still known
    assert np.allclose(data.J, pc.computeJointJacobians(model, model.createData(), one["q"]))
    pc.computeMinverse(model, data, one["q"])
    pc.crba(model, data, other["q"])
    with raises(pc.NotComputedError, "data.J pc.computeJointJacobians"):
        _ = data.J
    pc.computeJointJacobians(model, data, one["q"])
    assert np.allclose(data.J, pc.computeJointJacobians(model, model.createData(), one["q"]))


@pytest.mark.parametrize("function", ["rnea", "computeRNEADerivatives", "aba"])
def test_robots_with_rotors_and_loops(function: str, rng: np.random.Generator) -> None:
    """The same as the function that computes the member, with all that couples joints."""
    model = pc.load("tello")
    q = pc.integrate(model, pc.neutral(model), 0.05 * rng.normal(size=model.nv))
    v, a = rng.normal(size=(2, model.nv))
    data, fresh = model.createData(), model.createData()
    getattr(pc, function)(model, data, q, v, a)
    pc.forwardKinematics(model, fresh, q, v)
    for name in ("liMi", "v"):
        assert np.array_equal(numbers(getattr(data, name)), numbers(getattr(fresh, name)))
    if function == "computeRNEADerivatives":
        J = pc.computeJointJacobians(model, fresh, q)
        assert np.array_equal(data.J, J)
        frame = model.nframes - 1
        ours, theirs = (pc.getFrameJacobian(model, x, frame, pin.WORLD) for x in (data, fresh))
        assert np.allclose(ours, theirs, atol=1e-13)


def test_copies_and_pickles_have_what_is_owed(rng: np.random.Generator) -> None:
    plain = tree()
    model = pc.ClusterModel(plain)
    data, state = model.createData(), states(plain, rng)
    pc.computeCentroidalDynamicsDerivatives(model, data, state["q"], state["v"], state["a"])
    for other in (data.copy(), pickle.loads(pickle.dumps(data))):
        assert other == data
        for name in ("Ag", "dhg", "J", "v"):
            assert np.array_equal(numbers(getattr(other, name)), numbers(getattr(data, name)))
        with pytest.raises(pc.NotComputedError):
            _ = other.tau


@pytest.mark.parametrize("name", ["mit_humanoid_leg", "four_bar"])
def test_what_is_paid_late_leaves_newer_placements(name: str, rng: np.random.Generator) -> None:
    """J is owed at one pose, and the robot was placed at another since."""
    model = pc.load(name)
    q, other = (pc.integrate(model, model.q_reference, 0.1 * rng.normal(size=model.nv)) for _ in range(2))
    for _ in range(2):
        data, fresh = model.createData(), model.createData()
        pc.computeMinverse(model, data, q)
        pc.forwardKinematics(model, data, other)
        pc.forwardKinematics(model, fresh, other)
        assert np.array_equal(numbers(data.tree.oMi), numbers(fresh.tree.oMi))
        v, a = rng.normal(size=(2, model.nv))
        pc.aba(model, data, q, v, a)  # owes the velocities there
        pc.computeMinverse(model, data, q)
        pc.forwardKinematics(model, data, other)
        assert np.array_equal(numbers(data.tree.oMi), numbers(fresh.tree.oMi))
        pc.forwardKinematics(model, fresh, q, v)
        assert np.array_equal(numbers(data.v), numbers(fresh.v))
        pc.forwardKinematics(model, fresh, other)
        if model.closures:
            with raises(pc.NotComputedError, "data.J"):
                _ = data.J
        else:
            assert np.allclose(data.J, pc.computeJointJacobians(model, model.createData(), q), atol=1e-13)
        assert np.array_equal(numbers(data.tree.oMi), numbers(fresh.tree.oMi))
        J = pc.computeJointJacobians(model, fresh, other)
        assert np.allclose(pc.computeJointJacobians(model, data), J, atol=1e-13)


def test_getters_and_frames_see_what_is_owed(rng: np.random.Generator) -> None:
    plain = tree()
    model = pc.ClusterModel(plain)
    ours, theirs, state = model.createData(), plain.createData(), states(plain, rng)
    for package, of, data in ((pin, plain, theirs), (pc, model, ours)):
        call(package, of, data, "computeMinverse", states(plain, np.random.default_rng(1)))
        call(package, of, data, "computeRNEADerivatives", state)
        package.updateFramePlacements(of, data)
    frame = plain.nframes - 1
    assert np.allclose(ours.oMf[frame].homogeneous, theirs.oMf[frame].homogeneous, atol=ROUNDING)
    for axes in (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED):
        for function in ("getFrameVelocity", "getFrameAcceleration", "getFrameClassicalAcceleration"):
            x, y = (getattr(p, function)(m, d, frame, axes) for p, m, d in ((pc, model, ours), (pin, plain, theirs)))
            assert np.allclose(x.vector, y.vector, atol=ROUNDING)
        x, y = (p.getFrameJacobian(m, d, frame, axes) for p, m, d in ((pc, model, ours), (pin, plain, theirs)))
        assert np.allclose(x, y, atol=ROUNDING)
        x, y = (p.getFrameJacobianTimeVariation(m, d, frame, axes) for p, m, d in
                ((pc, model, ours), (pin, plain, theirs)))  # fmt: skip
        assert np.allclose(x, y, atol=ROUNDING)
    assert pc.computeKineticEnergy(model, ours) == pytest.approx(pin.computeKineticEnergy(plain, theirs))


@pytest.mark.parametrize("times", [1, 2])
def test_a_jacobian_leaves_other_members_owed(times: int, rng: np.random.Generator) -> None:
    """The Python function and machine code compute the same members, so that later calls lose the same ones."""
    plain = tree()
    model = pc.ClusterModel(plain)
    data, one, other = model.createData(), states(plain, rng), states(plain, rng)
    for _ in range(times):
        pc.computeJointJacobians(model, data, one["q"])
        call(pc, model, data, "computeGeneralizedGravityDerivatives", one)  # owes J, g and placements
        pc.getJointJacobian(model, data, 2, pin.LOCAL)
        call(pc, model, data, "computeStaticTorque", other)  # overwrites the state
        with raises(pc.NotComputedError, "data.g pc.computeGeneralizedGravity"):
            _ = data.g


@pytest.mark.parametrize("times", [1, 2])
def test_placements_of_frames_leave_other_members_owed(times: int, rng: np.random.Generator) -> None:
    plain = tree()
    model = pc.ClusterModel(plain)
    data, one, other = model.createData(), states(plain, rng), states(plain, rng)
    for _ in range(times):
        call(pc, model, data, "computeForwardKinematicsDerivatives", one)  # owes J
        pc.updateFramePlacements(model, data)
        call(pc, model, data, "nonLinearEffects", other)  # overwrites the state
        with raises(pc.NotComputedError, "data.J pc.computeJointJacobians"):
            _ = data.J


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of plain Python, at a singular pose
def test_calls_that_fail_keep_the_state() -> None:
    """The last state is the same, whether machine code or the Python function was called with it."""
    model = parallelogram()
    data, q, v = model.createData(), np.array([-1.0, -1.0, 1.0]), np.ones(1)
    for _ in range(2):
        pc.computeCoriolisMatrix(model, data, q, v)
        with pytest.raises(pc.SingularClusterError):
            pc.computeCoriolisMatrix(model, data, np.zeros(3), v)
        with pytest.raises(pc.SingularClusterError):
            pc.getCoriolisMatrix(model, data)


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of plain Python, at a singular pose
def test_derivatives_that_fail_leave_the_mass_matrix() -> None:
    model = parallelogram()
    data, q, v = model.createData(), model.q_reference, np.ones(1)
    for _ in range(2):  # the second time the usual call is machine code
        M = pc.computeRNEADerivatives(model, data, q, v, v)[2]
        with pytest.raises(pc.SingularClusterError):
            pc.computeRNEADerivatives(model, data, np.zeros(3), v, v)
        assert np.array_equal(data.M, M)


@pytest.mark.parametrize("times", [1, 2])
def test_all_terms_with_frames_leave_rates(times: int, rng: np.random.Generator) -> None:
    plain = tree()
    model = pc.ClusterModel(plain)
    data, fresh, state = model.createData(), model.createData(), states(plain, rng)
    for _ in range(times):
        pc.computeAllTerms(model, data, state["q"], state["v"], frames=[1])
    pc.dccrba(model, fresh, state["q"], state["v"])
    assert np.allclose(data.dJ, fresh.dJ, atol=ROUNDING)
    assert np.allclose(data.dAg, fresh.dAg, atol=ROUNDING)


@pytest.mark.parametrize("name", ["nle", "g", "tau", "ddq"])
def test_all_terms_of_a_state_among_the_results(name: str, rng: np.random.Generator) -> None:
    plain = pin.buildSampleModelManipulator()
    model = pc.ClusterModel(plain)
    data, fresh = model.createData(), model.createData()
    q, v = rng.normal(size=(2, plain.nv))
    for frames in (None, [1], [1]):
        mine = getattr(data, name)
        mine[:] = q
        pc.computeAllTerms(model, data, mine, v, frames=frames)
        pc.computeAllTerms(model, fresh, q, v)
        for member in ("M", "nle", "g", "com", "hg", "J"):
            assert np.array_equal(numbers(getattr(data, member)), numbers(getattr(fresh, member))), member


@pytest.mark.parametrize("times", [1, 2])
def test_a_level_and_q_exclude_each_other(times: int, rng: np.random.Generator) -> None:
    plain = tree()
    model = pc.ClusterModel(plain)
    data, q = model.createData(), states(plain, rng)["q"]
    for _ in range(times):
        pc.centerOfMass(model, data, q)
        with raises(pc.ArgumentTypeError, "centerOfMass kinematic_level q"):
            pc.centerOfMass(model, data, q, kinematic_level=pin.POSITION)


@pytest.mark.parametrize("name", ["zyx", "universal", "composite"])
def test_centres_of_subtrees_with_axes_that_turn(name: str, rng: np.random.Generator) -> None:
    """The motion axes of some joints depend on q."""
    plain, joint = pin.Model(), pin.JointModelSphericalZYX()
    if name == "universal":
        joint = pin.JointModelUniversal(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    elif name == "composite":
        joint = pin.JointModelComposite(pin.JointModelRX())
        joint.addJoint(pin.JointModelSphericalZYX(), pin.SE3.Random())
    for kind in (pin.JointModelRY(), joint, pin.JointModelRZ()):
        last = plain.addJoint(plain.njoints - 1, kind, pin.SE3.Random(), f"joint{plain.njoints}")
        plain.appendBodyToJoint(last, pin.Inertia.Random(), pin.SE3.Random())
    model = pc.ClusterModel(plain)
    ours, theirs = model.createData(), plain.createData()
    q = pin.integrate(plain, pin.neutral(plain), rng.normal(size=plain.nv))
    pc.forwardKinematics(model, ours, q)
    for root in range(plain.njoints):
        found = pc.getJacobianSubtreeCenterOfMass(model, ours, root)
        assert np.allclose(found, pin.jacobianSubtreeCenterOfMass(plain, theirs, q, root), atol=1e-12)
        assert np.array_equal(pc.jacobianSubtreeCenterOfMass(model, ours, q, root), found)


def test_the_mass_matrix_is_one_array(rng: np.random.Generator) -> None:
    model = pc.load("mit_humanoid_leg")
    data = model.createData()
    M = data.M
    for _ in range(3):  # the second one is machine code
        q = pc.randomConfiguration(model)
        found = pc.crba(model, data, q)
        assert data.M is M
        assert np.array_equal(M, found)
    M[:] = 7.0  # of the user: no result is made of it
    assert np.array_equal(pc.crba(model, data, q), found)
    assert np.array_equal(M, found)


def test_masses_leave_out_what_is_welded_to_the_universe() -> None:
    plain = pin.buildSampleModelManipulator()
    plain.appendBodyToJoint(0, pin.Inertia.Random(), pin.SE3.Identity())
    model = pc.ClusterModel(plain)
    ours, theirs, q = model.createData(), plain.createData(), pin.neutral(plain)
    pc.centerOfMass(model, ours, q)
    pin.centerOfMass(plain, theirs, q)
    assert np.allclose(list(ours.mass), list(theirs.mass))
    assert pc.computeTotalMass(model) == pytest.approx(pin.computeTotalMass(plain))


@pytest.mark.parametrize("lost", ["com", "mass", "v", "hg", "oMi"])
def test_the_kernel_of_the_tree_writes_a_member_that_alone_was_lost(lost: str, rng: np.random.Generator) -> None:
    plain = tree()
    model = pc.ClusterModel(plain)
    data, theirs, state = model.createData(), plain.createData(), states(plain, rng)
    for _ in range(2):
        call(pc, model, data, "computeCentroidalMomentum", state)
        data._note(bits("f a_gf"), spoils=bits(lost))
        call(pc, model, data, "computeCentroidalMomentum", state)
    call(pin, plain, theirs, "computeCentroidalMomentum", state)
    for name in ("v", "hg", "oMi"):
        assert np.allclose(numbers(getattr(data, name)), numbers(getattr(theirs, name)), atol=ROUNDING)
    assert np.allclose(data.com[0], theirs.com[0], atol=ROUNDING)
    assert data.mass[0] == pytest.approx(theirs.mass[0])


@pytest.mark.parametrize("name", ["mit_humanoid", "four_bar"])
def test_nobody_can_resize_a_result(name: str) -> None:
    """Kernels write to the addresses of arrays that stay the same at all times; NumPy resizes no view."""
    model = pc.load(name)
    data, q, v = model.createData(), pc.neutral(model), np.zeros(model.nv)
    pc.computeAllTerms(model, data, q, v)
    pc.aba(model, data, q, v, v)
    seen = []
    for member in ("M", "ddq", "nle", "g", "tau", "_zeros", "_kept", "_contacts_found"):
        x = getattr(data, member)
        if x is getattr(data, member):  # not a fresh array
            seen.append(member)
            with pytest.raises(ValueError, match="cannot resize this array"):
                x.resize((0,), refcheck=False)
    assert {"M", "ddq", "_zeros"} <= set(seen)
