"""``pin-clusters worlds``."""

from __future__ import annotations

import pytest
from support.commands import refused, run


@pytest.mark.ci
def test_the_speed_and_the_accuracy_are_printed() -> None:
    result = run("worlds", "mini_cheetah", "--touching", "*_foot", "--pose", "*_hip=-0.8,*_knee=1.6")
    assert result.exit_code == 0, result.stderr
    for words in ("pc.Worlds, float64", "pc.Worlds, float32", "MuJoCo, exact", "contact laws", "bytes per world"):
        assert words in result.stdout
    assert "worlds failed" not in result.stdout


@pytest.mark.ci
def test_a_robot_with_a_loop_and_without_ground() -> None:
    result = run("worlds", "four_bar")
    assert result.exit_code == 0, result.stderr
    assert "residual of the loops" in result.stdout


def test_wrong_arguments() -> None:
    assert "No such robot or file" in refused("worlds", "nope")
    assert "a traced step supports points" in refused("worlds", "mini_cheetah")
    assert "negative" in refused("worlds", "four_bar", "--kp", "-1")
