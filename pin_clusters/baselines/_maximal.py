"""What the methods in maximal coordinates share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import SingularClusterError
from ..model import ClusterModel
from ._compile import compiled
from ._tables import Tables

_NOTHING = np.zeros((0, 6))


class Maximal:
    """Tables and room of a method that solves for the accelerations of all bodies.

    Attributes:
        model: The cluster model.
        tables: Tables, and what is written in them.
    """

    def __init__(
        self, model: ClusterModel, pattern: Callable[[Tables], None], entry: tuple[str, str, str], divide: bool, maximal: bool = True
    ) -> None:
        self.model = model
        self.tables = Tables(model, maximal=maximal, divide=divide)
        pattern(self.tables)
        self.tables.finish()
        self.no_force = np.zeros((model.njoints, 6))
        self.out = np.zeros(model.nv)
        self.entry = entry
        self.kernel: Callable[..., Any] | None = None


def run(data: Maximal, q, v, tau, fext, forces):
    kernel = data.kernel
    if kernel is None:
        kernel = data.kernel = compiled(data.entry[0], data.entry[1], 4, data.entry[2])
    t = data.tables
    if t.called: t.evaluate(q)
    fx = data.no_force if fext is None else np.ascontiguousarray([getattr(f,'vector',f) for f in fext], dtype=float)
    out = np.empty(data.model.nv)
    wrong = kernel(t.index, t.work, q, v, tau, fx, out, forces)
    if wrong:
        raise SingularClusterError(str(wrong))
    return out

def solve(data, q, v, tau, fext):
    return run(data, q, v, tau, fext, _NOTHING)

def forces_of(data, q, v, tau, fext):
    forces = np.zeros((data.model.njoints, 6))
    run(data, q, v, tau, fext, forces)
    return forces
