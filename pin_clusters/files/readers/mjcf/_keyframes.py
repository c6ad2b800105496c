"""``<keyframe>``: poses of the file in Pinocchio's order of coordinates."""

from collections.abc import Iterable, Mapping

import numpy as np

from ....errors import LoadError, did_you_mean
from ._bodies import Joint
from ._elements import Element, of_quaternion
from ._rods import Rod
from ._tree import Layout, to_pinocchio

SIZES = {"hinge": 1, "slide": 1, "ball": 4, "free": 7}


def read_keyframes(layout: Layout, rods: Mapping[str, Rod]) -> dict[str, np.ndarray]:
    """Map the name of each keyframe to its pose, shape (nq,); an unnamed keyframe gets its number as name."""
    split = {rod.names[0]: rod.joint for rod in rods.values()}
    seconds = {rod.names[1] for rod in rods.values()}
    # Joints in the order of the file; the list contains ball joints instead of the hinges that replace them.
    joints = [split.get(j.name, j) for b in layout.bodies for j in b.joints if j.name not in seconds]
    nq = sum(SIZES[j.kind] for j in joints)
    poses: dict[str, np.ndarray] = {}
    for count, key in enumerate(layout.document.sections["keyframe"]):
        name = key.get("name") or str(count)
        owner = f"keyframe {name!r}"
        if name in poses:
            raise LoadError(f"Two keyframes have the same name {name!r}. Rename one of them.")
        qpos = Element("key", key.attrib, owner, layout.document.elements.units).qpos
        if qpos is None:
            continue
        if len(qpos) != nq:
            raise LoadError(f"{owner}: qpos has {len(qpos)} numbers, but the joints of the file have {nq} coordinates.")
        poses[name] = _pose(qpos, joints, rods, layout, owner)
    return poses


def _pose(qpos: np.ndarray, joints: Iterable[Joint], rods: Mapping[str, Rod], layout: Layout, owner: str) -> np.ndarray:
    q, start = layout.q0.copy(), 0
    for joint in joints:
        x = qpos[start : start + SIZES[joint.kind]]
        start += len(x)
        if joint.name in rods:
            R = np.eye(3) if not x.any() else of_quaternion(x, f"the quaternion of joint {joint.name!r}", owner)
            for hinge, angle in zip(rods[joint.name].names, rods[joint.name].angles(R), strict=True):
                q[layout.at_q(hinge)] = angle
        elif joint.name in layout.ids:  # Locked joints have no coordinate.
            x = x if joint.scalar else np.append(x[:-4], to_pinocchio(x[-4:]))
            q[layout.at_q(joint.name)] = x
    return q


def chosen(keyframes: Mapping[str, np.ndarray], name: str | None) -> tuple[str, np.ndarray] | None:
    """Choose the keyframe for the reference pose: ``name``, else ``home``, else the first keyframe, else None."""
    if name is None:
        name = "home" if "home" in keyframes else next(iter(keyframes), None)
        return None if name is None else (name, keyframes[name])
    if name not in keyframes:
        raise LoadError(f"there is no keyframe {name!r}.{did_you_mean(name, keyframes)}")
    return name, keyframes[name]
