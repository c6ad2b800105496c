"""Every bad SDF: which exception, and what its message names."""

from __future__ import annotations

import pytest
from samples.bad_sdf import CASES, ONE
from support.messages import raises
from support.sdf_text import axis, joint, link, model

import pin_clusters as pc
from pin_clusters.errors import ArgumentTypeError, LoadError


@pytest.mark.parametrize("name", CASES)
def test_refused(name):
    text, error, words = CASES[name]
    with raises(error, words):
        pc.buildModelFromSdf(text)


INCLUDES = {
    "outside": ("../secret.sdf", "<include>"),
    "absolute": ("/etc/hostname", "<include>"),
    "by file": ("file:///etc/hostname", "'file:///etc/hostname' <include>"),
    "network": ("https://localhost:1/x.sdf", "'https://localhost:1/x.sdf' <include>"),
    "missing": ("model://x", "'model://x' <include>"),
    "link": ("link.sdf", "<include>"),
    "by a model.config": ("model://nested", "<include>"),
    "itself": ("robot.sdf", "20"),
}


@pytest.mark.parametrize("name", INCLUDES)
def test_includes(name, tmp_path):
    """What is outside of the folder is not read, not through links either."""
    uri, words = INCLUDES[name]
    (tmp_path / "secret.sdf").write_text(model(link("b")))
    folder = tmp_path / "here"
    (folder / "nested").mkdir(parents=True)
    (folder / "nested" / "model.config").write_text("<model><sdf>../../secret.sdf</sdf></model>")
    (folder / "link.sdf").symlink_to(tmp_path / "secret.sdf")
    (folder / "robot.sdf").write_text(model(ONE, f"<include><uri>{uri}</uri></include>"))
    with raises(LoadError, words):
        pc.buildModelFromSdf(folder / "robot.sdf")


@pytest.mark.parametrize("twice", ["twice", "large"])
def test_includes_are_counted(twice, tmp_path):
    """Files that include the next one twice are 2^n models; files with a long comment are read once each."""
    (tmp_path / "robot.sdf").write_text(model(ONE, "<include><uri>m0.sdf</uri></include>" * 40))
    (tmp_path / "m18.sdf").write_text(model(link("l")))
    for i in range(18):
        inner = "".join(f"<include><uri>m{i + 1}.sdf</uri><name>{n}</name></include>" for n in "pq")
        inner = link("l") + f"<!--{'x' * 1_000_000}-->" if twice == "large" else inner
        (tmp_path / f"m{i}.sdf").write_text(model(inner))
    words = "34" if twice == "large" else "1000"
    with raises(LoadError, words):
        pc.buildModelFromSdf(tmp_path / "robot.sdf")


def test_what_is_left_out_is_said():
    text = model(
        link("a", inside=""),
        joint("j", "world", "a", inside=axis("0 0 3")),
        '<plugin name="x" filename="y"/>',
        "<zzz/>",
    )
    with pytest.warns(pc.PinClustersWarning) as told:
        pc.buildModelFromSdf(text)
    said = " ".join(str(w.message) for w in told)
    for words in (
        "<plugin>",
        "<zzz>",
        "no <inertial>, so their inertia is SDF's default, 1 kg",
        "do not have unit length and are normalised: 'j'",
    ):
        assert words in said


def test_arguments():
    with raises(ArgumentTypeError, "path SDF int"):
        pc.buildModelFromSdf(3)
    with raises(LoadError, "'nowhere.sdf'"):
        pc.buildModelFromSdf("nowhere.sdf")
    with raises(ArgumentTypeError, "root_joint"):
        pc.buildModelFromSdf(model(ONE), 3)


def test_a_large_file(tmp_path):
    """A row of links that is too long is refused, in time that grows with the file."""
    links = "".join(link(f"l{i}") for i in range(3000))
    joints = "".join(joint(f"j{i}", f"l{i - 1}" if i else "world", f"l{i}") for i in range(3000))
    with raises(LoadError, "1000"):
        pc.buildModelFromSdf(model(links, joints))
