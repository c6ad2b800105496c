"""What the kernels of the tree leave in ``data.tree`` and return, against Pinocchio's own functions on the tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from samples.mixed import KINDS, random_state, robot
from support.messages import raises
from support.moving import rate_of_coupling

import pin_clusters as pc
from pin_clusters.algorithms._shared import bridge as _bridge
from pin_clusters.constraints.closures import massive
from pin_clusters.model import primitives_of, tree_memory, tree_workspace

# the published inertias of some robots are no real bodies'
pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
FRAMES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)
# the same sums in another order and frame, through trees ten joints deep, of numbers up to 1e2 times the largest entry
# of a loop's G; a wrong term is of order one
ROUNDING = 1e-11


def close(x: object, y: object) -> bool:
    """Whether two results are the same; the centre of a subtree without mass is no number in both."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    lost = np.isnan(y)
    return np.array_equal(np.isnan(x), lost) and pool.error(np.where(lost, 0.0, x), np.where(lost, 0.0, y)) < ROUNDING


def identical(x: object, y: object) -> bool:
    return np.array_equal(np.asarray(x), np.asarray(y), equal_nan=True)


def vectors(field: object) -> np.ndarray:
    return np.array([x.homogeneous if hasattr(x, "homogeneous") else getattr(x, "vector", x) for x in field])


