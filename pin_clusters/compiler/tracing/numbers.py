"""Parameters of a robot that can be inputs of a program: gravity, inertial parameters and transmission ratios."""

from collections.abc import Iterable, Sequence

import numpy as np

from ..._support.arrays import in_order
from ...algorithms.parameters.inertial_parameters import parameters
from ...errors import ArgumentTypeError, NotAvailableError, UnknownNameError
from ...kernels.tables.layout import MINUS_GRAVITY, POTENTIAL
from ...model import ClusterModel, numbers_of
from .inertial import inertial_map
from .ratios import ratio_map

KINDS = ("gravity", "inertial", "ratios")


def checked(model: ClusterModel, function: str, wanted: Iterable[str]) -> tuple[str, ...]:
    requested = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    for name in requested:
        if name not in KINDS:
            raise UnknownNameError(f"parameters={requested!r}: {name!r} is not one of {', '.join(KINDS)}.")
    if len(set(requested)) < len(requested):
        raise ArgumentTypeError(f"parameters={requested!r} contains a name twice.")
    if "inertial" in requested and "ratios" in requested:
        raise NotAvailableError(
            "parameters: inertial and ratios cannot both be inputs, because the inertia of a rotor is multiplied by "
            "the square of a ratio. Make only one of them an input, and set the other with pc.with_parameters."
        )
    if function == "energies" and {"gravity", "inertial"} <= set(requested) and model.tables.params[POTENTIAL] != 0.0:
        raise NotAvailableError(
            f"parameters: gravity and inertial cannot both be inputs for the energies of model {model.name!r}, because "
            "the potential energy of rotors or rods on the universe is a product of gravity and mass."
        )
    return tuple(name for name in KINDS if name in requested)


def labels_of(model: ClusterModel, name: str) -> tuple[str, ...]:
    """Return a descriptive label for each entry of a parameter input.

    Args:
        model: The model.
        name: Name of the parameter input: ``gravity``, ``inertial`` or ``ratios``.

    Example:
        >>> import pin_clusters as pc
        >>> pc.tracing.labels_of(pc.load("four_bar"), "gravity")
        ('x', 'y', 'z')
    """
    if name == "ratios":
        return ratio_map(model).labels
    return parameters(model)[1] if name == "inertial" else ("x", "y", "z")


def values_of(model: ClusterModel, name: str) -> np.ndarray:
    """Return the values of a parameter input for the given model.

    Args:
        model: The model.
        name: ``gravity`` [m/s^2], ``inertial`` (units as in ``pc.parameters``) or ``ratios`` (dimensionless).

    Example:
        >>> import pin_clusters as pc
        >>> pc.tracing.values_of(pc.load("four_bar"), "gravity").round(2)
        array([ 0.  ,  0.  , -9.81])
    """
    if name == "ratios":
        return ratio_map(model).values.copy()
    return parameters(model)[0] if name == "inertial" else np.array(model.gravity.linear)


def tables_for(
    model: ClusterModel, names: Sequence[str], inputs: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    numbers = numbers_of(model)
    if "inertial" in names:
        numbers = inertial_map(model).apply(inputs["inertial"])
    elif "ratios" in names:
        numbers = ratio_map(model).apply(inputs["ratios"])
    numbers = numbers.astype(object)
    if "gravity" in names:
        g = inputs["gravity"]
        numbers[MINUS_GRAVITY : MINUS_GRAVITY + 3] = -g
        if model.tables.params[POTENTIAL]:
            slopes = [model.with_gravity(e).tables.params[POTENTIAL] for e in np.eye(3)]
            numbers[POTENTIAL] = in_order(x * slope for x, slope in zip(g, slopes, strict=True))
    return numbers[: model.tables.params.size], numbers[model.tables.params.size :]
