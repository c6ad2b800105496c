"""MJCF that is ill-formed, or says what cannot be honoured: which error, with which names and numbers."""

from __future__ import annotations

import os
import struct
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples.bad_mjcf import BODY, CASES, TWO, mesh, world
from support.messages import raises, warns

import pin_clusters as pc


def refused(given: Any, words: str, **options: Any) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        with raises((pc.LoadError, pc.InertiaError), words) as caught:
            pc.buildModelFromMJCF(given, **options)
    return str(caught.value)


@pytest.mark.parametrize("case", CASES)
def test_what_is_refused(case: str) -> None:
    refused(*CASES[case])


def test_what_would_fill_the_memory() -> None:
    """MuJoCo's compiler cannot be interrupted."""
    pytest.importorskip("mujoco")
    body = '<body name="x"><joint/><geom size="1"/></body>'
    refused(world(f'<replicate count="1000000">{body}</replicate>'), "1e+06")
    nested = f'<replicate count="200"><replicate count="200">{body}</replicate></replicate>'
    refused(world(nested), "4e+04")
    refused(world(f'<body name="b">{BODY}<composite type="cable" count="1000 1000 1"/></body>'), "10,000")


def test_what_is_expanded_by_mujoco(monkeypatch: pytest.MonkeyPatch) -> None:
    text = world('<replicate count="3" offset="1 0 0"><body name="x"><joint/><geom size="1"/></body></replicate>')
    pytest.importorskip("mujoco")
    with warns(pc.PinClustersWarning, "'m'"):
        assert pc.buildModelFromMJCF(text).nv == 3
    monkeypatch.setitem(sys.modules, "mujoco", None)
    refused(text, "<replicate> spec.to_xml")


def test_files_and_folders(tmp_path: Path) -> None:
    refused(tmp_path / "none.xml", "none.xml")
    refused("nul\0.xml", "'nul\\x00.xml'")
    inner, outer = tmp_path / "in", tmp_path / "out.xml"
    inner.mkdir()
    outer.write_text(f"<mujocoinclude>{BODY}</mujocoinclude>")
    file = inner / "model.xml"
    file.write_text(world('<include file="../out.xml"/>'))
    refused(file, "'../out.xml' root_folder")
    assert pc.buildModelFromMJCF(file, root_folder=tmp_path).nv == 1
    file.write_text(world(BODY, '<include file="model.xml"/>'))
    refused(file, "")
    (inner / "a.xml").write_text('<mujoco><include file="b.xml"/></mujoco>')
    (inner / "b.xml").write_text('<mujoco><include file="a.xml"/></mujoco>')
    file.write_text(world(BODY, '<include file="a.xml"/>'))
    refused(file, "")
    (inner / "a.xml").write_text("<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/hostname'>]><mujoco>&e;</mujoco>")
    refused(file, "")


def test_depth_is_limited() -> None:
    deep = world("<body>" * 2000 + "</body>" * 2000)
    refused(deep, "1000")
    chain = world('<body pos="0 0 0.1"><joint/><geom size="0.1"/>' * 200 + "</body>" * 200)
    assert pc.buildModelFromMJCF(chain).nv == 200


def test_types() -> None:
    for given, options, words in (
        (3, {}, "path MJCF int"),
        (world(), {"armature": "no"}, "armature 'keep' 'rotor'"),
        (world(), {"constraints": "x"}, "constraints"),
        (world(), {"root_joint": 3}, "root_joint"),
    ):
        with raises(pc.ArgumentTypeError, words):
            pc.buildModelFromMJCF(given, **options)
    refused(world(), "keyframe 'x'", keyframe="x")


def test_a_root_joint_that_does_not_fit() -> None:
    import pinocchio as pin

    refused(world(), "'j'", root_joint=pin.JointModelFreeFlyer())
    refused(world(TWO), "2", root_joint=pin.JointModelFreeFlyer())


