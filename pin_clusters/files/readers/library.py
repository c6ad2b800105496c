"""Robots that ship with the package, by name."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

import pinocchio as pin
from numpy.typing import ArrayLike

from ..._support.shipped import robot_models
from ...errors import ArgumentTypeError, LoadError, UnknownNameError, did_you_mean
from ...model import ClusterModel
from ._arguments import check_root_joint
from ._xml import describe, parse_xml
from .chains import belt_chain, geared_chain
from .mjcf import from_mjcf
from .urdf import Parts, make_model, parse_urdf

if TYPE_CHECKING:
    from importlib.abc import Traversable

_BUILT: dict[str, Callable[..., tuple[pin.Model, tuple[Any, ...]]]] = {
    "belt_chain": belt_chain,
    "geared_chain": geared_chain,
}
_PARAMETERS = ("n", "seed")


def robots() -> tuple[str, ...]:
    """Return the names that ``load`` knows, sorted."""
    return tuple(sorted({*_BUILT, *folders()}))


def load(
    name: str,
    root_joint: pin.JointModel | Literal["default"] | None = "default",
    *,
    q_reference: ArrayLike | None = None,
    independent: Iterable[str] | None = None,
    **parameters: Any,
) -> ClusterModel:
    """Return a robot that ships with the package.

    Where its numbers come from is told in ``robot_models/<name>/README.md`` and in ``chains.py``.

    Args:
        name: One of ``robots``.
        root_joint: ``"default"``: a free flyer if the robot's root link has an inertia (legged robots), else fixed
            to the world. None fixes it; a joint model such as ``pin.JointModelFreeFlyer()`` is put above it.
        q_reference: As in ``ClusterModel``; by default the reference pose in the README of the robot, if it has one.
        independent: As in ``ClusterModel``; by default those of the README.
        parameters: Of the robots that are built in Python: ``n`` links and ``seed`` of ``geared_chain`` and
            ``belt_chain``.

    Returns:
        The model.

    Raises:
        UnknownNameError: There is no such robot.
        ArgumentTypeError: The robot does not have such a parameter, or an argument has the wrong type.
        LoadError: A parameter has a value that is not allowed.

    Example:
        >>> import pin_clusters as pc
        >>> pc.load("geared_chain", n=3).nv
        3
    """
    folder = folders().get(name) if isinstance(name, str) and name not in _BUILT and not parameters else None
    if folder is not None and (mjcf := folder.joinpath("model.xml")).is_file():
        return from_mjcf(mjcf.read_text(), name, root_joint, q_reference, independent)
    return make_model(_parts(name, root_joint, parameters, independent), q_reference, name)


def _parts(
    name: str, root_joint: object, parameters: dict[str, Any], independent: Iterable[str] | None = None
) -> Parts:
    """Return the tree and the constraints of a robot."""
    if not isinstance(name, str):
        raise ArgumentTypeError(f"name must be text, got {type(name).__name__}. Known names: {', '.join(robots())}.")
    if root_joint != "default":
        check_root_joint(root_joint)
    build = _BUILT.get(name)
    for parameter in parameters:
        if name in robots() and not (build and parameter in _PARAMETERS):
            offered = f"It has {', '.join(_PARAMETERS)}." if build else "It has none."
            raise ArgumentTypeError(f"robot {name!r} has no parameter {parameter!r}. {offered}")
    if build is not None:
        tree, constraints = build(root_joint=None if isinstance(root_joint, str) else root_joint, **parameters)
        return Parts(tree, constraints, tuple(independent or ()))
    files = folders()
    if name not in files:
        raise UnknownNameError(f"there is no robot {name!r}.{did_you_mean(name, robots(), limit=40)}")
    text = files[name].joinpath("model.urdf").read_bytes()
    if isinstance(root_joint, str):
        description = describe(parse_xml(text, name), name)
        floats = description.links[description.root_link].find("inertial") is not None  # else it is the ground
        root_joint = pin.JointModelFreeFlyer() if floats else None
    return parse_urdf(text, root_joint, (), f"robot {name!r}", independent, stacklevel=4)


def folders() -> "dict[str, Traversable]":
    """Return the folders with a ``model.urdf`` or a ``model.xml`` (MJCF), by name."""
    place = robot_models()
    found = {
        entry.name: entry
        for entry in (place.iterdir() if place else ())
        if entry.is_dir() and any(entry.joinpath(file).is_file() for file in ("model.urdf", "model.xml"))
    }
    if not found:
        raise LoadError("the robots that ship with pin_clusters are missing from this installation. Reinstall it.")
    return found
