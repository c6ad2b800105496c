"""``model.collision``: shapes of files as Pinocchio and MuJoCo have them, or as their numbers say."""

from __future__ import annotations

import math
import pickle
import re
import warnings
from collections.abc import Callable
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
import pytest
from samples.bad_mjcf import world
from support import sdf_text
from support.meshes import CUBE, cube
from support.messages import raises
from support.urdf_text import INERTIAL, joint, link, robot

import pin_clusters as pc
from pin_clusters.studies.sweeps.ratio import scaled

pytestmark = pytest.mark.jitless
SHAPES = {
    "box": '<box size="0.1 0.2 0.3"/>',
    "ball": '<sphere radius="0.05"/>',
    "can": '<cylinder radius="0.1" length="0.4"/>',
}


def collision(shape: str, origin: str = 'xyz="0.1 -0.2 0.3" rpy="0.4 -0.5 0.6"', name: str = "") -> str:
    given = f' name="{name}"' if name else ""
    return f"<collision{given}><origin {origin}/><geometry>{shape}</geometry></collision>"


def urdf(inside: str, ground: str = "") -> str:
    """Ground, an arm on a hinge, and a hand that is fixed to the arm."""
    visual = collision('<box size="9 9 9"/>').replace("collision>", "visual>")
    return robot(
        link("ground", ground), link("arm", INERTIAL + collision(SHAPES["ball"], name="elbow") + visual),
        joint("hinge", "ground", "arm"), link("hand", INERTIAL + inside),
        joint("weld", "arm", "hand", "fixed", None, ""),
    )  # fmt: skip


def said(pattern: str, read: Callable[..., pc.ClusterModel], *given: object) -> pc.ClusterModel:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model = read(*given)
    assert any(re.search(pattern, str(w.message)) for w in found), [str(w.message) for w in found]
    return model


def placed(model: pc.ClusterModel, q: np.ndarray) -> dict[str, pin.SE3]:
    """Where the shapes are, by Pinocchio's own function."""
    geometry, data = model.collision, model.createData()
    there = geometry.createData()
    pc.forwardKinematics(model, data, q)
    pin.updateGeometryPlacements(model.tree, data.tree, geometry, there)
    return {shape.name: M for shape, M in zip(geometry.geometryObjects, there.oMg, strict=True)}


def by_name(geometry: pin.GeometryModel) -> dict[str, pin.GeometryObject]:
    return {shape.name: shape for shape in geometry.geometryObjects}


def in_order(points: np.ndarray) -> np.ndarray:
    return np.array(sorted(np.round(points, 9).tolist()))


@pytest.mark.parametrize("root", [None, pin.JointModelFreeFlyer()], ids=["fixed", "floating"])
def test_urdf_is_as_pinocchio_reads_it(root: pin.JointModel | None, tmp_path: Path) -> None:
    """Also on links that a fixed joint merged, and meshes that are stretched and mirrored."""
    cube(tmp_path / "part.stl")
    mesh = '<mesh filename="part.stl" scale="2 -0.5 1"/>'
    inside = "".join(map(collision, [*SHAPES.values(), mesh.replace("part", f"{tmp_path}/part")]))
    (tmp_path / "r.urdf").write_text(urdf(inside, collision(SHAPES["box"])))
    model = pc.buildModelFromUrdf(tmp_path / "r.urdf", root)
    same = pin.buildGeomFromUrdf(model.tree, str(tmp_path / "r.urdf"), pin.GeometryType.COLLISION)
    mine, theirs = by_name(model.collision), by_name(same)
    theirs["elbow"] = theirs.pop("arm_0")  # Pinocchio does not read the names
    assert mine.keys() == theirs.keys() == {"ground_0", "elbow", "hand_0", "hand_1", "hand_2", "hand_3"}
    for name, shape in mine.items():
        other = theirs[name]
        assert (shape.parentJoint, shape.parentFrame) == (other.parentJoint, other.parentFrame)
        assert shape.placement.isApprox(other.placement, 1e-12)
        if name == "hand_3":
            assert isinstance(shape.geometry, coal.Convex)
            assert np.allclose(in_order(shape.geometry.points()), in_order(other.geometry.vertices()), atol=1e-12)
            assert shape.geometry.computeVolume() == pytest.approx(2.0 * 0.5, rel=1e-12)
            assert Path(shape.meshPath).samefile(tmp_path / "part.stl")
        else:
            assert shape.geometry == other.geometry
    assert len(model.collision.collisionPairs) == 0


