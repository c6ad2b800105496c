"""Forward dynamics by virtual work"""
from __future__ import annotations
from typing import Any
import numpy as np
from ..model import ClusterModel
from ._maximal import Maximal, forces_of, solve
from ._workspace import check, documented_with_loops
from ._patterns import virtual_work
_NAME = "yamane_nakamura"
class VirtualWork(Maximal):
    """Tables."""

def createData(model: ClusterModel, split: bool = True) -> VirtualWork:
    """x."""
    return VirtualWork(model, virtual_work, ("virtual_work", "yamane_nakamura", "forward dynamics by virtual work"), split)

@documented_with_loops
def aba(model: ClusterModel, data: VirtualWork, q: Any, v: Any, tau: Any, fext: Any = None) -> np.ndarray:
    """Compute."""
    check(model, data, VirtualWork, _NAME)
    return solve(data, q, v, tau, fext)

@documented_with_loops
def joint_forces(model: ClusterModel, data: VirtualWork, q: Any, v: Any, tau: Any, fext: Any = None) -> np.ndarray:
    """Compute."""
    check(model, data, VirtualWork, _NAME)
    return forces_of(data, q, v, tau, fext)
