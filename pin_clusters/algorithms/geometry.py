"""Repeated calls of Pinocchio's collision functions, executed by the C extension without checking the shapes again."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pinocchio as pin

from ..compiler.calls import Form, is_fast
from ..compiler.calls.tree import couple, run_tree
from ..compiler.operations import TREE
from ..compiler.owed import bits
from ..kernels.tables.tree_layout import MOTION
from ..model import ClusterData, ClusterModel, geometry_memory

POSITIONS = {
    "computeBodyRadius": "model geometry_model geometry_data",
    "computeCollisions": "model data geometry_model geometry_data q stop_at_first_collision",
    "computeDistances": "model data geometry_model geometry_data q",
    "updateGeometryPlacements": "model data geometry_model geometry_data q",
}
"""Names of the positional arguments of these functions, in order."""
_STOP = "stop_at_first_collision"
_MOST_KNOWN = 16


def remember(function: Any, arguments: list[Any]) -> None:
    """Let the C extension execute calls of ``function`` with these shapes, as long as the shapes do not change."""
    if not is_fast(function):
        return
    kinds = ClusterModel, ClusterData, pin.GeometryModel, pin.GeometryData
    model, data, shapes, placed = (next((x for x in arguments if isinstance(x, kind)), None) for kind in kinds)
    owner = data if "data" in function.positions else model
    if owner is None or shapes is None or placed is None:
        return
    watch = geometry_memory.watch(shapes, placed)
    if watch is None:
        return
    for form in _forms(owner, function, shapes, placed):
        form.checks.append(("unchanged", watch.table.size, watch.table))
        form.kept.append(watch)
        form.remember(_MOST_KNOWN)


def _forms(owner: Any, function: Any, shapes: Any, placed: Any) -> Iterator[Form]:
    """Yield one ``Form`` per argument list: with and without q, with and without ``stop_at_first_collision``."""
    pinocchio_function, moves = getattr(pin, function.__name__), function.__name__ == "updateGeometryPlacements"
    poses = ("", "q") if moves else ("q",) if "q" in function.positions else ("",)
    for q in poses:
        for stop in ("", _STOP) if _STOP in function.positions else ("",):
            form = Form(owner, function, f"geometry_model geometry_data {q} {stop}")
            for name, x in (("geometry_model", shapes), ("geometry_data", placed)):
                form.checks.append(("same", form.positions[name], x))
                form.kept.append(x)
            if stop:
                form.checks.append(("truth", form.positions[stop]))
            if owner is form.model:
                form.call(partial(pinocchio_function, owner.own_tree, shapes, placed))
            elif _move(form, shapes, placed, q):
                if not moves:  # pass the flag, because Boost.Python then finds the overload faster
                    flags = [form.positions[stop] if stop else False] if _STOP in function.positions else []
                    form.call(partial(pinocchio_function, shapes, placed), *flags)
            else:
                return
            yield form


def _move(form: Form, shapes: Any, placed: Any, q: str) -> bool:
    """Add steps that compute the placements of joints (if q is passed) and shapes; return False if code is missing."""
    data = form.owner
    if q:
        code = data._code("forwardKinematics", TREE.name)
        if not code or data._other_fields or data._model.tables.tree.settles or not couple(form):
            return False
        form.reads_tree()
        run_tree(form, code, MOTION, "q")
    else:
        form.checks.append(("owes", data._owed_words, bits("oMi")))
    form.call(partial(pin.updateGeometryPlacements, data.model.own_tree, data._tree, shapes, placed))
    form.work.append(("drop",))
    return True
