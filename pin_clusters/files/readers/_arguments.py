"""Arguments of the loaders: files, root joints, constraints and names."""

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pinocchio as pin

from ..._support.arrays import joint_names
from ..._support.docstrings import stock
from ...errors import ArgumentTypeError, LoadError, shown

documented = stock(
    """
    Args:
        root_joint: Joint between the world and the root link, such as ``pin.JointModelFreeFlyer()``; by default the
            root link is fixed to the world.
        constraints: Further constraints on the joints of the file, such as ``pc.Rotor``; they are added after the
            constraints of the file.
        q_reference: Assembled or nearly assembled pose of the tree that selects the assembly mode of the loops, shape
            (nq,), [rad] or [m], as in ``ClusterModel``.
        independent: Names of the independent joints, as in ``ClusterModel``.

    Raises:
        LoadError: The file is missing or invalid, or contains unsupported elements that change the dynamics.
        InertiaError: A mass is negative or an inertia is not positive semidefinite.
        ArgumentTypeError: An argument has the wrong type.
        PinClustersError: ``constraints`` does not fit the model.
    """
)
"""Decorator that completes the docstrings of functions that read a file."""
MAX_BYTES = 2**25
"""Largest size of a file in bytes; larger files raise an error, because reading them would take many seconds."""


def content(path: Path, most: int = MAX_BYTES) -> bytes:
    """Read a file of at most ``most`` bytes; raise an error for longer files, and for devices and pipes."""
    about = path.stat()
    if not stat.S_ISREG(about.st_mode) and not stat.S_ISDIR(about.st_mode):
        raise OSError(errno.EINVAL, "it is a device or a pipe, not a file")
    if about.st_size > most:
        raise too_long(repr(str(path)), about.st_size, most)
    return path.read_bytes()


def too_long(source: str, size: int, most: int = MAX_BYTES) -> LoadError:
    return LoadError(f"{source} has a size of {size / 1e6:.0f} MB. The limit is {most / 1e6:.0f} MB.")


def read_file(file: str | os.PathLike[str], kind: str) -> tuple[Path, bytes]:
    """Read a file; return its path and content. Error messages contain ``kind``, such as ``"a URDF"``."""
    if not isinstance(file, (str, os.PathLike)):
        raise ArgumentTypeError(f"file must be a path, got {type(file).__name__}.")
    return Path(file), read(Path(file), kind, repr(str(file)))


def read(path: Path, kind: str, source: str) -> bytes:
    try:
        return content(path)
    except (OSError, ValueError) as error:  # A null character in the path raises ValueError.
        if isinstance(error, LoadError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise LoadError(f"cannot read {source}: {reason}. Specify the path of {kind} file.") from None


def text_or_file(given: str | os.PathLike[str], kind: str) -> tuple[str | bytes, str, Path | None]:
    """Return a document, its label for messages, and the folder of its file (None if ``given`` is text)."""
    if not isinstance(given, (str, os.PathLike)):
        raise ArgumentTypeError(f"expected the path of {kind} file or XML text, got {type(given).__name__}.")
    if isinstance(given, str) and (is_xml(given) or not given.strip()):
        return given, "the XML text", None
    path, text = read_file(given, kind)
    return text, repr(str(path)), path.parent


def is_xml(given: object) -> bool:
    return isinstance(given, str) and given.lstrip("\ufeff \t\r\n").startswith("<")


def checked(
    root_joint: object, constraints: Iterable[Any], independent: Iterable[str] | None
) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    check_root_joint(root_joint)
    if isinstance(constraints, str) or not isinstance(constraints, Iterable):
        raise ArgumentTypeError(f"constraints must be a list, got {type(constraints).__name__}. Use constraints=[...].")
    return tuple(constraints), () if independent is None else joint_names("independent", independent)


def check_root_joint(root_joint: object) -> None:
    if root_joint is not None and (isinstance(root_joint, type) or not hasattr(root_joint, "shortname")):
        raise ArgumentTypeError(
            f"root_joint must be a joint model such as pin.JointModelFreeFlyer(), or None, got {shown(root_joint)}."
        )


class Root(NamedTuple):
    joint: pin.JointModel
    name: str


def as_pinocchio(
    root_joint: Any, constraints: Any, q_reference: Any, name: Any, mimic: Any
) -> tuple[Any, Iterable[Any], Any]:
    """Accept this package's or Pinocchio's order of arguments; return (root joint with its name, constraints, pose).

    In Pinocchio's order, the name of the root joint and ``mimic`` follow the root joint.
    """
    arguments = [root_joint, constraints, q_reference]
    if isinstance(arguments[1], str):
        if name is not None:
            raise ArgumentTypeError(f"root_joint_name was passed twice: {arguments[1]!r} and {name!r}.")
        arguments[1], name = (), arguments[1]
    for i, nothing in enumerate((None, (), None)):
        if isinstance(arguments[i], bool):
            arguments[i], mimic = nothing, arguments[i]
    for argument, x, kind in (("root_joint_name", name, str), ("mimic", mimic, bool)):
        if x is not None and not isinstance(x, kind):
            raise ArgumentTypeError(f"{argument} must be {kind.__name__}, got {shown(x)} ({type(x).__name__}).")
    if name is not None and arguments[0] is None:
        raise ArgumentTypeError(
            f"root_joint_name {name!r} requires a root_joint, such as pin.JointModelFreeFlyer(). If this string was "
            "passed as constraints, pass a list instead."
        )
    return (arguments[0] if name is None else Root(arguments[0], name)), arguments[1], arguments[2]
