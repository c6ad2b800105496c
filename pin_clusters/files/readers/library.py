"""``pc.load``: robots that ship with the package, by name."""

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
    """List the robots that ship with the package.

    Returns:
        Names for ``load``, sorted.

    Raises:
        LoadError: The installation is incomplete.

    Example:
        >>> import pin_clusters as pc
        >>> "four_bar" in pc.robots()
        True
    """
    return tuple(sorted({*_BUILT, *folders()}))


def load(
    name: str,
    root_joint: pin.JointModel | Literal["default"] | None = "default",
    *,
    q_reference: ArrayLike | None = None,
    independent: Iterable[str] | None = None,
    **parameters: Any,
) -> ClusterModel:
    """Load a robot that ships with the package.

    ``robot_models/<name>/README.md`` and ``chains.py`` document the sources of the robot data.

    Args:
        name: A name in ``robots()``.
        root_joint: ``"default"`` makes the base a free flyer if the root link has an inertia (legged robots), and fixes
            it otherwise. None fixes the base. A joint model, such as ``pin.JointModelFreeFlyer()``, lets the base move.
        q_reference: Reference pose, shape (nq,), [rad] or [m], as in ``ClusterModel``; by default, the pose in the
            robot's README, if any.
        independent: Names of the independent joints; by default, the joints listed in the robot's README.
        parameters: Parameters of ``geared_chain`` and ``belt_chain``: number of links ``n`` and random ``seed``.

    Returns:
        The model, in SI units.

    Raises:
        UnknownNameError: No shipped robot has this name.
        ArgumentTypeError: The robot has no parameter of this name, or an argument has the wrong type.
        LoadError: A parameter has an invalid value.

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
    if not isinstance(name, str):
        raise ArgumentTypeError(f"name must be text, got {type(name).__name__}. Known names: {', '.join(robots())}.")
    if root_joint != "default":
        check_root_joint(root_joint)
    build = _BUILT.get(name)
    for parameter in parameters:
        if name in robots() and not (build and parameter in _PARAMETERS):
            offered = f"Known parameters: {', '.join(_PARAMETERS)}." if build else "It has no parameters."
            raise ArgumentTypeError(f"robot {name!r} has no parameter {parameter!r}. {offered}")
    if build is not None:
        tree, constraints = build(root_joint=None if isinstance(root_joint, str) else root_joint, **parameters)
        return Parts(tree, constraints, tuple(independent or ()))
    files = folders()
    if name not in files:
        raise UnknownNameError(f"No such robot: {name!r}.{did_you_mean(name, robots(), limit=40)}")
    text = files[name].joinpath("model.urdf").read_bytes()
    if isinstance(root_joint, str):
        description = describe(parse_xml(text, name), name)
        # A root link without inertia represents the ground.
        floats = description.links[description.root_link].find("inertial") is not None
        root_joint = pin.JointModelFreeFlyer() if floats else None
    return parse_urdf(text, root_joint, (), f"robot {name!r}", independent, stacklevel=4)


def folders() -> "dict[str, Traversable]":
    root = robot_models()
    by_name = {
        entry.name: entry
        for entry in (root.iterdir() if root else ())
        if entry.is_dir() and any(entry.joinpath(file).is_file() for file in ("model.urdf", "model.xml"))
    }
    if not by_name:
        raise LoadError("this installation of pin_clusters does not contain its robots. Reinstall pin_clusters.")
    return by_name
