"""Collision shapes that are written and read again: the same shapes, in the same places, on the same links."""

from __future__ import annotations

import warnings
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
import pytest
from support.meshes import CUBE, cube

import pin_clusters as pc

pytestmark = pytest.mark.jitless


def hull(points: np.ndarray) -> coal.Convex:
    given, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for p in points:
        given.append(p)
    for face in ((0, 1, 3), (0, 3, 2), (4, 7, 5), (4, 6, 7), (0, 5, 1), (0, 4, 5), (2, 3, 7), (2, 7, 6), (0, 2, 6),
                 (0, 6, 4), (1, 5, 7), (1, 7, 3)):  # fmt: skip
        faces.append(coal.Triangle(*face))
    return coal.Convex(given, faces)


def shapes(folder: Path) -> dict[str, tuple[str, object, str]]:
    """The link of each shape, the shape, and the file of a mesh."""
    cube(folder / "part.stl")
    n = np.array([2.0, -1.0, 2.0]) / 3.0
    return {
        "floor": ("universe", coal.Halfspace(n, -0.3), ""), "step": ("universe", coal.Box(1.0, 2.0, 0.1), ""),
        "box": ("thigh", coal.Box(0.1, 0.2, 0.3), ""), "ball": ("thigh", coal.Sphere(0.1), ""),
        "can": ("foot", coal.Cylinder(0.1, 0.3), ""), "bone": ("foot", coal.Capsule(0.1, 0.3), ""),
        "egg": ("shank", coal.Ellipsoid(0.1, 0.2, 0.3), ""), "hull": ("foot", hull(0.1 * CUBE), ""),
        "mesh": ("shank", hull(CUBE * [1.0, 0.5, 2.0]), str(folder / "part.stl")),
        "also mesh": ("foot", hull(CUBE * [1.0, 0.5, 2.0]), str(folder / "part.stl")),
    }  # fmt: skip


def robot(folder: Path, floats: bool = False) -> pc.ClusterModel:
    """Two hinges, and a foot that is welded to the shank; shapes at random places."""
    tree, rng = pin.Model(), np.random.default_rng(7)

    def place() -> pin.SE3:
        return pin.SE3(pin.exp3(rng.normal(size=3)), rng.normal(size=3))

    tree.name, j = "leg", 0
    for name in (["trunk"] if floats else []) + ["thigh", "shank"]:
        kind = pin.JointModelFreeFlyer() if name == "trunk" else pin.JointModelRY()
        j = tree.addJoint(j, kind, place(), f"{name}_joint")
        tree.addJointFrame(j)
        tree.appendBodyToJoint(j, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
        tree.addBodyFrame(name, j, pin.SE3.Identity(), -1)
    tree.addBodyFrame("foot", j, place(), -1)
    geometry = pin.GeometryModel()
    for name, (link, shape, path) in shapes(folder).items():
        k = 0 if link == "universe" else tree.getFrameId(link, pin.FrameType.BODY)
        frame, scale = tree.frames[k], np.array([1.0, 0.5, 2.0] if path else [1.0] * 3)
        here = frame.placement * place()
        geometry.addGeometryObject(pin.GeometryObject(name, frame.parentJoint, k, here, shape, path, scale))
    return pc.ClusterModel(tree, [pc.Rotor("shank_joint", 8.0, axial_inertia=1e-3)], collision=geometry)


def of_plane(shape: pin.GeometryObject) -> list[float]:
    """Normal and offset on the universe."""
    n = shape.placement.rotation @ shape.geometry.n
    return [*n, shape.geometry.d + n @ shape.placement.translation]


def same(old: pc.ClusterModel, new: pc.ClusterModel, links: bool) -> None:
    mine, theirs = ({s.name: s for s in m.collision.geometryObjects} for m in (old, new))
    assert theirs.keys() == mine.keys()
    for name, shape in mine.items():
        other = theirs[name]
        frame, again = old.frames[shape.parentFrame], new.frames[other.parentFrame]
        assert old.names[shape.parentJoint] == new.names[other.parentJoint]
        assert not (links and shape.parentJoint) or frame.name == again.name
        kind = type(shape.geometry)
        assert type(other.geometry) is kind
        if kind is coal.Halfspace:
            assert np.abs(np.subtract(of_plane(shape), of_plane(other))).max() < 1e-12
            continue
        assert np.abs(shape.placement.homogeneous - other.placement.homogeneous).max() < 1e-12
        assert Path(shape.meshPath) == Path(other.meshPath)
        if kind is coal.Convex:
            corners = [np.array(sorted(np.array(s.geometry.points()).tolist())) for s in (shape, other)]
            assert np.abs(corners[0] - corners[1]).max() < 1e-12
        else:
            assert shape.geometry == other.geometry


@pytest.mark.parametrize("floats", [False, True], ids=["fixed", "floating"])
def test_urdf(floats: bool, tmp_path: Path) -> None:
    model = robot(tmp_path, floats)
    text = pc.to_urdf(model)
    assert "not written" not in text
    same(model, pc.buildModelFromXML(text), True)
    # others read what URDF has words for
    there = pin.buildGeomFromUrdfString(pin.buildModelFromXML(text), text, pin.GeometryType.COLLISION)
    assert {type(s.geometry).__name__ for s in there.geometryObjects} == {"Box", "Sphere", "Cylinder", "BVHModelOBBRSS"}
    assert there.ngeoms == 6
    (tmp_path / "part.stl").unlink()  # then its points are written
    again = pc.buildModelFromXML(pc.to_urdf(model))
    assert {s.name for s in again.collision.geometryObjects if isinstance(s.geometry, coal.Convex)} == {
        "hull", "mesh", "also mesh",
    }  # fmt: skip


@pytest.mark.parametrize("approximation", ["best", "exact"])
@pytest.mark.parametrize("floats", [False, True], ids=["fixed", "floating"])
def test_mjcf(floats: bool, approximation: str, tmp_path: Path) -> None:
    model = robot(tmp_path, floats)
    text = pc.to_mjcf(model, approximation)  # type: ignore[arg-type]
    assert "not written" not in text
    assert "there are no contacts" not in text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)  # soft equalities
        same(model, pc.buildModelFromMJCF(text), False)


