"""Feet, shapes and limits of the shipped robots: what their READMEs say is what their files have."""

from __future__ import annotations

import math
import re
import warnings
import xml.etree.ElementTree as ET
from collections import Counter
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import pin_clusters as pc
import pin_clusters.files.readers.library as library

NO_LIMIT = float(np.finfo(float).max)
SIDES = ("left_", "right_")
# name: (frames by the joint that carries them, shapes of the file, hips, how far the sole is from level [rad] or None)
FEET: dict[str, tuple[dict[str, tuple[str, ...]], dict[str, int], tuple[str, ...], float | None]] = {
    "mini_cheetah": (
        {f"{leg}_knee": (f"{leg}_foot",) for leg in ("FL", "FR", "HL", "HR")},
        {"box": 1, "cylinder": 8, "sphere": 4}, tuple(f"{leg}_hip" for leg in ("FL", "FR", "HL", "HR")), 1e-9,
    ),
    "mit_humanoid": (
        {f"{s}ankle": (f"{s}toe", f"{s}heel", f"{s}sole") for s in SIDES},
        {"box": 3, "cylinder": 10}, ("left_hip_ry", "right_hip_ry"), 1e-6,
    ),
    "mit_humanoid_leg": ({"ankle": ("toe", "heel", "sole")}, {"box": 1, "cylinder": 2}, ("hip_ry",), 1e-6),
    "tello": (
        {f"{s}ankle": (f"{s}toe", f"{s}heel", f"{s}sole") for s in SIDES},
        {}, ("left_hip_pitch", "right_hip_pitch"), 1e-9,
    ),
    "tello_with_arms": (
        {f"{s}ankle": (f"{s}toe", f"{s}heel", f"{s}sole") for s in SIDES},
        {"cylinder": 6}, ("left_hip_pitch", "right_hip_pitch"), 1e-9,
    ),
    "jvrc1": ({f"{s}ankle_pitch": (f"{s}sole",) for s in SIDES}, {"box": 2}, ("left_hip_roll", "right_hip_roll"), 1e-9),
    "jvrc1_as_published": (
        {f"{s}ankle_pitch": (f"{s}sole",) for s in SIDES}, {"box": 2}, ("left_hip_roll", "right_hip_roll"), 1e-9,
    ),
    "cassie": (
        {f"{s}foot": (f"{s}toe", f"{s}heel", f"{s}sole") for s in SIDES},
        {"ellipsoid": 1, "capsule": 18}, ("left_hip_pitch", "right_hip_pitch"), 0.028,
    ),
    "cassie_leg": ({"foot": ("toe", "heel", "sole")}, {"cylinder": 8, "sphere": 2}, ("hip_pitch",), 5e-3),
    "digit_leg": ({"toe_roll": ("sole",)}, {"box": 1}, ("hip_pitch",), None),
    "kangaroo_leg": ({"ankle_pitch": ("sole",)}, {"box": 1}, ("hip_pitch",), None),
    "planar_leg_linkage": ({"foot": ("foot_tip",)}, {}, (), None),
}  # fmt: skip
SHIPPED = sorted(library.folders())


@cache
def model_of(name: str) -> pc.ClusterModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return pc.load(name)


def file_of(name: str) -> Path:
    folder = Path(str(library.folders()[name]))
    return next(file for file in (folder / "model.urdf", folder / "model.xml") if file.exists())


def readme_of(name: str) -> str:
    return (file_of(name).parent / "README.md").read_text(encoding="utf-8")


def placed(name: str) -> dict[str, pin.SE3]:
    """Where joints and the frames of feet are in the reference pose."""
    model = model_of(name)
    tree, data = model.tree, model.tree.createData()
    pin.framesForwardKinematics(tree, data, model.q_reference)
    ids = {f: tree.getFrameId(f) for names in FEET[name][0].values() for f in names}
    return {n: data.oMi[tree.getJointId(n)] for n in FEET[name][2]} | {f: data.oMf[i] for f, i in ids.items()}


