"""Every function of the kernels that works on tables says what it reads and what it writes, and says it truly."""

from __future__ import annotations

import ast

import pytest
from support import accesses

pytestmark = pytest.mark.jitless


def test_docstrings_say_what_is_read_and_written() -> None:
    wrong = [
        f"{module}.{name}: {accesses.lines_of(f)} in the docstring, {accesses.lines_for(f)} in the code"
        for (module, name), f in accesses.functions().items()
        if accesses.lines_of(f) != accesses.lines_for(f)
    ]
    assert not wrong, "\n".join([*wrong, "Cure: python tests/support/accesses.py"])


def test_a_wrong_line_is_found() -> None:
    f = accesses.Function(
        ast.parse('def f(work, b, v):\n    """Do.\n\n    Reads: force.\n    """\n    set_force(work, b, v)').body[0]
    )
    assert accesses.lines_of(f) == ["Reads: force."]
    assert accesses.lines_for(f) == ["Writes: force."]


def test_quantities_and_arrays_are_told_apart() -> None:
    found = accesses.functions()
    single = found["single", "eliminate"]
    assert {"articulated", "S", "force", "out"} <= single.reads
    assert {"articulated", "force", "UDinv", "Dinv_u"} == single.writes
    assert {"K", "pose", "q"} <= found["closure_rows", "equations"].reads | found["closure_rows", "equations"].writes
