"""Numbers, words and truths as files have them; what is none is refused in words."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import LoadError

LARGEST = 1e30  # of numbers but limits; an inertia has products of five, which stay finite
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def number(text: str | None, what: str, owner: str, largest: float = LARGEST) -> float:
    """Return one finite decimal number, of a size from which products can be made."""
    if text is None:
        raise LoadError(f"{owner}: {what} is missing. Give a number.")
    value = float(text) if _NUMBER.fullmatch(text.strip()) else math.nan
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


@dataclass(frozen=True)
class Text:
    """An attribute that is text."""

    default: Any = None

    def read(self, text: str, key: str, owner: str) -> Any:
        """Return its value; messages name the attribute and its element."""
        return text


@dataclass(frozen=True)
class Word(Text):
    """An attribute that is one of some words."""

    default: Any = ""
    known: tuple[str, ...] = ("true", "false")

    def read(self, text: str, key: str, owner: str) -> Any:
        """Return the word."""
        if text not in self.known:
            raise LoadError(f"{owner}: {key} must be one of {', '.join(self.known)}, got {text!r}.")
        return text


@dataclass(frozen=True)
class Flag(Word):
    """An attribute that is true or false."""

    default: Any = False

    def read(self, text: str, key: str, owner: str) -> Any:
        """Return the truth."""
        return super().read(text, key, owner) == "true"


@dataclass(frozen=True)
class Numbers(Text):
    """An attribute that is a number, or several: then a tuple of them, with zeros in the place of those left out."""

    default: Any = 0.0
    least: int = 1
    most: int = 1
    filled: bool = False

    def read(self, text: str, key: str, owner: str) -> Any:
        """Return the number or numbers; limits may be larger than others."""
        largest = math.inf if key.endswith("range") else LARGEST
        found = numbers(text, key, owner, self.least, self.most, largest)
        if self.most == 1:
            return found[0]
        return found + (0.0,) * (self.most - len(found)) if self.filled else found


@dataclass(frozen=True)
class Vector(Numbers):
    """An attribute that is an array of numbers, by default of three."""

    least: int = 3
    most: int = 3

    def __post_init__(self) -> None:
        if self.default is not None:
            object.__setattr__(self, "default", np.array(self.default, dtype=float))

    def read(self, text: str, key: str, owner: str) -> Any:
        """Return the array."""
        return np.array(super().read(text, key, owner))
