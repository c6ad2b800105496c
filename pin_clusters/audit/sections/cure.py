"""What to use instead: values, their range, and lines for other simulators."""

from __future__ import annotations

import numpy as np

from .. import figures, snippets
from .._html import Child, Element, table, tag
from ..result import AuditResult
from ..verdict import percent
from .errors import ALIKE

_SMALL = 5e-3


def instead(result: AuditResult) -> Element | None:
    """Return the values that stand for the rotors."""
    r = result.reflected
    if not r.drives:
        return None
    loops = r.low is not None
    off = r.off_diagonal
    body: list[Child] = [tag("h2", "The best approximation"), tag("p", _best(result))]
    if loops:
        body += _range(result)
    units = "kg m² (kg for joints that slide)"
    caption = f"Armature to put into the joints, {units}"
    caption += ", with exact loops in the other simulator." if loops else ": the diagonal approximation."
    mujoco = snippets.joint_armature(r)
    extra = bool(snippets.tendons(r))
    head = ["joint", "armature", *(["of it, in the file"] if r.own else []), *(["beside tendons"] if extra else [])]
    rows: list[list[Child]] = []
    for name, x in r.armature.items():
        row: list[Child] = [name, f"{x:.6g}"]
        row += [f"{r.own.get(name, 0.0):.6g}"] if r.own else []
        row += [f"{mujoco.get(name, 0.0):.6g}"] if extra else []
        rows.append(row)
    if extra:
        caption += " Beside tendons: without the rotors that several joints turn, for which MuJoCo has tendons (below)."
    body.append(table(head, rows, caption, "Armature"))
    if off and not loops:
        body.append(
            table(
                ["pair of joints", "off the diagonal", "of the geometric mean of both"],
                [[f"{a} - {b}", f"{x:.6g}", f"{100.0 * x / _mean(result, a, b):.0f} %"] for (a, b), x in off.items()],
                f"What the block approximation adds, {units}: joints that turn a rotor together.",
                "Off-diagonal reflected inertia",
            )
        )
    return tag("section", body)


def _mean(result: AuditResult, a: str, b: str) -> float:
    r = result.reflected
    i, k = r.joints.index(a), r.joints.index(b)
    return float(np.sqrt(r.matrix[i, i] * r.matrix[k, k]))


def _best(result: AuditResult) -> str:
    v, r = result.verdict, result.reflected
    if r.low is not None:
        text = (
            "Reflected inertia, G(q)' I G(q), changes with the configuration here, so no constant armature on the "
            "independent joints is right. With the loops exact, armature on the joints that drive the rotors is "
            "constant; what it lacks is the motion of the rotors' carriers."
        )
        return (
            text if v.best else f"{text} On this motion that is above the threshold: only exact rotors are within it."
        )
    if v.best == "none":
        return "Even no armature is within the threshold on this motion; the values below are better still."
    if v.best == "diagonal":
        return "Diagonal armature with these values."
    if v.best == "block":
        return "Diagonal armature with these values, and the entries off the diagonal."
    if r.off_diagonal:
        return (
            "None that is constant: only exact rotors are within the threshold. The nearest is block armature: these "
            "values, and the entries off the diagonal."
        )
    return "None that is constant: only exact rotors are within the threshold. The nearest are these values."


def _range(result: AuditResult) -> list[Child]:
    """Return what loops do to the reflected inertia."""
    r = result.reflected
    if r.low is None or r.high is None or r.along is None:
        return []
    every = [(r.joints, r.matrix, r.low, r.high, r.along)]
    linked = {name for side in r.links for name in side.motors}
    every += [(s.joints, s.reference, s.low, s.high, s.along) for s in r.links]
    rows: list[list[Child]] = []
    turning: list[tuple[str, np.ndarray, float]] = []
    for joints, reference, low, high, along in every:
        for i, name in enumerate(joints):
            if name in linked:
                continue  # a motor reflects its own inertia to itself; what the links see is below
            for k in range(i, len(joints)):
                largest = float(max(abs(low[i, k]), abs(high[i, k])))
                scale = float(np.sqrt(reference[i, i] * reference[k, k]))
                if i != k and largest <= _SMALL * scale:
                    continue
                spread = 100.0 * float(high[i, k] - low[i, k]) / scale
                title = name if i == k else f"{name} - {joints[k]}"
                numbers = (low[i, k], reference[i, k], high[i, k])
                rows.append([title, *(_inertia(x, scale) for x in numbers), percent(spread)])
                if i == k and spread > 0.1:
                    turning.append((name, along[:, i, i], float(reference[i, i])))
    note = " Pairs of joints are entries off the diagonal." if any(" - " in str(row[0]) for row in rows) else ""
    if r.links:
        note += " Motors of differentials are left out: the joints of the links that they move see what is here."
    return [
        table(
            ["joint", "smallest", "reference pose", "largest", "range"],
            rows,
            "Reflected inertia along this motion, kg m² (kg for joints that slide); range as per cent of the value in "
            f"the reference pose.{note}",
            "Range of the reflected inertia",
        ),
        _ranges(result, turning) if turning else None,
    ]


