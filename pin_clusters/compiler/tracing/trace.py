"""``pc.trace`` runs a function of a robot once on expressions and returns the operations that compute its results."""

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
import pinocchio as pin

from ...algorithms._shared import ids
from ...algorithms.contacts._objects import models_of
from ...errors import ArgumentTypeError, NotAvailableError, UnknownNameError, did_you_mean, shown
from ...model import ClusterModel
from ._sources import watching
from .expressions import Graph, select, square_root
from .functions import BUILDERS, FUNCTIONS, run_function, stacked
from .numbers import checked, tables_for, values_of
from .program import Program
from .run import Run


def trace(
    model: ClusterModel,
    function: str,
    *,
    fext: bool = False,
    parameters: Iterable[str] = (),
    frames: Iterable[str | int] | int | None = None,
    reference: pin.ReferenceFrame = pin.LOCAL,
    contacts: Iterable[Any] | None = None,
    damping: float = 0.0,
    status: bool = False,
    steps: int | None = None,
    stack: bool = False,
    **options: Any,
) -> Program:
    """Record the operations of a function for one robot.

    The program has no loops over joints and no operations on zeros. Robots with closed kinematic loops are supported.
    ``function`` is a function of this package, ``energies`` (kinetic and potential energy), ``integrate``, ``tangent``
    or ``step``. For closed loops, ``integrate`` also returns the largest loop residual, relative to the loop's size or
    in rad. ``tangent`` returns the derivative of ``pc.integrate(model, q, v)`` with respect to v at v = 0, (nq, nv).
    ``step`` is a time step with ground contact, as in ``pc.Worlds``.

    Args:
        model: The model.
        function: Name in ``pc.tracing.FUNCTIONS``.
        fext: Whether to add the input ``fext``, which contains the external force [linear; angular] on each joint in
            the frame of the joint. The universe comes first; shape (6 njoints,), [N; N m].
        parameters: Parameters of the robot that are additional inputs, in this order: ``"gravity"`` (3, [m/s^2]),
            ``"inertial"`` (in the order of ``pc.parameters``: masses, first moments, inertias, rotors, armatures,
            rods), ``"ratios"`` (the ratios of all ``Rotor``, ``Gear`` and ``Belt`` constraints in the order of
            ``model.constraints``). ``pc.tracing.values_of(model, name)`` returns the model's values, and ``labels_of``
            returns labels. If a rotor is a body of the tree, parameters that would unbalance it have no effect.
        frames: Names or ids of frames, for functions of frames. Each frame has an output with the name of the frame.
        reference: Reference frame in which the results for frames are expressed.
        contacts: ``pin.RigidConstraintModel`` objects on ``model.tree``, for functions of contacts. Their placements,
            gains and desired motions become constants. The contact constraints must be independent unless ``damping``
            is positive. The output ``pivot`` (see ``status``) is positive if the constraints are independent.
        damping: Number that is added to the diagonal of J M^-1 J', where J is the Jacobian of the contacts.
        status: Whether to add outputs for the values that kernels check. ``pivot`` is the smallest difference between a
            pivot and its limit; it is positive if the results are valid. For closed loops, ``condition`` is an upper
            bound of the largest condition number of the dependent joints, and ``open`` is the largest residual at q.
        steps: Number of Newton steps by which ``integrate`` (default: 3) and each half of ``step`` (default: 2) correct
            the dependent joints of loops.
        stack: Whether to stack the results for a list of frames in one output, ``frames`` (or, for derivatives,
            ``dframes_dq`` etc.). The first axis of this output is the frame, as in PyTorch, JAX and CasADi.
        **options: For ``step``: ``ground``, ``touching``, ``dt``, ``sweeps``, ``drive``, ``limits`` and ``passive``, as
            in ``pc.Worlds``. Its ``parameters`` can also be ``"tau"``, ``"gains"``, ``"strength"``, ``"friction"`` and
            ``"wrench"``. The inputs ``last`` (for contacts) and ``loads`` (for gear losses) are the outputs
            ``impulses`` and ``loads_next`` of the previous step. If ``status`` is true, the input and output ``status``
            freeze a state that has become invalid.

    Returns:
        The program. Its inputs are q (nq), then v, a or tau (nv) if the function uses them, then fext, then the
        parameters. Units are the same as in the function.

    Raises:
        ArgumentTypeError: ``model`` is not a ``ClusterModel``, frames are missing, or the function has no such option.
        UnknownNameError: The function or a frame does not exist.
        NotAvailableError: Joints are constrained by a compiled user function or by a Python function that branches on
            values, or the requested parameters of this robot cannot be inputs.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("mit_humanoid_leg")
        >>> program = pc.trace(model, "rnea")
        >>> q, v, a = pc.neutral(model), np.ones(model.nv), np.ones(model.nv)
        >>> np.allclose(program(q, v, a), pc.rnea(model, model.createData(), q, v, a))
        True
    """
    if isinstance(function, str) and function in BUILDERS:
        of_others = {"fext": fext, "frames": frames, "contacts": contacts, "damping": damping, "stack": stack}
        common = {"parameters": parameters, "status": status, "steps": steps}
        return _built(model, function, of_others, common, options)
    for name in options:
        raise ArgumentTypeError(f"{shown(function)} does not accept {name}. Only the function 'step' accepts it.")
    steps = 3 if steps is None else steps
    _check(model, function, fext, {"frames": frames, "contacts": contacts})
    declaration = FUNCTIONS[function]
    which = [] if frames is None else frame_ids(model, frames)
    numbers = checked(model, function, parameters)
    if numbers and not declaration.dynamic:
        dynamic = ", ".join(name for name, x in FUNCTIONS.items() if x.dynamic)
        raise ArgumentTypeError(
            f"parameters={numbers!r}: {function} does not accept parameters; these functions do: {dynamic}."
        )
    graph = Graph()
    sizes = {"q": model.nq, "v": model.nv, "a": model.nv, "tau": model.nv, "fext": 6 * model.njoints}
    inputs = [(name, sizes[name]) for name in ((*declaration.inputs, "fext") if fext else declaration.inputs)]
    inputs += [(name, len(values_of(model, name))) for name in numbers]
    entries, first = {}, 0
    for name, size in inputs:
        entries[name] = np.array(graph.inputs(first, size), dtype=object)
        first += size
    run = Run(model, entries, frames=tuple(np.ravel(which).tolist()), reference=reference, steps=_count(steps))
    run.contacts, run.damping = () if contacts is None else models_of(model, contacts), float(damping)
    if numbers:
        run.params, run.work = tables_for(model, numbers, entries)
    with watching() as watched:
        outputs = run_function(function, run)
    if stack and run.frames and function != "inverse_operational_inertia" and not isinstance(which, int):
        outputs = stacked(outputs, len(run.frames))
    if status:
        outputs = outputs | _status_of(run, watched)
    return Program.of(f"{model.name}, {function}", inputs, outputs)