def test_shapes_collide_with_the_world_and_where_pairs_say_so(tmp_path: Path) -> None:
    """In MuJoCo: a leg whose shapes are within each other falls on a floor; only that touches."""
    mujoco = pytest.importorskip("mujoco", minversion="3.3.4")
    tree, geometry = pin.Model(), pin.GeometryModel()
    names = ("a", "b", "c")
    for name in names:
        j = tree.addJoint(0, pin.JointModelPZ(), pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.05])), name)
        tree.appendBodyToJoint(j, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
        k = tree.addJointFrame(j)
        geometry.addGeometryObject(pin.GeometryObject(f"{name} ball", j, k, pin.SE3.Identity(), coal.Sphere(0.1)))
    floor = pin.GeometryObject("floor", 0, 0, pin.SE3.Identity(), coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0))
    geometry.addGeometryObject(floor)

    def touching() -> set[frozenset[str]]:
        there = mujoco.MjModel.from_xml_string(pc.to_mjcf(pc.ClusterModel(tree, collision=geometry)))
        data = mujoco.MjData(there)
        mujoco.mj_forward(there, data)
        return {frozenset(there.geom(g).name for g in data.contact[i].geom) for i in range(data.ncon)}

    on_the_floor = {frozenset((f"{name} ball", "floor")) for name in names}
    assert touching() == on_the_floor
    geometry.addCollisionPair(pin.CollisionPair(0, 1))
    assert frozenset(("a ball", "b ball")) in touching()


def test_what_cannot_be_written_is_said() -> None:
    tree, geometry = pin.buildSampleModelManipulator(), pin.GeometryModel()
    k = next(i for i, f in enumerate(tree.frames) if f.parentJoint == 1)
    cone, plane = coal.Cone(0.1, 0.2), coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    for name, shape in (("cone", cone), ("sole", plane)):
        geometry.addGeometryObject(pin.GeometryObject(name, 1, k, pin.SE3.Identity(), shape))
    model = pc.ClusterModel(tree, collision=geometry)
    assert "These collision shapes are not written: cone." in pc.to_urdf(model)
    assert "these collision shapes are not written: cone, sole." in pc.to_mjcf(model)
