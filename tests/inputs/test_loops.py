"""Bad and unusual inputs about closed loops: an error that says what, where and the cure, or exact results."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest
from samples import bad_loops
from support import messages

import pin_clusters as pc

ROOT = Path(__file__).parents[2]
LIMIT = 1e-10
# geometry that misses by 1e-6 is solved on the rows that are kept, by both routes: what differs is which
SLOPPY = 1e-9


@pytest.mark.jitless
@pytest.mark.parametrize("name", bad_loops.CASES)
def test_error_or_exact(name: str) -> None:
    case = bad_loops.CASES[name]
    verdict = bad_loops.judge(case)
    if case.error is None:
        assert verdict.error is None, verdict.error
        assert verdict.worst < (SLOPPY if "1.5708" in case.warning else LIMIT)
        if case.warning:
            assert any(not messages.missing(case.warning, text) for text in verdict.warnings), verdict.warnings
        else:
            assert not verdict.warnings
        return
    assert type(verdict.error) is case.error, verdict
    assert isinstance(verdict.error, pc.PinClustersError)
    messages.check(verdict.error, case.message)
    text = str(verdict.error)
    assert text.rstrip().endswith((".", ")", "?")), text  # whole sentences
    assert not re.search(r"\b(idx_v|None|nan m|array\()", text.replace("model.idx_v_independent", "")), text


def test_warnings_are_told_once_per_input() -> None:
    for name, case in bad_loops.CASES.items():
        if case.warning:
            said = bad_loops.judge(case).warnings
            assert len(said) == len(set(said)) == 1, (name, said)


@pytest.mark.ci
def test_the_page_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/bad_inputs.md is what benchmarks/bad_inputs.py writes now, up to digits."""
    script, page = ROOT / "benchmarks" / "bad_inputs.py", ROOT / "docs" / "bad_inputs.md"
    if not script.exists():
        pytest.skip("only in a checkout or a source distribution")
    monkeypatch.setattr(sys, "path", list(sys.path))  # which the script changes
    made = runpy.run_path(str(script))["page"]()
    written, now = (re.sub(r"\b(\d[\d.]*(e[-+]?\d+)?|inf)\b", "#", x) for x in (page.read_text(), made))
    assert now == written, "run python benchmarks/bad_inputs.py"
