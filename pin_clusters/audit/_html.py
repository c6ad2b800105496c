"""HTML from the standard library's element trees: escaping and closing tags are not ours to get wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree

Element = ElementTree.Element
Child = Element | str | None


def _joined(text: str) -> str:
    return re.sub(r"(?<=\d) (?=%|N\b|kg\b|s\b|Hz\b)", "\u00a0", text).replace("N m", "N\u00a0m")


def tag(name: str, /, *children: Child | Iterable[Child], **attributes: str | None) -> Element:
    """Return an element.

    Args:
        name: Of the tag.
        children: Elements and text; None is left out, lists are taken apart.
        attributes: ``class_`` is class, ``aria_label`` is aria-label; None is left out.
    """
    element = Element(name, {k.rstrip("_").replace("_", "-"): v for k, v in attributes.items() if v is not None})
    for child in _flat(children):
        if isinstance(child, str):
            if len(element):
                element[-1].tail = (element[-1].tail or "") + child
            else:
                element.text = (element.text or "") + child
        else:
            element.append(child)
    return element


def _flat(children: Iterable[Child | Iterable[Child]]) -> Iterable[Element | str]:
    for child in children:
        if isinstance(child, (str, Element)):
            yield child
        elif child is not None:
            yield from _flat(child)


Head = Sequence[str | tuple[str, list[str]]]


def table(head: Head, rows: list[list[Child]], caption: str, label: str) -> Element:
    """Return a table that scrolls inside itself; the first column are the names of the rows.

    Args:
        head: Of the columns; with a list, of a group of columns and of each of them.
        rows: Cells.
        caption: What it shows, with units.
        label: For those who hear the page.
    """
    deep = any(not isinstance(h, str) for h in head)
    first, second = [], []
    for h in head:
        if isinstance(h, str):
            first.append(tag("th", h, scope="col", rowspan="2" if deep else None))
        else:
            first.append(tag("th", h[0], scope="colgroup", colspan=str(len(h[1])), class_="group"))
            second += [tag("th", name, scope="col") for name in h[1]]
    body = [tag("tr", tag("th", row[0], scope="row"), [tag("td", cell) for cell in row[1:]]) for row in rows]
    return tag(
        "div",
        tag(
            "table",
            tag("caption", tag("span", caption)),
            tag("thead", tag("tr", first), tag("tr", second) if deep else None),
            tag("tbody", body),
        ),
        class_="scroll", role="region", aria_label=label, tabindex="0",
    )  # fmt: skip


_SYMBOLS = (
    ("sum_r ", "\u03a3_r "), ("^2", "\u00b2"), ("s.alpha", "s\u00b7\u03b1"), ("w x J", "\u03c9 \u00d7 J"),
    ("Gdot", "\u0120"),
)  # fmt: skip


def formula(text: str) -> list[Child]:
    """Return text with the symbols and indices of formulas as they are printed, not as they are typed."""
    for typed, printed in _SYMBOLS:
        text = text.replace(typed, printed)
    pieces = re.split(r"(?<=\w)_([A-Za-z0-9]{1,2})(?![A-Za-z0-9_])", text)
    return [tag("sub", piece) if i % 2 else piece for i, piece in enumerate(pieces)]


def document(root: Element) -> str:
    """Return a whole page as text; numbers stay on the line of their unit."""
    scripts = {id(e) for name in ("pre", "style") for found in root.iter(name) for e in found.iter()}
    for e in root.iter():
        if e.text and id(e) not in scripts:
            e.text = _joined(e.text)
        if e.tail:
            e.tail = _joined(e.tail)
    return "<!DOCTYPE html>\n" + ElementTree.tostring(root, encoding="unicode", method="html") + "\n"
