"""The largest residual of a loop must not hide a residual that is not finite."""

import math
from types import SimpleNamespace

import pytest

from pin_clusters.compiler.tracing._sources import source


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_a_residual_that_is_not_finite_is_kept(monkeypatch: pytest.MonkeyPatch, place: int, wrong: float) -> None:
    module, residuals = source("loops.closure_values"), [1.0, -3.0, 2.0]
    for name, stub in {
        "values": lambda *_: None,
        "head": lambda *_: None,
        "block": lambda *_: SimpleNamespace(nr=3, value=0),
        "get": lambda work, i: work[i],
    }.items():
        monkeypatch.setattr(module, name, stub)
    cluster = SimpleNamespace(head=0, nk=0)
    assert module.largest_value(None, None, residuals, None, cluster) == 9.0
    residuals[place] = wrong
    assert not math.isfinite(module.largest_value(None, None, residuals, None, cluster))
