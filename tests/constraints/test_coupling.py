"""Couplings on functions of the user: Python and compiled, with and without derivatives, and refusals."""

import copy
import ctypes
import math
import pickle
from functools import partial

import numba
import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises, warns

from pin_clusters.constraints import Coupling, coupling
from pin_clusters.constraints._functions import ComplexStep
from pin_clusters.errors import ConstraintError, PinClustersError, PinClustersWarning, UnsupportedJointError

pytestmark = pytest.mark.jitless
JOINTS = ["a", "b", "s"]


@pytest.fixture(autouse=True)
def _said(request, monkeypatch):
    monkeypatch.setattr(coupling, "_warned_slow", "warning" not in request.node.name)


def tree():
    model = pin.Model()
    for name, joint in (("a", pin.JointModelRX()), ("b", pin.JointModelRY()), ("s", pin.JointModelPZ())):
        model.addJoint(0, joint, pin.SE3.Identity(), name)
    model.addJoint(1, pin.JointModelRUBX(), pin.SE3.Identity(), "c")
    model.addJoint(1, pin.JointModelSpherical(), pin.SE3.Identity(), "ball")
    return model


def cam(x, radius=0.1):
    return np.array([x[2] - radius * np.sin(x[0]) * np.cos(2 * x[1]), x[0] * x[1] + x[2] ** 2])


def cam_jacobian(x, radius=0.1):
    s, c, s2, c2 = np.sin(x[0]), np.cos(x[0]), np.sin(2 * x[1]), np.cos(2 * x[1])
    return np.array([[-radius * c * c2, 2 * radius * s * s2, 1.0], [x[1], x[0], 2 * x[2]]])


def cam_hessian(x, radius=0.1):
    s, c, s2, c2 = np.sin(x[0]), np.cos(x[0]), np.sin(2 * x[1]), np.cos(2 * x[1])
    H = np.zeros((2, 3, 3))
    H[0, 0, 0], H[0, 1, 1], H[0, 0, 1] = radius * s * c2, 4 * radius * s * c2, 2 * radius * c * s2
    H[0, 1, 0] = H[0, 0, 1]
    H[1, 0, 1] = H[1, 1, 0] = 1.0
    H[1, 2, 2] = 2.0
    return H


def cam_third(x):
    s, c, s2, c2 = np.sin(x[0]), np.cos(x[0]), np.sin(2 * x[1]), np.cos(2 * x[1])
    T = np.zeros((2, 3, 3, 3))
    values = {(0, 0, 0): c * c2, (0, 0, 1): -2 * s * s2, (0, 1, 1): 4 * c * c2, (1, 1, 1): -8 * s * s2}
    for at in np.ndindex(2, 2, 2):
        T[(0, *at)] = 0.1 * values[tuple(sorted(at))]
    return T


def real_cam(x):
    """Takes no complex number."""
    return [x[2] - 0.1 * math.sin(x[0]) * math.cos(2 * x[1]), x[0] * x[1] + x[2] ** 2]


def dropping_cam(x):
    """Throws the imaginary part away."""
    return cam(np.real(x))


POINTER = numba.types.CPointer(numba.types.float64)


@numba.cfunc(numba.types.void(POINTER, POINTER))
def compiled_cam(x, out):
    out[0] = x[2] - 0.1 * math.sin(x[0]) * math.cos(2 * x[1])
    out[1] = x[0] * x[1] + x[2] ** 2


@numba.cfunc(numba.types.void(POINTER, POINTER))
def compiled_jacobian(x, out):
    out[0] = -0.1 * math.cos(x[0]) * math.cos(2 * x[1])
    out[1] = 0.2 * math.sin(x[0]) * math.sin(2 * x[1])
    out[2] = 1.0
    out[3] = x[1]
    out[4] = x[0]
    out[5] = 2 * x[2]


@numba.cfunc(numba.types.float64(numba.types.float64))
def other_signature(x):
    return x


@pytest.mark.parametrize(
    ("made", "first", "second"),
    [
        (Coupling(JOINTS, cam), 1e-15, 1e-13),
        (Coupling(JOINTS, partial(cam, radius=0.1)), 1e-15, 1e-13),
        (Coupling(JOINTS, cam, cam_jacobian), 1e-15, 1e-13),
        (Coupling(JOINTS, real_cam), 1e-12, 1e-11),
        (Coupling(JOINTS, dropping_cam), 1e-12, 1e-11),
        (Coupling(JOINTS, compiled_cam, size=2), 1e-12, 1e-11),
        (Coupling(JOINTS, compiled_cam.ctypes, size=2), 1e-12, 1e-11),
        (Coupling(JOINTS, compiled_cam, compiled_jacobian, size=2), 1e-15, 1e-13),
        (Coupling(JOINTS, real_cam, cam_jacobian, hessian=cam_hessian), 1e-15, 1e-15),
        (Coupling(JOINTS, real_cam, hessian=cam_hessian), 1e-12, 1e-15),
        (Coupling(JOINTS, real_cam, cam_jacobian, hessian=cam_hessian, third=cam_third), 1e-15, 1e-15),
        (Coupling(JOINTS, real_cam, third=cam_third), 1e-12, 1e-11),
    ],
)
def test_derivatives(made, first, second):
    (closure,) = made.closures(tree())
    assert closure.size == 2
    assert isinstance(closure.functions[1], ComplexStep) == (made.phi is cam or isinstance(made.phi, partial)) * (
        made.jacobian is None
    )
    assert bool(closure.addresses[0]) == (closure.functions[0] is None)
    # differences of the Hessian lose rounding over the step, second ones of the Jacobian over its square
    third = 1e-14 if made.third else 1e-12 if made.hessian else 1e-9 if first < 1e-12 else 1e-6
    for x in np.random.default_rng(0).uniform(-1, 1, (5, 3)):
        np.testing.assert_allclose(closure.value(x), cam(x), atol=1e-15)
        np.testing.assert_allclose(closure.jacobian(x), cam_jacobian(x), atol=first)
        np.testing.assert_allclose(closure.hessian(x), cam_hessian(x), atol=second)
        along = np.array([0.5, -1.5, 0.8])
        np.testing.assert_allclose(closure.second_along(x, along), cam_third(x) @ along @ along, atol=third)
        assert not closure.second_along(x, 0.0 * along).any()


