"""What a cluster model consists of: what its data and the tables that are made later read of it."""

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
    """Return a list of constraints; raise ``ArgumentTypeError`` for anything that is no list."""
    if not isinstance(given, Iterable) or isinstance(given, (str, bytes)):
        raise ArgumentTypeError(
            f"{caller}: constraints must be a list of constraints, such as [pc.Gear(...)], got {type(given).__name__}."
        )
    return tuple(given)


class ModelParts(TreeAttributes, Owner):
    """Attributes of a ``ClusterModel``, which makes them."""

    constraints: tuple[Any, ...]
    closures: tuple[Closure, ...]
    coupling_rows: tuple[Row, ...]
    clusters: tuple[Cluster, ...]
    rotors: tuple[RotorElement, ...]
    inertia_tree: pin.Model
    passive: PassiveForces | None  # springs and the like among the constraints
    name: str
    nq: int
    nv: int
    q_reference: np.ndarray
    tables: Tables
    _collision: pin.GeometryModel
    own_tree: pin.Model
    _wishes: tuple[np.ndarray | None, tuple[str, ...] | None]
    preferred: tuple[str, ...]
    independent_joints: tuple[str, ...]
    dependent_joints: tuple[str, ...]
    tree: pin.Model
    idx_v_independent: np.ndarray
    _functions: Any  # of ``specialising``, which is above: None, or what makes them
    _varies: bool  # whether its numbers are some of many: then code reads them where they stand
    _movers: tuple[Any] | None  # the same, or None, for moves of loops, once they have been moved
    _manifold: Any  # ``configuration.Manifold`` of the topology; None until a function of configurations needs it
    __slots__ = tuple(__annotations__)

    @property
    def motors(self) -> tuple[RotorElement, ...]:
        """The rotors on which torques of motors act: all of ``rotors`` but further stages of gears."""
        return tuple(r for r in self.rotors if r.driven)

    def _recipe(self) -> Any:
        """Return what makes the functions again that the user asked for; None if there are none."""
        return self._functions.recipe() if self._functions is not None and self._functions.asked else None

    def _but(self, **changed: Any) -> Self:
        """Return the same robot with some parts changed, and without what is made later; the rest is shared."""
        other, later = object.__new__(type(self)), dict.fromkeys(("_movers", "_functions"))
        for key in ModelParts.__slots__:
            object.__setattr__(other, key, (changed | later).get(key, getattr(self, key)))
        return other
