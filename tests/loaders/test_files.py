"""One door: which format a file has, whatever its name; and how loading grows with the file."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import pytest
from support.messages import raises
from support.sdf_text import joint as sdf_joint
from support.sdf_text import link as sdf_link
from support.sdf_text import model as sdf_model
from support.urdf_text import joint, link, robot

import pin_clusters as pc
from pin_clusters.errors import LoadError
from pin_clusters.files.readers.files import reader_of

pytestmark = pytest.mark.jitless

URDF = robot(link("ground", ""), link("a"), joint("ja", "ground", "a"))
MJCF = '<mujoco><worldbody><body name="a"><joint name="ja"/><geom size="0.1"/></body></worldbody></mujoco>'
SDF = sdf_model(sdf_link("a"), sdf_joint("ja", "world", "a"))
TEXTS = {"robot.urdf": URDF, "urdf.xml": URDF, "mjcf.xml": "\ufeff<!-- x -->\n" + MJCF, "robot.sdf": SDF, "plain": SDF}


@pytest.mark.parametrize("name", TEXTS)
def test_formats(name, tmp_path):
    file = tmp_path / name
    file.write_text(TEXTS[name], encoding="utf-8")
    model = pc.open_robot(file)
    assert model.independent_joints == ("ja",)
    assert pc.open_robot(str(file), constraints=[pc.Rotor("ja", 9.0, axial_inertia=1e-4)]).rotors


def test_yaml(tmp_path):
    (tmp_path / "robot.urdf").write_text(URDF)
    (tmp_path / "robot.yaml").write_text("name_mot: [ja]")
    assert pc.open_robot(tmp_path / "robot.yaml").nv == 1
    assert pc.open_robot(tmp_path).nv == 1


REFUSED = {
    "nowhere.urdf": (None, ""),
    "empty.xml": (" \n", ""),
    "notes.txt": ("hello", ""),
    "page.html": ("<html></html>", "<html>"),
    "part.xml": ("<mujocoinclude/>", "<mujocoinclude>"),
    "robot.xacro": (URDF, "robot.xacro robot.urdf"),
    "broken.sdf": (SDF[:-9], ""),
    "broken.urdf": (URDF[:-9], ""),
    "entity.xml": ('<!DOCTYPE robot [<!ENTITY x "y">]>' + URDF, ""),
    "robot.usda": ("#usda 1.0", ""),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, tmp_path):
    text, words = REFUSED[name]
    if text is not None:
        (tmp_path / name).write_text(text)
    with raises(LoadError, words):
        pc.open_robot(tmp_path / name)


@pytest.mark.parametrize("read", [pc.open_robot, pc.buildModelFromUrdf, pc.buildModelFromMJCF, pc.buildModelFromSdf])
def test_devices_and_pipes_are_no_files(read, tmp_path):
    """They have no size, and may have no end."""
    os.mkfifo(tmp_path / "pipe.urdf")
    for path in (tmp_path / "pipe.urdf", "/dev/zero"):
        with raises(LoadError):
            read(path)


def test_paths_that_are_none():
    with raises(LoadError):
        pc.open_robot("a" * 5000 + ".urdf")
    with raises(LoadError, "XML pc.buildModelFromMJCF"):
        pc.open_robot(MJCF)


def test_every_reader_is_reached(tmp_path):
    for name, function in {"robot.urdf": pc.buildModelFromUrdf, "mjcf.xml": pc.buildModelFromMJCF,
                           "robot.sdf": pc.buildModelFromSdf}.items():  # fmt: skip
        (tmp_path / name).write_text(TEXTS[name], encoding="utf-8")
        assert reader_of(tmp_path / name) is function


@pytest.mark.parametrize("text", [URDF, MJCF, SDF])
def test_long_texts_are_not_read(text, tmp_path):
    """Neither as a file nor as text."""
    file, long = tmp_path / "robot.xml", text + " " * 2**25
    file.write_text(text)
    read = reader_of(file)
    file.write_text(long)
    from_text = pc.buildModelFromXML if read is pc.buildModelFromUrdf else read
    for function, given in ((from_text, long), (read, file), (pc.open_robot, file)):
        with raises(LoadError, "34"):
            function(given)


@pytest.mark.parametrize("text", [URDF, MJCF, SDF])
def test_messages_have_an_end(text, tmp_path):
    """Whatever is long in a file: names, numbers, kinds, elements; and nothing takes the square of it."""
    long = "x" * 1_000_000
    for old, new in (
        ("ja", long), ('"a"', f'"{long}"'), ("revolute", long), ("origin", long), ("<mass", f"<{long}"),
        ('size="0.1"', f'size="{long}"'), ("<pose>", f"<pose>{long} "), ("version=", f'a="{long}" version='),
        ("<parent>world", f"<parent>{long}"), ('link="a"', f'link="{long}"'),
    ):  # fmt: skip
        (tmp_path / "robot.xml").write_text(text.replace(old, new))
        said = []
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                pc.open_robot(tmp_path / "robot.xml")
            except pc.PinClustersError as error:
                said.append(str(error))
        said += [str(w.message) for w in told]
        assert all(len(message) <= 4000 for message in said)


def steps(n: int, mimics: bool) -> int:
    """Return how many instructions of Python the loading of n siblings takes: a count, not a time."""
    parts = [link("ground", "")]
    for i in range(n):
        parts += [link(f"l{i}"), joint(f"j{i}", "ground", f"l{i}")]
        if mimics:
            parts += [link(f"m{i}"), joint(f"r{i}", "ground", f"m{i}", inside=f'<mimic joint="j{i}" multiplier="6"/>')]
    text, count = robot(*parts), 0

    def counted(frame, event, argument):
        nonlocal count
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        count += 1
        return counted

    before = sys.gettrace()
    sys.settrace(counted)
    try:
        pc.buildModelFromXML(text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("mimics", [False, True])
def test_loading_is_linear(mimics):
    """The second twenty links take as long as the first."""
    few, more, most = (steps(n, mimics) for n in (5, 25, 45))
    assert most - more < 1.03 * (more - few)


def test_too_many_links_in_a_row():
    """Pinocchio's parser would end the process."""
    code = (
        "import pin_clusters as pc\n"
        "links = ''.join(f'<link name=\"l{i}\"/>' for i in range(5001))\n"
        'joints = \'\'.join(f\'<joint name="j{i}" type="fixed"><parent link="l{i}"/><child link="l{i + 1}"/></joint>\''
        " for i in range(5000))\n"
        "try: pc.buildModelFromXML(f'<robot name=\"r\">{links}{joints}</robot>')\n"
        "except pc.LoadError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-Pc", code], capture_output=True, text=True, check=False, timeout=120)
    assert "has more than 1000 links" in done.stdout, done.stderr
