"""Access to Pinocchio's functions and classes that this package does not define."""

import functools
import importlib
import importlib.util
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.missing import missing, route
from ..compiler.calls import Form, fast, of_pinocchio, register
from ..compiler.owed import OF_TREE
from ..errors import DataMismatchError, NotAvailableError
from ..model import ClusterData, ClusterModel, is_pinocchios
from . import geometry as _geometry
from ._shared import check as _check
from ._shared import ids as _ids
from .kinematics.kinematics import forwardKinematics

# These functions need only placements, frames and collision shapes, so the tree of the cluster model is sufficient.
_ON_TREE = frozenset(
    """
    buildGeomFromMJCF buildGeomFromUrdf buildGeomFromUrdfString buildSampleGeometryModelHumanoid
    buildSampleGeometryModelManipulator computeBodyRadius computeCollisions computeCollisionsInParallel
    computeDistances computeFrameKinematicRegressor computeJointKinematicRegressor findCommonAncestor
    removeCollisionPairs removeCollisionPairsFromXML updateGeometryPlacements
""".split()
)

_CLASSES_ON_TREE = (
    "BroadPhaseManager",
    "TreeBroadPhaseManager",
    "FrameAnchor",
    "JointFriction",
    "JointLimit",
    "PointAnchor",
    "PointContact",
)

_INDICES = {
    "computeFrameKinematicRegressor": _ids.frame,
    "computeJointKinematicRegressor": _ids.joint,
    "findCommonAncestor": _ids.joint,
}
_POSITIONS = {
    "computeFrameKinematicRegressor": "model data frame_id reference_frame",
    "computeJointKinematicRegressor": "model data joint_id reference_frame placement",
    "findCommonAncestor": "model joint1_id joint2_id",
    **_geometry.POSITIONS,
}
"""Functions whose repeated calls the C extension executes, and the names of their positional arguments in order."""


@functools.cache
def passed(name: str) -> Any:
    """Return the object for ``pc.name`` if this package does not define ``name`` itself.

    Pinocchio objects without a model argument are returned unchanged. Functions with a model argument are wrapped; for
    a ``ClusterModel``, they use ``model.tree`` if the tree is sufficient, and otherwise raise an error that suggests an
    alternative. Names of other Pinocchio releases raise ``NotAvailableError``; other names raise ``AttributeError``.
    """
    if name.startswith("_") or not (hasattr(pin, name) or _is_module(name)):
        missing(name)
    target = getattr(pin, name) if hasattr(pin, name) else importlib.import_module(f"pinocchio.{name}")
    if inspect.ismodule(target) or not callable(target) or not _takes_a_model(target):
        return target
    return _of_models(name, target)


def _is_module(name: str) -> bool:
    return name.isidentifier() and importlib.util.find_spec(f"pinocchio.{name}") is not None


def _takes_a_model(thing: Any) -> bool:
    if inspect.isfunction(thing):
        return "model" in inspect.signature(thing).parameters
    if inspect.isclass(thing) and thing.__name__.startswith(("StdVec_", "Model", "GeometryPool")):
        return False
    doc = thing.__init__.__doc__ if inspect.isclass(thing) else thing.__doc__
    signatures = [line.split("->")[0] for line in (doc or "").splitlines() if "->" in line]
    return any("(Model)" in text or "(Data)" in text for text in signatures)


def _of_models(name: str, function: Any) -> Any:
    target = function.__init__ if inspect.isclass(function) else function

    @functools.wraps(target)
    def call(*args: Any, **named: Any) -> Any:
        arguments = [*args, *named.values()]
        if not any(isinstance(x, (ClusterModel, ClusterData)) for x in arguments):
            return target(*args, **named)
        if name not in _ON_TREE and not name.startswith(_CLASSES_ON_TREE):
            raise NotAvailableError(f"Pinocchio's {name!r} does not accept a ClusterModel. {route(name)}")
        _check_given(name, arguments)
        posed = _posed(arguments)
        answer = target(*map(posed, args), **{key: posed(x) for key, x in named.items()})
        if name in _geometry.POSITIONS:
            _geometry.remember(fastened, arguments)
        return answer

    if inspect.isclass(function):
        return type(name, (function,), {"__init__": call, "__doc__": function.__doc__})
    names = _POSITIONS.get(name, "").split()
    if not names:
        return call
    plans = _plans if name in _INDICES else lambda owner, function: ()
    fastened = fast(plans, {argument: i for i, argument in enumerate(names)}, len(names))(call)
    return fastened


