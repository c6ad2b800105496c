"""What the package's folder looks like from above: floors, arrows and circles of its imports, and lines by room.

``python tests/support/house.py [PACKAGE] [FOLDER ...]`` prints it for the entries of folders, by default of the package
and the engine's kernels; then circles of modules. Entries of a folder are its modules and folders; an arrow says that
something in one imports something in the other, wherever the import stands, but for those that type checkers alone
see. An entry is a floor above the highest one that it imports.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "pin_clusters"
Graph = Mapping[str, set[str]]


def _is_for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def _imports(node: ast.AST, types: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif types or not _is_for_type_checkers(child):
            yield from _imports(child, types)


def modules(package: Path = PACKAGE) -> dict[str, Path]:
    """Return the modules of a package by their dotted names, without its own; a folder is its ``__init__``."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(package: Path = PACKAGE, *, types: bool = False) -> dict[str, set[str]]:
    """Return which modules of the package each module imports, for type checkers too if asked."""
    known = modules(package)
    found: dict[str, set[str]] = {name: set() for name in known}
    for name, path in known.items():
        here = name.split(".") if name else []
        if path.name != "__init__.py":
            here = here[:-1]
        for node in _imports(ast.parse(path.read_text(encoding="utf-8")), types):
            if isinstance(node, ast.Import):
                targets = [(alias.name, "") for alias in node.names if alias.name.partition(".")[0] == package.name]
                places = [".".join(target.split(".")[1:]) for target, _ in targets]
            else:
                if node.level:
                    base = here[: len(here) - node.level + 1]
                elif (node.module or "").partition(".")[0] == package.name:
                    base, node.module = [], ".".join((node.module or "").split(".")[1:])
                else:
                    continue
                base = [*base, *filter(None, (node.module or "").split("."))]
                places = []
                for alias in node.names:
                    inside = ".".join([*base, alias.name])
                    places.append(inside if inside in known else ".".join(base))
            found[name] |= {place for place in places if place in known and place != name}
    return found


def entries(graph: Graph, folder: str = "") -> dict[str, set[str]]:
    """Return what each entry of a folder imports of the others."""
    prefix = f"{folder}." if folder else ""

    def entry(module: str) -> str | None:
        if module == folder or not module.startswith(prefix):
            return "__init__" if module == folder else None
        return module[len(prefix) :].partition(".")[0]

    found: dict[str, set[str]] = {}
    for module, targets in graph.items():
        source = entry(module)
        if source is not None:
            found.setdefault(source, set()).update(e for e in map(entry, targets) if e is not None and e != source)
    return found


def circles(graph: Graph) -> list[list[str]]:
    """Return the groups whose members import each other, by Tarjan's algorithm."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(name: str) -> None:
        number[name] = low[name] = len(number)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in number:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], number[other])
        if low[name] == number[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10_000)
    for name in sorted(graph):
        if name not in number:
            visit(name)
    return found


def floors(graph: Graph) -> list[list[str]]:
    """Return the entries by floor, the lowest first; those of a circle stand on one floor."""
    together = {name: name for name in graph}
    for circle in circles(graph):
        together.update(dict.fromkeys(circle, circle[0]))
    heights: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in heights:
            group = [other for other, head in together.items() if head == together[name]]
            below = {other for member in group for other in graph[member] if together[other] != together[name]}
            heights.update(dict.fromkeys(group, 1 + max(map(height, below), default=0)))
        return heights[name]

    found: list[list[str]] = []
    for name in sorted(graph, key=lambda name: (height(name), name)):
        while len(found) < height(name):
            found.append([])
        found[height(name) - 1].append(name)
    return found


def lines(package: Path, entry: str, folder: str = "") -> int:
    """Return how many lines an entry of a folder has, in all its files."""
    place = package.joinpath(*filter(None, folder.split(".")))
    paths: Iterable[Path] = [place / f"{entry}.py"] if (place / f"{entry}.py").exists() else (place / entry).rglob("*")
    kinds = {".py", ".html", ".css", ".csv", ".typed"}
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths if path.suffix in kinds)


def describe(package: Path, folder: str) -> str:
    """Say what the entries of a folder are."""
    graph = entries(imports(package), folder)
    arrows = sum(map(len, graph.values()))
    told = [f"{package.name}{'.' * bool(folder)}{folder}: {len(graph)} entries, {arrows} arrows"]
    for i, floor in reversed(list(enumerate(floors(graph), 1))):
        told.append(f"  floor {i:2d}: " + ", ".join(f"{name} {lines(package, name, folder)}" for name in floor))
    return "\n".join([*told, *(f"  circle: {', '.join(circle)}" for circle in circles(graph))])


def main(asked: list[str]) -> None:
    """Print it."""
    package = Path(asked.pop(0)) if asked and Path(asked[0]).is_dir() else PACKAGE
    for folder in asked or ("", "kernels", "compiler"):
        print(describe(package, folder))
    if not asked:
        found = circles(imports(package, types=True))
        print(
            f"circles of modules, imports for type checkers included: {len(found)}",
            *(f"  {', '.join(circle)}" for circle in found),
            sep="\n",
        )


if __name__ == "__main__":
    main(sys.argv[1:])
