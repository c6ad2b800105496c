"""Names of Pinocchio that this package does not have itself: passed through, or led to the tree of a cluster model."""

import functools
import importlib
import importlib.util
import inspect
from typing import Any

import pinocchio as pin

from .._support.missing import missing, route
from ..errors import NotAvailableError
from ..model import ClusterData, ClusterModel

# they read placements, frames and collision shapes, which are the tree's
_ON_TREE = frozenset("""
    buildGeomFromMJCF buildGeomFromUrdf buildGeomFromUrdfString buildSampleGeometryModelHumanoid
    buildSampleGeometryModelManipulator computeBodyRadius computeCollisions computeCollisionsInParallel
    computeDistances computeFrameKinematicRegressor computeJointKinematicRegressor findCommonAncestor
    removeCollisionPairs removeCollisionPairsFromXML updateGeometryPlacements
""".split())  # fmt: skip

_CLASSES_ON_TREE = (
    "BroadPhaseManager", "TreeBroadPhaseManager", "FrameAnchor", "JointFriction", "JointLimit", "PointAnchor",
    "PointContact",
)  # fmt: skip


def passed(name: str) -> Any:
    """Return what Pinocchio has under a name.

    What does not depend on a model is Pinocchio's own object. A function of models is Pinocchio's for a ``pin.Model``;
    for a ``ClusterModel`` it works on ``model.tree``, if that is all it needs, or says what to use instead.

    Args:
        name: As in ``pc.name``.

    Raises:
        NotAvailableError: Another release of Pinocchio has it.
        AttributeError: No Pinocchio has it.
    """
    if name.startswith("_") or not (hasattr(pin, name) or _is_module(name)):
        missing(name)
    thing = getattr(pin, name) if hasattr(pin, name) else importlib.import_module(f"pinocchio.{name}")
    if inspect.ismodule(thing) or not callable(thing) or not _takes_a_model(thing):
        return thing
    return _of_models(name, thing)


def _is_module(name: str) -> bool:
    """Whether it is a module of Pinocchio, which may not be imported yet."""
    return name.isidentifier() and importlib.util.find_spec(f"pinocchio.{name}") is not None


def _takes_a_model(thing: Any) -> bool:
    """Whether a function or a class of Pinocchio takes a model or its data; read from its docstring."""
    if inspect.isfunction(thing):
        return "model" in inspect.signature(thing).parameters
    if inspect.isclass(thing) and (
        thing.__name__.startswith("StdVec_") or issubclass(thing, (pin.Model, pin.ModelPool))
    ):
        return False
    doc = thing.__init__.__doc__ if inspect.isclass(thing) else thing.__doc__
    signatures = [line.split("->")[0] for line in (doc or "").splitlines() if "->" in line]
    return any("(Model)" in text or "(Data)" in text for text in signatures)


def _of_models(name: str, function: Any) -> Any:
    """Return the function or class of Pinocchio that also takes a ``ClusterModel``, or raises and names a route."""
    target = function.__init__ if inspect.isclass(function) else function

    @functools.wraps(target)
    def call(*args: Any, **named: Any) -> Any:
        ours = any(isinstance(x, (ClusterModel, ClusterData)) for x in (*args, *named.values()))
        if not ours:
            return target(*args, **named)
        if name not in _ON_TREE and not name.startswith(_CLASSES_ON_TREE):
            raise NotAvailableError(f"pin_clusters has no {name!r} for a ClusterModel (pinocchio has): {route(name)}")
        return target(*map(_of_tree, args), **{key: _of_tree(x) for key, x in named.items()})

    if inspect.isclass(function):
        return type(name, (function,), {"__init__": call, "__doc__": function.__doc__})
    return call


def _of_tree(x: Any) -> Any:
    """Return what Pinocchio takes in the place of a cluster model or its data."""
    if isinstance(x, ClusterModel):
        return x.own_tree
    return x.tree if isinstance(x, ClusterData) else x
