"""Moves of closed loops: what the kernels of moves do, for one robot.

Between two decisions all is traced: how far loops are open, the step that Newton's method takes, the rates that G
predicts. Who decides, loop by loop, is written here: the same tests in the same order as in the kernels' source.
"""

from collections.abc import Sequence

from ...errors import NotAvailableError
from ...kernels.moves.limits import ITERATIONS, LIMIT, SMALLEST_STEP, STRIDE
from ...kernels.tables import layout as at
from ...model import ClusterModel
from ..machine_code.kinds import Kind
from ..machine_code.text import module_text
from ..native.words import DATA, SIZE
from ..operations import MOVE, Operation
from ..tracing._sources import source
from .entry import words_of
from .loop_parts import LoopParts

_ONE = Kind("double")


def module(model: ClusterModel, operation: Operation, most: float) -> str:
    """Return a module with ``entry``, which takes what ``MOVE`` or ``PROJECT`` takes; "" if there are no loops.

    Raises:
        NotAvailableError: A function of the user ties joints of the loops.
        TooLongError: A part has more than ``most`` operations.
    """
    if model.tables.supplies:
        raise NotAvailableError("a function of the user in Python closes loops, which kernels follow step by step")
    loops = [_Loop(model, row, most) for row in _rows(model)]
    if not loops:
        return ""
    moves = operation is MOVE
    parts = [text for loop in loops for text in (loop.moving() if moves else loop.closing())]
    return module_text(*parts, _entry(model, operation, loops))


def _rows(model: ClusterModel) -> list[int]:
    """Return the rows of the clusters that are closed loops."""
    views, index = source("tables.views"), model.tables.index
    n = views.header(index)
    return [c for c in range(n.cluster0, n.cluster1) if views.cluster(index, c).kind == at.LOOP]


def _number(x: float) -> str:
    return _ONE.constant(x)


def _place(array: str, i: int, size: int = 8) -> str:
    """Return the address of number i of an array, as a constant expression of an instruction's text."""
    return f"getelementptr i8, ptr %{array}, i64 {size * i}"


class _Loop(LoopParts):
    """One cluster, and who decides of it."""

    def moving(self) -> list[str]:
        """Return the function ``i1 follow``, and those that it calls."""
        L, n, nq, nv = self._L, len(self._velocities), self._model.nq, self._model.nv
        texts = [self.traced("evaluate", {"q": nq}, self.evaluated)]
        texts += [self.traced("step", {"q": nq, "K": len(self._K), "values": L.nr}, self.stepped)]
        texts += [self._close("i1 @close", "ptr %q, ptr %K", "2.0", ITERATIONS, self._step_of_dependents())]
        texts += [self.traced("predict", {"q": nq, "v": nv}, self.predicted)]
        texts += [self.traced("side", {"P": L.nd * L.nr, "K": len(self._K)}, self.sided)]
        texts += [self.traced("advance", {"q": nq, "rates": n, "part": 1}, self.advanced)]
        return [*texts, self._follow()]

    def closing(self) -> list[str]:
        """Return the function ``i1 close``, and those that it calls."""
        L, n, nq = self._L, len(self._velocities), self._model.nq
        texts = [self.traced("evaluate", {"q": nq}, self.evaluated)]
        given = {"q": nq, "K": len(self._K), "values": L.nr, "held": self._model.own_tree.nv}
        texts += [self.traced("step", given, self.stepped_all)]
        texts += [self.traced("advance", {"q": nq, "rates": n, "part": 1}, self.advanced)]
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
