"""What else may be an input or an output of a trace, and what may not be traced."""

from __future__ import annotations

import dataclasses
import math
from math import cos
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import coupled, pool
from support.messages import raises
from support.traced import INVERSE, ROUNDING, Library, each, state_of

import pin_clusters as pc
from pin_clusters.compiler import tracing
from pin_clusters.compiler.tracing._sources import source
from pin_clusters.compiler.tracing.expressions import BranchOnValueError

pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")


@each
def test_external_forces(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    model, data = s.model, s.model.createData()
    state = state_of(model, s.q, rng)
    forces = rng.normal(size=(model.njoints, 6))
    condition = float(np.linalg.cond(pc.crba(model, data, s.q)))
    limit = ROUNDING["loop" if model.closures else "tree"] * max(1.0, 1e-3 * condition) + 1e2 * s.case.exact
    for name, what in tracing.FUNCTIONS.items():
        if not what.forced or (condition > 1e12 and name in INVERSE):
            continue
        program = pc.trace(model, name, fext=True)
        assert program.inputs[-1] == ("fext", 6 * model.njoints)
        given = [state[x] for x, _ in program.inputs[:-1]]
        found, right = program(*given, forces.ravel()), getattr(pc, name)(model, data, *given, forces)
        for x, y in zip(*((z if isinstance(z, tuple) else (z,)) for z in (found, right)), strict=True):
            assert pool.error(x, y) < limit, name


@each
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


@pytest.mark.parametrize("robot", pool.some(["cassie_leg", "digit_leg", "kangaroo_leg"], 2))
def test_status_of_loops_on_bodies_of_others(robot: str, rng: np.random.Generator) -> None:
    """A loop that stands on a body which moves, of another loop too, is judged where it is closed."""
    model = pc.load(robot)
    q = pc.integrate(model, pc.neutral(model), 0.05 * rng.normal(size=model.nv))
    program, rest = pc.trace(model, "aba", status=True), np.zeros(model.nv)
    assert float(program(q, rest, rest)[-1][0]) < 1e-9
    assert float(program(q + 1e-3, rest, rest)[-1][0]) > 1e-7


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
        new |= {id(c): c.with_mass(left.pop(0) * c.mass) for c in rods}
    assert not left
    constraints = [new.get(id(c), c) for c in model.constraints]
    reference, independent = model._requested
    return pc.ClusterModel(tree, constraints, reference, independent=independent)


SOME = pool.some(pc.robots(), ["mit_humanoid_leg", "four_bar"])


@pytest.mark.ci
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
    given = state_of(model, q, rng)
    # numbers of tables are sums that cancel: some digits more
    limit = 1e2 * ROUNDING["loop" if model.closures else "tree"]
    library = Library(other, [], pin.LOCAL)
    for name, what in tracing.FUNCTIONS.items():
        if what.dynamic and not what.touching:
            program = pc.trace(model, name, parameters=[kind])
            assert program.inputs[-1] == (kind, len(values))
            found = program(*(given[x] for x in what.inputs), values * factors)
            right = library.of(name, given)
            for x, y in zip(found if isinstance(found, tuple) else (found,), right, strict=True):
                assert pool.error(x, y) < limit, name


RADIUS = 0.3


def reach(angle: Any) -> Any:
    return math.sqrt(1.0 - (RADIUS * math.sin(angle)) ** 2)


def with_mathematics(x: Any) -> Any:
    """The function of ``coupled.cam_and_slide`` by ``math``, a helper, a list."""
    first = x[1] - 0.2 * math.sin(x[0]) - 0.05 * math.sin(2.0 * x[0] + x[1])
    return [first, x[2] - RADIUS * cos(x[0]) - reach(x[0]) + 0.1 * x[1] * x[2]]


def made_by(radius: float) -> Any:
    def inner(x: np.ndarray) -> np.ndarray:
        root = np.sqrt(1.0 - (radius * np.sin(x[0])) ** 2)
        bend = 0.05 * np.sin(2.0 * x[0] + x[1])
        return np.array([x[1] - 0.2 * np.sin(x[0]) - bend, x[2] - radius * math.cos(x[0]) - root + 0.1 * x[1] * x[2]])

    return inner


FUNCTIONS = {
    "NumPy": {"phi": coupled.cam_and_slide},
    "math": {"phi": with_mathematics},
    "closure": {"phi": made_by(0.3)},
    "derivatives": {"phi": coupled.cam_and_slide, "jacobian": coupled.slopes, "hessian": coupled.bends},
}


@pytest.mark.ci
@pytest.mark.parametrize("how", pool.some(FUNCTIONS, ["derivatives"], rest="ci"))
def test_functions_in_python(how: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the kernels, which have all derivatives from the user."""
    exact = coupled.mechanism(np.random.default_rng(0), "Python, third").build()
    monkeypatch.setitem(coupled.FUNCTIONS, how, FUNCTIONS[how])
    model = coupled.mechanism(np.random.default_rng(0), how).build()
    q = pc.integrate(exact, exact.q_reference, 0.1 * rng.normal(size=model.nv))
    state = state_of(model, q, rng)
    library = Library(exact, ["slide"] if exact.existFrame("slide") else [], pin.LOCAL)
    for name, what in tracing.FUNCTIONS.items():
        given = state | ({"v": 1e-3 * state["v"]} if name == "integrate" else {})
        if what.framed or what.touching:
            continue
        found = pc.trace(model, name)(*(given[x] for x in what.inputs))
        limit = 1e-8 if name == "tangent" else 1e-10
        for x, y in zip(found if isinstance(found, tuple) else (found,), library.of(name, given), strict=True):
            assert pool.error(x, y) < limit, name


def decides(x: np.ndarray) -> np.ndarray:
    return np.array([x[1] - 0.2 * abs(x[0]), x[2] - 0.3])


def fills(x: np.ndarray) -> np.ndarray:
    out = np.zeros(2)
    out[0] = x[1] - 0.2 * x[0]
    return out


def exponential(x: np.ndarray) -> np.ndarray:
    return np.array([x[1] - 0.1 * math.exp(x[0]), x[2] - 0.3 + 0.1 * x[0]])


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        (decides, ""),
        (exponential, "sqrt sin cos"),
        (fills, "sqrt sin"),
        (coupled.real_cam_and_slide, "sqrt sin"),
    ],
)
def test_functions_that_cannot_be_traced(phi: Any, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(coupled.FUNCTIONS, "strange", {"phi": coupled.cam_and_slide})
    model = coupled.mechanism(np.random.default_rng(0), "strange").build()
    # the traced function is another one; what else there is of the model stays
    for supply in model.tables.supplies:
        monkeypatch.setattr(
            type(supply.closure), "functions", property(lambda _: (phi, None, None, None)), raising=False
        )
    with raises(pc.NotAvailableError, message) as raised:
        pc.trace(model, "rnea")
    assert "Coupling('shaft', 'lever', 'slide') cannot be traced" in str(raised.value)


@pytest.mark.jitless
def test_a_kernel_that_decides_by_a_value_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = source("dynamics.rnea")
    honest = kernels.rnea

    def deciding(index: Any, params: Any, work: Any, result: Any, q: Any, v: Any, a: Any, out: Any) -> int:
        return 0 if v[0] > 0.0 else honest(index, params, work, result, q, v, a, out)

    monkeypatch.setattr(kernels, "rnea", deciding)
    with raises(BranchOnValueError):
        pc.trace(pc.load("mit_humanoid_leg"), "rnea")


def test_what_cannot_be_traced() -> None:
    model = pc.load("four_bar")
    with raises(pc.UnknownNameError, "'abba' 'aba'"):
        pc.trace(model, "abba")
    with raises(pc.ArgumentTypeError, "ClusterModel Model"):
        pc.trace(model.tree, "aba")  # type: ignore[arg-type]
    tied = coupled.mechanism(np.random.default_rng(0), "compiled").build()
    with raises(pc.NotAvailableError, "Coupling('shaft', 'lever', 'slide')"):
        pc.trace(tied, "rnea")


@pytest.mark.parametrize(
    ("function", "options", "error", "message"),
    [
        ("crba", {"fext": True}, pc.ArgumentTypeError, "crba rnea aba"),
        ("rnea", {"frames": ["crank"]}, pc.ArgumentTypeError, "rnea"),
        ("computeFrameJacobian", {}, pc.ArgumentTypeError, "'rocker_link'"),
        ("constraintDynamics", {}, pc.ArgumentTypeError, "constraintDynamics"),
        ("computeFrameJacobian", {"frames": []}, pc.ArgumentTypeError, "frames"),
        (
            "computeFrameJacobian",
            {"frames": np.array([1.0])},
            pc.ArgumentTypeError,
            "1.0",
        ),
        (
            "computeFrameJacobian",
            {"frames": np.array([[1, 2]])},
            pc.ArgumentTypeError,
            "",
        ),
        ("computeFrameJacobian", {"frames": ["crnk"]}, pc.UnknownNameError, "'crnk' 'crank'"),
        ("computeFrameJacobian", {"frames": [99]}, pc.UnknownNameError, "99 0"),
        ("computeFrameJacobian", {"frames": [1, 1]}, pc.ArgumentTypeError, ""),
        ("integrate", {"steps": -1}, pc.ArgumentTypeError, "steps 0 -1"),
        ("rnea", {"parameters": ["mass"]}, pc.UnknownNameError, "'mass' gravity ratios"),
        ("rnea", {"parameters": ["gravity"] * 2}, pc.ArgumentTypeError, ""),
        ("rnea", {"parameters": ["inertial", "ratios"]}, pc.NotAvailableError, "ratios"),
        ("centerOfMass", {"parameters": ["inertial"]}, pc.ArgumentTypeError, "centerOfMass"),
    ],
)
def test_bad_options(function: str, options: dict[str, Any], error: Any, message: str) -> None:
    with raises(error, message):
        pc.trace(pc.load("four_bar"), function, **options)


def test_only_ratios_ask_how_many_of_them_a_cluster_has(rng: np.random.Generator) -> None:
    """A rotor with six of them: inertial parameters and gravity are inputs all the same."""
    tree, names = pin.Model(), [f"j{k}" for k in range(6)]
    for j, name in enumerate(names):
        tree.addJoint(j, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.2])), name)
        tree.appendBodyToJoint(j + 1, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
    rotor = pc.Rotor(names, np.arange(3.0, 9.0), axial_inertia=1e-4, axis=(0, 1, 0))
    model = pc.ClusterModel(tree, [rotor])
    state = rng.uniform(-1.0, 1.0, (3, 6))
    right = pc.rnea(model, model.createData(), *state)
    for kind in ("inertial", "gravity"):
        values = tracing.values_of(model, kind)
        assert len(tracing.labels_of(model, kind)) == len(values)
        found = pc.trace(model, "rnea", parameters=[kind])(*state, values)
        assert pool.error(found, right) < ROUNDING["tree"]
    for ask in (tracing.values_of, tracing.labels_of, lambda m, kind: pc.trace(m, "rnea", parameters=[kind])):
        with raises(pc.NotAvailableError, "6 ratios 4"):
            ask(model, "ratios")
