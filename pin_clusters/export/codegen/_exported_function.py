"""What functions a robot's source gets, and their text in C."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...compiler.tracing import FUNCTIONS, Program, trace
from ...compiler.tracing.expressions import Graph
from ...compiler.tracing.program import objects
from ...errors import ArgumentTypeError, ShapeError, UnknownNameError
from ...model import ClusterModel
from ._names import distinct, identifier
from ._statements import REALS, Dialect, StatementWriter

DEFAULT = ("rnea", "aba")
STEP = "step"
STATUS = ("pivot", "condition", "open", "residual")
"""What traces tell of a state beside their results."""
Wanted = str | Program | Sequence[str | Program]
"""What a user may ask for."""
COMMON = """
Args:
    model: The robot.
    functions: Names of ``pc.tracing.FUNCTIONS``; ``step``, which integrates; or programs of this robot, such as
        derivatives.
    real: Type of all numbers, ``double`` or ``float``.
    frames: Names of frames, for functions that are about some: a result each, in its own axes.
    name: What the names of functions begin with; by default the name of the robot, made an identifier.

Raises:
    ArgumentTypeError: An argument has the wrong type.
    UnknownNameError: There is no such function or type of numbers, or the name is none in C.
    ShapeError: A program is of another robot.
    NotAvailableError: A function of the user ties joints, whose operations are not known.
