"""Check the names and numbers of a message; compare its full text with the golden files of ``tests/messages``.

``raises`` and ``warns`` take the place of ``pytest.raises`` and ``pytest.warns`` for exceptions and warnings of the
package. A test states only the names and numbers that the message must contain. The wording is in one file per
subpackage, which ``pytest --record-messages`` updates.
"""

from __future__ import annotations

import functools
import re
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import pytest

import pin_clusters as pc

FOLDER = Path(__file__).parents[1] / "messages"
PACKAGE = Path(pc.__file__).parent

seen: dict[str, dict[str, str]] = {}  # by subpackage: a sample of each wording that this process recorded
recording = False  # set by conftest.py


class raises:  # noqa: N801 - it takes the place of a function
    """Require an exception whose message contains these names and numbers, separated by spaces and in any order."""

    def __init__(self, error: Any, names: str = "") -> None:
        self._context, self._names = pytest.raises(error), names

    def __enter__(self) -> pytest.ExceptionInfo[Any]:
        return self._context.__enter__()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        __tracebackhide__ = True
        expected = self._context.__exit__(kind, error, trace)
        if expected:
            check(error, self._names)
        return expected


class warns:  # noqa: N801
    """Require a warning, as ``raises`` requires an exception; other warnings are emitted again."""

    def __init__(self, category: type[Warning], names: str = "") -> None:
        pattern = r"(?s)\A" + "".join(f"(?=.*{bounded(piece)})" for piece in pieces(names))
        self._category, self._names, self._context = category, names, pytest.warns(category, match=pattern)

    def __enter__(self) -> pytest.WarningsRecorder:
        self._found = self._context.__enter__()
        self._patch = mock.patch.object(warnings, "warn", _located(warnings.warn))
        self._patch.start()
        return self._found

    def __exit__(self, *raised: Any) -> None:
        __tracebackhide__ = True
        self._patch.stop()
        self._context.__exit__(*raised)
        for one in self._found if raised[0] is None else ():
            if issubclass(one.category, self._category) and not missing(self._names, str(one.message)):
                check(one.message)


def check(error: BaseException, names: str = "") -> None:
    """Require these names and numbers in the message of an exception or a warning, and its text in the golden files."""
    __tracebackhide__ = True
    text = str(error)
    lost = missing(names, text)
    assert not lost, f"not in the message: {' '.join(lost)}\n{text}"
    name = subpackage(error)
    if name is None:
        return
    entry = sample(error)
    if recording:
        samples = seen.setdefault(name, {})
        samples[wording(entry)] = min(entry, samples.get(wording(entry), entry))
    else:
        assert template(entry) in read(FOLDER / f"{name}.txt"), (
            f"tests/messages/{name}.txt does not contain this message. If the text is right, run "
            f"'pytest --record-messages' and review the diff.\n{entry}"
        )


def missing(names: str, text: str) -> list[str]:
    """Return the names and numbers that a text does not contain."""
    return [piece for piece in pieces(names) if not re.search(bounded(piece), text)]


def pieces(names: str) -> list[str]:
    """Split at spaces outside quotes and brackets."""
    return re.findall(r"(?:'[^']*'|\([^()]*\)|\[[^][]*\]|\S)+", names)


def bounded(piece: str) -> str:
    """Return a pattern that does not match inside a longer name or number."""
    before = r"(?<![\w.+-])" if re.match(r"[-+\d]", piece) else r"(?<!\w)" if re.match(r"\w", piece) else ""
    after = r"(?!\w|\.\d)" if piece[-1].isdigit() else r"(?!\w)" if re.match(r"\w", piece[-1]) else ""
    return before + re.escape(piece) + after


def wording(entry: str) -> str:
    """Return a message without its numbers and quoted names."""
    text = re.sub(r"""(?<!\w)(['"])(?:(?!\1).)*\1(?!\w)""", "'…'", " ".join(entry.split()))
    text = re.sub(r"[-+]?(?:\d+(?:\.\d+)*(?:e[-+]?\d+)?|\b(?:inf|nan)\b)", "#", text)
    return re.sub(r"('…'|#)(?:(?:,? |, (?:and|or) )\1)+", r"\1", text)


