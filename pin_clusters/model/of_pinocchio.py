"""Calls on a ``pin.Model``: Pinocchio's own functions answer them, so that programs may use both kinds of models."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import pinocchio as pin

from ..errors import ArgumentTypeError, DataMismatchError
from .cluster_data import ClusterData
from .cluster_model import ClusterModel, check_model
from .editing import appended, locked

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
        # ``isinstance`` with a class of Boost.Python takes as long as the shortest functions of Pinocchio.
        if type(model) is ClusterModel or not is_pinocchios(model, args[1] if len(args) > 1 else named.get("data")):
            return function(*args, **named)
        return theirs(*args, **named)

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
    named = {"geometry" if key in ("geom_model", "list_of_geom_models") else key: x for key, x in named.items()}
    names = ["list_of_joints_to_lock", "reference_configuration"]
    values = _values("buildReducedModel", ["geometry"], names, given, named)
    shapes = values.get("geometry")
    reduced, copy = locked(model, *(values[name] for name in names))
    if shapes is None:
        return reduced
    one = isinstance(shapes, pin.GeometryModel)
    found = [None if x is None else copy.geometry(x) for x in ([shapes] if one else shapes)]
    return (reduced, found[0] if one else found)


def appendModel(modelA: Any, modelB: Any, *given: Any, **named: Any) -> Any:
    """Return one model of two: the second one is fixed to a frame of the first one, with the constraints of both.

    Constraints of the second model on its universe apply to the body that carries it. Ids of joints are Pinocchio's:
    the joints of the second model follow the subtree that carries them. Frames and shapes of the first model keep
    their ids. Pinocchio's own function (4.1) drops armature and takes depth-first trees only; here any tree will do.

    Args:
        modelA: Cluster model or ``pin.Model``; if both are a ``pin.Model``, Pinocchio's own function is called.
        modelB: The same; its name and its gravity are not used.
        given: As in Pinocchio: ``geomModelA`` and ``geomModelB``, if any, ``frame_in_modelA`` (id or name), ``aMb``.
        named: The same by name.

    Returns:
        The model; with geometry a tuple of it and the geometry model, with all collision pairs between the robots.

    Raises:
        ArgumentTypeError: Something is missing, or of another type.
        UnknownNameError: There is no such frame.
        ModelError: Both models have joints, bodies or frames of one name.

    References:
        Pinocchio's ``appendModel``, with the constraints of the robots.
    """
    if isinstance(modelA, pin.Model) and isinstance(modelB, pin.Model):
        return pin.appendModel(modelA, modelB, *given, **named)
    a, b = (ClusterModel(m) if isinstance(m, pin.Model) else m for m in (modelA, modelB))
    for model in (a, b):
        check_model(model, "appendModel")
    names = ["frame_in_modelA", "aMb"]
    values = _values("appendModel", ["geomModelA", "geomModelB"], names, given, named)
    shapes = (values["geomModelA"], values["geomModelB"]) if len(values) > len(names) else None
    made, found = appended(a, b, shapes, values["frame_in_modelA"], values["aMb"])
    return made if shapes is None else (made, found)


def _values(caller: str, shapes: list[str], names: list[str], given: Any, named: Any) -> dict[str, Any]:
    """Return arguments by name; those of ``shapes`` come first and may be left out."""
    keys = [*shapes, *names] if len(given) + len(named) == len(shapes) + len(names) else names
    values = dict(zip(keys, given, strict=False)) | named
    if sorted(values) != sorted(keys):
        raise ArgumentTypeError(
            f"{caller} takes (..., [{', '.join(shapes)},] {', '.join(names)}), got {', '.join(values) or 'nothing'}."
        )
    return values
