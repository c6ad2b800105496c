"""Modules that stood elsewhere in earlier versions: who imports them is told where they are."""

from __future__ import annotations

import importlib
import pickle

import pytest

import pin_clusters as pc
from pin_clusters._support import moved


@pytest.mark.parametrize(
    ("old", "new"), [("study", "studies.study"), ("torch", "programs.hosts.torch"), ("loaders", "files.readers")]
)
def test_who_imports_an_old_place_is_told_the_new_one(old: str, new: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=rf"pin_clusters\.{old} is pin_clusters\.{new} now.*sys\.modules"):
        importlib.import_module(f"pin_clusters.{old}")


def test_pickles_that_name_an_old_place_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    model = pc.load("four_bar")
    found = pc.condition(model, model.createData(), model.q_reference)
    old = pickle.dumps(found, protocol=0).replace(b"algorithms.dynamics.condition", b"algorithms.condition")
    with pytest.raises(ModuleNotFoundError, match=r"algorithms\.condition is pin_clusters\.algorithms\.dynamics"):
        pickle.loads(old)
    new = importlib.import_module("pin_clusters.algorithms.dynamics.condition")
    monkeypatch.setitem(importlib.sys.modules, "pin_clusters.algorithms.condition", new)  # type: ignore[attr-defined]
    assert repr(pickle.loads(old)) == repr(found)


def test_names_of_all_that_stayed_are_found() -> None:
    assert pc.study is importlib.import_module("pin_clusters.studies.study")
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'pin_clusters\.nowhere'"):
        importlib.import_module("pin_clusters.nowhere")


def test_files_name_modules_as_earlier_versions_did() -> None:
    assert moved.formerly("pin_clusters.studies.study.random_chains") == "pin_clusters.study.random_chains"
    assert moved.formerly("pin_clusters.model") == "pin_clusters.model"
    assert moved.formerly("my.own") == "my.own"
