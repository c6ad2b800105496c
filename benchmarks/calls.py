"""Compare the time of every function, in every calling style, with Pinocchio: ``python benchmarks/calls.py``.

Six minutes; writes ``results/calls.json``. With ``--robots`` or ``--only`` it writes only to ``--json FILE``.

A row is a form of a function in a calling style: positional, keywords, lists, float32, ... A cell is a row on a robot.
For each robot and function the script forks a process that has called only this function, and the functions that it
requires, such as ``forwardKinematics`` before a getter. The process measures the rows of this function one after the
other, and begins with another style on each robot. With ``--alone`` each cell has its own process, which takes three
times as long. A cell makes new data, calls the function once, and then times blocks of calls of the two packages in
alternation. The result is the time per call in the fastest block.

Pinocchio computes the approximate robot (``armature_model``), or the open tree of a robot with closed loops. If
Pinocchio does not accept the arguments (lists of numbers), it gets ``np.array`` of each; this conversion is part of its
time.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import signal
import sys
import textwrap
import timeit
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pinocchio as pin
import timing
from call_forms import LEFT_OUT, Call, Side, calls, limit, missing

import pin_clusters as pc
from pin_clusters.approximations.armature import independent_q
from pin_clusters.verification.baselines import armature_model

RESULTS = Path(__file__).parent / "results" / "calls.json"
ROBOTS = ("mini_cheetah", "mit_humanoid", "tello", "cassie_leg", "four_bar", "kangaroo_leg")
BLOCK = 1e-3  # s
ROUNDS, MORE_ROUNDS = 6, 24  # The larger number is for ratios near the limit.
WARM_UP = 20  # The largest number of calls before the first block.
LONGEST = 180  # s; a cell that takes longer is a failure.


def _first(side: Side, call: Call, statements: tuple[str, ...]) -> tuple[timeit.Timer | None, str]:
    """Call once. Return a timer and the statement, of the first one that raises no error; or None and an error."""
    error = ""
    for statement in statements:
        variables = side.variables(call, statement)
        timer = timeit.Timer(statement, globals=variables)
        try:
            for text in call.before:
                exec(text, variables)
            timer.timeit(1)
        except Exception as failure:
            error = error or f"{type(failure).__name__}: {textwrap.shorten(str(failure), 120, placeholder=' ...')}"
        else:
            return timer, statement
    return None, error


def _block(timer: timeit.Timer) -> tuple[int, int]:
    """Return the number of calls that fill a block, and the number of slow calls, the very first call included."""
    single = [timer.timeit(1) for _ in range(WARM_UP)]
    usual = min(single)
    slow = next((k for k, x in enumerate(single) if x < 5.0 * usual + 1e-4), WARM_UP)
    calls = max(1, round(BLOCK / 4.0 / usual))
    return max(1, round(BLOCK * calls / min(timer.timeit(calls), timer.timeit(calls)))), 1 + slow


def _has_answer(side: Side, call: Call) -> bool:
    """Return whether Pinocchio computes finite numbers, so that an error of this package is a failure."""
    timer, statement = _first(side, call, call.statements)
    if timer is None:
        return False
    variables = side.variables(call, statement)
    for text in call.before:
        exec(text, variables)
    found = eval(statement, variables)
    return not isinstance(found, np.ndarray) or bool(np.isfinite(found).all())


def cell(ours: Side, theirs: Side, call: Call, loops: bool) -> Iterator[dict[str, Any]]:
    """Yield what is known about a cell: times [us], or an error. The last dictionary replaces those before."""
    mine, error = _first(ours, call, call.statements[:1])
    if mine is None:
        yield {"error": error}
        if not _has_answer(theirs, call):
            yield {"both": error}
        return
    n, warm = _block(mine)
    found = {"pc": 1e6 * mine.timeit(n) / n} | ({"warm": warm} if warm > 1 else {})
    yield found | {"pin_error": "the process ended"}
    other, statement = _first(theirs, call, call.statements)
    if other is None:
        yield found | {"pin_error": statement}
        return
    m, _ = _block(other)
    t, u = [], []
    for k in range(MORE_ROUNDS):
        t.append(mine.timeit(n) / n)
        u.append(other.timeit(m) / m)
        if k + 1 >= ROUNDS and not 0.7 < min(t) / min(u) / limit(call.function, loops) < 2.0:
            break
    found |= {"pc": 1e6 * min(t), "pin": 1e6 * min(u)}
    yield found | ({} if statement == call.statements[0] else {"pin_call": statement})


def in_child(function: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """Yield the items of a generator that runs in a forked process."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            with os.fdopen(writing, "wb") as stream:
                for item in function():
                    pickle.dump(item, stream)
                    stream.flush()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        while True:
            try:
                yield pickle.load(stream)
            except EOFError:
                break
    os.waitpid(child, 0)


def last_link(model: pc.ClusterModel) -> str:
    """Return the joint behind the most others that both packages have, such as that of a foot, and no rotor's."""
    rotors, depth = {rotor.joint_id for rotor in model.rotors}, [len(path) for path in model.tree.supports]
    joints = model.tree.names[1:] if model.closures else model.independent_joints
    ids = sorted(set(map(model.getJointId, joints)) - rotors)
    return str(model.tree.names[max(ids, key=lambda j: (depth[j], j))])


