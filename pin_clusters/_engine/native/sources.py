"""What machine code is made of: the syntax of modules. Comments, docstrings and blank lines are no part of it."""

from __future__ import annotations

import ast
import functools
import hashlib
import time
from collections.abc import Collection, Iterable
from pathlib import Path

PACKAGE, _, _inside = __name__.partition(".")
ROOT = Path(__file__).resolve().parents[_inside.count(".")]
"""The folder of the package."""

Import = tuple[int, str, list[str]]
"""How many dots, from which module, which names."""
Syntax = tuple[str, list[Import]]
"""Checksum of a syntax tree without its words, and what it imports from the package."""

_begun = time.time_ns()


def checksum(content: bytes) -> str:
    """Name some content."""
    return hashlib.sha256(content).hexdigest()[:32]


@functools.cache
def content_of(path: Path) -> bytes:
    """Return what stands in a file, as this process first saw it."""
    return path.read_bytes()


def syntax_of(content: bytes) -> Syntax:
    """Parse a source.

    Raises:
        SyntaxError: It is not Python.
    """
    tree = ast.parse(content)
    imports: list[Import] = []
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            body[:] = [part for part in body if not _is_words(part)]
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith(f"{PACKAGE}.")):
            imports.append((node.level, node.module or "", [name.name for name in node.names]))
    return checksum(ast.dump(tree).encode()), imports


def _is_words(node: ast.stmt) -> bool:
    """Whether a statement is a string that nobody takes: a docstring, of an attribute too."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def written_meanwhile(paths: Iterable[Path]) -> bool:
    """Whether one of these files is younger than this process, which may have imported an older one."""
    return any(_begun < path.stat().st_mtime_ns <= time.time_ns() for path in paths)


class Sources:
    """Modules, and what they import.

    Attributes:
        known: The syntax of what was read before, by the checksum of the content; what is read is put there.
    """

    def __init__(self, known: dict[str, Syntax], without: Collection[Path], root: Path = ROOT) -> None:
        """Begin.

        Args:
            known: Of an earlier process.
            without: Modules of which nothing becomes machine code; what they import is not looked at either.
            root: The folder of the package.
        """
        self.known, self._without, self._root = known, frozenset(without), root
        self._imports: dict[Path, list[Path]] = {}

    def parts(self, paths: Iterable[Path]) -> list[Path]:
        """List modules and all modules of the package that they import, directly or not."""
        found: dict[Path, None] = {}
        waiting = list(paths)
        while waiting:
            path = waiting.pop()
            if path not in found and path not in self._without:
                found[path] = None
                waiting += self._imported(path)
        return list(found)

    def digest(self, paths: Iterable[Path]) -> str:
        """Name the syntax of modules and of all that they import, in the order in which they do."""
        return checksum(" ".join(self.syntax(path)[0] for path in self.parts(paths)).encode())

    def syntax(self, path: Path) -> Syntax:
        """Return the syntax of a file, parsed if its content is new."""
        content = content_of(path)
        key = checksum(content)
        if key not in self.known:
            self.known[key] = syntax_of(content)
        return self.known[key]

    def _imported(self, path: Path) -> list[Path]:
        if path not in self._imports:
            found = [file for one in self.syntax(path)[1] for file in self._files(path, *one)]
            self._imports[path] = list(dict.fromkeys(found))
        return self._imports[path]

    def _files(self, path: Path, level: int, module: str, names: list[str]) -> list[Path]:
        """List what one import of a file executes: a module, or those of a package, and the packages around them."""
        folder = path.parents[level - 1] if level else self._root.parent
        target = folder.joinpath(*module.split(".")) if module else folder
        packages = [p for p in (target, *target.parents) if p.is_relative_to(self._root) and p != self._root]
        found = [target.with_suffix(".py"), *(package / "__init__.py" for package in packages)]
        if target.is_dir():
            found += [file for name in names for file in (target / f"{name}.py", target / name / "__init__.py")]
        return [file for file in found if file.is_file()]
