"""Traces of robots against the kernels they are made of."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import coupled, pool

import pin_clusters as pc
from pin_clusters import tracing

pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
# The same operations, but for fused ones and the order of sums; in loops times cond(K_d).
ROUNDING = {"tree": 1e-12, "loop": 1e-11}
SHORT = 2e-3
"""Of float32, over the largest entry: accelerations amplify rounding by the condition of M."""


def frames_of(model: pc.ClusterModel, rng: np.random.Generator) -> list[str]:
    """Two frames, the last one among them: they are moved by most joints."""
    names = [f.name for f in model.own_tree.frames]
    once = [name for name in names if names.count(name) == 1]
    return list(dict.fromkeys([once[-1], once[int(rng.integers(len(once)))]]))


REFERENCES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)


class Library:
    """What the functions of the library give, in the order of the program's outputs."""

    def __init__(self, model: pc.ClusterModel, frames: list[str], reference: Any) -> None:
        self.model, self.data, self.reference = model, model.createData(), reference
        self.ids = [model.getFrameId(name) for name in frames]

    def of(self, name: str, state: dict[str, np.ndarray]) -> list[Any]:
        own = getattr(self, name, None)
        given = [state[key] for key in tracing.FUNCTIONS[name].inputs]
        found = own(*given) if own else getattr(pc, name)(self.model, self.data, *given)
        return list(found) if isinstance(found, (tuple, list)) else [found]

    def energies(self, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
        kinetic = pc.computeKineticEnergy(self.model, self.data, q, v)
        return [np.array([kinetic]), np.array([pc.computePotentialEnergy(self.model, self.data, q)])]

    def framesForwardKinematics(self, q: np.ndarray) -> list[np.ndarray]:
        pc.framesForwardKinematics(self.model, self.data, q)
        return [self.data.oMf[i].homogeneous for i in self.ids]

    def computeFrameJacobian(self, q: np.ndarray) -> list[np.ndarray]:
        return [pc.computeFrameJacobian(self.model, self.data, q, i, self.reference) for i in self.ids]

    def getFrameVelocity(self, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
        pc.forwardKinematics(self.model, self.data, q, v)
        return [pc.getFrameVelocity(self.model, self.data, i, self.reference).vector for i in self.ids]

    def getFrameAcceleration(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[np.ndarray]:
        pc.forwardKinematics(self.model, self.data, q, v, a)
        return [pc.getFrameAcceleration(self.model, self.data, i, self.reference).vector for i in self.ids]

    def getFrameVelocityDerivatives(self, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
        pc.computeForwardKinematicsDerivatives(self.model, self.data, q, v, 0 * v)
        both = [pc.getFrameVelocityDerivatives(self.model, self.data, i, self.reference) for i in self.ids]
        return [x for pair in both for x in pair]

    def getFrameAccelerationDerivatives(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[np.ndarray]:
        pc.computeForwardKinematicsDerivatives(self.model, self.data, q, v, a)
        four = [pc.getFrameAccelerationDerivatives(self.model, self.data, i, self.reference) for i in self.ids]
        return [x for _, *three in four for x in three]

    def inverse_operational_inertia(self, q: np.ndarray) -> np.ndarray:
        return pc.inverse_operational_inertia(self.model, self.data, q, self.ids, self.reference)

    def computeCentroidalMomentum(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return pc.computeCentroidalMomentum(self.model, self.data, q, v).vector

    def computeCentroidalDynamicsDerivatives(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[np.ndarray]:
        return list(pc.computeCentroidalDynamicsDerivatives(self.model, self.data, q, v, a))

    def integrate(self, q: np.ndarray, v: np.ndarray) -> list[Any]:
        moved = pc.integrate(self.model, q, v)
        return [moved, np.zeros(1)] if self.model.closures else [moved]

    def tangent(self, q: np.ndarray) -> np.ndarray:
        """By differences of fourth order of ``pc.integrate``."""
        steps = 1e-4 * np.eye(self.model.nv)
        return np.stack([
            (8.0 * (pc.integrate(self.model, q, e) - pc.integrate(self.model, q, -e))
             - pc.integrate(self.model, q, 2 * e) + pc.integrate(self.model, q, -2 * e)) / 12e-4
            for e in steps
        ], axis=-1)  # fmt: skip


SMALL_STEP = 1e-3
"""[rad] or [m]; three corrections close what it opens."""
INVERSE = ("aba", "computeMinverse", "computeABADerivatives", "inverse_operational_inertia")
# differences: rounding over the step, 1e-12, more in loops, which are closed to 1e-12; Newton's method ends there, too
LOOSE = {"tangent": {"tree": 1e-10, "loop": 1e-9}, "integrate": {"tree": 1e-12, "loop": 1e-10}}


def check(model: pc.ClusterModel, q: np.ndarray, rng: np.random.Generator, exact: float = 0.0) -> None:
    kind = "loop" if model.closures else "tree"
    state = {"q": q} | {name: rng.normal(size=model.nv) for name in ("v", "a", "tau")}
    condition = float(np.linalg.cond(pc.crba(model, model.createData(), q)))
    frames, reference = frames_of(model, rng), REFERENCES[int(rng.integers(3))]
    library = Library(model, frames, reference)
    for name, what in tracing.FUNCTIONS.items():
        inverts = name in INVERSE
        if inverts and condition > 1e12:
            continue
        given = state | ({"v": SMALL_STEP * state["v"]} if name == "integrate" else {})
        about = {"frames": frames, "reference": reference} if what.framed else {}
        program = pc.trace(model, name, **about)
        found = program(*(given[key] for key, _ in program.inputs))
        right = library.of(name, given)
        found = list(found) if isinstance(found, tuple) else [found]
        assert len(found) == len(right), name
        for x, y in zip(found, right, strict=True):
            limit = LOOSE.get(name, ROUNDING)[kind] * (max(1.0, 1e-3 * condition) if inverts else 1.0) + 1e2 * exact
            assert pool.error(x, y) < limit, name


@pool.each()
def test_they_are_the_kernels(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    check(s.model, s.q, rng, s.case.exact)


BASES: dict[str, dict[str, Any]] = {
    "default": {}, "fixed": {"root_joint": None}, "floating": {"root_joint": pin.JointModelFreeFlyer()}
}  # fmt: skip
ROBOTS = [(robot, base) for robot in pc.robots() for base in BASES]
OFTEN = [("mini_cheetah", "default"), ("mit_humanoid", "default"), ("tello", "default"), ("cassie_leg", "floating")]


@pytest.mark.parametrize("which", pool.some(ROBOTS, OFTEN))
def test_shipped_robots(which: tuple[str, str], rng: np.random.Generator) -> None:
    robot, base = which
    model = pc.load(robot, **BASES[base])
    pin.seed(int(rng.integers(1000)))
    check(model, pc.randomConfiguration(model), rng)


@pytest.mark.parametrize("robot", ["mini_cheetah", "tello", "four_bar"])
def test_rows_and_short_numbers(robot: str, rng: np.random.Generator) -> None:
    model = pc.load(robot)
    data = model.createData()
    q = np.array([pc.integrate(model, model.q_reference, 0.1 * rng.normal(size=model.nv)) for _ in range(5)])
    v, tau = rng.normal(size=(2, 5, model.nv))
    program = pc.trace(model, "aba")
    found = pickle.loads(pickle.dumps(program))(q, v, tau)
    exact = np.array([pc.aba(model, data, *row) for row in zip(q, v, tau, strict=True)])
    assert pool.error(found, exact) < 1e-11
    short = program(*(x.astype(np.float32) for x in (q, v, tau)))
    assert short.dtype == np.float32
    assert np.abs(short - exact).max() < SHORT * np.abs(exact).max()


@pytest.mark.parametrize("robot", ["mini_cheetah", "tello", "four_bar", "cassie_leg"])
def test_their_derivatives_are_those_along_integrate(robot: str, rng: np.random.Generator) -> None:
    """By raw entries of q; along the tangent of ``integrate``, all joints of a loop at once, they are the analytic."""
    model = pc.load(robot)
    data = model.createData()
    q = pc.integrate(model, model.q_reference, 0.1 * rng.normal(size=model.nv))
    v, a = rng.normal(size=(2, model.nv))
    by_q, by_v, by_a = pc.trace(model, "rnea").jacobian()(q, v, a)
    step = 1e-5
    tangent = np.stack([
        (8.0 * (pc.integrate(model, q, step * e) - pc.integrate(model, q, -step * e))
         - pc.integrate(model, q, 2 * step * e) + pc.integrate(model, q, -2 * step * e)) / (12.0 * step)
        for e in np.eye(model.nv)
    ], axis=-1)  # fmt: skip
    dtau_dq, dtau_dv, M = pc.computeRNEADerivatives(model, data, q, v, a)
    assert pool.error(by_q @ tangent, dtau_dq) < 1e-8  # of the tangent, rounding over the step
    assert pool.error(by_v, dtau_dv) < 1e-11
    assert pool.error(by_a, M) < 1e-12


def test_what_cannot_be_traced() -> None:
    model = pc.load("four_bar")
    with pytest.raises(pc.UnknownNameError, match=r"'abba' cannot be traced; there are rnea, aba"):
        pc.trace(model, "abba")
    with pytest.raises(pc.ArgumentTypeError, match="must be a ClusterModel, got Model"):
        pc.trace(model.tree, "aba")  # type: ignore[arg-type]
    tied = coupled.mechanism(np.random.default_rng(0), "compiled").build()
    with pytest.raises(pc.NotAvailableError, match=r"Coupling\('shaft', 'lever', 'slide'\) is a function of the user"):
        pc.trace(tied, "rnea")


@pytest.mark.parametrize("name", [name for name, what in tracing.FUNCTIONS.items() if what.forced])
@pool.each()
def test_external_forces(key: pool.Key, rng: np.random.Generator, name: str) -> None:
    s = pool.state(key, rng)
    model, data = s.model, s.model.createData()
    state = {"q": s.q} | {x: rng.normal(size=model.nv) for x in ("v", "a", "tau")}
    forces = rng.normal(size=(model.njoints, 6))
    program = pc.trace(model, name, fext=True)
    assert program.inputs[-1] == ("fext", 6 * model.njoints)
    given = [state[x] for x, _ in program.inputs[:-1]]
    condition = float(np.linalg.cond(pc.crba(model, data, s.q)))
    if condition > 1e12 and name in INVERSE:
        pytest.skip("M is singular")
    found, right = program(*given, forces.ravel()), getattr(pc, name)(model, data, *given, forces)
    limit = ROUNDING["loop" if model.closures else "tree"] * max(1.0, 1e-3 * condition) + 1e2 * s.case.exact
    for x, y in zip(*((z if isinstance(z, tuple) else (z,)) for z in (found, right)), strict=True):
        assert pool.error(x, y) < limit


@pool.each()
def test_status(key: pool.Key, rng: np.random.Generator) -> None:
    """What the kernels would have looked at: conditions are those of ``pc.condition``, loops are closed at q."""
    s = pool.state(key, rng)
    model, data = s.model, s.model.createData()
    program = pc.trace(model, "aba", status=True)
    _, pivot, *loops = program(s.q, rng.normal(size=model.nv), rng.normal(size=model.nv))
    assert pivot.shape == (1,)
    assert (pivot[0] > 0.0) == (float(np.linalg.cond(pc.crba(model, data, s.q))) < 1e12)
    assert bool(loops) == bool(model.closures)
    if loops:
        bound, opened = (float(x[0]) for x in loops)
        exact = max(loop.K_d for loop in pc.condition(model, data, s.q))
        most = max(len(loop.cluster) for loop in pc.condition(model, data, s.q))
        assert exact * (1.0 - 1e-9) <= bound <= 6.0 * most * exact  # norms of Frobenius
        assert opened < 1e-9 + 10.0 * s.case.exact
        q = s.q + 1e-3
        assert float(program(q, np.zeros(model.nv), np.zeros(model.nv))[-1][0]) > 1e-7


def changed(model: pc.ClusterModel, kind: str, factors: np.ndarray) -> pc.ClusterModel:
    """The robot with other numbers, made of another tree and other constraints."""
    if kind == "gravity":
        return model.with_gravity(factors * model.gravity.linear)
    tree, constraints, left = model.tree.copy(), [], list(factors)
    if kind == "inertial":
        for j in range(1, tree.njoints):
            own, f = tree.inertias[j], left[0]
            tree.inertias[j] = pin.Inertia(f * own.mass, own.lever, f * own.inertia)
            del left[:10]
    rest = [c for c in model.constraints if isinstance(c, pc.Rotor)] if kind == "inertial" else model.constraints
    new: dict[int, Any] = {}
    for c in rest:
        if kind == "inertial":
            assert c.inertia is None
            new[id(c)] = dataclasses.replace(c, axial_inertia=left.pop(0) * c.axial_inertia)
        elif isinstance(c, pc.Rotor):
            new[id(c)] = dataclasses.replace(c, ratios=[left.pop(0) * float(x) for x in np.ravel(c.ratios)])
        elif isinstance(c, (pc.Gear, pc.Belt)):
            new[id(c)] = dataclasses.replace(c, ratio=left.pop(0) * c.ratio)
    if kind == "inertial":
        armature = np.array(tree.armature)
        for iv in np.flatnonzero(model.inertia_tree.armature):
            armature[iv] *= left.pop(0)
        tree.armature = armature
        rods = [c for c in model.constraints if isinstance(c, pc.Rod) and c.mass]
        new |= {id(c): dataclasses.replace(c, mass=left.pop(0) * c.mass) for c in rods}
    assert not left
    constraints = [new.get(id(c), c) for c in model.constraints]
    reference, independent = model._wishes
    return pc.ClusterModel(tree, constraints, reference, independent=independent)


SOME = pool.some(pc.robots(), ["mini_cheetah", "mit_humanoid_leg", "four_bar", "cassie_leg"])


@pytest.mark.parametrize("kind", ["gravity", "inertial", "ratios"])
@pytest.mark.parametrize("robot", SOME)
def test_numbers_of_the_robot_as_inputs(robot: str, kind: str, rng: np.random.Generator) -> None:
    model = pc.load(robot)
    values = tracing.values_of(model, kind)
    assert len(values) == len(tracing.labels_of(model, kind))
    factors = rng.uniform(0.7, 1.3, size=len(values))
    if kind == "inertial":  # all of a body by one factor: rotors stay balanced
        bodies = 10 * (model.njoints - 1)
        factors[:bodies] = np.repeat(factors[: bodies // 10], 10)
    other = changed(model, kind, factors)
    pin.seed(int(rng.integers(1000)))
    q = pc.project(other, pc.randomConfiguration(model))
    given = {"q": q} | {x: rng.normal(size=model.nv) for x in ("v", "a", "tau")}
    # numbers of tables are sums that cancel: some digits more
    limit = 1e2 * ROUNDING["loop" if model.closures else "tree"]
    library = Library(other, [], pin.LOCAL)
    for name, what in tracing.FUNCTIONS.items():
        if what.dynamic:
            program = pc.trace(model, name, parameters=[kind])
            assert program.inputs[-1] == (kind, len(values))
            found = program(*(given[x] for x in what.inputs), values * factors)
            right = library.of(name, given)
            for x, y in zip(found if isinstance(found, tuple) else (found,), right, strict=True):
                assert pool.error(x, y) < limit, name
