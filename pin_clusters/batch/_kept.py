"""What is made once per model and question, and kept as long as the model is."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from ..model import ClusterModel, once

_MOST = 64
T = TypeVar("T")
_answers: Callable[[ClusterModel], dict[Hashable, Any]] = once(lambda _: {})
"""What is known by question; nothing at first."""


def kept(model: ClusterModel, question: Hashable, make: Callable[[], T]) -> T:
    """Return what ``make`` makes for a question, once; each time of None or of what has no hash."""
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