def _plans(owner: Any, function: Any) -> tuple[Any, ...]:
    model, plans = owner if isinstance(owner, ClusterModel) else owner.model, []
    names = [name for name in function.positions if name not in ("model", "data")]
    for n in {len(names), len(names) - ("placement" in names)}:
        form = Form(owner, function, " ".join(names[:n]))
        for name in names[:n]:
            position = form.positions[name]
            if name == "placement":
                form.checks.append(("placement", position, 16, np.zeros(16)))
            elif name == "reference_frame":
                form.checks.append(("choice", position, pin.ReferenceFrame, -1, register()))
            else:
                form.checks.append(
                    ("index", position, model.nframes if name[0] == "f" else model.njoints, 0, register())
                )
        pinocchio_function = getattr(pin, function.__name__)
        if owner is model:
            form.call(pinocchio_function, model.own_tree, *(form.positions[name] for name in names[:n]))
            plans.append(form.plan())
        else:
            plans.append(of_pinocchio(form, pinocchio_function, *names[:n], read=OF_TREE))
    return tuple(plans)


def _check_given(name: str, arguments: list[Any]) -> None:
    """Check that all arguments belong to one model; otherwise, Pinocchio would access memory outside its arrays."""
    model = next((x for x in arguments if isinstance(x, (ClusterModel, pin.Model))), None)
    index = _INDICES.get(name, None if name in _ON_TREE else _ids.joint)  # constraint classes take joint ids
    for x in arguments:
        if isinstance(x, (ClusterData, pin.Data)) and not is_pinocchios(model, x):
            _check.model_data(model, x)
        elif isinstance(model, ClusterModel) and index is not None and _is_index(x):
            index(model, x)
    shapes, places = ([x for x in arguments if isinstance(x, kind)] for kind in (pin.GeometryModel, pin.GeometryData))
    for x in shapes:
        joints = [shape.parentJoint for shape in x.geometryObjects]
        if isinstance(model, ClusterModel) and max(joints, default=0) >= model.njoints:
            raise DataMismatchError(
                f"{name}: a shape is attached to joint {max(joints)}, but model {model.name!r} has the joints 0 to "
                f"{model.njoints - 1}. Pass shapes of this model, such as model.collision."
            )
        for y in places:
            if len(y.oMg) != x.ngeoms:
                raise DataMismatchError(
                    f"{name}: the geometry data has {len(y.oMg)} placements for {x.ngeoms} shapes. Use "
                    "geometry_model.createData()."
                )


def _posed(arguments: list[Any]) -> Callable[[Any], Any]:
    """Return a function that converts an argument for Pinocchio and, if the argument is q, runs ``forwardKinematics``.

    Without ``forwardKinematics``, functions that are called later without q would use an older state.
    """
    model, data = (next((x for x in arguments if isinstance(x, kind)), None) for kind in (ClusterModel, ClusterData))
    if model is None or data is None:
        return _of_tree

    def of_tree(x: Any) -> Any:
        if not isinstance(x, (list, tuple, np.ndarray)):
            return _of_tree(x)
        q = _check.pose(model, data, x)
        forwardKinematics(model, data, q)
        return q

    return of_tree


def _is_index(x: Any) -> bool:
    return isinstance(x, (int, np.integer)) and not isinstance(x, (bool, pin.ReferenceFrame))


def _of_tree(x: Any) -> Any:
    if isinstance(x, ClusterModel):
        return x.own_tree
    return x.tree if isinstance(x, ClusterData) else x
