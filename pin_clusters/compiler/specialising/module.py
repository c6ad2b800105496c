"""The LLVM text of a robot-specific function; if the robot has equal limbs, each limb becomes a vector lane."""

import functools
import hashlib
import math
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ...constraints.called import CallableClosure
from ...kernels.tables import tree_layout as tl
from ...model import ClusterModel
from ..machine_code.emitter import Result
from ..machine_code.loading import Loaded, load_made_of
from ..machine_code.machine import lanes_of_host
from ..operations import ABA_DERIVATIVES, MOVE, OPENNESS, PROJECT, RNEA_DERIVATIVES, TREE, Function
from ..tracing.expressions import Expression, TooLongError, needed
from . import entry, loop_moves, solving, tree, workspace
from .lanes import Lanes, lanes_of, of_pack
from .limbs import Group, limbs_of
from .traced_kernels import BOUNDS, OF_MOMENTUM, Traced, is_of_loops, standing, traced, without_collector
from .variants import IN_MEMORY


def code_of(model: ClusterModel, kind: str, function: Function, most: float, make: Callable[[], str]) -> Loaded | None:
    """Return the code of a function, from the cache or compiled from ``make()``; None if no code can be generated."""

    def text() -> str:
        with without_collector(), suppress(TooLongError):
            return make()
        return ""

    of_users = any(isinstance(closure, CallableClosure) for closure in model.closures)
    if of_users or (model._varies and not (reads_numbers(model, function) or function.operation is ABA_DERIVATIVES)):
        written = text()  # The tables lack user functions, so the text is the cache key.
        return load_made_of([written], lambda: written)
    read: tuple[np.ndarray, ...] = model.tables.index, model.tables.params, model.tables.work
    if function.operation is TREE:
        read = model.tables.tree.index, model.tables.tree.params, model.tables.topology.G
    if function.operation in IN_MEMORY:
        read = *read, model.tables.tree.index, model.tables.tree.params, model.tables.topology.G
    if model._varies:
        read = model.tables.index, *standing(model)
    tables = [x.tobytes().hex() for x in read]
    structure = repr((model.nq, model.nv, model.tables.conditions, groups_of(model, function)))
    return load_made_of([kind, function.name, repr(most), sources(), structure, *tables], text)


def reads_numbers(model: ClusterModel, function: Function) -> bool:
    """Return whether the code reads the robot's parameters at each call, so that all parameter sets share the code."""
    specialised = function.specialised or function.operation.group in ("hybrid", "columns", "contacts")
    return model._varies and specialised and function.operation is not ABA_DERIVATIVES


_MATRICES = {"dq", "dv", "M"}


@functools.cache
def sources() -> str:
    h, package = hashlib.sha256(), Path(__file__).parents[2]
    for folder in (package / "kernels", package / "compiler", package / "_support"):
        for file in sorted(folder.rglob("*.py")):
            h.update(str(file.relative_to(package)).encode() + file.read_bytes())
    return h.hexdigest()


def module_of(model: ClusterModel, function: Function, *, lanes: bool = True, most: float = math.inf) -> str:
    """Return the module of a function, or "" if the kernel fails at every state. ``lanes`` permits vector lanes."""
    if function.operation in (MOVE, PROJECT):
        return loop_moves.module(model, function.operation, most)
    if function.operation is TREE:
        return tree.module(model, function, most)
    if function.operation in IN_MEMORY:
        return workspace.module(model, function, most)
    if function.operation is ABA_DERIVATIVES:
        return solving.module(model, lanes_of_host())
    shared = reads_numbers(model, function)
    groups = groups_of(model, function) if lanes and not shared else []
    rebuilt = in_lanes(model, function, groups, most=most) if groups else None
    if rebuilt is not None:
        trace, _, results = rebuilt
    else:
        numbers = "where they stand" if shared else ""
        plain = traced(model, function, numbers=numbers, opens=function.operation is OPENNESS, most=most)
        if plain is None:
            return ""
        trace, results = plain, _plain(plain, _written(model, function, plain))
    standing = [("params", len(model.tables.params)), ("work", len(model.tables.work))]
    inputs = [*trace.inputs, *standing] if shared else trace.inputs
    core = entry.core_text(inputs, results, (*trace.outputs, "conditions"))
    sizes = {name: len(x) for name, x in trace.outputs.items()}
    places = [condition.at for condition in model.tables.conditions] if trace.conditions else []
    looked_at = ("tau", "a") if trace.finite else ()
    return entry.module(core, inputs, sizes, function.operation, places, lanes_of_host(), looked_at)


def groups_of(model: ClusterModel, function: Function) -> list[Group]:
    """Return the groups of equal limbs, or [] if the results of the function do not belong to joints or joint pairs."""
    serves = function.operation.result == "vector" or function.operation is RNEA_DERIVATIVES
    serves = serves and function is not OF_MOMENTUM
    return [g for g in limbs_of(model) if g[0].v] if serves else []


