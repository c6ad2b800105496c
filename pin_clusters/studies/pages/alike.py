"""Group table rows with equal numbers, such as rows of mirrored joints."""

from collections.abc import Sequence

import numpy as np

_ALIKE = 1e-6
"""Relative tolerance within which numbers count as equal."""


def alike(rows: Sequence[np.ndarray]) -> list[list[int]]:
    """Group rows with equal numbers; return one list of row indices per group, in the order of the rows."""
    groups: list[list[int]] = []
    for i, row in enumerate(rows):
        for group in groups:
            if np.allclose(rows[group[0]], row, rtol=_ALIKE, atol=0.0):
                group.append(i)
                break
        else:
            groups.append([i])
    return groups
