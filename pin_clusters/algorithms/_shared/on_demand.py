"""Computation of members of data when they are first read, at the state of the call that postponed the computation.

The computation runs in a second workspace, because it also overwrites other members; then the member is copied.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...compiler.choice import engine
from ...errors import NotComputedError
from ...kernels.tables.tree_layout import COLUMNS, RATES
from ...model import ClusterData, ClusterModel, recipes
from . import bridge as _bridge
from . import tree as _tree
from .loads import Loads


def register(compute: Callable[..., Any], vectors: int, *members: str) -> None:
    """Register a function that computes ``members`` of data from the first ``vectors`` items of (q, v, a)."""
    for name in members:
        recipes[name] = _copying(compute, vectors, name)


def _copying(compute: Callable[..., Any], vectors: int, name: str) -> Callable[..., None]:
    def fill(data: ClusterData, *state: np.ndarray) -> None:
        model, workspace = data.model, scratch(data)
        zeros = [np.zeros(model.nv)] * (vectors - len(state))
        workspace._supply(state[0])  # the workspace lacks the results of the user's Python functions at this pose
        compute(model, workspace, *state[:vectors], *zeros)
        _copy(name, workspace, data)
        if name == "oMi":  # functions that are called later without q also read G at this pose
            data._pose(state[0], workspace)

    return fill


def scratch(data: ClusterData) -> ClusterData:
    if data._scratch is None:
        with engine("tables" if data.engine == "tables" else "auto"):
            data._scratch = data.model.createData()
    return data._scratch


def _copy(name: str, source: ClusterData, to: ClusterData) -> None:
    if name == "M":
        to._M_kernel[...] = source._M_kernel
        to._changed()
    elif name in ("J", "dJ"):  # functions for frame Jacobians read these arrays of the tree
        getattr(to, f"_{name}")[...] = getattr(source, f"_{name}")
        getattr(to._tree, name)[...] = getattr(source._tree, name)
        if name == "dJ":
            _copy("ov", source, to)
    elif hasattr(source, f"_{name}") and isinstance(getattr(source, f"_{name}"), np.ndarray) and name != "com":
        getattr(to, f"_{name}")[...] = getattr(source, f"_{name}")
    elif name in ("hg", "dhg", "Ig"):
        setattr(to._tree, name, getattr(source._tree, name))
    else:
        items = getattr(to._tree, name)
        for i, item in enumerate(getattr(source._tree, name)):
            items[i] = item if isinstance(item, float) else _fresh(item)


def _fresh(item: Any) -> Any:
    return np.array(item) if isinstance(item, np.ndarray) else item.copy()


def _columns(model: ClusterModel, data: ClusterData, q: np.ndarray) -> None:
    _tree.compute(model, data, COLUMNS, q)


def _rates(model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray) -> None:
    _tree.compute(model, data, COLUMNS | RATES, q, v)


def _forces(model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
    G, g = _bridge.matrix_and_bias(model, data, q, v)
    Loads(model, data._tree, q, G @ v, G @ a + g, np.zeros((model.njoints, 6))).torque()


def _forces_of_a_tree(model: ClusterModel, data: ClusterData, *state: np.ndarray) -> None:
    if model.closures:
        raise NotComputedError(
            f"data.f of model {model.name!r} is not computed, because joint forces depend on loop-closure forces. "
            "Use pc.constraint_forces(model, data, q, v, tau_tree).joints."
        )
    _forces(model, data, *state)


register(_forces, 3, "a_gf")
register(_forces_of_a_tree, 3, "f")
register(_columns, 1, "J")
register(_rates, 2, "dJ")
recipes["J oMi"] = lambda data, q: _columns(data.model, data, q)
