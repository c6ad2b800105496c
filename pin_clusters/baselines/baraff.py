"""Forward dynamics by Baraff"""
from __future__ import annotations
from typing import Any
import numpy as np
from ..model import ClusterModel, expand
from ._maximal import Maximal, forces_of, solve
from ._workspace import check, documented_with_loops
from ._patterns import tree, chain
_NAME = "baraff"
class Multipliers(Maximal):
    """Tables."""

def createData(model: ClusterModel, form=None) -> Multipliers:
    """x."""
    parents = list(expand(model).tree.parents)[1:]
    if form is None:
        form = "chain" if parents == list(range(len(parents))) else "tree"
    if form == "chain":
        return Multipliers(model, chain, ("banded", "baraff_chain", "forward dynamics of chains by Lagrange multipliers"), False)
    return Multipliers(model, tree, ("multipliers", "baraff_tree", "forward dynamics of trees by Lagrange multipliers"), False)

@documented_with_loops
def aba(model: ClusterModel, data: Multipliers, q: Any, v: Any, tau: Any, fext: Any = None) -> np.ndarray:
    """Compute."""
    check(model, data, Multipliers, _NAME)
    return solve(data, q, v, tau, fext)

@documented_with_loops
def joint_forces(model: ClusterModel, data: Multipliers, q: Any, v: Any, tau: Any, fext: Any = None) -> np.ndarray:
    """Compute."""
    check(model, data, Multipliers, _NAME)
    return forces_of(data, q, v, tau, fext)
