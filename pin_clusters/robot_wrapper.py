"""``RobotWrapper`` and ``buildModelsFromUrdf`` as in Pinocchio, but based on the functions of this package."""

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
    """Replacement for ``pin`` in Pinocchio's code, with functions that also accept ``ClusterModel`` objects."""

    def __getattr__(self, name: str) -> Any:
        return next((vars(module)[name] for module in _OURS if name in vars(module)), None) or passed(name)


_NAMES: dict[str, Any] = {**vars(_shortcuts), **vars(_robot_wrapper), "pin": _Pinocchio()}


def _with_our_functions(thing: Any) -> Any:
    """Return a copy of a function, method or property that calls this package instead of Pinocchio."""
    if isinstance(thing, staticmethod):
        return staticmethod(_with_our_functions(thing.__func__))
    if isinstance(thing, property):
        return property(_with_our_functions(thing.fget), doc=thing.__doc__)
    if not isinstance(thing, types.FunctionType):
        return thing
    copy = types.FunctionType(thing.__code__, _NAMES, thing.__name__, thing.__defaults__, thing.__closure__)
    copy.__kwdefaults__, copy.__module__ = thing.__kwdefaults__, __name__
    copy.__doc__ = thing.__doc__ or f"Call Pinocchio's ``{thing.__name__}`` with the functions of this package."
    return copy


for _name in ("_buildModelsFromUrdf", "buildModelsFromUrdf"):
    _NAMES[_name] = _with_our_functions(_NAMES[_name])

buildModelsFromUrdf = _NAMES["buildModelsFromUrdf"]
buildModelsFromUrdf.__doc__ = """Read a robot from a URDF file as a ``ClusterModel``, together with its geometry.

Args:
    filename: Path of the file.
    args: package_dirs, root_joint, root_joint_name, verbose, meshLoader, geometry_types and mimic, as in Pinocchio.
    kwargs: The arguments of ``args``, by name.

Returns:
    The model, and one ``pin.GeometryModel`` per entry of geometry_types (default: collision and visual).

Raises:
    LoadError: The file cannot be read, or is not a URDF file.

References:
    Pinocchio's ``buildModelsFromUrdf``; the model is built by ``pc.buildModelFromUrdf``.
"""


class RobotWrapper(pin.RobotWrapper):
    """Pinocchio's ``RobotWrapper`` with this package's functions, for a ``ClusterModel`` or a ``pin.Model``.

    ``BuildFromURDF`` builds a ``ClusterModel`` with the constraints of the file; ``BuildFromMJCF`` and ``BuildFromSDF``
    build a ``pin.Model``. Unlike this class, ``pinocchio.RobotWrapper(model.tree)`` ignores rotors and couplings.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> robot = pc.RobotWrapper(pc.load("mit_humanoid_leg"))
        >>> bool(np.allclose(robot.mass(robot.q0), pc.crba(robot.model, robot.data, robot.q0)))
        True
    """

    model: Any
    data: Any

    def initViewer(self, share_data: bool = True, *args: Any, **named: Any) -> None:
        """Open the viewer set by ``setVisualizer`` (by default Pinocchio's default viewer) for the spanning tree."""
        if self.viz is None and isinstance(self.model, ClusterModel):
            cluster_model, cluster_data = self.model, self.data
            self.model, self.data = self.model.tree, self.data.tree
            try:
                super().initViewer(share_data, *args, **named)
            finally:
                self.model, self.data = cluster_model, cluster_data
        else:
            super().initViewer(share_data, *args, **named)


for _name, _thing in vars(pin.RobotWrapper).items():
    if _name == "__init__" or not (_name.startswith("__") or _name in vars(RobotWrapper)):
        setattr(RobotWrapper, _name, _with_our_functions(_thing))
_NAMES["RobotWrapper"] = RobotWrapper
