"""Contacts and impacts on all mechanisms, against one dense system of equations; also with correctors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support.frames import gap
from support.messages import raises
from support.touching import contacts, correct

import pin_clusters as pc
from pin_clusters.verification import baselines, reference

KINDS = {"point": pin.ContactType.CONTACT_3D, "frame": pin.ContactType.CONTACT_6D}
AXES = (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED)
# rounding of two routes, over the largest term and over what amplifies it: cond(M) and cond(J M^-1 J'); loops are
# amplified by cond(K_d), up to 300, as well. Some ten times what is measured
LIMIT = {"tree": 1e-13, "loops": 1e-11}
# rows of closures that are dropped miss by the misalignment of the geometry
SLOPPY = 30.0
# eigenvalues of J M^-1 J', relative to the largest: rows repeat others, or are well apart from them
DEPENDENT, INDEPENDENT = 1e-12, 1e-6
# one of each: trees and loops, base fixed and floating, gears, belts, rotors that are bodies, rods, those with mass
OFTEN = (
    "tree-0", "tree-1", "tree-5", "tree-8", "tree-11", "rotors_on_a_loop_on_free_flyer", "rssr_massive", "delta_pairs",
    "bennett", "planar-0", "spatial-0", "spatial-5", "sloppy_four_bar",
)  # fmt: skip
# of these, some whose forces are unique
FREE = ("tree-1", "tree-11", "rotors_on_a_loop_on_free_flyer", "spatial-5")


class Oracle:
    """The dense reference; for rods with mass, which it does not know, projection, which knows no correctors."""

    def __init__(self, model: pc.ClusterModel, q: np.ndarray) -> None:
        self.given: tuple[Any, ...] = (model, q)
        self.work = baselines.contacts.createData(model)
        self.knows_correctors = self.work.rods is None
        self.module = reference if self.knows_correctors else baselines.contacts
        if not self.knows_correctors:
            self.given = (model, self.work, q)
        self.M = baselines.projection.crba(model, self.work, q)

    def __getattr__(self, name: str) -> Any:
        return lambda *rest: getattr(self.module, name)(*self.given, *rest)


def possible(exact: Oracle, v: np.ndarray, models: list[Any], rng: np.random.Generator) -> None:
    """Let contacts whose rows repeat each other ask for what the robot can do."""
    for c in models:
        c.desired_contact_acceleration = pin.Motion.Zero()
    J, rest = exact.contact_rows(v, models)
    missing = J @ rng.normal(size=J.shape[1]) - rest
    for c in models:
        n = 3 if c.type == KINDS["point"] else 6
        c.desired_contact_acceleration = pin.Motion(np.concatenate([missing[:n], np.zeros(6 - n)]))
        missing = missing[n:]


def check(s: pool.State, exact: Oracle, models: list[Any], rng: np.random.Generator) -> bool | None:
    """Compare; return whether the rows are independent, None if that cannot be said."""
    model, data, q, v = s.model, s.data, s.q, s.v
    tau, bounce = rng.normal(size=model.nv), float(rng.random())
    J, _ = exact.contact_rows(v, models)
    dense = J @ np.linalg.solve(exact.M, J.T)
    w = np.maximum(np.linalg.eigvalsh(dense), 0.0)
    used = w > DEPENDENT * w[-1]
    if not w[-1] > 1e-9 or w[used][0] < INDEPENDENT * w[-1]:
        return None
    limit = LIMIT["tree" if s.case.mechanism is None else "loops"] + SLOPPY * s.case.exact
    mass = float(np.linalg.cond(exact.M))
    condition = mass * float(w[-1] / w[used][0])
    free = np.linalg.solve(exact.M, tau - pc.nonLinearEffects(model, data, q, v))

    def datas() -> list[Any]:
        return [c.createData() for c in models]

    assert gap(pc.computeDelassusMatrix(model, data, q, models, datas()), dense, mass) < limit
    after, impulse = exact.impulseDynamics(v, models, bounce)
    assert gap(pc.impulseDynamics(model, data, q, v, models, datas(), bounce), after, condition) < limit
    if used.all():
        assert gap(data.impulse_c, impulse, condition) < limit
        found = pc.forwardDynamics(model, data, q, v, tau, J, J @ v)
        expected = free - np.linalg.solve(exact.M, J.T @ np.linalg.solve(dense, J @ (v + free)))
        assert gap(found, expected, condition * max(1.0, np.abs(free).max())) < limit
    for corrected in (False, True)[: 1 + exact.knows_correctors]:
        if corrected:
            correct(models, rng)
        if not used.all():
            possible(exact, v, models, rng)
        a = pc.constraintDynamics(model, data, q, v, tau, models, datas())
        expected, force = exact.constraintDynamics(v, tau, models)
        asked = [np.abs(c.desired_contact_acceleration.vector).max() for c in models]
        size = max(1.0, float(np.abs(free).max()), *map(float, asked))  # of what is added up
        assert gap(a, expected, condition * size) < limit
        if used.all():
            assert gap(data.lambda_c, force, condition * size) < limit
    return bool(used.all())


@pytest.mark.parametrize("key", pool.some(pool.ALL, OFTEN, ("tree-1", "bennett", "rotors_on_a_loop_on_free_flyer")))
def test_dense_equations(key: pool.Key, rng: np.random.Generator) -> None:
    """A point, a frame, and both; their axes take turns."""
    s = pool.state(key, rng)
    exact, turn = Oracle(s.model, s.q), int(rng.integers(2))
    judged = [
        check(s, exact, contacts(s.model, rng, [KINDS[name] for name in names], AXES[(turn + i) % 2]), rng)
        for i, names in enumerate((["point"], ["frame"], ["point", "frame"]))
    ]
    assert any(x is not None for x in judged)
    if key in FREE:
        assert any(judged)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("axes", AXES, ids=["local", "aligned"])
def test_the_two_oracles_agree(kind: str, axes: Any, rng: np.random.Generator) -> None:
    """Rows and what they ask come of twists in the world on one side, of Pinocchio's frames on the other."""
    for key in ("tree-1", "rotors_on_a_loop_on_free_flyer"):
        s = pool.state(key, rng)
        models, work = contacts(s.model, rng, [KINDS[kind]] * 2, axes), baselines.contacts.createData(s.model)
        one = reference.contact_rows(s.model, s.q, s.v, models)
        two = baselines.contacts.contact_rows(s.model, work, s.q, s.v, models)
        for x, y in zip(one, two, strict=True):
            assert gap(x, y) < 1e-12
    correct(models, rng)
    with raises(pc.NotAvailableError, "0 pin_clusters.verification.reference"):
        baselines.contacts.contact_rows(s.model, work, s.q, s.v, models)