def test_meshes_that_are_missing_are_said() -> None:
    text = world(
        '<body><joint/><inertial mass="1" diaginertia="1 1 1"/><geom type="mesh" mesh="x"/></body>',
        '<asset><mesh name="x" file="/nowhere/x.stl"/></asset>',
    )
    with (
        warns(pc.PinClustersWarning, "'m' 'x'"),
        warns(pc.PinClustersWarning, "'m' 'body1' '/nowhere/x.stl'"),
    ):
        pc.buildModelFromMJCF(text)


def test_meshes_that_are_none_are_said_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "x.stl").write_bytes(b"solid no")
    body = '<body><joint/><geom type="mesh" mesh="x"/></body>'
    (tmp_path / "r.xml").write_text(world(body, '<asset><mesh name="x" file="x.stl"/></asset>'))
    said = refused(tmp_path / "r.xml", "'x' 'x.stl'")
    assert "\n" not in said
    assert "assimp.cpp" not in said


BAD_MESHES = {
    "of another format": ("x.off", b"OFF\n3 1 0\n", "'x.off' .stl .obj .msh"),
    "of no format": ("x", b"v 0 0 0", "'x'"),
    "face beyond": (
        "x.msh",
        struct.pack("<4i9f3i", 3, 0, 0, 1, *range(9), 0, 1, 77),
        "'x.msh' 77",
    ),
    "face below": ("x.msh", struct.pack("<4i9f3i", 3, 0, 0, 1, *range(9), 0, 1, -1), "'x.msh' -1"),
    "counts below zero": ("x.msh", struct.pack("<4i", 100, -140, 0, 60) + bytes(240), ""),
    "no number": ("x.msh", struct.pack("<4i9f3i", 3, 0, 0, 1, *[np.nan] * 9, 0, 1, 2), "'m' 1e+30"),
    "three points": ("x.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\n", ""),
    "points without a number": ("x.obj", b"v 0 0 0\n" * 4 + b"v 0 0 nan", "'m' 'x.obj' 'nan'"),
    "points of two numbers": ("x.obj", b"v 0 0 0\n" * 4 + b"v 0 0", "'m' 'x.obj'"),
    "points in a plane": ("x.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n", "'m'"),
    "empty": ("x.obj", b"", ""),
    "face beyond, in an OBJ": (
        "x.obj",
        b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n",
        "'m' 'x.obj'",
    ),
    "word in an OBJ": ("x.obj", b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "'nan'"),
    "another format in an STL": ("x.stl", b"OFF\n99999999 1 0\n", "'m' 'x.stl'"),
    "STL that is cut off": ("x.stl", bytes(80) + b"\xff\xff\xff\xff" + bytes(100), "'m' 'x.stl'"),
    "no number in an STL": ("x.stl", b"solid x\n" + b"vertex 0 x 0\n" * 3, "'m' 'x'"),
}


@pytest.mark.parametrize("case", BAD_MESHES)
@pytest.mark.parametrize("rule", ["legacy", "convex", "shell"])
def test_bad_meshes(case: str, rule: str, tmp_path: Path) -> None:
    name, data, words = BAD_MESHES[case]
    (tmp_path / name).write_bytes(data)
    text = mesh(f'file="{name}" inertia="{rule}"')
    (tmp_path / "r.xml").write_text(text)
    refused(tmp_path / "r.xml", words)


