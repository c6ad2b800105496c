"""Translation of decisions to LLVM text. A decision is a kernel function that contains only branches and calls.

The source code of the decision is translated. Calls of other decisions are inlined; all other called functions are
traced. Every local variable is one ``double`` on the stack.
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
"""Names of the arguments that are constant for one robot."""
_COMPARISONS = {ast.Lt: "olt", ast.LtE: "ole", ast.Gt: "ogt", ast.GtE: "oge", ast.Eq: "oeq", ast.NotEq: "une"}
_OPERATIONS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}


class Decisions(Instructions):
    """Writes the instructions of a function. Each type of statement has a method with its name, such as ``_for``.

    Args:
        function: The kernel function, which returns a truth value.
        parts: The traced functions that the kernel function calls, by name.
    """

    def __init__(self, function: types.FunctionType, parts: Mapping[str, Part]) -> None:
        super().__init__(Kind("double"))
        self._parts, self._blocks, self._variables = parts, 0, list[str]()
        self._scope, self._names, self._exits = function.__globals__, dict[str, str](), ("yes", "no")
        tree = _tree(function)
        self._given = [x for x in _parameters(tree) if x not in _TABLES]
        self._names = {x: x for x in self._given}
        self._run(tree.body)

    def text(self, name: str, buffers: Sequence[str]) -> str:
        """Return the text of ``i1 NAME``, with one pointer per array; the instructions ``buffers`` allocate memory."""
        return "\n".join(
            [
                f"define internal i1 @{name}({', '.join(f'ptr %{x}' for x in self._given)}) noinline nounwind {{",
                "start:",
                *buffers,
                *self._variables,
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

    def _run(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            getattr(self, f"_{type(statement).__name__.lower()}")(statement)

    def _expr(self, statement: ast.Expr) -> None:
        if isinstance(statement.value, ast.Call):  # other expressions are docstrings
            self._called(statement.value)

    def _assign(self, statement: ast.Assign) -> None:
        (target,) = statement.targets
        if not isinstance(target, ast.Tuple):
            self._set(target, self._number(statement.value))
            return
        if isinstance(statement.value, ast.Tuple):
            values: Sequence[str] = [self._number(x) for x in statement.value.elts]
        else:
            values = self._called(statement.value)
        for name, value in zip(target.elts, values, strict=True):
            self._set(name, value)

    def _set(self, target: ast.expr, value: str) -> None:
        assert isinstance(target, ast.Name)
        if target.id not in self._names:
            self._names[target.id] = f"buffer{len(self._variables)}"
            self._variables.append(f"  %{self._names[target.id]} = alloca double")
        self.store(value, self._names[target.id], 0)

    def _return(self, statement: ast.Return) -> None:
        assert statement.value is not None
        self._branch(statement.value, *self._exits)
        self.lines.append(f"{self._label()}:")

    def _if(self, statement: ast.If) -> None:
        yes, end = self._label(), self._label()
        self._branch(statement.test, yes, end)
        self.lines.append(f"{yes}:")
        self._run(statement.body)
        self.lines += [f"  br label %{end}", f"{end}:"]

    def _while(self, statement: ast.While) -> None:
        head, body, end = self._label(), self._label(), self._label()
        self.lines += [f"  br label %{head}", f"{head}:"]
        self._branch(statement.test, body, end)
        self.lines.append(f"{body}:")
        self._run(statement.body)
        self.lines += [f"  br label %{head}", f"{end}:"]

    def _for(self, statement: ast.For) -> None:
        """Translate a loop over ``range(n)``, where n is a constant of the robot."""
        assert isinstance(statement.iter, ast.Call)
        counter = ast.Name("counter")
        self._set(counter, self.kind.constant(0.0))
        test = ast.Compare(counter, [ast.Lt()], statement.iter.args)
        step = ast.Assign([counter], ast.BinOp(counter, ast.Add(), ast.Constant(1.0)))
        self._while(ast.While(test, [*statement.body, step], []))

    def _branch(self, test: ast.expr, yes: str, no: str) -> None:
        if isinstance(test, ast.BoolOp):
            *first, last = test.values
            for operand in first:
                following = self._label()
                self._branch(operand, *((following, no) if isinstance(test.op, ast.And) else (yes, following)))
                self.lines.append(f"{following}:")
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

    def _insert(self, call: ast.Call, yes: str, no: str) -> None:
        function = self._scope[ast.unparse(call.func)]
        tree, outer = _tree(function), (self._scope, self._names, self._exits)
        arguments = zip(_parameters(tree), map(ast.unparse, call.args), strict=True)
        names = {x: self._names[y] for x, y in arguments if x not in _TABLES}
        self._scope, self._names, self._exits = function.__globals__, names, (yes, no)
        self._run(tree.body)
        self.lines.append("  unreachable")
        self._scope, self._names, self._exits = outer

    def _compared(self, comparison: ast.expr) -> str:
        assert isinstance(comparison, ast.Compare)
        (op,), (right,) = comparison.ops, comparison.comparators
        return self.new(f"fcmp {_COMPARISONS[type(op)]} double {self._number(comparison.left)}, {self._number(right)}")

    def _number(self, expression: ast.expr) -> str:
        if isinstance(expression, ast.Name) and expression.id in self._names:
            return self.load(self._names[expression.id], 0)
        if isinstance(expression, ast.BinOp):
            left, right = self._number(expression.left), self._number(expression.right)
            return self.new(f"{_OPERATIONS[type(expression.op)]} double {left}, {right}")
        if isinstance(expression, ast.IfExp):
            test, x, y = self._compared(expression.test), self._number(expression.body), self._number(expression.orelse)
            return self.new(f"select i1 {test}, double {x}, double {y}")
        if isinstance(expression, ast.Call) and ast.unparse(expression.func) == "min":
            least, *operands = (self._number(x) for x in expression.args)
            for x in operands:
                least = self.new(f"select i1 {self.new(f'fcmp olt double {x}, {least}')}, double {x}, double {least}")
            return least
        if isinstance(expression, ast.Call):
            (result,) = self._called(expression)
            return result
        return self.kind.constant(float(eval(ast.unparse(expression), self._scope)))

    def _called(self, call: ast.expr) -> Sequence[str]:
        assert isinstance(call, ast.Call)
        arguments = [ast.unparse(x) for x in call.args if ast.unparse(x) not in _TABLES]
        return self._parts[ast.unparse(call.func)].call(self, [self._names[x] for x in arguments])


def _tree(function: types.FunctionType) -> ast.FunctionDef:
    try:
        text = inspect.getsource(function)
    except OSError as error:  # for example in a frozen program without source files
        raise NotAvailableError(
            "code for closed loops is compiled from the source files of pin_clusters, which this installation lacks"
        ) from error
    (definition,) = ast.parse(textwrap.dedent(text)).body
    assert isinstance(definition, ast.FunctionDef)
    return definition


def _parameters(tree: ast.FunctionDef) -> list[str]:
    return [x.arg for x in tree.args.args]