@pytest.mark.parametrize("name", FEET)
def test_each_file_has_its_frames_and_shapes(name: str) -> None:
    tree, readme = model_of(name).tree, readme_of(name)
    for joint, frames in FEET[name][0].items():
        for frame in frames:
            assert tree.existFrame(frame)
            assert tree.names[tree.frames[tree.getFrameId(frame)].parentJoint] == joint
            assert re.search(rf"[ `]{frame}[ ,`]", readme)
    root = ET.parse(file_of(name)).getroot()
    if file_of(name).suffix == ".urdf":
        kinds = [shape[0].tag for shape in root.findall("link/collision/geometry")]
        geometry = pin.buildGeomFromUrdf(pin.buildModelFromUrdf(str(file_of(name))), str(file_of(name)), pin.COLLISION)
        assert geometry.ngeoms == len(kinds)
    else:
        kinds = [geom.get("type", "capsule") for geom in root.iter("geom") if geom.get("class") == "collision"]
    assert Counter(kinds) == FEET[name][1]


@pytest.mark.parametrize("name", FEET)
def test_feet_are_below_hips_and_soles_level(name: str) -> None:
    frames, _, hips, level = FEET[name]
    at = placed(name)
    feet = [f for names in frames.values() for f in names]
    assert not hips or max(at[f].translation[2] for f in feet) < min(at[h].translation[2] for h in hips) - 0.35
    if level is None:
        return
    for foot in feet:
        assert math.acos(min(1.0, at[foot].rotation[2, 2])) <= level
        assert at[foot].rotation[0, 0] > 0.999  # forward
    for side in {f.removesuffix("toe") for f in feet if f.endswith("toe")}:
        toe, heel, sole = (at[side + end].translation for end in ("toe", "heel", "sole"))
        assert 0.14 < toe[0] - heel[0] < 0.17
        assert heel[0] < sole[0] < toe[0]
        assert np.ptp([toe[2], heel[2], sole[2]]) < 0.005


@pytest.mark.parametrize("name", ["mini_cheetah", "mit_humanoid", "mit_humanoid_leg", "jvrc1", "cassie_leg"])
def test_the_lowest_point_of_all_shapes_is_at_a_foot(name: str) -> None:
    file, model = str(file_of(name)), model_of(name)
    base = (pin.JointModelFreeFlyer(),) if model.tree.existJointName("root_joint") else ()
    plain = pin.buildModelFromUrdf(file, *base)
    geometry = pin.buildGeomFromUrdf(plain, file, pin.COLLISION)
    q = np.zeros(plain.nq)
    for j in range(1, plain.njoints):
        i = model.tree.idx_qs[model.tree.getJointId(plain.names[j])]
        q[plain.idx_qs[j] : plain.idx_qs[j] + plain.nqs[j]] = model.q_reference[i : i + plain.nqs[j]]
    data, shapes = plain.createData(), geometry.createData()
    pin.updateGeometryPlacements(plain, data, geometry, shapes, q)
    low = []
    for shape, place in zip(geometry.geometryObjects, shapes.oMg, strict=True):
        shape.geometry.computeLocalAABB()
        half, down = shape.geometry.aabb_local.max_, place.rotation[2]  # shapes are symmetric about their origins
        reach = half[0] if "Sphere" in type(shape.geometry).__name__ else float(np.abs(down) @ half)
        low.append((place.translation[2] - reach, shape.name))
    feet = {f for names in FEET[name][0].values() for f in names}
    lowest = min(low)[0]
    below = {shape.removesuffix("_link_0") for z, shape in low if z < lowest + 1e-4}
    assert below <= feet
    at = placed(name)
    radius = 0.0202 if name == "mini_cheetah" else 0.0
    assert lowest == pytest.approx(min(at[f].translation[2] for f in feet) - radius, abs=1e-4)


def test_capsules_of_cassies_feet_end_at_toe_and_heel() -> None:
    root = ET.parse(file_of("cassie")).getroot()
    for side in SIDES:
        body = next(b for b in root.iter("body") if b.get("name") == f"{side}foot")
        (geom,) = body.findall("geom")
        ends = np.array(geom.get("fromto", "").split(), dtype=float).reshape(2, 3)
        sites = {s.get("name"): np.array(s.get("pos", "").split(), dtype=float) for s in body.findall("site")}
        along = (ends[0] - ends[1]) / np.linalg.norm(ends[0] - ends[1])
        for end, name in zip(ends, ("toe", "heel"), strict=True):
            out = sites[side + name] - end
            assert np.linalg.norm(out) == pytest.approx(float(geom.get("size", "0")), abs=1e-6)
            assert abs(out @ along) < 1e-6


