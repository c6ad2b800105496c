"""Calls on a ``pin.Model``: Pinocchio's own functions answer them, so that programs may use both kinds of models."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import pinocchio as pin

from ..errors import ArgumentTypeError, DataMismatchError
from .cluster_data import ClusterData
from .cluster_model import ClusterModel, check_model
from .locking import locked

F = TypeVar("F", bound=Callable[..., Any])


def is_pinocchios(model: Any, data: Any = None) -> bool:
    """Return whether Pinocchio's function must answer a call, because the model is a ``pin.Model``.

    Raises:
        DataMismatchError: The data is a ``ClusterData``.
    """
    if not isinstance(model, pin.Model):
        return False
    if isinstance(data, ClusterData):
        raise DataMismatchError(
            f"model {model.name!r} is a pinocchio.Model, but data is a ClusterData (of {data.model!r}). Pass the "
            "ClusterModel, which is data.model, or data = model.createData() of the pinocchio.Model."
        )
    return True


def also_pinocchios(function: F) -> F:
    """Let Pinocchio's function of the same name, if this release has it, answer the calls on a ``pin.Model``."""
    theirs = getattr(pin, function.__name__, None)
    if theirs is None:
        return function

    @functools.wraps(function)
    def either(*args: Any, **named: Any) -> Any:
        model = args[0] if args else named.get("model")
        if isinstance(model, pin.Model) and is_pinocchios(model, args[1] if len(args) > 1 else named.get("data")):
            return theirs(*args, **named)
        return function(*args, **named)

    return either  # type: ignore[return-value]


class _OfEither(type):
    """Makes workspaces of both packages instances of ``Data``."""

    def __instancecheck__(cls, thing: Any) -> bool:
        return isinstance(thing, (pin.Data, ClusterData))


class Data(metaclass=_OfEither):
    """``Data(model)`` is ``model.createData()``, for a ``ClusterModel`` and a ``pin.Model``."""

    def __new__(cls, *model: Any) -> Any:
        """Return a ``ClusterData`` or a ``pin.Data``."""
        if len(model) == 1 and not isinstance(model[0], (pin.Model, pin.Data)):
            check_model(model[0], "Data")
            return model[0].createData()
        return pin.Data(*model)


@also_pinocchios
def buildReducedModel(model: ClusterModel, *given: Any, **named: Any) -> Any:
    """Return a model with joints locked, as ``model.with_locked``; with geometry, also what that becomes.

    Pinocchio's own (4.1) ends the process on trees that are not depth-first, and refuses robots whose joint and body
    have one name; here any robot will do.

    Args:
        model: Cluster model.
        given: As in Pinocchio: the geometry, if any, the joints to lock, the configuration.
        named: The same by name.

    Returns:
        The model; with geometry a tuple of it and the geometry model, or the list of them.

    Raises:
        ArgumentTypeError: Something is missing, or of another type.
        ConstraintError: A constraint would be cut.

    References:
        Pinocchio's ``buildReducedModel``, with the constraints of the robot.
    """
    names = ["list_of_joints_to_lock", "reference_configuration"]
    shapes = named.pop("list_of_geom_models", named.pop("geom_model", None))
    if len(given) + len(named) == len(names) + 1:
        shapes, *given = given  # type: ignore[assignment]
    values = dict(zip(names, given, strict=False)) | named
    if sorted(values) != names:
        raise ArgumentTypeError(
            f"buildReducedModel takes (model, [geometry,] {', '.join(names)}), got {', '.join(values) or 'nothing'}."
        )
    reduced, reduction = locked(model, *(values[name] for name in names))
    if shapes is None:
        return reduced
    one = isinstance(shapes, pin.GeometryModel)
    found = [None if x is None else reduction.geometry(x) for x in ([shapes] if one else shapes)]
    return (reduced, found[0] if one else found)
