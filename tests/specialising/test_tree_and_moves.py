"""Kinematics, momentum and moves of loops in code of the robot's own, against kernels by tables."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool

import pin_clusters as pc
from pin_clusters.compiler import entry_points as kernels
from pin_clusters.compiler.specialising.robot_functions import Made
from pin_clusters.compiler.specialising.traced_kernels import BY_OWN_NAME
from pin_clusters.model import loops_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning"),
    pytest.mark.skipif(not kernels.JIT or kernels.BOUNDSCHECK, reason="nothing is traced"),
]
OFTEN = ["tree-0", "rotors_on_a_loop_on_free_flyer"]
SHIPPED = ["four_bar", "mit_humanoid_leg", "mini_cheetah"]
OTHERS = [name for name in pc.robots() if name not in SHIPPED]
LIMIT, OF_RATES = 1e-11, 1e-9
"""Sums are added in other orders; with loops what they give is multiplied by their conditions, of up to 1e3, and what
is differentiated along the couplings once more."""
RATES = ("acceleration by", "hessian", "its rate")


def error(x: Any, y: Any) -> float:
    """The largest difference, of what is no number in both none."""
    if not np.array_equal(np.isnan(x), np.isnan(y)):
        return np.inf
    return float(np.nanmax(np.abs(np.subtract(x, y)), initial=0.0) / max(1e-2, np.nanmax(np.abs(y), initial=0.0)))


def all_of_the_tree(model: Any, data: Any, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[str, Any]:
    """Everything that Pinocchio's data and ours have after each function, one after the other."""
    found: dict[str, Any] = {}

    def note(name: str, result: Any, *fields: str) -> None:
        found[name] = np.array(getattr(result, "vector", 0.0 if result is None else result))
        for field in fields:
            x = getattr(data.tree, field)
            if hasattr(x, "vector") or isinstance(x, np.ndarray):
                found[f"{name}: {field}"] = np.array(getattr(x, "vector", x))
            elif isinstance(x, pin.Inertia):
                found[f"{name}: {field}"] = x.matrix()
            else:
                items = [getattr(one, "homogeneous", getattr(one, "vector", one)) for one in x]
                found[f"{name}: {field}"] = np.array(items)

    note("places", pc.forwardKinematics(model, data, q), "oMi", "liMi")
    note("velocities", pc.forwardKinematics(model, data, q, v), "v")
    note("accelerations", pc.forwardKinematics(model, data, q, v, a), "oMi", "v", "a")
    note("frames", pc.updateFramePlacements(model, data), "oMf")
    note("J", pc.computeJointJacobians(model, data, q), "J")
    last, axes = model.nframes - 1, pin.LOCAL_WORLD_ALIGNED
    note("of a frame", pc.getFrameJacobian(model, data, last, axes))
    note("J and dJ", pc.computeJointJacobiansTimeVariation(model, data, q, v), "J", "dJ")
    note("rate of a frame", pc.getFrameJacobianTimeVariation(model, data, last, axes))
    note("com", pc.centerOfMass(model, data, q), "com")
    note("com and rates", pc.centerOfMass(model, data, q, v, a), "com", "vcom", "acom")
    note("com of all", pc.centerOfMass(model, data, q, v, None, False))
    note("its rate by q", pc.getCenterOfMassVelocityDerivatives(model, data))
    note("Jcom", pc.jacobianCenterOfMass(model, data, q), "com", "Jcom")
    note("map", pc.computeCentroidalMap(model, data, q), "Ag")
    note("momentum", pc.computeCentroidalMomentum(model, data, q, v), "hg")
    note("ccrba", pc.ccrba(model, data, q, v), "Ag", "hg", "Ig")
    note("rate", pc.computeCentroidalMomentumTimeVariation(model, data, q, v, a), "dhg")
    note("dccrba", pc.dccrba(model, data, q, v), "Ag", "dAg")
    note("all terms", pc.computeAllTerms(model, data, q, v), "J", "Ag", "hg", "com", "vcom")
    some = pc.FrameTerms(model, [last, 0, *range(1, last, 7)], axes)
    pc.computeAllTerms(model, data, q, v, out=some)
    for field in pc.FrameTerms.__slots__:
        if isinstance(part := getattr(some, field), np.ndarray):
            note(f"terms: {field}", part.copy())
    pc.computeForwardKinematicsDerivatives(model, data, q, v, a)
    for i, part in enumerate(pc.getJointAccelerationDerivatives(model, data, model.njoints - 1, pin.LOCAL)):
        note(f"acceleration by {i}", part)
    pc.computeJointKinematicHessians(model, data, q)
    note("hessian", pc.getJointKinematicHessian(model, data, model.njoints - 1, pin.WORLD))
    return found


def compare(model: pc.ClusterModel, q: np.ndarray, rng: np.random.Generator) -> None:
    v, a = rng.normal(size=(2, model.nv))
    with pc.engine("tables"):
        expected = all_of_the_tree(model, model.createData(), q, v, a)
    with pc.engine("traced"):
        data = model.createData()
    for _ in range(2):  # through Python, then without
        found = all_of_the_tree(model, data, q, v, a)
        assert found.keys() == expected.keys()
        for name, wanted in expected.items():
            assert error(found[name], wanted) < (OF_RATES if name.startswith(RATES) else LIMIT), name


@pytest.mark.ci
@pytest.mark.parametrize("name", [*SHIPPED, *pool.some(OTHERS, 0)])
def test_shipped_robots(name: str, rng: np.random.Generator) -> None:
    model = pc.load(name)
    compare(model, pc.randomConfiguration(model), rng)


