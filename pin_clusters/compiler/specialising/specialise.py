"""``pc.specialise``."""

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
    """Return the model with code of its own: its operations in a row, loops unrolled, zeros gone.

    That is what calls do anyway where ``pc.engine`` is not ``tables``, at the first one. Here it is done now, whatever
    engine is chosen and however long the code is: in a second or less per function (some for derivatives), without
    Numba, kept in the cache folder. Calls stay as they are, with the same checks and errors; ``model.specialised``
    tells what was made. Data of the given model are not data of this one.

    Args:
        model: The model, which stays as it is.
        functions: What to make now: rnea, aba, nonLinearEffects, computeGeneralizedGravity, computeStaticTorque, crba,
            computeMinverse, computeKineticEnergy, computePotentialEnergy, computeMechanicalEnergy, their derivatives.

    Returns:
        A model of the same robot. Its copies by pickle are specialised, too. Where machine code cannot be made (in a
        process that may not execute it, without the JIT) it is the given one.

    Raises:
        ArgumentTypeError: ``model`` is no ``ClusterModel``, or ``functions`` no list of names.
        UnknownNameError: There is no such function to specialise.
        NotAvailableError: A compiled function of the user ties joints of the robot: its operations are not known.

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
    special = model._with_functions(RobotFunctions.asked_for)
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
            known = ", ".join(BY_CALLED_NAME)
            raise UnknownNameError(
                f"{name!r} cannot be specialised.{did_you_mean(name, BY_CALLED_NAME)} There are {known}."
            )
    return names
