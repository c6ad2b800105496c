"""What results have in common: plain numbers and text for JSON, and files that are written whole or not at all."""

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
    """Something that was found, a frozen dataclass: plain numbers and text of it, in a file too."""

    _json: ClassVar[str] = ""
    """What goes into JSON, as ``told`` takes it; all fields if empty."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers and text, ready for JSON."""
        return told(self, self._json or " ".join(self.__dataclass_fields__))  # type: ignore[attr-defined]

    def write_json(self, path: Path) -> None:
        """Write ``as_dict`` to a file.

        Raises:
            OSError: It cannot be written.
        """
        write_json(self.as_dict(), path)


class Shown:
    """Something that was found and has a page, whose module knows it and says with ``shown_by`` what the files are."""

    _texts: ClassVar[Callable[[Any], Mapping[str, Callable[[], str]]]]

    def write(self, folder: str | Path) -> tuple[Path, ...]:
        """Write the page, which needs no network, and the numbers beside it, each whole or not at all.

        Args:
            folder: Where to; it is made if it does not exist.

        Returns:
            The paths: the page first.

        Raises:
            OSError: A file cannot be written; the others are written.
        """
        return write_texts({Path(folder) / name: text for name, text in type(self)._texts(self).items()})


def shown_by(kind: type[Shown]) -> Callable[[F], F]:
    """Take a function for the one that returns what makes the files of a kind of results, by their names."""

    def take(texts: F) -> F:
        kind._texts = staticmethod(texts)
        return texts

    return take


def write_texts(texts: Mapping[Path, Callable[[], str]]) -> tuple[Path, ...]:
    """Write files of text, also if one of them cannot be made or written; then raise that error. Return the paths."""

    def write(path: Path, text: Callable[[], str]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path) as (part,):
            part.write_text(text(), encoding="utf-8", newline="\n")

    all_of(*(partial(write, path, text) for path, text in texts.items()))
    return tuple(texts)


def told(found: Any, entries: str, **more: Any) -> dict[str, Any]:
    """Return attributes of a result for JSON, and more; arrays by the ``names`` of their columns, if it has them.

    An entry is the name of an attribute, behind a colon if JSON has another name for it.
    """
    pairs = [entry.rpartition(":")[::2] for entry in entries.split()]
    names = getattr(found, "names", None)
    return {key or name: plain(getattr(found, name), names) for key, name in pairs} | more


def plain(value: Any, names: Iterable[str] | None = None) -> Any:
    """Return a value as JSON takes it, such as a row of numbers for each approximation, by the names of columns."""
    if isinstance(value, np.ndarray):
        return value.tolist() if names is None else by_name(names, value)
    if isinstance(value, dict):
        return {key: plain(x, names) for key, x in value.items()}
    if isinstance(value, tuple):
        return [plain(x) for x in value]
    return value.as_dict() if hasattr(value, "as_dict") else value


def by_name(names: Iterable[str], values: Iterable[float]) -> dict[str, float]:
    """Return a number per column, by its name, as JSON takes it."""
    return dict(zip(names, map(float, values), strict=True))


def finite(value: Any) -> Any:
    """Return the same for JSON, with None for numbers that it has not."""
    if isinstance(value, dict):
        return {str(name): finite(x) for name, x in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(x) for x in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_json(found: dict[str, Any], *, allow_nan: bool = True) -> str:
    """Return what is plain as the text of a file."""
    return json.dumps(found, indent=2, allow_nan=allow_nan) + "\n"


def write_json(found: dict[str, Any], path: Path) -> None:
    """Write what is plain to a file."""
    with whole(path) as (part,):
        part.write_text(as_json(found), encoding="utf-8")
