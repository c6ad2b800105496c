"""``pc.trace``: run a function of a robot once on expressions, and keep the operations that its results need."""

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
from .functions import FUNCTIONS, run_function, stacked
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
    steps: int = 3,
    stack: bool = False,
) -> Program:
    """Return the operations of a function of a robot: loops unrolled, zeros gone, closed loops solved.

    Besides the functions of this package that have these names there are ``energies`` (kinetic and potential),
    ``integrate`` (q and v; with loops it returns beside q the largest value of their equations, in parts of their
    length or rad) and ``tangent`` (the derivative of ``pc.integrate(model, q, v)`` by v at rest, shape (nq, nv)).

    Args:
        model: The model.
        function: One of ``pc.tracing.FUNCTIONS``.
        fext: Whether external forces are one more input, ``fext``: [linear; angular] in the frame of each joint, the
            universe's first, one behind the other (6 njoints).
        parameters: What of the robot shall be inputs, too, each behind the others: ``"gravity"`` (3, in m/s^2),
            ``"inertial"`` (in the order of ``pc.parameters``: masses, first moments, inertias, rotors, armatures,
            rods), ``"ratios"`` (of each ``Rotor``, ``Gear`` and ``Belt``, in the order of ``model.constraints``).
            ``pc.tracing.values_of(model, name)`` has those of the model, ``labels_of`` says what they are. Of a rotor
            that is a body of the tree, what would unbalance it is not seen.
        frames: Names or ids of frames, of functions that are about some: an output each, of its name.
        reference: Axes and points of what is said of frames.
        contacts: ``pin.RigidConstraintModel`` objects on ``model.tree``, of functions that are about some: their
            placements, gains and desired motions are numbers of the program. Rows must be independent, or damped;
            ``status`` tells by its ``pivot``.
        damping: Added to the diagonal of J M^-1 J' of contacts.
        status: Whether to add what kernels would have looked at: ``pivot``, by how much the smallest one exceeds what
            counts as none (positive if sound); with loops ``condition``, a bound of the largest condition of the
            dependent joints, and ``open``, the largest value of their equations at q.
        steps: How often ``integrate`` corrects the dependent joints of loops.
        stack: Whether results of a list of frames are one output, ``frames``, with an axis of frames before the others
            (of derivatives ``dframes_dq`` and the like), as for PyTorch, JAX and CasADi.

    Returns:
        The program; its inputs are those of the function, in their order: q (nq), then v, a or tau (nv), then fext,
        then parameters.

    Raises:
        ArgumentTypeError: It is no ``ClusterModel``; frames are missing; an option does not fit the function.
        UnknownNameError: There is no such function, or frame.
        NotAvailableError: A function that the user compiled ties joints of the robot, or one in Python that decides by
            values; such numbers of this robot cannot be inputs.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("mit_humanoid_leg")
        >>> program = pc.trace(model, "rnea")
        >>> q, v, a = pc.neutral(model), np.ones(model.nv), np.ones(model.nv)
        >>> np.allclose(program(q, v, a), pc.rnea(model, model.createData(), q, v, a))
        True
    """
    _check(model, function, fext, {"frames": frames, "contacts": contacts})
    what = FUNCTIONS[function]
    which = [] if frames is None else frame_ids(model, frames)
    numbers = checked(model, function, parameters)
    if numbers and not what.dynamic:
        dynamic = ", ".join(name for name, one in FUNCTIONS.items() if one.dynamic)
        raise ArgumentTypeError(f"parameters={numbers!r}: {function} does not take them; these do: {dynamic}.")
    graph = Graph()
    sizes = {"q": model.nq, "v": model.nv, "a": model.nv, "tau": model.nv, "fext": 6 * model.njoints}
    inputs = [(name, sizes[name]) for name in ((*what.inputs, "fext") if fext else what.inputs)]
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


def _check(model: ClusterModel, function: str, fext: bool, options: Mapping[str, Any]) -> None:
    """Raise if a function cannot be traced, or an option does not fit it."""
    if not isinstance(model, ClusterModel):
        cure = " Wrap it: pc.ClusterModel(model, constraints)." if isinstance(model, pin.Model) else ""
        raise ArgumentTypeError(f"model must be a ClusterModel, got {type(model).__name__}.{cure}")
    if not isinstance(function, str):
        raise ArgumentTypeError(f"function must be a name such as 'aba', got {shown(function)}.")
    if function not in FUNCTIONS:
        raise UnknownNameError(
            f"{function!r} cannot be traced.{did_you_mean(function, FUNCTIONS)} There are {', '.join(FUNCTIONS)}."
        )
    tied = [c.source.label for c in model.closures if any(getattr(c, "addresses", ()))]
    if tied:
        raise NotAvailableError(
            f"model {model.name!r} cannot be traced: {tied[0]} is compiled, so its operations are not known. Give the "
            "Coupling a Python function of arithmetic and of sqrt, sin, cos, tan instead."
        )
    what = FUNCTIONS[function]
    if fext and not what.forced:
        forced = ", ".join(name for name, one in FUNCTIONS.items() if one.forced)
        raise ArgumentTypeError(f"{function} takes no external forces; these do: {forced}.")
    for option, given in options.items():
        about = option == what.about
        if about and given is None:
            example = repr([model.own_tree.frames[-1].name]) if what.framed else "[contact]"
            raise ArgumentTypeError(f"{function} is about {option}, which are missing: add {option}={example}.")
        if not about and given is not None:
            raise ArgumentTypeError(f"{function} is not about {option}, and {option}={given!r} was given.")


def _status_of(run: Run, watched: Sequence[tuple[Any, Any]]) -> dict[str, np.ndarray]:
    """Return ``pivot``, and with loops ``condition`` and ``open``, of shape (1,); ``watched``: numbers and limits."""
    pivot = np.inf
    for x, limit in watched:
        margin = x - limit
        pivot = select(margin, pivot, margin, pivot)
    found = {"pivot": np.array([pivot], dtype=object)}
    model = run.model
    if model.closures:
        G = model.tables.topology.G
        run.plain("variations.coupling", "coupling", run.room(G.size + len(G)), run["q"], run.rest)
        conditions = [run.work[one.at] for one in model.tables.conditions]
        for name, squares in (("condition", conditions), ("open", run.opens(still=True))):
            largest = 0.0
            for x in squares:
                largest = select(largest, x, x, largest)
            found[name] = np.array([square_root(largest)], dtype=object)
    return found


def frame_ids(model: ClusterModel, frames: Any) -> int | list[int]:
    """Return the ids of a list of frames, or that of a single one."""
    if isinstance(frames, (str, Integral, np.ndarray)) and np.ndim(frames) == 0:  # type: ignore[arg-type]
        return ids.frames(model, "frames", [np.asarray(frames).item()])[0]
    return ids.frames(model, "frames", list(frames) if isinstance(frames, Iterator) else frames)


def _count(steps: Any) -> int:
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 0:
        raise ArgumentTypeError(f"steps must be a number of corrections, 0 or more, got {steps!r}.")
    return int(steps)
