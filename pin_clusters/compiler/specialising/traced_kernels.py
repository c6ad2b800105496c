"""The functions that can be specialised, the kernels that they replace, and the tracing of these kernels."""

import contextlib
import gc
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import SingularClusterError
from ...kernels.tables.layout import BODY_PARAMS, CONDITION_LIMIT, INERTIA, MASS, OPEN
from ...model import ClusterModel
from ..tracing._sources import source, watching
from ..tracing.expressions import Graph, select, square_root
from ..tracing.functions import run_function
from ..tracing.numbers import tables_for, values_of
from ..tracing.run import Run
from ..tracing.supplied import supply_third

from ..operations import COUPLING, COUPLING_DERIVATIVES, HYBRID, LOOP_FUNCTIONS, OPENNESS  # isort: skip
from ..operations import RNEA_DERIVATIVES, STATE_FUNCTIONS, STATE_FUNCTIONS_BY_NAME, Function  # isort: skip

SPECIALISED = {x.name: x for x in STATE_FUNCTIONS if x.specialised}
"""Dictionary from names to the functions that are traced without external forces."""
BY_TABLES = {x.tables: x for x in SPECIALISED.values() if x.operation.group == "data"}
"""For the name of each ``Pointer`` of the data: the function whose kernel is called with this ``Pointer``."""

FORCES = " with external forces"
"""Suffix of the name of a function that is traced with external forces."""
WITH_FORCES = {x.operation.name: x._replace(name=x.name + FORCES) for x in SPECIALISED.values() if x.forced}
"""Functions that are traced with external forces, by operation name. The array of forces begins with nv results."""
OF_MOMENTUM = STATE_FUNCTIONS_BY_NAME["computeCentroidalDynamicsDerivatives"]
"""Function that is traced here with the kernel of ``computeRNEADerivatives``; ``pc.trace`` uses the tree's kernel."""
BY_CALLED_NAME = {
    **{name: x for name, x in SPECIALISED.items() if x.called},
    **{x.name: BY_TABLES[x.tables] for x in STATE_FUNCTIONS if x.called and not x.traced and x.tables in BY_TABLES},
    **{x.name: WITH_FORCES[x.operation.name] for x in STATE_FUNCTIONS if "fext" in x.inputs},
    **{x.name: x for x in (*LOOP_FUNCTIONS, OF_MOMENTUM)},
}
"""For the name of each function that users or this package call: the function that is traced for it."""
BY_OWN_NAME = SPECIALISED | {x.name: x for x in (*WITH_FORCES.values(), *LOOP_FUNCTIONS, OF_MOMENTUM)}
"""All traced functions, by their own names."""
MOST = 100_000
"""Maximum number of operations of automatically traced functions (about 700 kB of code, compiled in ten seconds)."""
BOUNDS = {
    "pivots": "ole 0.0",
    "conditions": f"uge {CONDITION_LIMIT**2!r}",
    "opens": f"uge {OPEN**2!r}",
    "finite": "uge 1e300",  # applied to squared values; also true for NaN
}
"""LLVM comparison for each checked quantity. If it is true, the caller runs the kernel, which reports the error."""


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Disable garbage collection, which would take a third of the time; expressions contain no reference cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Traced(NamedTuple):
    """The trace of a kernel for one robot."""

    inputs: list[tuple[str, int]]  # name and size of each input
    # expressions of each output, by argument name; ``keep`` is the result array in the tables
    outputs: dict[str, np.ndarray]
    pivots: list[Any]  # values that must be positive
    conditions: list[Any]  # squared condition number of each loop, which must be small
    opens: list[Any]  # largest squared residual of each loop, if requested
    params: dict[int, float]  # values of the robot parameters that are inputs, by input index
    finite: Sequence[Any] = ()  # input entries that must be finite, if the kernel reads only some entries of an input

    @property
    def result(self) -> np.ndarray:
        return np.concatenate(list(self.outputs.values()))


_ARGUMENT = {"dtau_dq": "dq", "dtau_dv": "dv", "M": "M", "C": "dv", "dg_dq": "dq"}


def _arguments(function: Function, run: Run, outputs: dict[str, np.ndarray]) -> dict[str, Any]:
    if function.operation.group == "data":
        return {function.operation.writes: np.concatenate([np.ravel(x) for x in outputs.values()])}
    arguments: dict[str, Any] = {_ARGUMENT[name]: np.ravel(x) for name, x in outputs.items()}
    if "M" in arguments:
        arguments["tau"] = run.torques
    # At rest, all velocity-dependent terms vanish.
    elif "dq" in arguments:
        arguments["dv"] = np.full(arguments["dq"].size, 0.0, dtype=object)
    return arguments


def standing(model: ClusterModel) -> tuple[np.ndarray, np.ndarray]:
    """Return masks of the parameters and of the initial workspace entries that the code reads at each call.

    For a body with mass, the code reads all entries of the inertia, even if some of them are zero. Otherwise rounding
    errors could lead to different code for robots that differ only in their masses.
    """
    counts = model.tables.params != 0.0
    for b in range(1, source("tables.views").header(model.tables.index).bodies + 1):
        block = slice(b * BODY_PARAMS + MASS, b * BODY_PARAMS + INERTIA + 6)
        counts[block] |= counts[block].any()
    return counts, np.nan_to_num(model.tables.work) != 0.0


def is_of_loops(function: Function) -> bool:
    return function in LOOP_FUNCTIONS or function.operation is COUPLING_DERIVATIVES


