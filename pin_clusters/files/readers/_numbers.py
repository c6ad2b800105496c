"""Numbers, words and truths as files have them; what is none is refused in words."""

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...errors import LoadError

LARGEST = 1e30  # of numbers but limits; an inertia has products of five, which stay finite
DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def number(text: str | None, what: str, owner: str, largest: float = LARGEST) -> float:
    """Return one finite decimal number, of a size from which products can be made."""
    if text is None:
        raise LoadError(f"{owner}: {what} is missing. Give a number.")
    value = float(text) if DECIMAL.fullmatch(text.strip()) else math.nan
    if not math.isfinite(value):
        raise LoadError(f"{owner}: {what} must be a finite number, got {text!r:.60}.")
    if abs(value) > largest:
        raise LoadError(
            f"{owner}: {what} must not be beyond {largest:g}, got {text!r:.60}. No robot has such a number."
        )
    return value


def numbers(
    text: str | None, what: str, owner: str, least: int, most: int | None = None, largest: float = LARGEST
) -> tuple[float, ...]:
    """Return so many finite decimal numbers: ``least``, or up to ``most``."""
    parts = (text or "").split()
    most = least if most is None else most
    if not least <= len(parts) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise LoadError(f"{owner}: {what} must be {wanted} numbers, got {text!r:.60}.")
    return tuple(number(part, what, owner, largest) for part in parts)


class Type(NamedTuple):
    """What an attribute may be."""

    default: Any  # where it is not given
    read: Callable[[str, str, str], Any]  # its value of the text, its name and how messages name its element


def text(default: Any = None) -> Type:
    """Return the type of what is taken as it stands."""
    return Type(default, lambda given, key, owner: given)


def word(default: str, *known: str) -> Type:
    """Return the type of one of some words."""

    def read(given: str, key: str, owner: str) -> str:
        if given not in known:
            raise LoadError(f"{owner}: {key} must be one of {', '.join(known)}, got {given!r}.")
        return given

    return Type(default, read)


def flag(default: bool = False) -> Type:
    """Return the type of what is true or false."""
    read = word("", "true", "false").read
    return Type(default, lambda given, key, owner: read(given, key, owner) == "true")


def one(default: float | None = 0.0) -> Type:
    """Return the type of one number."""
    return Type(default, number)


def several(default: Any, least: int, most: int, largest: float = LARGEST) -> Type:
    """Return the type of numbers, as a tuple."""
    return Type(default, lambda given, key, owner: numbers(given, key, owner, least, most, largest))


def vector(default: Any, least: int = 3, most: int | None = None) -> Type:
    """Return the type of an array of numbers."""
    return Type(
        None if default is None else np.array(default, dtype=float),
        lambda given, key, owner: np.array(numbers(given, key, owner, least, most)),
    )


def powers(given: str, key: str, owner: str) -> tuple[float, ...]:
    """Return coefficients of x, x^2 and x^3, zeros in the place of those left out."""
    found = numbers(given, key, owner, 1, 3)
    return found + (0.0,) * (3 - len(found))
