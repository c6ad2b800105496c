from __future__ import annotations

import gc
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# tests make thousands of robots; those that are about traced code say so
os.environ.setdefault("PIN_CLUSTERS_ENGINE", "tables")

from support import messages

from pin_clusters._engine import entry_points

# so many tests need most kernels
MANY = 50


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--ci", action="store_true", help="all that .ci/run has: more of other programs and packages")
    parser.addoption("--long", action="store_true", help="all robots, mechanisms and inputs, not a selection of each")
    parser.addoption("--record-messages", action="store_true", help="update the messages in tests/messages")


def pytest_configure(config: pytest.Config) -> None:
    messages.recording = config.getoption("--record-messages")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left = {"long", "ci"}
    if config.getoption("--long"):
        left = set()
    elif config.getoption("--ci"):
        left = {"long"}
    recorded = messages.recording and _everything(config)

    def wanted(item: pytest.Item) -> bool:
        return not any(map(item.get_closest_marker, left)) and not (recorded and not messages.used_by(item.module))

    config.hook.pytest_deselected(items=[item for item in items if not wanted(item)])
    items[:] = [item for item in items if wanted(item)]


def _everything(config: pytest.Config) -> bool:
    """Return whether the command line runs all tests: it chooses no folder, file or test, and leaves none out."""
    options = ("keyword", "markexpr", "collectonly", "deselect", "ignore", "ignore_glob", "lf")
    chosen = [Path(path).resolve() for path in config.args] != [Path(__file__).parent]
    return not chosen and not any(config.getoption(name, None) for name in options)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    for name, known in getattr(node, "workeroutput", {}).get("messages", {}).items():
        messages.seen.setdefault(name, {}).update(known)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Write the recorded messages; a worker sends them to the process that started the worker."""
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["messages"] = messages.seen
    elif messages.recording:
        selection = not (config.getoption("--ci") or config.getoption("--long"))
        messages.write(messages.seen, whole=_everything(config) and not selection and exitstatus == 0)


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
