"""Contact objects of Pinocchio: whether they fit the model and each other."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ...errors import ArgumentTypeError, ConstraintError, PinClustersWarning, ShapeError
from ...model import ClusterModel
from ._forces import Solution

_CONTRADICTION = 1e-6
"""What redundant contacts miss, beside what is asked for or 1, is no rounding."""


def models_of(model: ClusterModel, contact_models: Any) -> list[Any]:
    """Return contacts as a list; all fit the model."""
    try:
        models = list(contact_models)
    except TypeError:
        raise ArgumentTypeError(
            f"contact_models must be a list of pin.RigidConstraintModel, got {type(contact_models).__name__}."
        ) from None
    for i, c in enumerate(models):
        if not isinstance(c, pin.RigidConstraintModel):
            raise ArgumentTypeError(
                f"contact_models[{i}] must be a pin.RigidConstraintModel, got {type(c).__name__}. Make it with "
                "pc.RigidConstraintModel(type, model, ...)."
            )
        if max(c.joint1_id, c.joint2_id) >= model.njoints:
            raise ConstraintError(
                f"contact_models[{i}] is on joint {max(c.joint1_id, c.joint2_id)}, but model {model.name!r} has the "
                f"joints 0 to {model.njoints - 1}. Make it with pc.RigidConstraintModel(type, model, ...)."
            )
        if c.reference_frame == pin.WORLD:
            raise ConstraintError(
                f"contact_models[{i}] has the reference frame WORLD; take pin.LOCAL or pin.LOCAL_WORLD_ALIGNED."
            )
    return models


def datas_of(models: Sequence[Any], contact_datas: Any) -> list[Any]:
    """Return the data of contacts as a list, as many as there are contacts."""
    if contact_datas is None:
        raise ArgumentTypeError("contact_datas is missing: [c.createData() for c in contact_models].")
    datas = list(contact_datas)
    if len(datas) != len(models):
        raise ShapeError(f"there are {len(models)} contact_models, but {len(datas)} contact_datas.")
    for i, d in enumerate(datas):
        if not isinstance(d, pin.RigidConstraintData):
            raise ArgumentTypeError(f"contact_datas[{i}] must be a pin.RigidConstraintData, got {type(d).__name__}.")
    return datas


def size(c: Any) -> int:
    return 3 if c.type == pin.ContactType.CONTACT_3D else 6


def tell_contradictions(model: ClusterModel, models: Sequence[Any], solution: Solution) -> None:
    """Warn of contacts that cannot all be closed, as others ask for something else."""
    if solution.rank == len(solution.forces) or not solution.found[1] > _CONTRADICTION * max(1.0, solution.asked):
        return
    named, row = [], 0
    for i, c in enumerate(models):
        if np.abs(solution.missed[row : row + size(c)]).max() > _CONTRADICTION * max(1.0, solution.asked):
            joints = " and ".join(repr(model.names[j]) for j in (c.joint1_id, c.joint2_id) if j)
            named.append(f"{i} (on {joints or 'the universe'})")
        row += size(c)
    warnings.warn(
        f"the contacts {', '.join(named)} contradict each other: rank {solution.rank} of {row} rows, and what is "
        f"asked of them is missed by up to {solution.found[1]:.3g} m/s^2 or rad/s^2 (m/s or rad/s after an impact). "
        "Leave out redundant contacts, or ask of them what can be.",
        PinClustersWarning,
        stacklevel=3,
    )
