"""The sheets of the atlas, without network: what fits the keys, plausible numbers, sums, sources, shipped files."""

from __future__ import annotations

import hashlib
import math
import re
from pathlib import Path
from typing import Any

import pytest
from support.messages import raises

import pin_clusters as pc
from pin_clusters.files.readers.motors import read_motors
from pin_clusters.studies import atlas
from pin_clusters.studies.atlas import places

NAMES = atlas.sheets()
SUMS = {  # sets that are what gears and rotors make, by a word of where they are
    "agibot_a3": "a3.py", "agility_cassie": "cassie.xml", "agility_digit_v3": "digit-v3.xml", "bolt": "config.py",
    "booster_t1": "booster_train", "mit_mini_cheetah": "pkGym", "solo12": "config.py", "unitree_g1": "mjlab",
    "berkeley_humanoid": "isaac_berkeley_humanoid",
}  # fmt: skip
GUESSED = ("Head_pitch", "AAHead_yaw")  # of T1: 0.001 is no product


def totals(motor: dict[str, Any]) -> float:
    """Return the inertia of a joint by hand: of the rotor and of what turns behind each stage."""
    stages = motor.get("stages", [motor])
    ratios = [s["ratio"] for s in stages]
    later = sum(s.get("inertia", 0.0) * math.prod(ratios[k:]) ** 2 for k, s in enumerate(stages, 1))
    return float(motor["rotor_inertia"] * math.prod(ratios) ** 2 + later)


@pytest.mark.parametrize("name", NAMES)
def test_a_sheet_is_plausible_and_says_where_its_numbers_come_from(name: str) -> None:
    sheet = atlas.sheet(name)
    assert sheet.unknown is not bool(sheet.motors)
    assert sheet.notes or not sheet.unknown
    file = sheet.file
    if file and not sheet.unknown:
        assert all(re.fullmatch("[0-9a-f]{64}", x) for x in file["sha256"].split(" "))
        assert "shipped" in file or ({"repository", "path", "version"} <= file.keys())
    assert "shipped" in file or not file or re.fullmatch(r"[\w.-]+/[\w.-]+", file["repository"])
    for motor in sheet.motors:
        assert re.search(r"[\w-]+/[\w.-]+ [0-9a-f]{7}\b", motor["source"]), motor
        assert len(motor["source"]) > 20
        assert motor["sure"]
        assert 1.0 <= math.prod(s["ratio"] for s in motor.get("stages", [motor])) <= 400.0
        assert 1e-7 <= motor["rotor_inertia"] <= 2e-3
        assert motor["rotor_inertia"] <= totals(motor) <= 6.0
        assert all(0.1 <= abs(x) <= 5.0 for x in motor.get("joints", {}).values())
    for published in sheet.published:
        assert re.search(r"[\w-]+/[\w.-]+", published["where"]), published["where"]
        assert all(0.0 <= x <= 0.5 for x in published["armature"].values())
    text = sheet.path.read_text(encoding="utf-8")
    assert not re.search(r"index id|(?<![\w.])\d{9,}\b|/root|/home|/work|/tmp|TODO", text)


@pytest.mark.parametrize("name", SUMS)
def test_sums_over_stages_are_what_was_published(name: str) -> None:
    sheet = atlas.sheet(name)
    (armature,) = (p["armature"] for p in sheet.published if SUMS[name] in p["where"])
    compared = 0
    for motor in sheet.motors:
        value = armature.get(motor.get("joint"))
        if value is not None and motor["joint"] not in GUESSED:
            assert value == pytest.approx(totals(motor), rel=2e-3), motor["joint"]
            compared += 1
    assert compared >= 2


def test_g1_to_three_digits() -> None:
    found = {m["joint"]: m for m in atlas.sheet("unitree_g1").motors if "joint" in m}
    wanted = {"*_elbow": "0.00361", "*_hip_yaw": "0.0102", "*_knee": "0.0251", "*_wrist_yaw": "0.00425"}
    for joint, text in wanted.items():
        assert f"{totals(found[joint]):.3g}" == text
    first = found["*_hip_yaw"]["rotor_inertia"] * (4.5 * 70 / 22) ** 2
    assert f"{100 * first / totals(found['*_hip_yaw']):.1f}" == "98.5"
    newer = {m["joint"]: m for m in atlas.sheet("unitree_g1_mode_15").motors if "joint" in m}
    assert totals(newer["*_wrist_yaw"]) == pytest.approx(0.0021812)  # N5010_16, as its maker sums it


@pytest.mark.parametrize("name", [n for n in NAMES if "shipped" in atlas.sheet(n).file])
def test_shipped_files_are_those_that_the_sheets_know(name: str) -> None:
    found = atlas.find(atlas.sheet(name))
    assert found is not None
    assert found.known
    assert found.digest == hashlib.sha256(found.path.read_bytes()).hexdigest()


@pytest.mark.filterwarnings("ignore::pin_clusters.errors.PinClustersWarning")
def test_a_sheet_is_a_file_of_motors(tmp_path: Path) -> None:
    sheet = atlas.sheet("agility_cassie")
    model = pc.loaders.motors.with_motors(pc.load("cassie"), sheet.path)
    assert len(model.motors) == 10
    assert pc.loaders.motors.with_motors(pc.load("mini_cheetah"), atlas.sheet("mit_mini_cheetah").path).nv == 18
    with raises(pc.LoadError, "'cassie'"):
        pc.loaders.motors.with_motors(pc.load("cassie"), atlas.sheet("upkie").path)
    wrong = tmp_path / "wrong.yaml"
    text = atlas.sheet("mit_mini_cheetah").path.read_text(encoding="utf-8")
    wrong.write_text(text.replace("ratio: 9.33", "ratio: 9.5"), encoding="utf-8")
    with raises(pc.LoadError, "in_file 'rotor:FL_knee' 6.3e-05"):
        pc.loaders.motors.with_motors(pc.load("mini_cheetah"), wrong)


