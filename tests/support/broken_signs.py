"""Break one sign of a formula in the kernels at a time, and report the signs whose change no test detects.

``python tests/support/broken_signs.py MODULE ...`` breaks every sign of modules such as ``variations/of_single``;
``--sample 200`` breaks so many signs of all modules, chosen at random, always the same ones. ``--run ci`` and ``--run
long`` use the tests of these runs instead of the everyday ones. Arguments after ``--`` replace the choice of tests.

The script works on a copy of the checkout. Tests run on kernels in plain Python first, then on compiled kernels.
Some signs survive for a good reason: the sign of a term that is always zero, for example.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Most broken signs make a law fail, in seconds; the rest of the tests sees only the others.
PLAIN = (["tests/laws"], ["tests/oracles", "tests/algorithms", "tests/configuration", "tests/inputs"])
COMPILED = (
    ["tests/laws/test_ground.py", "tests/simulation", "tests/algorithms/test_batch.py", "tests/oracles"],
    [
        "tests/laws",
        "tests/algorithms",
        "tests/configuration",
        "tests/motor_space",
        "tests/identify",
        "tests/specialising",
    ],
)
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


def _passes(copy: Path, arguments: list[str], plain: bool) -> bool:
    """Return whether tests pass in a copy, with kernels as plain Python or compiled anew."""
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory() as cache:
        environment |= {"NUMBA_DISABLE_JIT": "1"} if plain else {"PIN_CLUSTERS_CACHE": cache}
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *arguments]
        return subprocess.run(command, cwd=copy, env=environment, capture_output=True, check=False).returncode in (0, 5)


def _stages(run: str, tests: list[str]) -> list[tuple[list[str], bool]]:
    """Return arguments of pytest, and whether kernels are plain Python, in the order in which they are tried."""
    if tests:
        return [(tests, True)]
    more = [] if run == "everyday" else [f"--{run}"]
    plain = [([*folders, "-m", "jitless and not slow", *more], True) for folders in PLAIN]
    return plain + [([*folders, *more], False) for folders in COMPILED]


def main(arguments: list[str]) -> int:
    """Break signs; return how many no test detects."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--sample", type=int, help="break so many signs of all modules")
    parser.add_argument("--run", choices=("everyday", "ci", "long"), default="everyday", help="whose tests are used")
    options = parser.parse_args(arguments[:split])
    stages = _stages(options.run, arguments[split + 1 :])
    kernels = Path("pin_clusters", "kernels")
    modules = [f"{name}.py" for name in options.modules]
    if options.sample:
        modules = sorted(str(path.relative_to(ROOT / kernels)) for path in (ROOT / kernels).rglob("*.py"))
    signs = [(module, *sign) for module in modules for sign in changes((ROOT / kernels / module).read_text())]
    if options.sample:
        signs = random.Random(0).sample(signs, options.sample)
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        for name in "pin_clusters tests robot_models docs examples benchmarks".split():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        for stage in stages:  # a stage that fails without a broken sign would count every sign as detected
            if not _passes(copy, *stage):
                sys.exit(f"these tests fail without a broken sign: pytest {' '.join(stage[0])}")
        for i, (module, line, text, changed) in enumerate(signs):
            path = copy / kernels / module
            source = path.read_text()
            path.write_text(changed)
            found = next((k for k, stage in enumerate(stages) if not _passes(copy, *stage)), None)
            path.write_text(source)
            survivors += found is None
            where = "not detected" if found is None else f"detected in stage {found + 1}"
            print(f"{i + 1} of {len(signs)}: {where}: {module}:{line}: {text}", flush=True)
    print(f"{len(signs)} signs broken, {survivors} not detected")
    return survivors


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
