"""Derivatives of motions without constraints are Pinocchio's, in all overloads; what is refused; what is kept."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import mixed, pool
from support.fast import needed, no_python_calls
from support.messages import raises

import pin_clusters as pc

pytestmark = pytest.mark.jitless
FRAMES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)
ROUNDING = 1e-12
# Pinocchio (4.1) forgets that their axes move in their own body
FORGOTTEN = ("zyx", "mixed", "cross")
# and errs in da/dq as seen in the world behind these, unless they stand on the universe
CURVED = ("plane",)


def trees() -> list[Any]:
    return [
        pytest.param(pin.buildSampleModelHumanoidRandom, id="humanoid"),
        pytest.param(pin.buildSampleModelManipulator, id="manipulator"),
        pytest.param(lambda: mixed.robot("bare", 0).tree, id="all_joints"),
    ]


class Pair:
    """A tree without constraints, ours and Pinocchio's, at a state."""

    def __init__(self, tree: pin.Model) -> None:
        self.tree, self.model = tree, pc.ClusterModel(tree)
        self.data, self.theirs = self.model.createData(), tree.createData()
        pin.seed(1)
        self.q = pc.randomConfiguration(self.model)
        self.v, self.a = np.random.default_rng(1).normal(size=(2, tree.nv))

    def alike(self, name: str, *where: Any, but: tuple[int, ...] = ()) -> None:
        ours = getattr(pc, name)(self.model, self.data, *where)
        theirs = getattr(pin, name)(self.tree, self.theirs, *where)
        assert isinstance(ours, tuple)
        assert len(ours) == len(theirs)
        for i, (x, y) in enumerate(zip(ours, theirs, strict=True)):
            assert x.shape == y.shape
            assert i in but or pool.error(x, y) < ROUNDING, (name, where, i)

    def joints_without(self, names: tuple[str, ...]) -> list[int]:
        behind = {j for j in range(self.tree.njoints) for i in self.tree.supports[j] if self.tree.names[i] in names}
        return [j for j in range(self.tree.njoints) if j not in behind]


@pytest.mark.parametrize("make", trees())
def test_motions_are_pinocchios(make: Callable[[], pin.Model]) -> None:
    p = Pair(make())
    pc.computeForwardKinematicsDerivatives(p.model, p.data, p.q, p.v, p.a)
    pin.computeForwardKinematicsDerivatives(p.tree, p.theirs, p.q, p.v, p.a)
    for j in range(p.tree.njoints):
        assert pool.error(p.data.oMi[j].homogeneous, p.theirs.oMi[j].homogeneous) < ROUNDING
        assert pool.error(p.data.v[j].vector, p.theirs.v[j].vector) < ROUNDING
        assert pool.error(p.data.a[j].vector, p.theirs.a[j].vector) < ROUNDING
    assert pool.error(p.data.tree.J, p.theirs.J) < ROUNDING
    straight = set(p.joints_without(CURVED))
    for j in p.joints_without(FORGOTTEN):
        M = pin.SE3.Random()
        frames = [f for f in range(p.tree.nframes) if p.tree.frames[f].parentJoint == j]
        for rf in FRAMES:
            but = (1,) if rf != pin.LOCAL and j not in straight else ()
            for where in [(j, M, rf), *((f, rf) for f in frames)]:
                p.alike("getFrameVelocityDerivatives", *where)
                p.alike("getFrameAccelerationDerivatives", *where, but=but)
            p.alike("getJointVelocityDerivatives", j, rf)
            p.alike("getJointAccelerationDerivatives", j, rf, but=but)
            if rf != pin.WORLD:
                p.alike("getPointVelocityDerivatives", j, M, rf)
                p.alike("getPointClassicAccelerationDerivatives", j, M, rf)


@pytest.mark.parametrize("make", trees()[:2])
def test_masses_are_pinocchios(make: Callable[[], pin.Model]) -> None:
    p = Pair(make())
    pin.computeForwardKinematicsDerivatives(p.tree, p.theirs, p.q, p.v, p.a)
    pin.centerOfMass(p.tree, p.theirs, p.q, p.v)
    pc.centerOfMass(p.model, p.data, p.q, p.v)
    theirs = pin.getCenterOfMassVelocityDerivatives(p.tree, p.theirs)
    assert pool.error(pc.getCenterOfMassVelocityDerivatives(p.model, p.data), theirs) < ROUNDING
    for name in ("dccrba", "computeCentroidalMapTimeVariation"):
        ours = getattr(pc, name)(p.model, p.data, p.q, p.v)
        theirs = getattr(pin, name)(p.tree, p.theirs, p.q, p.v)
        assert pool.error(ours, theirs) < ROUNDING
        for field in ("Ag", "dAg", "J", "dJ", "Ig"):
            x, y = getattr(p.data.tree, field), getattr(p.theirs, field)
            assert pool.error(*((x.matrix(), y.matrix()) if field == "Ig" else (x, y))) < ROUNDING, field
        assert pool.error(p.data.Ag, p.theirs.Ag) < ROUNDING
        assert pool.error(p.data.hg.vector, p.theirs.hg.vector) < ROUNDING


