from __future__ import annotations

import os
import zlib

import numpy as np
import pytest

from pin_clusters._kernels import compiling, entry_points

# so many tests need most kernels
MANY = 50


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="all robots, mechanisms and inputs, not a selection of each")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    long = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if not item.get_closest_marker("long")]


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator that depends on the test's name and parameters only, not on its file or the choice of tests."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


@pytest.fixture(scope="session", autouse=True)
def _kernels_are_compiled_once(request: pytest.FixtureRequest) -> None:
    """Workers of pytest-xdist share the compilation: each takes what no other one has begun, then loads the rest."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    items = request.session.items
    if not entry_points.JIT or worker is None or len(items) < MANY:
        return
    kernels = sorted(entry_points.ALL, key=lambda k: ("loops" not in k.name, "aba" not in k.name, k.name))
    if all(item.get_closest_marker("jitless") for item in items):
        kernels = [k for k in kernels if "rows" not in k.name and k not in (entry_points.simulate, entry_points.moved)]
    compiling.compile_all(kernels)
