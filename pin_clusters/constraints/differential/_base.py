"""Base class of all mechanisms of the library."""

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pinocchio as pin

from .._closed_form import ClosedForm
from .._frames import coordinate_joint
from ..closures import Closure
from ..coupling import Coupling
from ..rows import Constraint, Row, number, store

End: TypeAlias = tuple[int, np.ndarray]
"""Joint id, and a point in the frame of that joint, shape (3,), [m]."""


class Differential(Constraint):
    """Base class of the mechanisms in the library, whose equations are derived in closed form.

    Construct a mechanism with ``pc.Differential.<mechanism>(...)``:

    - Mechanisms with explicit equations: ``bevel(left, right, pitch, roll)``, ``planetary(sun, carrier, ring, ...)``,
      ``parallelogram(crank, coupler, rocker, closure)``.
    - Mechanisms with implicit equations: ``five_bar(crank_1, coupler_1, crank_2, coupler_2, closure)``,
      ``push_rod_ankle(...)``, ``ankle_2rsu(...)``, ``tello_hip(...)``, ``tello_knee_ankle(...)``.

    Each mechanism is a frozen dataclass, of which only the parameters are compared, hashed and pickled. Lengths are
    in m, angles in rad.

    Example:
        >>> import pin_clusters as pc
        >>> pc.Differential.bevel("left", "right", "pitch", "roll").independent
        ('left', 'right')
    """

    mechanism: ClassVar[str] = ""
    independent_fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, mechanism: str = "", independent: tuple[str, ...] = ()) -> None:
        super().__init_subclass__()
        if not mechanism:  # only base classes have no mechanism name
            return
        cls.mechanism, cls.independent_fields = mechanism, independent
        setattr(Differential, mechanism, cls)

    @property
    def _kind(self) -> str:
        return f"Differential.{self.mechanism}"

    def _check_numbers(self, fields: tuple[str, ...], nonzero: bool = False, positive: bool = False) -> None:
        for f in fields:
            store(self, **{f: number(getattr(self, f), f, self.label, nonzero=nonzero, positive=positive)})

    def _coordinate_joints(self, tree: pin.Model) -> tuple[int, ...]:
        return tuple(coordinate_joint(tree, name, self.label) for name in self._parts())

    def _coupling(self, phi: Any) -> list[Coupling]:
        return [Coupling(self._parts(), phi, independent=self.independent, name=f"generic {self.mechanism}")]

    @property
    def independent(self) -> tuple[str, ...]:
        """The names of the preferred independent joints, such as rotors, cranks or actuators."""
        return tuple(getattr(self, f) for f in self.independent_fields)

    def rows(self, tree: pin.Model) -> tuple[Row, ...]:
        """Return the explicit equations; the result is empty if the mechanism is implicit."""
        return ()

    def closures(self, tree: pin.Model) -> list[Closure]:
        """Return the implicit equations; the result is empty if the mechanism is explicit."""
        return []

    def closed_form(self, tree: pin.Model) -> ClosedForm | None:
        """Return all assemblies as explicit functions of the independent joints, or None if no such functions exist."""
        return None

    def rods(self, tree: pin.Model) -> list[tuple[End, End]]:
        """Return the two ends of each rod, for drawing; an end is a joint id and a point in the frame of that joint."""
        return []

    def generic(self, tree: pin.Model) -> list[Any]:
        """Return equivalent generic constraints (Loop, Rod, Coupling) for comparison; these constraints are slower."""
        raise NotImplementedError


@dataclass(frozen=True)
class LinearMap:
    """Picklable function that returns ``matrix @ x``."""

    matrix: tuple[tuple[float, ...], ...]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.array(self.matrix) @ x
