"""Moves of closed loops: what the kernels of moves do, for one robot.

Between two decisions all is traced: how far loops are open, the step that Newton's method takes, the rates that G
predicts. Who decides, loop by loop, is written here: the same tests in the same order as in the kernels' source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..._engine.kernels.moves.limits import ITERATIONS, LIMIT, SMALLEST_STEP, STRIDE
from ..._engine.kernels.tables import layout as at
from ..._engine.native.words import DATA, SIZE
from ..._engine.operations import MOVE, Operation
from ...errors import NotAvailableError
from ...model import ClusterModel
from ..machine_code.kinds import Kind
from ..machine_code.text import body_text, module_text
from ..tracing import Program
from ..tracing._sources import source, watching
from ..tracing.expressions import Expression, Graph, select
from ..tracing.run import Run
from .entry import words_of

_ONE = Kind("double")


def module(model: ClusterModel, operation: Operation, most: float) -> str:
    """Return a module with the function ``entry``, which takes what the kernel takes; "" if there are no loops.

    Args:
        model: The model.
        operation: ``MOVE`` or ``PROJECT``.
        most: How many operations each part may have.

    Raises:
        NotAvailableError: A function of the user ties joints of the loops.
        TooLongError: There are more operations.
    """
    if model._tables.supplies:
        raise NotAvailableError("a function of the user in Python closes loops, which kernels follow step by step")
    loops = [_Loop(model, row, most) for row in _rows(model)]
    if not loops:
        return ""
    moves = operation is MOVE
    parts = [text for loop in loops for text in (loop.moving() if moves else loop.closing())]
    return module_text(*parts, _entry(model, operation, loops))


def _rows(model: ClusterModel) -> list[int]:
    """Return the rows of the clusters that are closed loops."""
    views, index = source("tables.views"), model._index
    n = views.header(index)
    return [c for c in range(n.cluster0, n.cluster1) if views.cluster(index, c).kind == at.LOOP]


def _number(x: float) -> str:
    return _ONE.constant(x)


def _place(array: str, i: int, size: int = 8) -> str:
    """Return the address of number i of an array, as a constant expression of an instruction's text."""
    return f"getelementptr i8, ptr %{array}, i64 {size * i}"


