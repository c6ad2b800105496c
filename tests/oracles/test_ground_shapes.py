"""Shapes on a ground and on each other: gaps against coal's distances, motions against those of points on a plane."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support import grounds

import pin_clusters as pc

coal = pytest.importorskip("coal")

pytestmark = grounds.NEEDED
FLOOR = coal.Box(4.0, 4.0, 0.5)


def mesh(points: np.ndarray, file: Any) -> Any:
    """The convex hull of points, read from a file as loaders do."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    lines = [f"v {x} {y} {z}" for x, y, z in points]
    for face, plane in zip(hull.simplices, hull.equations, strict=True):
        a, b, c = points[face]
        turned = face if np.dot(np.cross(b - a, c - a), plane[:3]) > 0.0 else face[::-1]
        lines.append("f " + " ".join(str(i + 1) for i in turned))
    file.write_text("\n".join(lines))
    return coal.MeshLoader().load(str(file), np.ones(3))


def body(*shapes: Any, on: Any = (), place: pin.SE3 | None = None, size: float = 0.2) -> Any:
    """A body with shapes, and shapes of the world with their places."""
    tree, geometry = pin.Model(), pin.GeometryModel()
    j = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    tree.appendBodyToJoint(j, pin.Inertia.FromBox(1.0, size, size, size), pin.SE3.Identity())
    for i, (shape, where) in enumerate(on):
        geometry.addGeometryObject(pin.GeometryObject(f"fixed {i}", 0, 0, where, shape))
    for i, shape in enumerate(shapes):
        geometry.addGeometryObject(pin.GeometryObject(f"own {i}", 1, 1, place or pin.SE3.Identity(), shape))
    return pc.ClusterModel(tree), geometry


def floor(height: float = 0.0) -> Any:
    return FLOOR, pin.SE3(np.eye(3), np.array([0.0, 0.0, height - 0.25]))


