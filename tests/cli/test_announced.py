"""Commands say in advance all that they compile: what they forget, nobody compiles beside them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = """
import sys
from pin_clusters._engine import entry_points
from pin_clusters._engine import preparing as compiling

said, made = [], []
announce, make = compiling.announce, entry_points.Kernel._make
compiling.announce = lambda kernels: said.extend(kernels) or announce(said)
entry_points.Kernel._make = lambda kernel: made.append(kernel) or make(kernel)
from pin_clusters._cli.cli import main

try:
    main()
finally:
    print("forgotten", *(kernel.name for kernel in made if kernel not in said))
    print("made", *(kernel.name for kernel in made))
"""


@pytest.mark.parametrize(
    "command",
    [
        "audit mit_humanoid_leg --output OUT",
        pytest.param("audit tello --output OUT", marks=pytest.mark.long),
        pytest.param("study tello --output OUT", marks=pytest.mark.long),
        pytest.param("view four_bar --animate swing --forces --static OUT.html", marks=pytest.mark.long),
        pytest.param("view mini_cheetah --animate swing --ghost diagonal --static OUT.html", marks=pytest.mark.long),
        pytest.param("bench tello --repeats 10", marks=pytest.mark.long),
    ],
)
def test_what_is_compiled_was_announced(command: str, tmp_path: Path) -> None:
    lines = made_by(command, tmp_path)
    assert lines["made"]
    assert not lines["forgotten"]


def test_a_study_waits_for_no_kernel(tmp_path: Path) -> None:
    assert made_by("study mit_humanoid_leg --output OUT", tmp_path) == {"forgotten": "", "made": ""}
    assert (tmp_path / "out" / "study.json").is_file()


def made_by(command: str, tmp_path: Path) -> dict[str, str]:
    """Run a command; return the kernels that were made, and those of them that were not announced."""
    words = [word.replace("OUT", str(tmp_path / "out")) for word in command.split()]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _SCRIPT, *words], capture_output=True, text=True, check=True,
        env={**os.environ, "MPLBACKEND": "Agg", "PIN_CLUSTERS_ENGINE": "auto"},
    )  # fmt: skip
    return dict(line.partition(" ")[::2] for line in done.stdout.splitlines() if line.startswith(("forgotten", "made")))
