"""``pc.specialise`` compiles robot-specific code for selected functions of a model in advance."""

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
    """Compile robot-specific code for functions of a model.

    The code contains no loops over joints and no operations on zeros. The engines ``auto`` and ``traced`` compile it at
    the first call of a function. ``specialise`` compiles it in advance, for every engine and without a size limit.
    Compiling a function takes about one second (for some derivatives, a few seconds) and does not require Numba. The
    code is stored in the cache folder. The functions are called as before and raise the same errors.
    ``model.specialised`` lists the compiled functions. Create new data for the returned model; old data do not fit it.

    Args:
        model: The model. The function does not modify it.
        functions: Names of functions to compile: rnea, aba, nonLinearEffects, computeGeneralizedGravity,
            computeStaticTorque, crba, computeMinverse, computeKineticEnergy, computePotentialEnergy,
            computeMechanicalEnergy and their derivatives.

    Returns:
        A model of the same robot; pickled copies of this model are specialised as well. The function returns ``model``
        itself if it cannot compile code: the JIT is off, or the system forbids the process to execute new code.

    Raises:
        ArgumentTypeError: ``model`` is not a ``ClusterModel``, or ``functions`` is not a list of names.
        UnknownNameError: ``functions`` contains the name of a function that cannot be specialised.
        NotAvailableError: A compiled user function constrains joints of the robot; such a robot cannot be traced.

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
