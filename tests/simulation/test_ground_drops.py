"""Random drops of robots: all steps solved, laws kept. ``python tests/support/drops.py 100`` prints the whole table."""

from __future__ import annotations

import pytest
from support import grounds
from support.drops import ROBOTS, Drop, drop

pytestmark = grounds.NEEDED


def check(d: Drop) -> None:
    assert not d.error, d
    assert d.steps > 10, d
    assert d.gap > -1e-8, d
    assert d.cone < 1e-12, d
    assert d.into < 1e-5, d
    assert d.work <= 0.0, d
    assert d.loops < 1e-12, d
    assert d.energy < 0.03 or d.robot == "cassie", d  # its springs' energy is not in that of the result


@pytest.mark.parametrize("name", ROBOTS)
def test_three_drops(name: str) -> None:
    for seed in (100, 101, 102):
        check(drop(name, seed, 0.15))


@pytest.mark.long
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("seed", range(5))
def test_many_drops(name: str, seed: int) -> None:
    for s in range(20 * seed, 20 * seed + 20):
        check(drop(name, s))