def test_what_contacts_ask_is_the_second_derivative(rng: np.random.Generator) -> None:
    """The rows of the reference, by differences of placements along a motion."""
    s = pool.state("tree-1", rng)
    tree, data = s.model.tree, s.model.tree.createData()
    c, whole = (contacts(s.model, rng, [kind], pin.LOCAL)[0] for kind in KINDS.values())

    def poses(of: Any, t: float) -> tuple[pin.SE3, pin.SE3]:
        pin.forwardKinematics(tree, data, s.case.along(s.q, s.v, s.a, t))
        return data.oMi[of.joint1_id] * of.joint1_placement, data.oMi[of.joint2_id] * of.joint2_placement

    h, (one, _) = 1e-3, poses(c, 0.0)
    at = [np.subtract(*(p.translation for p in poses(c, k * h))) for k in range(-2, 3)]
    second = one.rotation.T @ (-at[0] + 16 * at[1] - 30 * at[2] + 16 * at[3] - at[4]) / (12 * h * h)
    J, rest = reference.contact_rows(s.model, s.q, s.v, [c])
    assert gap(J @ s.a - rest, second) < 1e-5  # truncation h^4, rounding 1e-16 / h^2

    def twist(t: float) -> np.ndarray:
        (a0, b0), (a1, b1) = poses(whole, t - h), poses(whole, t + h)
        here, there = poses(whole, t)
        own, other = (pin.log6(x.actInv(y)).vector / (2 * h) for x, y in ((a0, a1), (b0, b1)))
        return np.asarray(own - here.actInv(there).toActionMatrix() @ other)

    J, rest = reference.contact_rows(s.model, s.q, s.v, [whole])
    assert gap(J @ s.a - rest, pool.slope(twist, h)) < 1e-4  # twists are differences of second order


def still(model: pc.ClusterModel, rng: np.random.Generator) -> pin.RigidConstraintModel | None:
    """A contact at a point on the axis of a hinge on the universe, which no joint moves; None if there is no hinge."""
    tree = model.own_tree
    for j in range(1, tree.njoints):
        if tree.parents[j] == 0 and tree.joints[j].nv == 1:
            made = tree.joints[j].createData()
            tree.joints[j].calc(made, pin.neutral(tree)[tree.idx_qs[j] : tree.idx_qs[j] + tree.nqs[j]])
            S = np.ravel(made.S)
            if not S[:3].any():
                place = pin.SE3(pin.exp3(rng.uniform(-1.0, 1.0, 3)), rng.uniform(-0.5, 0.5) * S[3:])
                return pin.RigidConstraintModel(KINDS["point"], tree, j, place, AXES[int(rng.integers(2))])
    return None


