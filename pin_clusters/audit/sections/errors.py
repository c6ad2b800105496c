"""Verdict, errors of all joints, and what they are made of."""

from __future__ import annotations

import numpy as np

from ...study.decomposition import PART_LABELS
from .. import figures
from .._html import Child, Element, Head, formula, table, tag
from ..result import AuditResult
from ..verdict import EXACT, label, number, percent

ALIKE = 1e-6
"""Numbers that differ by less, relatively, are those of mirror images."""
_MANY = 12
_SMALL = 5e-3


def verdict(result: AuditResult) -> Element:
    """Return the answer."""
    v = result.verdict
    return tag(
        "div",
        tag("p", "Yes, on this motion" if v.enough else "No", class_="answer"),
        tag("p", v.sentence),
        tag("p", v.advice),
        tag("p", _simulated(result)),
        class_="verdict yes" if v.enough else "verdict",
    )


def _simulated(result: AuditResult) -> str:
    """Say what the approximation that is asked about does to accelerations."""
    forward, asked = result.simulated.forward, result.verdict.asked
    joints = {result.study.joints[k] for k in result.study.actuated}
    errors = {
        name: float(x) for name, x in zip(forward.names, forward.relative[asked], strict=True)
        if name in joints and np.isfinite(x)
    }  # fmt: skip
    worst = max(errors, key=lambda name: round(errors[name], 9), default="")
    if not worst or 100.0 * errors[worst] < EXACT:
        return ""
    return (
        f"In a simulation under the exact torques the accelerations of {label(asked)} are off by up to "
        f"{percent(100.0 * errors[worst])} (RMS, at {worst})."
    )


def cards(result: AuditResult) -> Element:
    """Return the few numbers that matter most."""
    v = result.verdict
    found = [
        (percent(w.percent), f"{label(rung)}: worst joint, {w.joint}") for rung, w in v.worst.items()
    ]  # fmt: skip
    found.append(
        (f"{len(v.above)} of {len(result.study.actuated)}", f"joints above {v.threshold:g} % ({label(v.asked)})")
    )
    return tag("ul", [tag("li", tag("b", number), tag("span", text)) for number, text in found], class_="cards")


def where(result: AuditResult) -> Element:
    """Return the errors of all joints, worst first."""
    study, order = result.study, result.order
    few = order[:_MANY] if len(order) > _MANY + 3 else order
    body: list[Child] = [
        tag("h2", "Where it errs"),
        tag(
            "div",
            tag("figure", figures.dots(study, result.verdict.threshold, order)),
            tag("div", [tag("p", text) for text in _reading(result)]),
            class_="plots",
        ),
        _joints(result, few, "The worst joints" if len(few) < len(order) else "All joints, the worst first"),
    ]
    if len(few) < len(order):
        rest = order[_MANY:]
        body.append(
            tag("details", tag("summary", f"The other {len(rest)} joints"), _joints(result, rest, "The other joints"))
        )
    return tag("section", body)


def _reading(result: AuditResult) -> list[str]:
    """Return how to read the dots."""
    v = result.verdict
    found = [
        "A dot is the RMS of approximate minus exact torque over the motion, as per cent of the joint's own peak "
        f"torque. Right of the line it is above the threshold of {v.threshold:g} %."
    ]
    if v.asked == "diagonal":
        found.append(
            "Without armature the rotors do not count at all. Diagonal armature, which most simulators have, gives "
            "each joint the inertia that its rotors reflect. Block armature adds what joints share that turn a rotor "
            "together: belts, differentials. None of them knows that the bodies that carry the rotors move."
        )
    elif v.asked == "armature":
        found.append(
            "Unconstrained and frozen leave the loops out or fix their ratios; no rotor and armature have exact loops "
            "and differ in the rotors."
        )
    return found