@pytest.mark.skipif(not hasattr(pin, "getJointKinematicHessian"), reason="Pinocchio has them since version 4")
@pytest.mark.parametrize("make", trees()[:2])
def test_derivatives_of_jacobians_are_pinocchios(make: Callable[[], pin.Model]) -> None:
    p = Pair(make())
    for given in ((p.q,), ()):
        pc.computeJointJacobians(p.model, p.data, p.q)
        pc.computeJointKinematicHessians(p.model, p.data, *given)
        pin.computeJointKinematicHessians(p.tree, p.theirs, p.q)
        for j in range(1, p.tree.njoints):
            for rf in FRAMES:
                ours = pc.getJointKinematicHessian(p.model, p.data, j, rf)
                # Pinocchio (4.1) hands the columns of a tensor over as rows
                theirs = np.ravel(pin.getJointKinematicHessian(p.tree, p.theirs, j, rf)).reshape(ours.shape, order="F")
                assert pool.error(ours, theirs) < ROUNDING


@pytest.mark.parametrize("make", trees())
def test_moves_are_pinocchios(make: Callable[[], pin.Model]) -> None:
    p = Pair(make())
    other = pc.randomConfiguration(p.model)
    for name, x, y in (("dIntegrate", p.q, p.v), ("dDifference", p.q, other)):
        ours, theirs = getattr(pc, name)(p.model, x, y), getattr(pin, name)(p.tree, x, y)
        assert len(ours) == len(theirs) == 2
        for i, position in enumerate((pin.ARG0, pin.ARG1)):
            assert pool.error(ours[i], theirs[i]) < ROUNDING
            one = getattr(pc, name)(p.model, x, y, position)
            assert np.array_equal(one, ours[i])
            assert np.array_equal(getattr(pc, name)(p.model, x.tolist(), y.tolist(), position), one)


GETTERS: dict[str, tuple[str, int]] = {
    "getJointVelocityDerivatives": ("jr", 1),
    "getJointAccelerationDerivatives": ("jr", 2),
    "getFrameVelocityDerivatives": ("fr", 1),
    "getFrameAccelerationDerivatives": ("fr", 2),
    "getPointVelocityDerivatives": ("jMr", 1),
    "getPointClassicAccelerationDerivatives": ("jMr", 2),
}
# the other way of those that have two
BY_PLACEMENT = {name: ("jMr", level) for name, (_, level) in GETTERS.items() if "Frame" in name}
ALL = [*GETTERS.items(), *BY_PLACEMENT.items()]
NAMES = {"j": "joint_id", "f": "frame_id", "M": "placement", "r": "reference_frame"}


def given(model: pc.ClusterModel, signs: str) -> list[Any]:
    values = {"j": model.njoints - 1, "f": model.nframes - 1, "M": pin.SE3.Random(), "r": pin.LOCAL}
    return [values[sign] for sign in signs]


@pytest.fixture
def leg() -> tuple[pc.ClusterModel, pc.ClusterData, np.ndarray]:
    model = pc.load("mit_humanoid_leg")
    return model, model.createData(), pc.neutral(model)


@pytest.mark.parametrize(("name", "how"), ALL)
def test_what_was_not_computed_is_refused(name: str, how: tuple[str, int], leg: Any) -> None:
    (model, data, q), (signs, level) = leg, how
    v = np.ones(model.nv)
    function, where = getattr(pc, name), given(model, signs)
    with raises(pc.NotComputedError, "pc.computeForwardKinematicsDerivatives"):
        function(model, data, *where)
    pc.forwardKinematics(model, data, q, v, v)
    with raises(pc.NotComputedError, "pc.computeForwardKinematicsDerivatives"):
        function(model, data, *where)
    pc.computeForwardKinematicsDerivatives(model, data, q, v)
    if level == 2:
        with raises(pc.NotComputedError, "q v"):
            function(model, data, *where)
        pc.computeForwardKinematicsDerivatives(model, data, q, v, v)
    found = function(model, data, *where)
    named = function(model, data, **{NAMES[sign]: x for sign, x in zip(signs, where, strict=True)})
    assert all(np.array_equal(x, y) for x, y in zip(found, named, strict=True))
    again = function(model, data, *where)
    assert not any(np.shares_memory(x, y) for x, y in zip(found, again, strict=True))
    # what is computed in between changes nothing
    pc.forwardKinematics(model, data, pc.randomConfiguration(model), v)
    pc.computeFrameJacobian(model, data, pc.randomConfiguration(model), 2, pin.WORLD)
    pc.computeJointKinematicHessians(model, data, pc.randomConfiguration(model))
    assert all(np.array_equal(x, y) for x, y in zip(found, function(model, data, *where), strict=True))
    # copies have it too
    for other in (data.copy(), pickle.loads(pickle.dumps(data))):
        there = function(other.model, other, *where)
        assert all(np.array_equal(x, y) for x, y in zip(found, there, strict=True))


