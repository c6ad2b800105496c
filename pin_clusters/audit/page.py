"""The page: verdict, worst joints, reasons, what to use instead, method."""

from __future__ import annotations

from collections.abc import Callable

from ._html import Element, document, tag
from ._style import CSS
from .result import AuditResult
from .sections import cure, errors, method, simulation

SECTIONS: tuple[Callable[[AuditResult], Element | None], ...] = (
    errors.where,
    errors.over_time,
    errors.why,
    simulation.section,
    cure.instead,
    cure.lines,
    method.method,
)


def page(result: AuditResult) -> str:
    """Return the whole page as text.

    It needs no network and no JavaScript, and follows the reader's light or dark theme.

    Args:
        result: What ``run`` returned.
    """
    heading = f"Is armature enough for {result.robot}?"
    if result.verdict.asked == "frozen":
        heading = f"Is a constant coupling enough for {result.robot}?"
    root = tag(
        "html",
        tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("title", heading),
            tag("meta", name="description", content=result.verdict.sentence),
            tag("style", CSS),
        ),
        tag(
            "body",
            tag("header", tag("h1", heading), errors.verdict(result), errors.cards(result)),
            tag("main", [section(result) for section in SECTIONS]),
            method.footer(result),
        ),
        lang="en",
    )
    return document(root)