class Both:
    """A state, and Pinocchio's data on the tree that have seen its motion."""

    def __init__(self, model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
        self.model, self.data, self.q, self.v, self.a = model, model.createData(), q, v, a
        G, g = _bridge.matrix_and_bias(model, model.createData(), q, v)
        self.G, self.v_tree, self.a_tree = np.array(G), G @ v, G @ a + g
        self.tree, self.theirs = model.inertia_tree, model.tree.createData()
        # what no body of the tree has: rods' masses, spins
        self.whole = not massive(model.closures)
        self.spinless = self.whole and all(r.source is None for r in model.rotors)

    def same(self, *names: str) -> None:
        for name in names:
            mine, theirs = getattr(self.data.tree, name), getattr(self.theirs, name)
            if name in ("J", "dJ", "Ag", "Jcom"):
                assert close(mine, theirs), name
            elif name in ("hg", "dhg"):
                assert close(mine.vector, theirs.vector), name
            else:
                assert close(vectors(mine), vectors(theirs)), name


STATES = [("mixed", kind) for kind in KINDS] + [("pool", key) for key in sorted(pool.JITLESS, key=str)]


@pytest.fixture(params=STATES, ids=str)
def both(request: pytest.FixtureRequest, rng: np.random.Generator) -> Iterator[Both]:
    kind, key = request.param
    if kind == "mixed":
        model = robot(key, 1)
        yield Both(model, *random_state(model, 1))
    else:
        _, model, _, q, v, a, _ = pool.state(key, rng)
        yield Both(model, q, v, a)


@pytest.mark.jitless
def test_kinematics(both: Both) -> None:
    pin.forwardKinematics(both.tree, both.theirs, both.q)
    pc.forwardKinematics(both.model, both.data, both.q)
    both.same("oMi", "liMi", "v", "a")  # v and a are not written
    pin.forwardKinematics(both.tree, both.theirs, both.q, both.v_tree)
    pc.forwardKinematics(both.model, both.data, both.q, both.v)
    both.same("oMi", "v", "a")
    pin.forwardKinematics(both.tree, both.theirs, both.q, both.v_tree, both.a_tree)
    pc.forwardKinematics(both.model, both.data, both.q, both.v, both.a)
    both.same("oMi", "liMi", "v", "a")


@pytest.mark.jitless
def test_pinocchio_goes_on_from_there(both: Both) -> None:
    """Functions of Pinocchio without q read motion axes that it keeps elsewhere."""
    pc.forwardKinematics(both.model, both.data, both.q, both.v, both.a)
    pin.forwardKinematics(both.tree, both.theirs, both.q, both.v_tree, both.a_tree)
    for data in (both.data.tree, both.theirs):
        pin.computeJointJacobians(both.tree, data)
        pin.centerOfMass(both.tree, data)
        pin.updateGlobalPlacements(both.tree, data)
    both.same("J", "com", "vcom", "acom", "oMi")


@pytest.mark.jitless
def test_jacobians_of_frames(both: Both) -> None:
    model, data = both.model, both.data
    J = pc.computeJointJacobians(model, data, both.q)
    assert close(J, pin.computeJointJacobians(both.tree, both.theirs, both.q) @ both.G)
    assert np.array_equal(J, data.J)
    both.same("J", "oMi")
    for reference in FRAMES:
        for j in range(0, model.njoints, 2):
            theirs = pin.getJointJacobian(both.tree, both.theirs, j, reference) @ both.G
            assert close(pc.getJointJacobian(model, data, j, reference), theirs)
        for f in range(0, model.nframes, 3):
            theirs = pin.computeFrameJacobian(both.tree, both.theirs, both.q, f, reference) @ both.G
            assert close(pc.getFrameJacobian(model, data, f, reference), theirs)
            assert close(pc.computeFrameJacobian(model, model.createData(), both.q, f, reference), theirs)
    j = model.njoints - 1
    theirs = pin.computeJointJacobian(both.tree, both.theirs, both.q, j) @ both.G
    assert close(pc.computeJointJacobian(model, data, both.q, j), theirs)


@pytest.mark.jitless
def test_rates_of_jacobians(both: Both) -> None:
    model, data = both.model, both.data
    G_rate = rate_of_coupling(model, model.createData(), both.q, both.v)
    dJ = pc.computeJointJacobiansTimeVariation(model, data, both.q, both.v)
    pin.computeJointJacobiansTimeVariation(both.tree, both.theirs, both.q, both.v_tree)
    corrected(both)
    both.same("oMi", "v", "J", "dJ", "ov")
    assert close(dJ, both.theirs.dJ @ both.G + both.theirs.J @ G_rate)
    for reference in FRAMES:
        for j in range(0, model.njoints, 2):
            where = both.tree, both.theirs, j, reference
            theirs = pin.getJointJacobianTimeVariation(*where) @ both.G + pin.getJointJacobian(*where) @ G_rate
            assert close(pc.getJointJacobianTimeVariation(model, data, j, reference), theirs)
        for f in range(0, model.nframes, 3):
            where = both.tree, both.theirs, f, reference
            theirs = pin.getFrameJacobianTimeVariation(*where) @ both.G + pin.getFrameJacobian(*where) @ G_rate
            assert close(pc.getFrameJacobianTimeVariation(model, data, f, reference), theirs)


def corrected(both: Both) -> None:
    """Put right what Pinocchio says of axes that move in their own body: each turns with the part right behind it."""
    tree, data = both.tree, both.theirs
    for j in range(1, tree.njoints):
        if any(kind in tree.joints[j].shortname() for kind in ("Composite", "ZYX", "Universal")):
            velocity = data.oMi[j].act(data.v[j]).vector
            for part in reversed(primitives_of(tree.joints[j], tree.jointPlacements[j], tree.names[j])):
                columns = slice(part.iv, part.iv + part.nv)
                data.dJ[:, columns] = pin.Motion(velocity).action @ data.J[:, columns]
                velocity -= data.J[:, columns] @ both.v_tree[columns]


@pytest.mark.jitless
def test_centres_of_mass(both: Both) -> None:
    if not both.whole:
        pytest.skip("rods have mass")
    pc.centerOfMass(both.model, both.data, both.q, both.v, both.a)
    pin.centerOfMass(both.tree, both.theirs, both.q, both.v_tree, both.a_tree)
    both.same("com", "vcom", "acom", "mass", "oMi", "v", "a")
    J = pc.jacobianCenterOfMass(both.model, both.data, both.q)
    assert close(J, pin.jacobianCenterOfMass(both.tree, both.theirs, both.q) @ both.G)
    both.same("com", "mass", "Jcom")


@pytest.mark.jitless
def test_momentum(both: Both) -> None:
    if not both.spinless:
        pytest.skip("not all is in the bodies of the tree")
    pc.ccrba(both.model, both.data, both.q, both.v)
    pin.ccrba(both.tree, both.theirs, both.q, both.v_tree)
    both.same("hg", "Ag")
    mine, theirs = both.data.tree.Ig, both.theirs.Ig
    assert close([mine.mass, *mine.lever, *mine.inertia.ravel()], [theirs.mass, *theirs.lever, *theirs.inertia.ravel()])
    pc.computeCentroidalMomentumTimeVariation(both.model, both.data, both.q, both.v, both.a)
    pin.computeCentroidalMomentumTimeVariation(both.tree, both.theirs, both.q, both.v_tree, both.a_tree)
    both.same("hg", "dhg", "mass")


@pytest.mark.jitless
def test_all_terms_are_those_of_the_functions(both: Both) -> None:
    model, q, v = both.model, both.q, both.v
    pc.computeAllTerms(model, both.data, q, v)
    one, data = model.createData(), both.data
    assert close(data.M, pc.crba(model, one, q))
    assert close(data.nle, pc.nonLinearEffects(model, one, q, v))
    assert close(data.g, pc.computeGeneralizedGravity(model, one, q))
    assert close(data.mechanical_energy, pc.computeMechanicalEnergy(model, one, q, v))
    assert close(data.J, pc.computeJointJacobians(model, one, q))
    assert close(data.Jcom, pc.jacobianCenterOfMass(model, one, q))
    assert close(data.Ag, pc.ccrba(model, one, q, v))
    assert close(data.hg.vector, one.hg.vector)
    assert close(data.tree.hg.vector, one.hg.vector)
    Ig, theirs = data.Ig, one.Ig
    assert close([Ig.mass, *Ig.inertia.ravel()], [theirs.mass, *theirs.inertia.ravel()])
    pc.centerOfMass(model, one, q, v)
    for name in ("com", "vcom", "mass", "oMi", "liMi", "v"):
        assert close(vectors(getattr(data.tree, name)), vectors(getattr(one.tree, name))), name


@pytest.mark.jitless
@pytest.mark.parametrize("reference", FRAMES, ids=str)
def test_terms_of_frames(both: Both, reference: pin.ReferenceFrame) -> None:
    """Pinocchio on the tree, which moves as G says, projected by G."""
    names = list(both.model.names)[1:]
    model = both.model.with_frames({f"on {name}": (name, pin.SE3.Random()) for name in names})
    both = Both(model, both.q, both.v, both.a)
    q, v, tree, theirs, G = both.q, both.v, model.tree, both.theirs, both.G
    ids, bias = list(range(model.nframes))[::-1], both.a_tree - G @ both.a
    terms = pc.computeAllTerms(model, both.data, q, v, frames=ids, reference_frame=reference)
    assert terms is not None
    pin.computeJointJacobians(tree, theirs, q)
    pin.forwardKinematics(tree, theirs, q, both.v_tree, bias)
    pin.updateFramePlacements(tree, theirs)
    for k, i in enumerate(ids):
        assert close(terms.oMf[k], theirs.oMf[i].homogeneous)
        assert close(terms.J[k], pin.getFrameJacobian(tree, theirs, i, reference).reshape(6, -1) @ G)
        assert close(terms.velocity[k], pin.getFrameVelocity(tree, theirs, i, reference).vector)
        assert close(terms.spatial_drift[k], pin.getFrameAcceleration(tree, theirs, i, reference).vector)
        assert close(terms.classical_drift[k], pin.getFrameClassicalAcceleration(tree, theirs, i, reference).vector)
    if both.whole:
        assert close(terms.com, pin.centerOfMass(both.tree, theirs, q, both.v_tree, bias))
        assert close(terms.vcom, theirs.vcom[0])
        assert close(terms.acom, theirs.acom[0])
        assert close(terms.Jcom, pin.jacobianCenterOfMass(both.tree, theirs, q).reshape(3, -1) @ G)
    if both.spinless:
        assert close(terms.nle, G.T @ pin.rnea(both.tree, theirs, q, both.v_tree, bias))
        assert close(terms.nle + terms.M @ both.a, G.T @ pin.rnea(both.tree, theirs, q, both.v_tree, both.a_tree))
    both.same("v", "a", "oMi")
    assert close(both.data.M, terms.M)
    assert close(both.data.nle, terms.nle)


def test_far_away_no_digit_is_lost() -> None:
    """Ten thousand kilometres from the origin motions are the same, and the momentum is."""
    model = pc.load("mini_cheetah")
    pin.seed(1)
    near, v, a = pc.randomConfiguration(model), np.ones(model.nv), np.cos(np.arange(model.nv))
    far = near.copy()
    far[:3] += [1e7, -1e7, 1e7]
    results = []
    for q in (near, far):
        data = model.createData()
        rate = pc.computeCentroidalMomentumTimeVariation(model, data, q, v, a).vector
        A = pc.ccrba(model, data, q, v)
        pc.forwardKinematics(model, data, q, v, a)
        results.append((rate, A, vectors(data.v), vectors(data.a), data.hg.vector))
    for x, y in zip(*results, strict=True):
        # placements are rounded to 1e-9 m there: what depends on distances has that error, no motion has
        assert pool.error(x, y) < 1e-7
    assert pool.error(results[0][2], results[1][2]) < 1e-12
    assert pool.error(results[0][3], results[1][3]) < 1e-12


def test_fields_elsewhere_are_written_in_python(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where ``pin.Data`` keeps its numbers in a way that is not known, all is the same, but slow."""
    monkeypatch.setattr(tree_workspace, "found_in", lambda _, names, new=False: (dict.fromkeys(names, 0), []))
    slow = both.model.createData()
    assert len(slow._other_fields) == len(both.model.tables.tree.fields)
    model, q, v, a = both.model, both.q, both.v, both.a
    calls = (
        (pc.computeAllTerms, (q, v)), (pc.centerOfMass, (q, v, a)), (pc.jacobianCenterOfMass, (q,)),
        (pc.computeCentroidalMomentumTimeVariation, (q, v, a)), (pc.computeJointJacobiansTimeVariation, (q, v)),
        (pc.getFrameJacobianTimeVariation, (model.nframes - 1, pin.LOCAL)),
        (pc.getJointJacobian, (model.njoints - 1, pin.WORLD)), (pc.forwardKinematics, (q, v, a)),
    )  # fmt: skip
    for function, given in calls:
        mine, other = function(model, slow, *given), function(model, both.data, *given)
        if isinstance(mine, np.ndarray):
            assert identical(mine, other), function.__name__
    for name in ("oMi", "liMi", "v", "a", "ov", "com", "vcom", "acom", "mass"):
        assert identical(vectors(getattr(slow.tree, name)), vectors(getattr(both.data.tree, name))), name
    for name in ("J", "dJ", "Ag", "Jcom"):
        assert identical(getattr(slow.tree, name), getattr(both.data.tree, name)), name
    for name in ("hg", "dhg"):
        assert getattr(slow.tree, name) == getattr(both.data.tree, name)
    assert slow.Ig.isApprox(both.data.Ig, 1e-15)


def test_addresses_are_found() -> None:
    """Here Pinocchio keeps all fields as the kernels write them; where it does not, this says so."""
    model = pc.load("mini_cheetah")
    data = model.createData()
    assert data._other_fields == ()
    assert tree_memory.address_of(data.tree, "J") == data.tree.J.ctypes.data
    pc.ccrba(model, data, pc.neutral(model), np.ones(model.nv))
    for name in {name for _, name in model.tables.tree.fields} - {"hg", "dhg", "Ig", "J", "dJ", "Ag", "Jcom"}:
        field = getattr(data.tree, name)
        before = vectors(field)
        tree_memory.write(data.tree, name, np.concatenate([plain_numbers(x) for x in field]))
        assert np.array_equal(vectors(field), before), name


@pool.each()
def test_words_of_a_new_data_lead_to_its_fields(key: Any) -> None:
    """The addresses that are read from a new object are those that a look at every field gives."""
    model = pool.case(key).model
    names = {name for _, name in model.tables.tree.fields}
    data = tree_memory.made(model.own_tree)
    assert tree_memory.found_in(data, names, new=True) == tree_memory.found_in(data, names)


def plain_numbers(x: object) -> np.ndarray:
    if isinstance(x, pin.SE3):
        return np.concatenate([x.rotation.T.ravel(), x.translation])
    return np.ravel(np.array(getattr(x, "vector", x), dtype=float))


def test_the_tree_s_data_can_be_replaced() -> None:
    model = pc.load("mini_cheetah")
    data, q = model.createData(), pc.randomConfiguration(model)
    first, second = data.tree, model.tree.createData()
    pc.forwardKinematics(model, data, q)
    before = vectors(first.oMi)
    data.tree = second
    pc.forwardKinematics(model, data, pc.neutral(model))
    assert np.array_equal(vectors(first.oMi), before)
    assert not np.array_equal(vectors(second.oMi), before)
    pc.forwardKinematics(model, data, q)
    assert np.array_equal(vectors(second.oMi), before)
    assert data.oMi[1] == second.oMi[1]
    copied = data.copy()
    pc.forwardKinematics(model, copied, pc.neutral(model))
    assert np.array_equal(vectors(second.oMi), before)


def test_what_pinocchio_computed_is_read() -> None:
    """``getFrameJacobian`` takes what is in the tree's data, whoever put it there."""
    model = pc.load("mini_cheetah")
    data, q = model.createData(), pc.randomConfiguration(model)
    pc.computeJointJacobians(model, data, pc.neutral(model))
    pin.computeJointJacobians(model.tree, data.tree, q)
    frame = model.nframes - 1
    found = pc.getFrameJacobian(model, data, frame, pin.LOCAL)
    assert close(found, pc.computeFrameJacobian(model, model.createData(), q, frame, pin.LOCAL))


def test_a_singular_pose_is_remembered_by_copies() -> None:
    model = pc.load("four_bar_change_point")
    data = model.createData()
    q = pc.neutral(model)
    data._lost = True
    data._G[: model.tree.nv] = np.nan
    pin.forwardKinematics(model.tree, data.tree, q)
    for one in (data, data.copy()):
        with raises(pc.SingularClusterError, "q"):
            pc.getJointJacobian(model, one, 1, pin.LOCAL)
    pc.forwardKinematics(model, data, q, np.zeros(model.nv))
    assert np.isfinite(pc.getJointJacobian(model, data, 1, pin.LOCAL)).all()


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_jacobian_leaves_the_placements(both: Both, elsewhere: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pinocchio does, on the way to the frame, and code that was written for it reads them."""
    model, tree, other = both.model, both.model.tree, pc.neutral(both.model)
    if elsewhere:
        monkeypatch.setattr(tree_workspace, "found_in", lambda _, names, new=False: (dict.fromkeys(names, 0), []))
    data, expected, before = model.createData(), tree.createData(), tree.createData()
    pin.framesForwardKinematics(tree, expected, both.q)
    pin.framesForwardKinematics(tree, before, other)
    for frame in {0, model.nframes // 2, model.nframes - 1}:
        moving = set(tree.supports[tree.frames[frame].parentJoint])
        for reference in FRAMES:
            pc.framesForwardKinematics(model, data, other)
            pc.computeFrameJacobian(model, data, both.q, frame, reference)
            left = expected if reference != pin.LOCAL else before
            assert close(data.oMf[frame].homogeneous, left.oMf[frame].homogeneous)
            for j in range(model.njoints):
                if j in moving or not elsewhere:  # in Python all joints are placed
                    want = left if j in moving else before
                    assert close(data.oMi[j].homogeneous, want.oMi[j].homogeneous), (tree.names[j], reference)


def test_matrices_of_momentum_leave_the_jacobian() -> None:
    """Pinocchio says so of the Jacobian of the centre of mass, and does it with the others."""
    model = pc.load("teleop_arm")
    q, v = pc.integrate(model, pc.neutral(model), np.full(model.nv, 0.3)), np.ones(model.nv)
    expected = np.array(pin.computeJointJacobians(model.tree, model.tree.createData(), q))
    for name, more in (("jacobianCenterOfMass", ()), ("computeCentroidalMap", ()), ("ccrba", (v,))):
        data = model.createData()
        for _ in range(2):  # the first call may be the Python function's
            data.tree.J[:] = 0.0
            getattr(pc, name)(model, data, q, *more)
            assert np.abs(data.tree.J - expected).max() < 1e-14, name
