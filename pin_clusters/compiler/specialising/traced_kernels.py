"""What can be specialised: which kernel it replaces, and how it is traced."""

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

SPECIALISED = {one.name: one for one in STATE_FUNCTIONS if one.specialised}
"""What is traced without external forces, by its name."""
BY_TABLES = {one.tables: one for one in SPECIALISED.values() if one.operation.group == "data"}
"""The same by the result to which the tables of its kernel lead, where nothing else leads there."""

FORCES = " with external forces"
"""What such functions are called behind their name."""
WITH_FORCES = {one.operation.name: one._replace(name=one.name + FORCES) for one in SPECIALISED.values() if one.forced}
"""What is traced with external forces, by the name of its operation; they stand behind nv numbers."""
OF_MOMENTUM = STATE_FUNCTIONS_BY_NAME["computeCentroidalDynamicsDerivatives"]
"""What the passes of derivatives of inverse dynamics find as well, and traces of users otherwise."""
BY_CALLED_NAME = {
    **{name: one for name, one in SPECIALISED.items() if one.called},
    **{
        one.name: BY_TABLES[one.tables]
        for one in STATE_FUNCTIONS
        if one.called and not one.traced and one.tables in BY_TABLES
    },
    **{one.name: WITH_FORCES[one.operation.name] for one in STATE_FUNCTIONS if "fext" in one.inputs},
    **{one.name: one for one in (*LOOP_FUNCTIONS, OF_MOMENTUM)},
}
"""What is traced for the functions that are called, by their names."""
BY_OWN_NAME = SPECIALISED | {one.name: one for one in (*WITH_FORCES.values(), *LOOP_FUNCTIONS, OF_MOMENTUM)}
"""All that is traced, by its own name."""
MOST = 100_000
"""So many operations a function may have that is traced unasked: about 700 kB of code, made in ten seconds."""
BOUNDS = {
    "pivots": "ole 0.0",
    "conditions": f"uge {CONDITION_LIMIT**2!r}",
    "opens": f"uge {OPEN**2!r}",
    "finite": "uge 1e300",  # of squares
}
"""What the kernel would have reported, or what it has to look at."""


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Let nothing look for garbage: expressions are many and have no cycles; it would take a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Traced(NamedTuple):
    """What a kernel does, for one robot."""

    inputs: list[tuple[str, int]]  # name and size of each
    # expressions of what it writes, by the name of the argument; ``keep``: to what its tables lead to
    outputs: dict[str, np.ndarray]
    pivots: list[Any]  # what must be positive
    conditions: list[Any]  # what must be small, of each loop
    opens: list[Any]  # the largest value of the equations of each loop, squared, if it was asked for
    params: dict[int, float]  # numbers of the robot that stand for inputs behind those, by number of the input
    finite: Sequence[Any] = ()  # inputs that must be finite, of those of which only some are read

    @property
    def result(self) -> np.ndarray:
        """What it writes, one behind the other."""
        return np.concatenate(list(self.outputs.values()))


_ARGUMENT = {"dtau_dq": "dq", "dtau_dv": "dv", "M": "M", "C": "dv", "dg_dq": "dq"}


