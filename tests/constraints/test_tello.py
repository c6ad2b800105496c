"""Tello's differentials: their equations at assembled states of an independent program, closed forms and twins."""

import pickle

import numpy as np
import pinocchio as pin
import pytest
from support.closure_values import assemblies, coordinates
from support.messages import raises

from pin_clusters.constraints import Differential, coupling
from pin_clusters.errors import ConstraintError, UnsupportedJointError

pytestmark = pytest.mark.jitless

# Assembled states of generalized_rbda v2.1.0 with its two slips undone: rotor 1, rotor 2, and both links
HIPS = [
    [0.9155412697452785, 0.15007070675597634, 0.07263481524012447, -0.06795803978656802],
    [0.7966781057379637, 0.16027138805457297, 0.06042566519715518, -0.07690521536893608],
    [0.3971821280885055, 0.5366320188684814, -0.013240795131708864, -0.07860322714363042],
    [0.5162043965576499, -0.6944182107884215, 0.11528518666953204, -0.1728924004653115],
]
KNEES = [
    [0.989822471465855, 0.8423954838100138, 0.1526848296063224, -0.012993048466719581],
    [0.25785160663079587, 0.8417106375076704, 0.09163018701153886, 0.05173742861660757],
    [-0.8068126890295335, 0.8861733873707656, 0.006613391528436001, 0.14885799072644204],
    [0.9907000075630239, -0.72199987235897, 0.02239167793367115, -0.15328143627578203],
]
NAMES = ("rotor_1", "rotor_2", "link_1", "link_2")


@pytest.fixture(autouse=True)
def _said(monkeypatch):
    monkeypatch.setattr(coupling, "_warned_slow", True)


def leg(joint=pin.JointModelRY):
    tree = pin.Model()
    for name in NAMES[:3]:
        tree.addJoint(0, joint(), pin.SE3.Identity(), name)
    tree.addJoint(tree.getJointId("link_1"), pin.JointModelRY(), pin.SE3.Identity(), "link_2")
    return tree


def hip_equations(q):
    """Written from the published equations, in another form than the package's."""
    (y1, y2), (l1, l2) = np.array(q[:2]) / 6, q[2:]
    s, c = np.sin, np.cos
    plane = 0.01888125 - 0.0098 * c(l1) - 0.0228 * c(l1) * s(l2)
    return np.array(
        [
            0.0228 * s(y1) - 0.0128 * c(y1) * c(l2) - (0.0112 * s(l1) + 0.0128 * c(l1) * s(l2)) * s(y1)
            + plane + (0.0112 * s(l2) - 0.01995) * s(l1),
            0.0228 * s(y2) - 0.0128 * c(y2) * c(l2) + (0.0112 * s(l1) - 0.0128 * c(l1) * s(l2)) * s(y2)
            + plane - (0.0112 * s(l2) - 0.01995) * s(l1),
        ]
    )  # fmt: skip


def knee_ankle_equations(q, pi):
    (y1, y2), (l1, l2) = np.array(q[:2]) / 6, q[2:]
    d, s, c = (y1 - y2) / 2, np.sin, np.cos
    crank = 0.00336 * c(d + 1979 * pi / 4500) - 0.0208 * c(d + 493 * pi / 1500) - 0.02184 * c(pi / 9)
    foot = 0.0182 * s(l2 + 2 * pi / 15) - 0.00294 * s(l2 + pi / 45) - 0.0028 * s(d + l2 + 231 * pi / 500)
    return np.array([crank + foot + 0.02613584, l1 - (y1 + y2) / 2])


HIP = Differential.tello_hip(*NAMES)
KNEE = Differential.tello_knee_ankle(*NAMES)
GOLDEN_KNEE = Differential.tello_knee_ankle(*NAMES, pi=3.1415)


def closure_of(constraint):
    (closure,) = constraint.closures(leg())
    return closure


def test_golden_states_are_assembled():
    for q in HIPS:
        np.testing.assert_allclose(closure_of(HIP).value(np.array(q)), 0.0, atol=1e-12)
    for q in KNEES:
        np.testing.assert_allclose(closure_of(GOLDEN_KNEE).value(np.array(q)), 0.0, atol=1e-12)
        # with the true pi they are off by what that program's constant leaves
        assert 1e-8 < np.abs(closure_of(KNEE).value(np.array(q))).max() < 1e-6


def test_equations_off_the_manifold():
    for q in np.random.default_rng(4).uniform(-3, 3, (20, 4)):
        np.testing.assert_allclose(closure_of(HIP).value(q), hip_equations(q), atol=1e-16)
        np.testing.assert_allclose(closure_of(KNEE).value(q), knee_ankle_equations(q, np.pi), atol=1e-15)
        np.testing.assert_allclose(closure_of(GOLDEN_KNEE).value(q), knee_ankle_equations(q, 3.1415), atol=1e-15)


@pytest.mark.parametrize("constraint", [HIP, KNEE, GOLDEN_KNEE])
def test_twin_has_the_same_derivatives(constraint):
    (twin,) = constraint.generic(leg())[0].closures(leg())
    closure = closure_of(constraint)
    assert twin.joints == closure.joints
    for q in np.random.default_rng(5).uniform(-1, 1, (4, 4)):
        np.testing.assert_allclose(closure.value(q), twin.value(q), atol=1e-15)
        np.testing.assert_allclose(closure.jacobian(q), twin.jacobian(q), atol=1e-15)
        np.testing.assert_allclose(closure.hessian(q), twin.hessian(q), atol=1e-13)


@pytest.mark.parametrize(
    ("constraint", "states", "given", "count"),
    [(HIP, HIPS, slice(2, 4), 4), (GOLDEN_KNEE, KNEES, slice(0, 2), 2), (KNEE, [], slice(0, 2), 2)],
)
def test_closed_form(constraint, states, given, count):
    tree, closure = leg(), closure_of(constraint)
    for state in states:
        found = assemblies(tree, constraint, np.array(state)[given])
        assert len(found) == count
        np.testing.assert_allclose(coordinates(tree, found[0], closure.joints), state, atol=1e-9)
    for x in np.random.default_rng(6).uniform(-0.15, 0.15, (10, 2)):
        for q in assemblies(tree, constraint, x):
            np.testing.assert_allclose(closure.value(coordinates(tree, q, closure.joints)), 0.0, atol=1e-15)


def test_zero_is_not_assembled():
    np.testing.assert_allclose(closure_of(HIP).value(np.zeros(4)), -0.00371875, atol=1e-15)


def test_parameters_pickle_and_show():
    assert pickle.loads(pickle.dumps(GOLDEN_KNEE)) == GOLDEN_KNEE != KNEE
    assert "pi=3.1415" in repr(GOLDEN_KNEE)
    assert HIP.label == "Differential.tello_hip('rotor_1', 'rotor_2', 'link_1', 'link_2')"
    assert HIP.independent == ("rotor_1", "rotor_2")
    assert isinstance(HIP, Differential)


def test_refusals():
    with raises(ConstraintError, "0"):
        Differential.tello_hip(*NAMES, gear=0)
    with raises(ConstraintError, "pi"):
        Differential.tello_knee_ankle(*NAMES, pi=np.nan)
    with raises(UnsupportedJointError):
        HIP.closures(leg(pin.JointModelRUBY))