@pytest.mark.parametrize("kind", ["msh", "binary.stl", "text.stl", "obj"])
def test_files_of_a_mesh_are_its_triangles(kind: str, tmp_path: Path) -> None:
    """In every format, as if they stood in the file; what an OBJ names besides, such as materials, is not opened."""
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    corners = points[faces].astype("<f4")
    os.mkfifo(tmp_path / "pipe")  # whoever opens it waits
    data = {
        "msh": struct.pack("<4i", 4, 0, 0, 4) + points.astype("<f4").tobytes() + faces.astype("<i4").tobytes(),
        "binary.stl": bytes(80) + struct.pack("<I", 4) + b"".join(bytes(12) + c.tobytes() + bytes(2) for c in corners),
        "text.stl": b"solid x\n" + b"".join(
            b"facet normal 0 0 0\nouter loop\n" + b"".join(b"vertex %f %f %f\n" % tuple(p) for p in c)
            + b"endloop\nendfacet\n" for c in corners
        ) + b"endsolid x\n",
        "obj": b"mtllib pipe\nusemtl x\nvn 0 0 1\nv 0 0 0 # first\nv 1 0 0\nv 0 2 0\nf -3//1 -1//1 -2//1\nv 0 0 3\n"
        b"f 1 2 \\\n4\nf 1/1/1 4/1/1 3/1/1\nf 2 3 4\n",
    }[kind]  # fmt: skip
    (tmp_path / f"x.{kind}").write_bytes(data)
    (tmp_path / "r.xml").write_text(mesh(f'file="x.{kind}"'))
    inertia = pc.buildModelFromMJCF(tmp_path / "r.xml").tree.inertias[1]
    rows = 'vertex="{}" face="{}"'.format(*(" ".join(map(str, x.ravel())) for x in (points, faces)))
    same = pc.buildModelFromMJCF(mesh(rows)).tree.inertias[1]
    assert np.allclose(inertia.toDynamicParameters(), same.toDynamicParameters(), rtol=1e-12, atol=1e-12)


def test_large_meshes_are_not_opened(tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text(mesh('file="x.stl"'))
    with open(tmp_path / "x.stl", "wb") as file:
        file.truncate(2**31)
    refused(tmp_path / "r.xml", "2147 17")


def test_points_are_their_convex_hull(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    points = np.random.default_rng(1).uniform(-1, 1, (20, 3))
    lines = "".join(f"v {x:.6f} {y:.6f} {z:.6f}\n" for x, y, z in points)
    (tmp_path / "x.obj").write_text(f"# no faces\no cloud\n{lines}")
    (tmp_path / "r.xml").write_text(mesh('file="x.obj" scale="1 2 0.5"'))
    inertia = pc.buildModelFromMJCF(tmp_path / "r.xml").tree.inertias[1]
    there = mujoco.MjModel.from_xml_path(str(tmp_path / "r.xml"))
    assert inertia.mass == pytest.approx(there.body_mass[1], rel=1e-6)  # its vertices are float32
    assert np.allclose(inertia.lever, there.body_ipos[1], atol=1e-6)
    assert np.allclose(np.linalg.eigvalsh(inertia.inertia), np.sort(there.body_inertia[1]), rtol=1e-5)


def test_inertias_of_meshes_are_mujocos(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(0)
    vertices = " ".join(f"{x:.6f}" for x in rng.uniform(-1, 1, 12 * 3))
    faces = "0 1 2 0 2 3 0 3 1 1 3 2 4 5 6 5 7 6"  # neither closed nor turned alike
    for rule in ("legacy", "convex", "shell"):
        more = f'inertia="{rule}" scale="1 2 -0.5" refpos="0.1 0.2 0.3" refquat="1 2 3 4"'
        mesh = f'<mesh name="x" vertex="{vertices}" face="{faces}" {more}/>'
        text = world('<body name="b"><joint/><geom type="mesh" mesh="x" pos="1 0 0"/></body>', f"<asset>{mesh}</asset>")
        here, there = pc.buildModelFromMJCF(text), mujoco.MjModel.from_xml_string(text)
        inertia = here.tree.inertias[1]
        assert inertia.mass == pytest.approx(there.body_mass[1], rel=1e-6)  # its vertices are float32
        assert np.allclose(inertia.lever, there.body_ipos[1], atol=1e-6)
        assert np.allclose(np.sort(np.linalg.eigvalsh(inertia.inertia)), np.sort(there.body_inertia[1]), rtol=1e-5)
