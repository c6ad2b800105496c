"""The library of kernels, if there is one: how they are called."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pin_clusters as pc
from pin_clusters._engine.entry_points import ALL, BOUNDSCHECK, JIT, compiled_ahead
from pin_clusters._engine.native import library, process

pytestmark = pytest.mark.skipif(
    not JIT or BOUNDSCHECK or compiled_ahead() is None, reason="there is no library of kernels"
)


def test_every_kernel_is_in_it() -> None:
    ahead = compiled_ahead()
    assert ahead is not None
    for kernel in ALL:
        address, function = ahead.kernel(kernel.name)
        assert address
        with pytest.raises(TypeError, match=f"{kernel.name} was given something else"):
            function()


def test_kernels_take_no_other_arrays() -> None:
    model = pc.load("teleop_arm")
    data, v = model.createData(), np.ones(model.nv)
    q, out = pc.neutral(model), np.zeros(model.nv)
    function, address = data._kernels["rnea"].function(), data._pointers["tau"].address
    assert function(address, q, v, v, out) == 0
    assert np.array_equal(out, pc.rnea(model, data, q, v, v))
    closed = v.copy()
    closed.flags.writeable = False
    wrong: list[Any] = [v.astype(np.float32), np.ones(2 * model.nv)[::2], v[:, None], list(v), None, closed]
    for x in wrong:
        with pytest.raises(TypeError):
            function(address, q, x, v, out)
    with pytest.raises(TypeError):
        function(address, q, v, v)
    with pytest.raises(TypeError):
        function("no address", q, v, v, out)
    with pytest.raises(OverflowError):
        function(2**70, q, v, v, out)


def test_without_knowing_objects_ctypes_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an interpreter where nothing is where it is looked for."""

    def refuse() -> dict[str, int]:
        raise process.NoFastCallsError("for this test")

    ahead = compiled_ahead()
    assert ahead is not None
    monkeypatch.setattr(library, "find", refuse)
    blind = library.Library(ahead.path, ahead.level)
    assert blind.found is None
    model = pc.load("teleop_arm")
    data, v = model.createData(), np.ones(model.nv)
    q, out = pc.neutral(model), np.zeros(model.nv)
    address, function = blind.kernel("rnea_at")
    assert address
    assert function(data._pointers["tau"].address, q, v, v, out) == 0
    assert np.array_equal(out, pc.rnea(model, data, q, v, v))
    assert function(data._pointers["tau"].address, q[:-1], v, v, out) != 0  # the kernel's own check of sizes
    with pytest.raises(TypeError, match="contiguous"):
        function(data._pointers["tau"].address, q, np.ones(2 * model.nv)[::2], v, out)
