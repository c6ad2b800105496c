"""Robot-specific code that closes loops (``project``) and that keeps them closed during a motion (``move``).

For each loop, the kernel functions with branches are translated to LLVM text. The functions that they call are traced.
"""

from collections.abc import Sequence

from ...errors import NotAvailableError
from ...kernels.tables import layout as at
from ...model import ClusterModel
from ..machine_code.text import module_text
from ..native.words import DATA, SIZE
from ..operations import MOVE, Operation
from ..tracing._sources import source
from .decisions import Decisions
from .entry import words_of
from .loop_parts import LoopParts, rows_of_loops

_MOVE = (
    "moves.following",
    "reaches",
    ("evaluate", "predict", "step_dependents", "go", "side", "copy_all", "copy_independent", "speed"),
)
_PROJECT = "moves.closing", "close_all", ("evaluate", "step_all")
"""A kernel module, the function in it that is translated, and the functions in it that are traced."""


def module(model: ClusterModel, operation: Operation, most: float) -> str:
    """Return a module with ``entry``, which has the parameters of ``operation``; return "" if there are no loops."""
    if model.tables.supplies:
        raise NotAvailableError(
            "a closed loop contains a user function in Python, which only generic kernels can call."
        )
    rows, (module_name, decides, traced) = rows_of_loops(model), _MOVE if operation is MOVE else _PROJECT
    if not rows:
        return ""
    loops, texts = [LoopParts(model, row, most) for row in rows], list[str]()
    for row, parts in zip(rows, loops, strict=True):
        for name in traced:
            parts.trace(module_name, name)
        texts += [part.text for part in parts.by_name.values()]
        decisions = Decisions(getattr(source(module_name), decides), parts.by_name)
        texts.append(decisions.text(f"arrives{row}", parts.buffers()))
    return module_text(*texts, _entry(model, operation, rows, loops))


def _entry(model: ClusterModel, operation: Operation, rows: Sequence[int], loops: Sequence[LoopParts]) -> str:
    """Return the text of ``entry``, which moves or closes the loops one by one and reports the last loop that fails."""
    first, words = words_of(operation)
    moves = operation is MOVE
    sizes = {"q": model.nq, "v": model.nv} if moves else {"q": model.nq, "held": model.own_tree.nv}
    lines = [f"define i32 @entry({', '.join(f'i64 %w{i}' for i in range(words))}) nounwind {{", "start:"]
    lines += [f"  %{x} = inttoptr i64 %w{word + DATA} to ptr" for x, word in first.items()]
    lines += ["  %code = inttoptr i64 %w0 to ptr", f"  store i64 {at.WRONG_SIZE}, ptr %code"]
    lines += [loop.frame() for loop in loops]
    for x, n in sizes.items():
        lines += [
            f"  %{x}.fits = icmp eq i64 %w{first[x] + SIZE}, {n}",
            f"  br i1 %{x}.fits, label %{x}.good, label %end",
        ]
        lines += [f"{x}.good:"]
    lines += ["  store i64 0, ptr %code"]
    for c in rows:
        pointers = ", ".join(f"ptr %{x}" for x in (f"work{c}", *first))
        lines += [f"  %done{c} = call i1 @arrives{c}({pointers})"]
        lines += [f"  br i1 %done{c}, label %next{c}, label %lost{c}", f"lost{c}:"]
        lines += [f"  store i64 {-c}, ptr %code", f"  br label %next{c}", f"next{c}:"]
    return "\n".join([*lines, "  br label %end", "end:", "  ret i32 0", "}", ""])
