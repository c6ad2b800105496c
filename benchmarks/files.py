"""Robots of public collections, read as they are: what is read, what is said, and what is refused.

Usage::

    python benchmarks/files.py "MuJoCo Menagerie=FOLDER" "example-parallel-robots=FOLDER" ...

Folders are searched for SDF, MJCF, YAML and URDF files; the robots of example-robot-data (``pip install '.[robots]'``)
are found without. MJCF files are compared with MuJoCo, which reads them by itself. Writes ``results/files.json``;
``report.py`` makes the tables of ``docs/files.md``. ``--only WORD`` takes the files with that word in their path, and
writes nothing.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

import pin_clusters as pc
from pin_clusters.files.readers.files import YAML, reader_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.mujoco_states import Twin

RESULTS = Path(__file__).resolve().parent / "results" / "files.json"
SHARE = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
FORMATS = {
    "buildModelFromUrdf": "URDF", "buildModelFromMJCF": "MJCF", "buildModelFromSdf": "SDF",
    "buildModelFromYAML": "YAML",
}  # fmt: skip
# MJCF files that are no robots: a floor or a task around one that is read by itself, objects, parts of others
SCENES = re.compile(r"scene|arena|texture|object|assets?\.xml|shared|common|include|keyframe|sensor|default")
LARGEST = 2_000_000  # bytes
SMALL = 0.02  # of a random velocity, by which the pose is left


def files_of(folder: Path) -> Iterator[Path]:
    """Return the robots of a folder."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.stat().st_size > LARGEST or SCENES.search(path.name.lower()):
            continue
        if path.suffix == ".urdf" and any(path.with_name(f"robot{suffix}").is_file() for suffix in YAML):
            continue  # a part of the YAML
        if path.suffix in (".sdf", ".urdf") or (path.suffix in YAML and path.stem == "robot"):
            yield path
        elif path.suffix == ".xml":
            try:
                root = ElementTree.parse(path).getroot()
            except ElementTree.ParseError:
                continue
            if root.tag == "mujoco" and root.find(".//joint") is not None and root.find("worldbody") is not None:
                yield path


def tried(path: Path) -> dict[str, Any]:
    """Open a file, and test the laws: ``aba`` gives back what ``rnea`` was given."""
    found: dict[str, Any] = {"format": FORMATS[reader_of(path).__name__]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = pc.open_robot(path)
        except pc.PinClustersError as error:
            return found | {"refused": without_paths(f"{type(error).__name__}: {error}", path)}
    found["said"] = [without_paths(str(w.message), path) for w in caught]
    constraints = Counter(type(c).__name__ for c in model.constraints)
    found |= {"nv": model.nv, "nv_tree": int(model.tree.nv), "constraints": dict(sorted(constraints.items()))}
    found["rotors"] = len(model.rotors)
    if model.nv:
        found["error"] = round_trip(model)
        if found["format"] == "MJCF":
            found["mujoco"] = against_mujoco(model, path)
    return found


def near(model: pc.ClusterModel, rng: np.random.Generator) -> np.ndarray:
    """Return a pose beside the reference, if the loops can follow there."""
    for size in (SMALL, SMALL / 10.0):
        try:
            return pc.integrate(model, pc.neutral(model), size * rng.uniform(-1.0, 1.0, model.nv))
        except pc.BranchLost:
            continue
    return pc.neutral(model)


def round_trip(model: pc.ClusterModel) -> float | str:
    """Return the largest entry of ``aba(rnea(a)) - a`` near the reference pose, over the largest of a and 1."""
    rng, data = np.random.default_rng(0), model.createData()
    q = near(model, rng)
    v, a = rng.normal(size=(2, model.nv))
    try:
        back = pc.aba(model, data, q, v, pc.rnea(model, data, q, v, a))
    except pc.PinClustersError as error:
        return f"{type(error).__name__}: {error}"
    return float(np.abs(back - a).max() / max(1.0, np.abs(a).max()))


def against_mujoco(model: pc.ClusterModel, path: Path) -> float | str:
    """Return how far mass matrix, inverse dynamics and passive torques are from MuJoCo's, over the largest entry.

    MuJoCo's are projected to the independent joints; its armature of tendons has no entry between branches.
    """
    import mujoco

    try:
        twin = Twin(model, mujoco.MjModel.from_xml_path(str(path)))
    except ValueError as error:
        return without_paths(f"{type(error).__name__}: {error}", path)
    rng = np.random.default_rng(0)
    q = near(model, rng)
    v, a = rng.normal(size=(2, model.nv))
    pairs = (
        (pc.crba(model, twin.data, q), twin.mass_matrix(q)),
        (pc.rnea(model, twin.data, q, v, a), twin.inverse(q, v, a, passive=False)),
        (pc.passive_torque(model, twin.data, q, v, friction_speed=np.inf), twin.passive(q, v)),
    )
    return max(float(np.abs(mine - its).max() / max(1e-9, np.abs(its).max())) for mine, its in pairs)


def without_paths(text: str, path: Path) -> str:
    """Return a message in one line, with the names of files and without their folders."""
    line = " ".join(text.split())
    return re.sub(r"(?:/[^\s'\"/]+)+/([^\s'\"/]+)", r"\1", line.replace(str(path.parent) + "/", ""))


def main() -> None:
    """Try all files of all collections."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="*", metavar="NAME=FOLDER")
    parser.add_argument("--only", default="", help="take files with this in their path, print, and write nothing")
    options = parser.parse_args()
    collections = {"example-robot-data": SHARE} if SHARE.is_dir() else {}
    for given in options.collections:
        name, _, folder = given.rpartition("=")
        if not name or not Path(folder).is_dir():
            sys.exit(f"{given!r} is not NAME=FOLDER with a folder that exists.")
        collections[name] = Path(folder)
    results: dict[str, Any] = {}
    for name, folder in collections.items():
        results[name] = {}
        for path in files_of(folder):
            place = str(path.relative_to(folder))
            if options.only not in f"{name}/{place}":
                continue
            results[name][place] = found = tried(path)
            print(
                f"{name}/{place}:", found.get("refused") or f"{found['nv']} ({found['nv_tree']}), {found.get('error')}"
            )
            sys.stdout.flush()
    if options.only:
        print(json.dumps(results, indent=1))
        return
    meta = {"pinocchio": pin.__version__, "date": datetime.date.today().isoformat()}
    RESULTS.write_text(json.dumps({"meta": meta, "collections": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
