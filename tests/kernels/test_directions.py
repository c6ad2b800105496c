"""Direction of data: a kernel annotates the arrays that it writes with ``Out``, and writes no others but ``work``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import pin_clusters as pc

pytestmark = [pytest.mark.jitless, pytest.mark.ci]

KERNELS = Path(pc.__file__).parent / "kernels"
MEMORY = KERNELS / "numbers" / "memory.py"
INTRINSIC = {(MEMORY, name) for name in ("put", "put_apart", "_put", "_put_apart", "checked")}
"""Functions whose arguments Numba compares with those of their overloads: they have no annotations."""
WRITERS = {(MEMORY, name): {0} for name in ("put", "put_apart")}
"""Positions of the arrays that they write."""
WORKSPACES = {"work"}
"""The workspace is read and written everywhere; the names of its accessors, ``x`` and ``set_x``, give the direction."""
Key = tuple[Path, str]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> dict[str, tuple[Path, str]]:
    """Return the file, and the name in it (empty for a module), behind each name that a file imports."""
    behind = {}
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for alias in node.names:
                file = folder / f"{alias.name}.py"
                behind[alias.asname or alias.name] = (
                    (file, "") if file.is_file() else (folder.with_suffix(".py"), alias.name)
                )
    return behind


def functions() -> Iterator[tuple[Key, ast.FunctionDef]]:
    """Yield the functions of all kernels, those of factories included."""
    for path in sorted(KERNELS.rglob("*.py")):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef) and (path, node.name) not in INTRINSIC:
                yield (path, node.name), node


def called(path: Path, function: ast.expr) -> Key:
    """Return the file and the name of the function that is called."""
    if isinstance(function, ast.Name):
        return imports(path).get(function.id, (path, function.id))
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return imports(path).get(function.value.id, (path, ""))[0], function.attr
    return path, ""


def array_of(node: ast.expr) -> str:
    """Return the name of the array of which an expression is a part."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def written(path: Path, function: ast.FunctionDef, writers: dict[Key, set[int]]) -> set[str]:
    """Return the parameters that a function writes, itself or through the ``writers`` that it calls."""
    views = {argument.arg: argument.arg for argument in function.args.args}
    nested = [f for f in ast.walk(function) if isinstance(f, ast.FunctionDef) and f is not function]
    inside = {id(node) for f in nested for node in ast.walk(f)}
    nodes = [node for node in ast.walk(function) if id(node) not in inside]
    outputs = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript) and array_of(node.value) in views:
            if isinstance(node.value.slice, ast.Slice) and isinstance(node.targets[0], ast.Name):
                views[node.targets[0].id] = views[array_of(node.value)]
    for node in nodes:
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AugAssign) else targets
        for target in targets:
            for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(part, ast.Subscript):
                    outputs.add(views.get(array_of(part)))
        if isinstance(node, ast.Call):
            for place in writers.get(called(path, node.func), ()):
                if place < len(node.args):
                    outputs.add(views.get(array_of(node.args[place])))
    return {name for name in outputs if name}


def directions() -> dict[tuple[Key, int], tuple[set[str], set[str]]]:
    """Return the parameters that each function writes, and those that it annotates."""
    every, writers = list(functions()), dict(WRITERS)
    while True:
        result, more = {}, dict(writers)
        for key, function in every:
            order = [argument.arg for argument in function.args.args]
            outputs = written(key[0], function, writers)
            annotated = {a.arg for a in function.args.args if getattr(a.annotation, "id", "") == "Out"}
            result[key, function.lineno] = outputs - WORKSPACES, annotated
            more[key] = more.get(key, set()) | {order.index(name) for name in outputs}
        if more == writers:
            return result
        writers = more


def test_kernels_annotate_what_they_write() -> None:
    wrong = [
        f"{path.relative_to(KERNELS)}:{line} {name}: writes {sorted(outputs)}, annotates {sorted(annotated)}"
        for ((path, name), line), (outputs, annotated) in directions().items()
        if outputs != annotated
    ]
    assert not wrong, "\n".join(wrong)


def test_what_is_written_is_found() -> None:
    source = (
        "def f(q, out, more, less):\n    part = more[2:]\n    part[0] = q[0]\n    put(out, 0, 1.0)\n    less[1] += 1"
    )
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    assert written(MEMORY, function, {(MEMORY, "put"): {0}}) == {"out", "more", "less"}
