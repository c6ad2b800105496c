"""Volume, or surface, and second moments of shapes of unit density."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from ....errors import LoadError

FORMS = {"sphere": 1, "capsule": 2, "ellipsoid": 3, "cylinder": 2, "box": 3}
"""How many sizes a shape has."""


def solid(kind: str, size: np.ndarray, shell: bool, owner: str) -> pin.Inertia:
    """Return the inertia of a shape of density 1, about its centre; of a shell: 1 per area.

    Args:
        kind: One of ``FORMS``.
        size: Radii and half lengths, as MJCF has them.
        shell: Whether the mass is in the surface.
        owner: For messages.
    """
    if shell:
        return _shell(kind, size, owner)
    if kind == "box":
        mass = 8.0 * float(np.prod(size))
        x, y, z = size**2
        return _diagonal(mass, np.array([y + z, x + z, x + y]) / 3.0)
    if kind in ("sphere", "ellipsoid"):
        a = np.broadcast_to(size, 3)
        mass = 4.0 / 3.0 * math.pi * float(np.prod(a))
        x, y, z = a**2
        return _diagonal(mass, np.array([y + z, x + z, x + y]) / 5.0)
    r, half = size
    mass = math.pi * r**2 * 2.0 * half
    across, along = mass * (r**2 / 4.0 + half**2 / 3.0), mass * r**2 / 2.0
    if kind == "cylinder":
        return pin.Inertia(mass, np.zeros(3), np.diag([across, across, along]))
    caps = 4.0 / 3.0 * math.pi * r**3  # two half balls, whose centres are 3/8 r beyond the ends
    across += caps * (2.0 / 5.0 * r**2 + half**2 + 0.75 * r * half)
    along += caps * 2.0 / 5.0 * r**2
    return pin.Inertia(mass + caps, np.zeros(3), np.diag([across, across, along]))


def _diagonal(mass: float, per_mass: np.ndarray) -> pin.Inertia:
    return pin.Inertia(mass, np.zeros(3), np.diag(mass * per_mass))


def _shell(kind: str, size: np.ndarray, owner: str) -> pin.Inertia:
    if kind == "sphere":
        r = size[0]
        return _diagonal(4.0 * math.pi * r**2, np.full(3, 2.0 / 3.0 * r**2))
    if kind == "box":
        mass, moments = 0.0, np.zeros(3)
        for i in range(3):  # the two faces across axis i
            j, k = (i + 1) % 3, (i + 2) % 3
            area = 8.0 * size[j] * size[k]
            second = np.zeros(3)  # mean square of each coordinate on them
            second[[i, j, k]] = size[i] ** 2, size[j] ** 2 / 3.0, size[k] ** 2 / 3.0
            mass += area
            moments += area * (second.sum() - second)
        return pin.Inertia(mass, np.zeros(3), np.diag(moments))
    if kind == "ellipsoid":
        raise LoadError(f"{owner}: the shell of an ellipsoid has no closed form. Give its body an <inertial>.")
    r, half = size
    side = 4.0 * math.pi * r * half
    across, along = side * (r**2 / 2.0 + half**2 / 3.0), side * r**2
    if kind == "cylinder":
        ends = 2.0 * math.pi * r**2
        across += ends * (r**2 / 4.0 + half**2)
        along += ends * r**2 / 2.0
    else:  # two half spheres, whose centres are r / 2 beyond the ends
        ends = 4.0 * math.pi * r**2
        across += ends * (2.0 / 3.0 * r**2 + half**2 + r * half)
        along += ends * 2.0 / 3.0 * r**2
    return pin.Inertia(side + ends, np.zeros(3), np.diag([across, across, along]))
