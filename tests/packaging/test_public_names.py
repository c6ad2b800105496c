"""The public names: exported, documented, and nothing besides."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import importlib.util
import inspect
import pkgutil
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pinocchio as pin
import pytest

import pin_clusters as pc

ROOT = Path(__file__).parents[2]
PUBLIC = [n for n in pc.__all__ if not isinstance(getattr(pc, n), ModuleType) and callable(getattr(pc, n))]
FUNCTIONS = [n for n in PUBLIC if inspect.isroutine(getattr(pc, n))]
CLASSES = [n for n in PUBLIC if inspect.isclass(getattr(pc, n))]
MISSING = {f"pin_clusters.{n}" for n in ("crocoddyl", "pink") if importlib.util.find_spec(n) is None}  # of `control`
if importlib.util.find_spec("warp") is None:  # of `mjwarp`
    MISSING |= {f"pin_clusters.mujoco.{n}" for n in ("_warp_loops", "_warp_rotors", "warp")}
MODULES = [
    "pin_clusters",
    *(m.name for m in pkgutil.walk_packages(pc.__path__, "pin_clusters.") if not m.name.endswith("__main__")),
]
MODULES = [name for name in MODULES if name not in MISSING]


def sections(text: str) -> dict[str, str]:
    """Split a Google docstring into its sections."""
    parts = re.split(r"^(\w+):\n", inspect.cleandoc(text), flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def test_all_is_complete() -> None:
    assert len(set(pc.__all__)) == len(pc.__all__)
    present = {n for n, x in vars(pc).items() if not n.startswith("_") and not isinstance(x, ModuleType)}
    passed = {n for n in present if hasattr(pin, n)}  # and kept, when somebody asked for it
    assert present - passed - set(pc.__all__) - {"annotations", "TYPE_CHECKING", "Any"} == set()
    assert [n for n in pc.__all__ if not hasattr(pc, n)] == []


def test_what_the_documentation_names_exists() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        for name in re.findall(r"\bpc\.(\w+)", page.read_text(encoding="utf-8")):
            # doors to packages that are not installed raise
            assert name in dir(pc) or hasattr(pc, name), f"{page.name} names pc.{name}"


def entries_of_the_api() -> list[str]:
    """Return the names that the API pages document, as they follow ``pc.``."""
    entry = r"^\.\. (?:auto(?:class|data|exception|function)|py:data):: (?:pin_clusters\.)?(\S+)$"
    pages = sorted((ROOT / "docs" / "api").glob("*.md"))
    assert len(pages) > 10
    landing = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for page in pages:
        assert landing.count(f"\napi/{page.stem}\n") == 1, (
            f"docs/api.md does not list {page.stem} in its table of contents"
        )
        assert f"](api/{page.name})" in landing, f"docs/api.md does not describe {page.stem}"
    return [name for page in pages for name in re.findall(entry, page.read_text(encoding="utf-8"), re.MULTILINE)]


def test_each_public_name_is_on_one_page_of_the_api() -> None:
    entries = entries_of_the_api()
    assert sorted(name for name in set(entries) if entries.count(name) > 1) == []
    assert {name for name in entries if "." not in name} == set(pc.__all__) - {"batch"}  # a module with a page
    for module in (
        "batch",
        "casadi",
        "torch",
        "jax",
        "codegen",
        "tracing",
        "visualize",
        "approximations",
        "audit",
        "atlas",
    ):
        place = importlib.import_module(f"pin_clusters.{(pc._LAZY | pc._HOSTS).get(module, module)}")
        public = {n for n in place.__all__ if not n.isupper() and n not in pc.__all__}
        assert public <= {name.removeprefix(f"{module}.") for name in entries if name.startswith(f"{module}.")}, module


def test_what_the_api_pages_document_exists() -> None:
    for name in entries_of_the_api():
        first, _, rest = name.partition(".")
        if f"pin_clusters.{first}" in MISSING:
            continue
        thing: object = pc
        where = (pc._LAZY | pc._HOSTS).get(first)  # hosts of packages that are not installed are modules all the same
        if where:
            thing = importlib.import_module(f"pin_clusters.{where}")
        for part in rest.split(".") if where else name.split("."):
            if isinstance(thing, ModuleType) and not hasattr(thing, part):
                importlib.import_module(f"{thing.__name__}.{part}")
            thing = getattr(thing, part)


def test_array_arguments_have_a_type() -> None:
    for name in FUNCTIONS:
        for parameter in inspect.signature(getattr(pc, name)).parameters.values():
            if parameter.name in {"q", "v", "a", "tau", "q0", "q1", "q2", "v0"}:
                assert parameter.annotation not in (Any, "Any"), f"{name}: {parameter.name}"


def test_functions_are_documented() -> None:
    for name in FUNCTIONS:
        function = getattr(pc, name)
        doc = sections(function.__doc__ or "")
        signature = inspect.signature(function)
        for parameter in signature.parameters:
            line = rf"^\s+\*{{0,2}}{parameter}(\s\(.*\))?:"
            assert re.search(line, doc.get("Args", ""), re.MULTILINE), f"{name}: {parameter}"
        assert len(doc[""]) > 10, name
        if not signature.parameters:
            continue
        if signature.return_annotation not in (None, "None", inspect.Signature.empty):
            assert "Returns" in doc, name
        assert "Raises" in doc, name
        for array in [p for p in signature.parameters if p in {"q", "v", "a", "tau", "q0", "q1"}]:
            entry = re.search(rf"^\s+{array}:(.*?)(?=^\s+\w+:|\Z)", doc["Args"] + "\n", re.MULTILINE | re.DOTALL)
            assert entry is not None, f"{name}: {array}"
            assert "(" in entry[1], f"{name}: the shape of {array} is not stated"


def test_batches_have_the_names_and_arguments_of_one_state() -> None:
    for name in sorted(set(pc.batch.__all__) - {"Motions", "lanes"}):
        batch, one = getattr(pc.batch, name), getattr(pc, name)
        doc, parameters = sections(batch.__doc__ or ""), list(inspect.signature(batch).parameters)
        for parameter in parameters:
            assert re.search(rf"^\s+{parameter}:", doc["Args"], re.MULTILINE), f"{name}: {parameter}"
        assert {"Returns", "Raises"} <= set(doc), name
        assert parameters[-3:] == ["threads", "out", "status"], name
        parameters = [p for p in parameters if p != "parameters"]  # of robots per row: a single one has its own
        own = [p for p in inspect.signature(one).parameters if p not in {"data", "out"}]
        shared = min(len(own), len(parameters) - 3)
        if name not in {"simulate", "forwardKinematics"}:  # many starts and few options; frames
            assert parameters[:shared] == own[:shared], name


def test_classes_are_documented() -> None:
    for name in CLASSES:
        cls = getattr(pc, name)
        doc = sections(cls.__doc__ or "")
        assert len(doc[""]) > 10, name
        if dataclasses.is_dataclass(cls):
            listed = doc.get("Args", "") + doc.get("Attributes", "")
            for field in dataclasses.fields(cls):
                if not field.name.startswith("_"):
                    assert re.search(rf"^\s+{field.name}(\s\(.*\))?:", listed, re.MULTILINE), f"{name}.{field.name}"
        for attribute, value in vars(cls).items():
            if not attribute.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                assert inspect.getdoc(getattr(cls, attribute)), f"{name}.{attribute}"


def test_modules_say_what_they_are_for() -> None:
    assert [name for name in MODULES if not importlib.import_module(name).__doc__] == []


@pytest.mark.ci
def test_doctests() -> None:
    failed = []
    for name in MODULES:
        module = importlib.import_module(name)
        if doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).failed:
            failed.append(name)  # what was wrong is in the captured output
    assert failed == []
