"""Reader of the extended URDF of example-parallel-robots: a URDF, and a YAML file with loops, motors and joint types.

L. de Matteis, V. Batto, J. Carpentier, N. Mansard, "Extended URDF: Accounting for parallel mechanism in robot
description", arXiv 2504.04767::

    closed_loop: [[frame_a, frame_b], ...]   # pairs of frames that coincide
    type: [6d, 3d, ...]                      # whether the frames (6d) or only their origins (3d) coincide
    name_mot: [joint, ...]                   # joints with motors
    joint_name: [joint, ...]                 # joints whose type differs from the URDF
    joint_type: [SPHERICAL, UJOINT_XY, FIXED, ...]  # types of these joints
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pinocchio as pin
from numpy.typing import ArrayLike

from ...constraints import Loop
from ...errors import LoadError, did_you_mean
from ...model import ClusterModel
from ._arguments import checked, documented, read_file
from ._notes import Notes
from ._shapes import collision_of
from ._trees import FIXED, TYPES, with_joint_types
from ._xml import in_words_of
from ._yaml import read_yaml
from .urdf import parse_urdf

KINDS = {"6d": "fixed", "3d": "spherical"}
KEYS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")
# Unknown keys that contain these words raise an error, because they may change the dynamics.
CHANGING = (
    "rotor",
    "inertia",
    "ratio",
    "gear",
    "armature",
    "spring",
    "stiffness",
    "damping",
    "friction",
    "mass",
    "loop",
)


@documented
def buildModelFromYAML(
    file: str | os.PathLike[str],
    root_joint: pin.JointModel | None = None,
    constraints: Iterable[Any] = (),
    q_reference: ArrayLike | None = None,
    independent: Iterable[str] | None = None,
    *,
    urdf: str | os.PathLike[str] | None = None,
) -> ClusterModel:
    """Read an extended URDF (arXiv 2504.04767): a YAML file and a URDF in the same folder.

    A pair of frames in ``closed_loop`` becomes a fixed (6d) or spherical (3d) ``Loop``. Joints in ``joint_name`` get
    the type in ``joint_type``: ``SPHERICAL``, ``FIXED``, or ``UJOINT_XY`` (or another pair of axes). ``UJOINT_XY``
    becomes two hinges, ``<joint>_X`` and ``<joint>_Y``. Joints with motors (``name_mot``) are preferred as independent
    joints.

    Args:
        file: Path of the YAML file, or of its folder if the name of the file is ``robot.yaml``.
        independent: Names of the independent joints, as in ``ClusterModel``; by default, motor joints if possible.
        urdf: Path of the URDF file; by default ``robot.urdf`` in the same folder, or the only URDF in this folder.

    Returns:
        The model, in SI units.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.buildModelFromYAML("robots/digit_like/robot.yaml")  # doctest: +SKIP
    """
    extra, named = checked(root_joint, constraints, independent)
    if isinstance(file, (str, os.PathLike)) and os.path.isdir(file):
        file = Path(file) / "robot.yaml"
    path, text = read_file(file, "a YAML")
    source = repr(str(path))
    notes = Notes()
    content = _checked(read_yaml(text, source), source, notes)
    loops = _loops(content, source)
    types = _types(content, source)
    description = _urdf_of(path) if urdf is None else Path(urdf)
    description, xml = read_file(description, "a URDF")
    parts = parse_urdf(
        xml, root_joint, (*loops, *extra), repr(str(description)), named, stacklevel=3, folder=description.parent
    )
    _check_names(types, parts.tree, source)
    tree = with_joint_types(parts.tree, types)
    motors = [_name(n, "name_mot", source) for n in content["name_mot"]]
    notes.about([n for n in motors if not tree.existJointName(n)], "these motors are not joints of the tree: {}.")
    motors = [n for n in dict.fromkeys(motors) if tree.existJointName(n)]
    notes.warn(tree.name, stacklevel=2)
    if q_reference is None and tree is parts.tree:
        q_reference = parts.reference
    return ClusterModel(
        tree,
        parts.constraints,
        q_reference,
        independent=parts.independent or None,
        preferred=motors,
        name=tree.name,
        collision=collision_of(tree, parts.shapes),
    )


def _checked(content: Any, source: str, notes: Notes) -> Mapping[str, list[Any]]:
    if not isinstance(content, Mapping):
        raise LoadError(f"{source} is not an extended URDF: expected keys such as closed_loop, got {content!r:.60}.")
    for key, value in content.items():
        if key in KEYS:
            if not isinstance(value, list):
                raise LoadError(f"{source}: {key} must be a list, got {value!r:.60}.")
            continue
        if any(word in str(key).lower() for word in CHANGING):
            hint = did_you_mean(str(key), KEYS)
            raise LoadError(
                f"{source}: {key!r} may change the dynamics and is not supported.{hint} Pass an equivalent constraint "
                "in constraints= (pc.Rotor for motors) and remove the key."
            )
        notes.unknown[repr(key)] += 1
    if not any(key in content for key in KEYS):
        raise LoadError(f"{source} is not an extended URDF: it has none of the keys {', '.join(KEYS)}.")
    return {key: content.get(key, []) for key in KEYS}


def _name(value: object, what: str, source: str) -> str:
    if not isinstance(value, str) or not value:
        raise LoadError(f"{source}: {what} must contain names, got {value!r:.60}. Write names in quotes.")
    return value


def _loops(content: Mapping[str, list[Any]], source: str) -> list[Loop]:
    pairs, kinds = content["closed_loop"], content["type"] or ["6d"] * len(content["closed_loop"])
    if len(kinds) != len(pairs):
        raise LoadError(
            f"{source}: closed_loop has {len(pairs)} pairs, but type has {len(kinds)}. Specify one type per pair."
        )
    loops = []
    for i, (pair, kind) in enumerate(zip(pairs, kinds, strict=True)):
        owner = f"{source}: closed_loop[{i}]"
        if not isinstance(pair, list) or len(pair) != 2:
            raise LoadError(f"{owner} must be a list of two frame names, got {pair!r:.60}.")
        a, b = (_name(frame, f"closed_loop[{i}]", source) for frame in pair)
        loop_kind = KINDS.get(str(kind).lower())
        if loop_kind is None:
            raise LoadError(f"{owner}: type {kind!r} is unknown. Known types: 6d, 3d.")
        with in_words_of(owner):
            loops.append(Loop(a, b, loop_kind))
    return loops


def _types(content: Mapping[str, list[Any]], source: str) -> dict[str, str]:
    names, types = content["joint_name"], content["joint_type"]
    if len(names) != len(types):
        raise LoadError(
            f"{source}: joint_name has {len(names)} entries, but joint_type has {len(types)}. Use one type per name."
        )
    type_of: dict[str, str] = {}
    for name, kind in zip(names, types, strict=True):
        name = _name(name, "joint_name", source)
        if name in type_of:
            raise LoadError(f"{source}: joint {name!r} appears twice in joint_name. Remove one entry.")
        if kind not in TYPES:
            raise LoadError(f"{source}: joint_type {kind!r} of joint {name!r} is unknown. Known: {', '.join(TYPES)}.")
        type_of[name] = kind
    return type_of


def _check_names(types: Mapping[str, str], tree: pin.Model, source: str) -> None:
    for name, kind in types.items():
        if kind == FIXED and not tree.existJointName(name) and tree.existFrame(name):
            continue  # The joint is already fixed in the URDF.
        if not tree.existJointName(name):
            raise LoadError(f"{source}: joint {name!r} does not exist.{did_you_mean(name, list(tree.names)[1:])}")


def _urdf_of(path: Path) -> Path:
    usual = path.with_name("robot.urdf")
    candidates = sorted(path.parent.glob("*.urdf"))
    if usual.is_file() or not candidates:
        return usual
    if len(candidates) > 1:
        raise LoadError(
            f"the folder of {str(path)!r} has {len(candidates)} URDF files, but no robot.urdf. Specify urdf=..."
        )
    return candidates[0]
