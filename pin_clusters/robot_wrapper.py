"""Pinocchio's ``RobotWrapper`` and ``buildModelsFromUrdf``, with the functions of this package."""

import types
from typing import Any

import pinocchio as pin
from pinocchio import robot_wrapper as _robot_wrapper
from pinocchio import shortcuts as _shortcuts

from .algorithms.contacts import contacts
from .algorithms.dynamics import crba, rnea
from .algorithms.kinematics import centroidal, jacobians, kinematics
from .algorithms.passed import passed
from .files import readers
from .model import ClusterModel, of_pinocchio
from .model.configuration import points

_OURS = (contacts, crba, rnea, centroidal, jacobians, kinematics, readers, of_pinocchio, points)


class _Pinocchio:
    """The functions of this package that Pinocchio's code calls as ``pin.NAME``; they take both kinds of models."""

    def __getattr__(self, name: str) -> Any:
        """Return a function of this package, or what it passes through."""
        return next((vars(module)[name] for module in _OURS if name in vars(module)), None) or passed(name)


_NAMES: dict[str, Any] = {**vars(_shortcuts), **vars(_robot_wrapper), "pin": _Pinocchio()}


def _with_our_functions(thing: Any) -> Any:
    """Return a function, method or property that calls this package in the place of Pinocchio."""
    if isinstance(thing, staticmethod):
        return staticmethod(_with_our_functions(thing.__func__))
    if isinstance(thing, property):
        return property(_with_our_functions(thing.fget), doc=thing.__doc__)
    if not isinstance(thing, types.FunctionType):
        return thing
    made = types.FunctionType(thing.__code__, _NAMES, thing.__name__, thing.__defaults__, thing.__closure__)
    made.__kwdefaults__, made.__module__ = thing.__kwdefaults__, __name__
    made.__doc__ = thing.__doc__ or f"Do what Pinocchio's ``{thing.__name__}`` does."
    return made


for _name in ("_buildModelsFromUrdf", "buildModelsFromUrdf"):
    _NAMES[_name] = _with_our_functions(_NAMES[_name])

buildModelsFromUrdf = _NAMES["buildModelsFromUrdf"]
buildModelsFromUrdf.__doc__ = """Read a robot of a URDF file as a ``ClusterModel``, and its shapes.

Args:
    filename: Path of the file.
    args: package_dirs, root_joint, root_joint_name, verbose, meshLoader, geometry_types and mimic, as in Pinocchio.
    kwargs: The same by name.

Returns:
    The model, then a ``pin.GeometryModel`` for each of the geometry_types; of collisions and of visuals by default.

Raises:
    LoadError: The file cannot be read, or is no URDF.

References:
    Pinocchio's ``buildModelsFromUrdf``, with ``pc.buildModelFromUrdf``.
"""


class RobotWrapper(pin.RobotWrapper):
    """Pinocchio's class with the functions of this package: the model is a ``ClusterModel`` or a ``pin.Model``.

    ``BuildFromURDF`` makes a ``ClusterModel``, with what ties joints in the file; ``BuildFromMJCF``, ``BuildFromSDF``
    make a ``pin.Model``, as in Pinocchio. ``pinocchio.RobotWrapper(model.tree)`` leaves rotors and couplings out.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> robot = pc.RobotWrapper(pc.load("mit_humanoid_leg"))
        >>> bool(np.allclose(robot.mass(robot.q0), pc.crba(robot.model, robot.data, robot.q0)))
        True
    """

    model: Any
    data: Any

    def initViewer(self, share_data: bool = True, *args: Any, **named: Any) -> None:
        """Open Pinocchio's viewer of the tree, or the one that was set by ``setVisualizer``."""
        if self.viz is None and isinstance(self.model, ClusterModel):
            whole = self.model, self.data
            self.model, self.data = self.model.tree, self.data.tree
            try:
                super().initViewer(share_data, *args, **named)
            finally:
                self.model, self.data = whole
        else:
            super().initViewer(share_data, *args, **named)


for _name, _thing in vars(pin.RobotWrapper).items():
    if _name == "__init__" or not (_name.startswith("__") or _name in vars(RobotWrapper)):
        setattr(RobotWrapper, _name, _with_our_functions(_thing))
_NAMES["RobotWrapper"] = RobotWrapper
