"""What a change of the sources compiles again: nothing for words, of kernels those that are made of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import FunctionType

import pytest

from pin_clusters._engine import entry_points
from pin_clusters._engine.kernels.compiling import cache as _cache
from pin_clusters._engine.native import sources
from pin_clusters._engine.native.sources import Sources

pytestmark = pytest.mark.jitless


def source_of(kernel: entry_points.Kernel) -> Path:
    entry = kernel.source.entry
    assert isinstance(entry, FunctionType)
    return Path(entry.__code__.co_filename).resolve().relative_to(sources.ROOT)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package's sources."""
    return Path(shutil.copytree(sources.ROOT, tmp_path / "copy", ignore=shutil.ignore_patterns("__pycache__", "built")))


KNOWN: dict[str, sources.Syntax] = {}


def digests(root: Path) -> dict[str, str]:
    """By kernel."""
    sources.content_of.cache_clear()
    without = [root / path.resolve().relative_to(sources.ROOT) for path in _cache._WITHOUT]
    found = Sources(KNOWN, without, root)
    return {kernel.name: found.digest([root / source_of(kernel)]) for kernel in entry_points.ALL}


def comment(text: str) -> str:
    lines = text.splitlines()
    return "\n".join(["# a comment", *(f"{line}  # said" if line.endswith(")") else line for line in lines), ""])


def docstring(text: str) -> str:
    assert text.startswith('"""')
    return text.replace('."""', '. In other words."""')


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
    kernels = {source_of(kernel).parent for kernel in entry_points.ALL}
    for path in (path for folder in kernels for path in (copy / folder).rglob("*.py")):
        path.write_text(change(path.read_text()))
    assert changed(copy, source_of(entry_points.rnea), lambda text: f"# {change}\n{text}") == set()
    assert digests(copy) == digests(sources.ROOT)


def test_of_a_kernel_compiles_what_is_made_of_it(copy: Path) -> None:
    found = changed(copy, source_of(entry_points.energy_regressors), code)
    assert entry_points.energy_regressors.name in found
    assert not found & {entry_points.rnea.name, entry_points.aba.name, entry_points.contacts.name}


def test_of_what_all_are_made_of_compiles_all(copy: Path) -> None:
    assert changed(copy, Path(sources.__file__).resolve().relative_to(sources.ROOT), code) == set()
    (common,) = (path for path in Sources({}, _cache._WITHOUT).parts([sources.ROOT / source_of(entry_points.rnea)])
                 if path.name == "_jit.py")  # fmt: skip
    assert changed(copy, common.relative_to(sources.ROOT), code) == {kernel.name for kernel in entry_points.ALL}


@pytest.mark.parametrize("module", [*_cache._WITHOUT, Path(entry_points.__file__).with_name("compiling.py")],
                         ids=lambda path: path.name)  # fmt: skip
def test_of_what_lists_and_keeps_them_compiles_nothing(copy: Path, module: Path) -> None:
    assert changed(copy, module.resolve().relative_to(sources.ROOT), code) == set()


def test_of_something_else_compiles_nothing(copy: Path) -> None:
    assert changed(copy, Path("__init__.py"), code) == set()


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


def test_functions_that_enclose_others_are_made_of_these(tmp_path: Path) -> None:
    """A function made by another one: its own file says nothing of what it was given."""

    def outer(inner: Callable[[], int], names: tuple[str, ...]) -> Callable[[], object]:
        return lambda: (inner(), names)

    (tmp_path / "inner.py").write_text("def f():\n    return 1\n")
    space: dict[str, Callable[[], int]] = {}
    exec(compile((tmp_path / "inner.py").read_text(), str(tmp_path / "inner.py"), "exec"), space)
    files, values = _cache._made_of(outer(space["f"], ("a", "b")))
    assert set(files) == {Path(__file__), tmp_path / "inner.py"}
    assert sorted(values) == ["'a'", "'b'"]


def test_files_younger_than_the_process(tmp_path: Path) -> None:
    """A process may have imported what stood there before: it keeps nothing under the name of what stands there now."""
    path = tmp_path / "module.py"
    path.write_text("")
    assert sources.written_meanwhile([path])
    assert not sources.written_meanwhile([Path(__file__)])


def test_what_was_read_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [sources.ROOT / source_of(kernel) for kernel in entry_points.ALL]
    first = Sources({}, _cache._WITHOUT)
    digest = first.digest(files)
    monkeypatch.setattr(sources, "syntax_of", lambda content: pytest.fail("parsed"))
    assert Sources(first.known, _cache._WITHOUT).digest(files) == digest