BAD = {
    "no place": ("  - where: somewhere\n", "  - wher: somewhere\n", 8, "'wher' 'where'"),
    "where is missing": ("  - where: somewhere\n    armature", "  - armature", 8, "where"),
    "armature in words": ("knee: 0.01", "knee: much", 10, "knee 'much'"),
    "negative armature": ("knee: 0.01", "knee: -0.01", 10, "knee"),
    "unknown origin": ("path: a.urdf", "paht: a.urdf", 5, "'paht' 'path'"),
    "base": ("base: floating", "base: swimming", 6, "base 'swimming'"),
    "who is sure": ("sure: maker", "sure: quite", 15, "'knee'"),
    "known and unknown": ("unknown: false", "unknown: true", 11, "motors"),
    "unknown in words": ("unknown: false", "unknown: perhaps", 21, "unknown"),
    "joint and joints": ("joint: knee\n", "joint: knee\n    joints: {knee: 1}\n", 12, "12"),
    "limits of several": ("name: both", "limits: {at: joint, effort: 3}", 17, "17"),
    "joints without turns": ("{hip: 1, knee: -1}", "{hip: 0, knee: -1}", 16, "hip 0"),
    "notes that are no list": ("notes: [one]", "notes: one", 20, "notes"),
}  # fmt: skip
SHEET = """motors_version: 1
robot: leg
file:
  repository: a/b
  path: a.urdf
  base: floating
published:
  - where: somewhere
    armature:
      knee: 0.01
motors:
  - joint: knee
    ratio: 9
    rotor_inertia: 1e-5
    sure: maker
  - joints: {hip: 1, knee: -1}
    name: both
    ratio: 9
    rotor_inertia: 1e-5
notes: [one]
unknown: false
"""


@pytest.mark.parametrize("case", BAD)
def test_bad_sheets_are_refused_with_their_line(case: str, tmp_path: Path) -> None:
    file = tmp_path / "leg.yaml"
    file.write_text(SHEET, encoding="utf-8")
    assert read_motors(file)["motors"][1]["joints"] == {"hip": 1.0, "knee": -1.0}
    old, new, line, words = BAD[case]
    assert old in SHEET
    file.write_text(SHEET.replace(old, new, 1), encoding="utf-8")
    with raises(pc.LoadError, words) as error:
        read_motors(file)
    assert re.search(rf"leg\.yaml'.*\bline {line}\b", str(error.value)), error.value


def test_unknown_robots_name_the_nearest() -> None:
    with raises(pc.UnknownNameError, "atlas 'unitree_g2' 'unitree_go2'"):
        atlas.sheet("unitree_g2")


@pytest.mark.parametrize("place", ["a/b/x/a.urdf", "b/x/a.urdf", "x/a.urdf", "leg/a.urdf", "cache/b/x/a.urdf"])
def test_files_are_found_where_users_have_them(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path / "cache"))
    file, digest = {"repository": "a/b", "path": "x/a.urdf"}, hashlib.sha256(b"<robot/>").hexdigest()
    sheet = atlas.Sheet("leg", tmp_path, "leg", file, (), (), (), False)
    assert atlas.find(sheet, [tmp_path]) is None
    (tmp_path / place).parent.mkdir(parents=True)
    (tmp_path / place).write_bytes(b"<robot/>")
    assert atlas.find(sheet, [tmp_path]) == places.Found(tmp_path / place, digest, False)
    file["sha256"] = f"0000 {digest}"
    assert atlas.find(sheet, [tmp_path]) == places.Found(tmp_path / place, digest, True)
    assert place.startswith("cache/") or atlas.find(sheet) is None


def test_a_known_version_goes_before_another_one(tmp_path: Path) -> None:
    for place, text in (("a/b", "old"), ("b", "new")):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / place / "a.urdf").write_text(text, encoding="utf-8")
    file = {"repository": "a/b", "path": "a.urdf", "sha256": hashlib.sha256(b"new").hexdigest()}
    found = atlas.find(atlas.Sheet("leg", tmp_path, "leg", file, (), (), (), False), [tmp_path])
    assert found is not None
    assert found.known
    assert found.path == tmp_path / "b" / "a.urdf"


@pytest.mark.parametrize(("name", "published"), [("so101", (0.028,)), ("open_duck_mini_v2", (0.027, 0.028, 0.012))])
def test_both_published_values_of_a_servo_are_named(name: str, published: tuple[float, ...]) -> None:
    """Two versions of the source file differ; the note's numbers follow from both values and the gear."""
    sheet, (used, other) = atlas.sheet(name), (0.0284034, 0.0260829)
    (motor,), (note,) = sheet.motors, [x for x in sheet.notes if "Two identified values" in x]
    assert motor["rotor_inertia"] == pytest.approx(used / motor["ratio"] ** 2, rel=1e-5)
    assert {str(used), str(other), f"{other / motor['ratio'] ** 2:.4e}", f"{100.0 * (1.0 - other / used):.1f} %"} <= {
        x.strip("(),. ") for x in re.findall(r"[\d.e-]+(?: %)?", note)
    }
    assert all(f"{x / other:.2f}" in note for x in published)
    assert sorted({x for s in sheet.published for x in s["armature"].values()}) == sorted(set(published))
