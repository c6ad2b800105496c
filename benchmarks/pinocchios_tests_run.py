"""Run one file of the tests of `pinocchios_tests.py` with `pinocchio`, or with `pin_clusters` in its place.

Usage: python benchmarks/pinocchios_tests_run.py NAME FILE OUT

NAME is `pinocchio` or `pin_clusters`. Standard input is a JSON list of tests to omit. The script appends the results to
the file OUT, one line of JSON at the start and one at the end of each test.
"""

from __future__ import annotations

import builtins
import importlib
import inspect
import json
import random
import sys
import traceback
import types
import unittest
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

import pin_clusters as pc

calls = 0
"""Calls with a ClusterModel or a ClusterData, since the start of the test."""
wrapped: dict[int, tuple[pin.Model, pin.Model, pc.ClusterModel]] = {}
"""By the id of a Model: the Model, a copy from the time of wrapping, and its ClusterModel."""


class Model(pin.Model):
    """A model that `pin_clusters` receives as a ClusterModel. A test may change its arrays, which are Pinocchio's."""


def cluster(model: Model) -> pc.ClusterModel:
    """Return the ClusterModel of a model; a new one if the model has changed since the last call."""
    _, copy, made = wrapped.get(id(model), (None, None, None))
    if made is None or copy != model:
        copy = pin.Model(model)
        try:
            made = pc.ClusterModel(copy)
        except pc.UnsupportedJointError:  # mimic joints; the message names expand_mimic
            made = pc.ClusterModel(*pc.expand_mimic(copy))
        wrapped[id(model)] = model, copy, made
    return made


def method(name: str) -> Callable[..., Any]:
    """Return a method of Model that calls the method of its ClusterModel."""
    return lambda model, *args, **named: counted(getattr(cluster(model), name))(*args, **named)


def counted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that receives a ClusterModel for each Model, and returns a Model for each `pin.Model`."""

    @wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        global calls
        models = [cluster(x) for x in (*args, *named.values()) if isinstance(x, Model)]
        for x in (*args, *named.values()):
            if isinstance(x, pc.ClusterData) and models and x.model is not models[0]:
                x.__init__(models[0])  # type: ignore[misc] -- the test has changed the model after createData
        args = tuple(cluster(x) if isinstance(x, Model) else x for x in args)
        named = {key: cluster(x) if isinstance(x, Model) else x for key, x in named.items()}
        owner = getattr(function, "__self__", None)
        calls += any(isinstance(x, (pc.ClusterModel, pc.ClusterData)) for x in (owner, *args, *named.values()))
        return as_models(function(*args, **named))

    return call


for _name in set(vars(pin.Model)) & set(dir(pc.ClusterModel)) - {"copy"}:
    if not _name.startswith("_") and inspect.isroutine(getattr(pc.ClusterModel, _name)):
        setattr(Model, _name, method(_name))


def as_models(result: Any) -> Any:
    """Return a result with a Model in place of each `pin.Model`."""
    if type(result) is tuple:
        return tuple(map(as_models, result))
    return Model(result) if type(result) is pin.Model else result


class Shim(types.ModuleType):
    """The names of `pin_clusters`, whose functions receive ClusterModels."""

    Model = Model

    def __getattr__(self, name: str) -> Any:
        thing = getattr(pc, name)
        return thing if inspect.isclass(thing) or not callable(thing) else counted(thing)


def redirect_imports(folder: Path) -> None:
    """Let the files of a folder import the shim for `pinocchio`, and modules of `pin_clusters` for its modules."""
    shim, original = Shim("pinocchio"), builtins.__import__

    def redirected(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        head, _, tail = name.partition(".")
        if head != "pinocchio" or Path((globals or {}).get("__file__", "")).parent != folder:
            return original(name, globals, locals, fromlist, level)
        module = importlib.import_module(f"pin_clusters.{tail}") if tail else shim
        return module if fromlist else shim

    builtins.__import__ = redirected


def reason(error: BaseException, file: Path) -> str:
    """Return the line of the test file, and the first line of the message."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == file]
    text = "".join(traceback.format_exception_only(error)).strip().splitlines()
    return f"{f'line {lines[-1]}: ' if lines else ''}{' '.join(text)[:140]}"


class Result(unittest.TestResult):
    """Writes a line of JSON at the start and at the end of each test, so that a crash of the process loses nothing."""

    outcome = "pass", ""

    def __init__(self, file: Path, out: Path) -> None:
        super().__init__()
        self.file, self.out = file, out.open("a", buffering=1)

    def write(self, test: unittest.TestCase, outcome: str, why: str) -> None:
        """Append a line."""
        self.out.write(json.dumps({"test": test.id(), "outcome": outcome, "why": why, "calls": calls}) + "\n")

    def startTest(self, test: unittest.TestCase) -> None:
        """Set the seeds, and write the result that a crash leaves."""
        global calls
        calls, self.outcome = 0, ("pass", "")
        pin.seed(0)
        np.random.seed(0)  # noqa: NPY002 -- the tests use this generator
        random.seed(0)
        self.write(test, "fail", "the process ended during the test")

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        """Keep the reason."""
        self.outcome = "fail", reason(err[1], self.file)

    addFailure = addError

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        """Keep the reason of a part of a test."""
        if err is not None:
            self.addError(test, err)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        """Keep why the test was skipped."""
        self.outcome = "skip", reason

    def stopTest(self, test: unittest.TestCase) -> None:
        """Write the result."""
        self.write(test, *self.outcome)


def tests_of(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    """Yield the test functions of a suite; one that fails for a file that cannot be imported."""
    for x in suite:
        yield from tests_of(x) if isinstance(x, unittest.TestSuite) else (x,)


def run_tests(name: str, file: Path, out: Path) -> None:
    """Run the tests of a file in this process, except those that standard input lists."""
    if name == "pin_clusters":
        redirect_imports(file.parent)
    sys.path.insert(0, str(file.parent))
    omitted = json.load(sys.stdin)
    tests = tests_of(unittest.defaultTestLoader.loadTestsFromName(file.stem))
    with pc.engine("tables"):
        unittest.TestSuite(test for test in tests if test.id() not in omitted).run(Result(file, out))


if __name__ == "__main__":
    run_tests(sys.argv[1], *map(Path, sys.argv[2:]))