def _arguments(one: Function, run: Run, outputs: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return what a kernel writes by the names of its arguments."""
    if one.operation.group == "data":
        return {one.operation.writes: np.concatenate([np.ravel(x) for x in outputs.values()])}
    found: dict[str, Any] = {_ARGUMENT[name]: np.ravel(x) for name, x in outputs.items()}
    if "M" in found:
        found["tau"] = run.torques
    elif "dq" in found:  # at rest
        found["dv"] = np.full(found["dq"].size, 0.0, dtype=object)
    return found


def standing(model: ClusterModel) -> tuple[np.ndarray, np.ndarray]:
    """Return which numbers of the tables, and of what the workspace holds at first, code reads where they stand.

    Of a body with mass all, as rounding makes zeros of some and not of others that differ in mass only.
    """
    counts = model.tables.params != 0.0
    for b in range(1, source("tables.views").header(model.tables.index).bodies + 1):
        block = slice(b * BODY_PARAMS + MASS, b * BODY_PARAMS + INERTIA + 6)
        counts[block] |= counts[block].any()
    return counts, np.nan_to_num(model.tables.work) != 0.0


def is_of_loops(one: Function) -> bool:
    """Whether a function is of those that closed loops need besides."""
    return one in LOOP_FUNCTIONS or one.operation is COUPLING_DERIVATIVES


def _changes_of_coupling(run: Run, one: Function) -> np.ndarray:
    """Return what differentiates the coupling, None where nothing is written: at v and a, at v, or at unit speeds."""
    model, given = run.model, one.inputs
    matrices = {"q v a": 4, "q v": 2}.get(one.takes) or 1 + max([1, *(c.nk for c in run.loops())])
    found = np.full(matrices * model.tables.topology.G.size, None, dtype=object)
    state = [run[name] if name in given else run.room(0) for name in ("q", "v", "a")]
    passes = "variations.coupling_derivatives", "coupling_derivatives"
    run.plain(*passes, run.room(model.tables.rates), *state, found)
    return found


def _of_momentum(run: Run) -> dict[str, Any]:
    """Return derivatives of the momentum and its rate, a matrix of six rows behind the other."""
    model, nothing, total = run.model, run.room(0), run.room(24 * run.model.nv)
    if model.tables.supplies:
        supply_third(model, run["q"], run.G @ run["v"], run.work)
    state = run["q"], run["v"], run["a"]
    rest = nothing, run.rest, nothing, nothing, nothing, total
    run.call(RNEA_DERIVATIVES.passes, run.room(model.tables.rates), *state, *rest)
    return {"total": total}


def _of_loops(one: Function, run: Run) -> dict[str, Any]:
    """Return what is left of the coupling, or of how far loops are open."""
    if one.operation is OPENNESS:
        worst: Any = 0.0
        for x in run.opens(still=True):
            worst = select(worst, x, x, worst)
        return {"keep": np.array([square_root(worst)], dtype=object)}
    G = run.model.tables.topology.G
    if one.operation is COUPLING_DERIVATIVES:
        return {"found": _changes_of_coupling(run, one)}
    left = [*G.ravel(), *np.zeros(len(G) + (2 * G.size if one.name == "coupling_rate" else 0))]
    keep = np.array(left, dtype=object)
    run.plain("variations.coupling", "coupling", keep, run["q"], run["v"])
    # what does not change is there already
    return {"keep": np.array([None if x == y else x for x, y in zip(keep, left, strict=True)], dtype=object)}


def _of_hybrid(run: Run, key: int) -> tuple[dict[str, Any], list[Any]]:
    """Return torques and accelerations, and what of those that are given is read, of the wish of that number."""
    nv, found = run.model.nv, (run.rest, run.rest)
    mask = np.array([key >> i + 1 & 1 for i in range(nv)], dtype=np.int8)
    given = run["q"], run["v"], run["tau"], run["a"], mask
    run.call(HYBRID.passes, np.concatenate([run.rest, run.forces]), *given, *found)
    return dict(zip(("tau_out", "a_out"), found, strict=True)), list(np.where(mask, run["a"], run["tau"]))


def _numbers_as_inputs(run: Run, graph: Graph, numbers: str) -> dict[int, float]:
    """Put inputs in the place of the robot's numbers; return the numbers, by number of the input."""
    first, values = sum(len(x) for x in run.inputs.values()), run.model.tables.params.tolist()
    leaves, counts = graph.inputs(first, len(values)), run.model.tables.params != 0.0
    if numbers == "where they stand":  # some are in the workspace
        counts, kept = standing(run.model)
        run.work[kept] = np.array(graph.inputs(first + len(values), len(run.work)), dtype=object)[kept]
    chosen = [leaf if x or numbers == "all" else 0.0 for leaf, x in zip(leaves, counts, strict=True)]
    run.params = np.array(chosen, dtype=object)
    return {first + i: x for i, x in enumerate(values)}


def traced(
    model: ClusterModel,
    one: Function,
    *,
    numbers: str = "",
    opens: bool = False,
    most: float = math.inf,
    parameters: Sequence[str] = (),
) -> Traced | None:
    """Return the operations, and what the kernel looks at; None if it fails at every state.

    Args:
        model: The model.
        one: What is traced.
        numbers: Which numbers of the robot are inputs, too: ``all``, or ``some``, which are those that are not zero;
            ``where they stand``: these, and those that the workspace holds at first.
        opens: Whether to look how far loops are open.
        most: How many operations there may be.
        parameters: What of the robot is an input, behind the others, as ``pc.trace`` takes it.

    Raises:
        TooLongError: There are more.
        NotAvailableError: A compiled function of the user ties joints of the robot.
    """
    if one.operation in (COUPLING, COUPLING_DERIVATIVES) and model.tables.supplies:
        return None
    graph, run = Graph(most), Run(model)
    sizes = {"q": model.nq, "fext": 6 * model.njoints} | {name: len(values_of(model, name)) for name in parameters}
    names = (*one.inputs, *["fext"] * one.name.endswith(FORCES), *parameters)
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
            if is_of_loops(one):
                found = _of_loops(one, run)
            elif one is OF_MOMENTUM:
                found = _of_momentum(run)
            elif one.operation is HYBRID:
                found, read = _of_hybrid(run, int(one.name.split()[1]))
            else:
                found = _arguments(one, run, run_function(one.name.removesuffix(FORCES), run))
    except (SingularClusterError, ZeroDivisionError):  # what moves no inertia, whatever the state
        return None
    conditions = [run.work[condition.at] for condition in model.tables.conditions if one.operation is not OPENNESS]
    apart = run.opens(still=one.operation is OPENNESS) if opens else []
    return Traced(inputs, found, [x - limit for x, limit in watched], conditions, apart, params, read)
