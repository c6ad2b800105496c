"""URDF and URDF+: Pinocchio reads the tree, this module reads what Pinocchio drops."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pinocchio as pin

from ..errors import ArgumentTypeError, LoadError, PinClustersError
from ._checks import check_numbers, unwind
from ._couplings import read_ties
from ._independence import check_circles, check_not_independent, check_tied, choose_dependents, read_flags
from ._notes import Notes, listing
from ._xml import Description, describe, parse_xml, to_text

if TYPE_CHECKING:
    from ..model import ClusterModel

ROOT_JOINT_NAME = "root_joint"


def buildModelFromUrdf(
    file: str | os.PathLike[str], root_joint: pin.JointModel | None = None, constraints: Iterable[Any] = ()
) -> ClusterModel:
    """Read a URDF or URDF+ file.

    Understood beyond URDF: ``<coupling>`` and the joint attribute ``independent`` of URDF+ (arXiv 2411.19753), our
    couplings with a ratio per joint, and ``<mimic>``. All joints stay in ``q``; those that follow others are dependent
    joints of the model. ``<gazebo>``, ``<transmission>`` and what is not known are named in one warning; what is known
    to change the dynamics and cannot be honoured (Drake's ``<drake:rotor_inertia>``, ...) is an error.

    Args:
        file: Path of the file.
        root_joint: Joint between the world and the root link, such as ``pin.JointModelFreeFlyer()``; by default the
            root link is fixed to the world.
        constraints: Further constraints on the joints of the file, such as ``pc.Rotor``.

    Returns:
        The model; its tree is what Pinocchio reads from the same file, except that continuous joints that take part in
        a coupling become revolute ones without limits (a warning names them).

    Raises:
        LoadError: The file is missing or ill-formed, or holds something that changes the dynamics and cannot be
            honoured (``<loop>``, a joint that is ``independent="false"`` but tied to nothing, ...).
        InertiaError: A mass is negative or an inertia is not positive semidefinite.
        ArgumentTypeError: An argument has the wrong type.
        PinClustersError: ``constraints`` does not fit the model.

    Example:
        >>> import pin_clusters as pc, pinocchio as pin
        >>> model = pc.buildModelFromUrdf("robot.urdf", pin.JointModelFreeFlyer())  # doctest: +SKIP
    """
    if not isinstance(file, (str, os.PathLike)):
        raise ArgumentTypeError(f"file must be a path, got {type(file).__name__}.")
    if isinstance(file, str) and file.lstrip().startswith("<"):
        raise LoadError("file must be a path, but XML was given. Use buildModelFromXML for text.")
    path = Path(file)
    try:
        text = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        reason = getattr(error, "strerror", None) or error
        raise LoadError(f"cannot read {str(path)!r}: {reason}. Give the path of a URDF file.") from None
    return _build(text, root_joint, constraints, repr(str(path)))


def buildModelFromXML(
    text: str, root_joint: pin.JointModel | None = None, constraints: Iterable[Any] = ()
) -> ClusterModel:
    """Read a robot from the text of a URDF or URDF+ file.

    Args:
        text: The document.
        root_joint: As in `buildModelFromUrdf`.
        constraints: As in `buildModelFromUrdf`.

    Returns:
        The model.

    Raises:
        LoadError: As in `buildModelFromUrdf`.
        InertiaError: As in `buildModelFromUrdf`.
        ArgumentTypeError: As in `buildModelFromUrdf`.
        PinClustersError: As in `buildModelFromUrdf`.
    """
    if not isinstance(text, str):
        raise ArgumentTypeError(f"text must be the XML of a robot, got {type(text).__name__}.")
    if text.strip() and not text.lstrip("\ufeff \t\r\n").startswith("<"):
        raise LoadError(f"text must be XML, got {text[:40]!r}. Use buildModelFromUrdf for a file.")
    return _build(text, root_joint, constraints, "the XML text")


def _build(
    text: str | bytes, root_joint: pin.JointModel | None, constraints: Iterable[Any], source: str
) -> ClusterModel:
    from ..model import ClusterModel

    tree, all_constraints = parse_urdf(text, root_joint, constraints, source, stacklevel=4)
    return ClusterModel(tree, all_constraints, tree.name)


def parse_urdf(
    text: str | bytes,
    root_joint: pin.JointModel | None = None,
    constraints: Iterable[Any] = (),
    source: str = "the XML text",
    stacklevel: int = 2,
) -> tuple[pin.Model, tuple[Any, ...]]:
    """Return the spanning tree and the constraints of a URDF or URDF+ document.

    Args:
        text: The document.
        root_joint: Joint between the world and the root link, or None.
        constraints: Further constraints; they come after those of the file.
        source: How messages name the document.
        stacklevel: Where warnings point to, as in ``warnings.warn``.

    Returns:
        The tree, and the constraints of the file followed by the given ones.

    Raises:
        LoadError: See `buildModelFromUrdf`.
        InertiaError: See `buildModelFromUrdf`.
        ArgumentTypeError: See `buildModelFromUrdf`.
    """
    check_root_joint(root_joint)
    if isinstance(constraints, str) or not isinstance(constraints, Iterable):
        raise ArgumentTypeError(
            f"constraints must be a list of constraints, got {type(constraints).__name__}. Put it in [ ]."
        )
    given = tuple(constraints)
    notes = Notes()
    root = parse_xml(text, source)
    if root.tag == "robot":
        notes.scan(root)  # first, as what it refuses (unexpanded xacro, ...) explains why links are missing
    description = describe(root, source)
    check_numbers(description, notes)
    flags = read_flags(description)
    ties = read_ties(description, notes)
    dependents = choose_dependents(ties, flags)
    from_file = [tie.build(joint) for tie, joint in zip(ties, dependents, strict=True)]
    check_circles(ties, dependents)

    tree = _pinocchio(description, root_joint, source)
    coupled, followers = _names_in(given, tree)
    for joint, owner in followers.items():
        check_not_independent(joint, owner, flags)
    check_tied(flags, {*dependents, *followers}, description)
    coupled.update(joint for tie in ties for joint in tie.joints)
    turning = [n for n, j in description.joints.items() if n in coupled and j.get("type") == "continuous"]
    if turning:
        for joint in turning:
            unwind(description.joints[joint])
        notes.messages.append(
            "continuous joints that take part in a coupling are read as revolute joints without limits (one angle, "
            f"which counts turns, instead of its cosine and sine): {listing(turning)}."
        )
        tree = _pinocchio(description, root_joint, source)
    for tie, constraint in zip(ties, from_file, strict=True):
        try:
            constraint.rows(tree)
        except PinClustersError as error:
            raise LoadError(f"{tie.owner}: {error}") from None
    notes.warn(description.name, stacklevel)
    return tree, (*from_file, *given)


def check_root_joint(root_joint: object) -> None:
    """Raise if this is no joint model.

    Raises:
        ArgumentTypeError: It is neither None nor a joint model.
    """
    if root_joint is not None and (isinstance(root_joint, type) or not hasattr(root_joint, "shortname")):
        raise ArgumentTypeError(
            f"root_joint must be a joint model such as pin.JointModelFreeFlyer(), or None, got {root_joint!r}."
        )


def _pinocchio(description: Description, root_joint: pin.JointModel | None, source: str) -> pin.Model:
    """Let Pinocchio read the tree."""
    if root_joint is not None and ROOT_JOINT_NAME in description.joints:
        raise LoadError(
            f"{source} has a joint named {ROOT_JOINT_NAME!r}, as is the one above the root link. Rename it."
        )
    text = to_text(description.root)
    try:
        if root_joint is None:
            return pin.buildModelFromXML(text)
        return pin.buildModelFromXML(text, root_joint)
    except (ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[-1]
        raise LoadError(f"Pinocchio cannot read {source}: {reason} (its parser may have said more above).") from None


def _names_in(constraints: tuple[Any, ...], tree: pin.Model) -> tuple[set[str], dict[str, str]]:
    """Return the joints that given couplings tie, and those that follow, with the name of the coupling."""
    coupled: set[str] = set()
    followers: dict[str, str] = {}
    for constraint in constraints:
        rows = getattr(constraint, "rows", None)
        for row in rows(tree) if callable(rows) else ():
            coupled.update(tree.names[j] for j in row.tied)
            followers[tree.names[row.dependent]] = getattr(constraint, "label", type(constraint).__name__)
    return coupled, followers
