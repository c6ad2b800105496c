"""Derivatives of dynamics: what holds between them and the dynamics, whatever the implementation; and the reference."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import coupled, mechanisms, pool, trees
from support import differences
from support.moving import FRAMES, places
from support.tolerances import relative

import pin_clusters as pc
from pin_clusters.verification import reference

# Two exact routes: rounding of terms that cancel; in loops times cond(K_d), at most 300, once per time derivative.
ROUNDING = {"tree": 1e-12, "loop": 5e-11}
# Without constraints, Pinocchio's values.
PINOCCHIO = 1e-12
# Residual of derivatives of forward dynamics over the size of its terms.
BACKWARD = 1e-13
# Differences along integrate: rounding over the step, 1e-13 on trees, 1e-11 near limits of linkages.
ALONG_Q = {"tree": 1e-11, "loop": 5e-10}
# Rows that are dropped where geometry is misaligned turn with q: some times what dynamics miss.
SLOPPY = 1e2
# What differences leave of the third derivative of a user's function without a Jacobian, and with one. The reference
# takes differences of the Jacobian in any case; those here are gone with ``third``, and small with ``hessian``.
BY_DIFFERENCES, OF_JACOBIAN = 1e-7, 2e-11
# What differences of a function leave of its second derivatives.
SECOND_DERIVATIVES = 1e-9
CONSTANT = tuple(kind for kind in trees.KINDS if kind not in ("zyx", "universal", "composite"))


def kind(s: pool.State) -> str:
    return "loop" if s.model.closures else "tree"


def rounding(s: pool.State) -> float:
    return ROUNDING[kind(s)] + SLOPPY * s.case.exact


def single(model: pc.ClusterModel) -> list[int]:
    """Indices in v of joints of one degree of freedom."""
    tree = model.tree
    whole = {tree.idx_vs[j] for j in range(1, tree.njoints) if tree.nvs[j] == 1}
    return [k for k, i in enumerate(model.idx_v_independent) if int(i) in whole]


def one_coriolis_matrix(model: pc.ClusterModel) -> bool:
    """Whether there is one without torsion that is the same by any route.

    Armature on a dependent joint that turns in space is no inertia of anything: its torque has no gyroscopic part.
    """
    tree, armature = model.tree, np.array(model.inertia_tree.armature)
    turning = [j for j in range(1, tree.njoints) if tree.nqs[j] > tree.nvs[j] > 1]
    dependent = np.setdiff1d(np.arange(tree.nv), model.idx_v_independent)
    return not any(armature[i] for j in turning for i in dependent if 0 <= i - tree.idx_vs[j] < tree.nvs[j])


@pool.each()
def test_mass_matrix_and_torque_come_along(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    _, model, data, q, v, a, fext = s
    dtau_dq, dtau_dv, M = pc.computeRNEADerivatives(model, data, q, v, a, fext)
    for found in (dtau_dq, dtau_dv, M):
        assert found.shape == (model.nv, model.nv)
    assert pool.error(M, M.T) < s.case.rounding
    for found, kept in ((dtau_dq, data.dtau_dq), (dtau_dv, data.dtau_dv), (M, data.M)):
        assert np.array_equal(found, kept)
    other = model.createData()
    assert pool.error(data.tau, pc.rnea(model, other, q, v, a, fext)) < s.case.rounding
    assert pool.error(M, pc.crba(model, other, q)) < s.case.rounding
    # acceleration enters linearly
    pairs = zip((dtau_dv, M), pc.computeRNEADerivatives(model, other, q, v, 0.0 * a)[1:], strict=True)
    assert max(pool.error(x, y) for x, y in pairs) < rounding(s)


@pool.each()
def test_coriolis_matrix(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    _, model, data, q, v, a, _ = s
    C = pc.computeCoriolisMatrix(model, data, q, v)
    assert np.array_equal(C, data.C)
    other = model.createData()
    torque = pc.nonLinearEffects(model, other, q, v) - pc.computeGeneralizedGravity(model, other, q)
    assert pool.error(C @ v, torque) < rounding(s)
    if not one_coriolis_matrix(model):
        return
    # tau is what the symbols of Christoffel make of v, where coordinates commute
    dtau_dv = pc.computeRNEADerivatives(model, other, q, v, a)[1]
    columns = single(model)
    assert pool.error(dtau_dv[:, columns], 2.0 * C[:, columns]) < rounding(s)


@pool.each()
def test_rate_of_the_mass_matrix(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    _, model, data, q, v, _, _ = s
    C = pc.computeCoriolisMatrix(model, data, q, v).copy()
    rate = differences.along(lambda x: pc.crba(model, data, x).copy(), model, q) @ v
    # of dM/dt - 2 C, the symmetric part
    assert pool.error(C + C.T, rate) < ALONG_Q[kind(s)] + SLOPPY * s.case.exact


@pool.each()
def test_gravity_has_a_potential(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    _, model, data, q, v, _, _ = s
    found = pc.computeGeneralizedGravityDerivatives(model, data, q)
    rest = pc.computeRNEADerivatives(model, data, q, 0.0 * v, 0.0 * v)[0]
    assert pool.error(found, rest) < s.case.rounding
    own = single(model)
    hessian = found[np.ix_(own, own)]
    assert pool.error(hessian, hessian.T) < rounding(s)


@pool.each()
def test_where_a_robot_is_does_not_matter(key: pool.Key, rng: np.random.Generator) -> None:
    _, model, data, q, v, a, fext = pool.state(key, rng)
    dtau_dq = pc.computeRNEADerivatives(model, data, q, v, a, fext)[0]
    tree, place = model.tree, {int(i): k for k, i in enumerate(model.idx_v_independent)}
    for j in range(1, tree.njoints):
        if tree.parents[j] == 0 and tree.joints[j].shortname() == "JointModelFreeFlyer" and tree.idx_vs[j] in place:
            first = place[tree.idx_vs[j]]
            columns = dtau_dq[:, first : first + 3]
            assert np.abs(columns).max() <= 1e-13 * np.abs(dtau_dq).max()


@pool.each()
def test_forward_dynamics_is_the_inverse(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    _, model, data, q, v, tau, fext = s
    ddq_dq, ddq_dv, Minv = pc.computeABADerivatives(model, data, q, v, tau, fext)
    for found, kept in ((ddq_dq, data.ddq_dq), (ddq_dv, data.ddq_dv), (Minv, data.Minv)):
        assert np.array_equal(found, kept)
    a, other = data.ddq.copy(), model.createData()
    dtau_dq, dtau_dv, M = pc.computeRNEADerivatives(model, other, q, v, a, fext)
    M, size = M.copy(), np.linalg.norm
    # tau itself, of which a is known only to cond(M)
    torque = pc.rnea(model, other, q, v, a, fext)
    h = pc.rnea(model, other, q, v, 0.0 * a, fext)
    assert size(torque - tau) <= BACKWARD * (size(M, 2) * size(a) + size(h) + size(tau))
    for found, torques in ((ddq_dq, dtau_dq), (ddq_dv, dtau_dv)):
        residual = M @ found + torques
        assert size(residual) <= BACKWARD * (size(M, 2) * size(found) + size(torques))
    assert np.array_equal(Minv, Minv.T)
    assert size(Minv @ M - np.eye(model.nv), 2) <= BACKWARD * np.linalg.cond(M)


@pool.each()
def test_reference(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    _, model, data, q, v, a, fext = s
    limit, zero = rounding(s), 0.0 * v
    exact = reference.rnea_derivatives(model, q, v, a, fext)
    compare(pc.computeRNEADerivatives(model, data, q, v, a, fext), exact, limit)
    gravity = reference.rnea_derivatives(model, q, zero, zero)[0]
    compare([pc.computeGeneralizedGravityDerivatives(model, data, q)], [gravity], limit)
    static = reference.rnea_derivatives(model, q, zero, zero, fext)[0]
    compare([pc.computeStaticTorqueDerivatives(model, data, q, fext)], [static], limit)
    if one_coriolis_matrix(model):
        compare([pc.computeCoriolisMatrix(model, data, q, v)], [reference.coriolis_matrix(model, q, v)], limit)
    momentum = reference.centroidal_derivatives(model, q, v, a)
    compare(pc.computeCentroidalDynamicsDerivatives(model, data, q, v, a), momentum, limit)


@pool.each(everyday=pool.EVERYDAY | {"spatial_ball_in_tree"})  # with a loop closed by a universal joint
def test_reference_of_motions(key: pool.Key, rng: np.random.Generator) -> None:
    """Of the velocity of the centre of mass, as momentum over mass; and of Jacobians."""
    s = pool.state(key, rng)
    _, model, data, q, v, a, _ = s
    pc.centerOfMass(model, data, q, v)
    found = pc.getCenterOfMassVelocityDerivatives(model, data)
    momentum = reference.centroidal_derivatives(model, q, v, a)[0][:3]
    assert pool.error(data.mass[0] * found, momentum) < rounding(s)
    pc.computeJointKinematicHessians(model, data, q)
    for rf in FRAMES:
        for frame in places(model, rng):
            exact = reference.frame_hessian(model, q, frame, rf)
            assert pool.error(pc.getFrameKinematicHessian(model, data, frame, rf), exact) < rounding(s)


@pytest.mark.jitless
@pytest.mark.parametrize("key", ["tree-18", "tree-32"])
def test_forces_on_rotors_turn_with_them(key: pool.Key, rng: np.random.Generator) -> None:
    """External forces are held in the frames of their joints; that of a rotor that is a body of the tree spins."""
    s = pool.state(key, rng)
    _, model, data, q, v, a, fext = s
    only = np.zeros_like(fext)
    rotors = [r.joint_id for r in model.rotors if r.spins and r.joint_id is not None]
    only[rotors] = fext[rotors]
    exact = reference.rnea_derivatives(model, q, v, a, only)
    compare(pc.computeRNEADerivatives(model, data, q, v, a, only), exact, rounding(s))
    compare([data.tau], [pc.rnea(model, model.createData(), q, v, a, only)], rounding(s))


@pool.each()
def test_reference_of_forward_dynamics(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    _, model, data, q, v, tau, fext = s
    found = pc.computeABADerivatives(model, data, q, v, tau, fext)
    exact = reference.aba_derivatives(model, q, v, tau, fext)
    M = pc.crba(model, model.createData(), q)
    compare(found, exact, rounding(s) * float(np.linalg.cond(M)))


def compare(found: Any, exact: Any, limit: float) -> None:
    for x, y in zip(found, exact, strict=True):
        assert pool.error(x, y) < limit


BASES: dict[str, dict[str, Any]] = {
    "default": {}, "fixed": {"root_joint": None}, "floating": {"root_joint": pin.JointModelFreeFlyer()}
}  # fmt: skip
ROBOTS = [(robot, base) for robot in pc.robots() for base in BASES]
OFTEN = [
    ("mini_cheetah", "default"), ("mit_humanoid", "default"), ("tello", "default"), ("cassie_leg", "floating"),
    ("jvrc1_as_published", "fixed"),
]  # fmt: skip


@pytest.mark.jitless
@pytest.mark.parametrize("which", pool.some(ROBOTS, OFTEN))
def test_shipped_robots(which: tuple[str, str], rng: np.random.Generator) -> None:
    robot, base = which
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.load(robot, **BASES[base])
    pin.seed(int(rng.integers(1000)))
    data, q = model.createData(), pc.randomConfiguration(model)
    v, a = rng.normal(size=(2, model.nv))
    limit = ROUNDING["loop" if model.closures else "tree"]
    exact = reference.rnea_derivatives(model, q, v, a)
    compare(pc.computeRNEADerivatives(model, data, q, v, a), exact, limit)
    compare([data.tau], [pc.rnea(model, model.createData(), q, v, a)], limit)
    compare([pc.computeCoriolisMatrix(model, data, q, v)], [reference.coriolis_matrix(model, q, v)], limit)
    momentum = reference.centroidal_derivatives(model, q, v, a)
    compare(pc.computeCentroidalDynamicsDerivatives(model, data, q, v, a), momentum, limit)
    M = exact[2]
    if np.linalg.cond(M) < 1e12:  # planar linkages of slender bars cannot float
        exact = reference.aba_derivatives(model, q, v, a)
        found = pc.computeABADerivatives(model, data, q, v, a)
        compare(found, exact, limit * float(np.linalg.cond(M)))


@pytest.mark.jitless
@pytest.mark.parametrize("how", coupled.FUNCTIONS)
def test_functions_of_users(how: str, rng: np.random.Generator) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)  # that Python is slow
        model = coupled.mechanism(rng, how).build()
    q = mechanisms.move(model, model.q_reference, np.r_[rng.normal(size=6), 0.3 * rng.normal()])
    v, a = rng.normal(size=(2, model.nv))
    found = pc.computeRNEADerivatives(model, model.createData(), q, v, a)
    without = how in ("compiled", "Python, no complex numbers")
    compare(found, reference.rnea_derivatives(model, q, v, a), BY_DIFFERENCES if without else OF_JACOBIAN)


@pytest.mark.jitless
@pytest.mark.parametrize("how", coupled.FUNCTIONS)
def test_motions_with_functions_of_users(how: str, rng: np.random.Generator) -> None:
    """What is asked for later is of the state of then, though the function was called elsewhere since."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = coupled.mechanism(rng, how).build()
    q, other = (
        mechanisms.move(model, model.q_reference, np.r_[rng.normal(size=6), 0.3 * rng.normal()]) for _ in range(2)
    )
    data, (v, a) = model.createData(), rng.normal(size=(2, model.nv))
    pc.centerOfMass(model, data, q, v)
    pc.computeJointKinematicHessians(model, data)
    pc.rnea(model, data, other, v, a)
    found = data.mass[0] * pc.getCenterOfMassVelocityDerivatives(model, data)
    assert pool.error(found, reference.centroidal_derivatives(model, q, v, a)[0][:3]) < SECOND_DERIVATIVES
    frame = model.nframes - 1
    pc.rnea(model, data, other, v, a)
    found = pc.getFrameKinematicHessian(model, data, frame, pin.LOCAL)
    assert pool.error(found, reference.frame_hessian(model, q, frame)) < SECOND_DERIVATIVES


