from __future__ import annotations

import gc
import os
import zlib

import numpy as np
import pytest

# tests make thousands of robots; those that are about traced code say so
os.environ.setdefault("PIN_CLUSTERS_ENGINE", "tables")

from pin_clusters._engine import entry_points

# so many tests need most kernels
MANY = 50


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--ci", action="store_true", help="all that .ci/run has: more of other programs and packages")
    parser.addoption("--long", action="store_true", help="all robots, mechanisms and inputs, not a selection of each")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    left = ("long",) if config.getoption("--ci") else ("long", "ci")
    later = [item for item in items if any(map(item.get_closest_marker, left))]
    config.hook.pytest_deselected(items=later)
    items[:] = [item for item in items if not any(map(item.get_closest_marker, left))]


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator that depends on the test's name and parameters only, not on its file or the choice of tests."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


@pytest.fixture(scope="session", autouse=True)
def _kernels_are_compiled_once(request: pytest.FixtureRequest) -> None:
    """Workers share the compilation: each begins elsewhere, and loads what others have compiled."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    items = request.session.items
    traced = os.environ["PIN_CLUSTERS_ENGINE"] != "tables"  # then few kernels are needed
    if traced or not entry_points.JIT or worker is None or len(items) < MANY:
        return
    kernels = list(entry_points.ALL)
    if all(item.get_closest_marker("jitless") for item in items):
        kernels = [k for k in kernels if "rows" not in k.name and k not in (entry_points.simulate, entry_points.moved)]
    workers = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    gc.disable()  # compilers make millions of objects, and looking through them took a seventh of the time
    for kernel in _from_another_end(kernels, int(worker[2:]), workers):
        kernel.function()
        gc.collect()
        gc.freeze()  # those that stay are not looked at again, also not by collections of tests
    gc.enable()


def _from_another_end(kernels: list[entry_points.Kernel], i: int, n: int) -> list[entry_points.Kernel]:
    """Put kernels in the order of worker i of n.

    One works from the front, where neighbours share what they are made of, one from the end. Two that began with the
    same kernel would wait for each other, and compile the shared parts twice. More workers begin in between.
    """
    start = len(kernels) * (i // 2) // ((n + 1) // 2)
    turned = [*kernels[start:], *kernels[:start]]
    return turned[::-1] if i % 2 else turned
