"""Create pages from HTML templates in Mustache syntax; the templates are stored as package data.

``{{name}}`` inserts a value, which is escaped unless it is ``Html``. A block ``{{#name}}...{{/name}}`` is repeated for
each entry of a list; ``{{.}}`` inserts the entry. If ``name`` is a mapping, the block appears once with its values.
Any other true value also shows the block once. ``{{^name}}...{{/name}}`` is shown if the value is false or empty.
Blocks with the same name cannot be nested. Line breaks next to tags are removed; other line breaks become spaces.
"""

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib import resources
from typing import Any

import pinocchio as pin

from ..._support.version import __version__

_PLACE = re.compile(r"\{\{([#^])(\w+)\}\}(.*?)\{\{/\2\}\}|\{\{(\w+|\.)\}\}", re.DOTALL)
_BREAK = re.compile(r"(?:(?<=>)|(\{\{[#^/]\w+\}\}))\s*\n\s*|\s*\n\s*(?=<|\{\{[#^/])")
_UNJOINED = re.compile(r"(<(pre|style)\b.*?</\2>|<[^>]*>)", re.DOTALL)
_UNIT = re.compile(r"(?<=\d) (?=%|N\b|kg\b|s\b|Hz\b)")
_SYMBOLS = (
    ("sum_r ", "\u03a3_r "),
    ("^2", "\u00b2"),
    ("s.alpha", "s\u00b7\u03b1"),
    ("w x J", "\u03c9 \u00d7 J"),
    ("Gdot", "\u0120"),
)
Head = Sequence[str | tuple[str, list[str]]]


class Html(str):
    """HTML text, which ``fill`` inserts without escaping."""


class Words(str):
    """Text of a table cell that may be broken into lines."""


def fill(template: str, values: Mapping[str, Any]) -> Html:
    """Insert values into a template; names of inner mappings take precedence over outer names."""

    def put(found: re.Match[str]) -> str:
        kind, block, inner, name = found.groups()
        if name:
            value = values[name]
            return value if isinstance(value, Html) else escape(str(value), quote=False).replace('"', "&quot;")
        value = values[block]
        if kind == "^":
            return "" if value else fill(inner, values)
        entries = value if isinstance(value, (list, tuple)) else [value] if value else []
        return "".join(fill(inner, {**values, **(x if isinstance(x, dict) else {".": x})}) for x in entries)

    return Html(_PLACE.sub(put, template))


@cache
def read(name: str, package: str = __package__) -> str:
    """Read a template from the folder of a package (default: this package), and remove its line breaks."""
    return re.sub(r"\s*\n\s*", " ", _BREAK.sub(lambda found: found[1] or "", text(name, package).strip()))


def text(name: str, package: str = __package__) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def page(command: str, package: str, values: dict[str, Any], name: str = "page.html") -> str:
    """Create the page of a command; ``values`` must contain ``heading``, ``sentence`` (description) and ``robot``."""
    common = {"css": Html("\n" + text("page.css")), "version": __version__, "pinocchio_version": pin.__version__}
    content = {"command": command, "content": fill(read(name, package), values)}
    filled = fill(read("frame.html"), common | values | content)
    return f"<!DOCTYPE html>\n{joined(filled)}\n"


def table(head: Head, rows: list[list[str]], caption: str, label: str) -> Html:
    """Create a table that scrolls horizontally; the first column contains the names of the rows.

    An entry (name, column names) of ``head`` is a group of columns. Screen readers announce ``label``.
    """
    groups = [(h, []) if isinstance(h, str) else h for h in head]
    below = [name for _, names in groups for name in names]
    return fill(
        read("table.html"),
        {
            "label": label,
            "caption": caption,
            "deep": bool(below),
            "below": [_breakable(name) for name in below],
            "head": [
                {"name": _breakable(name), "columns": len(names), "words": isinstance(name, Words)}
                for name, names in groups
            ],
            "rows": [{"name": row[0], "cells": [_cell(x) for x in row[1:]]} for row in rows],
        },
    )


def _cell(value: str) -> Html:
    if isinstance(value, Words):
        return Html(f'<td class="words">{_breakable(value)}</td>')
    return Html(f"<td>{value if isinstance(value, Html) else escape(value, quote=False)}</td>")


def _breakable(value: str) -> Html:
    """Allow line breaks after underscores."""
    return Html(escape(value, quote=False).replace("_", "_<wbr>"))


def number(x: float) -> str:
    """Format a number with three digits, without an exponent if possible."""
    if not math.isfinite(x):
        return "-" if math.isnan(x) else "∞" if x > 0.0 else "-∞"
    if abs(x) < 1e-9:
        return "0"
    return f"{x:.0f}" if 1e3 <= abs(x) < 1e6 else f"{x:.3g}"


def formula(typed: str) -> Html:
    """Format the symbols and indices of a formula as HTML."""
    for symbol, printed in _SYMBOLS:
        typed = typed.replace(symbol, printed)
    return Html(re.sub(r"(?<=\w)_([A-Za-z0-9]{1,2})(?![A-Za-z0-9_])", r"<sub>\1</sub>", escape(typed, quote=False)))


def joined(page: str) -> str:
    """Replace spaces between numbers and units by non-breaking spaces."""
    pieces = re.split(_UNJOINED, page)
    pieces[::3] = [_UNIT.sub("\u00a0", x).replace("N m", "N\u00a0m") for x in pieces[::3]]
    return "".join(x for i, x in enumerate(pieces) if i % 3 < 2)