def _joints(result: AuditResult, order: list[int], caption: str) -> Element:
    study, share = result.study, result.percent
    if study.loops:  # on a phone the first columns are what is seen
        share = dict(reversed(share.items()))
    peak = study.peak_error
    rms = study.rms_error
    names = [label(r) for r in share]
    head: Head = [
        "joint", ("RMS, % of the peak torque", names), f"peak torque [{_unit(result)}]",
        (f"RMS [{_unit(result)}]", names), (f"largest [{_unit(result)}]", names),
    ]  # fmt: skip
    rows: list[list[Child]] = []
    for k in order:
        row: list[Child] = [study.joints[k], *(_share(x[k], result.verdict.threshold) for x in share.values())]
        row.append(number(study.max_exact[k]))
        for values in (rms, peak):
            # rounding is no error
            row += ["0" if share[rung][k] < EXACT else number(values[rung][k]) for rung in share]
        rows.append(row)
    text = f"{caption}: error of the torque, its RMS and its largest magnitude; bold is above the threshold."
    return table(head, rows, text, caption)


def _unit(result: AuditResult) -> str:
    kinds = {result.study.units[k] for k in result.study.actuated}
    return kinds.pop() if len(kinds) == 1 else "N m, N"


def _share(value: float, threshold: float) -> Child:
    text = percent(float(value))
    return tag("strong", text, class_="over") if value > threshold else text


def distinct(result: AuditResult, count: int) -> list[tuple[int, list[str]]]:
    """Return the worst joints, without those that repeat the numbers of another one, such as its mirror image."""
    study = result.study
    numbers = np.array([*study.rms_error.values()])
    found: list[tuple[int, list[str]]] = []
    for k in result.order:
        twin = next(
            (names for i, names in found if np.allclose(numbers[:, i], numbers[:, k], rtol=ALIKE, atol=0.0)), None
        )
        if twin is not None:
            twin.append(study.joints[k])
        elif len(found) < count:
            found.append((k, []))
    return found


def over_time(result: AuditResult) -> Element:
    """Return torques and errors of the worst joints."""
    shown = distinct(result, 4)
    pictures = []
    for n, (k, twins) in enumerate(shown):
        caption = f"{result.study.joints[k]}: exact and approximate torque above, approximate minus exact below."
        if twins:
            caption += f" The same errors: {', '.join(twins)}."
        pictures.append(
            tag("figure", figures.torque(result.study, k, f"torque{n}"), tag("figcaption", caption))
        )  # fmt: skip
    return tag("section", tag("h2", "The worst joints over time"), tag("div", pictures, class_="plots"))


def why(result: AuditResult) -> Element | None:
    """Return what the error is made of."""
    found, asked = result.why, result.verdict.asked
    shown = [
        (k, twins) for k, twins in distinct(result, 6) if result.percent[asked][k] > EXACT
    ]  # fmt: skip
    if not shown:
        return None
    names = [result.study.joints[k] for k, _ in shown]
    columns = [found.names.index(name) for name in names]
    used = [p for p in found.parts if np.any(np.abs(found.share[p][columns]) > _SMALL)]
    shares = 100.0 * np.array([[found.share[p][c] for p in used] for c in columns])
    head: Head = ["joint", *used]
    rows: list[list[Child]] = [
        [name, *(f"{x:.0f} %" if abs(x) >= 0.5 else "0" for x in row)] for name, row in zip(names, shares, strict=True)
    ]
    main = int(np.argmax(shares[0]))
    listed: list[Child] = []
    for part in used:
        listed += [tag("dt", part), tag("dd", formula(PART_LABELS[part]))]
    return tag(
        "section",
        tag("h2", "Why"),
        tag(
            "div",
            tag("figure", figures.parts(used, names, shares, asked)),
            tag(
                "div",
                tag(
                    "p",
                    f"What {label(asked)} leaves out, each part from its own formula. At {names[0]}, "
                    f"{shares[0][main]:.0f} % of the squared error is the part \"{used[main]}\".",
                ),
                tag("dl", listed),
            ),
            class_="plots",
        ),
        table(
            head, rows, "Share of each part in the squared error of a joint, <part, error> / <error, error>. The "
            "shares of a row add up to 100 %; a negative one makes the error smaller.", "Shares of the error",
        ),
    )  # fmt: skip
