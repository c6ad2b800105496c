"""Parse numbers, words and booleans in files; errors explain why a text is invalid."""

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...errors import LoadError

LARGEST = 1e30  # largest magnitude of numbers that are not limits; a product of five such numbers is finite
DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def number(text: str | None, what: str, owner: str, largest: float = LARGEST) -> float:
    if text is None:
        raise LoadError(f"{owner}: {what} is missing. Specify a number.")
    value = float(text) if DECIMAL.fullmatch(text.strip()) else math.nan
    if not math.isfinite(value):
        raise LoadError(f"{owner}: {what} must be a finite number, got {text!r:.60}.")
    if abs(value) > largest:
        raise LoadError(f"{owner}: {what} must be at most {largest:g} in magnitude, got {text!r:.60}. Check its unit.")
    return value


def numbers(
    text: str | None, what: str, owner: str, least: int, most: int | None = None, largest: float = LARGEST
) -> tuple[float, ...]:
    parts = (text or "").split()
    most = least if most is None else most
    if not least <= len(parts) <= most:
        expected = str(least) if least == most else f"{least} to {most}"
        raise LoadError(f"{owner}: {what} must be {expected} numbers, got {text!r:.60}.")
    return tuple(number(part, what, owner, largest) for part in parts)


class Type(NamedTuple):
    default: Any  # value if the attribute is missing
    read: Callable[[str, str, str], Any]  # parser of (text, name of the attribute, label of the element)


def text(default: Any = None) -> Type:
    return Type(default, lambda given, key, owner: given)


def word(default: str, *known: str) -> Type:

    def read(given: str, key: str, owner: str) -> str:
        if given not in known:
            raise LoadError(f"{owner}: {key} must be one of {', '.join(known)}, got {given!r}.")
        return given

    return Type(default, read)


def flag(default: bool = False) -> Type:
    read = word("", "true", "false").read
    return Type(default, lambda given, key, owner: read(given, key, owner) == "true")


def one(default: float | None = 0.0) -> Type:
    return Type(default, number)


def several(default: Any, least: int, most: int, largest: float = LARGEST) -> Type:
    return Type(default, lambda given, key, owner: numbers(given, key, owner, least, most, largest))


def vector(default: Any, least: int = 3, most: int | None = None) -> Type:
    return Type(
        None if default is None else np.array(default, dtype=float),
        lambda given, key, owner: np.array(numbers(given, key, owner, least, most)),
    )


def powers(given: str, key: str, owner: str) -> tuple[float, ...]:
    coefficients = numbers(given, key, owner, 1, 3)
    return coefficients + (0.0,) * (3 - len(coefficients))