def _written(model: ClusterModel, function: Function, found: Traced) -> dict[str, set[int]]:
    """Return the indices of the entries to write in each output, without zeros for joints on different branches."""
    written = {name: {i for i, x in enumerate(values) if x is not None} for name, values in found.outputs.items()}
    if function.operation.group == "data" or is_of_loops(function):
        return written
    nv, plan = model.nv, model.tables.velocities
    related = np.eye(nv, dtype=bool)
    for i in range(nv):
        iv, path, depth = (int(plan[tl.WIDTH * i + k]) for k in (tl.IV, tl.PATH, tl.DEPTH))
        above = [int(plan[tl.WIDTH * k + tl.IV]) for k in plan[path : path + depth]]
        related[iv, above] = related[above, iv] = True
    for name in written.keys() & _MATRICES:
        zeros = np.flatnonzero(~related).tolist()
        written[name] -= {i for i in zeros if not isinstance(found.outputs[name][i], Expression)}
    return written


def _plain(found: Traced, written: dict[str, set[int]]) -> list[Result]:
    results = [Result(name, (i,), found.outputs[name][i]) for name in written for i in sorted(written[name])]
    results += [Result("pivots", (i,), x, BOUNDS["pivots"]) for i, x in enumerate(found.pivots)]
    results += [Result("opens", (i,), x, BOUNDS["opens"]) for i, x in enumerate(found.opens)]
    results += [Result("finite", (i,), x * x, BOUNDS["finite"]) for i, x in enumerate(found.finite)]
    return results + [Result("conditions", (i,), x, BOUNDS["conditions"]) for i, x in enumerate(found.conditions)]


def in_lanes(
    model: ClusterModel, function: Function, groups: list[Group], *, opens: bool = False, most: float = math.inf
) -> tuple[Traced, Lanes, list[Result]] | None:
    """Trace a kernel and convert the trace to one limb per lane; return None if the kernel fails at every state.

    In the first trace, zero parameters are constants. If the limbs' operations differ, all parameters become inputs.
    """
    best: tuple[Traced, Lanes, list[Result]] | None = None
    for numbers in ("some", "all"):
        trace = traced(model, function, numbers=numbers, opens=opens, most=most)
        if trace is None:
            return None
        new, results = _rebuilt(model, function, trace, groups)
        if best is None or new.misfits < best[1].misfits:
            best = trace, new, results
        if not new.misfits:
            break
    return best


def _alike(nv: int, found: Traced, group: Group) -> list[tuple[str, tuple[int, ...]]]:
    joints, limbs = range(len(group[0].v)), [limb.v for limb in group]
    other_columns = set(range(nv)).difference(*limbs)
    alike: list[tuple[str, tuple[int, ...]]] = []
    for name, values in found.outputs.items():
        if len(values) == nv:
            alike += [(name, tuple(v[j] for v in limbs)) for j in reversed(joints)]
        else:
            alike += [(name, tuple(v[i] * nv + v[j] for v in limbs)) for i in joints for j in joints]
            alike += [(name, tuple(k * nv + v[j] for v in limbs)) for k in other_columns for j in joints]
            alike += [(name, tuple(v[j] * nv + k for v in limbs)) for k in other_columns for j in joints]
    return alike


def _rebuilt(model: ClusterModel, function: Function, found: Traced, groups: list[Group]) -> tuple[Lanes, list[Result]]:
    first, index = {}, 0
    for name, size in found.inputs:
        first[name], index = index, index + size
    inputs = [
        [
            [offset + i for name, offset in first.items() for i in {"q": limb.q, "fext": limb.fext}.get(name, limb.v)]
            for limb in group
        ]
        for group in groups
    ]
    nodes = needed([*found.result, *found.pivots, *found.conditions, *found.opens])
    new, numbers = lanes_of(inputs, found.params)
    new.look_at(nodes)
    alike = [_alike(model.nv, found, group) for group in groups]
    for g, corresponding in enumerate(alike):
        new.assign_parameters(g, [tuple(found.outputs[name][i] for i in places) for name, places in corresponding])
    new.color(nodes)
    results: list[Result] = []
    single = _written(model, function, found)
    for g, corresponding in enumerate(alike):
        for name, places in corresponding:
            if single[name].issuperset(places):
                single[name] -= set(places)
                results += of_pack(name, places, new.pack(g, [found.outputs[name][i] for i in places]))
    results += [Result(name, (i,), new.scalar(found.outputs[name][i])) for name in single for i in sorted(single[name])]
    results += _looked_at(new, found.pivots, "pivots", BOUNDS["pivots"], numbers)
    results += _looked_at(new, found.conditions, "conditions", BOUNDS["conditions"], numbers)
    return new, results + _looked_at(new, found.opens, "opens", "", numbers)


def _looked_at(new: Lanes, values: list[Any], array: str, bound: str, groups: list[list[int]]) -> list[Result]:
    results: list[Result] = []
    remaining = set(range(len(values)))
    for g, limbs in enumerate(groups):
        by = [[i for i, x in enumerate(values) if new._limb(x) == limb] for limb in limbs]
        if len({len(indices) for indices in by}) == 1:
            for places in zip(*by, strict=True):
                remaining -= set(places)
                value = new.pack(g, [values[i] for i in places])
                results += of_pack(array, places, value, bound)
    return results + [Result(array, (i,), new.scalar(values[i]), bound) for i in sorted(remaining)]