def said(name: str) -> list[tuple[str, list[str]]]:
    """Rows of the README's table of limits: patterns of joints; position, torque, speed."""
    rows = re.search(r"\| joint \| position .*\n\|---.*\n((?:\|.*\n)*)", readme_of(name))
    cells = [[c.strip() for c in row.strip("|").split("|")] for row in rows.group(1).splitlines()] if rows else []
    return [(pattern.strip(), rest) for first, *rest in cells for pattern in first.split(",")]


def limits(model: pc.ClusterModel, name: str) -> tuple[float, float, float, float]:
    tree = model.tree
    iq, iv = (index[tree.getJointId(name)] for index in (tree.idx_qs, tree.idx_vs))
    position = tree.lowerPositionLimit[iq], tree.upperPositionLimit[iq]
    return *position, tree.effortLimit[iv], tree.velocityLimit[iv]


def number(cell: str, own: float) -> float:
    """What a cell says, ``own`` is that of the joint that a rotor drives."""
    if cell.startswith(("x", "/")):
        factor = float(cell[1:])
        return own * factor if cell[0] == "x" else own / factor
    return NO_LIMIT if cell == "unknown" else float(cell)


@pytest.mark.parametrize("name", SHIPPED)
def test_limits_are_those_of_the_readme_and_none_elsewhere(name: str) -> None:
    model, rows, used = model_of(name), said(name), set()
    for joint in list(model.tree.names)[1:]:
        if model.tree.nvs[model.tree.getJointId(joint)] != 1:
            continue
        row = next(((p, cells) for p, cells in rows if fnmatchcase(joint, p)), (None, ["unknown"] * 3))
        used.add(row[0])
        own = limits(model, joint.removesuffix("_rotor"))
        position, effort, speed = row[1]
        ends = position.split(" to ") if " to " in position else [position, position]
        low, high = (number(cell, x) for cell, x in zip(ends, own, strict=False))
        expected = (-NO_LIMIT if position == "unknown" else low, high, number(effort, own[2]), number(speed, own[3]))
        np.testing.assert_allclose(limits(model, joint), expected, rtol=2e-6, atol=6e-5, err_msg=joint)
    assert {p for p, _ in rows} <= used
    assert "placeholder" not in re.sub(r"library's URDF files have placeholders", "", readme_of(name))


@pytest.mark.parametrize("name", SHIPPED)
def test_the_reference_pose_and_shipped_motions_are_within_the_limits(name: str) -> None:
    model = model_of(name)
    poses = [model.q_reference]
    for motion in (m for m in pc.study.motions() if m.startswith(f"{name}_") and m.count("_") == name.count("_") + 1):
        poses.extend(pc.study.motion(motion).states(model)[1])
    free = model.hasConfigurationLimit()
    q = np.array(poses)[:, free]
    assert (q >= model.lowerPositionLimit[free] - 1e-9).all()
    assert (q <= model.upperPositionLimit[free] + 1e-9).all()


@pytest.mark.parametrize("name", [n for n in SHIPPED if any(p.endswith("_rotor") for p, _ in said(n))])
def test_ranges_of_rotors_follow_from_those_of_joints(name: str) -> None:
    model = model_of(name)
    G = pc.coupling_jacobian(model, model.createData(), model.q_reference)
    for joint in (n for n in model.tree.names if n.endswith("_rotor") and limits(model, n)[1] < NO_LIMIT):
        low = high = 0.0
        for driver in model.independent_joints:
            if model.tree.nvs[model.tree.getJointId(driver)] == 1:
                ratio = G[model.tree.idx_vs[model.tree.getJointId(joint)], model.joint_idx_v(driver)]
                if ratio:
                    ends = sorted(ratio * x for x in limits(model, driver)[:2])
                    low, high = low + ends[0], high + ends[1]
        np.testing.assert_allclose(limits(model, joint)[:2], (low, high), atol=1e-5)