@pytest.mark.jitless
@pytest.mark.parametrize("how", ["compiled", "Python"])
@pc.engine("tables")  # traces differentiate what they can see
def test_third_derivatives_that_are_given(how: str) -> None:
    """They are taken, not differences: results are those of sines that are differentiated by hand, to rounding."""
    found = []
    for known in ("third", "Hessian", "Jacobian"):
        rng = np.random.default_rng(4)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            model = coupled.mechanism(rng, f"{how}, {known}").build()
        q = mechanisms.move(model, model.q_reference, np.r_[rng.normal(size=6), 0.3])
        v, a = rng.normal(size=(2, model.nv))
        v[-1] = 20.0  # so that they count
        found.append(pc.computeRNEADerivatives(model, model.createData(), q, v, a)[0])
    assert 0.0 < pool.error(found[1], found[0]) < 1e-13
    assert pool.error(found[1], found[0]) < pool.error(found[2], found[0]) < 1e-11


@pytest.mark.jitless
@pytest.mark.parametrize("seed", pool.some(range(12), 6))
def test_without_constraints_it_is_pinocchio(seed: int, rng: np.random.Generator) -> None:
    """Of joints whose motion subspace is constant: of others, Pinocchio's derivatives are wrong."""
    robot = trees.random_tree(rng, int(rng.integers(1, 9)), floating=bool(seed % 2), kinds=CONSTANT)
    model = robot.build("depth_first")
    tree, data = model.tree, model.createData()
    work = tree.createData()
    q, v, a, fext = trees.random_state(model, rng)
    forces = pin.StdVec_Force()
    forces.extend([pin.Force(x) for x in fext])

    def same(found: Any, theirs: Any) -> None:
        for x, y in zip(found, theirs, strict=True):
            assert relative(x, np.array(y)) < PINOCCHIO

    dtau_dq, dtau_dv, M = (np.array(x) for x in pin.computeRNEADerivatives(tree, work, q, v, a, forces))
    exact = dtau_dq, dtau_dv, np.triu(M) + np.triu(M, 1).T
    same(pc.computeRNEADerivatives(model, data, q, v, a, fext), exact)
    gravity = pin.computeGeneralizedGravityDerivatives(tree, work, q)
    same([pc.computeGeneralizedGravityDerivatives(model, data, q)], [gravity])
    static = pin.computeStaticTorqueDerivatives(tree, work, q, forces)
    same([pc.computeStaticTorqueDerivatives(model, data, q, fext)], [static])
    same([pc.computeCoriolisMatrix(model, data, q, v)], [pin.computeCoriolisMatrix(tree, work, q, v)])
    momentum = pin.computeCentroidalDynamicsDerivatives(tree, work, q, v, a)
    same(pc.computeCentroidalDynamicsDerivatives(model, data, q, v, a), momentum)
    ddq_dq, ddq_dv, Minv = (np.array(x) for x in pin.computeABADerivatives(tree, work, q, v, a, forces))
    found = pc.computeABADerivatives(model, data, q, v, a, fext)
    condition = float(np.linalg.cond(exact[2]))
    for x, y in zip(found, (ddq_dq, ddq_dv, np.triu(Minv) + np.triu(Minv, 1).T), strict=True):
        assert relative(x, y) < PINOCCHIO * max(1.0, condition * 1e-2)
