"""Files of small meshes."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

CUBE = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
"""Corners of a cube of 1 m at the origin, shape (8, 3)."""
_FACES = [(0, 1, 3), (0, 3, 2), (4, 7, 5), (4, 6, 7), (0, 5, 1), (0, 4, 5), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
          (1, 5, 7), (1, 7, 3)]  # fmt: skip


def cube(file: Path, corners: np.ndarray = CUBE) -> None:
    """Write a cube, or what its corners are moved to, as a binary STL."""
    triangle = np.dtype([("normal", "<f4", 3), ("corners", "<f4", 9), ("more", "<u2")])
    data = np.zeros(len(_FACES), triangle)
    data["corners"] = corners[np.array(_FACES)].reshape(-1, 9)
    file.write_bytes(bytes(80) + len(_FACES).to_bytes(4, "little") + data.tobytes())
