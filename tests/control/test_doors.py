"""What is said where Crocoddyl or Pink is missing."""

from __future__ import annotations

import importlib
import sys

import pytest
from support.messages import raises

import pin_clusters as pc


@pytest.mark.parametrize(("name", "spelt"), [("crocoddyl", "Crocoddyl"), ("pink", "Pink")])
def test_a_missing_package_names_the_extra(name: str, spelt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"pin_clusters.{name}", raising=False)
    text = f"pc.{name} {spelt} '.[control]'"
    with raises(pc.NotAvailableError, text):
        importlib.import_module(f"pin_clusters.{name}")
    monkeypatch.delattr(pc, name, raising=False)
    with raises(pc.NotAvailableError, text):
        getattr(pc, name)
