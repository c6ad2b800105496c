"""What calls of ``integrate``, ``difference`` and ``project`` in machine code have at hand, per model."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from ..._engine import calls as _calls
from ..._engine import entry_points as kernels
from ..._support.arrays import on_a_page
from ..._support.trees import in_q, in_v
from .. import ClusterModel, loops_of
from ._shortest import shortest_way
from .manifold import Manifold

_lock = threading.RLock()  # a finalizer may come here in the middle


def lay_out(model: ClusterModel, shape: Manifold) -> None:
    """Fill the desk of a model, once, and put kernels there that are compiled by now."""
    if model._desk is None:
        with _lock:
            if model._desk is None:
                desk = _calls.ModelDesk()
                _fill(desk, model, shape)
                _lay_down(model, desk)
                _calls.connect_moves(ClusterModel)
    if model.closures:
        _calls.filler(model._desk).put(move=kernels.move.compiled_address, close=kernels.project.compiled_address)


def _lay_down(model: ClusterModel, desk: _calls.ModelDesk) -> None:
    object.__setattr__(model, "_desk", desk.desk())


def _fill(desk: _calls.ModelDesk, model: ClusterModel, shape: Manifold) -> None:
    tree = model.own_tree
    desk.own(tree)
    desk.own(shape)
    desk.put(nq=model.nq, nv=model.nv, nv_tree=tree.nv, tree=id(tree))
    desk.room(independent_at=np.array(model.idx_v_independent), follow=shape.affine.numbers())
    compiled = not model.closures
    if model.closures:
        loops = loops_of(model)
        compiled = loops.compiled
        (work,) = on_a_page(model._tables.work)
        pointer = kernels.Pointer(model._index, model._params, work, np.zeros(1))
        left = np.setdiff1d(loops.entries, loops.independent_entries)
        desk.own(pointer)
        desk.put(closed=1, move_tables=pointer.address, close_tables=pointer.address)
        desk.put(left=len(left), dependents=len(loops.dependents))
        desk.room(left_at=left, dependents_at=np.array(loops.dependents), turns_at=loops.periods.copy())
        desk.room(held=np.zeros(model.nq), spare=np.zeros(model.nq))
    units = np.array([(first, last - first) for _, first, last in shape.units], dtype=np.int64).reshape(-1, 2)
    desk.room(units_at=units)
    desk.put(units=len(units), way=_put_way(desk, model, shape, ()))
    # last: from here on calls may come
    inside = len(shape.followers) - len(shortest_way(model, shape, ()).outside)
    desk.put(differs=compiled, integrates=compiled and shape.linear, projects=compiled and shape.linear and inside == 0)


def keep_hold(model: ClusterModel, shape: Manifold, hold: Any, ids: tuple[int, ...]) -> None:
    """Let ``project`` with some held joints be a call in machine code, where they leave a way whatever q is."""
    desk = _calls.filler(model._desk)
    fixed = type(hold) is str or (type(hold) is tuple and all(type(name) is str for name in hold))
    if not fixed or hold in desk.held or len(desk.held) == _calls.MOST_HOLDS:
        return
    if shortest_way(model, shape, ids).rest is None:
        with _lock:
            desk.keep_hold(hold, _put_way(desk, model, shape, ids))
            _lay_down(model, desk)


def _put_way(desk: _calls.ModelDesk, model: ClusterModel, shape: Manifold, ids: tuple[int, ...]) -> int:
    """Lay out the way for some held joints, and return where it is."""
    way, tree = shortest_way(model, shape, ids), model.own_tree
    free = np.zeros(tree.nv)
    free[[iv for j in ids for iv in in_v(tree, j)]] = 1.0
    held = np.array([i for j in ids for i in in_q(tree, j)], dtype=np.int64)
    desk.own(way)
    numbers = {
        "free": desk.address(free),
        "held": len(held),
        "held_at": desk.address(held),
        "outside": len(way.outside),
        "residuals": desk.address(np.zeros(len(way.outside))),
        "residual": desk.address(way.residual.numbers()),
        "step": desk.address(way.step.numbers()),
    }
    return desk.address(np.array([numbers[name] for name in _calls.WAY], dtype=np.int64))
