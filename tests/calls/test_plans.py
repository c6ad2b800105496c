"""Plans with wrong steps raise an error: they are never run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.fast import native, needed
from support.messages import raises

import pin_clusters as pc

pytestmark = needed
X = np.zeros(8)
CLOSED = np.zeros(8)
CLOSED.flags.writeable = False
RESULTS = 12
"""How many results a plan can make."""


def plan(*steps: Any, required: int = 0, allowed: int = 0xFFFF) -> Any:
    return native.Plan(required, allowed, list(steps), None)


def owner() -> Any:
    """Return a data of a robot, with the plans of a function for every form of arguments."""
    return pc.load("four_bar").createData()


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (("nothing",), "no step of this form nothing"),
        (("numbers",), "no step of this form numbers"),
        (("numbers", 2, 8, X, X, X), "no step of this form numbers"),
        ((), "no step of this form"),
        ((7,), "no step of this form 7"),
        (["owe"], "no step of this form owe"),
        ("owe", "no step of this form owe"),
        (("numbers", -1, 8, X, X), "numbers -1 is out of range"),
        (("numbers", 16, 8, X, X), "numbers 16 is out of range"),
        (("numbers", 2, -1, X, X), "numbers -1 is out of range"),
        (("numbers", 2, 9, X, X), "numbers writable contiguous 9 words"),
        (("numbers", 2, 8, X, np.zeros(0)), "numbers writable contiguous 1 words"),
        (("numbers", 2, 4, X[::2], X), "numbers writable contiguous 4 words"),
        (("numbers", 2, 8, CLOSED, X), "numbers writable contiguous 8 words"),
        (("numbers", 2, 8, X.astype(np.float32), X), "numbers writable contiguous 8 words"),
        (("numbers", 2, 8, X.tolist(), X), "numbers writable contiguous 8 words"),
        (("numbers", 2, 8, None, X), "numbers writable contiguous 8 words"),
        (("matrix", 2, 2, 9, X, X), "matrix writable contiguous 9 words"),
        (("copy", 9, X, X), "copy writable contiguous 9 words"),
        (("run", 0, 20, X), "run writable contiguous 20 words"),
        (("run", 0, 8, X), "run no kernel 8 words"),
        (("call", len, 6, 0, 0, 0, 0, 0), "call 6 is out of range"),
        (("call", len, -1, 0, 0, 0, 0, 0), "call -1 is out of range"),
        (("fresh", 4, 1, 1, 1, X), "fresh 4 is out of range"),
        (("fresh", -1, 1, 1, 1, X), "fresh -1 is out of range"),
        (("copied", 4, 1, 1, 1, 1, X), "copied 4 is out of range"),
        (("out", 2, 4, 1, X, *(2, 0, X) * 3), "out 4 is out of range"),
        (("note", 5, 0, 0, 0, 8, X, 0, X, *(0, X) * 3), "note 5 is out of range"),
        (("result", -1, 8, X), "result -1 is out of range"),
        (("give", -1), "give -1 is out of range"),
        (("items", 2, ["x"]), "items expected a tuple"),
        (("call", len, 1, 28, 0, 0, 0, 0), "call 28 is out of range"),
        (("unless", X, 0, [("nothing",)]), "no step of this form nothing"),
    ],
)  # fmt: skip
def test_wrong_operands(step: Any, words: str) -> None:
    with raises(ValueError, words):
        plan(step)
    with raises(ValueError, words):
        plan(("unless", X, 0, [step]))


@pytest.mark.parametrize(
    "step",
    [
        ("numbers", 2.0, 8, X, X), ("numbers", None, 8, X, X), ("numbers", 2, "8", X, X), ("unless", X, 0, None),
        ("unless", X, 0, ("owe",)), ("numbers", 10**30, 8, X, X),
    ],
)  # fmt: skip
def test_operands_of_another_type(step: Any) -> None:
    with pytest.raises((TypeError, OverflowError)):
        plan(step)


def test_arguments_of_plan() -> None:
    for arguments in ((), (0, 0), (0, 0, (), None), (0, 0, None, None), ("0", 0, [], None), (0, 0, [], None, None)):
        with pytest.raises(TypeError):
            native.Plan(*arguments)
    with pytest.raises(TypeError):
        native.Plan(0, 0, [], kept=None)


def test_too_many_results() -> None:
    fresh = ("fresh", 1, 8, 0, 0, X)
    plan(*[fresh] * RESULTS)
    with raises(ValueError, f"more than {RESULTS} results"):
        plan(*[fresh] * (RESULTS + 1))
    with raises(ValueError, f"more than {RESULTS} results"):
        plan(*[fresh] * RESULTS, ("unless", X, 0, [fresh]))


def test_a_plan_reads_no_more_arguments_than_the_function_has() -> None:
    data = owner()
    most = max(pc.crba.positions.values()) + 1
    for step in (("numbers", most, 8, X, X), ("call", len, 1, most, 0, 0, 0, 0), ("real", 15, X)):
        with raises(TypeError, "no plan of crba"):
            data._remember_plan(pc.crba, plan(step), 4)
    data._remember_plan(pc.crba, plan(("real", most - 1, X)), 4)
    for arguments in (
        (),
        (pc.crba, None, 4),
        (len, plan(), 4),
        (pc.crba, plan(), None),
        (pc.crba.__wrapped__, plan(), 4),
    ):
        with pytest.raises(TypeError):
            data._remember_plan(*arguments)


def test_an_owner_returns_a_tuple_of_plans_of_the_function() -> None:
    class Data(pc.ClusterData):
        __slots__ = ()
        found: Any = ()

        def _plans_of(self, function: Any) -> Any:
            if isinstance(self.found, Exception):
                raise self.found
            return self.found

    model = pc.load("four_bar")
    q = pc.neutral(model)
    for found in (None, [], (None,), (plan(("real", 15, X)),), ("x",), plan(), TypeError("no plans")):
        Data.found = found
        with pytest.raises(TypeError):
            pc.crba(model, Data(model), q)
    Data.found = (plan(("thing", 7), ("give", 0), required=1 << 2),)
    data = Data(model)
    pc.crba(model, data, q)
    assert pc.crba(model, data, q) == 7


def result_of(steps: list[Any], *more: Any) -> Any:
    """Return what a function with these steps returns; the text "python" if a step leaves the call to Python."""
    function = native.Function(lambda *arguments: "python", ("owner", 0, "x", 1, "y", 2), 3, 0, 0)

    class Owner(native.Owner):
        def _plans_of(self, function: Any) -> Any:
            return ()

    own = Owner()
    own._remember_plan(function, native.Plan(1, 7, steps, None), 1)
    return function(own, *more)


@pytest.mark.parametrize(
    "steps",
    [
        [("numbers", 1, 8, X, X)],  # no such argument
        [("matrix", 1, 0, 8, X, X)],
        [("drop",)],
        [("result", 0, 8, X)],
        [("result", 11, 8, X)],
        [("thing", 7), ("result", 0, 8, X)],
        [("call", len, 1, 16, 0, 0, 0, 0)],  # of a result that is not there
        [("call", len, 1, 1, 0, 0, 0, 0)],
        [("copied", 1, 7, 0, 0, 8, X)],  # another size
        [("fresh", 1, -1, 0, 0, X)],
        [("call", lambda: 1 / 0, 0, 0, 0, 0, 0, 0)],  # an error that the Python function reports
    ],
)
def test_a_step_that_fails_leaves_the_call_to_python(steps: list[Any]) -> None:
    assert result_of(steps) == "python"


def test_results() -> None:
    thing = ("thing", 7)
    assert result_of([]) is None
    assert result_of([thing]) is None
    assert result_of([thing, ("give", 0)]) == 7
    assert result_of([thing, ("thing", 8), ("give", 0)]) == (7, 8)
    assert result_of([thing, ("thing", 8), ("give", 1)]) == 8
    assert result_of([thing, ("give", 5)]) is None
    assert result_of([thing, ("drop",), ("thing", 8), ("give", 0)]) == 8
    given = np.ones(8)
    assert result_of([("vector", 1, 0, 8, np.zeros(8)), ("give", 0)], given) is given
    # Pinocchio reads other floats and columns itself; rows and whole numbers are converted for it as well.
    for x, read in ((np.float32(given), True), (given[:, None], True), (given[None], False), (np.int64(given), False)):
        for_kernels, for_pinocchio = (
            result_of([("vector", 1, flag, 8, np.zeros(8)), ("give", 0)], x) for flag in (0, 1)
        )  # fmt: skip
        assert (for_pinocchio is x) == read
        assert for_kernels is not x
        assert for_kernels.dtype == float
        assert for_kernels.shape == (8,)
        assert np.array_equal(for_kernels, x.ravel())
    assert result_of([("numbers", 1, 8, np.zeros(8), np.zeros(1)), thing, ("give", 0)], given.tolist()) == 7


@pytest.mark.parametrize(
    "arguments",
    [
        (), (len,), (len, ("x", 0), 1, 0), (len, ["x", 0], 1, 0, 0), (len, ("x",), 1, 0, 0), (len, ("x", "y"), 1, 0, 0),
        (len, (1, 0), 1, 0, 0), (len, ("x", 16), 1, 0, 0), (len, ("x", -1), 1, 0, 0), (len, ("x", 0), 17, 0, 0),
        (len, ("x", 0), 1, 2, 0), (len, ("x", 0), 1, -1, 0), (len, ("x", 0), -1, 0, 0), (len, ("x", 0), 1, 0, None),
    ],
)  # fmt: skip
def test_wrong_functions(arguments: tuple[Any, ...]) -> None:
    with pytest.raises((TypeError, ValueError)):
        native.Function(*arguments)


def test_wrong_questions() -> None:
    asked = np.zeros(5)
    native.Question(len, len, asked, 2, 1)
    for wrong in (
        (len, len, asked, 3, 1), (len, len, asked, -1, 1), (len, len, asked, 2, -1), (len, len, np.zeros(5, int), 2, 1),
        (len, len, np.zeros(10)[::2], 2, 1), (len, len, asked, 2**62, 2**62), (len, len, asked, 0, 2**63 - 1),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"1 \+ nq \+ 2 nv"):
            native.Question(*wrong)
    with pytest.raises(TypeError):
        native.Question(len, len, None, 0, 0)
