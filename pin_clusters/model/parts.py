"""Declares the attributes of a cluster model for modules that ``cluster_model`` imports."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import pinocchio as pin

from ..compiler.call_layer import Owner
from ..constraints.closures import Closure
from ..constraints.rows import Row
from ..errors import ArgumentTypeError
from .elements import Cluster, RotorElement
from .packing import Tables
from .passive import PassiveForces
from .tree_attributes import TreeAttributes


def checked_constraints(caller: str, given: Any) -> tuple[Any, ...]:
    if not isinstance(given, Iterable) or isinstance(given, (str, bytes)):
        raise ArgumentTypeError(
            f"{caller}: constraints must be a list of constraints, such as [pc.Gear(...)], got {type(given).__name__}."
        )
    return tuple(given)


class ModelParts(TreeAttributes, Owner):
    """Base class with the attributes of a ``ClusterModel``, whose constructor sets them."""

    constraints: tuple[Any, ...]
    closures: tuple[Closure, ...]
    coupling_rows: tuple[Row, ...]
    clusters: tuple[Cluster, ...]
    rotors: tuple[RotorElement, ...]
    inertia_tree: pin.Model
    passive: PassiveForces | None  # springs and other passive forces among the constraints
    name: str
    nq: int
    nv: int
    q_reference: np.ndarray
    tables: Tables
    _collision: pin.GeometryModel
    own_tree: pin.Model
    _requested: tuple[np.ndarray | None, tuple[str, ...] | None]
    preferred: tuple[str, ...]
    independent_joints: tuple[str, ...]
    dependent_joints: tuple[str, ...]
    tree: pin.Model
    idx_v_independent: np.ndarray
    _functions: Any  # compiled functions, or None; the type Any avoids an import of ``specialising``
    _varies: bool  # whether compiled code reads the parameters from the tables, because they vary
    _movers: tuple[Any] | None  # tuple with the functions that move loops, set when a loop first moves
    _manifold: Any  # ``configuration.Manifold`` of the topology; None until first use
    __slots__ = tuple(__annotations__)

    @property
    def motors(self) -> tuple[RotorElement, ...]:
        """The rotors of motors: all of ``rotors`` except gear stages."""
        return tuple(r for r in self.rotors if r.driven)

    def _recipe(self) -> Any:
        return self._functions.recipe() if self._functions is not None and self._functions.asked else None

    def _but(self, **changed: Any) -> Self:
        """Return the same robot with some attributes replaced and no cached functions; share all other attributes."""
        clone, cached = object.__new__(type(self)), dict.fromkeys(("_movers", "_functions"))
        for key in ModelParts.__slots__:
            object.__setattr__(clone, key, (changed | cached).get(key, getattr(self, key)))
        return clone
