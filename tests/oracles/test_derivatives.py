"""The reference of the derivatives against differences of inverse and forward dynamics, and of what they stand on."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pinocchio as pin
import pytest
from samples import coupled, mechanisms, pool, trees
from scipy import optimize
from support import differences
from support.messages import raises
from support.moving import FRAMES, places

import pin_clusters as pc
from pin_clusters.verification import reference
from pin_clusters.verification.reference import _coupling_rates

# Over max(1, largest entry). Differences of eighth order lose rounding over the step: some 1e-15 / 1e-2 on trees; in
# loops the step is smaller, and integrate closes them to 1e-14: 1e-12, near limits of a linkage 1e-11.
ALONG_Q = {"tree": 2e-12, "loop": 5e-11}
# Differences in v and a are exact, so that what is left is rounding, of terms that cancel and times cond(K_d).
EXACT = {"tree": 1e-12, "loop": 2e-12}
# What dynamics of misaligned geometry miss, derivatives miss some times more: rows that are dropped turn.
SLOPPY = 1e2
# Functions that come with derivatives or take complex numbers are differenced twice; others, three times.
FUNCTIONS = {"Python": 1e-15, "Python, no complex numbers": 2e-8, "compiled": 2e-8}
BY_DIFFERENCES = 5e-11


def along_q(s: pool.State) -> float:
    return ALONG_Q["loop" if s.model.closures else "tree"] + SLOPPY * s.case.exact


def exact(s: pool.State) -> float:
    return EXACT["loop" if s.model.closures else "tree"] + SLOPPY * s.case.exact


@pool.each(jitless=False)
def test_inverse_dynamics(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    _, model, data, q, v, a, fext = s
    dtau_dq, dtau_dv, M = reference.rnea_derivatives(model, q, v, a, fext)
    by_q = differences.along(lambda x: pc.rnea(model, data, x, v, a, fext), model, q)
    assert pool.error(dtau_dq, by_q) < along_q(s)
    assert pool.error(dtau_dv, differences.quadratic(lambda x: pc.rnea(model, data, q, x, a, fext), v)) < exact(s)
    assert pool.error(M, differences.linear(lambda x: pc.rnea(model, data, q, v, x, fext), a)) < exact(s)


@pool.each(jitless=False)
def test_forward_dynamics(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    _, model, data, q, v, tau, fext = s
    ddq_dq, ddq_dv, Minv = reference.aba_derivatives(model, q, v, tau, fext)
    M = pc.crba(model, data, q).copy()
    by_q = differences.along(lambda x: pc.aba(model, data, x, v, tau, fext), model, q)
    by_v = differences.quadratic(lambda x: pc.aba(model, data, q, x, tau, fext), v)
    size = float(np.linalg.norm(M, 2))  # cond(M) amplifies the rounding of all of them: torques are compared
    # an acceleration of 1e7, as of slender chains, changes faster than the differences' step shows
    for found, differenced, limit in ((ddq_dq, by_q, 10.0 * along_q(s)), (ddq_dv, by_v, exact(s))):
        scale = max(1.0, size * float(np.abs(differenced).max(initial=0.0)))
        assert np.abs(M @ (found - differenced)).max(initial=0.0) / scale < limit
    assert pool.error(M @ Minv, np.eye(model.nv)) < exact(s) * np.linalg.cond(M)


@pool.each(pool.LOOPS + pool.MORE + pool.FAMILIES, jitless=False)
def test_motion_of_the_tree(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    _, model, data, q, v, a, _ = s
    v_q, a_q, a_v = reference.coupling_derivatives(model, q, v, a)
    by_q = differences.along(lambda x: pc.spanning_velocity(model, data, x, v).copy(), model, q)
    assert pool.error(v_q, by_q) < along_q(s)
    by_q = differences.along(lambda x: pc.spanning_acceleration(model, data, x, v, a).copy(), model, q)
    assert pool.error(a_q, by_q) < along_q(s)
    by_v = differences.quadratic(lambda x: pc.spanning_acceleration(model, data, q, x, a).copy(), v)
    assert pool.error(a_v, by_v) < exact(s)


@pool.each(pool.EXACT + pool.MORE, jitless=False)
def test_what_is_known_of_the_rate_of_G(key: pool.Key, rng: np.random.Generator) -> None:
    """Displacements of joints of one degree of freedom commute, and d(dG/dt v)/dv = dG/dt + dv_tree/dq."""
    _, model, _, q, v, a, _ = pool.state(key, rng)
    coupling = _coupling_rates.CouplingRates(model, q)
    rates = coupling.rates(v, a)
    assert pool.error(rates.a_v, coupling.H @ v + rates.v_q) < EXACT["loop"]
    tree = model.tree
    single = [i for j in range(1, tree.njoints) if tree.nvs[j] == 1 for i in [tree.idx_vs[j]]]
    ours = [k for k, i in enumerate(model.idx_v_independent) if i in single]
    H = coupling.H[np.ix_(single, ours, ours)]
    assert pool.error(H, H.transpose(0, 2, 1)) < EXACT["loop"]


@pool.each(jitless=False)
def test_coriolis_matrix(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    _, model, data, q, v, _, _ = s
    C = reference.coriolis_matrix(model, q, v)
    torque = pc.nonLinearEffects(model, data, q, v) - pc.computeGeneralizedGravity(model, data, q)
    assert pool.error(C @ v, torque) < exact(s)
    rate = differences.along(lambda x: pc.crba(model, data, x).copy(), model, q) @ v
    assert pool.error(C + C.T, rate) < 10.0 * along_q(s)  # of C or its transpose, as large as dM/dt together


@pool.each(jitless=False)
def test_centroidal_dynamics(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    _, model, data, q, v, a, _ = s
    dh_dq, rate_q, rate_v, rate_a = reference.centroidal_derivatives(model, q, v, a)

    def rate(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.array(pc.computeCentroidalMomentumTimeVariation(model, data, x, w, b).vector)

    by_q = differences.along(lambda x: np.array(pc.computeCentroidalMomentum(model, data, x, v).vector), model, q)
    assert pool.error(dh_dq, by_q) < along_q(s)
    assert pool.error(rate_q, differences.along(lambda x: rate(x, v, a), model, q)) < along_q(s)
    assert pool.error(rate_v, differences.quadratic(lambda x: rate(q, x, a), v)) < exact(s)
    assert pool.error(rate_a, differences.linear(lambda x: rate(q, v, x), a)) < exact(s)


@pool.each(jitless=False)
def test_jacobians(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    _, model, data, q, _, _, _ = s
    for frame, rf in itertools.product(places(model, rng), FRAMES):
        which = frame, rf
        by_q = differences.along(lambda x, which=which: pc.computeFrameJacobian(model, data, x, *which), model, q)
        assert pool.error(reference.frame_hessian(model, q, *which), by_q) < along_q(s)


BASES = {"default": {}, "fixed": {"root_joint": None}, "floating": {"root_joint": pin.JointModelFreeFlyer()}}
OFTEN = [("mit_humanoid", "default"), ("tello", "default"), ("cassie_leg", "floating"), ("jvrc1_as_published", "fixed")]


ROBOTS = [(robot, base) for robot in pc.robots() for base in BASES]


@pytest.mark.parametrize("which", pool.some(ROBOTS, OFTEN))
def test_shipped_robots(which: tuple[str, str], rng: np.random.Generator) -> None:
    robot, base = which
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.load(robot, **BASES[base])
    pin.seed(int(rng.integers(1000)))
    data, q = model.createData(), pc.randomConfiguration(model)
    v, a = rng.normal(size=(2, model.nv))
    fext = 5.0 * rng.normal(size=(model.njoints, 6))
    fext[0] = 0.0
    dtau_dq, dtau_dv, M = reference.rnea_derivatives(model, q, v, a, fext)
    by_q = differences.along(lambda x: pc.rnea(model, data, x, v, a, fext), model, q)
    assert pool.error(dtau_dq, by_q) < 1e-10
    assert pool.error(dtau_dv, differences.quadratic(lambda x: pc.rnea(model, data, q, x, a, fext), v)) < EXACT["loop"]
    assert pool.error(M, pc.crba(model, data, q)) < EXACT["tree"]


def coupled_state(how: str) -> tuple[pc.ClusterModel, np.ndarray, np.ndarray, np.ndarray]:
    """A mechanism that is tied by the same function, at the same state, whatever is known of the function."""
    rng = np.random.default_rng(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)  # that Python is slow
        model = coupled.mechanism(rng, how).build()
    q = mechanisms.move(model, model.q_reference, np.r_[rng.normal(size=6), 0.3])
    v, a = rng.normal(size=(2, model.nv))
    return model, q, v, a


def test_a_function_of_a_user() -> None:
    model, q, v, a = coupled_state("Python")
    data, (dtau_dq, dtau_dv, _) = model.createData(), reference.rnea_derivatives(model, q, v, a)
    by_q = differences.along(lambda x: pc.rnea(model, data, x, v, a), model, q)
    assert pool.error(dtau_dq, by_q) < ALONG_Q["loop"]
    assert pool.error(dtau_dv, differences.quadratic(lambda x: pc.rnea(model, data, q, x, a), v)) < EXACT["loop"]


@pytest.mark.parametrize("how", coupled.FUNCTIONS)
def test_what_is_not_known_of_a_function(how: str) -> None:
    one, other = coupled_state(how), coupled_state("Python")
    pairs = zip(reference.coupling_derivatives(*one), reference.coupling_derivatives(*other), strict=True)
    assert max(pool.error(x, y) for x, y in pairs) < FUNCTIONS.get(how, BY_DIFFERENCES)
    pairs = zip(reference.rnea_derivatives(*one), reference.rnea_derivatives(*other), strict=True)
    assert max(pool.error(x, y) for x, y in pairs) < FUNCTIONS.get(how, BY_DIFFERENCES)


def test_joints_that_pinocchio_differentiates_wrongly(rng: np.random.Generator) -> None:
    """Why the reference makes chains of them: should this fail, chains are needed no more."""
    tree = trees.random_tree(rng, 3, kinds=("universal",), chain=1.0).tree()
    model, work = pc.ClusterModel(tree), tree.createData()
    q, v, a, _ = trees.random_state(model, rng)
    theirs = np.array(pin.computeRNEADerivatives(tree, work, q, v, a)[0])
    ours = reference.rnea_derivatives(model, q, v, a)[0]
    exact = differences.along(lambda x: pin.rnea(tree, work, x, v, a).copy(), model, q)
    assert pool.error(ours, exact) < ALONG_Q["tree"]
    assert pool.error(theirs, exact) > 1e-3


def test_dead_centres_are_refused() -> None:
    """Where a crank is in line with its coupler, the rocker does not move them."""
    model = pc.load("four_bar")
    data = model.createData()

    def follows(angle: float) -> float:
        at = pc.integrate(model, model.q_reference, [angle])
        return float(pc.coupling_jacobian(model, data, at)[model.tree.getJointId("rocker") - 1, 0])

    angles = np.linspace(0.0, 2.0 * np.pi, 50)
    low, high = next(pair for pair in itertools.pairwise(angles) if follows(pair[0]) * follows(pair[1]) < 0.0)
    q = pc.integrate(model, model.q_reference, [optimize.brentq(follows, low, high, xtol=1e-15)])
    reference.rnea_derivatives(model, q, np.ones(1), np.ones(1))
    other, _ = pc.with_independent(model, ["rocker"])
    with raises(pc.SingularClusterError, "q"):
        reference.rnea_derivatives(other, q, np.ones(1), np.ones(1))
