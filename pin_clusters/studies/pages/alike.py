"""Rows of numbers that repeat each other, such as those of mirror images."""

from collections.abc import Sequence

import numpy as np

_ALIKE = 1e-6
"""Numbers that differ by less, relatively, are those of mirror images."""


def alike(rows: Sequence[np.ndarray]) -> list[list[int]]:
    """Return the indices of rows with the same numbers, such as those of mirror images, together; in their order."""
    found: list[list[int]] = []
    for i, row in enumerate(rows):
        for group in found:
            if np.allclose(rows[group[0]], row, rtol=_ALIKE, atol=0.0):
                group.append(i)
                break
        else:
            found.append([i])
    return found
