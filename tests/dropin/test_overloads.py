"""All forms in which Pinocchio's functions can be called, by position and by name: the same answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.overloads import Arguments, Form, forms, numbers

import pin_clusters as pc

pytestmark = [
    pytest.mark.jitless,
    pytest.mark.skipif(not pin.__version__.startswith("4.1"), reason="compares with Pinocchio 4.1"),
]
ROUNDING = 1e-9  # of two algorithms, relative to the largest entry

FUNCTIONS = sorted(
    name for name in {*pc.__all__, "nle"} if hasattr(pin, name) and not isinstance(getattr(pin, name), type)
)
FORMS = [form for name in FUNCTIONS if not name.startswith("build") for form in forms(name)]
"""Of all but what builds models, whose tests are in ``test_robot_wrapper.py`` and ``tests/model/test_locking.py``."""
OTHER = {
    "computeDelassusMatrix": "Pinocchio 4.1 adds mu to another matrix than J M^-1 J'",
    "computeDampedDelassusMatrixInverse": "the same",
    "getConstraintsJacobian": "Pinocchio reads placements of contacts from data that nothing has filled",
    "getConstraintJacobian": "the same",
    "computeConstraintDynamicsDerivatives": "Pinocchio's are those of contacts whose reference frame is its own",
    "computeImpulseDynamicsDerivatives": "Pinocchio's returns nothing",
    "getFrameKinematicHessian": "Pinocchio's indices stand in another order, which docs/derivatives.md says",
    "getJointKinematicHessian": "the same",
    "jointBodyRegressor": "Pinocchio's needs data.a_gf, which only rnea and aba write",
    "frameBodyRegressor": "the same",
}
"""Whose answers differ; tests of their own compare them with finite differences and dense equations."""
FAILS_IN_PINOCCHIO = {"computeDampedDelassusMatrixInverse"}  # without damping it ends with an error


def prepared(package: Any, model: Any, data: Any, known: Arguments, form: Form) -> None:
    """Do what must be done before a function, in the forms that take no state."""
    q, v, a = known.q, known.v, known.a
    package.computeJointKinematicHessians(model, data, q)
    package.computeCentroidalMomentumTimeVariation(model, data, q, v, a)
    package.computeJointJacobiansTimeVariation(model, data, q, v)
    package.computeForwardKinematicsDerivatives(model, data, q, v, a)
    package.updateFramePlacements(model, data)
    name, contacts = form.function, known.contacts()
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
        if name == "computeConstraintDynamicsDerivatives":
            package.constraintDynamics(model, data, q, v, known.tau, *contacts)
        if name == "computeImpulseDynamicsDerivatives":
            bounce = known.values(Form("", ("r_coeff",), True))[0] if "r_coeff" in form.names else 0.0
            package.impulseDynamics(model, data, q, v, *contacts, bounce, pin.ProximalSettings(1e-12, 0.0, 1))
    if name == "randomConfiguration":
        pin.seed(1)


def answer(package: Any, model: Any, known: Arguments, form: Form, by_name: bool) -> np.ndarray:
    data = model.createData()
    prepared(package, model, data, known, form)
    values = known.values(form)
    first = [model, data] if form.needs_data else [model]
    named = dict(zip(form.names, values, strict=True)) if by_name else {}
    return numbers(getattr(package, form.function)(*first, *([] if by_name else values), **named))


def test_there_are_forms_of_every_function() -> None:
    """Docstrings of Pinocchio are read: none may be missed because it looks otherwise."""
    unread = {name for name in FUNCTIONS if not forms(name)}
    builders = {name for name in unread if name.startswith(("build", "createDatas", "initConstraintDynamics"))}
    assert unread - builders <= {"nle", "RigidConstraintModel"}
    assert len(FORMS) > 150


@pytest.mark.parametrize("robot", ["arm", "humanoid"])
@pytest.mark.parametrize("form", FORMS, ids=map(str, FORMS))
def test_each_form_is_taken(form: Form, robot: str) -> None:
    tree = pin.buildSampleModelManipulator() if robot == "arm" else pin.buildSampleModelHumanoidRandom()
    model, known = pc.ClusterModel(tree), Arguments(tree)
    ours = [answer(pc, model, known, form, by_name) for by_name in (False, True)]
    assert np.array_equal(*ours)
    try:
        theirs = answer(pin, tree, known, form, False)
    except (RuntimeError, ValueError):
        assert form.function in FAILS_IN_PINOCCHIO
        return
    if form.function not in OTHER:
        assert ours[0].shape == theirs.shape
        assert np.abs(ours[0] - theirs).max(initial=0.0) < ROUNDING * max(1.0, np.abs(theirs).max(initial=0.0))


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
