"""Define base classes for results, which write JSON and pages, and never leave incomplete files."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from ..._support.whole_files import all_of, whole

F = TypeVar("F", bound=Callable[..., Mapping[str, Callable[[], str]]])


class Result:
    """Base class for frozen dataclasses of results that can be converted to JSON."""

    _json: ClassVar[str] = ""
    """Attributes to convert to JSON, as in the argument ``entries`` of ``told``; an empty text selects all fields."""

    def as_dict(self) -> dict[str, Any]:
        """Convert the result to a dict of numbers and text for JSON."""
        return told(self, self._json or " ".join(self.__dataclass_fields__))  # type: ignore[attr-defined]

    def write_json(self, path: Path) -> None:
        """Write the dict returned by ``as_dict`` to a JSON file.

        Raises:
            OSError: The file cannot be written.
        """
        write_json(self.as_dict(), path)


class Shown:
    """Base class for results with an HTML page. The module that creates the page registers it with ``shown_by``."""

    _texts: ClassVar[Callable[[Any], Mapping[str, Callable[[], str]]]]

    def write(self, folder: str | Path) -> tuple[Path, ...]:
        """Write a self-contained HTML page, and files with the numbers on the page.

        Args:
            folder: Output folder, which is created if it does not exist.

        Returns:
            The paths of the files; the first one is the path of the page.

        Raises:
            OSError: A file cannot be written. All other files are still written.
        """
        return write_texts({Path(folder) / name: text for name, text in type(self)._texts(self).items()})


def shown_by(kind: type[Shown]) -> Callable[[F], F]:
    """Return a decorator that registers a function from a ``kind`` to {file name: function that returns the text}."""

    def take(texts: F) -> F:
        kind._texts = staticmethod(texts)
        return texts

    return take


def write_texts(texts: Mapping[Path, Callable[[], str]]) -> tuple[Path, ...]:
    """Write text files and return their paths; if one cannot be written, write the others, then raise the error."""

    def write(path: Path, text: Callable[[], str]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path) as (part,):
            part.write_text(text(), encoding="utf-8", newline="\n")

    all_of(*(partial(write, path, text) for path, text in texts.items()))
    return tuple(texts)


def told(found: Any, entries: str, **more: Any) -> dict[str, Any]:
    """Return attributes of ``found``, and ``more``, for JSON; arrays become dicts with the keys ``found.names`` if any.

    ``entries`` lists attribute names, separated by spaces, or "key:attribute" if the JSON key differs from the name.
    """
    pairs = [entry.rpartition(":")[::2] for entry in entries.split()]
    names = getattr(found, "names", None)
    return {key or name: plain(getattr(found, name), names) for key, name in pairs} | more


def plain(value: Any, names: Iterable[str] | None = None) -> Any:
    """Convert a value to a type that JSON supports; if ``names`` are given, arrays become dicts with these keys."""
    if isinstance(value, np.ndarray):
        return value.tolist() if names is None else by_name(names, value)
    if isinstance(value, dict):
        return {key: plain(x, names) for key, x in value.items()}
    if isinstance(value, tuple):
        return [plain(x) for x in value]
    return value.as_dict() if hasattr(value, "as_dict") else value


def by_name(names: Iterable[str], values: Iterable[float]) -> dict[str, float]:
    return dict(zip(names, map(float, values), strict=True))


def finite(value: Any) -> Any:
    """Replace NaN and inf by None, because JSON supports neither."""
    if isinstance(value, dict):
        return {str(name): finite(x) for name, x in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(x) for x in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_json(found: dict[str, Any], *, allow_nan: bool = True) -> str:
    return json.dumps(found, indent=2, allow_nan=allow_nan) + "\n"


def write_json(found: dict[str, Any], path: Path) -> None:
    with whole(path) as (part,):
        part.write_text(as_json(found), encoding="utf-8")
