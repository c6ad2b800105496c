"""``pc.trace``: run a kernel once on expressions, and keep the operations that its results need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..errors import ArgumentTypeError, NotAvailableError, SingularClusterError, UnknownNameError
from ..model import ClusterModel, with_loops
from ._sources import source
from .expressions import Graph
from .program import Program


@dataclass
class Run:
    """A model, and what its kernels read and write while they are traced.

    Attributes:
        model: The model.
        inputs: Arrays of expressions, by name.
        work: Workspace.
    """

    model: ClusterModel
    inputs: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.work = np.asarray(self.model._tables.work, dtype=float).astype(object)

    def room(self, *shape: int) -> np.ndarray:
        """Return an array of zeros, which may hold expressions."""
        return np.full(shape, 0.0, dtype=object)

    def call(self, module: str, function: str, *rest: np.ndarray) -> None:
        """Run a kernel on the tables of the model.

        Raises:
            SingularClusterError: It says that something is singular whatever the state is.
        """
        model = self.model
        name = f"{function}_loops" if with_loops(model) else function
        kernel: Callable[..., int] = getattr(source(module), name)
        code = kernel(model._index, model._params, self.work, *rest)
        if code:
            raise SingularClusterError(f"{model.name}: {function} fails at every state (code {code}).")

    @property
    def zeros(self) -> np.ndarray:
        """Rest."""
        return self.room(self.model.nv)


Outputs = dict[str, np.ndarray]


def _rnea(run: Run, v: np.ndarray, a: np.ndarray, name: str) -> Outputs:
    tau = run.room(run.model.nv)
    run.call("rnea", "rnea", run.room(run.model.nv), run.inputs["q"], v, a, tau)
    return {name: tau}


def _aba(run: Run) -> Outputs:
    ddq = run.room(run.model.nv)
    run.call("aba", "aba", run.room(run.model.nv), run.inputs["q"], run.inputs["v"], run.inputs["tau"], ddq)
    return {"ddq": ddq}


def _matrix(run: Run, module: str, name: str) -> Outputs:
    nv = run.model.nv
    out = run.room(nv, nv)
    run.call(module, module, run.room(nv * nv), run.inputs["q"], out)
    return {name: out}


def _energies(run: Run) -> Outputs:
    found = run.room(2)
    run.call("energy", "energy", found, run.inputs["q"], run.inputs["v"])
    return {"kinetic_energy": found[:1], "potential_energy": found[1:]}


def _derivatives(run: Run) -> Outputs:
    nv, nothing = run.model.nv, run.room(0)
    dq, dv, M = (run.room(nv * nv) for _ in range(3))
    q, v, a = (run.inputs[x] for x in ("q", "v", "a"))
    rates = run.room(run.model._tables.rates)
    run.call("rnea_derivatives", "derivatives", rates, q, v, a, nothing, run.room(nv), dq, dv, M, nothing)
    return {name: x.reshape(nv, nv) for name, x in (("dtau_dq", dq), ("dtau_dv", dv), ("M", M))}


def _coriolis(run: Run) -> Outputs:
    nv, nothing = run.model.nv, run.room(0)
    C, M, rates = run.room(nv * nv), run.room(nv * nv), run.room(run.model._tables.rates)
    q, v = run.inputs["q"], run.inputs["v"]
    run.call("rnea_derivatives", "derivatives", rates, q, v, run.zeros, nothing, nothing, nothing, C, M, nothing)
    return {"C": C.reshape(nv, nv)}


FUNCTIONS: dict[str, tuple[tuple[str, ...], Callable[[Run], Outputs]]] = {
    "rnea": (("q", "v", "a"), lambda run: _rnea(run, run.inputs["v"], run.inputs["a"], "tau")),
    "aba": (("q", "v", "tau"), _aba),
    "crba": (("q",), lambda run: _matrix(run, "crba", "M")),
    "computeMinverse": (("q",), lambda run: _matrix(run, "minverse", "Minv")),
    "nonLinearEffects": (("q", "v"), lambda run: _rnea(run, run.inputs["v"], run.zeros, "nle")),
    "computeGeneralizedGravity": (("q",), lambda run: _rnea(run, run.zeros, run.zeros, "g")),
    "energies": (("q", "v"), _energies),
    "computeRNEADerivatives": (("q", "v", "a"), _derivatives),
    "computeCoriolisMatrix": (("q", "v"), _coriolis),
}
"""What can be traced: its inputs, and what runs it."""


def trace(model: ClusterModel, function: str) -> Program:
    """Return the operations of a function of a robot: loops unrolled, zeros gone, closed loops solved.

    Args:
        model: The model.
        function: One of ``pc.tracing.FUNCTIONS``.

    Returns:
        The program; its inputs are those of the function, in their order: q (nq), then v, a or tau (nv).

    Raises:
        ArgumentTypeError: It is no ``ClusterModel``.
        UnknownNameError: There is no such function.
        NotAvailableError: A function that the user compiled or wrote in Python ties joints of the robot.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> from pin_clusters import tracing
        >>> model = pc.load("mit_humanoid_leg")
        >>> program = tracing.trace(model, "rnea")
        >>> q, v, a = pc.neutral(model), np.ones(model.nv), np.ones(model.nv)
        >>> np.allclose(program(q, v, a), pc.rnea(model, model.createData(), q, v, a))
        True
    """
    if not isinstance(model, ClusterModel):
        raise ArgumentTypeError(f"model must be a ClusterModel, got {type(model).__name__}.")
    if function not in FUNCTIONS:
        raise UnknownNameError(f"{function!r} cannot be traced; there are {', '.join(FUNCTIONS)}.")
    tied = [c.source.label for c in model.closures if hasattr(c, "addresses")]
    if tied:
        raise NotAvailableError(
            f"model {model.name!r} cannot be traced: {tied[0]} is a function of the user, whose operations are not "
            "known."
        )
    names, run = FUNCTIONS[function]
    graph, traced = Graph(), Run(model)
    sizes: list[tuple[str, int]] = []
    for name in names:
        size = model.nq if name == "q" else model.nv
        traced.inputs[name] = np.array(graph.inputs(sum(n for _, n in sizes), size), dtype=object)
        sizes.append((name, size))
    return Program.of(f"{model.name}, {function}", sizes, run(traced))