"""
"""What functions that write code say of what they are given."""


@dataclass(frozen=True)
class ExportedFunction:
    """A function of a robot.

    Attributes:
        name: Without the name of the robot.
        program: What it computes.
        arguments: Names of inputs and outputs.
        returned: Whether the last output, a number, is returned in place of being written.
        own: Whether it is of the library, not a program of the user.
        status: Whether the outputs ``STATUS`` are there, which are not written, but become the status of a state.
    """

    name: str
    program: Program
    arguments: tuple[str, ...]
    returned: bool = False
    own: bool = True
    status: bool = False

    @property
    def inputs(self) -> list[tuple[str, int]]:
        """Names and sizes."""
        sizes = [size for _, size in self.program.inputs]
        return list(zip(self.arguments, sizes, strict=False))

    @property
    def outputs(self) -> list[tuple[str, tuple[int, ...]]]:
        """Names and shapes, without what is returned or told by the status."""
        names = self.arguments[len(self.program.inputs) :]
        found = [(name, shape) for name, (_, shape) in zip(names, self.program.outputs, strict=True)]
        return found[:-1] if self.returned else [x for x in found if x[0] not in self.told]

    @property
    def told(self) -> list[str]:
        """Names of the outputs that the status tells."""
        return [name for name in self.arguments[len(self.program.inputs) :] if self.status and name in STATUS]

    def prototype(self, robot: str, real: str) -> str:
        """Return the declaration, without a semicolon."""
        given = [f"const {real} *{name}" if self.is_array(name) else f"{real} {name}" for name, _ in self.inputs]
        found = [f"{real} *{name}" for name, _ in self.outputs]
        return f"{real if self.returned else 'void'} {robot}_{self.name}({', '.join(given + found)})"

    def is_array(self, name: str) -> bool:
        """Whether an argument is an array: only the time of a step is not."""
        return not (self.own and self.name == STEP and name == "dt")

    def about(self) -> str:
        """Say what goes in and what comes out."""
        given = ", ".join(f"{name}[{size}]" if self.is_array(name) else name for name, size in self.inputs)
        found = ", ".join(f"{name}{''.join(f'[{n}]' for n in shape)}" for name, shape in self.outputs)
        if self.returned:
            found += ", and the largest residual of the loops is returned"
        return f"{found} from {given}."

    def statements(self, dialect: Dialect) -> list[str]:
        """Return the body; what is told by the status becomes a constant."""
        last, told = self.arguments[-1] if self.returned else "", self.told

        def read(name: str, i: int) -> str:
            return f"{name}[{i}]" if self.is_array(name) else name

        def write(name: str, i: int, text: str) -> str:
            if name == last:
                return f"return {text};"
            return f"const {dialect.real} the_{name} = {text};" if name in told else f"{name}[{i}] = {text};"

        writer = StatementWriter(self.program, dialect, self.arguments, read, write)
        body = sorted(writer.body(), key=lambda line: line.startswith("return "))  # stable: only that one moves
        return [f"(void){name};" for name in writer.unread] + body

    def text(self, robot: str, dialect: Dialect) -> str:
        """Return the definition."""
        body = "".join(f"  {line}\n" for line in self.statements(dialect))
        return f"{self.prototype(robot, dialect.real)}\n{{\n{body}}}\n"


def step(model: ClusterModel) -> Program:
    """Return the program of a step.

    Args:
        model: The robot.

    Returns:
        A program with the inputs q, v and dt [s] and the outputs q_next and residual, of size 1: the largest entry of
        the loops' equations, [m] or [rad]; 0 without loops.

    Raises:
        NotAvailableError: Integration of this robot cannot be traced.
    """
    return scaled(trace(model, "integrate"))


def scaled(traced: Program) -> Program:
    """Return that program of q, v and dt, of one of q and of v during a unit of time."""
    (q, nq), (v, nv) = traced.inputs
    *given, dt = Graph().inputs(0, nq + nv + 1)
    found = traced.run(traced.constants.tolist(), [*given[:nq], *(x * dt for x in given[nq:])])
    name, residual = traced.name.replace("integrate", STEP), (found[nq:] or [0.0])
    outputs = {"q_next": objects(found[:nq]), "residual": objects(residual)}
    return Program.of(name, ((q, nq), (v, nv), ("dt", 1)), outputs)


def functions_of(
    model: ClusterModel, wanted: Wanted, frames: Sequence[str] | None = None, status: bool = False
) -> list[ExportedFunction]:
    """Return what a source gets: functions of ``pc.tracing.FUNCTIONS``, ``step``, or programs of this robot.

    ``status``: functions of the library tell their status.

    Raises:
        ArgumentTypeError: Something else is wanted.
        UnknownNameError: There is no such function, or nothing is wanted, or one twice.
        ShapeError: A program is of another robot.
        NotAvailableError: A function cannot be traced.
    """
    if not isinstance(model, ClusterModel):
        raise ArgumentTypeError(f"model must be a ClusterModel, got {type(model).__name__}.")
    listed = [wanted] if isinstance(wanted, (str, Program)) else list(wanted)
    found: list[ExportedFunction] = []
    for item in listed:
        if isinstance(item, Program):
            made = _of_program(model, item, status)
        elif not isinstance(item, str):
            raise ArgumentTypeError(f"functions must be names or programs, got {type(item).__name__}.")
        elif item == STEP:
            made = ExportedFunction(STEP, step(model), ("q", "v", "dt", "q_next", "residual"), returned=True)
        else:
            framed = item in FUNCTIONS and FUNCTIONS[item].framed
            program = trace(model, item, frames=frames if framed else None, status=status)
            made = ExportedFunction(item, *_traced(program), status=status)
        if made.name in {f.name for f in found}:
            raise UnknownNameError(f"functions has {made.name!r} twice: name each once.")
        found.append(made)
    if not found:
        raise UnknownNameError(f"functions is empty: name at least one, for example {', '.join(DEFAULT)}.")
    return found


def _traced(program: Program) -> tuple[Program, tuple[str, ...]]:
    names = [name for name, _ in program.inputs] + [name for name, _ in program.outputs]
    return program, tuple(distinct(names))


def _of_program(model: ClusterModel, program: Program, status: bool) -> ExportedFunction:
    name = program.name.removeprefix(f"{model.name}, ")
    sizes = dict(program.inputs)
    if name == program.name or sizes.get("q", model.nq) != model.nq or sizes.get("v", model.nv) != model.nv:
        raise ShapeError(
            f"the program {program.name!r} is of another robot than {model.name!r} (nq = {model.nq}, nv = {model.nv}): "
            "trace this robot with pc.tracing.trace(model, ...)."
        )
    told = status and any(name in STATUS for name, _ in program.outputs)
    return ExportedFunction(identifier(name, "program"), *_traced(program), own=False, status=told)


def check_real(real: str) -> str:
    """Return the type of the numbers if there is such a type (else ``UnknownNameError``)."""
    if real not in REALS:
        raise UnknownNameError(f"real is {real!r}; it can be {' or '.join(map(repr, REALS))}.")
    return real
