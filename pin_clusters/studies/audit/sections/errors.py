"""Show the verdict, the errors of all joints, and the causes of the errors."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from ...pages.alike import alike
from ...pages.template import Head, Html, formula, table
from ...study._samples import label
from ...study.decomposition import PART_LABELS
from ...study.report import EXACT
from .. import figures
from ..result import AuditResult
from ..verdict import number, percent

_MANY = 12  # maximum number of joints in the first table
_SMALL = 5e-3  # shares of the error below this value are omitted


def values(result: AuditResult) -> dict[str, Any]:
    v, study, order = result.verdict, result.study, result.order
    main = order[:_MANY] if len(order) > _MANY + 3 else order
    further = order[len(main) :]
    question = "a constant coupling" if v.asked == "frozen" else "armature"
    rms_errors = np.array([*study.rms_error.values()])
    # Group joints with equal errors, and sort the groups by error.
    groups = [[order[i] for i in group] for group in alike([rms_errors[:, k] for k in order])]
    return {
        "heading": f"Is {question} enough for {result.robot}?",
        "enough": v.enough,
        "answer": v.answer,
        "sentence": v.sentence,
        "advice": v.advice,
        "asked": label(v.asked),
        "purposes": [{"enough": x.enough, "sentence": x.sentence} for x in v.lines.values()],
        "exercised": result.exercised.sentence,
        "threshold": f"{v.torque.threshold:g}",
        "limits": ", ".join(f"{x.threshold:g} % for {name}" for name, x in v.lines.items()),
        "dots": figures.dots(study, v.torque.threshold, order),
        "about_armature": v.asked == "diagonal",
        "about_loops": v.asked == "armature",
        "joints": _joints(result, main, "The worst joints" if further else "All joints, sorted by error"),
        "others": {"count": len(further), "table": _joints(result, further, "The other joints")} if further else None,
        "torques": [
            {
                "joint": study.joints[k],
                "equal_joints": ", ".join(study.joints[i] for i in equal_joints),
                "picture": figures.torque(study, k, f"torque{n}"),
            }
            for n, (k, *equal_joints) in enumerate(groups[:4])
        ],
        "why": _why(result, [k for k, *_ in groups[:6]]),
    }


def _joints(result: AuditResult, order: list[int], caption: str) -> Html:
    study, share = result.study, result.percent
    if study.loops:  # a phone shows only the first columns, so the most accurate approximations come first
        share = dict(reversed(share.items()))
    names = [label(r) for r in share]
    kinds = {study.units[k] for k in study.actuated}
    unit = kinds.pop() if len(kinds) == 1 else "N m, N"
    head: Head = ["joint", ("RMS, % of the peak torque", names), f"peak torque [{unit}]"]
    units: Head = ["joint", (f"RMS [{unit}]", names), (f"largest [{unit}]", names)]
    rows, absolute = [], []
    for k in order:
        joint = study.joints[k]
        rows.append(
            [
                joint,
                *(_share(x[k], result.verdict.torque.threshold) for x in share.values()),
                number(study.max_exact[k]),
            ]
        )
        # Rounding errors are shown as 0.
        absolute.append(
            [joint]
            + [
                "0" if share[level][k] < EXACT else number(errors[level][k])
                for errors in (study.rms_error, study.peak_error)
                for level in share
            ]
        )
    # With loops, a single table would be wider than the page.
    text = f"{caption}: RMS torque error; bold values exceed the threshold."
    absolute_caption = f"{caption}: RMS and largest torque error."
    return Html(table(head, rows, text, caption) + table(units, absolute, absolute_caption, f"{caption}, in {unit}"))


def _share(value: float, threshold: float) -> str:
    text = percent(float(value))
    return Html(f'<strong class="over">{escape(text)}</strong>') if value > threshold else text


def _why(result: AuditResult, worst: list[int]) -> dict[str, Any] | None:
    decomposition, asked = result.why, result.verdict.asked
    names = [result.study.joints[k] for k in worst if result.percent[asked][k] > EXACT]
    if not names:
        return None
    columns = [decomposition.names.index(name) for name in names]
    used = [p for p in decomposition.parts if np.any(np.abs(decomposition.share[p][columns]) > _SMALL)]
    shares = 100.0 * np.array([[decomposition.share[p][c] for p in used] for c in columns])
    main = int(np.argmax(shares[0]))
    rows = [
        [name, *(f"{x:.0f} %" if abs(x) >= 0.5 else "0" for x in row)] for name, row in zip(names, shares, strict=True)
    ]
    caption = (
        "Share of each part in the squared error of a joint, <part, error> / <error, error>. The shares of a row add "
        "up to 100 %; a part with a negative share reduces the error."
    )
    return {
        "picture": figures.parts(used, names, shares, asked),
        "joint": names[0],
        "share": f"{shares[0][main]:.0f}",
        "part": used[main],
        "parts": [{"name": part, "formula": formula(PART_LABELS[part])} for part in used],
        "table": table(["joint", *used], rows, caption, "Shares of the error"),
    }
