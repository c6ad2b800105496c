"""The report as a page of Markdown: everything on it comes from the results."""

from collections.abc import Iterable, Sequence
from typing import Any

from ._part import CONFIRMED, CORRECTED, Part, Statement

_ABOUT = {"full": "a full run", "quick": "a quick run, for a first impression", "tiny": "a trial run"}
TITLE = "# The papers' tables and figures, measured here"
MISPRINTS = (
    ("Yamane and Nakamura, equation (16)", "$H_{J1,1}$", "$H_{J1,0}$"),
    ("Yamane and Nakamura, equation (38)", "a list that starts with link 1", "it starts with link 0, as chains do"),
    ("Yamane and Nakamura, equation (51)", r"$\gamma_N$", r"$\gamma_{JN}$"),
    ("Yamane and Nakamura, splitting of a link", "any share of its inertia",
     "no half may be left without inertia, or its matrix is singular"),
    ("Kroeg, Gattringer and Mueller, text beside Table 2", "30 % longer", "the numbers of the table are 52 % apart"),
    ("Chignoli et al., text beside Fig. 14", "the ankle", "the authors' script draws the knee"),
)  # fmt: skip
"""Where, what is printed, what is meant."""


def table(rows: Sequence[Iterable[str]], side: str = "---:") -> str:
    """Return a Markdown table; all columns but the first are right-aligned, or as their rule says."""
    head, *body = (list(row) for row in rows)
    lines = [head, ["---", *[side] * (len(head) - 1)], *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def where(results: dict[str, Any]) -> str:
    """Say where and when it was measured, and how."""
    m, effort = results["machine"], results["effort"]
    return (
        f"Measured on {m['cpu']}, {m['system']}, one thread, {m['lanes']} SIMD lanes; Python {m['python']}, "
        f"Pinocchio {m['pinocchio']}, Numba {m['numba']}, NumPy {m['numpy']}, pin_clusters {m['pin_clusters']} "
        f"(commit {m['commit']}); {m['date']}. {_ABOUT[effort['name']][0].upper()}{_ABOUT[effort['name']][1:]}: "
        f"{effort['repeats']} repeats of blocks of {1e3 * effort['block']:g} ms, all functions in alternation, "
        f"{sum(results['seconds'].values()):.0f} s in total."
    )


def markdown(results: dict[str, Any], parts: Iterable[Part], said: Sequence[Statement], pictures: str = "") -> str:
    """Return the page without its title.

    Args:
        results: What ``run`` returned.
        parts: All parts; those that are in the results are shown.
        said: Statements with their verdicts.
        pictures: What stands before the name of a picture's file.
    """
    count = {word: sum(s.verdict == word for s in said) for word in (CONFIRMED, CORRECTED)}
    text = [
        where(results),
        "Times are medians with their spread (half the distance of the quartiles). Ratios are medians over repeats "
        "that ran at the same moment. Published times are not compared, as processors and compilers differ, but "
        "percentages, ratios and orders of growth are. The verdicts are computed from the numbers beside them.",
        "## Statements",
        f"{len(said)} statements, {count[CONFIRMED]} confirmed, {count[CORRECTED]} corrected.",
        table([
            ("statement", "source", "measured", "verdict"),
            *((s.text, s.source, s.measured, f"**{s.verdict}**") for s in said),
        ], "---"),
    ]  # fmt: skip
    for part in parts:
        if part.key not in results["parts"]:
            continue
        found = results["parts"][part.key]
        text += [f"## {part.title}", part.timed]
        text += [f"![{part.title}]({pictures}{name}.png)" for name in part.figures]
        for head, rows in part.tables(found):
            text += [f"{head}:", table(rows)]
        text += part.says(found)
    text += [
        "## Misprints",
        "Found while the equations were programmed; what is meant is what the tests of this package hold to.",
        table([("where", "printed", "meant"), *MISPRINTS], "---"),
    ]
    return "\n\n".join(text)