def outcomes(s: pool.State, models: list[Any], tau: np.ndarray) -> list[np.ndarray]:
    """Motions and their derivatives, then the forces of the last contact and theirs."""
    data, datas = s.model.createData(), [c.createData() for c in models]
    a = pc.constraintDynamics(s.model, data, s.q, s.v, tau, models, datas).copy()
    force = data.lambda_c[-3:].copy()
    of_a = [x.copy() for x in pc.computeConstraintDynamicsDerivatives(s.model, data, models, datas)]
    after = pc.impulseDynamics(s.model, data, s.q, s.v, models, datas, 0.3).copy()
    impulse = data.impulse_c[-3:].copy()
    of_v = [x.copy() for x in pc.computeImpulseDynamicsDerivatives(s.model, data, models, datas, 0.3)]
    J = pc.getConstraintsJacobian(s.model, data, models, datas)
    by_rows = pc.forwardDynamics(s.model, data, s.q, s.v, tau, J, np.zeros(len(J)))
    motions = [a, after, by_rows, *of_a[:3], *of_v[:2]]
    return [*motions, force, impulse, *(x[-3:] for x in (*of_a[3:], *of_v[2:]))]


STILL = (
    "tree-2", "geared_five_bar", "ankle_2rsu", "bennett", "rssr_massive", *(f"tree-{n}" for n in range(3, 250)),
    *range(100, 400), *pool.FIXED, *pool.FAMILIES,
)  # fmt: skip


@pytest.mark.ci
@pytest.mark.parametrize("engine", ["tables", "traced"])
@pytest.mark.parametrize("key", pool.some(dict.fromkeys(STILL), 2, everyday=1))
@pytest.mark.filterwarnings("ignore:the contacts 0:pin_clusters.PinClustersWarning")  # more rows than velocities
@pytest.mark.filterwarnings("ignore:the contacts 1:pin_clusters.PinClustersWarning")
def test_a_contact_that_cannot_move_changes_nothing(key: pool.Key, engine: str, rng: np.random.Generator) -> None:
    """Its rows are rounding: with it, another contact has the same motions, forces and derivatives."""
    with pc.engine(engine):
        s = pool.state(key, rng)
    at_rest = still(s.model, rng)
    joints = [j for j in range(1, s.model.own_tree.njoints) if at_rest is None or j != at_rest.joint1_id]
    if at_rest is None or not joints:
        pytest.skip("no hinge on the universe, or no other joint")
    place = pin.SE3(pin.exp3(rng.uniform(-1.0, 1.0, 3)), rng.uniform(-0.3, 0.3, 3))
    moves = pin.RigidConstraintModel(KINDS["point"], s.model.own_tree, int(rng.choice(joints)), place, pin.LOCAL)
    tau = rng.normal(size=s.model.nv)
    with pc.engine(engine):
        one, both = outcomes(s, [moves], tau), outcomes(s, [at_rest, moves], tau)
        free = pc.aba(s.model, s.model.createData(), s.q, s.v, tau)
        alone = outcomes(s, [at_rest], tau)
    A = pc.computeDelassusMatrix(s.model, s.data, s.q, [moves], [moves.createData()])
    w = np.linalg.eigvalsh(A)
    if not w[-1] > 1e-9:
        pytest.skip("the other contact cannot move either")
    limit = 1e-13 * max(1e4, w[-1] / max(w[0], 1e-6 * w[-1]))  # what amplifies rounding, squared in derivatives by q
    # a derivative of a motion is a sum with the derivative of the force, which may be larger than the sum
    terms = dict(zip((3, 4, 5, 6, 7), (10, 11, 12, 13, 14), strict=True))
    for i, (x, y) in enumerate(zip(one, both, strict=True)):
        assert np.abs(x - y).max() < limit * max(1.0, np.abs(x).max(), np.abs(one[terms.get(i, i)]).max())
    for x, y in ((alone[0], free), (alone[1], s.v), (alone[2], free)):
        assert np.abs(x - y).max() < 1e-9 * max(1.0, np.abs(y).max())
    for x in alone[8:10]:
        assert not x.any()
