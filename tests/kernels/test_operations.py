"""Declarations of operations and functions say what the passes and the functions of the package take."""

from __future__ import annotations

import importlib
import inspect
from typing import Any, get_type_hints

import pytest

import pin_clusters as pc
from pin_clusters.compiler import entry_points, operations, tracing

pytestmark = pytest.mark.jitless


def parameters(function: Any) -> list[str]:
    return list(inspect.signature(getattr(function, "py_func", function)).parameters)


@pytest.mark.parametrize("name", entry_points.KERNELS_BY_NAME)
def test_an_operation_takes_what_its_passes_take(name: str) -> None:
    kernel = entry_points.KERNELS_BY_NAME[name]
    source, operation = kernel.source, kernel.operation
    assert source.entry.__name__ == kernel.name
    assert len(parameters(source.entry)) == len(source.kinds)
    if operation.block:
        module, _, record = operation.block.rpartition(".")
        record = getattr(importlib.import_module(f"pin_clusters.kernels.{module}"), record)
        fields = [field for part in get_type_hints(record).values() for field in part._fields]
        assert fields == operations.names(operation.takes)
        assert len(parameters(source.plain)) == 1
    elif operation.is_entry:
        assert parameters(source.entry) == operations.names(operation.takes)
    else:
        assert parameters(source.plain)[4:] == operations.names(operation.takes)


def test_kernels_have_names_of_their_own() -> None:
    kernels = entry_points.KERNELS
    assert len({kernel.name for kernel in kernels}) == len({kernel.title for kernel in kernels}) == len(kernels)
    assert entry_points.rnea.source is entry_points.rnea.source


@pytest.mark.parametrize("one", operations.STATE_FUNCTIONS, ids=lambda one: one.name)
def test_a_function_takes_what_is_declared(one: operations.Function) -> None:
    if one.called:
        given = parameters(getattr(pc, one.name))
        assert given[: 2 + len(one.inputs)] == ["model", "data", *one.inputs]
        assert ("fext" in given[2 + len(one.inputs) :]) == one.forced
    if hasattr(pc.batch, one.name):
        assert parameters(getattr(pc.batch, one.name))[: 1 + len(one.inputs)] == ["model", *one.inputs]
    assert one.inputs[0] == "q"
    if not one.operation.is_entry:
        kinds = dict(zip(operations.names(one.operation.takes), one.operation.kinds, strict=True))
        assert all(kinds[name] == "f1" for name in one.inputs if name != "fext")
    assert not one.traced or tracing.FUNCTIONS[one.name].inputs == one.inputs


def test_a_wrong_declaration_is_found() -> None:
    wrong = operations.RNEA._replace(takes="q v tau out")
    passes = entry_points.rnea.source.plain
    assert parameters(passes)[4:] != operations.names(wrong.takes)