def test_other_shapes_of_urdf_in_elements_of_our_own() -> None:
    shapes = (
        '<capsule radius="0.1" length="0.3"/>', '<ellipsoid radii="0.1 0.2 0.3"/>',
        '<plane normal="0 0 2" offset="-1"/>',
        f'<hull points="{" ".join(map(str, CUBE.ravel()))} 0.5 0.5 0.5"/>',
    )  # fmt: skip
    own = "".join(
        f'<shape name="s{i}" link="hand"><origin xyz="0 0 {i}"/><geometry>{s}</geometry></shape>'
        for i, s in enumerate(shapes)
    )
    model = pc.buildModelFromXML(urdf("").replace("</robot>", own + "</robot>"))
    found = by_name(model.collision)
    hand = model.frames[model.getFrameId("hand")].placement
    capsule, ellipsoid, plane, hull = (found[f"s{i}"].geometry for i in range(4))
    assert (capsule.radius, capsule.halfLength) == (0.1, 0.15)
    assert ellipsoid.radii.tolist() == [0.1, 0.2, 0.3]
    assert isinstance(plane, coal.Halfspace)
    assert (plane.n.tolist(), plane.d) == ([0.0, 0.0, 1.0], -1.0)
    assert hull.num_points == 8
    assert found["s3"].placement.isApprox(hand * pin.SE3(np.eye(3), np.array([0.0, 0.0, 3.0])), 1e-12)
    plain = pc.buildModelFromXML(urdf(collision(shapes[0])))
    assert by_name(plain.collision)["hand_0"].geometry == capsule


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ('<mesh filename="gone.stl"/>', "of link 'hand': the mesh file 'gone.stl' is missing"),
        ('<mesh filename="package://nowhere/gone.dae"/>', "'package://nowhere/gone.dae' is missing"),
        ('<mesh filename="flat.stl"/>', "of link 'hand', mesh 'flat.stl': its points lie in a plane"),
        ('<mesh filename="part.stl" scale="1 1 0"/>', "lie in a plane, so its convex hull has no volume"),
        ('<mesh filename="none.stl"/>', "'none.stl' cannot be read"),
        ('<mesh filename="fan.stl"/>', "more than 255 triangles of its hull share a vertex"),
        ('<box size="1 2"/>', "of link 'hand': size must be 3 numbers"),
        ('<sphere radius="-1"/>', "a sphere needs 1 positive numbers, got -1"),
        ('<sphere radius="nan"/>', "radius must be a finite number"), ("<cylinder/>", "radius is missing"),
        ('<plane normal="0 0 0"/>', "the normal of the plane is zero"), ("<torus/>", "<torus> is not supported"),
        ("", "has 0 shapes, expected one"),
    ],
)  # fmt: skip
def test_shapes_that_cannot_be_made_are_left_out_and_said(shape: str, words: str, tmp_path: Path) -> None:
    cube(tmp_path / "part.stl")
    flat = CUBE * np.array([1.0, 1.0, 0.0])
    cube(tmp_path / "flat.stl", flat)
    (tmp_path / "none.stl").write_bytes(b"solid no")
    turn = np.linspace(0.0, 2.0 * math.pi, 300, endpoint=False)
    rim = np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=1)
    fan = [[rim[i - 1], rim[i], [0.0, 0.0, 1.0]] for i in range(300)]
    lines = "".join(f"vertex {a} {b} {c}\n" for triangle in fan for a, b, c in np.array(triangle).tolist())
    (tmp_path / "fan.stl").write_text(f"solid\n{lines}")
    (tmp_path / "r.urdf").write_text(urdf(collision(SHAPES["box"]) + collision(shape)))
    model = said(f"some collision shapes are missing: .*{words}", pc.open_robot, tmp_path / "r.urdf")
    assert by_name(model.collision).keys() == {"elbow", "hand_0"}
    assert (model.nv, model.tree.inertias[1].mass) == (1, 2.0)


