"""Functions of the kernels that contain only choices and calls, translated to LLVM's text for one robot.

The kernels' source is the only place where such decisions are written. A decision that another one calls becomes a part
of its code. Other calls lead to traced parts. A local variable is a number in memory.
"""

import ast
import inspect
import textwrap
import types
from collections.abc import Mapping, Sequence

from ...errors import NotAvailableError
from ..machine_code.instructions import Instructions
from ..machine_code.kinds import Kind
from .loop_parts import Part

_TABLES = ("index", "params", "C")
"""Arguments that are constant for one robot."""
_COMPARISONS = {ast.Lt: "olt", ast.LtE: "ole", ast.Gt: "ogt", ast.GtE: "oge", ast.Eq: "oeq", ast.NotEq: "une"}
_OPERATIONS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}


class Decisions(Instructions):
    """Writes the instructions of a function; a statement is translated by the method with the name of its type.

    Args:
        function: The function of the kernels, which returns a truth value.
        parts: The traced functions, by name.
    """

    def __init__(self, function: types.FunctionType, parts: Mapping[str, Part]) -> None:
        super().__init__(Kind("double"))
        self._parts, self._blocks, self._rooms = parts, 0, list[str]()
        self._scope, self._names, self._exits = function.__globals__, dict[str, str](), ("yes", "no")
        tree = _tree(function)
        self._given = [x for x in _parameters(tree) if x not in _TABLES]
        self._names = {x: x for x in self._given}
        self._run(tree.body)

    def text(self, name: str, rooms: Sequence[str]) -> str:
        """Return the function ``i1 NAME``, with a pointer per array; ``rooms`` are what the calls of parts need."""
        return "\n".join(
            [
                f"define internal i1 @{name}({', '.join(f'ptr %{x}' for x in self._given)}) noinline nounwind {{",
                "start:",
                *rooms,
                *self._rooms,
                *self.lines,
                "  unreachable",
                "yes:",
                "  ret i1 true",
                "no:",
                "  ret i1 false",
                "}",
                "",
            ]
        )

    def _label(self) -> str:
        self._blocks += 1
        return f"block{self._blocks}"

    # --- statements
    def _run(self, statements: Sequence[ast.stmt]) -> None:
        for one in statements:
            getattr(self, f"_{type(one).__name__.lower()}")(one)

    def _expr(self, one: ast.Expr) -> None:
        if isinstance(one.value, ast.Call):  # other expressions are docstrings
            self._called(one.value)

    def _assign(self, one: ast.Assign) -> None:
        (target,) = one.targets
        if not isinstance(target, ast.Tuple):
            self._set(target, self._number(one.value))
            return
        if isinstance(one.value, ast.Tuple):
            values: Sequence[str] = [self._number(x) for x in one.value.elts]
        else:
            values = self._called(one.value)
        for place, value in zip(target.elts, values, strict=True):
            self._set(place, value)

    def _set(self, target: ast.expr, value: str) -> None:
        assert isinstance(target, ast.Name)
        if target.id not in self._names:
            self._names[target.id] = f"room{len(self._rooms)}"
            self._rooms.append(f"  %{self._names[target.id]} = alloca double")
        self.store(value, self._names[target.id], 0)

    def _return(self, one: ast.Return) -> None:
        assert one.value is not None
        self._branch(one.value, *self._exits)
        self.lines.append(f"{self._label()}:")

    def _if(self, one: ast.If) -> None:
        yes, end = self._label(), self._label()
        self._branch(one.test, yes, end)
        self.lines.append(f"{yes}:")
        self._run(one.body)
        self.lines += [f"  br label %{end}", f"{end}:"]

    def _while(self, one: ast.While) -> None:
        again, body, end = self._label(), self._label(), self._label()
        self.lines += [f"  br label %{again}", f"{again}:"]
        self._branch(one.test, body, end)
        self.lines.append(f"{body}:")
        self._run(one.body)
        self.lines += [f"  br label %{again}", f"{end}:"]

    def _for(self, one: ast.For) -> None:
        """Repeat as many times as the argument of ``range`` says, which is a constant."""
        assert isinstance(one.iter, ast.Call)
        counter = ast.Name("counter")
        self._set(counter, self.kind.constant(0.0))
        test = ast.Compare(counter, [ast.Lt()], one.iter.args)
        step = ast.Assign([counter], ast.BinOp(counter, ast.Add(), ast.Constant(1.0)))
        self._while(ast.While(test, [*one.body, step], []))

    # --- choices
    def _branch(self, test: ast.expr, yes: str, no: str) -> None:
        """Go to one of two blocks."""
        if isinstance(test, ast.BoolOp):
            *first, last = test.values
            for one in first:
                on = self._label()
                self._branch(one, *((on, no) if isinstance(test.op, ast.And) else (yes, on)))
                self.lines.append(f"{on}:")
            self._branch(last, yes, no)
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self._branch(test.operand, no, yes)
        elif isinstance(test, ast.Constant):
            self.lines.append(f"  br label %{yes if test.value else no}")
        elif isinstance(test, ast.Call) and ast.unparse(test.func) not in self._parts:
            self._insert(test, yes, no)
        else:
            truth = self._called(test)[0] if isinstance(test, ast.Call) else self._compared(test)
            self.lines.append(f"  br i1 {truth}, label %{yes}, label %{no}")

    def _insert(self, one: ast.Call, yes: str, no: str) -> None:
        """Write the body of another decision, which goes to one of two blocks where it returns."""
        function = self._scope[ast.unparse(one.func)]
        tree, outer = _tree(function), (self._scope, self._names, self._exits)
        given = zip(_parameters(tree), map(ast.unparse, one.args), strict=True)
        names = {x: self._names[y] for x, y in given if x not in _TABLES}
        self._scope, self._names, self._exits = function.__globals__, names, (yes, no)
        self._run(tree.body)
        self.lines.append("  unreachable")
        self._scope, self._names, self._exits = outer

    def _compared(self, one: ast.expr) -> str:
        assert isinstance(one, ast.Compare)
        (op,), (right,) = one.ops, one.comparators
        return self.new(f"fcmp {_COMPARISONS[type(op)]} double {self._number(one.left)}, {self._number(right)}")

    # --- numbers
    def _number(self, one: ast.expr) -> str:
        """Write an expression; return its name."""
        if isinstance(one, ast.Name) and one.id in self._names:
            return self.load(self._names[one.id], 0)
        if isinstance(one, ast.BinOp):
            left, right = self._number(one.left), self._number(one.right)
            return self.new(f"{_OPERATIONS[type(one.op)]} double {left}, {right}")
        if isinstance(one, ast.IfExp):
            test, x, y = self._compared(one.test), self._number(one.body), self._number(one.orelse)
            return self.new(f"select i1 {test}, double {x}, double {y}")
        if isinstance(one, ast.Call) and ast.unparse(one.func) == "min":
            least, *others = (self._number(x) for x in one.args)
            for x in others:
                least = self.new(f"select i1 {self.new(f'fcmp olt double {x}, {least}')}, double {x}, double {least}")
            return least
        if isinstance(one, ast.Call):
            (found,) = self._called(one)
            return found
        return self.kind.constant(float(eval(ast.unparse(one), self._scope)))

    def _called(self, one: ast.expr) -> Sequence[str]:
        """Write a call of a part; return the names of what it gives."""
        assert isinstance(one, ast.Call)
        given = [ast.unparse(x) for x in one.args if ast.unparse(x) not in _TABLES]
        return self._parts[ast.unparse(one.func)].call(self, [self._names[x] for x in given])


def _tree(function: types.FunctionType) -> ast.FunctionDef:
    try:
        text = inspect.getsource(function)
    except OSError as error:  # such as a frozen program, which has compiled files only
        raise NotAvailableError(
            "moves of closed loops are translated from the source files of pin_clusters, which this installation lacks"
        ) from error
    (found,) = ast.parse(textwrap.dedent(text)).body
    assert isinstance(found, ast.FunctionDef)
    return found


def _parameters(tree: ast.FunctionDef) -> list[str]:
    return [x.arg for x in tree.args.args]
