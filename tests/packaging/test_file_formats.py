"""The reference of file formats is complete: every key, element, variable and limit of the code is on the page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pin_clusters as pc
from pin_clusters.files import motor_keys
from pin_clusters.files.readers import _arguments, _mesh_files, _notes, _parts, _trees, _urdf_couplings, _xml, _yaml
from pin_clusters.files.readers.motors import read_motors
from pin_clusters.files.readers.sdf import _document as sdf_document

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "file-formats.md").read_text(encoding="utf-8")


def block(language: str, start: str) -> str:
    """Return the text of the code block that starts with ``start``."""
    found = [x for x in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) if x.startswith(start)]
    assert len(found) == 1
    return str(found[0])


def keys_of(table: dict[str, motor_keys.Key]) -> set[str]:
    """Return the keys of a table and of the tables in it."""
    found = set(table) - {"*"}
    for key in table.values():
        kind: Any = key.kind[0] if isinstance(key.kind, list) else key.kind
        found |= keys_of(kind) if isinstance(kind, dict) else set()
    return found


def test_motor_file_has_every_key_and_is_read(tmp_path: Path) -> None:
    text = block("yaml", "motors_version")
    file = tmp_path / "robot.motors.yaml"
    file.write_text(text, encoding="utf-8")
    assert len(read_motors(file)["motors"]) == 3
    assert not {key for key in keys_of(motor_keys.FILE) if not re.search(rf"\b{key}:", text)}


def test_urdf_elements_and_attributes_are_those_of_the_reader() -> None:
    root = ET.fromstring(f"<robot>{block('xml', '<!-- Gear')}</robot>")
    shown = {child.tag for child in root}
    assert shown == {*_xml.OWN, "coupling", "loop", "reference_pose", "shape"}
    for child in root.iter():
        if child.tag in _parts._KNOWN and child.tag != "joint":
            assert set(child.attrib) <= _parts._KNOWN[child.tag], child.tag
    for tag in (*_xml.OWN, "coupling", "loop"):
        found = root.findall(tag)
        unneeded = {"type"} if tag == "coupling" else set[str]()  # rolling, which is the only one
        missing = _parts._KNOWN[tag] - unneeded - {name for e in found for name in e.attrib}
        assert not missing, (tag, missing)
        inside = _parts._INSIDE.get(tag, set()) - {"inertial"} if tag in _xml.OWN else _notes.SILENT[tag]
        assert inside <= {inner.tag for e in found for inner in e}, tag
    for kind in (*_urdf_couplings.KINDS, *_parts.MECHANISMS):
        assert re.search(rf"\b{kind}\b", PAGE), kind


def test_joint_types_of_extended_urdf_are_on_the_page() -> None:
    line = next(x for x in block("yaml", "closed_loop").splitlines() if x.startswith("joint_type"))
    assert all(kind.removeprefix("UJOINT") in line for kind in _trees.TYPES)


def test_environment_variables_are_on_the_page() -> None:
    files = [*(ROOT / "pin_clusters").rglob("*.py"), ROOT / "hatch_build.py"]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    names = set(re.findall(r"\bPIN_CLUSTERS_[A-Z]+\b", text))
    names |= set(re.findall(r"environ\.get\(\"(\w+)\"", text)) - {"MPLCONFIGDIR"}
    assert names <= set(re.findall(r"`([A-Z_]+)`", PAGE))


def test_limits_are_those_of_the_readers() -> None:
    assert (_arguments.MAX_BYTES, _mesh_files.MAX_BYTES, _yaml.MAX_BYTES) == (2**25, 2**24, 2**17)
    assert all(f"2^{n} bytes" in PAGE for n in (25, 24, 17))
    assert (_yaml.MAX_DEPTH, _yaml.MAX_LETTERS, _xml.MAX_DEPTH, _xml.MAX_LINKS_IN_A_ROW) == (20, 1000, 100, 1000)
    assert (sdf_document.MAX_INCLUDES, sdf_document.MAX_DEPTH) == (1000, 20)


def test_every_shipped_robot_is_on_its_page() -> None:
    page = (ROOT / "docs" / "robots.md").read_text(encoding="utf-8")
    assert set(pc.robots()) == set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
