"""Names of earlier versions still work, with a warning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pin_clusters as pc
from pin_clusters import approximations, study

pytestmark = pytest.mark.jitless


def leg() -> pc.ClusterModel:
    return pc.load("mit_humanoid_leg", root_joint=None)


def decomposition(**options: Any) -> study.Decomposition:
    model, rest = leg(), np.zeros((1, 5))
    return study.decompose(model, pc.neutral(model)[None], rest, rest + 1.0, **options)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (lambda: approximations.RUNGS, lambda: approximations.LEVELS),
        (lambda: study.LOOP_RUNGS, lambda: approximations.LOOP_LEVELS),
        (lambda: approximations.robot(leg(), rung="none").nv, lambda: approximations.robot(leg(), "none").nv),
        (lambda: decomposition(rung="block").rms.keys(), lambda: decomposition(level="block").rms.keys()),
        (lambda: decomposition(level="block").rung, lambda: "block"),
    ],
)
def test_names_of_earlier_versions(old: Callable[[], Any], new: Callable[[], Any]) -> None:
    with pytest.warns(DeprecationWarning, match="is deprecated. Use"):
        value = old()
    assert value == new()


def test_an_argument_is_given_once() -> None:
    with pytest.raises(TypeError, match="both level and its old name rung"):
        approximations.robot(leg(), rung="none", level="block")


def test_unknown_names_are_errors() -> None:
    with pytest.raises(AttributeError, match="STEPS"):
        approximations.STEPS  # noqa: B018