class _Loop:
    """The parts of one cluster.

    Attributes:
        row: Of the cluster in the tables.
        columns: Indices in v of its independent velocities.
    """

    def __init__(self, model: ClusterModel, row: int, most: float) -> None:
        self._model, self.row, self._most = model, row, most
        views, index = source("tables.views"), model._index
        self._C = C = views.cluster(index, row)
        self._H = H = views.head(index, C.head)
        self._L = source("tables.loop_block").block(H, C.nk)
        self._velocities = [views.velocity_row(index, n) for n in range(H.velocity0, H.velocity1)]
        self.columns = [views.listed(index, C.column, k) for k in range(C.nk)]
        self._K: list[int] = []  # which numbers of K depend on q; the others are known from the first trace on
        self._fixed: dict[int, float] = {}

    # --- what is traced
    def _traced(
        self, name: str, given: Mapping[str, int], write: Callable[[Run], Mapping[str, Any]]
    ) -> str:  # fmt: skip
        """Return the function that computes what is traced: a pointer per input, then one per output."""
        graph, first = Graph(self._most), 0
        run = Run(self._model)
        for key, size in given.items():
            run.inputs[key] = np.array(graph.inputs(first, size), dtype=object)
            first += size
        source("bodies.placements").start(run.params, run.work)
        source("loops.coupling_of_loops").stand_still(run.work, self._C)
        with np.errstate(all="ignore"):
            outputs = {key: np.array(x, dtype=object) for key, x in write(run).items()}
        return body_text(Program.of(name, list(given.items()), outputs), f"{name}{self.row}", _ONE)

    def _evaluated(self, run: Run) -> dict[str, Any]:
        """K, the values, and of these: the largest, what it may be, a sum that is no number if one of them is none."""
        tables, L, q = (run.model._index, run.params, run.work), self._L, run["q"]
        source("loops.coupling_of_loops").place_bodies(*tables, q, self._C)
        source("loops.closure_rows").equations(*tables, q, self._C)
        source("loops.closure_values").values(*tables, q, self._C)
        K = [run.work[L.K + i] for i in range(L.nr * L.width)]
        self._K = [i for i, x in enumerate(K) if isinstance(x, Expression)]
        self._fixed = {i: x for i, x in enumerate(K) if not isinstance(x, Expression)}
        values = [run.work[L.value + i] for i in range(L.nr)]
        far = _largest([q[V.iq + k] for V in self._velocities for k in range(V.nq)])
        far = select(far, 100.0, 1.0, 0.01 * far)
        told = [_largest(values), at.TOLERANCE * far, _sum(values)]
        return {"K": [K[i] for i in self._K], "values": values, "told": told}

    def _know(self, run: Run) -> None:
        """Put K and the values where ``_evaluated`` had them."""
        L = self._L
        for i, x in self._fixed.items():
            run.work[L.K + i] = x
        for i, x in zip(self._K, run["K"], strict=True):
            run.work[L.K + i] = x
        if "values" in run.inputs:
            run.work[L.value : L.value + L.nr] = run["values"]

    def _stepped(self, run: Run) -> dict[str, Any]:
        """The coordinates after the step of the dependent joints, and its length."""
        self._know(run)
        source("moves.following").step_dependents(run.model._index, run.work, self._C)
        rates = self._rates(run)[: self._L.nd]
        return {"next": self._moved(run, 1.0), "told": [_largest(rates), _sum(rates)]}

    def _stepped_all(self, run: Run) -> dict[str, Any]:
        """Rates of the step of all joints, its length, and the least pivot."""
        self._know(run)
        with watching() as watched:
            source("moves.closing").step_all(run.model._index, run.work, run["held"], self._C)
        pivot: Any = np.inf
        for x, limit in watched:
            pivot = select(x - limit, pivot, x - limit, pivot)
        rates = self._rates(run)
        return {"rates": rates, "told": [_largest(rates), _sum(rates), pivot]}

    def _predicted(self, run: Run) -> dict[str, Any]:
        """Rates along v, and P; the length of the dependent ones, the condition."""
        tables, L = (run.model._index, run.params, run.work), self._L
        loops = source("loops.coupling_of_loops")
        loops.prepare(*tables, run["q"], self._C)
        loops.rates_of(run.model._index, run.work, run["v"], self._C)
        rates = self._rates(run)
        told = [_largest(rates[: L.nd]), _sum(rates), run.work[L.condition]]
        return {"rates": rates, "P": run.work[L.P : L.P + L.nd * L.nr], "told": told}

    def _sided(self, run: Run) -> dict[str, Any]:
        """The sign of det(P K_d)."""
        L = self._L
        self._know(run)
        run.work[L.saved : L.saved + L.nd * L.nr] = run["P"]
        return {"told": [source("moves.following").side(run.work, L)]}

    def _advanced(self, run: Run) -> dict[str, Any]:
        """The coordinates after a part of the way."""
        for V, x in zip(self._velocities, run["rates"], strict=True):
            run.work[V.at_rate] = x
        return {"next": self._moved(run, run["part"][0])}

    def _rates(self, run: Run) -> list[Any]:
        return [run.work[V.at_rate] for V in self._velocities]

    def _moved(self, run: Run, part: Any) -> list[Any]:
        q = run["q"].copy()
        source("moves.following").advance(run.model._index, run.work, q, self._C, part)
        self._changed = [i for i, x in enumerate(q) if x is not run["q"][i]]
        return [q[i] for i in self._changed]

    # --- who decides
    def moving(self) -> list[str]:
        """Return the function ``i1 follow``, and those that it calls."""
        L, n, nq, nv = self._L, len(self._velocities), self._model.nq, self._model.nv
        texts = [self._traced("evaluate", {"q": nq}, self._evaluated)]
        texts += [self._traced("step", {"q": nq, "K": len(self._K), "values": L.nr}, self._stepped)]
        texts += [self._close("i1 @close", "ptr %q, ptr %K", "2.0", ITERATIONS, self._step_of_dependents())]
        texts += [self._traced("predict", {"q": nq, "v": nv}, self._predicted)]
        texts += [self._traced("side", {"P": L.nd * L.nr, "K": len(self._K)}, self._sided)]
        texts += [self._traced("advance", {"q": nq, "rates": n, "part": 1}, self._advanced)]
        return [*texts, self._follow()]

    def closing(self) -> list[str]:
        """Return the function ``i1 close``, and those that it calls."""
        L, n, nq = self._L, len(self._velocities), self._model.nq
        texts = [self._traced("evaluate", {"q": nq}, self._evaluated)]
        given = {"q": nq, "K": len(self._K), "values": L.nr, "held": self._model.own_tree.nv}
        texts += [self._traced("step", given, self._stepped_all)]
        texts += [self._traced("advance", {"q": nq, "rates": n, "part": 1}, self._advanced)]
        return [*texts, self._close("i1 @close", "ptr %q, ptr %held", "10.0", 2 * ITERATIONS, self._step_of_all())]

    def _step_of_dependents(self) -> str:
        return f"""  call void @step{self.row}(ptr %q, ptr %K, ptr %values, ptr %next, ptr %told)
  %longest = load double, ptr %told
  %short = fcmp olt double %longest, {_number(LIMIT)}
{self._ordered("whole", 1)}
  %steps = and i1 %short, %whole
  br i1 %steps, label %go, label %no
go:
{self._put(self._changed, "next", "q")}"""

    def _step_of_all(self) -> str:
        return f"""  call void @step{self.row}(ptr %q, ptr %K, ptr %values, ptr %held, ptr %rates, ptr %told)
  %longest = load double, ptr %told
{self._ordered("whole", 1)}
  %pivot.at = {_place("told", 2)}
  %pivot = load double, ptr %pivot.at
  %regular = fcmp ogt double %pivot, 0.0
  %steps = and i1 %regular, %whole
  br i1 %steps, label %go, label %no
go:
  %far = fcmp ogt double %longest, {_number(LIMIT)}
  %shorter = fdiv double {_number(LIMIT)}, %longest
  %taken = select i1 %far, double %shorter, double 1.0
  store double %taken, ptr %part
  call void @advance{self.row}(ptr %q, ptr %rates, ptr %part, ptr %next)
{self._put(self._changed, "next", "q")}"""

    def _rooms(self, *names: str) -> str:
        L, n = self._L, len(self._velocities)
        sizes = {"K": len(self._K), "values": L.nr, "next": len(self._changed), "told": 3, "rates": n, "part": 1,
                 "P": L.nd * L.nr}  # fmt: skip
        return "\n".join(f"  %{x} = alloca [{max(1, sizes[x])} x double], align 64" for x in names)

    def _ordered(self, name: str, i: int) -> str:
        """Whether what was told at a place is a number."""
        return f"""  %{name}.at = {_place("told", i)}
  %{name}.sum = load double, ptr %{name}.at
  %{name} = fcmp ord double %{name}.sum, 0.0"""

    @staticmethod
    def _put(places: Sequence[int], source: str, to: str, *, dense: bool = True) -> str:
        """Copy numbers to some places of an array, from the first ones of another, or from the same places."""
        lines = []
        for k, i in enumerate(places):
            x = f"%{source}.{to}.{k}"
            lines += [f"  {x}.from = {_place(source, k if dense else i)}", f"  {x} = load double, ptr {x}.from"]
            lines += [f"  {x}.to = {_place(to, i)}", f"  store double {x}, ptr {x}.to"]
        return "\n".join(lines)

    def _close(self, head: str, given: str, grows: str, iterations: int, step: str) -> str:
        """Return what makes steps of Newton's method, in place, and tells whether the loops are closed."""
        rooms = ("values", "next", "told") if "%K" in given else ("K", "values", "next", "told", "rates", "part")
        return f"""define internal {head}{self.row}({given}) noinline nounwind {{
start:
{self._rooms(*rooms)}
  br label %again
again:
  %i = phi i64 [ 0, %start ], [ %on, %go ]
  %before = phi double [ {_number(1e300)}, %start ], [ %worst, %go ]
  call void @evaluate{self.row}(ptr %q, ptr %K, ptr %values, ptr %told)
  %worst = load double, ptr %told
  %allowed.at = {_place("told", 1)}
  %allowed = load double, ptr %allowed.at
{self._ordered("sane", 2)}
  %small = fcmp olt double %worst, %allowed
  %rounding = fcmp olt double %worst, {_number(at.ROUNDING)}
  %most = fmul double %before, {_number(0.3)}
  %stays = fcmp ogt double %worst, %most
  %as.small = and i1 %rounding, %stays
  %enough = or i1 %small, %as.small
  %closed = and i1 %enough, %sane
  br i1 %closed, label %yes, label %check
check:
  %near = fcmp olt double %worst, {_number(1e3)}
  %limit = fmul double %before, {grows}
  %falls = fcmp ole double %worst, %limit
  %good = and i1 %near, %falls
  %fit = and i1 %good, %sane
  br i1 %fit, label %step, label %no
step:
{step}
  %on = add i64 %i, 1
  %more = icmp ult i64 %on, {iterations}
  br i1 %more, label %again, label %no
yes:
  ret i1 true
no:
  ret i1 false
}}
"""

    def _follow(self) -> str:
        """Return what carries the dependent joints along v, in steps that are short enough, and on their branch."""
        own = sorted({V.iq + k for V in self._velocities for k in range(V.nq)})
        free = sorted({V.iq + k for V in self._velocities if V.column >= 0 for k in range(V.nq)})
        condition = _number(at.CONDITION_LIMIT**2)
        return f"""define internal i1 @follow{self.row}(ptr %q, ptr %v, ptr %target, ptr %trial) noinline nounwind {{
start:
{self._rooms("rates", "P", "K", "told", "next", "part")}
  br label %predict
predict:
  %done = phi double [ 0.0, %start ], [ %done.then, %arrived ]
  %allowed = phi double [ 1.0, %start ], [ %allowed.then, %arrived ]
  call void @predict{self.row}(ptr %q, ptr %v, ptr %rates, ptr %P, ptr %told)
  %longest = load double, ptr %told
{self._ordered("whole", 1)}
  %condition.at = {_place("told", 2)}
  %condition = load double, ptr %condition.at
  %regular = fcmp olt double %condition, {condition}
  %finite = fcmp olt double %longest, {_number(1e9)}
  %good = and i1 %regular, %finite
  %fit = and i1 %good, %whole
  %left = fsub double 1.0, %done
  %long = fcmp ogt double %longest, {_number(STRIDE)}
  %shorter = fdiv double {_number(STRIDE)}, %longest
  %stride = select i1 %long, double %shorter, double 1.0
  %left.less = fcmp olt double %left, %stride
  %most = select i1 %left.less, double %left, double %stride
  br i1 %fit, label %try, label %no
try:
  %may = phi double [ %allowed, %predict ], [ %quarter, %failed ]
  %may.less = fcmp olt double %may, %most
  %length = select i1 %may.less, double %may, double %most
  %tiny = fcmp olt double %length, {_number(SMALLEST_STEP)}
  %last = fcmp oge double %length, %left
  %whole.way = xor i1 %last, true
  %lost = and i1 %tiny, %whole.way
  br i1 %lost, label %no, label %go
go:
  store double %length, ptr %part
  call void @advance{self.row}(ptr %q, ptr %rates, ptr %part, ptr %next)
{self._put(own, "q", "trial", dense=False)}
{self._put(self._changed, "next", "trial")}
  br i1 %last, label %exactly, label %close
exactly:
{self._put(free, "target", "trial", dense=False)}
  br label %close
close:
  %closed = call i1 @close{self.row}(ptr %trial, ptr %K)
  br i1 %closed, label %look, label %failed
look:
  call void @side{self.row}(ptr %P, ptr %K, ptr %told)
  %side = load double, ptr %told
  %same = fcmp ogt double %side, 0.0
  br i1 %same, label %arrived, label %failed
failed:
  %quarter = fmul double %length, 0.25
  br label %try
arrived:
{self._put(own, "trial", "q", dense=False)}
  %farther = fadd double %done, %length
  %done.then = select i1 %last, double 1.0, double %farther
  %allowed.then = fmul double %length, 4.0
  %more = fcmp olt double %done.then, 1.0
  br i1 %more, label %predict, label %yes
yes:
  ret i1 true
no:
  ret i1 false
}}
"""

    def at_rest(self) -> str:
        """Return the function ``i1 rests``: whether nothing moves, and the loops are as closed as they can be."""
        moves = "false"
        lines = []
        for k, i in enumerate(self.columns):
            lines += [f"  %v{k}.at = {_place('v', i)}", f"  %v{k} = load double, ptr %v{k}.at"]
            lines += [f"  %u{k} = fcmp une double %v{k}, 0.0", f"  %m{k} = or i1 {moves}, %u{k}"]
            moves = f"%m{k}"
        newline = "\n"
        return f"""define internal i1 @rests{self.row}(ptr %q, ptr %v) noinline nounwind {{
start:
{self._rooms("K", "values", "told")}
{newline.join(lines)}
  call void @evaluate{self.row}(ptr %q, ptr %K, ptr %values, ptr %told)
  %worst = load double, ptr %told
{self._ordered("sane", 2)}
  %closed = fcmp olt double %worst, {_number(at.ROUNDING)}
  %good = and i1 %closed, %sane
  %stands = xor i1 {moves}, true
  %rests = and i1 %good, %stands
  ret i1 %rests
}}
"""


