"""What the functions of the kernels read and write, as their source says it."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest
from support import accesses

from pin_clusters.compiler.operations import OPERATIONS

pytestmark = [pytest.mark.jitless, pytest.mark.ci]


def test_no_kernel_writes_the_state_it_is_given() -> None:
    found = accesses.functions()
    passes = {tuple(one.passes.split(".")[-2:]) for one in OPERATIONS if not one.is_entry}
    behind = {name: found[name] for name in passes}
    moving = {("closing", "project"), ("following", "move")}  # which hand back the configuration they are given
    wrong = {name for name, f in behind.items() if not f.writes.isdisjoint({"q", "v", "a"})}
    assert wrong == moving


def test_what_an_inner_function_writes_is_seen_outside() -> None:
    found = accesses.functions()
    aba, rnea = found["aba", "aba"].writes, found["rnea", "rnea"].writes
    assert {"out", "pose", "force"} <= aba & rnea
    assert "UDinv" in aba - rnea  # from (A6), three calls below


def test_arguments_that_are_written_are_found() -> None:
    f = accesses.Function(ast.parse("def f(work, b, v):\n    set_force(work, b, v)\n    put(v, 0, 1.0)").body[0])
    assert (f.reads, f.writes) == (set(), {"force", "v"})


def test_quantities_and_arrays_are_told_apart() -> None:
    found = accesses.functions()
    single = found["single", "eliminate"]
    assert {"articulated", "S", "force", "tau"} <= single.reads
    assert {"articulated", "force", "UDinv", "Dinv_u"} == single.writes
    assert {"K", "pose", "q"} <= found["closure_rows", "equations"].reads | found["closure_rows", "equations"].writes


def test_a_function_is_described() -> None:
    run = subprocess.run([sys.executable, accesses.__file__, "single.eliminate"], capture_output=True, text=True)
    assert run.stdout.splitlines()[0] == "single.eliminate"
    assert "writes articulated, Dinv_u, force, UDinv" in run.stdout
