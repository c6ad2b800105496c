"""States and robots that have no answer: massless ends are named, NaN and inf pass through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.calls import ALL, call, rows, state
from support.messages import raises, warns

import pin_clusters as pc
from pin_clusters.errors import PinClustersWarning, SingularClusterError

# NumPy says so when it multiplies inf by 0; without the JIT also when it divides by 0
SAID = pytest.mark.filterwarnings("ignore:(invalid value|divide by zero) encountered:RuntimeWarning")


def chain(masses: list[float]) -> pc.ClusterModel:
    tree, parent = pin.Model(), 0
    for i, mass in enumerate(masses):
        parent = tree.addJoint(parent, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0.1, 0.2, 0.3])), f"j{i}")
        if mass:
            body = pin.Inertia(mass, np.array([0.1, 0.0, 0.1]), 0.01 * np.eye(3))
            tree.appendBodyToJoint(parent, body, pin.SE3.Identity())
    return pc.ClusterModel(tree)


def massless_gear() -> pc.ClusterModel:
    tree = chain([0.0]).tree
    tree.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "rotor")
    return pc.ClusterModel(tree, [pc.Gear("j0", "rotor", 6.0)])


def massless_belt() -> pc.ClusterModel:
    return pc.ClusterModel(chain([0.0, 0.0]).tree, [pc.Rotor(["j0", "j1"], [6.0, 6.0], axial_inertia=1e-4)])


def point(joint: pin.JointModel) -> pc.ClusterModel:
    """A mass point cannot be turned about itself."""
    tree = pin.Model()
    tree.addJoint(0, joint, pin.SE3.Identity(), "point")
    tree.inertias[1] = pin.Inertia(1.0, np.zeros(3), np.zeros((3, 3)))
    return pc.ClusterModel(tree)


SINGULAR: dict[str, tuple[Callable[[], pc.ClusterModel], tuple[str, ...]]] = {
    "leaf": (lambda: chain([1.0, 0.0]), ("j1",)),
    "robot": (lambda: chain([0.0]), ("j0",)),
    "end of a chain": (lambda: chain([1.0, 0.0, 0.0]), ("j2",)),
    "gear": (massless_gear, ("j0", "rotor")),
    "belt": (massless_belt, ("j0", "j1")),
    "flying point": (lambda: point(pin.JointModelFreeFlyer()), ("point",)),
    "ball": (lambda: point(pin.JointModelSpherical()), ("point",)),
}


@SAID
@pytest.mark.jitless
@pytest.mark.parametrize("case", SINGULAR)
def test_what_moves_no_inertia_is_named(case: str) -> None:
    make, joints = SINGULAR[case]
    s = state(make())
    for compute in (lambda: pc.aba(*s[:5]), lambda: pc.aba(*s), lambda: pc.computeMinverse(*s[:3])):
        with raises(SingularClusterError) as caught:
            compute()
        assert caught.value.cluster == joints
        assert all(repr(j) in str(caught.value) for j in joints)
    assert np.all(np.isfinite(pc.rnea(*s)))
    assert np.all(np.isfinite(pc.crba(*s[:3])))
    with warns(PinClustersWarning, "3"):
        assert np.all(np.isnan(pc.batch.aba(s.model, *rows(s))))


@pytest.mark.jitless
def test_a_massless_link_between_others_is_fine() -> None:
    for masses in ([0.0, 1.0], [1.0, 0.0, 1.0]):
        s = state(chain(masses))
        assert np.allclose(pc.aba(*s[:5]), pin.aba(s.model.tree, s.data.tree, s.q, s.v, s.a), rtol=1e-9)


def finite(result: Any) -> bool:
    if isinstance(result, tuple):
        return all(finite(x) for x in result)
    return bool(np.all(np.isfinite(getattr(result, "vector", result))))


# where the result is, for functions that return nothing
LEFT_IN_DATA: dict[str, Callable[[pc.ClusterData], Any]] = {
    "forwardKinematics": lambda data: np.concatenate([x.vector for x in (*data.v, *data.a)]),
    "framesForwardKinematics": lambda data: np.array([x.homogeneous for x in data.oMf]),
    "computeAllTerms": lambda data: np.concatenate([data.nle, data.M.ravel()]),
    "ccrba": lambda data: np.concatenate([data.Ag.ravel(), data.hg.vector]),
    "centerOfMass": lambda data: np.concatenate([data.com[0], data.vcom[0], data.acom[0]]),
}
# with constant ratios these do not depend on all that they are given
IGNORED = {
    "actuation_matrix": "q",
    "coupling_jacobian": "q",
    "rotor_velocity": "q",
    "spanning_velocity": "q",
    "spanning_acceleration": "qv",
}


@SAID
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ALL)
def test_what_is_not_finite_passes_through(name: str, value: float) -> None:
    s = state()
    wanted = call(name, s)
    for which in ALL[name][1]:
        if which in IGNORED.get(name, ""):
            continue
        bad = getattr(s, which).copy()
        bad[-1] = value
        result = call(name, s, **{which: bad})
        assert not finite(LEFT_IN_DATA.get(name, lambda _, r=result: r)(s.data)), which
    again = call(name, s)  # nothing of it stays in the workspace
    if wanted is not None:
        assert np.array_equal(*(np.asarray(getattr(x, "vector", x)) for x in (wanted, again)))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_that_are_not_finite_leave_others_alone(value: float) -> None:
    s = state()
    for function in (pc.batch.rnea, pc.batch.aba):
        wanted = function(s.model, *rows(s, 11))
        for which in range(3):
            tables = rows(s, 11)
            tables[which][4, -1] = value
            result = function(s.model, *tables)
            assert not np.all(np.isfinite(result[4]))
            others = np.arange(11) != 4
            assert np.array_equal(result[others], wanted[others])


@SAID
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_configurations_that_are_not_finite_pass_through(value: float) -> None:
    s = state()
    q, v = s.q.copy(), s.v.copy()
    q[-1] = v[-1] = value
    assert not finite(pc.integrate(s.model, q, s.v))
    assert not finite(pc.integrate(s.model, s.q, v))
    assert not finite(pc.difference(s.model, s.q, q))
    assert not finite(pc.interpolate(s.model, s.q, q, 0.5))
    assert not finite(pc.residual(s.model, np.full(s.model.nq, np.nan)))


@pytest.mark.jitless
def test_forces_that_are_not_finite_pass_through() -> None:
    s = state()
    fext = s.fext.copy()
    fext[-1] = np.nan
    assert not finite(pc.rnea(*s[:5], fext))
    assert not finite(pc.aba(*s[:5], fext))
    assert finite(pc.aba(*s))
