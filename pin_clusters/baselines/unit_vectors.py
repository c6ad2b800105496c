"""Forward dynamics."""
from __future__ import annotations
from typing import Any
import numpy as np
from ..model import ClusterModel
from ._maximal import Maximal, solve
from ._patterns import columns
from ._workspace import check, documented_with_loops
_NAME = "unit_vectors"
class UnitVectors(Maximal):
    """Tables."""

def createData(model: ClusterModel) -> UnitVectors:
    """Return."""
    return UnitVectors(model, columns, ("joint_space", "unit_vectors", "forward dynamics by unit_vectors"), False, False)

@documented_with_loops
def aba(model: ClusterModel, data: UnitVectors, q: Any, v: Any, tau: Any, fext: Any = None) -> np.ndarray:
    """Compute."""
    check(model, data, UnitVectors, _NAME)
    return solve(data, q, v, tau, fext)
