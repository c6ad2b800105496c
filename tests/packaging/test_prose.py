"""Plain English in README, docs, CONTRIBUTING and CHANGELOG: the rules that a program can check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.plain_english import RULES

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "examples/README.md")]
PAGES += sorted(p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts)
LONGEST = 42
"""Words of a sentence. A few sentences list things, and formulas count as words."""
QUOTED = ("Brief for", "raised floor")
"""Sentences with these words are quotations or use a word in its own meaning."""


def sentences(page: Path) -> Iterator[str]:
    """Yield the sentences of a page without code, formulas, tables, headings and generated blocks."""
    text = page.read_text(encoding="utf-8")
    for block in (r"```.*?```", r"<!-- generated.*?<!-- end -->", r"\$\$.*?\$\$", r"^\|.*?$", r"^#.*?$"):
        text = re.sub(block, " ", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`]*`", "X", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"^\s*([-*]|\d+\.)\s+", "\n\n", text, flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n", text):
        for sentence in re.split(r"(?<=[.!?:;])\s+(?=[A-Z0-9*±]|pin_clusters)", " ".join(paragraph.split())):
            if len(sentence.split()) >= 4 and not any(words in sentence for words in QUOTED):
                yield sentence


@pytest.mark.parametrize("rule", RULES)
def test_few_sentences_break_a_rule(rule: str) -> None:
    pattern, most = RULES[rule]
    every = [(page, sentence) for page in PAGES for sentence in sentences(page)]
    broken = [f"{page.relative_to(ROOT)}: {sentence}" for page, sentence in every if re.search(pattern, sentence)]
    assert len(broken) <= most / 100.0 * len(every), "\n".join(broken)


def test_no_sentence_is_endless() -> None:
    long = [f"{p.relative_to(ROOT)}: {s}" for p in PAGES for s in sentences(p) if len(s.split()) > LONGEST]
    assert not long, "\n".join(long)


def test_the_rules_find_what_they_forbid() -> None:
    bad = {
        "begins without a noun": "What the file lacks stands in a file beside it.",
        "clause without a noun": "One file contains what is missing in the other.",
        "that of, those of": "The numbers are those of the maker.",
        "code that tells or refuses": "A wrong size is refused with an error.",
        "bookish": "All but for one are exact.",
        "metaphor for code": "A kernel is put on its desk.",
    }
    for rule, sentence in bad.items():
        assert re.search(RULES[rule][0], sentence), rule
