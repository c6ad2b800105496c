"""The pages of the documentation: examples give what they show, mechanisms have a page each, links lead somewhere."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import pin_clusters as pc

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(p for p in DOCS.rglob("*.md") if "_build" not in p.parts)
SHOWN = [p for p in PAGES if "\n>>> " in p.read_text(encoding="utf-8")]
MECHANISMS = sorted((DOCS / "mechanisms").glob("*.md"))
LIBRARY = sorted(n for n, c in vars(pc.Differential).items() if isinstance(c, type) and issubclass(c, pc.Differential))


def page_id(page: Path) -> str:
    return page.relative_to(DOCS).with_suffix("").as_posix()


def example(page: Path) -> str:
    """Return the interactive sessions of a page, as one."""
    blocks = re.findall(r"```python\n(>>> .*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return "\n".join(blocks)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page, marks=[pytest.mark.ci] * (page.stem not in ("getting-started", "from-pinocchio", "tutorial"))
        )
        for page in SHOWN
    ],
    ids=page_id,
)
def test_example_gives_what_it_shows(page: Path) -> None:
    code = example(page)
    assert code.count(">>> ") == page.read_text(encoding="utf-8").count("\n>>> "), (
        "an example in a block of another kind"
    )
    test = doctest.DocTestParser().get_doctest(code, {}, page_id(page), str(page), 0)
    told: list[str] = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*phi is called from Python", pc.PinClustersWarning)
        doctest.DocTestRunner(optionflags=flags, verbose=False).run(test, out=told.append)
    assert not told, "".join(told)


def test_the_menu_has_the_kinds_of_pages() -> None:
    menu = re.findall(r"^(.+) <(.+)>$", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    titles = "Tutorials, How-to guides, Explanation, Reference, Benchmarks, Development"
    assert ", ".join(title for title, _ in menu) == titles
    assert all((DOCS / f"{page}.md").is_file() for _, page in menu)


def test_each_page_is_in_one_contents_list() -> None:
    listed: list[str] = []
    for page in PAGES:
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            names = [line for line in block.splitlines() if line and not line.startswith(":")]
            names = [found[1] if (found := re.search(r"<(.+)>$", line)) else line for line in names]
            listed += [(page.parent / name).relative_to(DOCS).as_posix() for name in names]
    assert len(listed) == len(set(listed)), sorted(x for x in listed if listed.count(x) > 1)
    assert {page_id(page) for page in PAGES} - set(listed) == {"index"}


def test_addresses_that_were_lead_to_pages_that_are() -> None:
    for page in (DOCS / "moved").rglob("*.html"):
        targets = re.findall(r'(?:url=|href=")([^"#]+)\.html', page.read_text(encoding="utf-8"))
        assert len(targets) == 2, page
        folder = DOCS / page.parent.relative_to(DOCS / "moved")
        assert all((folder / f"{target}.md").is_file() for target in targets), page


def test_mechanism_pages_are_complete() -> None:
    for page in MECHANISMS:
        text = page.read_text(encoding="utf-8")
        assert page in SHOWN, page
        assert "ingular poses" in text, page
        if page.stem != "gears_and_belts":
            assert f"](drawings/{page.stem}.svg)" in text, page
            assert (DOCS / "drawings" / f"{page.stem}.py").is_file(), page
        contents = (DOCS / "mechanisms.md").read_text(encoding="utf-8")
        assert f"mechanisms/{page.stem}\n" in contents, f"{page} is not in the table of contents"


def test_every_mechanism_has_a_page() -> None:
    assert len(LIBRARY) == 8
    pages = {p.stem for p in MECHANISMS}
    assert {*LIBRARY, "loop", "rod", "four_bar", "slider_crank", "coupling", "gears_and_belts"} == pages
    for name in LIBRARY:
        assert f"pc.Differential.{name}(" in (DOCS / "mechanisms" / f"{name}.md").read_text(encoding="utf-8")


def test_every_drawing_is_used() -> None:
    used = {p.stem for p in MECHANISMS}
    assert {p.stem for p in (DOCS / "mechanisms" / "drawings").glob("*.svg")} == used - {"gears_and_belts"}
    text = "".join(p.read_text(encoding="utf-8") for p in DOCS.glob("*.md"))
    for drawing in (DOCS / "concepts").iterdir():
        assert f"](concepts/{drawing.name})" in text


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page_id(page)}: {link}"


def test_loop_page_lists_the_rows_of_each_kind() -> None:
    from pin_clusters.constraints.loop import KINDS

    symbols = ("t_x", "t_y", "t_z", "e_x", "e_y", "e_z")
    table = (DOCS / "mechanisms" / "loop.md").read_text(encoding="utf-8")
    for kind, (_, rows) in KINDS.items():
        listed = ", ".join(symbols[i] for i in rows)
        assert f"| `{kind}` | ${listed}$ |" in table, kind


def test_recipe_names_the_files_of_the_five_bar() -> None:
    recipe = (DOCS / "add-a-mechanism.md").read_text(encoding="utf-8")
    files = re.findall(r"^\| `(\S+)` \|", recipe, re.MULTILINE)
    assert len(files) == 12
    for name in files:
        text = (DOCS.parent / name).read_text(encoding="utf-8").lower()
        assert any(word in text for word in ("five_bar", "fivebar", "five-bar")), name


@pytest.mark.ci
def test_drawings_are_made_by_their_scripts(tmp_path: Path) -> None:
    command = [sys.executable, str(DOCS / "drawings" / "make.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for folder in ("mechanisms/drawings", "concepts"):
        assert {p.name for p in (tmp_path / folder).iterdir()} == {p.name for p in (DOCS / folder).iterdir()}
