"""Tests with the marker ``jitless``, in processes in which kernels are plain Python and nothing is compiled."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
LARGE = ("algorithms", "laws", "oracles", "configuration")
MARKS = re.compile(r"jitless|pool\.")  # pool gives tests the marker
MARKED = {path.parent.name for path in TESTS.glob("*/test_*.py") if MARKS.search(path.read_text(encoding="utf-8"))}
REST = tuple(sorted(MARKED - set(LARGE)))


@pytest.mark.whole_run
@pytest.mark.parametrize("folders", [LARGE, REST], ids=["algorithms", "rest"])
def test_in_plain_python(folders: tuple[str, ...]) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")} | {"NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "-m", "jitless and not slow"]
    done = subprocess.run([*command, *folders], cwd=TESTS, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-2000:]
    print(done.stdout.splitlines()[-1])