def test_meshes_of_packages_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the folders above the file, and in those of ROS_PACKAGE_PATH, as by Pinocchio."""
    (tmp_path / "arm_description" / "urdf").mkdir(parents=True)
    cube(tmp_path / "arm_description" / "part.stl")
    text = urdf(collision('<mesh filename="package://arm_description/part.stl"/>'))
    file = tmp_path / "arm_description" / "urdf" / "r.urdf"
    file.write_text(text)
    assert by_name(pc.open_robot(file).collision)["hand_0"].geometry.num_points == 8
    said("is missing", pc.buildModelFromXML, text)
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{tmp_path}")
    assert by_name(pc.buildModelFromXML(text).collision)["hand_0"].geometry.num_points == 8


MJCF = """<mujoco><compiler angle="radian" meshdir="{folder}"/>
<default><geom contype="0" conaffinity="0"/><default class="hits"><geom contype="1" friction="0.5"/></default></default>
<asset><mesh name="block" file="part.stl" scale="0.2 0.4 0.1"/>
  <mesh name="turned" file="part.stl" refpos="0.5 0 0" refquat="0.5 0.5 0.5 0.5"/>
  <mesh name="tip" vertex="0 0 0 0.1 0 0 0 0.1 0 0 0 0.1"/></asset>
<worldbody><geom name="floor" class="hits" type="plane" size="0 0 1" pos="0 0 -0.5" euler="0.2 0 0"/>
<body name="arm" pos="0.1 0.2 0.3" euler="0.3 0.2 0.1"><joint name="hinge" axis="0 1 0" pos="0 0 0.1"/>
  <geom name="bone" class="hits" type="capsule" size="0.03" fromto="0 0 0 0.1 0.2 0.3"/>
  <geom type="box" size="1 1 1"/>
  <frame pos="0.1 0 0" euler="0 0.4 0">
    <geom name="block" class="hits" type="box" size="0.1 0.2 0.3" pos="0 0 0.2"/></frame>
  <body name="hand" pos="0 0 -0.2" euler="0.1 0 0.5"><geom name="egg" class="hits" type="ellipsoid" size="0.1 0.2 0.3"/>
    <geom name="can" conaffinity="2" type="cylinder" size="0.1 0.2" quat="0.5 0.5 -0.5 0.5"/>
    <geom name="mesh" class="hits" type="mesh" mesh="block" pos="0.1 0.2 0"/>
    <geom name="turned" class="hits" type="mesh" mesh="turned" euler="0.7 0 0"/>
    <body name="finger"><joint name="slide" type="slide" axis="1 0 0"/>
      <inertial mass="1" diaginertia="1 1 1" pos="0 0 0"/>
      <geom class="hits" size="0.02" pos="0 0.1 0"/><geom name="tip" class="hits" type="mesh" mesh="tip"/>