@pytest.mark.ci
@pytest.mark.parametrize("key", pool.some(pool.ALL, OFTEN))
def test_random_mechanisms(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    compare(s.model, s.q, rng)


def test_the_user_puts_another_data_there(rng: np.random.Generator) -> None:
    """Code writes where ``pin.Data`` is, which may be elsewhere the next time."""
    with pc.engine("traced"):
        model = pc.load("cassie_leg")
        data = model.createData()
    for _ in range(3):
        q = pc.integrate(model, model.q_reference, 0.1 * rng.normal(size=model.nv))
        pc.forwardKinematics(model, data, q)
        pin.forwardKinematics(model.tree, other := model.tree.createData(), q)
        assert all(x.isApprox(y, 1e-12) for x, y in zip(data.oMi, other.oMi, strict=True))
        data.tree = other
        pc.centerOfMass(model, data, q, np.ones(model.nv))
        assert data.tree is other
        assert np.allclose(other.com[0], data.com[0], atol=0)


def test_what_is_no_number_is_seen(rng: np.random.Generator) -> None:
    with pc.engine("traced"):
        model = pc.load("mini_cheetah")
        data, q = model.createData(), pc.neutral(pc.load("mini_cheetah"))
    v = np.full(model.nv, np.nan)
    for _ in range(2):
        pc.forwardKinematics(model, data, q, v)
        assert np.isnan(data.v[1].vector).any()
        assert np.isnan(pc.computeCentroidalMomentum(model, data, q, v).vector).any()


def test_copies_threads_and_pickles(rng: np.random.Generator) -> None:
    special = pc.specialise(pc.load("tello"), ())
    q, v = special.q_reference, rng.normal(size=special.nv)
    datas = [special.createData() for _ in range(8)]
    with ThreadPoolExecutor(8) as run:  # all at the same first call
        found = list(run.map(lambda data: pc.ccrba(special, data, q, v), datas))
    assert all(np.array_equal(x, found[0]) for x in found)
    again = pickle.loads(pickle.dumps(special))
    names = {one.function for one in special.specialised}
    assert names == {one.function for one in again.specialised}
    assert any(name.startswith("tree ") for name in names)
    assert np.array_equal(pc.ccrba(again, datas[0].copy() if again is special else again.createData(), q, v), found[0])


# --- moves
@pytest.mark.parametrize("name", pool.some(pc.robots(), ["four_bar", "tello", "delta", "digit_leg"]))
def test_moves_are_those_of_the_kernels(name: str, rng: np.random.Generator) -> None:
    """Where kernels arrive, fail, or close loops, so does the code; what both reach is the same."""
    model = pc.load(name)
    if not model.closures:
        pytest.skip("no loops")
    loops, made = loops_of(model), {x: Made(model, BY_OWN_NAME[x], 1e9) for x in ("move", "project")}
    assert all(one.chosen for one in made.values())
    reached = lost = 0
    for i in range(60):
        with pc.engine("tables"):
            q = pc.randomConfiguration(model)
        v, v_tree = rng.normal(size=model.nv) * rng.choice([0.0, 1e-3, 0.1, 1.0, 10.0]), np.zeros(model.own_tree.nv)
        v_tree[model.idx_v_independent] = v
        target = pin.integrate(model.own_tree, q, v_tree)
        results = []
        for one in (kernels.move, made["move"]):
            mine = q.copy()
            results.append((one.call(loops.pointer, mine, v, target.copy(), np.zeros(model.nq)), mine))
        assert results[0][0] == results[1][0], i
        reached, lost = reached + (results[0][0] == 0), lost + (results[0][0] != 0)
        if results[0][0] == 0:
            assert error(results[1][1][loops.entries], results[0][1][loops.entries]) < 1e-9, i
        off = q + rng.normal(size=model.nq) * rng.choice([1e-4, 1e-2, 0.3])
        held = np.zeros(model.own_tree.nv)
        held[model.idx_v_independent[: i % 3]] = 1.0
        results = []
        for one in (kernels.project, made["project"]):
            mine = off.copy()
            results.append((one.call(loops.pointer, mine, held), mine))
        assert results[0][0] == results[1][0], i
        if results[0][0] == 0:
            assert error(results[1][1][loops.entries], results[0][1][loops.entries]) < 1e-9, i
    assert reached > 20


def test_a_model_moves_with_the_engine_of_its_first_move() -> None:
    with pc.engine("tables"):
        model = pc.load("four_bar")
        pc.integrate(model, model.q_reference, np.full(1, 0.1))
    with pc.engine("traced"):
        pc.integrate(model, model.q_reference, np.full(1, 0.1))
        assert not model.specialised
        other = pc.load("four_bar")
        pc.integrate(other, other.q_reference, np.full(1, 0.1))
        assert [one.function for one in other.specialised] == ["move"]


@pytest.mark.ci
def test_simulations(rng: np.random.Generator) -> None:
    for name in ("tello", "four_bar", "digit_leg"):
        runs = []
        for engine in ("tables", "traced"):
            with pc.engine(engine):
                model = pc.load(name)
                q = model.q_reference
                runs.append(pc.simulate(model, q, np.full(model.nv, 0.3), None, 0.02, 1e-3))
                _, ends, _ = pc.batch.simulate(model, q[None], np.full((1, model.nv), 0.3), duration=0.02, dt=1e-3)
                assert error(ends[0], runs[-1].q[-1]) < 1e-9
        for field in ("q", "v", "energy"):
            assert error(getattr(runs[1], field), getattr(runs[0], field)) < 1e-9, (name, field)
        assert runs[1].residual.max() < 1e-12
