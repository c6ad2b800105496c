from __future__ import annotations

import os
import sys
import zlib
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

# tests make thousands of robots; those that are about traced code say so
os.environ.setdefault("PIN_CLUSTERS_ENGINE", "tables")

from pin_clusters._engine import entry_points
from pin_clusters._engine import preparing as compiling
from pin_clusters._engine.build import compile_library

# so many tests need most kernels
MANY = 50


def pytest_configure(config: pytest.Config) -> None:
    """Before workers start, let them and all that they start have one library of kernels, if many tests will run."""
    workers = getattr(config.option, "numprocesses", None)
    folders = any(Path(str(argument).partition("::")[0]).is_dir() for argument in config.args)
    if "PYTEST_XDIST_WORKER" in os.environ or not workers or not folders or config.option.collectonly:
        return
    if not entry_points.JIT or entry_points.BOUNDSCHECK or os.environ.get("PIN_CLUSTERS_LEVEL") == "numba":
        return
    if entry_points.compiled_ahead() is not None:
        return
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else nullcontext():
        try:
            os.environ["PIN_CLUSTERS_LIBRARY"] = str(compile_library.build_for_tests())
        except compile_library.BuildError as error:
            print(f"No library of kernels for these tests: {error}\nNumba compiles, and keeps it.", file=sys.stderr)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--ci", action="store_true", help="all that .ci/run has: more of other programs and packages")
    parser.addoption("--long", action="store_true", help="all robots, mechanisms and inputs, not a selection of each")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not entry_points.JIT or entry_points.compiled_ahead() is not None:
        skip = pytest.mark.skip(reason="Numba compiles no kernels here; .ci/run lets it")
        for item in items:
            if item.get_closest_marker("numba"):
                item.add_marker(skip)
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
    """Without a library workers share the compilation: each takes what no other one has begun, then loads the rest."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    items = request.session.items
    if not entry_points.JIT or entry_points.compiled_ahead() is not None or worker is None or len(items) < MANY:
        return
    kernels = list(entry_points.ALL)
    if all(item.get_closest_marker("jitless") for item in items):
        kernels = [k for k in kernels if "rows" not in k.name and k not in (entry_points.simulate, entry_points.moved)]
    workers = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    compiling.compile_all(compiling.from_another_end(kernels, int(worker[2:]), workers))