@pytest.mark.parametrize(("name", "how"), ALL)
def test_places_that_are_none(name: str, how: tuple[str, int], leg: Any) -> None:
    (model, data, q), (signs, _) = leg, how
    v = np.ones(model.nv)
    pc.computeForwardKinematicsDerivatives(model, data, q, v, v)
    function, where = getattr(pc, name), given(model, signs)
    for index in (-1, model.njoints if signs[0] == "j" else model.nframes, 1 << 70):
        with pytest.raises(pc.UnknownNameError):
            function(model, data, index, *where[1:])
    with raises(pc.ArgumentTypeError, "'knee' str"):
        function(model, data, "knee", *where[1:])
    for wrong in (1, "LOCAL", None):
        with pytest.raises(pc.ArgumentTypeError):
            function(model, data, *where[:-1], wrong)
    with pytest.raises(pc.DataMismatchError):
        function(model.tree, data, *where)
    with pytest.raises(pc.DataMismatchError):
        function(model, pc.load("four_bar").createData(), *where)
    if "M" in signs:
        with raises(pc.ArgumentTypeError, "pin.SE3"):
            function(model, data, where[0], np.eye(4), where[2])
    if "Frame" in name:
        for odd in ((), (1,), (1, pin.SE3.Identity(), pin.LOCAL, 3), (pin.LOCAL, 1, 2, 3)):
            with raises(pc.ArgumentTypeError, "frame_id reference_frame joint_id"):
                function(model, data, *odd)
        with raises(pc.ArgumentTypeError, "frame_id reference_frame joint_id"):
            function(model, data, 1, pin.LOCAL, frame_id=1)
    if "Point" in name:
        with raises(pc.ArgumentTypeError, "pin.LOCAL_WORLD_ALIGNED"):
            function(model, data, *where[:-1], pin.WORLD)


def test_wrong_states(leg: Any) -> None:
    model, data, q = leg
    v = np.ones(model.nv)
    for function in (pc.computeForwardKinematicsDerivatives, pc.dccrba, pc.computeCentroidalMapTimeVariation):
        for args in ((q[:-1], v), (q, v[:-1]), (q, np.ones(model.tree.nv))):
            with pytest.raises(pc.ShapeError):
                function(model, data, *args)
        for args in ((q, "v"), (q, None)):
            with pytest.raises(pc.ArgumentTypeError):
                function(model, data, *args)
    with pytest.raises(pc.ShapeError):
        pc.computeForwardKinematicsDerivatives(model, data, q, v, v[:-1])
    with pytest.raises(pc.ShapeError):
        pc.computeJointKinematicHessians(model, data, q[:-1])
    with pytest.raises(pc.ShapeError):
        pc.dIntegrate(model, q, v[:-1])
    with pytest.raises(pc.ShapeError):
        pc.dDifference(model, q, v)
    for wrong in (0, "ARG0", pin.ArgumentPosition.ARG2):
        with raises(pc.ArgumentTypeError, "pin.ArgumentPosition.ARG0"):
            pc.dIntegrate(model, q, v, wrong)
    with raises(pc.ArgumentTypeError, "ClusterModel"):
        pc.dDifference(data, q, q)


