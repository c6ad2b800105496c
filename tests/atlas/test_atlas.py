"""The atlas: errors of published armature by hand, why robots are left out, pages and numbers, the command."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from support.commands import refused, run
from support.messages import warns

import pin_clusters as pc
from pin_clusters.studies import atlas
from pin_clusters.studies.atlas import compared, entries
from pin_clusters.studies.study.accuracy import states

LEG = """<robot name="leg"><link name="thigh"/><link name="shin"><inertial><origin xyz="0 0 -0.15"/><mass value="2.5"/>
<inertia ixx="0.02" iyy="0.02" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="knee" type="revolute"><parent link="thigh"/><child link="shin"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="100" velocity="20"/></joint></robot>"""
SHEET = """motors_version: 1
robot: Leg, for tests
file: {repository: a/b, path: leg.urdf}
published:
  - {where: a/b leg.py, armature: {"kn*": 0.01}}
  - {where: a/b right.py, armature: {knee: 0.0251019, "*": 3.0}}
motors:
  - joint: knee
    stages: [{ratio: 4.5, inertia: 1.09e-5}, {ratio: 5.0, inertia: 7.38e-5}]
    rotor_inertia: 4.89e-5
    source: a/b leg.py
    sure: maker
"""


@pytest.fixture
def leg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "leg.yaml").write_text(SHEET, encoding="utf-8")
    (tmp_path / "leg.urdf").write_text(LEG, encoding="utf-8")
    monkeypatch.setattr(sys.modules[atlas.Sheet.__module__], "_files", lambda: {"leg": tmp_path / "leg.yaml"})
    return tmp_path


def test_errors_of_a_leg_by_hand(leg: Path) -> None:
    (entry,) = atlas.run(None, [leg], any_version=True, workers=1).entries
    assert (entry.state, entry.sure) == ("known", ("maker",))
    total, first = 4.89e-5 * 22.5**2 + 1.09e-5 * 25 + 7.38e-5, 4.89e-5 * 22.5**2
    (line,) = entry.joints
    assert line.joints == ("knee",)
    assert line.turns == ((22.5, 4.89e-5),)
    assert (line.first, line.total) == pytest.approx((first, total), rel=1e-9)
    assert line.published == (0.01, 0.0251019)
    model = pc.open_robot(leg / "leg.urdf", motors=leg / "leg.yaml")
    for name in ("sine", "chirp"):
        _, q, v, a = states(model, compared.MOTIONS[name], "fixed")
        data = model.createData()
        peak = max(abs(pc.rnea(model, data, *x)[0]) for x in zip(q, v, a, strict=True))
        scale = 100.0 * np.sqrt(np.mean(a**2)) / peak
        errors = [j.percent[name]["knee"] for j in entry.judged]
        # left out, right, block (a rotor on a fixed thigh: nothing is left), published, published
        assert errors == pytest.approx([total * scale, 0.0, 0.0, (total - 0.01) * scale, 0.0], abs=1e-4)
    assert entry.published[0].low == pytest.approx(0.01 / total, rel=1e-9)
    assert entry.span == "0.4 to 1"
    assert entry.verdict.startswith("Published armature (1 of 2 sets is correct) causes torque errors of up to ")


def test_why_robots_are_left_out(leg: Path) -> None:
    sheet = atlas.sheet("leg")
    found = atlas.find(sheet, [leg])
    assert found is not None
    other = compared.examine(sheet, found).entry
    assert other.state == "other version"
    assert found.digest[:12] in other.verdict
    assert "--any-version" in other.verdict
    assert compared.examine(sheet, None).entry.state == "not here"
    away = compared.examine(sheet._replace(file={"module": "leg_description"}), None).entry
    assert "robot_descriptions pull leg_description" in away.verdict
    assert compared.examine(sheet._replace(file={}), None).entry.state == "no file"
    assert compared.examine(sheet._replace(unknown=True, motors=()), found).entry.state == "unknown"
    found.path.write_text(LEG.replace("knee", "ankle"), encoding="utf-8")
    failed = compared.examine(sheet, found, any_version=True).entry
    assert failed.state == "failed"
    assert "no joint with one degree of freedom matches 'knee'" in failed.verdict


def test_errors_above_100_per_cent_keep_their_digits() -> None:
    shown = {104.473: "104", 99.7: "100", 94.6: "95", 3.14: "3.1", 0.0314: "0.031", 1234.5: "1234", 0.0: "0"}
    assert {x: entries.two(x) for x in shown} == shown
    published = entries.Judged(entries.PUBLISHED, "a/b", 0.15, 5.6, {"sine": {"head": 104.473}}, {}, {})
    sentence = entries.Entry("leg", "Leg", "known", judged=(published,)).said()
    assert "torque errors of up to 104 % of the peak torque, at head" in sentence


def test_what_is_written(leg: Path, tmp_path: Path) -> None:
    result = atlas.run(["leg"], [leg])  # of another version
    paths = result.write(tmp_path / "out")
    assert [p.name for p in paths] == ["index.html", "atlas.json", "atlas.csv", "leg.html"]
    numbers = json.loads(paths[1].read_text(encoding="utf-8"))
    assert numbers["robots"]["leg"]["state"] == "other version"
    rows = list(csv.reader(paths[2].read_text(encoding="utf-8").splitlines()))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert "other version" in paths[0].read_text(encoding="utf-8")
    assert str(tmp_path) not in "".join(p.read_text(encoding="utf-8") for p in paths)


def test_the_command_lists_and_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    listed = run("atlas", "--list", "--only", "mit_mini_cheetah", "--only", "upkie").stdout
    assert re.search(r"mit_mini_cheetah +MIT Mini Cheetah +yes +yes", listed)
    assert re.search(r"upkie +Upkie +no +no", listed)
    assert "the atlas has no robot 'mini_cheeta'" in refused("atlas", "--only", "mini_cheeta", "-o", "out")
    assert not Path("out").exists()


class Menagerie:
    """A stand-in for the package mujoco_menagerie; ``path`` downloads."""

    def __init__(self, folder: Path, works: bool = True) -> None:
        self.folder, self.works, self.calls = folder, works, 0
        self.root = None

    def names(self) -> list[str]:
        return ["leg_robot"]

    def get(self, name: str) -> Menagerie:
        assert name == "leg_robot"
        return self

    def Cache(self) -> Menagerie:
        return self

    def model_path(self, robot: Menagerie) -> Path:
        return self.folder / "leg_robot-0123"

    def path(self, cache: Menagerie) -> Path:
        self.calls += 1
        if not self.works:
            raise OSError("no network")
        self.model_path(self).mkdir(parents=True)
        (self.model_path(self) / "leg.urdf").write_text(LEG, encoding="utf-8")
        return self.model_path(self)


def test_the_package_mujoco_menagerie(leg: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = SHEET.replace("{repository: a/b, path: leg.urdf}", "{repository: R, path: leg_robot/leg.urdf, sha256: S}")
    digest = hashlib.sha256(LEG.encode()).hexdigest()
    text = text.replace("repository: R", "repository: google-deepmind/mujoco_menagerie").replace(
        ": S}", f": {digest}}}"
    )
    (leg / "leg.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setitem(sys.modules, "mujoco_menagerie", None)  # not installed
    assert atlas.run(workers=1, download=True).entries[0].state == "not here"
    package = Menagerie(leg / "cache", works=False)
    monkeypatch.setitem(sys.modules, "mujoco_menagerie", package)
    with warns(pc.PinClustersWarning, "leg network"):
        (entry,) = atlas.run(workers=1, download=True).entries
    assert "pin-clusters[menagerie]" in entry.verdict
    package.works = True
    assert atlas.run(workers=1).entries[0].state == "not here"  # nothing is downloaded unless that is asked for
    assert package.calls == 1
    assert [atlas.run(workers=1, download=True).entries[0].state for _ in range(2)] == ["known", "known"]
    assert package.calls == 2  # the second time, the file is in the cache


def test_sheets_name_robots_of_the_menagerie() -> None:
    package = pytest.importorskip("mujoco_menagerie")
    files = [atlas.sheet(name).file for name in atlas.sheets()]
    paths = [x["path"] for x in files if x.get("repository") == "google-deepmind/mujoco_menagerie"]
    assert {path.split("/")[0] for path in paths} <= set(package.names())
    assert {Path(path).name for path in paths} <= {e.file for r in package.robots() for e in r.entry_points}


@pytest.mark.ci
def test_shipped_robots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = ("mit_mini_cheetah", "mit_humanoid", "uiuc_tello", "agility_cassie", "upkie")
    done = run("atlas", "-o", "out", *(x for n in names for x in ("--only", n)))
    assert "4 of 5 robots in " in done.stdout
    found = json.loads(Path("out/atlas.json").read_text(encoding="utf-8"))["robots"]
    assert {n: r["state"] for n, r in found.items()} == dict.fromkeys(names[:4], "known") | {"upkie": "unknown"}
    sets = {n: {j["name"]: j for j in r["judged"]} for n, r in found.items()}
    worst = {n: max(x["right armature"]["percent"]["sine"].values()) for n, x in sets.items() if x}
    assert worst["mit_humanoid"] > 20.0 > worst["mit_mini_cheetah"] > worst["agility_cassie"]
    assert max(sets["mit_humanoid"]["block armature"]["percent"]["sine"].values()) < 10.0  # belts are in it
    inertia = [sets["mit_mini_cheetah"][x]["inertia"] for x in ("published", "right armature", "none")]
    (frame,) = inertia[0]
    assert inertia[0][frame] == pytest.approx(inertia[1][frame], rel=0.2)
    assert inertia[0][frame] < 0.5 * inertia[2][frame]
    landing = [sets["mit_mini_cheetah"][x]["touch"][frame] for x in ("published", "right armature", "none")]
    assert landing[0] == pytest.approx(landing[1], rel=0.2)
    assert landing[0] < 0.2 * landing[2]
    assert sets["mit_mini_cheetah"]["published"]["percent"].keys() == {"sine", "chirp", "gait"}
    assert found["mit_mini_cheetah"]["gait"] == "mini_cheetah_trot"
    index = Path("out/index.html").read_text(encoding="utf-8")
    assert index.count("<tr>") == 1 + len(names)
    assert index.count("data:image/png;base64,") in (0, 4)  # none without meshcat
    for name in names[:4]:
        page = Path(f"out/{name}.html").read_text(encoding="utf-8")
        assert f'href="{name}/audit.html"' in page
        assert Path(f"out/{name}/audit.html").is_file()


@pytest.mark.ci
def test_robots_whose_files_are_here() -> None:
    folders = os.environ.get("PIN_CLUSTERS_ATLAS_FILES", "").split(os.pathsep)
    folders = [x for x in folders if x]
    here = [n for n in atlas.sheets() if "shipped" not in atlas.sheet(n).file and atlas.find(atlas.sheet(n), folders)]
    if not here:
        pytest.skip("no file of a robot is here: set PIN_CLUSTERS_ATLAS_FILES, or pull robot_descriptions")
    entries = atlas.run(here, folders).entries
    assert not {e.name: e.verdict for e in entries if e.state == "failed"}
    for e in entries:
        if e.state == "known":
            assert e.error("none") > e.error("right armature") > 0.0, e.name
    g1 = next((e for e in entries if e.name == "unitree_g1" and e.judged), None)
    if g1 is not None:
        assert {f"{line.total:.3g}" for line in g1.joints} == {"0.00361", "0.0102", "0.0251", "0.00425", "0.00722"}
