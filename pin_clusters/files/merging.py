"""``pc.into_mjcf``: merge a model into an existing MJCF file and keep its geoms, sites, sensors and contacts."""

import os
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Literal

import numpy as np
import pinocchio as pin

from .._support.trees import joint_axis
from ..errors import ModelError, PinClustersWarning
from ..model import ClusterModel, check_model
from .readers.mjcf import buildModelFromMJCF
from .readers.mjcf._document import read_document
from .writers._text import text, write
from .writers.mjcf import to_mjcf

_SET = ("armature", "damping", "frictionloss", "stiffness", "springref")
_SAME = 1e-4
"""Relative and absolute tolerance for masses [kg] and for the Plücker coordinates of joint axes, [1] and [m]."""


def into_mjcf(
    model: ClusterModel,
    mjcf: str | os.PathLike[str],
    approximation: Literal["best", "diagonal", "exact"] = "best",
    *,
    file: str | os.PathLike[str] | None = None,
) -> str:
    """Merge a model into an MJCF file that has the same bodies and joints, and keep everything else in the file.

    The function writes the model's armature, damping, dry friction and springs to the joints of the file. It also adds
    missing tendons and equalities, and replaces tendons and equalities that have the same name. If a tendon's armature
    is written to joints or to a new tendon instead, the old tendon's armature is set to 0. If a rotor has no motor in
    the file, a motor is added. Geoms, sites, sensors, contacts, assets, defaults and comments do not change. If the
    file already contains everything, its text is returned unchanged.

    Args:
        model: The robot. For ``"best"`` and ``"diagonal"``, the file must not contain the rotors as bodies.
        mjcf: Path of the MJCF file. The contents of included files are written into the result.
        approximation: Approximation of the rotors; see the table in ``to_mjcf``.
        file: Path of the output; choose the folder of ``mjcf`` if mesh paths are relative. If None, no file is written.

    Returns:
        The MJCF text, in SI units.

    Raises:
        ArgumentTypeError: An argument has the wrong type or value.
        LoadError: The file cannot be read.
        ModelError: The model and the file differ in joint names, parents, axes or masses, or the file lacks a body or
            site that is needed, for example for ``"exact"``.
        PinClustersError: ``to_mjcf`` cannot write the model.

    Example:
        >>> import pin_clusters as pc, pathlib, tempfile
        >>> model = pc.load("mit_humanoid_leg")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     text = pc.to_mjcf(model, file=pathlib.Path(folder, "leg.xml"))
        ...     pc.into_mjcf(model, pathlib.Path(folder, "leg.xml")) == text
        True
    """
    check_model(model, "into_mjcf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PinClustersWarning)
        file_model = buildModelFromMJCF(mjcf)
    root = read_document(mjcf, None).root
    document = Path(mjcf).read_text(encoding="utf-8-sig")
    if "<include" not in document:  # Without includes, the original document is edited, so its comments are kept.
        root = ET.fromstring(document, ET.XMLParser(target=ET.TreeBuilder(insert_comments=True, insert_pis=True)))
    # The file may have tendon armature, which `diagonal` never writes, so the file's own model is written with `best`.
    shared = ET.fromstring(to_mjcf(model, "best"))
    new = shared if approximation == "best" else ET.fromstring(to_mjcf(model, approximation))
    old = ET.fromstring(to_mjcf(file_model, "best" if approximation == "diagonal" else approximation))
    a, b = _joints(new, model), _joints(old, file_model)
    joint_names = {*model.own_tree.names, *(e.get("name") for e in root.iter() if e.tag in ("joint", "freejoint"))}
    if bodies := [repr(name) for name in a if name not in joint_names]:
        raise ModelError(
            f"into_mjcf: approximation {approximation!r} of {model.name!r} needs bodies that are not in {mjcf}, for "
            f"the joints {', '.join(bodies)}, but into_mjcf adds no bodies. Use 'best' or 'diagonal', which need no "
            "bodies for rotors, or write a complete file with pc.to_mjcf."
        )
    wrong = [f"joint {name!r} is in only one of them" for name in (*a, *b) if (name in a) is not (name in b)]
    for name in a if not wrong else ():
        if a[name][0] != b[name][0] or not np.allclose(a[name][1], b[name][1], rtol=_SAME, atol=_SAME):
            wrong.append(f"joint {name!r} differs in type, parent, axis (at the zero pose) or mass of its body")
    if wrong:
        raise ModelError(
            f"into_mjcf: {model.name!r} and {mjcf} do not match: {'; '.join(wrong[:5])}{' ...' * bool(wrong[5:])}. "
            "into_mjcf does not change bodies. Correct the model or the file, or write a new file with pc.to_mjcf."
        )
    before = ET.tostring(root)
    _merge(root, new, old, shared, bool(model.rotors))
    if ET.tostring(root) != before:
        document = document[: document.index("<mujoco")] + ET.tostring(root, encoding="unicode") + "\n"
    return write(document, file)


def keep(model: ClusterModel, mjcf: str, file: Path) -> str:
    """Merge a model into its own MJCF file; return ``""``, or the reason why merging is impossible."""
    named = any(key.startswith("file") for e in ET.parse(mjcf).iter() for key in e.attrib)
    if named and file.resolve().parent != Path(mjcf).resolve().parent:
        return f"{mjcf} refers to files relative to its own folder"
    try:
        into_mjcf(model, mjcf, file=file)
    except (ModelError, UnicodeDecodeError) as error:
        return str(error).rstrip(".")
    return ""


def write_anew(fresh: str, mjcf: str, file: Path) -> str:
    """Write the text ``fresh``; return text that counts elements that only ``mjcf`` has, such as ``" (3 sensors)"``."""
    root, written = read_document(mjcf, None).root, ET.fromstring(fresh)
    sites = {e.get("name") for e in written.iterfind("worldbody//site")}
    paths = {"sensor": "sensor/*", "contact pair": "contact/pair", "contact exclude": "contact/exclude"}
    lost = {kind: len(root.findall(path)) for kind, path in paths.items()}
    lost["site"] = sum(e.get("name") not in sites for e in root.iterfind("worldbody//site"))
    ties = [e.get("name", "") for part in ("tendon/*", "equality/*") for e in written.iterfind(part)]
    tied = {e.get(key) for e in root.iterfind("equality/tendon") for key in ("tendon1", "tendon2")}
    tendons = {e.get("name") or f"tendon{k}" for k, e in enumerate(root.iterfind("tendon/*"))} - tied
    lost["tendon"] = sum(not any(t == tie or f"'{t}'" in tie for tie in ties) for t in tendons)
    losses = ", ".join(f"{n} {kind}{'s' * (n > 1)}" for kind, n in lost.items() if n)
    write(fresh, file)  # The output is written last, because it may replace the input.
    return f" ({losses})" if losses else ""


def _joints(root: ET.Element, model: ClusterModel) -> dict[str, tuple[str, np.ndarray]]:
    """For each joint in an output of ``to_mjcf``, return type and parent, and mass and Plücker axis coordinates."""
    tree, data = model.own_tree, model.own_tree.createData()
    pin.forwardKinematics(tree, data, pin.neutral(tree))
    joints = {}
    for body, inner in ((b, e) for b in root.iter("body") for e in b):
        if inner.tag in ("joint", "freejoint"):
            j = tree.getJointId(inner.get("name", "")) % tree.njoints  # tree id; 0 if only the file contains the joint
            axis, mass = joint_axis(tree.joints[j]) if j else None, float(body.findall("inertial")[0].get("mass", "0"))
            along = np.zeros(3) if axis is None else data.oMi[j].rotation @ axis
            kind = f"{inner.get('type')} below {tree.names[tree.parents[j]]}"
            joints[inner.get("name", "")] = kind, np.hstack([mass, along, np.cross(data.oMi[j].translation, along)])
    return joints


def _merge(root: ET.Element, new: ET.Element, old: ET.Element, shared: ET.Element, motors: bool) -> None:
    """Add everything that is in ``new`` but not in ``old`` to ``root``, the contents of the file.

    ``new`` is the output of ``to_mjcf`` for the model, and ``old`` is its output for the robot in the file. ``shared``
    is the output for the model with ``best``, which contains the tendons of rotors. ``motors`` adds actuators.
    """
    parents = {c: p for p in root.iter() for c in p}
    radian = [e.get("angle") for e in root.iter("compiler") if e.get("angle")][-1:] == ["radian"]
    joints = {j.get("name") or parents[j].get("name"): j for j in root.iterfind("worldbody//joint")}
    common = {_plain(t) for t in old.iterfind("tendon/*")} & {_plain(t) for t in new.iterfind("tendon/*")}
    changed, lacking = set[str](), list[str]()
    before = {j.get("name", ""): j for j in old.iterfind(".//body/joint")}
    for joint in new.iterfind(".//body/joint"):
        name = joint.get("name", "")
        for key in (k for k in _SET if joint.get(k) not in (None, before[name].get(k))):
            value = np.array(str(joint.get(key)).split(), dtype=float)
            if key == "springref" and not radian and joint.get("type") == "hinge":
                value = np.degrees(value)
            if name not in joints:
                raise ModelError(
                    f"into_mjcf: joint {name!r} is generated by <replicate> or <attach>. Expand the file first."
                )
            joints[name].set(key, text(value))
            changed |= {name} if key == "armature" else set()
    _take_armature(root, changed, [t for t in shared.iterfind("tendon/fixed[@armature]") if _plain(t) not in common])
    of = {e.get("name"): [j.get("joint") for j in e] for x in (root, new) for e in x.iterfind("tendon/fixed[@name]")}
    moved = {j for e in root.iterfind("actuator/*") for j in of.get(e.get("tendon"), [e.get("joint")])}
    sites = {e.get("name") for e in root.iter("site")}
    for section in ("tendon", "equality", "actuator") if motors else ("tendon", "equality"):
        old_elements, target = set(map(_plain, old.iterfind(f"{section}/*"))), root.find(section)
        items = new.findall(f"{section}/*")
        added = [e for e in items if _plain(e) not in old_elements]
        if section == "actuator":
            # If the file contains a rotor's tendon under another name, no second actuator is added for the tendon.
            items = [e for e in items if e.get("tendon") in {None, *(t.get("name") for t in root.iterfind("tendon/*"))}]
            added = [e for e in items if not moved.issuperset(of.get(e.get("tendon"), [e.get("joint")]))]
            for pose in root.iterfind("keyframe/key[@ctrl]"):
                pose.set("ctrl", pose.get("ctrl", "") + " 0" * len(added))
        existing = {e.get("name"): e for e in root.iterfind(f"{section}/*[@name]")}
        for e in added:
            missing = {x for part in e.iter() for k, x in part.items() if k.startswith("site")} - sites
            if missing:
                lacking.append(f"{e.get('name')!r} needs {', '.join(map(repr, sorted(missing)))}")
            target = ET.SubElement(root, section) if target is None else target
            old_element = existing.get(e.get("name"))
            e.tail = "\n" if old_element is None else old_element.tail
            if old_element is None or section == "actuator":
                e.attrib.pop("name") if old_element is not None else None  # Another actuator has this name.
                target.append(e)
            elif _plain(old_element) != _plain(e):
                parents[old_element][list(parents[old_element]).index(old_element)] = e
    if lacking:
        raise ModelError(
            f"into_mjcf: the file lacks sites that the model needs: {'; '.join(lacking)}. Add these sites."
        )


def _take_armature(root: ET.Element, joints: set[str], rotors: list[ET.Element]) -> None:
    """Set the armature of tendons and actuators to 0 if joints or new tendons already contain this armature."""
    by_default, cleared = root.find("default//tendon[@armature]") is not None, set[str | None]()
    names, turned = {t.get("name") for t in rotors}, [*map(_turned, rotors), *({name: 1.0} for name in joints)]
    for e in root.iterfind("tendon/fixed"):
        if e.get("name") in names or _turned(e) in turned:
            cleared.add(e.get("name"))
            if by_default or e.get("armature"):
                e.set("armature", "0")
    for e in root.iterfind("actuator/*[@armature]"):
        if e.get("joint") in joints or e.get("tendon") in cleared:
            e.set("armature", "0")


def _turned(tendon: ET.Element) -> dict[str, float]:
    """Return a fixed tendon's coefficients by joint, divided by the coefficient of the alphabetically first joint."""
    by = sorted((j.get("joint", ""), x) for j in tendon.iterfind("joint") if (x := float(j.get("coef", "0"))))
    return {name: round(x / by[0][1], 9) for name, x in by}


def _plain(e: ET.Element) -> str:
    return ET.canonicalize(ET.tostring(e), strip_text=True)
