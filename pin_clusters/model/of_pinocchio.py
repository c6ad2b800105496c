"""Passes calls with a ``pin.Model`` on to Pinocchio, so that programs can use both kinds of models."""

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
    """Return whether the model is a ``pin.Model``; if it is and ``data`` is a ``ClusterData``, raise an error."""
    if not isinstance(model, pin.Model):
        return False
    if isinstance(data, ClusterData):
        raise DataMismatchError(
            f"model {model.name!r} is a pinocchio.Model, but data is a ClusterData (of {data.model!r}). Pass the "
            "ClusterModel (data.model), or the result of model.createData() of the pinocchio.Model."
        )
    return True


def also_pinocchios(function: F) -> F:
    """Decorate a function so that calls with a ``pin.Model`` run Pinocchio's function of the same name if it exists."""
    theirs = getattr(pin, function.__name__, None)
    if theirs is None:
        return function

    @functools.wraps(function)
    def either(*args: Any, **named: Any) -> Any:
        model = args[0] if args else named.get("model")
        # The type is compared first, because isinstance is slow for Boost.Python classes.
        if type(model) is ClusterModel or not is_pinocchios(model, args[1] if len(args) > 1 else named.get("data")):
            return function(*args, **named)
        return theirs(*args, **named)

    return either  # type: ignore[return-value]


class _OfEither(type):
    """Metaclass that makes the workspaces of both packages instances of ``Data``."""

    def __instancecheck__(cls, thing: Any) -> bool:
        return isinstance(thing, (pin.Data, ClusterData))


class Data(metaclass=_OfEither):
    """Create a workspace for a ``ClusterModel`` or a ``pin.Model``; ``Data(model)`` returns ``model.createData()``.

    ``isinstance(data, Data)`` is True for the workspaces of both packages.

    Example:
        >>> import pin_clusters as pc
        >>> data = pc.Data(pc.load("four_bar"))
        >>> type(data).__name__, isinstance(data, pc.Data)
        ('ClusterData', True)
    """

    def __new__(cls, *model: Any) -> Any:
        if len(model) == 1 and not isinstance(model[0], (pin.Model, pin.Data)):
            check_model(model[0], "Data")
            return model[0].createData()
        return pin.Data(*model)


@also_pinocchios
def buildReducedModel(model: ClusterModel, *given: Any, **named: Any) -> Any:
    """Return a model with locked joints, like ``model.with_locked``. If geometry is passed, also reduce the geometry.

    For trees whose joints are not in depth-first order, ``pin.buildReducedModel`` (4.1) terminates the process. It also
    rejects robots in which a joint and a body have the same name. This function accepts any robot.

    Args:
        model: Cluster model.
        given: As in Pinocchio: geometry (optional), joints to lock, and configuration of shape (nq,), [rad] or [m].
        named: The same arguments by name.

    Returns:
        The model. If geometry is passed, a tuple of the model and the geometry model (or list of geometry models).

    Raises:
        ArgumentTypeError: An argument is missing or has a wrong type.
        ConstraintError: A constraint couples locked joints to joints that are not locked.

    References:
        Pinocchio's ``buildReducedModel``, extended to the constraints of the robot.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("mit_humanoid_leg")
        >>> joints = [model.getJointId(name) for name in ("hip_rz", "hip_rz_rotor")]
        >>> model.nv, pc.buildReducedModel(model, joints, pc.neutral(model)).nv
        (5, 4)
    """
    named = {"geometry" if key in ("geom_model", "list_of_geom_models") else key: x for key, x in named.items()}
    names = ["list_of_joints_to_lock", "reference_configuration"]
    values = _values("buildReducedModel", ["geometry"], names, given, named)
    shapes = values.get("geometry")
    reduced, copy = locked(model, *(values[name] for name in names))
    if shapes is None:
        return reduced
    single = isinstance(shapes, pin.GeometryModel)
    reduced_shapes = [None if x is None else copy.geometry(x) for x in ([shapes] if single else shapes)]
    return (reduced, reduced_shapes[0] if single else reduced_shapes)


def appendModel(modelA: Any, modelB: Any, *given: Any, **named: Any) -> Any:
    """Join two models: fix the second model to a frame of the first, and keep the constraints of both models.

    If a constraint of the second model refers to its universe, it applies to the body of the first model that carries
    the second model. As in Pinocchio, the joint ids of the second model come after the ids in the subtree of the joint
    that carries it. Frames and shapes of the first model keep their ids. ``pin.appendModel`` (4.1) drops the armature
    and requires joints in depth-first order; this function keeps the armature and accepts any tree.

    Args:
        modelA: Cluster model or ``pin.Model``; if both models are a ``pin.Model``, ``pin.appendModel`` is called.
        modelB: Cluster model or ``pin.Model``; its name and its gravity are ignored.
        given: As in Pinocchio: ``geomModelA`` and ``geomModelB`` (optional), ``frame_in_modelA`` (id or name), ``aMb``
            (a ``pin.SE3``, [m]).
        named: The same arguments by name.

    Returns:
        The model. If geometry is passed, a tuple of the model and the geometry model, which has all collision pairs
        between the robots.

    Raises:
        ArgumentTypeError: An argument is missing or has a wrong type.
        UnknownNameError: The first model does not have the frame.
        ModelError: Joints, bodies or frames of the two models have the same name.

    References:
        Pinocchio's ``appendModel``, extended to the constraints of the robots.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> leg, arm = pc.load("mit_humanoid_leg"), pin.buildSampleModelManipulator()
        >>> pc.appendModel(leg, arm, "ankle", pin.SE3.Identity()).nv == leg.nv + arm.nv
        True
    """
    if isinstance(modelA, pin.Model) and isinstance(modelB, pin.Model):
        return pin.appendModel(modelA, modelB, *given, **named)
    a, b = (ClusterModel(m) if isinstance(m, pin.Model) else m for m in (modelA, modelB))
    for model in (a, b):
        check_model(model, "appendModel")
    names = ["frame_in_modelA", "aMb"]
    values = _values("appendModel", ["geomModelA", "geomModelB"], names, given, named)
    shapes = (values["geomModelA"], values["geomModelB"]) if len(values) > len(names) else None
    joined, joined_shapes = appended(a, b, shapes, values["frame_in_modelA"], values["aMb"])
    return joined if shapes is None else (joined, joined_shapes)


def _values(caller: str, shapes: list[str], names: list[str], given: Any, named: Any) -> dict[str, Any]:
    """Return all arguments by name. The arguments named in ``shapes`` come first and may be omitted."""
    keys = [*shapes, *names] if len(given) + len(named) == len(shapes) + len(names) else names
    values = dict(zip(keys, given, strict=False)) | named
    if sorted(values) != sorted(keys):
        raise ArgumentTypeError(
            f"{caller} takes (..., [{', '.join(shapes)},] {', '.join(names)}), got {', '.join(values) or 'nothing'}."
        )
    return values
