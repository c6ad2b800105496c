"""Break one sign of a formula of the kernels at a time, and see that tests turn red; tells of each that nobody minds.

``python tests/support/broken_signs.py MODULE ... [-- PYTEST ARGUMENTS]``, modules by their names in the kernels, as
``variations/of_single`` is one. It works on a copy of the checkout, with kernels as plain Python. Some signs survive
with reason: those that numbers do not depend on, and those of what only compiled kernels reach.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ["tests/laws/test_derivatives.py", "-m", "jitless and not slow"]
THOROUGH = [TESTS[0], "--long"]  # for what those let pass: all that is there
# arithmetic of places in tables is not a formula
PLACES = set("nv nk nq n i j k m r t s b c at to row own which width first last column ahead depth".split())
PRODUCTS = {"cross", "cross_force", "cross_motion"}


def _is_place(node: ast.expr) -> bool:
    """Whether an operand is a place in a table, or a count."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int)
    if isinstance(node, ast.Name):
        return node.id in PLACES or node.id.isupper() or node.id.startswith(("at_", "i_v"))
    if isinstance(node, ast.Attribute):
        return True
    return isinstance(node, ast.BinOp) and _is_place(node.left) and _is_place(node.right)


def changes(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield line number, what is written there, and the source with its sign changed."""
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def at(line: int, column: int) -> int:
        return starts[line - 1] + column

    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            if _is_place(node.left) or _is_place(node.right):
                continue
            begin = at(node.left.end_lineno or 0, node.left.end_col_offset or 0)
            between = source[begin : at(node.right.lineno, node.right.col_offset)]
            old, new = ("+", "-") if isinstance(node.op, ast.Add) else ("-", "+")
            changed = source[:begin] + between.replace(old, new, 1) + source[begin + len(between) :]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            if isinstance(node.operand, ast.Constant | ast.Name) and _is_place(node.operand):
                continue
            begin = at(node.lineno, node.col_offset)
            changed = source[:begin] + "+" + source[begin + 1 :]
            if not isinstance(node.operand, ast.Constant):  # tuples have no unary plus
                end = at(node.end_lineno or 0, node.end_col_offset or 0)
                changed = source[:begin] + "(" + source[begin + 1 : end] + ")" + source[end:]
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
            if _is_place(node.value) or _is_place(node.target):
                continue
            old, new = ("+=", "-=") if isinstance(node.op, ast.Add) else ("-=", "+=")
            begin = at(node.target.end_lineno or 0, node.target.end_col_offset or 0)
            changed = source[:begin] + source[begin:].replace(old, new, 1)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PRODUCTS:
            parent = parents[node]
            if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add | ast.Sub) and node is parent.right:
                continue  # the sign before it is changed already
            begin, end = at(node.lineno, node.col_offset), at(node.end_lineno or 0, node.end_col_offset or 0)
            changed = source[:begin] + "(-" + source[begin:end] + ")" + source[end:]
        else:
            continue
        yield node.lineno, lines[node.lineno - 1].strip(), changed


def _passes(copy: Path, arguments: list[str]) -> bool:
    """Whether tests pass in a copy."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, check=False).returncode == 0


def main(arguments: list[str]) -> int:
    """Break signs; returns how many nobody minds."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    modules, tests = arguments[:split], arguments[split + 1 :]
    stages = [tests] if tests else [TESTS, THOROUGH]
    survivors = tried = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        for name in "pin_clusters tests robot_models".split():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        if not _passes(copy, stages[-1]):
            print("the tests fail as they are")
            return 1
        for module in modules:
            path = copy / "pin_clusters" / "_engine" / "kernels" / f"{module}.py"
            source = path.read_text()
            for line, text, changed in changes(source):
                path.write_text(changed)
                tried += 1
                if all(_passes(copy, stage) for stage in stages):
                    survivors += 1
                    print(f"nobody minds: {module}:{line}: {text}", flush=True)
            path.write_text(source)
            print(f"{module}: done, {tried} signs so far", flush=True)
    print(f"{tried} signs broken, {survivors} survived")
    return survivors


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