def pose(R: np.ndarray, x: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
    return np.r_[x, pin.Quaternion(R).coeffs()]


def some(name: str, file: Any) -> Any:
    rng = np.random.default_rng(1)
    return {
        "sphere": lambda: coal.Sphere(0.1), "box": lambda: coal.Box(0.2, 0.1, 0.3), "cone": lambda: coal.Cone(0.1, 0.2),
        "capsule": lambda: coal.Capsule(0.05, 0.3), "cylinder": lambda: coal.Cylinder(0.1, 0.2),
        "ellipsoid": lambda: coal.Ellipsoid(0.1, 0.12, 0.08),
        "mesh": lambda: mesh(0.1 * rng.normal(size=(20, 3)), file),
    }[name]()  # fmt: skip


SHAPES = "sphere", "box", "capsule", "cylinder", "cone", "ellipsoid", "mesh"


@pytest.mark.parametrize("name", SHAPES)
def test_gaps_are_coals_distances(name: str, tmp_path: Any, rng: np.random.Generator) -> None:
    """A body is put on the plane by its lowest gap; coal's distance to a half space, asked apart from it, is then 0."""
    shape = some(name, tmp_path / "mesh.obj")
    place = pin.SE3(pin.exp3(rng.normal(size=3)), 0.1 * rng.normal(size=3))
    model, geometry = body(shape, place=place)
    for _ in range(10):
        ground = pc.Ground(0.5, tuple(rng.normal(size=3)), float(rng.normal()))
        R = pin.exp3(rng.normal(size=3))
        q = pc.on_ground(model, pose(R, rng.normal(size=3)), ground, geometry, above=0.03)
        if name == "mesh":
            shape.buildConvexRepresentation(False)
        there = pin.XYZQUATToSE3(q) * place
        half = coal.Halfspace(np.array(ground.normal), ground.height)
        found = coal.DistanceResult()
        coal.distance(
            shape.convex if name == "mesh" else shape, coal.Transform3s(there.rotation, there.translation),
            half, coal.Transform3s(), coal.DistanceRequest(), found,
        )  # fmt: skip
        assert abs(found.min_distance - 0.03) < 1e-6
        r = pc.simulate(model, q, np.zeros(6), duration=1e-5, dt=1e-5, ground=ground, touching=geometry)
        assert np.isinf(r.gap[0, 0]) or abs(r.gap[0, 0] - 0.03) < 1e-6


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("tilt", pool.some([0.3, 0.0], 1, rest="ci"))
def test_a_floor_of_stone_is_a_plane(name: str, tilt: float, tmp_path: Any) -> None:
    """The same fall on a plane and on a box, where both are known in other ways: until it has landed."""
    shape = some(name, tmp_path / "mesh.obj")
    ends = []
    for plane in (True, False):
        model, geometry = body(shape, on=() if plane else (floor(),))
        ground = pc.Ground(0.8) if plane else None
        R = pin.exp3(np.array([tilt, 0.4 * tilt, 0.0]))
        q = pc.on_ground(model, pose(R), pc.Ground(), body(shape)[1], above=0.02)
        v = np.r_[R.T @ [0.3, 0.1, 0.0], 0.1, 0.2, 0.3]
        r = pc.simulate(model, q, v, duration=0.1, dt=5e-4, ground=ground, touching=geometry)
        assert r.contact_impulses[:, 0, 2].sum() > 0.1
        assert r.gap.min() > (-1e-8 if plane else -5e-7)  # so good are coal's distances
        assert (r.contact_work <= 0.0).all()
        assert (r.energy - np.minimum.accumulate(r.energy)).max() < 0.01 * np.ptp(r.energy) + 1e-4
        ends.append(r)
    one, two = ends
    assert abs(one.touchdowns[0].time - two.touchdowns[0].time) < 1e-9
    assert np.abs(one.q[-1] - two.q[-1]).max() < 2e-3


@pytest.mark.parametrize("name", ["box", "cylinder", "cone", "capsule", "mesh"])
@pytest.mark.parametrize("plane", [True, False])
def test_what_stands_on_a_face_rests(name: str, plane: bool, tmp_path: Any) -> None:
    """Faces touch at corners; coal's own contact of two faces is one point, over which a body would topple."""
    shapes = {
        "box": coal.Box(0.2, 0.1, 0.2), "cylinder": coal.Cylinder(0.1, 0.2), "cone": coal.Cone(0.1, 0.2),
        "capsule": coal.Capsule(0.1, 0.2),
    }  # fmt: skip
    if name == "mesh":
        cube = np.array(np.meshgrid(*[[-0.1, 0.1]] * 3)).reshape(3, -1).T
        shapes["mesh"] = mesh(cube, tmp_path / "cube.obj")
    lying = pin.utils.rotate("y", np.pi / 2) if name == "capsule" else np.eye(3)
    model, geometry = body(shapes[name], on=() if plane else (floor(),))
    q = pose(lying, (0.0, 0.0, 0.1))
    ground = pc.Ground() if plane else None
    v = np.r_[np.zeros(3), 0.3, 0.2, 0.0]  # it would topple over one point
    if name == "capsule":  # that rolls
        v[:] = 0.0
    r = pc.simulate(model, q, v, duration=0.1, dt=1e-3, ground=ground, touching=geometry)
    assert np.abs(r.q[-1] - q).max() < 1e-3
    assert np.abs(r.v[-1]).max() < 1e-3  # coal's distances are good to some 1e-7 m, over a step
    assert abs(r.contact_impulses[20:-1, 0, 2].mean() - 9.81e-3) < 1e-4


def test_a_box_that_leans_lands_flat_on_a_box() -> None:
    model, geometry = body(coal.Box(0.2, 0.2, 0.2), on=(floor(),))
    q = pose(pin.utils.rotate("x", 0.003) @ pin.utils.rotate("y", 0.002), (0.0, 0.0, 0.12))
    r = pc.simulate(model, q, np.zeros(6), duration=0.2, dt=1e-3, touching=geometry)
    up = pin.Quaternion(r.q[-1, 3:7]).toRotationMatrix()[:, 2]
    assert (
        np.hypot(*up[:2]) < 1.5e-4
    )  # corners within 1e-6 m are one face, and coal's distances are good to some of them
    assert abs(r.q[-1, 2] - 0.1) < 2e-5
    assert np.abs(r.v[-1]).max() < 1e-5


@pytest.mark.ci
def test_a_ball_rolls_down_stairs() -> None:
    steps = [(coal.Box(0.3, 1.0, 0.2), pin.SE3(np.eye(3), np.array([0.3 * i, 0.0, -0.1 - 0.1 * i]))) for i in range(2)]
    model, geometry = body(coal.Sphere(0.05), on=[*steps, floor(-0.25)], size=0.05)
    q = pose(np.eye(3), (0.1, 0.0, 0.05))
    r = pc.simulate(model, q, np.r_[0.7, np.zeros(5)], duration=1.2, dt=1e-3, touching=geometry)
    assert r.q[-1, 0] > 0.3
    assert abs(r.q[-1, 2] + 0.2) < 1e-5  # on the floor, after landings without rebound
    assert r.gap.min() > -1e-7
    assert len(r.touchdowns) >= 3
    assert (r.contact_work <= 0.0).all()
    assert (r.energy - np.minimum.accumulate(r.energy)).max() < 0.01 * np.ptp(r.energy)


def test_a_ball_that_rolls_gains_what_it_is_put_back() -> None:
    """On a plane: its path is curved, and put back; that is work m g v omega dt / 2, of first order."""
    gains = []
    for dt in (2e-3, 1e-3):
        model, geometry = body(coal.Sphere(0.05), size=0.05)
        v = np.r_[0.5, 0.0, 0.0, 0.0, 10.0, 0.0]  # rolls
        r = pc.simulate(
            model, pose(np.eye(3), (0.0, 0.0, 0.05)), v, duration=0.4, dt=dt, ground=pc.Ground(), touching=geometry
        )
        gains.append(r.energy[-1] - r.energy[10])
    assert 1.8 < gains[0] / gains[1] < 2.2
    assert gains[1] < 1.2 * 9.81 * 0.5 * 10.0 * 5e-4 * 0.4


@pytest.mark.ci
def test_a_pile_of_boxes_and_a_robots_own_shapes() -> None:
    """Two free boxes: one falls on the other, action is reaction; then both stand."""
    tree, geometry = pin.Model(), pin.GeometryModel()
    for i, name in enumerate(("lower", "upper")):
        j = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), name)
        tree.appendBodyToJoint(j, pin.Inertia.FromBox(1.0 + i, 0.2, 0.2, 0.2), pin.SE3.Identity())
        geometry.addGeometryObject(pin.GeometryObject(name, j, j, pin.SE3.Identity(), coal.Box(0.2, 0.2, 0.2)))
    geometry.addAllCollisionPairs()
    model = pc.ClusterModel(tree)
    q = np.r_[pose(np.eye(3), (0.0, 0.0, 0.1)), pose(np.eye(3), (0.03, 0.02, 0.35))]
    r = pc.simulate(model, q, np.zeros(12), duration=0.4, ground=pc.Ground(), touching=geometry, self_collisions=True)
    assert r.bodies == ("lower", "upper")
    assert abs(r.q[-1, 9] - 0.3) < 1e-5
    assert np.abs(r.v[-1]).max() < 1e-5
    assert abs(r.contact_impulses[-2, 0, 2] - 1.0 * 9.81e-3) < 1e-6  # of the ground, less the weight above
    assert abs(r.contact_impulses[-2, 1, 2] - 2.0 * 9.81e-3) < 1e-6
    assert np.abs(r.gap[-2]).max() < 1e-7  # of both
    without = pc.simulate(model, q, np.zeros(12), duration=0.4, ground=pc.Ground(), touching=geometry)
    assert without.q[-1, 9] < 0.2  # it falls through what it does not see
    pushed = r.contact_impulses.sum(axis=(0, 1))
    assert np.abs(pushed - [0.0, 0.0, 3.0 * 9.81 * 0.4]).max() < 0.1


def test_a_thin_wall_and_a_fast_body() -> None:
    """What comes at 20 m/s is seen before: 20 mm per step, and the wall is 10 mm thick."""
    wall = coal.Box(0.01, 1.0, 1.0), pin.SE3(np.eye(3), np.array([0.5, 0.0, 0.0]))
    model, geometry = body(coal.Sphere(0.02), on=(wall,))
    r = pc.simulate(model, pose(np.eye(3)), np.r_[20.0, np.zeros(5)], duration=0.06, touching=geometry)
    assert r.q[:, 0].max() < 0.476
    assert abs(r.q[:, 0].max() - 0.475) < 1e-6