def _built(
    model: ClusterModel, function: str, of_others: Mapping[str, Any], common: dict[str, Any], options: dict[str, Any]
) -> Program:
    """Let a higher layer build the program of a function in ``BUILDERS``."""
    for name, value in of_others.items():
        if value not in (False, None, 0.0):
            raise ArgumentTypeError(f"{function} does not accept {name}, got {name}={value!r}.")
    if common["steps"] is None:
        del common["steps"]
    module, name = BUILDERS[function]
    build = getattr(importlib.import_module(f"{__package__.partition('.')[0]}.{module}"), name)
    program: Program = build(model, **common, **options)
    return program


def _check(model: ClusterModel, function: str, fext: bool, options: Mapping[str, Any]) -> None:
    if not isinstance(model, ClusterModel):
        cure = " Wrap it: pc.ClusterModel(model, constraints)." if isinstance(model, pin.Model) else ""
        raise ArgumentTypeError(f"model must be a ClusterModel, got {type(model).__name__}.{cure}")
    if not isinstance(function, str):
        raise ArgumentTypeError(f"function must be a name such as 'aba', got {shown(function)}.")
    if function not in FUNCTIONS:
        raise UnknownNameError(
            f"{function!r} cannot be traced.{did_you_mean(function, [*FUNCTIONS, *BUILDERS])} "
            f"Available functions: {', '.join([*FUNCTIONS, *BUILDERS])}."
        )
    compiled = [c.source.label for c in model.closures if any(getattr(c, "addresses", ()))]
    if compiled:
        raise NotAvailableError(
            f"model {model.name!r} cannot be traced: the function of {compiled[0]} is compiled, so its operations are "
            "unknown. Define the Coupling by a Python function with arithmetic, sqrt, sin, cos and tan instead."
        )
    declaration = FUNCTIONS[function]
    if fext and not declaration.forced:
        forced = ", ".join(name for name, x in FUNCTIONS.items() if x.forced)
        raise ArgumentTypeError(f"{function} does not accept external forces; these functions do: {forced}.")
    for option, value in options.items():
        about = option == declaration.about
        if about and value is None:
            example = repr([model.own_tree.frames[-1].name]) if declaration.framed else "[contact]"
            raise ArgumentTypeError(f"{function} requires {option}: add {option}={example}.")
        if not about and value is not None:
            raise ArgumentTypeError(f"{function} does not accept {option}, got {option}={value!r}.")


def _status_of(run: Run, watched: Sequence[tuple[Any, Any]]) -> dict[str, np.ndarray]:
    """Return ``pivot`` and, for loops, ``condition`` and ``open``; ``watched`` contains pairs (value, limit)."""
    pivot = np.inf
    for x, limit in watched:
        margin = x - limit
        pivot = select(margin, pivot, margin, pivot)
    outputs = {"pivot": np.array([pivot], dtype=object)}
    model = run.model
    if model.closures:
        G = model.tables.topology.G
        run.plain("variations.coupling", "coupling", run.zeros(G.size + len(G)), run["q"], run.rest)
        conditions = [run.work[condition.at] for condition in model.tables.conditions]
        for name, squares in (("condition", conditions), ("open", run.opens(still=True))):
            largest = 0.0
            for x in squares:
                largest = select(largest, x, x, largest)
            outputs[name] = np.array([square_root(largest)], dtype=object)
    return outputs


def frame_ids(model: ClusterModel, frames: Any) -> int | list[int]:
    if isinstance(frames, (str, Integral, np.ndarray)) and np.ndim(frames) == 0:  # type: ignore[arg-type]
        return ids.frames(model, "frames", [np.asarray(frames).item()])[0]
    return ids.frames(model, "frames", list(frames) if isinstance(frames, Iterator) else frames)


def _count(steps: Any) -> int:
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 0:
        raise ArgumentTypeError(f"steps must be an integer (number of corrections) of at least 0, got {steps!r}.")
    return int(steps)
