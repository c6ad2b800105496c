"""The class ``ExportedFunction``, which writes the C code of a function."""

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
"""Names of the trace outputs that show whether a state is valid."""
Wanted = str | Program | Sequence[str | Program]
"""Functions that a user can request."""
COMMON = """
Args:
    model: The robot.
    functions: Names in ``pc.tracing.FUNCTIONS``; ``step``, which integrates over a time step; or programs of this
        robot, such as derivatives.
    real: Type of all numbers, ``double`` or ``float``.
    frames: Names of frames for functions such as ``getFrameVelocity``; each frame has its own result, in local axes.
    name: Prefix of the names of functions; by default an identifier made from the name of the robot.

Raises:
    ArgumentTypeError: An argument has the wrong type.
    UnknownNameError: A function or ``real`` is unknown, or ``name`` is not an identifier in C.
    ShapeError: A program belongs to another robot.
    NotAvailableError: A compiled user function constrains joints, so its operations are unknown.
"""
"""Common docstring sections of the functions that write code."""


@dataclass(frozen=True)
class ExportedFunction:
    """A function in exported source code."""

    name: str  # name without the prefix ROBOT
    program: Program
    arguments: tuple[str, ...]  # names of the inputs, then of the outputs
    returned: bool = False  # whether the last output is a single number, which the function returns
    is_builtin: bool = True  # True for a function of this package, False for a program of the user
    status: bool = False  # whether the program has the outputs ``STATUS``, from which a state's status is computed

    @property
    def inputs(self) -> list[tuple[str, int]]:
        sizes = [size for _, size in self.program.inputs]
        return list(zip(self.arguments, sizes, strict=False))

    @property
    def outputs(self) -> list[tuple[str, tuple[int, ...]]]:
        names = self.arguments[len(self.program.inputs) :]
        outputs = [(name, shape) for name, (_, shape) in zip(names, self.program.outputs, strict=True)]
        return outputs[:-1] if self.returned else [x for x in outputs if x[0] not in self.status_outputs]

    @property
    def status_outputs(self) -> list[str]:
        return [name for name in self.arguments[len(self.program.inputs) :] if self.status and name in STATUS]

    def prototype(self, robot: str, real: str) -> str:
        inputs = [f"const {real} *{name}" if self.is_array(name) else f"{real} {name}" for name, _ in self.inputs]
        outputs = [f"{real} *{name}" for name, _ in self.outputs]
        return f"{real if self.returned else 'void'} {robot}_{self.name}({', '.join(inputs + outputs)})"

    def is_array(self, name: str) -> bool:
        """Return whether an argument is an array; the only scalar argument is the time step of ``step``."""
        return not (self.is_builtin and self.name == STEP and name == "dt")

    def about(self) -> str:
        inputs = ", ".join(f"{name}[{size}]" if self.is_array(name) else name for name, size in self.inputs)
        outputs = ", ".join(f"{name}{''.join(f'[{n}]' for n in shape)}" for name, shape in self.outputs)
        if self.returned:
            outputs += "; the return value is the largest loop residual"
        return f"{outputs} from {inputs}."

    def statements(self, dialect: Dialect) -> list[str]:
        last, status_outputs = self.arguments[-1] if self.returned else "", self.status_outputs

        def read(name: str, i: int) -> str:
            return f"{name}[{i}]" if self.is_array(name) else name

        def write(name: str, i: int, text: str) -> str:
            if name == last:
                return f"return {text};"
            return f"const {dialect.real} the_{name} = {text};" if name in status_outputs else f"{name}[{i}] = {text};"

        writer = StatementWriter(self.program, dialect, self.arguments, read, write)
        # This stable sort only moves the return statement to the end.
        body = sorted(writer.body(), key=lambda line: line.startswith("return "))
        return [f"(void){name};" for name in writer.unread] + body

    def text(self, robot: str, dialect: Dialect) -> str:
        body = "".join(f"  {line}\n" for line in self.statements(dialect))
        return f"{self.prototype(robot, dialect.real)}\n{{\n{body}}}\n"


def step(model: ClusterModel) -> Program:
    """Return the program of one integration step, with the inputs q, v, dt [s] and the outputs q_next, residual.

    The output ``residual`` is the largest loop residual, shape (1,), [m] or [rad], or 0 if there are no loops.
    """
    return scaled(trace(model, "integrate"))


def scaled(traced: Program) -> Program:
    (q, nq), (v, nv) = traced.inputs
    *entries, dt = Graph().inputs(0, nq + nv + 1)
    moved = traced.run(traced.constants.tolist(), [*entries[:nq], *(x * dt for x in entries[nq:])])
    name, residual = traced.name.replace("integrate", STEP), (moved[nq:] or [0.0])
    outputs = {"q_next": objects(moved[:nq]), "residual": objects(residual)}
    return Program.of(name, ((q, nq), (v, nv), ("dt", 1)), outputs)


def functions_of(
    model: ClusterModel, wanted: Wanted, frames: Sequence[str] | None = None, status: bool = False
) -> list[ExportedFunction]:
    """Return the functions for names or programs; if ``status``, traced functions have the outputs ``STATUS``."""
    if not isinstance(model, ClusterModel):
        raise ArgumentTypeError(f"model must be a ClusterModel, got {type(model).__name__}.")
    listed = [wanted] if isinstance(wanted, (str, Program)) else list(wanted)
    functions: list[ExportedFunction] = []
    for item in listed:
        if isinstance(item, Program):
            exported = _of_program(model, item, status)
        elif not isinstance(item, str):
            raise ArgumentTypeError(f"functions must be names or programs, got {type(item).__name__}.")
        elif item == STEP:
            exported = ExportedFunction(STEP, step(model), ("q", "v", "dt", "q_next", "residual"), returned=True)
        else:
            framed = item in FUNCTIONS and FUNCTIONS[item].framed
            program = trace(model, item, frames=frames if framed else None, status=status)
            exported = ExportedFunction(item, *_traced(program), status=status)
        if exported.name in {f.name for f in functions}:
            raise UnknownNameError(f"`functions` contains {exported.name!r} twice. Specify each function once.")
        functions.append(exported)
    if not functions:
        raise UnknownNameError(f"functions is empty. Specify at least one function, such as {', '.join(DEFAULT)}.")
    return functions


def _traced(program: Program) -> tuple[Program, tuple[str, ...]]:
    names = [name for name, _ in program.inputs] + [name for name, _ in program.outputs]
    return program, tuple(distinct(names))


def _of_program(model: ClusterModel, program: Program, status: bool) -> ExportedFunction:
    name = program.name.removeprefix(f"{model.name}, ")
    sizes = dict(program.inputs)
    if name == program.name or sizes.get("q", model.nq) != model.nq or sizes.get("v", model.nv) != model.nv:
        raise ShapeError(
            f"the program {program.name!r} was not traced for the robot {model.name!r} (nq = {model.nq}, "
            f"nv = {model.nv}). Trace this robot with pc.tracing.trace(model, ...)."
        )
    has_status = status and any(name in STATUS for name, _ in program.outputs)
    return ExportedFunction(identifier(name, "program"), *_traced(program), is_builtin=False, status=has_status)


def check_real(real: str) -> str:
    if real not in REALS:
        raise UnknownNameError(f"real must be {' or '.join(map(repr, REALS))}, got {real!r}.")
    return real
