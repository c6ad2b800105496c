"""Affine maps between vectors, as lists of terms: what machine code and NumPy compute to the same bits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..._engine.calls import records


@dataclass(frozen=True)
class Affine:
    """``y[at] = constants``, then ``y[to[k]] += coefficients[k] * x[of[k]]``, one term after the other.

    Attributes:
        at: Places in y, shape (rows,).
        constants: Shape (rows,).
        to: Place in y of each term.
        of: Place in x of each term.
        coefficients: One per term.
    """

    at: np.ndarray
    constants: np.ndarray
    to: np.ndarray
    of: np.ndarray
    coefficients: np.ndarray

    @staticmethod
    def of_rows(rows: Iterable[tuple[int, float, Iterable[tuple[int, float]]]]) -> Affine:
        """Make the map of rows: place in y, constant, (place in x, coefficient) of each term."""
        listed = [(at, constant, list(terms)) for at, constant, terms in rows]
        terms = [(at, of, c) for at, _, own in listed for of, c in own]
        return Affine(
            np.array([at for at, _, _ in listed], dtype=np.int64),
            np.array([constant for _, constant, _ in listed], dtype=np.float64),
            np.array([to for to, _, _ in terms], dtype=np.int64),
            np.array([of for _, of, _ in terms], dtype=np.int64),
            np.array([c for _, _, c in terms], dtype=np.float64),
        )

    def apply(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Write the result to y, which may be x where no term reads what is written; return it."""
        if len(self.at):
            y[self.at] = self.constants
            np.add.at(y, self.to, self.coefficients * x[self.of])
        return y

    def record(self) -> records.Affine:
        """Return it as machine code reads it."""
        found = records.Affine(rows=len(self.at), places=self.at, constants=self.constants)
        found.put(terms=len(self.to), to=self.to, of=self.of, coefficients=self.coefficients)
        return found
