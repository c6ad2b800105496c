"""Loops, gaps and joints in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pinocchio as pin

from ...constraints.closures import Closure
from .evaluate import Equations


def names_of(tree: pin.Model, joints: Iterable[int]) -> str:
    """Return the quoted names of joints."""
    return ", ".join(repr(str(tree.names[j])) for j in joints) or "none"


def loops_of(closures: Sequence[Closure]) -> str:
    """Return the labels of the constraints, each once."""
    return ", ".join(dict.fromkeys(str(c.source.label) for c in closures))


def gap(equations: Equations, q: np.ndarray, where: str = "") -> str:
    """Return a sentence: which loop stays open, and by how much."""
    residual, scales, units = equations.residual(q), equations.scales(q), equations.units
    bounds = np.cumsum([0, *equations.sizes])
    worst = int(
        np.argmax([np.max(np.abs(residual[a:b] / scales[a:b]), initial=0.0) for a, b in zip(bounds, bounds[1:])])  # noqa: B905, RUF007
    )
    mine = range(bounds[worst], bounds[worst + 1])
    parts = []
    if not np.isfinite(residual).all():
        c = next(c for c, a, b in zip(equations.closures, bounds, bounds[1:]) if not np.isfinite(residual[a:b]).all())  # noqa: B905
        return f"{c.source.label} gives no finite number{where and ' '}{where}."
    for unit in ("m", "rad", ""):
        rows = [i for i in mine if units[i] == unit]
        if rows and not (size := float(np.linalg.norm(residual[rows]))) <= 1e-9:
            parts.append(f"{size:.4g} {unit}".strip())
    return (
        f"{equations.closures[worst].source.label} stays open by {' and '.join(parts) or '0 m'}{where and ' '}{where}."
    )
