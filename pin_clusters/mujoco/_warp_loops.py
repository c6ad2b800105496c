"""The generated kernel of loops, cranks, rods and masses for MuJoCo Warp; one thread per world."""

import linecache
from typing import Any

import warp as wp

from ..compiler.tracing.expressions import COS, SIN, SQRT
from ..export.codegen._statements import Dialect, StatementWriter
from ._entry import Entry
from ._loop_code import COUNT, MARK, PARTS, TURN
from ._program import Traced

_CLOSED, _SOLVED = 1e-4, 1e-6
"""Relative residuals in single precision: largest allowed, and small enough to stop."""
_CALLS = {SIN: "wp.sin", COS: "wp.cos", SQRT: "wp.sqrt"}
_WARP = Dialect("double", "", _CALLS, ("wp.inf", "wp.nan"), "{name} = {text}", "wp.where({} < {}, {}, {})")
"""Warp's Python. Numbers without a suffix have the type of the other operand."""

_KERNEL = """
@wp.kernel(enable_backward=False, module="unique")
def add_traced(
    qpos: wp.array2d[float], qvel: wp.array2d[float], user: wp.array2d[float],
    reference: wp.array[float], places: wp.array[int], dofs: wp.array[int],
    dep: wp.array2d[float], dM: wp.array2d[float], dh: wp.array2d[float],
    M: wp.array2d[float], force: wp.array2d[float],
):
    w = wp.tid()
    share = float(2.0)
    opened = float(0.0)
    {statements}
    for i in range(places.shape[0]):
        M[w, places[i]] = M[w, places[i]] + dM[i, w]
    for i in range(dofs.shape[0]):
        force[w, dofs[i]] = force[w, dofs[i]] - dh[i, w]
"""
# ``_loop_code`` describes the steps. Phases: 0 starts at the previous pose; 1 moves from the reference pose to the
# pose; 2 evaluates the pose; 3 evaluates the last pose that the linkage reaches. The program occurs only once in the
# text, because its compilation takes most of the time.
_LOOPS = """phase = int(0)
if {newton} and user[w, {mark}] != 1.0:
    phase = 1
reached = int(0)
while phase < 4:
    share = wp.where(phase == 1, float(reached + 1) / {parts}.0, float(reached) / {parts}.0)
    if phase == 0 or phase == 2:
        share = 2.0
    for i in range({nd}):
        if phase > 0 and reached == 0:
            user[w, {known} + i] = reference[i]
        dep[i, w] = user[w, {known} + i]
    trial = int(0)
    while trial < 6:
        {program}
        trial = wp.where(opened > {solved}, trial + 1, 6)
    turned = float(0.0)
    for i in range({nd}):
        turned = wp.max(turned, wp.abs(dep[i, w] - user[w, {known} + i]))
    closed = opened < {closed} and turned < {turn}
    for i in range({nd}):
        if closed or phase == 3:
            user[w, {known} + i] = dep[i, w]
    if phase == 3 or (closed and phase != 1):
        user[w, {mark}] = wp.where(phase == 3, 0.0, 1.0)
        user[w, {count}] = user[w, {count}] + 1.0 - user[w, {mark}]
        phase = 4
    elif phase == 0:
        phase = 1
    elif not closed:
        phase = 3
    else:
        reached += 1
        phase = wp.where(reached == {parts}, 2, 1)"""


def kernel(traced: Traced, entry: Entry) -> Any:
    lines, nd = _statements(traced), len(traced.dependent)
    if nd:
        names = {
            "mark": entry.user + MARK,
            "count": entry.user + COUNT,
            "known": entry.user + entry.size - nd,
            "nd": nd,
        }
        # A closed form may have any distance from the previous pose.
        limits = {"turn": TURN if traced.newton else 1e30, "closed": _CLOSED, "solved": _SOLVED, "parts": PARTS}
        program = "\n        ".join(lines)
        lines = _LOOPS.format(newton=traced.newton, program=program, **names, **limits).split("\n")
    text = _KERNEL.format(statements="\n    ".join(lines))
    file, members = f"<{traced.program.name}, Warp>", dict[str, Any](wp=wp, __name__=__name__)
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file  # Warp reads the text of the kernel.
    exec(compile(text, file, "exec"), members)
    return members["add_traced"]


def arrays(traced: Traced, entry: Entry, d: Any) -> list[Any]:
    """Return the arguments of the kernel between the state and the results."""
    addresses, device = entry.addresses, d.qpos.device
    places = [addresses[pair] for pair in traced.pairs]
    sizes, numbers = (max(len(traced.dependent), 1), len(places), len(traced.dofs)), (places, traced.dofs)
    constant = [
        wp.array(x, dtype=k, device=device)
        for x, k in zip((traced.dependent, *numbers), (float, int, int), strict=True)
    ]
    return [*constant, *(wp.zeros((size, d.nworld), dtype=float, device=device) for size in sizes)]


def _statements(traced: Traced) -> list[str]:
    """Return the program. For ``share`` <= 1, the loop joints are interpolated from the reference pose, at rest."""
    references, slow = dict(zip(traced.loop_qpos, traced.reference, strict=True)), set(traced.loop_dofs)

    def read(name: str, i: int) -> str:
        if name == "qpos" and i in references:
            x, at = float(references[i]), f"qpos[w, {i}]"
            return f"wp.where(share > 1.0, {at}, {x} + share * ({at} - {x}))"
        if name == "qvel" and i in slow:
            return f"wp.where(share > 1.0, qvel[w, {i}], 0.0)"
        return f"dep[{i}, w]" if name == "dep" else f"{name}[w, {i}]"

    def write(name: str, i: int, x: str) -> str:
        return f"opened = {x}" if name == "open" else f"{name}[{i}, w] = {x}"

    arguments = [name for name, _ in (*traced.program.inputs, *traced.program.outputs)]
    return StatementWriter(traced.program, _WARP, arguments, read, write).body()
