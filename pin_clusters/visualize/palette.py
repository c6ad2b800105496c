"""Defines colours that people with any type of colour vision can distinguish."""

import math

import numpy as np

_CYCLE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#f0e442")
"""Colours of M. Okabe and K. Ito, "Color Universal Design", 2008, except black and vermillion (see ``OPEN``)."""

STRUCTURE, BASE, BELT, MARK, GHOST = "#d5dae1", "#4a525c", "#2a2d33", "#ffffff", "#6a3d9a"
GROUND = "#c9cfc4"
CLOSED, OPEN = "#66707c", "#d55e00"
FORCE, CONTACT = "#cc79a7", "#009e73"

SHUT, AJAR = 1e-9, 1e-3
"""Residuals, as fractions of their scale, at which the colour of a closure starts and stops changing."""


def rgb(color: str) -> np.ndarray:
    return np.array([int(color[i : i + 2], 16) / 255.0 for i in (1, 3, 5)])


def mixed(color: str, other: str, part: float) -> str:
    values = np.rint(255.0 * ((1.0 - part) * rgb(color) + part * rgb(other))).astype(int)
    return "#" + bytes(values.tolist()).hex()


def number(color: str) -> int:
    return int(color[1:], 16)


def of_level(level: int) -> str:
    """Return the colour of a cluster; ``level`` is the number of clusters between this cluster and the base."""
    return _CYCLE[level % len(_CYCLE)]


def of_residual(residual: float) -> np.ndarray:
    """Return the colour, three numbers from 0 to 1, of a closure with this scaled residual; NaN counts as open."""
    part = math.log(max(residual, SHUT) / SHUT) / math.log(AJAR / SHUT) if residual <= AJAR else 1.0
    return (1.0 - part) * rgb(CLOSED) + part * rgb(OPEN)