def test_masses_and_jacobians_that_were_not_computed(leg: Any) -> None:
    model, data, q = leg
    v = np.ones(model.nv)
    with raises(pc.NotComputedError, "pc.centerOfMass"):
        pc.getCenterOfMassVelocityDerivatives(model, data)
    pc.centerOfMass(model, data, q)
    with raises(pc.NotComputedError, "pc.centerOfMass"):
        pc.getCenterOfMassVelocityDerivatives(model, data)
    pc.centerOfMass(model, data, q, v)
    found = pc.getCenterOfMassVelocityDerivatives(model, data)
    for other in (
        lambda: pc.computeAllTerms(model, data, q, v),
        lambda: (pc.forwardKinematics(model, data, q, v), pc.centerOfMass(model, data)),
        lambda: pc.centerOfMass(model, data, q, v, v, False),
    ):
        pc.forwardKinematics(model, data, q, 2.0 * v)
        other()
        assert pool.error(pc.getCenterOfMassVelocityDerivatives(model, data), found) < ROUNDING

    fresh = model.createData()
    for function in (pc.getJointKinematicHessian, pc.getFrameKinematicHessian):
        with raises(pc.NotComputedError, "pc.computeJointKinematicHessians"):
            function(model, fresh, 2, pin.LOCAL)
    with raises(pc.NotComputedError, "pc.computeJointKinematicHessians"):
        pc.computeJointKinematicHessians(model, fresh)
    pc.computeJointKinematicHessians(model, fresh, q)
    for wrong in (-1, model.njoints, "knee"):
        with pytest.raises((pc.UnknownNameError, pc.ArgumentTypeError)):
            pc.getJointKinematicHessian(model, fresh, wrong, pin.LOCAL)
    with pytest.raises(pc.ArgumentTypeError):
        pc.getJointKinematicHessian(model, fresh, 1, 0)


@pytest.mark.parametrize("robot", ["four_bar", "digit_leg", "six_bar"])
@pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
def test_loops_are_where_they_are_differentiated(robot: str) -> None:
    """Whatever moved them since, here or in the kernels: results are those of a data that did nothing else."""
    model = pc.load(robot)
    rng = np.random.default_rng(1)
    q, other = (pc.integrate(model, model.q_reference, 0.1 * rng.normal(size=model.nv)) for _ in range(2))
    v, where = rng.normal(size=model.nv), (model.njoints - 1, pin.WORLD)

    def begun() -> pc.ClusterData:
        data = model.createData()
        pc.centerOfMass(model, data, q, v)
        pc.computeJointKinematicHessians(model, data)
        return data

    exact = begun()
    center = pc.getCenterOfMassVelocityDerivatives(model, exact)
    hessian = pc.getJointKinematicHessian(model, exact, *where)
    for elsewhere in (
        lambda data: pc.spanning_velocity(model, data, other, v),
        lambda data: pc.coupling_bias(model, data, other, v),
        lambda data: pc.aba(model, data, other, v, v),
        lambda data: pc.computeRNEADerivatives(model, data, other, v, v),
        lambda data: pc.computeFrameJacobian(model, data, other, 2, pin.WORLD),
        lambda data: pc.computeJointJacobians(model, data, other),
        lambda data: pc.computeForwardKinematicsDerivatives(model, data, q, v),
    ):
        data = begun()
        for _ in range(2):
            elsewhere(data)
            assert np.array_equal(pc.getJointKinematicHessian(model, data, *where), hessian)
        pc.centerOfMass(model, data, q, v)
        for _ in range(2):
            pc.spanning_velocity(model, data, other, v)
            assert np.array_equal(pc.getCenterOfMassVelocityDerivatives(model, data), center)
            assert np.array_equal(pc.getCenterOfMassVelocityDerivatives(model, data), center)
    # what was there of another pose is not taken for this one
    pc.computeJointKinematicHessians(model, data, other)
    there = pc.getJointKinematicHessian(model, data, *where)
    assert pool.error(there, hessian) > 1e-3
    pc.computeJointKinematicHessians(model, data, q)
    assert np.array_equal(pc.getJointKinematicHessian(model, data, *where), hessian)


@needed
@pytest.mark.parametrize("robot", ["mini_cheetah", "mit_humanoid_leg", "four_bar", "digit_leg", "tello"])
@pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
def test_the_usual_call_is_fast_and_the_same(robot: str) -> None:
    model = pc.load(robot)
    data, q, v = model.createData(), pc.randomConfiguration(model), np.ones(model.nv)
    M = pin.SE3.Random()
    calls: dict[str, tuple[Any, ...]] = {
        "computeForwardKinematicsDerivatives": (q, v, v),
        **{
            name: tuple(M if s == "M" else x for s, x in zip(how, given(model, how), strict=True))
            for name, (how, _) in GETTERS.items()
        },
        "centerOfMass": (q, v),
        "getCenterOfMassVelocityDerivatives": (),
        "dccrba": (q, v),
        "computeJointJacobians": (q,),
        "computeJointKinematicHessians": (),
        "getJointKinematicHessian": (model.njoints - 1, pin.LOCAL),
        "getFrameKinematicHessian": (model.nframes - 1, pin.WORLD),
    }

    def all_of() -> list[Any]:
        return [np.array(x) for name, args in calls.items() if (x := getattr(pc, name)(model, data, *args)) is not None]

    all_of()
    with no_python_calls():
        fast = all_of()
    data.check = True  # no call is the usual one
    for x, y in zip(fast, all_of(), strict=True):
        assert np.array_equal(x, y)
