from __future__ import annotations

import fcntl
import importlib
import os
import pkgutil
import zlib

import numpy as np
import pytest

import pin_clusters
from pin_clusters._kernels._jit import JIT, Kernel

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
def _kernels_are_compiled_once(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Workers of pytest-xdist share the compilation: each takes what no other one has begun, then loads the rest."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    items = request.session.items
    if not JIT or worker is None or len(items) < MANY:
        return
    kernels = _kernels()
    if all(item.get_closest_marker("jitless") for item in items):
        kernels = [k for k in kernels if not k.title.startswith(("batch", "simulate"))]
    locks = tmp_path_factory.getbasetemp().parent  # the workers' own folders are in it
    for wait in (False, True):
        for kernel in kernels:
            with (locks / f"{kernel.entry.__name__}.lock").open("w") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                except BlockingIOError:
                    continue
                kernel.compile()


def _kernels() -> list[Kernel]:
    """All of the package, those that take longest first."""
    found = {}
    for module in pkgutil.walk_packages(pin_clusters.__path__, "pin_clusters."):
        if "_kernels" in module.name:
            for thing in vars(importlib.import_module(module.name)).values():
                if isinstance(thing, Kernel):
                    found[thing.entry.__name__] = thing
    return sorted(found.values(), key=lambda k: ("loops" not in k.title, "aba" not in k.title, k.title))