def _largest(numbers: Sequence[Any]) -> Any:
    """Return the largest of absolute values."""
    worst: Any = 0.0
    for x in numbers:
        size = select(x, 0.0, -x, x)
        worst = select(worst, size, size, worst)
    return worst


def _sum(numbers: Sequence[Any]) -> Any:
    total: Any = 0.0
    for x in numbers:
        total = total + x
    return total


def _entry(model: ClusterModel, operation: Operation, loops: Sequence[_Loop]) -> str:
    """Return the function ``entry``: all loops in turn; of those that do not arrive the last one is reported."""
    first, words = words_of(operation)
    moves = operation is MOVE
    sizes = {"q": model.nq, "v": model.nv} if moves else {"q": model.nq, "held": model.own_tree.nv}
    lines = [f"define i32 @entry({', '.join(f'i64 %w{i}' for i in range(words))}) nounwind {{", "start:"]
    lines += [f"  %{x} = inttoptr i64 %w{place + DATA} to ptr" for x, place in first.items()]
    lines += ["  %code = inttoptr i64 %w0 to ptr", f"  store i64 {at.WRONG_SIZE}, ptr %code"]
    for x, n in sizes.items():
        lines += [
            f"  %{x}.fits = icmp eq i64 %w{first[x] + SIZE}, {n}",
            f"  br i1 %{x}.fits, label %{x}.good, label %end",
        ]
        lines += [f"{x}.good:"]
    lines += ["  store i64 0, ptr %code"]
    given = ", ".join(f"ptr %{x}" for x in first)
    for loop in loops:
        c = loop.row
        lines += [f"  %done{c} = call i1 @{'follow' if moves else 'close'}{c}({given})"]
        lines += [f"  br i1 %done{c}, label %next{c}, label %other{c}", f"other{c}:"]
        if moves:  # near a dead centre Newton's method may leave what is as closed as it can be: who rests stays
            lines += [f"  %rests{c} = call i1 @rests{c}(ptr %q, ptr %v)"]
            lines += [f"  br i1 %rests{c}, label %next{c}, label %lost{c}", f"lost{c}:"]
        lines += [f"  store i64 {-c}, ptr %code", f"  br label %next{c}", f"next{c}:"]
    rests = [loop.at_rest() for loop in loops] if moves else []
    return "\n".join([*lines, "  br label %end", "end:", "  ret i32 0", "}", "", *rests])
