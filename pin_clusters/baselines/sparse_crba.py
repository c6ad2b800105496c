"""Forward dynamics."""
from __future__ import annotations
from typing import Any
import numpy as np
from ..model import ClusterModel
from ._maximal import Maximal, solve
from ._patterns import generalized
from ._workspace import check, documented_with_loops
_NAME = "sparse_crba"
class SparseCrba(Maximal):
    """Tables."""

def createData(model: ClusterModel) -> SparseCrba:
    """Return."""
    return SparseCrba(model, generalized, ("joint_space", "sparse_crba", "forward dynamics by sparse_crba"), False, False)

@documented_with_loops
def aba(model: ClusterModel, data: SparseCrba, q: Any, v: Any, tau: Any, fext: Any = None) -> np.ndarray:
    """Compute."""
    check(model, data, SparseCrba, _NAME)
    return solve(data, q, v, tau, fext)
