"""``pc.specialise`` compiles robot-specific code for chosen functions of a model in advance."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pinocchio as pin

from ...errors import ArgumentTypeError, UnknownNameError, did_you_mean, shown
from ...model import ClusterModel
from ..entry_points import BOUNDSCHECK, JIT
from .robot_functions import RobotFunctions
from .traced_kernels import BY_CALLED_NAME


def specialise(model: ClusterModel, functions: Iterable[str] = ("rnea", "aba")) -> ClusterModel:
    """Compile robot-specific code for functions of a model: loops unrolled, zeros removed.

    With the engines ``auto`` and ``traced``, the first call of a function does the same. ``specialise`` does it now,
    whichever engine is active and however long the code is. It takes about a second per function (a few for some
    derivatives), needs no Numba and keeps the code in the cache folder. Calls do not change: checks and errors are the
    same. ``model.specialised`` lists the compiled functions. Data of ``model`` cannot be used with the returned model.

    Args:
        model: The model; it is not changed.
        functions: Names of functions to compile: rnea, aba, nonLinearEffects, computeGeneralizedGravity,
            computeStaticTorque, crba, computeMinverse, computeKineticEnergy, computePotentialEnergy,
            computeMechanicalEnergy and their derivatives.

    Returns:
        A model of the same robot; its pickled copies are specialised as well. If machine code cannot be made (the JIT
        is off, or the process may not execute memory that it wrote), the given model is returned.

    Raises:
        ArgumentTypeError: ``model`` is not a ``ClusterModel``, or ``functions`` is not a list of names.
        UnknownNameError: A name is not a function that can be specialised.
        NotAvailableError: A compiled user function constrains joints of the robot, so it cannot be traced.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.specialise(pc.load("four_bar"))
        >>> data, q = model.createData(), pc.neutral(model)
        >>> a = pc.aba(model, data, q, np.ones(1), pc.rnea(model, data, q, np.ones(1), np.ones(1)))
        >>> [x.function for x in model.specialised], bool(abs(a - 1.0) < 1e-9)
        (['rnea', 'aba'], True)
    """
    if not isinstance(model, ClusterModel):
        cure = " Wrap it: pc.ClusterModel(model, constraints)." if isinstance(model, pin.Model) else ""
        raise ArgumentTypeError(f"specialise: model must be a ClusterModel, got {type(model).__name__}.{cure}")
    names = _names(functions)
    if not JIT or BOUNDSCHECK:
        return model
    special = model._with_functions(RobotFunctions.requested)
    for name in names:
        special._functions.code(name, must=True)
    return special


def _names(functions: Any) -> list[str]:
    if isinstance(functions, (str, bytes)) or not np.iterable(functions):
        raise ArgumentTypeError(
            f"specialise: functions must be a list of names, such as ('rnea',), got {shown(functions)}."
        )
    names = list(functions)
    for name in names:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"specialise: functions must be names, got {shown(name)}.")
        if name not in BY_CALLED_NAME:
            available = ", ".join(BY_CALLED_NAME)
            raise UnknownNameError(
                f"{name!r} cannot be specialised.{did_you_mean(name, BY_CALLED_NAME)} Available functions: {available}."
            )
    return names