def sides(model: pc.ClusterModel) -> tuple[Side, Side]:
    """Return the two packages with a state. A child computes it, so that this process has called no function."""

    def state() -> Iterator[Any]:
        rng, zero = np.random.default_rng(0), pc.neutral(model)
        q, other = (pc.integrate(model, zero, size * rng.standard_normal(model.nv)) for size in (0.1, 0.15))
        tree = model.tree if model.closures else armature_model(model, "diagonal")
        at = slice(None) if model.closures else independent_q(model, tree)
        yield tree, q, other, q[at], other[at]

    ((tree, q, other, q_theirs, other_theirs),) = in_child(state)
    rates = 0.1 * np.random.default_rng(2).standard_normal((2, max(model.nv, tree.nv)))
    joint = last_link(model)
    rows = min(3, model.nv)
    ours = Side(pc, model, (q, other, *rates[:, : model.nv].copy()), joint, rows)
    return ours, Side(pin, tree, (q_theirs, other_theirs, *rates[:, : tree.nv].copy()), joint, rows)


def measure(model: pc.ClusterModel, rows: list[Call], turn: int, alone: bool) -> dict[str, dict[str, Any]]:
    """Return the cells of a robot by the keys of the rows; ``turn`` selects the style that comes first."""
    ours, theirs = sides(model)
    found: dict[str, dict[str, Any]] = {}
    groups: dict[str, list[Call]] = {}
    for row in rows:
        groups.setdefault(row.key if alone else row.function, []).append(row)
    for group in groups.values():
        styles = list(dict.fromkeys(row.style for row in group))
        group.sort(key=lambda row: row.style != styles[turn % len(styles)])
        while group:

            def each(group: list[Call] = group) -> Iterator[tuple[int, dict[str, Any]]]:
                for k, row in enumerate(group):
                    signal.alarm(LONGEST)
                    yield k, {"error": "the process ended"}
                    for x in cell(ours, theirs, row, bool(model.closures)):
                        yield k, x

            last = 0
            for last, x in in_child(each):
                found[group[last].key] = {key: float(f"{y:.3g}") if isinstance(y, float) else y for key, y in x.items()}
            group = group[last + 1 :]  # A new process continues after a call that ended the last one.
    return found


def show(robot: str, rows: list[Call], cells: dict[str, dict[str, Any]], loops: bool) -> None:
    """Print the cells of a robot that failed or exceed their limit."""
    ratios = {key: x["pc"] / x["pin"] for key, x in cells.items() if "pin" in x}
    above = [row for row in rows if ratios.get(row.key, 0.0) > limit(row.function, loops)]
    for row in rows:
        if "error" in cells[row.key]:
            print(f"  {row.key}: {cells[row.key]['error']}")
    for row in above:
        x = cells[row.key]
        print(f"  {row.key}: {x['pc']:.2f} / {x['pin']:.2f} us = {ratios[row.key]:.2f}")
    print(
        f"{robot}: {len(ratios)} ratios, median {np.median([*ratios.values()]):.2f}, {len(above)} above the limit",
        flush=True,
    )


def write(results: dict[str, Any], output: Path) -> None:
    """Write results as JSON, with one line per row of the table."""
    *heads, (_, rows) = results.items()
    lines = [f'"{key}": {json.dumps(value)}' for key, value in heads]
    lines.append('"rows": [\n  ' + ",\n  ".join(map(json.dumps, rows)) + "\n ]")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("{\n " + ",\n ".join(lines) + "\n}\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="+", metavar="NAME", default=ROBOTS, help=f"default: {', '.join(ROBOTS)}")
    parser.add_argument("--only", nargs="+", metavar="FUNCTION", help="measure only these functions")
    parser.add_argument("--alone", action="store_true", help="one process per cell")
    parser.add_argument("--json", type=Path, metavar="FILE", help="default: results/calls.json")
    chosen = parser.parse_args(arguments)
    if unlisted := missing():
        parser.error(f"call_forms.py neither measures nor leaves out: {', '.join(unlisted)}")
    rows = [row for row in calls() if not chosen.only or row.function in chosen.only]
    names = {*pc.robots(), *(row.function for row in rows)}
    if unknown := {*chosen.robots, *(chosen.only or ())} - names:
        parser.error(f"unknown robots or functions: {', '.join(sorted(unknown))}")
    loops: dict[str, bool] = {}
    cells: dict[str, dict[str, dict[str, Any]]] = {}
    for turn, name in enumerate(chosen.robots):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = pc.load(name)
            loops[name], cells[name] = bool(model.closures), measure(model, rows, turn, chosen.alone)
        show(name, rows, cells[name], loops[name])
    output = chosen.json or (RESULTS if not chosen.only and chosen.robots is ROBOTS else None)
    if output is not None:
        table = [
            {"function": row.function, "call": row.text, "style": row.style}
            | {"cells": {name: cells[name][row.key] for name in cells}}
            for row in rows
        ]
        write({"machine": timing.machine(), "loops": loops, "left_out": LEFT_OUT, "rows": table}, output)
        print(f"written: {output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
