"""All forms in which Pinocchio's functions can be called, by position and by name: the same answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import plain
from support.overloads import Arguments, Form, forms, numbers

import pin_clusters as pc

pytestmark = [
    pytest.mark.jitless,
    pytest.mark.skipif(not pin.__version__.startswith("4.1"), reason="compares with Pinocchio 4.1"),
]
ROUNDING = 1e-10  # of two algorithms, relative to the largest entry

FUNCTIONS = sorted(
    name for name in {*pc.__all__, "nle"} if hasattr(pin, name) and not isinstance(getattr(pin, name), type)
)
FORMS = [form for name in FUNCTIONS if not name.startswith(("build", "append")) for form in forms(name)]
"""Of all but what makes models, whose tests are in ``test_robot_wrapper.py`` and ``tests/model``."""
OTHER = {
    "computeDelassusMatrix": "Pinocchio 4.1 adds mu to another matrix than J M^-1 J'",
    "computeDampedDelassusMatrixInverse": "the same",
    "computeImpulseDynamicsDerivatives": "Pinocchio's returns nothing",
}
"""Whose answers differ; tests of their own compare them with finite differences and dense equations."""
OF_SIMPLE_JOINTS = {
    "computeABADerivatives", "computeCentroidalDynamicsDerivatives", "computeCentroidalMapTimeVariation",
    "computeConstraintDynamicsDerivatives", "computeCoriolisMatrix", "computeGeneralizedGravityDerivatives",
    "computeJointJacobiansTimeVariation", "computeRNEADerivatives", "computeStaticTorqueDerivatives", "dccrba",
    "frameJacobianTimeVariation", "getCenterOfMassVelocityDerivatives", "getCentroidalDynamicsDerivatives",
    "getCoriolisMatrix", "getFrameAccelerationDerivatives", "getFrameJacobianTimeVariation",
    "getFrameKinematicHessian", "getFrameVelocityDerivatives", "getJointAccelerationDerivatives",
    "getJointJacobianTimeVariation", "getJointKinematicHessian", "getJointVelocityDerivatives",
    "getPointClassicAccelerationDerivatives", "getPointVelocityDerivatives",
}  # fmt: skip
"""Pinocchio 4.1 is wrong behind ZYX, universal and composite joints, and right if these are chains of simple joints."""
WRONG_BEHIND_PLANES = {"getFrameAccelerationDerivatives", "getJointAccelerationDerivatives"}
"""Pinocchio 4.1 is wrong behind planar and ball joints, whatever they consist of: compared with finite differences."""
FAILS_IN_PINOCCHIO = {"computeDampedDelassusMatrixInverse"}  # without damping it ends with an error


def prepared(package: Any, model: Any, data: Any, known: Arguments, form: Form) -> None:
    """Do what must be done before a function, in the forms that take no state."""
    q, v, a = known.q, known.v, known.a
    package.computeJointKinematicHessians(model, data, q)
    package.computeCentroidalMomentumTimeVariation(model, data, q, v, a)
    package.computeJointJacobiansTimeVariation(model, data, q, v)
    package.computeForwardKinematicsDerivatives(model, data, q, v, a)
    package.updateFramePlacements(model, data)
    name, contacts = form.function, known.contacts
    if name in ("getCoriolisMatrix", "getCentroidalDynamicsDerivatives"):
        of = {"getCoriolisMatrix": package.computeCoriolisMatrix}.get(name, package.computeRNEADerivatives)
        of(model, data, *(q, v, a)[: 2 + (name != "getCoriolisMatrix")])
    if name in ("getCenterOfMassVelocityDerivatives",):
        package.centerOfMass(model, data, q, v)
    if name in ("getJacobianSubtreeCenterOfMass", "jacobianSubtreeCenterOfMass"):
        package.jacobianCenterOfMass(model, data, q)
    if name in ("computeABADerivatives", "computeMinverse"):
        forces = [known.fext()] if "fext" in form.names else []
        package.aba(model, data, q, v, known.tau, *forces, pin.Convention.WORLD)
    if name in ("forwardDynamics", "impulseDynamics", "getKKTContactDynamicMatrixInverse"):
        package.computeAllTerms(model, data, q, v)
        if name == "getKKTContactDynamicMatrixInverse":
            package.forwardDynamics(model, data, q, v, known.tau, known.J, known.drift)
    if any("contact" in x or "constraint_m" in x for x in form.names):
        package.initConstraintDynamics(model, data, *contacts)
        if name in ("computeConstraintDynamicsDerivatives", "getConstraintJacobian", "getConstraintsJacobian"):
            package.constraintDynamics(model, data, q, v, known.tau, *contacts)
        if name == "computeImpulseDynamicsDerivatives":
            bounce = known.values(Form("", ("r_coeff",), True))[0] if "r_coeff" in form.names else 0.0
            package.impulseDynamics(model, data, q, v, *contacts, bounce, pin.ProximalSettings(1e-12, 0.0, 1))
    if name in ("jointBodyRegressor", "frameBodyRegressor", "computeSupportedForceByFrame"):
        package.rnea(model, data, q, v, a)
    if name == "randomConfiguration":
        pin.seed(1)


def answer(package: Any, model: Any, known: Arguments, form: Form, by_name: bool) -> np.ndarray:
    data = model.createData()
    known.__dict__.pop("contacts", None)  # new ones: functions write to their data
    prepared(package, model, data, known, form)
    values = known.values(form)
    if form.function == "contactInverseDynamics" and package is pin:  # which reads placements from data
        pin.computeJointJacobians(model, data, known.q)
        models, datas = (values[form.names.index(name)] for name in ("contact_models", "contact_datas"))
        for contact, of in zip(models, datas, strict=True):
            contact.calc(model, data, of)
    first = [model, data] if form.needs_data else [model]
    named = dict(zip(form.names, values, strict=True)) if by_name else {}
    found = getattr(package, form.function)(*first, *([] if by_name else values), **named)
    if form.function.endswith("KinematicHessian") and package is pin:  # whose indices are in another order
        found = np.ravel(found).reshape(found.shape, order="F")
    return numbers(found)


def test_there_are_forms_of_every_function() -> None:
    """Docstrings of Pinocchio are read: none may be missed because it looks otherwise."""
    unread = {name for name in FUNCTIONS if not forms(name)}
    builders = {
        name for name in unread if name.startswith(("append", "build", "createDatas", "initConstraintDynamics"))
    }
    assert unread - builders <= {"nle", "RigidConstraintModel"}
    assert len(FORMS) > 150


@pytest.mark.parametrize("robot", [pytest.param(x, marks=[pytest.mark.ci] * (x != "kinds")) for x in plain.TREES])
@pytest.mark.parametrize("form", FORMS, ids=map(str, FORMS))
def test_each_form_is_taken(form: Form, robot: str) -> None:
    tree = plain.TREES[robot]()
    model, known = pc.ClusterModel(tree), Arguments(tree)
    ours = [answer(pc, model, known, form, by_name) for by_name in (False, True)]
    assert np.array_equal(*ours)
    if robot == "kinds" and form.function in OF_SIMPLE_JOINTS:
        tree = plain.all_kinds(split=True)
        known = Arguments(tree)
    try:
        theirs = answer(pin, tree, known, form, False)
    except (RuntimeError, ValueError):
        assert form.function in FAILS_IN_PINOCCHIO
        return
    if form.function not in OTHER and not (robot == "kinds" and form.function in WRONG_BEHIND_PLANES):
        assert ours[0].shape == theirs.shape
        assert np.abs(ours[0] - theirs).max(initial=0.0) < ROUNDING * max(1.0, np.abs(theirs).max(initial=0.0))


def test_derivatives_of_accelerations_by_q_are_those_of_finite_differences() -> None:
    """Of the acceleration in the world, seen from the origin of the frame: WORLD_ALIGNED, as Pinocchio defines it."""
    tree = plain.TREES["kinds"]()
    model, known, data = pc.ClusterModel(tree), Arguments(tree), tree.createData()

    def acceleration(q: np.ndarray) -> np.ndarray:
        pin.forwardKinematics(tree, data, q, known.v, known.a)
        return np.array(pin.getFrameAcceleration(tree, data, known.frame, pin.WORLD).vector)

    def by_q(step: float) -> np.ndarray:
        moved = ([pin.integrate(tree, known.q, side * step * e) for side in (1, -1)] for e in np.eye(tree.nv))
        return np.stack([(acceleration(up) - acceleration(down)) / (2 * step) for up, down in moved], axis=1)

    expected = (4 * by_q(1e-4) - by_q(2e-4)) / 3  # error: step^4 and rounding / step, 1e-11 in all
    acceleration(known.q)
    origin = pin.updateFramePlacement(tree, data, known.frame).translation
    ours = model.createData()
    pc.computeForwardKinematicsDerivatives(model, ours, known.q, known.v, known.a)
    found = pc.getFrameAccelerationDerivatives(model, ours, known.frame, pin.LOCAL_WORLD_ALIGNED)[1]
    assert np.abs(found - pin.SE3(np.eye(3), origin).toActionMatrixInverse() @ expected).max() < 1e-8


@pytest.mark.parametrize("robot", plain.TREES)
def test_contacts_are_those_of_dense_equations(robot: str) -> None:
    tree, mu = plain.TREES[robot](), 0.01
    model, known = pc.ClusterModel(tree), Arguments(tree)
    data, theirs = model.createData(), tree.createData()
    pin.computeJointJacobians(tree, theirs, known.q)
    J = pin.getFrameJacobian(tree, theirs, known.joint, known.placement, pin.LOCAL)[:3]
    M = pin.crba(tree, theirs, known.q)
    delassus = J @ np.linalg.solve(M, J.T)
    contacts = known.contacts
    pc.initConstraintDynamics(model, data, *contacts)
    damped = delassus + mu * np.eye(3)
    found = pc.computeDelassusMatrix(model, data, known.q, *contacts, mu)
    assert np.abs(found - damped).max() < ROUNDING * np.abs(damped).max()
    inverse = pc.computeDampedDelassusMatrixInverse(model, data, known.q, *contacts, mu)
    assert np.abs(inverse @ damped - np.eye(3)).max() < ROUNDING * np.linalg.cond(damped)
    pc.computeJointJacobians(model, data, known.q)
    assert np.abs(pc.getConstraintsJacobian(model, data, *contacts) - J).max() < ROUNDING * np.abs(J).max()


@pytest.mark.parametrize("form", [form for form in FORMS if form.function in ("rnea", "aba", "centerOfMass")], ids=str)
def test_a_model_of_pinocchio_is_pinocchios(form: Form) -> None:
    tree = pin.buildSampleModelManipulator()
    known = Arguments(tree)
    for by_name in (False, True):
        assert np.array_equal(answer(pc, tree, known, form, by_name), answer(pin, tree, known, form, by_name))


@pytest.mark.parametrize("flag", [0, 1, np.int64(1), False])
def test_a_whole_number_in_the_place_of_compute_subtree_coms(flag: Any) -> None:
    plain = pin.buildSampleModelManipulator()
    model = pc.ClusterModel(plain)
    found = []
    for package, of in ((pin, plain), (pc, model)):
        data = of.createData()
        package.forwardKinematics(of, data, pin.neutral(plain), np.ones(plain.nv), np.ones(plain.nv))
        found.append([package.centerOfMass(of, data, int(flag)), package.jacobianCenterOfMass(of, data, int(flag))])
    data = model.createData()
    pc.forwardKinematics(model, data, pin.neutral(plain), np.ones(plain.nv), np.ones(plain.nv))
    found.append([pc.centerOfMass(model, data, flag), pc.jacobianCenterOfMass(model, data, flag)])
    for com, J in found[1:]:
        assert np.allclose(com, found[0][0], atol=1e-14)
        assert np.allclose(J, found[0][1], atol=1e-14)


def test_a_model_checks_data() -> None:
    model, other = (pc.ClusterModel(pin.buildSampleModelManipulator()) for _ in range(2))
    assert model.check(model.createData())
    assert not model.check(other.createData())
    assert not model.check(model.tree.createData())


def test_both_names_of_the_version() -> None:
    assert pc.__raw_version__ == pc.__version__
