"""Text and names inside the package: plain English, names that say what a value is, documented public functions."""

from __future__ import annotations

import ast
import inspect
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.plain_english import RULES

import pin_clusters as pc

pytestmark = [pytest.mark.jitless, pytest.mark.ci]

PACKAGE = Path(pc.__file__).parent
FILLERS = set(
    """found at given own place one two both what mine their theirs ours there here left who whose how told said asked
    wanted known these those this that other others rest some many each every same thing things it its kept made taken
    put got way whole more most few off apart near lies stands felt meant seen chosen tried alone again so
    once""".split()
)
"""Names that do not say what a value is."""
METAPHORS = {"desk", "desks", "room", "rooms", "door", "doors", "wing", "wings", "rung", "rungs", "wish", "wishes"}
METAPHORS |= {"twin", "twins", "rival", "rivals", "asker", "askers", "recollection", "recollections", "ladder"}
PUBLIC = [
    (f"{prefix}{name}", getattr(space, name))
    for prefix, space in (("pc.", pc), ("pc.batch.", pc.batch))
    for name in sorted({*space.__all__} - {*pc._HOSTS})  # modules for packages that may be missing
    if callable(getattr(space, name))
    and not inspect.isclass(getattr(space, name))  # functions of the C extension, too
    and str(getattr(getattr(space, name), "__module__", "")).startswith("pin_clusters")
]
UNIT = re.compile(
    r"\[[^\]]*\b(m|rad|kg|N|s|W|J|K|A|V)\b[^\]]*\]|\b(metres?|radians?|seconds?|newtons?|N m|rad/s|kg m|m/s)\b|"
    r"dimensionless|no unit|unitless|\bunits?\b"
)


@cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def texts() -> Iterator[tuple[Path, str]]:
    """Yield docstrings without their examples, comments, and messages of raised exceptions."""
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield (
                    path,
                    re.sub(r"^\s*Examples?:.*", "", ast.get_docstring(node) or "", flags=re.DOTALL | re.MULTILINE),
                )
            if isinstance(node, ast.Raise) and node.exc is not None:
                for part in ast.walk(node.exc):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield path, part.value
        for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
            if token.type == tokenize.COMMENT:
                yield path, token.string.lstrip("# ")


@cache
def sentences() -> list[tuple[Path, str]]:
    every = []
    for path, text in texts():
        text = re.sub(r"``[^`]*``|`[^`]*`", "X", text)
        text = re.sub(r"^\s*[-*]\s+", "\n\n", text, flags=re.MULTILINE)
        for paragraph in re.split(r"\n\s*\n", text):
            for sentence in re.split(r"(?<=[.!?:;])\s+(?=[A-Z0-9])", " ".join(paragraph.split())):
                if len(sentence.split()) >= 4:
                    every.append((path, sentence))
    return every


@pytest.mark.parametrize("rule", RULES)
def test_few_sentences_of_the_code_break_a_rule(rule: str) -> None:
    pattern, most = RULES[rule]
    broken = [f"{path.relative_to(PACKAGE)}: {text}" for path, text in sentences() if re.search(pattern, text)]
    assert len(broken) <= most / 100.0 * len(sentences()), "\n".join(broken)


def test_names_say_what_values_are() -> None:
    stored = [
        node.id
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    fillers = [name for name in stored if name.strip("_") in FILLERS]
    assert len(fillers) <= 0.03 * len(stored), sorted(set(fillers), key=fillers.count)


def words_of(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()))


def test_names_are_no_metaphors() -> None:
    names: set[tuple[str, str]] = set()
    for path, tree in trees().items():
        file = str(path.relative_to(PACKAGE))
        names.add((file, path.stem))
        kept = {
            x
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and "old_names" in ast.dump(node.value)
            for x in node.targets
        }
        for node in ast.walk(tree):
            if node in kept:  # an attribute of earlier versions
                continue
            if isinstance(node, ast.Name):
                names.add((file, node.id))
            elif isinstance(node, ast.arg):
                names.add((file, node.arg))
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add((file, node.name))
            elif isinstance(node, ast.Attribute):
                names.add((file, node.attr))
    assert not [(file, name) for file, name in sorted(names) if words_of(name) & METAPHORS]


def test_the_formatter_formats() -> None:
    skipped = sum(path.read_text(encoding="utf-8").count("# fmt: skip") for path in trees())
    assert skipped <= 50


def share(documented: list[Any], every: list[Any]) -> float:
    return len(documented) / len(every)


def test_public_functions_are_documented() -> None:
    without = [name for name, function in PUBLIC if not inspect.getdoc(function)]
    assert not without
    examples = [name for name, function in PUBLIC if ">>>" in (inspect.getdoc(function) or "")]
    units = [name for name, function in PUBLIC if UNIT.search(inspect.getdoc(function) or "")]
    assert share(examples, PUBLIC) >= 0.7, sorted({name for name, _ in PUBLIC} - set(examples))
    assert share(units, PUBLIC) >= 0.88, sorted({name for name, _ in PUBLIC} - set(units))


def test_arrays_have_a_type() -> None:
    """``Any`` says nothing in an editor; an array-like argument is ``ArrayLike``."""
    arrays = {"q", "v", "a", "tau", "q0", "q1", "v0", "tau_tree", "v_tree", "x", "w", "force", "ddq", "lambda_guess"}
    arrays |= {"constraint_correction", "limits", "values", "B", "tau_motor", "q_reference"}
    untyped = [
        f"{name}({parameter.name})"
        for name, function in PUBLIC
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name in arrays and parameter.annotation in ("Any", Any)
    ]
    assert not untyped