</body></body></body></worldbody></mujoco>"""


def test_mjcf_is_as_mujoco_has_it(tmp_path: Path, rng: np.random.Generator) -> None:
    """Shapes, sizes and places of all geoms that collide; a mesh by its points in the world."""
    mujoco = pytest.importorskip("mujoco", minversion="3.3.4")
    cube(tmp_path / "part.stl")
    (tmp_path / "r.xml").write_text(MJCF.format(folder=tmp_path))
    model = pc.open_robot(tmp_path / "r.xml")
    there = mujoco.MjModel.from_xml_path(str(tmp_path / "r.xml"))
    state = mujoco.MjData(there)
    state.qpos[:] = q = rng.normal(size=2)
    mujoco.mj_kinematics(there, state)
    places, shapes = placed(model, q), by_name(model.collision)
    hits = [g for g in range(there.ngeom) if there.geom_contype[g] or there.geom_conaffinity[g]]
    assert [there.geom(g).name or "finger_0" for g in hits] == list(shapes)
    for g in hits:
        name = there.geom(g).name or "finger_0"
        shape, M, size = shapes[name].geometry, places[name], there.geom_size[g]
        R, p = state.geom_xmat[g].reshape(3, 3), state.geom_xpos[g]
        if isinstance(shape, coal.Convex):
            first, count = there.mesh_vertadr[there.geom_dataid[g]], there.mesh_vertnum[there.geom_dataid[g]]
            theirs = there.mesh_vert[first : first + count] @ R.T + p
            mine = np.array([M.act(x) for x in np.array(shape.points())])
            apart = np.linalg.norm(mine[:, None] - np.unique(np.round(theirs, 6), axis=0)[None], axis=2)
            assert max(apart.min(axis=0).max(), apart.min(axis=1).max()) < 2e-6  # MuJoCo keeps floats
            continue
        assert np.abs(M.rotation - R).max() < 1e-12
        assert np.abs(M.translation - p).max() < 1e-12
        mine = {
            coal.Sphere: lambda s: [s.radius], coal.Box: lambda s: s.halfSide, coal.Ellipsoid: lambda s: s.radii,
            coal.Capsule: lambda s: [s.radius, s.halfLength], coal.Cylinder: lambda s: [s.radius, s.halfLength],
            coal.Halfspace: lambda s: [*s.n[:2], s.n[2] + s.d],
        }[type(shape)](shape)  # fmt: skip
        assert np.abs(np.array(mine) - (size[: len(mine)] if name != "floor" else [0, 0, 1])).max() < 1e-12
    assert shapes["floor"].parentJoint == 0
    assert {shapes[n].parentJoint for n in ("bone", "block", "egg", "can", "mesh")} == {1}
    assert model.frames[shapes["egg"].parentFrame].name == "hand"


def test_a_plane_is_touched_from_above() -> None:
    """A ball of 0.1 m at 0.15 m above a floor at 0.02 m: 0.03 m between them."""
    model = pc.buildModelFromMJCF(
        world(
            '<geom name="floor" type="plane" size="1 1 1" pos="0 0 0.02"/><body name="b" pos="0 0 0.15">'
            '<joint name="j" type="slide" axis="0 0 1"/><geom name="ball" size="0.1"/></body>'
        )
    )
    geometry, data = model.collision, model.createData()
    geometry.addAllCollisionPairs()
    there = geometry.createData()
    for height, gap in ((0.0, 0.03), (-0.05, -0.02)):
        pc.forwardKinematics(model, data, [height])
        pin.updateGeometryPlacements(model.tree, data.tree, geometry, there)
        pin.computeDistances(geometry, there)
        assert there.distanceResults[0].min_distance == pytest.approx(gap, abs=1e-12)


@pytest.mark.parametrize(
    ("geom", "words"),
    [
        ('type="mesh" mesh="x"', "geom 'g' of body 'b': the mesh file 'gone.stl' is missing"),
        ('type="box" mesh="x"', "geom 'g' of body 'b': a shape fitted to a mesh is not supported"),
        ('type="hfield" hfield="h"', "type hfield is not supported"),
        ('type="box" size="1 1"', "a box needs 3 positive"),
        ('type="mesh" mesh="y"', "there is no mesh 'y'"), ('type="mesh"', "attribute mesh is missing"),
    ],
)  # fmt: skip
def test_geoms_that_are_no_shapes_are_said(geom: str, words: str) -> None:
    body = f'<body name="b"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom name="g" {geom}/></body>'
    text = world(body, '<asset><mesh name="x" file="gone.stl"/></asset>')
    assert said(f"some collision shapes are missing: .*{words}", pc.buildModelFromMJCF, text).collision.ngeoms == 0
    drawn = text.replace('name="g"', 'name="g" contype="0" conaffinity="0"')
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "robot 'm': these mesh files are missing")
        assert pc.buildModelFromMJCF(drawn).collision.ngeoms == 0


def test_sdf_by_its_numbers(tmp_path: Path) -> None:
    """Poses relative to the link and to other frames, and meshes beside an included model."""
    (tmp_path / "tool").mkdir()
    cube(tmp_path / "tool" / "part.stl")
    tool = sdf_text.model(
        sdf_text.link("tip", "0 0 0.5 0 0 0", sdf_text.BODY + '<collision name="c"><geometry><mesh><uri>part.stl</uri>'
                      "<scale>1 2 3</scale></mesh></geometry></collision>"), name="tool",
    )  # fmt: skip
    (tmp_path / "tool" / "model.sdf").write_text(tool)
    shapes = {
        "box": "<box><size>0.1 0.2 0.3</size></box>", "ball": "<sphere><radius>0.1</radius></sphere>",
        "can": "<cylinder><radius>0.1</radius><length>0.5</length></cylinder>",
        "bone": "<capsule><radius>0.1</radius><length>0.5</length></capsule>",
        "egg": "<ellipsoid><radii>0.1 0.2 0.3</radii></ellipsoid>", "sole": "<plane><normal>1 0 0</normal></plane>",
    }  # fmt: skip
    inside = "".join(
        f'<collision name="{name}"><pose{" relative_to=" + chr(34) + "mark" + chr(34) if name == "can" else ""}>'
        f"0 0 {i} 0 0 {i / 10}</pose><geometry>{shape}</geometry></collision>"
        for i, (name, shape) in enumerate(shapes.items())
    )
    parts = (
        "<pose>7 0 0 0 0 0</pose>", sdf_text.link("arm", "1 0 0 0 0 1.5", sdf_text.BODY + inside),
        '<frame name="mark"><pose>2 3 4 0 0 0</pose></frame>', sdf_text.joint("hinge", "world", "arm"),
        "<include><uri>model://tool</uri><pose>0 5 0 0 0 0</pose></include>",
        sdf_text.joint("weld", "arm", "tool::tip", "fixed", ""),
    )  # fmt: skip
    (tmp_path / "r.sdf").write_text(sdf_text.model(*parts))
    model = pc.open_robot(tmp_path / "r.sdf")
    found, places = by_name(model.collision), placed(model, pc.neutral(model))

    def turned(angle: float, *at: float) -> pin.SE3:
        return pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.0, angle), np.array(at))

    for i, name in enumerate(shapes):
        base = turned(0.0, 9.0, 3.0, 4.0) if name == "can" else turned(1.5, 8.0, 0.0, 0.0)
        assert places[name].isApprox(base * turned(i / 10, 0.0, 0.0, i), 1e-12)
        assert model.frames[found[name].parentFrame].name == "arm"
    assert places["tool::c"].isApprox(turned(0.0, 7.0, 5.0, 0.5), 1e-12)
    assert found["tool::c"].parentJoint == model.getJointId("hinge")
    assert found["tool::c"].geometry.computeVolume() == pytest.approx(6.0, rel=1e-12)
    assert (2.0 * found["box"].geometry.halfSide).tolist() == [0.1, 0.2, 0.3]
    assert found["ball"].geometry.radius == 0.1
    assert (found["can"].geometry.radius, found["can"].geometry.halfLength) == (0.1, 0.25)
    assert (found["bone"].geometry.radius, found["bone"].geometry.halfLength) == (0.1, 0.25)
    assert found["egg"].geometry.radii.tolist() == [0.1, 0.2, 0.3]
    assert found["sole"].geometry.n.tolist() == [1.0, 0.0, 0.0]
    assert model.existFrame("mark")


def test_sdf_says_what_it_leaves_out() -> None:
    bad = "".join(
        f'<collision name="c{i}"><geometry>{shape}</geometry></collision>'
        for i, shape in enumerate(("<heightmap/>", "<mesh><uri>http://x/y.stl</uri></mesh>", "<sphere/>"))
    )
    text = sdf_text.model(sdf_text.link("arm", "", sdf_text.BODY + bad), sdf_text.joint("hinge", "world", "arm"))
    words = "'c0' of link 'arm': <heightmap> is not supported; .*'http://x/y.stl' is missing; .*radius is missing"
    assert said(words, pc.buildModelFromSdf, text).collision.ngeoms == 0


def test_shapes_follow_joints_of_another_type(tmp_path: Path) -> None:
    """Extended URDF: the hinge becomes fixed or a ball, and the shapes stay on their links."""
    text = urdf(collision(SHAPES["box"]))
    tail = link("tail", INERTIAL + collision(SHAPES["can"])) + joint("wrist", "hand", "tail")
    (tmp_path / "robot.urdf").write_text(text.replace("</robot>", tail + "</robot>"))
    plain = pc.open_robot(tmp_path / "robot.urdf")
    before = placed(plain, pc.neutral(plain))
    for kind, nv in (("FIXED", 1), ("SPHERICAL", 4), ("UJOINT_XY", 3)):
        (tmp_path / "robot.yaml").write_text(f"joint_name: [hinge]\njoint_type: [{kind}]\n")
        model = pc.open_robot(tmp_path / "robot.yaml")
        assert model.nv == nv
        after = placed(model, pc.neutral(model))
        assert after.keys() == before.keys()
        assert all(after[name].isApprox(M, 1e-12) for name, M in before.items())
        assert model.tree.names[by_name(model.collision)["tail_0"].parentJoint] == "wrist"


def with_shapes() -> pc.ClusterModel:
    points = " ".join(map(str, CUBE.ravel()))
    own = f'<shape name="hull" link="hand"><geometry><hull points="{points}"/></geometry></shape>'
    text = urdf(collision(SHAPES["box"])).replace("</robot>", own + "</robot>")
    return pc.buildModelFromXML(text, constraints=[pc.Rotor("hinge", 10.0, axial_inertia=1e-4)])


def test_every_copy_keeps_the_shapes() -> None:
    model = with_shapes()
    shapes = model.collision.clone()
    assert shapes.ngeoms == 3
    for other in (
        pickle.loads(pickle.dumps(model)), model.with_gravity([0.0, 0.0, -1.6]), pc.specialise(model),
        pc.with_independent(model, ["hinge"])[0], model.with_frames({"tip": "hand"}),
        pc.with_parameters(model, pc.parameters(model)[0]), scaled(model, 2.0),
        pickle.loads(pickle.dumps(model.with_frames({}))),
    ):  # fmt: skip
        assert other.collision == shapes
    changed = model.collision
    changed.geometryObjects[0].placement = pin.SE3.Random()
    changed.geometryObjects[0].geometry.radius = 9.0
    changed.removeGeometryObject("hull")
    assert model.collision == shapes
    assert pc.load("four_bar_change_point").collision.ngeoms == 0


def test_geometry_of_the_user_is_copied_and_checked() -> None:
    tree = pin.buildSampleModelManipulator()
    geometry = pin.buildSampleGeometryModelManipulator(tree)
    geometry.addAllCollisionPairs()
    model = pc.ClusterModel(tree, collision=geometry)
    kept = geometry.clone()
    geometry.geometryObjects[0].placement = pin.SE3.Random()
    geometry.geometryObjects[0].geometry.radius = 9.0
    assert model.collision == kept
    assert len(model.collision.collisionPairs) == len(kept.collisionPairs) > 0

    def refused(kind: type[Exception], words: str, j: int = 1, k: int = 2, M: pin.SE3 | None = None) -> None:
        bad = pin.GeometryModel()
        bad.addGeometryObject(pin.GeometryObject("shape", j, k, M or pin.SE3.Identity(), coal.Sphere(0.1)))
        with raises(kind, words):
            pc.ClusterModel(tree, collision=bad)

    refused(pc.UnknownNameError, "'shape' 99 0 6", j=99)
    refused(pc.UnknownNameError, "999 0", k=999)
    refused(pc.ModelError, "'shoulder2_joint' 'shoulder1_joint'", j=2, k=1)
    k = next(i for i, f in enumerate(tree.frames) if f.parentJoint == 1)
    refused(pc.ModelError, "'shape' ClusterModel", k=k, M=pin.SE3(np.eye(3), np.full(3, np.nan)))
    with raises(pc.ArgumentTypeError, "pinocchio.GeometryModel list"):
        pc.ClusterModel(tree, collision=[])  # type: ignore[arg-type]
