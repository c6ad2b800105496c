"""The tables while they grow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from ..._kernels import layout as at
from ..primitives import Primitive


@dataclass
class Body:
    """A body of the kernels, before it is written."""

    joint: int
    primitive: Primitive
    parent: int
    last: bool
    inertia: pin.Inertia = field(default_factory=pin.Inertia.Zero)
    row: int = 0


class Writer:
    """Grows ``params`` and the lists of ``index``."""

    def __init__(self, bodies: int, clusters: int) -> None:
        self.params: list[float] = [0.0] * ((bodies + 1) * at.BODY_PARAMS)
        self.rows: list[list[int]] = [[0] * at.ROW_WIDTH for _ in range(1 + bodies + clusters)]
        self.work = (bodies + 1) * at.BODY_WORK
        self.initial: dict[int, float] = {}  # what the workspace holds when it is made; the rest is zero

    def append(self, values: np.ndarray) -> int:
        offset = len(self.params)
        self.params.extend(float(x) for x in np.asarray(values).ravel())
        return offset

    def add_row(self, *values: int) -> int:
        self.rows.append([*values, *[0] * (at.ROW_WIDTH - len(values))])
        return len(self.rows) - 1

    def add_list(self, values: Sequence[int]) -> int:
        """Return the first of the rows that hold a list."""
        first = len(self.rows)
        for v in values:
            self.add_row(int(v))
        return first

    def store(self, values: np.ndarray) -> int:
        """Return where numbers stand that are in the workspace from the beginning."""
        flat = np.asarray(values).ravel().tolist()
        offset = self.room(len(flat))
        self.initial.update({offset + i: x for i, x in enumerate(flat) if x})
        return offset

    def room(self, size: int) -> int:
        offset = self.work
        self.work += size
        return offset