def _inertia(value: float, scale: float) -> str:
    return f"{value:.6g}" if abs(value) > 1e-9 * scale else "0"


def _ranges(result: AuditResult, turning: list[tuple[str, np.ndarray, float]]) -> Element:
    distinct: list[tuple[str, np.ndarray, float]] = []
    for name, along, constant in sorted(turning, key=lambda x: -float(np.ptp(x[1])) / x[2]):
        if not any(np.allclose(along, other, rtol=ALIKE, atol=0.0) for _, other, _ in distinct):
            distinct.append((name, along, constant))
    shown = distinct[:5]
    names, entries = [x[0] for x in shown], [(x[1], x[2]) for x in shown]
    return tag(
        "figure",
        figures.over_range(result.study.time[result.reflected.samples], entries, names),
        tag("figcaption", "Diagonal entries along the motion, relative to the reference pose."),
    )


def lines(result: AuditResult) -> Element | None:
    """Return the lines for other simulators."""
    if not result.scripts:
        return None
    r = result.reflected
    found = snippets.tendons(r)
    body: list[Child] = [tag("h2", "In your simulator"), tag("h3", "MuJoCo")]
    if found:
        body.append(
            tag(
                "p",
                "A rotor that one joint turns is armature of that joint. A rotor that several joints turn is a fixed "
                "tendon with armature: it adds exactly J g' g to the mass matrix, the block approximation, and no "
                f"stiffness. Tendons have armature from MuJoCo {snippets.MUJOCO} on, mj_inverse from "
                f"{snippets.MUJOCO_INVERSE} on. Beside tendons, joints have the armature of the last column "
                "above.",
            )
        )
    else:
        reason = "Every rotor is turned by one joint"
        if snippets.cancelling(r):
            reason = (
                "Where two joints share rotors, one for their sum and one for their difference, the couplings cancel"
            )
        body.append(tag("p", f"{reason}, so armature of the joints is all there is to set."))
    if any(d.apart for d in found):
        names = ", ".join(d.rotor for d in found if d.apart)
        body.append(
            tag(
                "p",
                tag("strong", "Not all of it arrives: "),
                f"the joints that turn {names} are on different branches, and MuJoCo (tried up to 4.0.0) leaves "
                "the entries of the mass matrix between branches out. Only their diagonal part is added.",
            )
        )
    body += [
        tag(
            "p",
            "The links must have the rotors' mass: rotors that are bodies of a file stay in it, without their joints. "
            "The values replace armature that the model has.",
        ),
        tag("pre", tag("code", result.scripts["mujoco_xml"]), tabindex="0", aria_label="MJCF"),
        tag(
            "details",
            tag("summary", "The same from Python, with mujoco.MjSpec"),
            tag("pre", tag("code", result.scripts["mujoco_python"]), tabindex="0", aria_label="Python for MuJoCo"),
        ),
        tag("h3", "Pinocchio"),
        tag("pre", tag("code", result.scripts["pinocchio"]), tabindex="0", aria_label="Python for Pinocchio"),
        tag("h3", "Exact"),
        tag(
            "p",
            "The rotors themselves cost about as much as armature: ",
            tag("code", "pc.rnea"), ", ", tag("code", "pc.aba"), " and ", tag("code", "pc.crba"),
            " take the same arguments as Pinocchio's.",
        ),
    ]  # fmt: skip
    return tag("section", body)
