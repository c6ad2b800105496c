"""Functions of collision shapes: fast calls do what Pinocchio does, and see when shapes have changed since."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.fast import needed
from support.messages import raises

import pin_clusters as pc
from pin_clusters.model import geometry_memory

pytestmark = needed
ROBOTS = ("four_bar", "mit_humanoid_leg", "tello", "kangaroo_leg")
ROUNDING = 1e-12  # placements of a few metres, by products of some ten matrices


def shapes(n: int = 3) -> tuple[Any, Any]:
    """Return balls on the first joints, all pairs, and their data."""
    model = pin.GeometryModel()
    for j in range(1, n + 1):
        model.addGeometryObject(pin.GeometryObject(f"ball {j}", j, pin.SE3.Random(), pin.hppfcl.Sphere(0.1 * j)))
    model.addAllCollisionPairs()
    return model, model.createData()


def poses(model: pc.ClusterModel, n: int = 3) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [pc.integrate(model, pc.neutral(model), 0.03 * rng.normal(size=model.nv)) for _ in range(n)]


CALLS: list[tuple[str, Callable[[Any, Any, Any], tuple[Any, ...]]]] = [
    ("computeCollisions", lambda *given: given),
    ("computeCollisions", lambda *given: (*given, True)),
    ("computeDistances", lambda *given: given),
    ("updateGeometryPlacements", lambda *given: given),
    ("updateGeometryPlacements", lambda *given: given[:2]),
]


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_placements_and_results_are_pinocchios(robot: str, name: str, arguments: Any) -> None:
    model, (ours, placed), (theirs, other) = pc.load(robot), shapes(), shapes()
    for i in range(ours.ngeoms):
        theirs.geometryObjects[i].placement = ours.geometryObjects[i].placement
    data, plain, function = model.createData(), model.tree.createData(), getattr(pc, name)
    for k, q in enumerate([*poses(model), *poses(model)]):
        slow = function.python_calls
        pc.forwardKinematics(model, data, q)
        pin.forwardKinematics(model.tree, plain, q)
        found = function(model, data, *arguments(ours, placed, q))
        assert function.python_calls == slow or k < 2
        assert found == getattr(pin, name)(model.tree, plain, *arguments(theirs, other, q))
        places = [[x.homogeneous for x in y.oMg] for y in (placed, other)]
        assert np.allclose(*places, rtol=0.0, atol=ROUNDING)
        distances = [[x.min_distance for x in y.distanceResults] for y in (placed, other)]
        assert np.allclose(*distances, atol=ROUNDING)
    assert np.array_equal(pc.computeJointJacobians(model, data), pc.computeJointJacobians(model, model.createData(), q))


def test_radii_are_pinocchios() -> None:
    model, (ours, placed) = pc.load("four_bar"), shapes()
    for _ in range(3):
        pc.computeBodyRadius(model, ours, placed)
        found = list(placed.radius)
        pin.computeBodyRadius(model.tree, ours, placed)
        assert found == list(placed.radius)


def test_shapes_that_changed_are_checked_again() -> None:
    model, (ours, placed) = pc.load("four_bar"), shapes()
    data, q = model.createData(), pc.neutral(model)

    def call() -> int:
        slow = pc.updateGeometryPlacements.python_calls
        pc.updateGeometryPlacements(model, data, ours, placed, q)
        return int(pc.updateGeometryPlacements.python_calls - slow)

    assert (call(), call()) == (1, 0)
    ours.geometryObjects[2].parentJoint = 10**6
    for _ in range(2):
        with raises(pc.DataMismatchError, "joint 1000000"):
            call()
    ours.geometryObjects[2].parentJoint = 1
    assert (call(), call()) == (1, 0)
    ours.addGeometryObject(pin.GeometryObject("another", 1, pin.SE3.Identity(), pin.hppfcl.Sphere(0.1)))
    with raises(pc.DataMismatchError, "3 placements 4 shapes"):
        call()
    placed.oMg.append(pin.SE3.Identity())
    assert (call(), call()) == (1, 0)
    del placed.oMg[1:]
    with raises(pc.DataMismatchError, "1 placements 4 shapes"):
        call()


def test_other_shapes_are_other_shapes() -> None:
    model = pc.load("four_bar")
    data, q = model.createData(), pc.neutral(model)
    for n in (2, 3, 2):
        ours, placed = shapes(n)
        for _ in range(2):
            pc.updateGeometryPlacements(model, data, ours, placed, q)
        assert len(placed.oMg) == n
        del ours, placed
        gc.collect()
    ours, placed = shapes()
    with raises(pc.DataMismatchError, "2 placements"):
        pc.updateGeometryPlacements(model, data, ours, shapes(2)[1], q)
    pc.updateGeometryPlacements(model, data, ours, placed, q)


def test_what_holds_no_shapes_itself_is_left_to_python() -> None:
    """A reference to a geometry model has its memory elsewhere."""
    ours, placed = shapes()
    assert geometry_memory.watch(ours, placed) is not None
    assert geometry_memory.watch(pin.GeometryModel(ours), placed) is not None
    assert geometry_memory.watch(*(lambda empty: (empty, empty.createData()))(pin.GeometryModel())) is None
    raw = pin.GeometryModel.__new__(pin.GeometryModel)
    assert geometry_memory.watch(raw, placed) is None
