"""Docstrings that are completed from what functions have in common."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import pytest
from support.messages import raises

import pin_clusters as pc
from pin_clusters._support.docstrings import stock

pytestmark = pytest.mark.jitless

COMMON = """
Args:
    model: Cluster model.
    q: Configuration,
        shape (nq,).

Raises:
    ArgumentTypeError: A type is wrong.
    ShapeError (q, q0): A size is wrong.

References:
    Pinocchio's ``{name}``.
"""


def plain(model: Any, q: Any, tolerance: float = 0.0) -> None:
    """Do something.

    Longer: with a colon.

    Args:
        tolerance: Allowed error.

    Raises:
        ModelError: Something else.
        ArgumentTypeError: A type is wrong, or more.

    Example:
        >>> 1
        1
    """


def test_what_is_common_is_put_in() -> None:
    signature = inspect.signature(plain)
    text = plain.__doc__
    try:
        assert stock(COMMON)(plain) is plain
        assert plain.__doc__ == (
            "Do something.\n\nLonger: with a colon.\n\n"
            "Args:\n    model: Cluster model.\n    q: Configuration,\n        shape (nq,).\n"
            "    tolerance: Allowed error.\n\n"
            "Raises:\n    ModelError: Something else.\n    ArgumentTypeError: A type is wrong, or more.\n"
            "    ShapeError: A size is wrong.\n\n"
            "References:\n    Pinocchio's ``plain``.\n\n"
            "Example:\n    >>> 1\n    1\n"
        )
        assert inspect.signature(plain) == signature
    finally:
        plain.__doc__ = text


def test_errors_of_arguments_that_are_not_there() -> None:
    @stock(COMMON)
    def named(model: Any) -> None:
        """Do nothing."""

    assert "ShapeError" not in (named.__doc__ or "")
    assert "ArgumentTypeError" in (named.__doc__ or "")


def test_later_texts_win() -> None:
    @stock(COMMON, "Args:\n    model: Another.\n\nReferences:\n    None.")
    def named(model: Any) -> None:
        """Do nothing."""

    assert "model: Another." in (named.__doc__ or "")
    assert "Pinocchio" not in (named.__doc__ or "")


def test_an_argument_without_words_is_an_error() -> None:
    def silent(model: Any, more: Any) -> None:
        """Do nothing."""

    with raises(KeyError, "'more'"):
        stock(COMMON)(silent)


def test_without_docstrings() -> None:
    def bare(model: Any, more: Any) -> None: ...

    assert stock(COMMON)(bare) is bare
    assert bare.__doc__ is None


def test_functions_stay_what_they_are() -> None:
    """No wrapper: not a frame more per call, and pickles by name."""
    for name in ("rotor_velocity", "christoffel_symbols", "condition"):
        function = getattr(pc, name)
        assert not hasattr(function, "__wrapped__")
        assert function.__code__.co_name == function.__qualname__ == name
        assert pickle.loads(pickle.dumps(function)) is function
    assert pickle.loads(pickle.dumps(pc.rnea)) is pc.rnea
