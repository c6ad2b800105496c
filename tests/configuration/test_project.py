"""The manifold of configurations: project, residual, check."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from samples.mixed import planar_leg, random_state, robot
from support.messages import raises

from pin_clusters.constraints import Gear
from pin_clusters.errors import ArgumentTypeError, ConfigurationError, UnknownNameError
from pin_clusters.model import ClusterModel
from pin_clusters.model import configuration as conf
from pin_clusters.model.configuration import _shortest

# one rounding per operation on numbers up to about 10 (ratio times angle), some tens of operations
ROUNDING = 1e-13

pytestmark = pytest.mark.jitless


def distance(q0, q1):
    """Largest difference of two configurations of one tree; no (cos, sin) or quaternion wraps."""
    return np.abs(np.asarray(q0) - np.asarray(q1)).max()


@pytest.mark.parametrize("kind", ["free", "fixed", "lines"])
def test_project_is_the_smallest_change(kind):
    model = robot(kind)
    rng = np.random.default_rng(0)
    q, _, _ = random_state(model, 7)
    off = pin.integrate(model.tree, q, 0.05 * rng.normal(size=model.tree.nv))
    with pytest.raises(ConfigurationError):
        conf.check(model, off)
    onto = conf.project(model, off)
    conf.check(model, onto, 1e-13)
    # smallest: the change is perpendicular to every motion on the couplings, by a route of its own
    change = pin.difference(model.tree, off, onto)
    assert np.abs(model.coupling_matrix.T @ change).max() < 1e-12
    assert distance(conf.project(model, onto), onto) < ROUNDING
    assert distance(conf.project(model, q), q) < ROUNDING


def test_project_holds_joints():
    model = robot("free")
    rng = np.random.default_rng(1)
    q, _, _ = random_state(model, 8)
    off = pin.integrate(model.tree, q, 0.05 * rng.normal(size=model.tree.nv))
    for hold in (["arm_rotor", "far"], "spin", ("spun", "root", "ball"), ["turn"]):
        onto = conf.project(model, off, hold=hold)
        conf.check(model, onto, 1e-13)
        for name in [hold] if isinstance(hold, str) else hold:
            j = model.getJointId(name)
            i = slice(model.idx_qs[j], model.idx_qs[j] + model.nqs[j])
            assert np.abs(onto[i] - off[i]).max() < 1e-15, name  # a unit norm may be renewed
    with raises(ConfigurationError, "'arm_rotor'"):
        conf.project(model, off, hold=["arm", "arm_rotor"])
    with raises(UnknownNameError, "'arm'"):
        conf.project(model, off, hold="armm")
    with raises(ArgumentTypeError, "hold"):
        conf.project(model, off, hold=[3])


def test_project_renews_unit_norms():
    model = robot("free")
    q, _, _ = random_state(model, 9)
    k = model.idx_qs[model.getJointId("spin")]
    off = q.copy()
    off[3:7] *= 1.3
    off[k : k + 2] *= 0.2
    assert distance(conf.project(model, off), q) < ROUNDING
    off[3:7] = 0.0
    with raises(ConfigurationError, "'root' 0 pc.neutral"):
        conf.project(model, off)


def test_check_names_what_is_wrong():
    model = robot("free")
    q, _, _ = random_state(model, 10)
    for name in ("root", "ball", "spin", "plane"):
        j = model.getJointId(name)
        first = model.idx_qs[j] + {"root": 3, "plane": 2}.get(name, 0)
        bad = q.copy()
        bad[first : first + 2] += 1e-3 * bad[first : first + 2]
        with raises(ConfigurationError, f"'{name}' 1 pc.project"):
            conf.check(model, bad)
    mixed = model.idx_qs[model.getJointId("mixed")]
    bad = q.copy()
    bad[mixed + 1 : mixed + 5] *= 1.01
    with raises(ConfigurationError, "'mixed'"):
        conf.check(model, bad)
    bad = q.copy()
    bad[model.idx_qs[model.getJointId("arm_rotor")]] += 0.01
    with raises(ConfigurationError, "'arm_rotor' +0.01 pc.project"):
        conf.check(model, bad)
    bad[8] = np.nan
    with raises(ConfigurationError, "q[8] nan 'ball'"):
        conf.check(model, bad)
    conf.check(model, q.astype(np.float32))  # single precision is no mistake
    residual = conf.residual(model, np.where(np.arange(model.nq) == 12, q + 0.5, q))
    assert residual.shape == (6,)


def test_residual_is_dependent_minus_target():
    model = planar_leg()
    q = np.array([0.1, 0.6, 0.2, 1.9])
    names = [model.names[row.dependent] for row in model.coupling_rows]
    found = dict(zip(names, conf.residual(model, q), strict=True))
    assert found["hip_rotor"] == pytest.approx(0.0, abs=1e-15)
    assert found["knee_rotor"] == pytest.approx(0.1, abs=1e-15)


def test_gear_on_a_prismatic_joint_has_its_own_unit():
    tree = pin.Model()
    a = tree.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "slide")
    b = tree.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "screw")
    for j in (a, b):
        tree.appendBodyToJoint(j, pin.Inertia.Random(), pin.SE3.Identity())
    model = ClusterModel(tree, [Gear("slide", "screw", 400.0)])
    assert conf.project(model, [0.01, 0.0], hold="slide")[1] == pytest.approx(4.0, abs=1e-14)
    # the smallest change moves the joint that has the larger leverage
    assert conf.project(model, [0.01, 0.0])[0] == pytest.approx(0.01 / (1 + 400.0**2), rel=1e-9)


def test_the_matrix_is_numpys_pseudoinverse_and_zero_between_what_is_not_coupled(rng):
    for k in range(100):
        A = np.where(rng.random((6, 9)) < 0.2, rng.normal(size=(6, 9)), 0.0)
        if k % 3 == 0:
            A[3] = 2.0 * A[1]  # rows that repeat others, as with held joints
        wanted = np.linalg.pinv(A, rcond=1e-14)
        found = _shortest._pseudoinverse(A)
        # singular values of such a matrix are seldom below 1e-3
        assert np.abs(found - wanted).max() < 1e-11 * max(1.0, np.abs(wanted).max()) ** 2
    blocks = np.array([[1.0, -3.0, 0.0, 0.0], [0.0, 0.0, 1.0, 7.0]])
    assert np.array_equal(_shortest._pseudoinverse(blocks) != 0.0, blocks.T != 0.0)
