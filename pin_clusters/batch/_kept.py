"""What is made once per model and question, and kept as long as the model is."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from ..model import ClusterModel, once

_MOST = 64
T = TypeVar("T")


def kept(model: ClusterModel, question: Hashable, make: Callable[[], T]) -> T:
    """Return what ``make`` makes for a question; the one from before if it was asked before.

    Args:
        model: Cluster model.
        question: Tells what is made; None or without a hash: nothing is kept.
        make: Makes it.
    """
    answers = _answers(model)
    try:
        found: T | None = answers.get(question)
    except TypeError:  # what has no hash is no name either, which is said in time
        return make()
    if found is None:
        found = make()
        if question is not None:
            if len(answers) >= _MOST:
                answers.clear()
            answers[question] = found
    return found


@once
def _answers(model: ClusterModel) -> dict[Hashable, Any]:
    """Return what is known by question; nothing at first."""
    return {}