def test_one_equation_may_come_as_a_number():
    (closure,) = Coupling(["a", "b"], lambda x: x[0] - x[1] ** 2).closures(tree())
    assert closure.labels == ("Coupling('a', 'b'): equation 1",)
    assert closure.units == ("",)
    np.testing.assert_allclose(closure.value(np.array([1.0, 2.0])), [-3.0])
    np.testing.assert_allclose(closure.jacobian(np.array([1.0, 2.0])), [[1.0, -4.0]])


def test_phi_need_not_be_defined_at_zero():
    (closure,) = Coupling(["a", "b"], lambda x: [math.acos(x[0] + 1.2) - x[1]]).closures(tree())
    assert closure.size == 1


def test_pickling():
    for made in (
        Coupling(JOINTS, cam, cam_jacobian, independent=["a"], name="cam", hessian=cam_hessian, third=cam_third),
        Coupling(JOINTS, compiled_cam, size=2),
    ):
        again = pickle.loads(pickle.dumps(made))
        assert again == made
        assert again.phi is made.phi
        assert again.third is made.third
    for phi in (lambda x: cam(x), compiled_cam.ctypes):
        made = Coupling(JOINTS, phi, size=2)
        with raises(PinClustersError, "functools.partial"):
            pickle.dumps(made)
        assert copy.deepcopy(made) == made


def test_a_warning_says_once_that_python_is_slow():
    with warns(PinClustersWarning, "phi numba.cfunc 10"):
        Coupling(JOINTS, cam).closures(tree())
    Coupling(JOINTS, real_cam).closures(tree())


def unstable(x):
    raise RuntimeError("no solution")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Coupling("a", cam), "'a'"),
        (lambda: Coupling(["a", "a"], cam), "'a' phi"),
        (lambda: Coupling(["a", "b"], cam, independent=["s"]), "'s' 'a' 'b'"),
        (lambda: Coupling(JOINTS, 3), "phi numba.cfunc"),
        (lambda: Coupling(JOINTS, compiled_cam), "size"),
        (lambda: Coupling(JOINTS, compiled_cam, cam_jacobian, size=2), "phi jacobian"),
        (lambda: Coupling(JOINTS, cam, compiled_jacobian), "phi jacobian"),
        (lambda: Coupling(JOINTS, compiled_cam, size=2, hessian=cam_hessian), "phi hessian"),
        (lambda: Coupling(JOINTS, cam, third=3), "third"),
        (
            lambda: Coupling(JOINTS, cam, hessian=lambda x: -cam_hessian(x)).closures(tree()),
            "hessian phi",
        ),
        (
            lambda: Coupling(JOINTS, cam, cam_jacobian, third=lambda x: -cam_third(x)).closures(tree()),
            "third",
        ),
        (lambda: Coupling(JOINTS, cam, hessian=cam_jacobian).closures(tree()), "phi"),
        (lambda: Coupling(JOINTS, other_signature, size=1), "phi float64 numba.cfunc"),
        (lambda: Coupling(JOINTS, ctypes.CFUNCTYPE(None, ctypes.c_void_p)(0), size=1), "phi numba.cfunc"),
        (lambda: Coupling(JOINTS, cam, size=0), "1 0"),
        (lambda: Coupling(JOINTS, cam, size=3).closures(tree()), "phi 2"),
        (lambda: Coupling(JOINTS, lambda x: []).closures(tree()), "phi empty"),
        (lambda: Coupling(JOINTS, lambda x: np.eye(2)).closures(tree()), "shape (2, 2)"),
        (lambda: Coupling(JOINTS, lambda x: "zero").closures(tree()), "str"),
        (lambda: Coupling(JOINTS, lambda x: None).closures(tree()), "phi nan 10"),
        (lambda: Coupling(JOINTS, lambda x: [np.nan, 0.0]).closures(tree()), "phi nan 10"),
        (lambda: Coupling(JOINTS, unstable).closures(tree()), "RuntimeError"),
        (lambda: Coupling(JOINTS, cam, lambda x: 2 * cam_jacobian(x)).closures(tree()), "phi"),
        (
            lambda: Coupling(JOINTS, cam, lambda x: cam_jacobian(x).T).closures(tree()),
            "phi",
        ),
    ],
)
def test_refusals(make, message):
    with raises(ConstraintError, message):
        make()


@pytest.mark.parametrize(
    ("joint", "message"), [("c", "'c' 'revolute' cos"), ("ball", "'ball' JointModelSpherical pc.LinearCoupling")]
)
def test_joints_of_more_coordinates(joint, message):
    with raises(UnsupportedJointError, message):
        Coupling(["a", joint], cam).closures(tree())


def test_shape_that_changes_later():
    (closure,) = Coupling(["a", "b"], lambda x: x[:1] if np.all(np.abs(x) < 2) else x).closures(tree())
    with raises(ConstraintError, "phi"):
        closure.value(np.array([3.0, 3.0]))
