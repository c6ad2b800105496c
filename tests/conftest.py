from __future__ import annotations

import gc
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# Tests have thousands of models. Generic kernels are compiled once; robot-specific code would be made for each model.
# Tests of robot-specific code choose their engine themselves.
os.environ.setdefault("PIN_CLUSTERS_ENGINE", "tables")

from samples import pool
from support import messages

from pin_clusters.compiler import entry_points

# The everyday run checks these kernels in plain Python; tests that need them compiled have the marker ci.
IN_PLAIN_PYTHON = set(
    "hybrid contact_rates contact_derivatives rnea_derivatives aba_derivatives coupling_derivatives "
    "contacts_loops contact_inverse kkt_inverse mass_response place_derivatives place_hessian center_rates".split()
)
MANY = 50
"""A run of more tests than this needs most of the generic kernels."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--ci", action="store_true", help="all that .ci/run has: more of other programs and packages")
    parser.addoption("--long", action="store_true", help="all robots, mechanisms and inputs, not a selection of each")
    parser.addoption("--calls", type=int, help="how many random calls tests/dropin/test_fuzz.py makes per engine")
    parser.addoption("--record-messages", action="store_true", help="update the messages in tests/messages")


def pytest_configure(config: pytest.Config) -> None:
    messages.recording = config.getoption("--record-messages")
    pool.left_out = _left_out(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left = _left_out(config)
    recorded = messages.recording and _everything(config)
    plain = _in_plain_python(config)

    def wanted(item: pytest.Item) -> bool:
        marks = {mark.name for mark in item.iter_markers()}
        if marks & left or ("whole_run" in marks and not plain) or (recorded and not messages.used_by(item.module)):
            return False
        return not (plain and "jitless" in marks and "slow" not in marks)

    config.hook.pytest_deselected(items=[item for item in items if not wanted(item)])
    items[:] = [item for item in items if wanted(item)]
    items.sort(key=lambda item: "whole_run" not in item.keywords)  # the longest tests first: nobody waits for them


def _left_out(config: pytest.Config) -> frozenset[str]:
    """Return the markers that this run leaves out."""
    if config.getoption("--long"):
        return frozenset()
    return frozenset({"long"} if config.getoption("--ci") else {"long", "ci"})


def _in_plain_python(config: pytest.Config) -> bool:
    """Return whether tests/kernels/test_plain_python.py runs the tests that are quick without compiled kernels."""
    more = config.getoption("--ci") or config.getoption("--long") or messages.recording
    return _everything(config) and not more and entry_points.JIT


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
    """Share the compilation of the generic kernels between workers: each starts with another kernel.

    The first worker starts with the longest tests, which need no compiled kernels, and loads the kernels later.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    items = request.session.items
    generic = os.environ["PIN_CLUSTERS_ENGINE"] == "tables"
    if not generic or not entry_points.JIT or worker is None or len(items) < MANY:
        return
    kernels = list(entry_points.KERNELS)
    if _in_plain_python(request.config):
        kernels = [k for k in kernels if not {k.operation.name, k.name.removesuffix("_at")} & IN_PLAIN_PYTHON]
    if all(item.get_closest_marker("jitless") for item in items):
        kernels = [k for k in kernels if "rows" not in k.name and k not in (entry_points.simulate, entry_points.moved)]
    i, workers = int(worker[2:]), int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    if _in_plain_python(request.config) and workers > 1:
        i, workers = i - 1, workers - 1
    if i < 0:
        return
    gc.disable()  # the compilers make millions of objects; searching them for cycles took a seventh of the time
    for kernel in _from_another_end(kernels, i, workers):
        kernel.function()
        gc.collect()
        gc.freeze()  # later collections, in tests too, skip the objects that stay
    gc.enable()


def _from_another_end(kernels: list[entry_points.Kernel], i: int, n: int) -> list[entry_points.Kernel]:
    """Return the kernels in the order of worker i of n.

    One worker starts at the front and one at the end, because neighbours share the functions that they inline. Two
    workers that started with the same kernel would wait for each other and compile the shared functions twice. Further
    workers start in between.
    """
    start = len(kernels) * (i // 2) // ((n + 1) // 2)
    turned = [*kernels[start:], *kernels[:start]]
    return turned[::-1] if i % 2 else turned
