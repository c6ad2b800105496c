"""Derivatives of dynamics with contacts and of impacts: differences, what must hold, Pinocchio where it is exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import coupled, mechanisms, pool, trees
from support import differences
from support.touching import AXES, FRAME, KINDS, POINT, WORST, Results, Touching, contacts, correct, draw

import pin_clusters as pc
from pin_clusters.verification import reference

pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
# Over the largest entry and what amplifies rounding, cond(M) and cond(J M^-1 J'): as for dynamics without contacts.
ALONG_Q = {"tree": 1e-11, "loop": 2e-10}
EXACT = {"tree": 1e-12, "loop": 1e-11}
SLOPPY = 1e2
OFTEN = (
    "tree-0", "tree-1", "tree-5", "tree-8", "tree-11", "rotors_on_a_loop_on_free_flyer", "rssr_massive", "delta_pairs",
    "bennett", "planar-0", "spatial-0", "spatial-5", "sloppy_four_bar",
)  # fmt: skip
QUICK = ("tree-0", "tree-1", "rotors_on_a_loop_on_free_flyer", "delta_pairs", "planar-0", "sloppy_four_bar")


def limits(model: pc.ClusterModel, exact: float = 0.0) -> tuple[float, float]:
    kind = "loop" if model.closures else "tree"
    return ALONG_Q[kind] + SLOPPY * exact, EXACT[kind] + SLOPPY * exact


def compare(found: Results, differenced: Results, along_q: float, exact: float, condition: float = 1.0) -> None:
    half = len(found) // 2
    for i, (x, y) in enumerate(zip(found, differenced, strict=True)):
        assert pool.error(x, y) < (along_q if i % half == 0 else exact) * condition, i


@pytest.mark.ci
@pytest.mark.parametrize(
    "key", [*pool.some(OFTEN, QUICK, rest="ci"), *pool.some([k for k in pool.ALL if k not in OFTEN], 0)]
)
def test_differences_on_mechanisms(key: pool.Key, rng: np.random.Generator) -> None:
    """With correctors and desired motions, of the world and of two bodies; redundant ones that contradict, too."""
    s, turn = pool.state(key, rng), int(rng.integers(2))
    along_q, exact = limits(s.model, s.case.exact)
    for i, kinds in enumerate(KINDS):
        x = draw(s.model, lambda: s.case.pose(rng), rng, kinds, AXES[(turn + i) % 2])
        if x is not None:
            compare(x.found(), x.differenced(), along_q, exact, x.condition)
            bounce = float(rng.random())
            compare(x.impact_found(bounce), x.impact_differenced(bounce), along_q, exact, x.condition)


@pytest.mark.ci
@pytest.mark.parametrize("how", ["Python, Jacobian", "compiled, third"])
def test_functions_of_users(how: str) -> None:
    """Third derivatives of a function count along the motion, of which an impact has none."""
    rng = np.random.default_rng(7)
    model = coupled.mechanism(rng, how).build()
    q = mechanisms.move(model, model.q_reference, np.r_[rng.normal(size=6), 0.1])
    for i, kinds in enumerate(KINDS[:2]):
        x = draw(model, lambda: q, np.random.default_rng(i), kinds, AXES[i])
        assert x is not None
        compare(x.found(), x.differenced(), *limits(model), x.condition)
        compare(x.impact_found(0.3), x.impact_differenced(0.3), *limits(model), x.condition)


BASES = {"default": {}, "fixed": {"root_joint": None}, "floating": {"root_joint": pin.JointModelFreeFlyer()}}
ROBOTS = [(robot, base) for robot in pc.robots() for base in BASES]
FEW = [("tello", "default"), ("mit_humanoid", "default"), ("cassie_leg", "floating"), ("jvrc1_as_published", "fixed")]


@pytest.mark.ci
def test_functions_of_users_in_members_on_demand() -> None:
    """Derivatives between two bodies read members of data, which a second workspace computes with generic kernels."""
    with pc.engine("tables"):
        for seed in range(12):
            rng = np.random.default_rng(seed)
            model = coupled.mechanism(rng, "Python").build()
            q = mechanisms.move(model, model.q_reference, np.r_[rng.normal(size=6), 0.1])
            found = draw(model, lambda q=q: q, rng, KINDS[seed % 2], AXES[seed % 2])
            if found is not None:
                compare(found.found(), found.differenced(), *limits(model), found.condition)


@pytest.mark.parametrize("which", pool.some(ROBOTS, FEW, everyday=0))
def test_differences_on_shipped_robots(which: tuple[str, str], rng: np.random.Generator) -> None:
    robot, base = which
    model = pc.load(robot, **BASES[base])
    pin.seed(int(rng.integers(1000)))
    along_q, exact = limits(model)
    for kinds in KINDS[:2]:
        x = draw(model, lambda: pc.randomConfiguration(model), rng, kinds, AXES[int(rng.integers(2))])
        if x is not None:
            compare(x.found(), x.differenced(), along_q, exact, x.condition)


def touching(name: str, rng: np.random.Generator, kinds: list[Any], axes: Any = pin.LOCAL) -> Touching:
    """The best of some draws whose rows are independent."""
    model = pc.load(name, root_joint=pin.JointModelFreeFlyer())
    start = pc.neutral(model)

    def pose() -> np.ndarray:
        return pc.integrate(model, start, 0.3 * rng.normal(size=model.nv))

    found = []
    for _ in range(40):
        models = contacts(model, rng, kinds, axes)
        correct(models, rng)
        found.append(Touching(model, pose(), rng, models))
    best = min((x for x in found if x.independent), key=lambda x: x.condition)
    assert best.condition < 1e2 * WORST
    return best


@pytest.mark.ci
@pytest.mark.parametrize(
    ("name", "kinds"),
    [("mit_humanoid", [POINT]), ("mit_humanoid", [FRAME]), ("tello", [POINT])],
)
@pytest.mark.parametrize("axes", AXES, ids=["local", "aligned"])
def test_damped(name: str, kinds: list[Any], axes: Any, rng: np.random.Generator) -> None:
    """One iteration with mu is damping; what ``constraintDynamics`` was given is remembered."""
    x = touching(name, rng, kinds, axes)
    along_q, exact = limits(x.model)
    settings = pin.ProximalSettings(1e-14, 0.5, 1)
    damped = x.found(settings)
    compare(damped, x.differenced(settings), along_q, exact, x.condition)
    x.dynamics(x.q, x.v, x.tau)
    given = pc.computeConstraintDynamicsDerivatives(x.model, x.data, x.models, x.datas, settings)
    compare(damped, list(given), 1e-14, 1e-14)
    compare(x.impact_found(0.4, 0.5), x.impact_differenced(0.4, 0.5), along_q, exact, x.condition)
    undamped = x.found()  # the settings of the call before are forgotten
    assert pool.error(undamped[2], damped[2]) > 1e-6
    iterated = x.found(pin.ProximalSettings(1e-14, 1e-14, 1e-6, 50))
    compare(iterated, undamped, exact, exact, 1e3 * x.condition)


@pytest.mark.ci
@pytest.mark.parametrize("axes", AXES, ids=["local", "aligned"])
@pytest.mark.parametrize("asked", [False, True], ids=["agree", "contradict"])
def test_redundant(axes: Any, asked: bool, rng: np.random.Generator) -> None:
    """Four points of one foot, and one of them twice: forces of least norm turn with the rows, not with the robot."""
    model = pc.load("mini_cheetah")
    q = pc.integrate(model, pc.neutral(model), 0.3 * rng.normal(size=model.nv))
    corners = [pin.SE3(np.eye(3), np.array([x, y, 0.1])) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    models = [pc.RigidConstraintModel(POINT, model, 1, M, 0, trees.placement(rng), axes) for M in corners]
    models.append(models[0])
    if asked:
        correct(models[:3], rng)
    x = Touching(model, q, rng, models)
    assert x.rows == 15
    assert not x.independent
    compare(x.found(), x.differenced(), *limits(model), 1e3)
    assert x.data.contact_rank == 6
    compare(x.impact_found(0.3), x.impact_differenced(0.3), *limits(model), 1e3)


@pytest.mark.ci
@pytest.mark.parametrize("name", pool.some(["mit_humanoid", "tello"], 1))
@pytest.mark.parametrize(
    "axes", [pytest.param(AXES[0], id="local"), pytest.param(AXES[1], id="aligned", marks=pytest.mark.long)]
)
def test_what_holds_between_them(name: str, axes: Any, rng: np.random.Generator) -> None:
    x = touching(name, rng, [POINT], axes)
    ddq_dq, ddq_dv, ddq_dtau, dlambda_dq, dlambda_dv, dlambda_dtau = x.found()
    model, q, v = x.model, x.q, x.v
    limit = 1e-11 * x.condition
    J, _ = reference.contact_rows(model, q, v, x.models)
    M = pc.crba(model, model.createData(), q)
    assert np.array_equal(ddq_dtau, ddq_dtau.T)
    assert pool.error(J @ ddq_dtau, np.zeros_like(J)) < limit
    assert pool.error(ddq_dtau @ M @ ddq_dtau, ddq_dtau) < limit  # a projection
    assert pool.error(M @ ddq_dtau - J.T @ dlambda_dtau, np.eye(model.nv)) < limit
    # contacts stay as they are asked to, to first order
    asked = differences.quadratic(lambda w: reference.contact_rows(model, q, w, x.models)[1], v)
    assert pool.error(J @ ddq_dv, asked) < limit
    a = pc.constraintDynamics(model, x.data, q, v, x.tau, x.models, x.datas)

    def missed(y: np.ndarray) -> np.ndarray:
        rows, rest = reference.contact_rows(model, y, v, x.models)
        return np.asarray(rows @ a - rest)

    assert pool.error(J @ ddq_dq, -differences.along(missed, model, q)) < 10.0 * limit
    for i, (one, two) in enumerate(((dlambda_dq, "dq"), (dlambda_dv, "dv"), (dlambda_dtau, "dtau"))):
        assert np.array_equal(getattr(x.data, f"dlambda_{two}"), one), i
    for kept, given in ((x.data.ddq_dq, ddq_dq), (x.data.ddq_dv, ddq_dv), (x.data.ddq_dtau, ddq_dtau)):
        assert np.array_equal(kept, given)
    # an impact that sticks lets nothing through twice
    _, after_dv, _, impulse_dv = x.impact_found(0.0)
    assert pool.error(after_dv @ after_dv, after_dv) < limit
    assert pool.error(M @ (after_dv - np.eye(model.nv)), J.T @ impulse_dv) < limit


@pytest.mark.ci
@pytest.mark.parametrize("kind", [POINT, FRAME], ids=["point", "frame"])
@pytest.mark.parametrize("axes", AXES, ids=["local", "aligned"])
@pytest.mark.parametrize("corrected", [False, True], ids=["free", "corrected"])
def test_pinocchio(kind: Any, axes: Any, corrected: bool, rng: np.random.Generator) -> None:
    """Of contacts with the world, without couplings; with correctors not of frames in axes of the world."""
    tree = pin.buildSampleModelHumanoid()
    tree.lowerPositionLimit[:3], tree.upperPositionLimit[:3] = -1.0, 1.0
    pin.seed(int(rng.integers(1000)))
    q, (v, tau) = pin.randomConfiguration(tree), rng.normal(size=(2, tree.nv))
    model, work = pc.ClusterModel(tree), tree.createData()
    data = model.createData()
    c = pin.RigidConstraintModel(kind, tree, tree.njoints - 1, trees.placement(rng), axes)
    if corrected:
        correct([c], rng)
        # which Pinocchio does not read
        c.desired_contact_placement = pin.SE3.Identity()
        c.desired_contact_velocity = c.desired_contact_acceleration = pin.Motion.Zero()
    theirs, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    theirs.append(c)
    datas.append(c.createData())
    if hasattr(pin, "lcaba"):
        pin.initConstraintDynamics(tree, work, theirs, datas)
    else:
        pin.initConstraintDynamics(tree, work, theirs)
    settings = pin.ProximalSettings(1e-14, 0.0, 1)
    pin.constraintDynamics(tree, work, q, v, tau, theirs, datas, settings)
    exact = [np.array(x) for x in pin.computeConstraintDynamicsDerivatives(tree, work, theirs, datas, settings)]
    ours, kept = [c], [c.createData()]
    pc.constraintDynamics(model, data, q, v, tau, ours, kept)
    found = list(pc.computeConstraintDynamicsDerivatives(model, data, ours, kept))
    if corrected and kind == FRAME and axes == pin.LOCAL_WORLD_ALIGNED:  # Pinocchio's differ from differences
        assert pool.error(found[0], exact[0]) > 1e-3
        found[0], found[3] = exact[0], exact[3]
    compare(found, exact, 1e-10, 1e-10)
    pin.impulseDynamics(tree, work, q, v, theirs, datas, 0.3, settings)
    pin.computeImpulseDynamicsDerivatives(tree, work, theirs, datas, 0.3, settings)
    pc.impulseDynamics(model, data, q, v, ours, kept, 0.3)
    after_dq, after_dv, impulse_dq, impulse_dv = pc.computeImpulseDynamicsDerivatives(model, data, ours, kept, 0.3)
    found = [after_dq, after_dv - np.eye(model.nv), impulse_dq, impulse_dv]
    exact = [np.array(x) for x in (work.ddq_dq, work.ddq_dv, work.dlambda_dq, work.dlambda_dv)]
    compare(found, exact, 1e-10, 1e-10)
    compare([data.ddq_dq, data.ddq_dv, data.dlambda_dq, data.dlambda_dv], found, 1e-15, 1e-15)