def template(entry: str) -> str:
    """Return the wording without what varies: class, subject, kind of constraint, given value, names of Pinocchio."""
    text = re.sub(r"(?<![.\w])[A-Z]\w+(?:\.\w+)?\('…'\)", "Constraint('…')", wording(entry))
    text = re.sub(r"(Constraint\('…'\))(?:, \1)+", r"\1", text)
    text = re.sub(r"^\w+: (?:[\w.]+: )?(?:\w+\('…'\)|[\w.#[\]]+(?= (?:must|has|is|needs|cannot)\b))?", "…", text)
    text = re.sub(r"\(pinocchio [^)]*\)", "(pinocchio …)", text)
    text = re.sub(r"\b(got |pinocchio\.)(?:(?<= )[^.;:]*|[\w#]+)", r"\1…", text)
    return re.sub(r"(?<=: )[\w#.:-]+(?:[,;] [\w#.:-]+)*(?=\.(?: |$))", "…", text)  # a list of names


def sample(error: BaseException) -> str:
    """Return class and text of a message, without folders, addresses, digests and the texts of foreign causes."""
    text = str(error)
    cause = error.__cause__ or error.__context__
    if cause is not None and not _is_ours(cause):
        for part in (str(cause), " ".join(str(cause).split()), getattr(cause, "strerror", None) or ""):
            text = text.replace(part, "<cause>") if " " in part else text
    text = re.sub(r"(?<![\w.<>/:])/(?:[\w.+-]+/)+", "<folder>/", text)
    text = re.sub(r"\b(?:0x[0-9a-f]{2,}|(?=[a-f]*\d)[0-9a-f]{12}\b)", "…", text)
    return f"{type(error).__name__}: {text.strip()}"


def subpackage(error: BaseException) -> str | None:
    """Return the subpackage or module that raised an exception or emitted a warning; None if the package did not."""
    if hasattr(error, "files"):
        files = error.files
    else:
        files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)][::-1]
    inside = [file for file in files if Path(file).is_relative_to(PACKAGE)]
    if not inside or not (_is_ours(error) or files[0] == inside[0]):
        return None
    return Path(inside[0]).relative_to(PACKAGE).parts[0].removesuffix(".py")


def _is_ours(error: BaseException) -> bool:
    return type(error).__module__.startswith("pin_clusters")


def _located(warn: Callable[..., None]) -> Callable[..., None]:
    """Return a ``warnings.warn`` that notes the files of its callers, innermost first, in the warning."""

    def located(message: Any, category: Any = None, stacklevel: int = 1, **more: Any) -> None:
        warning = message if isinstance(message, Warning) else (category or UserWarning)(message)
        warning.files = [frame.f_code.co_filename for frame, _ in traceback.walk_stack(sys._getframe(1))]
        warn(warning, stacklevel=stacklevel + 1, **more)

    return located


def used_by(module: ModuleType) -> bool:
    """Return whether a module imports this one or its functions."""
    return any(
        getattr(value, "__module__", "") == __name__ or value is sys.modules[__name__]
        for value in vars(module).values()
    )


def read(file: Path) -> dict[str, str]:
    """Return the messages of a golden file by template. Each begins at a line that is not indented."""
    return _parsed(file.read_text("utf-8")) if file.exists() else {}


@functools.cache
def _parsed(text: str) -> dict[str, str]:
    entries = [entry.replace("\n    ", "\n") for entry in re.split(r"\n(?=\S)", text.strip())]
    return {template(entry): entry for entry in entries}


def write(found: dict[str, dict[str, str]], whole: bool) -> None:
    """Add messages to the golden files; after a whole run, remove those that were not seen.

    A sample stays as long as its wording is seen, so that other numbers and names make no diff.
    """
    for name in {file.stem for file in FOLDER.glob("*.txt")} | set(found):
        file, samples = FOLDER / f"{name}.txt", found.get(name, {})
        kept = {key: entry for key, entry in read(file).items() if not whole or wording(entry) in samples}
        entries = {template(entry): entry for entry in sorted(samples.values(), reverse=True)} | kept
        lines = [entry.replace("\n", "\n    ") for entry in sorted(entries.values())]
        file.write_text("\n".join(lines) + "\n", "utf-8") if lines else file.unlink(missing_ok=True)
