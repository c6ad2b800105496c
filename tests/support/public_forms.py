"""All forms of all public functions that take a model: Pinocchio's, and those of this package's own signatures."""

from __future__ import annotations

import inspect
from typing import Any

import pinocchio as pin
from support.overloads import Form, forms

import pin_clusters as pc

LEFT_OUT = {
    "RigidConstraintModel", "branches", "contactInverseDynamics", "contact_points", "efficiency", "expand_mimic",
    "identifiable_parameters", "identify", "into_mjcf", "inverse_kinematics", "mechanism", "on_ground",
    "parameters", "simulate", "specialise", "to_mjcf", "to_urdf", "trace", "with_independent", "with_parameters",
}  # fmt: skip
"""Functions that make models, files or studies, or need contacts of another kind: they call functions that are here."""
PASSED = ("computeFrameKinematicRegressor", "computeJointKinematicRegressor")


def _parameters(function: Any) -> list[inspect.Parameter]:
    """Return the parameters of a function that takes a model; of others nothing."""
    usable = callable(function) and not isinstance(function, type)
    found = list(inspect.signature(function).parameters.values()) if usable else []
    return found if found and found[0].name == "model" else []


def _forms(name: str) -> list[Form]:
    """Return the forms of a function: those of Pinocchio, and those of its own signature."""
    if name in PASSED:
        return forms(name)
    parameters = _parameters(getattr(pc, name))
    of_data = bool(parameters[1:]) and parameters[1].name == "data" and parameters[1].default is inspect.Parameter.empty
    plain = [x for x in parameters[1 + of_data :] if x.kind is x.POSITIONAL_OR_KEYWORD]
    least = sum(x.default is x.empty for x in plain)
    own = [Form(name, tuple(x.name for x in plain[:n]), of_data) for n in range(least, len(plain) + 1)]
    return list(dict.fromkeys([*(forms(name) if hasattr(pin, name) else ()), *own]))


NAMES = [n for n in pc.__all__ if n not in LEFT_OUT and not n.startswith("build") and _parameters(getattr(pc, n))]
PUBLIC = {name: _forms(name) for name in (*NAMES, *PASSED)}
KEYWORDS = {name: [x.name for x in _parameters(getattr(pc, name)) if x.kind is x.KEYWORD_ONLY] for name in NAMES}
"""Arguments that are taken by name only."""