def _changes_of_coupling(run: Run, function: Function) -> np.ndarray:
    """Return derivatives of the coupling for (v, a), for v, or for unit velocities; unwritten entries are None."""
    model, names = run.model, function.inputs
    matrices = {"q v a": 4, "q v": 2}.get(function.takes) or 1 + max([1, *(c.nk for c in run.loops())])
    derivatives = np.full(matrices * model.tables.topology.G.size, None, dtype=object)
    state = [run[name] if name in names else run.zeros(0) for name in ("q", "v", "a")]
    passes = "variations.coupling_derivatives", "coupling_derivatives"
    run.plain(*passes, run.zeros(model.tables.rates), *state, derivatives)
    return derivatives


def _of_momentum(run: Run) -> dict[str, Any]:
    """Return the derivatives of the centroidal momentum and of its rate, as a sequence of matrices with six rows."""
    model, nothing, total = run.model, run.zeros(0), run.zeros(24 * run.model.nv)
    if model.tables.supplies:
        supply_third(model, run["q"], run.G @ run["v"], run.work)
    state = run["q"], run["v"], run["a"]
    outputs = nothing, run.rest, nothing, nothing, nothing, total
    run.call(RNEA_DERIVATIVES.passes, run.zeros(model.tables.rates), *state, *outputs)
    return {"total": total}


def _of_loops(function: Function, run: Run) -> dict[str, Any]:
    if function.operation is OPENNESS:
        worst: Any = 0.0
        for x in run.opens(still=True):
            worst = select(worst, x, x, worst)
        return {"keep": np.array([square_root(worst)], dtype=object)}
    G = run.model.tables.topology.G
    if function.operation is COUPLING_DERIVATIVES:
        return {"found": _changes_of_coupling(run, function)}
    initial = [*G.ravel(), *np.zeros(len(G) + (2 * G.size if function.name == "coupling_rate" else 0))]
    keep = np.array(initial, dtype=object)
    run.plain("variations.coupling", "coupling", keep, run["q"], run["v"])
    # The array already contains the constant entries.
    return {"keep": np.array([None if x == y else x for x, y in zip(keep, initial, strict=True)], dtype=object)}


def _of_hybrid(run: Run, key: int) -> tuple[dict[str, Any], list[Any]]:
    """Return all torques and accelerations, and the inputs that the kernel reads; ``key`` encodes prescribed joints."""
    nv, outputs = run.model.nv, (run.rest, run.rest)
    mask = np.array([key >> i + 1 & 1 for i in range(nv)], dtype=np.int8)
    arguments = run["q"], run["v"], run["tau"], run["a"], mask
    run.call(HYBRID.passes, np.concatenate([run.rest, run.forces]), *arguments, *outputs)
    return dict(zip(("tau_out", "a_out"), outputs, strict=True)), list(np.where(mask, run["a"], run["tau"]))


def _numbers_as_inputs(run: Run, graph: Graph, numbers: str) -> dict[int, float]:
    first, values = sum(len(x) for x in run.inputs.values()), run.model.tables.params.tolist()
    leaves, counts = graph.inputs(first, len(values)), run.model.tables.params != 0.0
    if numbers == "where they stand":  # some parameters are in the workspace
        counts, in_workspace = standing(run.model)
        run.work[in_workspace] = np.array(graph.inputs(first + len(values), len(run.work)), dtype=object)[in_workspace]
    entries = [leaf if x or numbers == "all" else 0.0 for leaf, x in zip(leaves, counts, strict=True)]
    run.params = np.array(entries, dtype=object)
    return {first + i: x for i, x in enumerate(values)}


def traced(
    model: ClusterModel,
    function: Function,
    *,
    numbers: str = "",
    opens: bool = False,
    most: float = math.inf,
    parameters: Sequence[str] = (),
) -> Traced | None:
    """Trace a function with at most ``most`` operations; return None if the kernel fails at every state.

    Args:
        model: The model.
        function: The function.
        numbers: Robot parameters that are additional inputs: ``all``, ``some`` (nonzero parameters in the tables), or
            ``where they stand`` (nonzero parameters in the tables and the workspace).
        opens: Whether to compute the residuals of the loop equations.
        most: Maximum number of operations.
        parameters: Groups of robot parameters to add as the last inputs, as in ``pc.trace``.
    """
    if function.operation in (COUPLING, COUPLING_DERIVATIVES) and model.tables.supplies:
        return None
    graph, run = Graph(most), Run(model)
    sizes = {"q": model.nq, "fext": 6 * model.njoints} | {name: len(values_of(model, name)) for name in parameters}
    names = (*function.inputs, *["fext"] * function.name.endswith(FORCES), *parameters)
    inputs = [(name, sizes.get(name, model.nv)) for name in names]
    for name, size in inputs:
        first = sum(len(x) for x in run.inputs.values())
        run.inputs[name] = np.array(graph.inputs(first, size), dtype=object)
    if parameters:
        run.params, run.work = tables_for(model, parameters, run.inputs)
    params = _numbers_as_inputs(run, graph, numbers) if numbers else {}
    read: list[Any] = []
    try:
        with watching() as watched, np.errstate(all="ignore"):
            if is_of_loops(function):
                outputs = _of_loops(function, run)
            elif function is OF_MOMENTUM:
                outputs = _of_momentum(run)
            elif function.operation is HYBRID:
                outputs, read = _of_hybrid(run, int(function.name.split()[1]))
            else:
                outputs = _arguments(function, run, run_function(function.name.removesuffix(FORCES), run))
    except (SingularClusterError, ZeroDivisionError):  # for example because a joint moves no inertia
        return None
    conditions = [run.work[condition.at] for condition in model.tables.conditions if function.operation is not OPENNESS]
    residuals = run.opens(still=function.operation is OPENNESS) if opens else []
    return Traced(inputs, outputs, [x - limit for x, limit in watched], conditions, residuals, params, read)
