"""Defines the order of a robot's inertial parameters, which is also the order of the regressors' columns."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..constraints.closures import RodClosure, massive
from ..kernels.tables.regressor_layout import PARAMETERS
from .elements import RotorElement
from .parts import ModelParts


@dataclass(frozen=True, eq=False)
class ParameterColumns:
    """Columns of the regressors, grouped by the objects whose parameters they multiply."""

    bodies: int  # number of bodies (joints 1, 2, ... of the tree); each has ten columns
    rotors: tuple[RotorElement, ...]  # ``Rotor`` constraints, one column each
    armatures: tuple[int, ...]  # index in the tree's v of every nonzero armature, one column each
    rods: tuple[RodClosure, ...]  # rods with mass, one column each

    @cached_property
    def rotors_from(self) -> int:
        return PARAMETERS * self.bodies

    @cached_property
    def armatures_from(self) -> int:
        return self.rotors_from + len(self.rotors)

    @cached_property
    def rods_from(self) -> int:
        return self.armatures_from + len(self.armatures)

    @cached_property
    def width(self) -> int:
        return self.rods_from + len(self.rods)


def parameter_columns(model: ModelParts) -> ParameterColumns:
    return ParameterColumns(
        model.own_tree.njoints - 1,
        tuple(r for r in model.rotors if r.source is not None),
        tuple(np.flatnonzero(model.inertia_tree.armature).tolist()),
        tuple(massive(model.closures)),
    )
