"""What a change of the sources compiles again: nothing for words, of kernels those that are made of it."""

from __future__ import annotations

import collections
import functools
import importlib
import re
import shutil
import statistics
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from pin_clusters._engine import entry_points
from pin_clusters._engine.kernels.compiling import cache as _cache
from pin_clusters._engine.native import sources
from pin_clusters._engine.native.sources import Sources

pytestmark = pytest.mark.jitless


KNOWN: dict[str, sources.Syntax] = {}


def parts_of(kernel: entry_points.Kernel) -> list[Path]:
    """All modules that a kernel is made of, in the package."""
    whole, alone, _ = _cache._made_of(kernel.source.entry)
    return [path.relative_to(sources.ROOT) for path in (*Sources(KNOWN, _cache._WITHOUT).parts(whole), *alone)]


def part_of(kernel: entry_points.Kernel, name: str) -> Path:
    (path,) = (path for path in parts_of(kernel) if path.name == name)
    return path


@functools.cache
def parts() -> set[Path]:
    """Of all kernels."""
    return {path for kernel in entry_points.ALL for path in parts_of(kernel)}


OTHERS = [path.relative_to(sources.ROOT) for path in _cache._WITHOUT]
OTHERS += [Path("_engine/preparing.py"), Path("__init__.py")]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the sources."""
    for path in (*parts(), *OTHERS):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(sources.ROOT / path, tmp_path / path)
    return tmp_path


def digests(root: Path) -> dict[str, list[str]]:
    """By kernel."""
    sources.content_of.cache_clear()

    def there(paths: Iterable[Path]) -> list[Path]:
        return [root / path.resolve().relative_to(sources.ROOT) for path in paths]

    known = Sources(KNOWN, there(_cache._WITHOUT), root)
    found = {}
    for kernel in entry_points.ALL:
        whole, alone, values = _cache._made_of(kernel.source.entry)
        found[kernel.name] = [known.digest(there(whole)), *(known.syntax(path)[0] for path in there(alone)), *values]
    return found


def comment(text: str) -> str:
    lines = text.splitlines()
    return "\n".join(["# a comment", *(f"{line}  # said" if line.endswith(")") else line for line in lines), ""])


def docstring(text: str) -> str:
    return re.sub(r'"""(.+?)"""', r'"""In other words: \1"""', text, flags=re.DOTALL)


def code(text: str) -> str:
    return f"{text}\n_ANOTHER = 1\n"


def changed(copy: Path, path: Path, change: Callable[[str], str]) -> set[str]:
    """The kernels that are compiled again when a file of the package is changed."""
    before = digests(copy)
    file = copy / path
    text = file.read_text()
    file.write_text(change(text))
    assert file.read_text() != text
    now = digests(copy)
    return {name for name in before if before[name] != now[name]}


@pytest.mark.parametrize("change", [comment, docstring])
def test_words_compile_nothing(copy: Path, change: Callable[[str], str]) -> None:
    for path in parts():
        text = (copy / path).read_text()
        (copy / path).write_text(change(text))
        assert (copy / path).read_text() != text
    assert digests(copy) == digests(sources.ROOT)


def test_of_a_kernel_compiles_what_is_made_of_it(copy: Path) -> None:
    kernel = entry_points.energy_regressors
    found = changed(copy, part_of(kernel, "energy_regressors.py"), code)
    assert kernel.name in found
    assert not found & {entry_points.rnea.name, entry_points.aba.name, entry_points.contacts.name}


def test_of_what_all_are_made_of_compiles_all(copy: Path) -> None:
    every = {kernel.name for kernel in entry_points.ALL}
    assert changed(copy, part_of(entry_points.rnea, "jit.py"), code) == every


def test_most_modules_are_part_of_few_kernels() -> None:
    """That few wait for a change: no module that many are made of imports what only some of them need."""
    count = collections.Counter(path for kernel in entry_points.ALL for path in parts_of(kernel))
    assert statistics.median(count.values()) <= 6


@pytest.mark.parametrize("path", OTHERS, ids=str)
def test_of_what_lists_and_keeps_them_compiles_nothing(copy: Path, path: Path) -> None:
    assert changed(copy, path, code) == set()


def test_a_module_in_another_package_and_in_its_parents_counts(tmp_path: Path) -> None:
    for name, text in {
        "above.py": "A = 1", "one/__init__.py": "", "one/kernel.py": "from ..above import A\nfrom .two import part\n",
        "one/two/__init__.py": "from . import more", "one/two/part.py": "", "one/two/more.py": "", "one/other.py": "",
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    parts = Sources({}, (), tmp_path).parts([tmp_path / "one/kernel.py"])
    assert {str(path.relative_to(tmp_path)) for path in parts} == {
        "above.py", "one/__init__.py", "one/kernel.py", "one/two/__init__.py", "one/two/part.py", "one/two/more.py",
    }  # fmt: skip


MAKER = """
from module import far
from other import unused

def make(passes, *names):
    def door(x):
        return [passes(x), far(x), names, [here for _ in x]]
    return door

here = ("here", 3)
"""


def test_functions_that_enclose_others_are_made_of_these(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function made by another one: its own file says nothing of what it was given, and names what others need."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "maker.py").write_text(MAKER)
    for name in ("module", "other", "passes"):
        (tmp_path / f"{name}.py").write_text("def far(x):\n    return x\nunused = 1\n")
    maker, passes = importlib.import_module("maker"), importlib.import_module("passes")
    jit = Path(_cache.__file__).with_name("jit.py")  # it compiles all of them
    whole, alone, values = _cache._made_of(maker.make(passes.far, "a", "b"))
    assert set(whole) == {jit, tmp_path / "module.py", tmp_path / "passes.py"}
    assert alone == [tmp_path / "maker.py"]
    assert sorted(values) == ["'a'", "'b'", "'here'", "3"]
    assert _cache._made_of(passes.far) == ([jit, tmp_path / "passes.py"], [], [])


def test_files_younger_than_the_process(tmp_path: Path) -> None:
    """A process may have imported what stood there before: it keeps nothing under the name of what stands there now."""
    path = tmp_path / "module.py"
    path.write_text("")
    assert sources.written_meanwhile([path])
    assert not sources.written_meanwhile([Path(__file__)])


def test_what_was_read_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [sources.ROOT / path for path in sorted(parts())]
    first = Sources({}, _cache._WITHOUT)
    digest = first.digest(files)
    monkeypatch.setattr(sources, "syntax_of", lambda content: pytest.fail("parsed"))
    assert Sources(first.known, _cache._WITHOUT).digest(files) == digest
