"""Calls with contacts or rows of a constraint through the C extension: the bits of the Python functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples.bad_loops import parallelogram
from support import hostile
from support.touching import pinocchio_s

import pin_clusters as pc
from pin_clusters.compiler.call_layer import layer, native
from pin_clusters.compiler.calls.watch import word
from pin_clusters.model import contact_memory

pytestmark = [
    pytest.mark.ci,  # they need many kernels that no other test of the everyday run needs
    pytest.mark.skipif(native is None or pin.__version__.startswith("3."), reason=f"calls: {layer()}"),
    # A point of a planar linkage cannot be held in all directions.
    pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning"),
]
POINT, FRAME = pin.ContactType.CONTACT_3D, pin.ContactType.CONTACT_6D


CONTAINERS: dict[str, Callable[[list[Any]], tuple[Any, Any]]] = {
    "lists": lambda models: (models, [c.createData() for c in models]),
    "tuples": lambda models: (tuple(models), tuple(c.createData() for c in models)),
    "vectors": pinocchio_s,
    "copies": lambda models: (list(map(pin.RigidConstraintModel, models)), [c.createData() for c in models]),
    "iterated vectors": lambda models: tuple(map(list, pinocchio_s(models))),  # type: ignore[arg-type,return-value]
    "items of vectors": lambda models: tuple([x[i] for i in range(len(x))] for x in pinocchio_s(models)),  # type: ignore[return-value]
}


class Robot:
    """A robot at a state, with contacts at the joint with the largest id."""

    def __init__(self, name: str, container: str = "lists", kind: Any = POINT) -> None:
        self.model = pc.load(name)
        self.data, rng, n = self.model.createData(), np.random.default_rng(0), self.model.nv
        self.q = pc.integrate(self.model, pc.neutral(self.model), 0.1 * rng.standard_normal(n))
        self.v, self.tau = 0.1 * rng.standard_normal((2, n))
        joint = max(map(self.model.getJointId, self.model.independent_joints))
        pin.seed(1)
        models = [pin.RigidConstraintModel(kind, self.model.tree, joint, pin.SE3.Random(), pin.LOCAL)]
        self.models, self.datas = CONTAINERS[container](models)
        self.J, self.drift = rng.standard_normal((min(3, n), n)), rng.standard_normal(min(3, n))

    def left(self) -> list[Any]:
        """Return what a call leaves in the data."""
        data, mine = self.data, self.data._derivatives
        names = "lambda_c impulse_c dq_after _ddq _M ddq_dq ddq_dv ddq_dtau dlambda_dq dlambda_dv dlambda_dtau".split()
        found = [getattr(data, name) for name in (*names, "_contacts_found", "_kept", "_owed_words", "_kept_states")]
        found += [mine.after_contacts, mine.after_impact, mine.after_aba]
        found += [x.vector for d in self.datas for x in (d.contact_force, d.contact_placement_error)]
        return [x.copy() for x in (*found, *(d.c1Mc2.homogeneous for d in self.datas))]

    def usual(self, function: Any, *given: Any, fast: bool = True, **named: Any) -> Any:
        """Call a function, which must be answered by the extension (or not), with the bits of the Python function."""
        before = function.python_calls
        found = function(self.model, self.data, *given, **named)
        assert (function.python_calls == before) == fast, function.__name__
        left = self.left()
        assert same(found, function.__wrapped__(self.model, self.data, *given, **named)), function.__name__
        assert same(left, self.left()), function.__name__
        return found


def same(x: Any, y: Any) -> bool:
    if isinstance(x, (tuple, list)):
        return all(map(same, x, y))
    return x is y if x is None else np.array_equal(x, y, equal_nan=True)


def calls(x: Robot) -> list[tuple[Any, ...]]:
    """Return functions of contacts with their arguments, in an order in which each finds what it needs."""
    state, contacts, settings = (x.q, x.v), (x.models, x.datas), pin.ProximalSettings(1e-12, 1e-6, 10)
    redundant = x.model.nv < 3
    return [
        (pc.initConstraintDynamics, *contacts),
        (pc.constraintDynamics, *state, x.tau, *contacts),
        *[(pc.computeConstraintDynamicsDerivatives, *contacts)] * (not redundant),
        (pc.constraintDynamics, *state, x.tau, *contacts, settings),
        (pc.constraintDynamics, *state, x.tau, *contacts, pin.ProximalSettings(1e-12, 1e-3, 1)),
        (pc.computeConstraintDynamicsDerivatives, *contacts),
        *[(pc.computeConstraintDynamicsDerivatives, *contacts, settings)] * (not redundant),
        (pc.impulseDynamics, *state, *contacts),
        (pc.impulseDynamics, *state, *contacts, 0.2),
        (pc.impulseDynamics, *state, *contacts, 0.2, settings),
        (pc.impulseDynamics, *state, *contacts, 0.2, 0.1),
        (pc.computeImpulseDynamicsDerivatives, *contacts),
        (pc.computeImpulseDynamicsDerivatives, *contacts, 0.2),
        (pc.computeDelassusMatrix, x.q, *contacts),
        (pc.computeDelassusMatrix, x.q, *contacts, 0.1),
        (pc.computeDampedDelassusMatrixInverse, x.q, *contacts, 0.1),
        (pc.computeDampedDelassusMatrixInverse, x.q, *contacts, 0.1, True),
        (pc.getConstraintsJacobian, *contacts),
        (pc.getConstraintJacobian, contacts[0][0], contacts[1][0]),
        (pc.forwardDynamics, *state, x.tau, x.J, x.drift),
        (pc.forwardDynamics, *state, x.tau, x.J, x.drift, 0.1),
        (pc.impulseDynamics, *state, x.J),
        (pc.impulseDynamics, *state, x.J, 0.2, 0.1),
    ]


@pytest.mark.ci
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("robot", ["mini_cheetah", "four_bar"])
def test_calls_after_the_first_two_are_fast(robot: str, container: str) -> None:
    """The first call lays out, the second one of derivatives may still compile."""
    x = Robot(robot, container)
    for _ in range(2):
        for function, *given in calls(x):
            if function is pc.getConstraintsJacobian:
                pc.computeJointJacobians(x.model, x.data, x.q)
            function(x.model, x.data, *given)
    for function, *given in calls(x):
        if function is pc.getConstraintsJacobian:
            pc.computeJointJacobians(x.model, x.data, x.q)
        x.usual(function, *given)


@pytest.mark.parametrize("kind", [POINT, FRAME], ids=["point", "frame"])
def test_other_lists_and_settings_with_the_same_contents_are_fast(kind: Any) -> None:
    x = Robot("mini_cheetah", kind=kind)
    damped = pin.ProximalSettings(1e-12, 1e-3, 1)
    given = x.q, x.v, x.tau, x.models, x.datas
    pc.constraintDynamics(x.model, x.data, *given, damped)
    first = x.usual(pc.constraintDynamics, *given, damped)
    other = x.usual(
        pc.constraintDynamics, *given[:3], tuple(x.models), list(x.datas), pin.ProximalSettings(1e-12, 1e-3, 1)
    )
    assert np.array_equal(first, other)
    assert not np.array_equal(x.usual(pc.constraintDynamics, *given, pin.ProximalSettings(1e-12, 0.1, 1)), first)
    assert np.array_equal(x.usual(pc.constraintDynamics, *given[:3], contact_models=x.models, contact_datas=x.datas,
                                  prox_settings=pin.ProximalSettings(1e-12, 1e-3, 1)), first)  # fmt: skip


def test_two_sets_of_contacts_in_turn_are_fast() -> None:
    x = Robot("mini_cheetah")
    one = x.models, x.datas
    two = CONTAINERS["lists"]([*x.models, pin.RigidConstraintModel(POINT, x.model.tree, 2, pin.LOCAL)])
    for contacts in (one, two):
        pc.constraintDynamics(x.model, x.data, x.q, x.v, x.tau, *contacts)
    for _ in range(2):
        for contacts, rows in ((one, 3), (two, 6)):
            x.usual(pc.constraintDynamics, x.q, x.v, x.tau, *contacts)
            assert x.data.lambda_c.shape == (rows,)


@pytest.mark.parametrize("restitution", [-0.1, 1.1, np.nan])
def test_an_impossible_restitution_goes_to_python(restitution: float) -> None:
    x = Robot("mini_cheetah")
    for given in ((x.models, x.datas), (x.J,)):
        pc.impulseDynamics(x.model, x.data, x.q, x.v, *given, 0.2)
        x.usual(pc.impulseDynamics, x.q, x.v, *given, 1.0)
        with pytest.raises(pc.ArgumentTypeError):
            pc.impulseDynamics(x.model, x.data, x.q, x.v, *given, restitution)


@pytest.mark.parametrize("container", CONTAINERS)
def test_redundant_rows_without_damping(container: str) -> None:
    """The same error whatever the container; without settings the forces of least norm."""
    x = Robot("four_bar", container)
    given = x.q, x.v, x.tau, x.models, x.datas
    for _ in range(3):
        with pytest.raises(pc.RankError):
            pc.constraintDynamics(x.model, x.data, *given, pin.ProximalSettings(1e-12, 0.0, 10))
        found = pc.constraintDynamics(x.model, x.data, *given)
        assert np.isfinite(found).all()
        assert x.data.contact_rank < 3
        assert np.abs(x.data.lambda_c).max() < 1e6
    x.usual(pc.constraintDynamics, *given)


def test_a_contradiction_is_warned_of_once() -> None:
    x = Robot("four_bar")
    for _ in range(2):
        given = x.q, x.v, x.tau, x.models, x.datas
        with pytest.warns(pc.PinClustersWarning):
            pc.constraintDynamics(x.model, x.data, *given)
        x.usual(pc.constraintDynamics, *given)
        x.models, x.datas = CONTAINERS["lists"]([pin.RigidConstraintModel(x.models[0])])


def test_items_that_move_are_found() -> None:
    x = Robot("mini_cheetah", "items of vectors")
    given = x.q, x.v, x.tau, x.models, x.datas
    (vector, _), item = pinocchio_s([x.models[0], x.models[0]]), x.models[0]
    x.models[0] = vector[1]
    pc.constraintDynamics(x.model, x.data, *given)
    x.usual(pc.constraintDynamics, *given)
    del vector[0]  # the item is another one of the list now
    x.models[0].joint1_placement = pin.SE3.Random()
    x.usual(pc.constraintDynamics, *given, fast=False)
    for _ in range(50):  # and elsewhere
        vector.append(item)
    x.usual(pc.constraintDynamics, *given, fast=False)


def test_words_of_iterated_items_change_with_their_list() -> None:
    """Without a call: Pinocchio itself would read what was freed."""
    x = Robot("mini_cheetah", "vectors")
    items = list(x.models)
    words = contact_memory.words_of(items, items)
    assert words
    before = list(map(word, words))
    for _ in range(50):
        x.models.append(x.models[0])
    assert list(map(word, words)) != before


def test_jacobians_are_pinocchios() -> None:
    x = Robot("mini_cheetah", kind=FRAME)
    pc.computeJointJacobians(x.model, x.data, x.q)
    found = pc.getConstraintsJacobian(x.model, x.data, x.models, x.datas)
    J = pin.getConstraintJacobian(x.model.own_tree, x.data.tree, x.models[0], x.datas[0])
    exact = J @ pc.coupling_jacobian(x.model, x.data, x.q)
    assert np.allclose(found, exact, rtol=0.0, atol=1e-13)


def test_rows_as_lists() -> None:
    x = Robot("mini_cheetah")
    found = pc.impulseDynamics(x.model, x.data, x.q, x.v, x.J.tolist(), 0.2)
    assert np.array_equal(found, pc.impulseDynamics(x.model, x.data, x.q, x.v, x.J, 0.2))


def test_rows_that_are_read_only_compile_nothing() -> None:
    """Code for read-only arrays would take seconds in each process, and the kept code would be thrown away."""
    x = Robot("mini_cheetah")
    J, drift = x.J.copy(), x.drift.copy()
    J.flags.writeable = drift.flags.writeable = False

    def all_forms(J: np.ndarray, drift: np.ndarray) -> list[np.ndarray]:
        forms: list[tuple[Any, ...]] = [
            (pc.computeKKTContactDynamicMatrixInverse, x.q, J), (pc.getKKTContactDynamicMatrixInverse, J),
            (pc.forwardDynamics, x.q, x.v, x.tau, J, drift), (pc.forwardDynamics, x.tau, J, drift),
            (pc.impulseDynamics, x.q, x.v, J), (pc.impulseDynamics, x.v, J),
        ]  # fmt: skip
        return [function.__wrapped__(x.model, x.data, *given) for function, *given in forms]

    exact, before = all_forms(x.J, x.drift), hostile.compiled_again()
    assert same(all_forms(J, drift), exact)
    assert hostile.compiled_again() == before


@pytest.mark.parametrize("robot", ["mini_cheetah", "four_bar"])
@pytest.mark.parametrize("name", ["forwardDynamics", "impulseDynamics", "getKKTContactDynamicMatrixInverse"])
def test_functions_without_q_take_the_mass_matrix_of_the_last_call(robot: str, name: str) -> None:
    """``constraintDynamics`` owes the mass matrix and the bias torques: they are computed before they are read."""
    model, rng = pc.load(robot), np.random.default_rng(3)
    v, tau = rng.normal(size=(2, model.nv))
    poses = [pc.integrate(model, pc.neutral(model), size * rng.normal(size=model.nv)) for size in (0.1, 0.2)]
    J = rng.normal(size=(1, model.nv))
    given = {"forwardDynamics": (tau, J, np.ones(1)), "impulseDynamics": (v, J)}.get(name, (J,))
    contact = pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, 1, pin.LOCAL)
    data, other = model.createData(), model.createData()
    for _ in range(3):
        pc.computeAllTerms(model, data, poses[0], v)
        getattr(pc, name)(model, data, *given)
    pc.constraintDynamics(model, data, poses[1], v, tau, [contact], [contact.createData()])
    pc.computeAllTerms(model, other, poses[1], v)
    if name == "forwardDynamics":
        pc.crba(model, data, poses[1])  # the bias torques stay owed
    # by one kernel of mass matrices or another: roundings, times the condition of M
    assert np.allclose(getattr(pc, name)(model, data, *given), getattr(pc, name)(model, other, *given), rtol=1e-9)


@pytest.mark.parametrize(
    "name", ["constraintDynamics", "forwardDynamics", "impulseDynamics", "rows", "computeDelassusMatrix"]
)
def test_calls_that_fail_leave_the_state_of_members_that_are_computed_when_read(name: str) -> None:
    """As the Python functions; the state of the call that failed took the place of the state of these members."""
    model = parallelogram()
    data, v, q = model.createData(), np.ones(1), np.array([-1.0, -1.0, 1.0])
    contact = pc.RigidConstraintModel(POINT, model, 1, pin.LOCAL)
    contacts = [contact], [contact.createData()]
    function = pc.impulseDynamics if name == "rows" else getattr(pc, name)
    given = {
        "constraintDynamics": (v, v, *contacts), "impulseDynamics": (v, *contacts), "rows": (v, np.ones((1, 1))),
        "forwardDynamics": (v, v, np.ones((1, 1)), v),
    }  # fmt: skip
    owing = {"constraintDynamics": (pc.computeCoriolisMatrix, v), "forwardDynamics": (pc.computeRNEADerivatives, v, v)}
    for _ in range(3):  # to be answered by the extension
        function(model, data, q, *given.get(name, contacts))
    exact = pc.computeJointJacobians(model, model.createData(), q)
    leave, *rates = owing.get(name, (pc.computeMinverse,))  # J of a state with the same number of vectors
    leave(model, data, q, *rates)
    with pytest.raises(pc.SingularClusterError):
        function(model, data, np.zeros(3), *given.get(name, contacts))
    assert np.allclose(data.J, exact, rtol=0.0, atol=1e-13)


def test_only_proximal_settings_are_read_as_such() -> None:
    """A number in their place is damping. Its memory is not that of settings, and reading it ended the process."""
    empty = pin.ProximalSettings.__new__(pin.ProximalSettings)
    for thing in (0.0, 1e-3, 7, np.float64(0.1), "text", object(), empty, pin.Force.Zero(), pin.SE3.Identity()):
        assert contact_memory.settings_of(thing) is None
    assert contact_memory.settings_of(pin.ProximalSettings(1e-12, 0.1, 10)) is not None
    model = pc.load("mini_cheetah")
    data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
    contact = pc.RigidConstraintModel(POINT, model, model.njoints - 1, pin.LOCAL)
    contacts, datas = [contact], [contact.createData()]
    pc.constraintDynamics(model, data, q, v, v, contacts, datas)
    damped = pin.ProximalSettings(1e-12, 0.1, 1)  # one iteration: the damping stays
    expected = pc.computeConstraintDynamicsDerivatives(model, data, contacts, datas, damped)
    for _ in range(3):
        found = pc.computeConstraintDynamicsDerivatives(model, data, contacts, datas, 0.1)
        assert all(map(np.array_equal, found, expected))
