"""What calls of ``integrate``, ``difference`` and ``project`` in machine code have at hand, per model."""

import threading
from typing import Any

import numpy as np
import pinocchio as pin

from ..._engine import calls as _calls
from ..._engine import entry_points as kernels
from ..._engine.calls import records
from ..._engine.calls.recollection import MOST_ROWS
from ..._engine.operations import MOVE, PROJECT
from ..._support.arrays import on_a_page
from ..._support.trees import in_q, in_v
from .. import ClusterModel, loops_of, movers_of, once
from .manifold import Manifold

_lock = threading.RLock()  # a finalizer may come here in the middle


def lay_out(model: ClusterModel, shape: Manifold) -> None:
    """Fill the desk of a model, once, and put kernels there that are compiled by now."""
    if model._desk is None:
        with _lock:
            if model._desk is None:
                object.__setattr__(model, "_desk", _calls.Desk(_filled(model, shape)))
                _calls.connect_moves(ClusterModel)
    if model.closures:
        addresses = [one.compiled_address for one in (kernels.move, kernels.project)]
        if (own := movers_of(model)) is not None:
            addresses = [own.address(*pair) for pair in zip((MOVE.name, PROJECT.name), addresses, strict=True)]
        _of(model).put(move=addresses[0], close=addresses[1])


def _of(model: ClusterModel) -> records.ModelDesk:
    assert model._desk is not None
    return model._desk.record


def _filled(model: ClusterModel, shape: Manifold) -> records.ModelDesk:
    tree = model.own_tree
    desk = records.ModelDesk(nq=model.nq, nv=model.nv, nv_tree=tree.nv, tree=tree, holds=_calls.Recollection())
    desk.put(independent_at=np.array(model.idx_v_independent), follow=shape.affine.record())
    places = {in_v(tree, j)[0]: in_q(tree, j)[0] for j in range(1, tree.njoints) if tree.nqs[j] == tree.nvs[j] == 1}
    added = np.array([places.get(iv, -1) for iv in model.idx_v_independent], dtype=np.int64)
    desk.put(added_at=added, adds=bool((added >= 0).all()))
    compiled = not model.closures
    if model.closures:
        loops = loops_of(model)
        compiled = loops.compiled
        (work,) = on_a_page(model._tables.work)
        pointer = kernels.Pointer(model._index, model._params, work, np.zeros(1))
        left = np.setdiff1d(loops.entries, loops.independent_entries)
        desk.put(closed=True, move_tables=pointer, close_tables=pointer, left=len(left), left_at=left)
        desk.put(dependents=len(loops.dependents), dependents_at=np.array(loops.dependents))
        desk.put(turns_at=loops.periods.copy(), held=np.zeros(model.nq), spare=np.zeros(model.nq))
    units = np.array([(first, last - first) for _, first, last in shape.units], dtype=np.int64).reshape(-1, 2)
    desk.put(units=len(units), units_at=units, way=_way(model, shape, ()))
    desk.leaders, desk.leading = leaders_of(model)
    # last: from here on calls may come
    inside = len(shape.followers) - len(shape.way(model, ()).outside)
    desk.put(differs=compiled, integrates=compiled and shape.linear, projects=compiled and shape.linear and inside == 0)
    return desk


def keep_hold(model: ClusterModel, shape: Manifold, hold: Any, ids: tuple[int, ...]) -> None:
    """Let ``project`` with some held joints be a call in machine code, where they leave a way whatever q is."""
    desk = _of(model)
    fixed = type(hold) is str or (type(hold) is tuple and all(type(name) is str for name in hold))
    if not fixed or ("hold", hold) in desk.owned or len(desk.holds) == MOST_ROWS:
        return
    if shape.way(model, ids).rest is None:
        with _lock:
            way = _way(model, shape, ids)
            desk.owned["hold", hold] = hold, way  # no other object gets its address
            desk.holds.keep(id(hold), 0, (), way.address)
            object.__setattr__(model, "_desk", _calls.Desk(desk))


@once
def leaders_of(model: ClusterModel) -> tuple[pin.Model, np.ndarray]:
    """Return the independent joints, each on the universe in the order of v; and where their numbers are in q."""
    own, tree, iq = model.own_tree, pin.Model(), list[int]()
    independent = {int(iv) for iv in model.idx_v_independent}
    for j in range(1, own.njoints):
        if own.nvs[j] and in_v(own, j)[0] in independent:
            tree.addJoint(0, own.joints[j], pin.SE3.Identity(), own.names[j])
            iq += in_q(own, j)
    assert tree.nv == model.nv, "a joint is independent in part"
    return tree, np.array(iq, dtype=np.int64)


def _way(model: ClusterModel, shape: Manifold, ids: tuple[int, ...]) -> records.Way:
    """Lay out the way for some held joints."""
    way, tree = shape.way(model, ids), model.own_tree
    free = np.zeros(tree.nv)
    free[[iv for j in ids for iv in in_v(tree, j)]] = 1.0
    held = np.array([i for j in ids for i in in_q(tree, j)], dtype=np.int64)
    found = records.Way(free=free, held=len(held), held_at=held, outside=len(way.outside))
    found.put(residuals=np.zeros(len(way.outside)), residual=way.residual.record(), step=way.step.record())
    return found
