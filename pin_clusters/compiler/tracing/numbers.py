"""Numbers of a model's tables that are inputs of a program: gravity, inertial parameters, ratios."""

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
    """Return which numbers are inputs, in the order of ``KINDS``.

    Raises:
        UnknownNameError: There are no such numbers.
        NotAvailableError: They cannot be inputs together.
    """
    given = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    for name in given:
        if name not in KINDS:
            raise UnknownNameError(f"parameters={given!r}: {name!r} is none of {', '.join(KINDS)}.")
    if len(set(given)) < len(given):
        raise ArgumentTypeError(f"parameters={given!r} has one of them twice.")
    if "inertial" in given and "ratios" in given:
        raise NotAvailableError(
            "parameters: inertial and ratios together are not available, as the inertia of a rotor is multiplied by "
            "the square of a ratio. Take one of them as input; pc.with_parameters makes a model of the others."
        )
    if function == "energies" and {"gravity", "inertial"} <= set(given) and model.tables.params[POTENTIAL] != 0.0:
        raise NotAvailableError(
            f"parameters: gravity and inertial together are not available for the energies of model {model.name!r}, as "
            "rotors or rods on the universe have a potential energy, their product."
        )
    return tuple(name for name in KINDS if name in given)


def labels_of(model: ClusterModel, name: str) -> tuple[str, ...]:
    """Return what each number of an input is."""
    if name == "ratios":
        return ratio_map(model).labels
    return parameters(model)[1] if name == "inertial" else ("x", "y", "z")


def values_of(model: ClusterModel, name: str) -> np.ndarray:
    """Return the numbers that the model has."""
    if name == "ratios":
        return ratio_map(model).values.copy()
    return parameters(model)[0] if name == "inertial" else np.array(model.gravity.linear)


def tables_for(
    model: ClusterModel, names: Sequence[str], inputs: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the floats of the tables, and what the workspace holds at first, with inputs in the place of numbers."""
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
