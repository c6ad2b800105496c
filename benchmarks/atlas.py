"""The atlas: runs it, and puts its table, findings and picture into docs/atlas.md.

Usage: python benchmarks/atlas.py --files FOLDER ...  (some minutes; writes results/atlas.json, docs/atlas.md and
docs/figures/atlas.png; without --files it takes the results that are there; --check changes nothing, and tells by its
exit code whether the page is out of date)
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

from report import fill
from report_loops import markdown

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "atlas.json"
PAGE = ROOT / "docs" / "atlas.md"
FIGURE = ROOT / "docs" / "figures" / "atlas.png"
Robots = dict[str, dict[str, Any]]


def worst(judged: dict[str, Any], motion: str = "sine") -> tuple[str, float]:
    """Return the joint at which a set is worst, and its error, [%]."""
    return max(judged["percent"].get(motion, {}).items(), key=lambda x: round(x[1], 9), default=("", math.nan))


def sets(robot: dict[str, Any], name: str = "published") -> list[dict[str, Any]]:
    """Return what was found of published sets, or of ``none``, ``right armature``, ``block armature``."""
    return [j for j in robot["judged"] if j["name"] == name]


def title(robot: dict[str, Any]) -> str:
    """Return the robot in few words."""
    return str(robot["robot"]).split(",")[0].split(" (")[0]


def two(x: float) -> str:
    """Return a number with two digits."""
    return "" if math.isnan(x) else f"{x:.0f}" if x >= 99.5 else f"{x:.2g}"


def span(low: float, high: float) -> str:
    """Return how quotients read."""
    return f"{low:.2g}" if high - low < 0.01 else f"{low:.2g} to {high:.2g}"


def table(robots: Robots) -> str:
    """Return a row per robot."""
    rows = []
    for name, r in robots.items():
        if not r["judged"]:
            rows.append([f"{title(r)} (`{name}`)", r["state"], *[""] * 6])
            continue
        found = sets(r)
        shown = max(found, key=lambda j: worst(j)[1], default=None)
        quotient = span(min(j["low"] for j in found), max(j["high"] for j in found)) if found else "none published"
        errors = [worst(shown)[1] if shown else math.nan]
        errors += [worst(j)[1] for x in ("none", "right armature") for j in sets(r, x)]
        errors += [worst(j)[1] for j in sets(r, "block armature")] or [math.nan]
        push = max(shown["inertia"].values()) if shown and shown["inertia"] else math.nan
        rows.append([f"{title(r)} (`{name}`)", quotient, *map(two, [*errors, push]), ", ".join(r["sure"])])
    head = ["robot", "published over right", "published [%]", "none [%]", "right armature [%]", "block armature [%]"]
    return markdown([*head, "inertia at ends, published [%]", "numbers by"], rows)


def by_set(robot: dict[str, Any], joint: str) -> str:
    """Return a table of the published sets of a robot: quotient, and errors at the worst joint and at one."""
    rows = []
    for j in sets(robot):
        at, most = worst(j)
        of = two(j["percent"]["sine"].get(joint, math.nan))
        push = max(j["inertia"].values(), default=math.nan)
        where = j["where"].replace("|", "/")
        rows.append([where, span(j["low"], j["high"]), f"{two(most)} (`{at}`)", of, two(push)])
    head = ["published in", "over right", "worst joint [%]", f"`{joint}` [%]", "inertia at ends [%]"]
    return markdown(head, rows)


def findings(robots: Robots) -> str:
    """Return what makers may wish to know, with the numbers."""
    g1, talos, kangaroo, t1 = (robots[n] for n in ("unitree_g1", "pal_talos", "pal_kangaroo", "booster_t1"))
    h12, berkeley, icub, tiago = (robots[n] for n in ("unitree_h1_2", "berkeley_humanoid", "icub", "pal_tiago_pro"))
    go1, duck = robots["unitree_go1"], robots["open_duck_mini_v2"]
    lines = []
    for x in g1["joints"]:
        (ratio, inertia), *others = x["turns"]
        mjlab = next(p for p, j in zip(x["published"], sets(g1), strict=True) if "mjlab" in j["where"])
        motors = f"{1 + len(others)} x " if others else ""
        numbers = [f"{x['first']:.3g}", f"{x['total']:.3g}", f"{mjlab:.3g}", f"{100 * x['first'] / x['total']:.1f}"]
        lines.append([f"`{x['joints'][0]}`", f"{motors}{ratio:.4g}", f"{inertia:.3g}", *numbers])
    head = [
        "joint (and those alike)",
        "ratio",
        "rotor [kg m^2]",
        "ratio^2 J",
        "all stages",
        "published",
        "rotor's part [%]",
    ]
    stages = markdown(head, lines)

    def right(r: dict[str, Any]) -> str:
        return two(worst(sets(r, "right armature")[0])[1])

    def one(r: dict[str, Any], k: int = 0) -> str:
        joint, percent = worst(sets(r)[k])
        return f"{two(percent)} % of the peak torque at `{joint}`"

    knee = sets(talos)[0]["percent"]["sine"]["leg_left_4_joint"]
    copy = next(j for j in sets(berkeley) if j["low"] < 0.9)
    block = two(worst(sets(icub, "block armature")[0])[1])
    low, high, hand, leg = sets(g1)[0]["low"], sets(g1)[0]["high"], one(kangaroo), one(tiago)
    times = ", ".join(f"{j['low']:.2g}" for j in sets(duck))
    used = "; ".join(span(j["low"], j["high"]) for j in sets(go1))
    at, most = worst(copy)
    return f"""### Unitree G1: the maker's numbers, explained by stages

The armature that the maker's numbers give, in mjlab and others, is the sum over the stages of each gear, to three
digits; the rotor itself is 98.5 to 100 % of it. The value 0.01 for all joints, which other files have, is
{low:.2g} to {high:.2g} times that, and costs {one(g1)}.

{stages}

### PAL: 1 % of the reflected inertia (TALOS), 5 % (Kangaroo, TIAGo Pro)

The public training files multiply `ratio^2 J` of the same file by 0.01 and 0.05; why is not said there. In torque that
costs TALOS {one(talos)} ({two(knee)} % at its knee), Kangaroo {hand}, and TIAGo Pro {leg}.
With all of `ratio^2 J`, {right(talos)}, {right(kangaroo)} and {right(tiago)} % are left at their worst joints. A policy
may be robust to that; a torque that is fed forward is not. TALOS's head is not scaled, and so has five times the
armature of its knee.

### Booster T1: six sets, six errors

{by_set(t1, "Left_Knee_Pitch")}

The first, the maker's newest, is right by construction, but for the head: rotors here are it over the square of the
ratios of the last. Then 0.005, 0 and 0.01 for all joints.

### Unitree H1-2: three values in public

{by_set(h12, "left_knee_joint")}

### Berkeley Humanoid: one number lost on the way

The makers' own file has the right number for each joint. In the copy for MuJoCo the knee has 0.0056 in place of
1.5e-4 * 81 = 0.01215 kg m^2, {copy["low"]:.2g} of it, which costs {two(most)} % of the peak torque at `{at}`.

### iCub: armature is not enough

Three motors turn torso and shoulders together. Even the right diagonal armature is {right(icub)} % of the peak torque
off there; block armature, which knows what the joints share, {block} %.

### Open Duck Mini, Unitree Go1: several values in use

Of one servo there are {times} times what was measured, in three files of the project; the last costs
{one(duck, len(sets(duck)) - 1)}. For Go1 there are {used} times the number that the maker's rotor and gear give;
the second costs {one(go1, 1)}."""


def figure(robots: Robots) -> Any:
    """Draw the error with published armature and with the right one, robot by robot."""
    from matplotlib.figure import Figure

    known = [r for r in robots.values() if r["judged"]][::-1]
    drawn = Figure(figsize=(8.6, 0.29 * len(known) + 1.3), layout="constrained")
    axes = drawn.add_subplot()
    red, blue = {"color": "#d55e00", "markersize": 8}, {"color": "#0072b2", "markersize": 7}
    for k, r in enumerate(known):
        right, published = worst(sets(r, "right armature")[0])[1], [worst(j)[1] for j in sets(r)]
        far = max([right, *published])
        if published:
            axes.plot([right, far], [k, k], color="#d55e00", linewidth=5, alpha=0.35, solid_capstyle="butt")
            axes.plot(max(published), k, "o", **red)
        text, colour = (f"{two(max(published))} %", "#a04000") if published else ("nothing published", "#777777")
        axes.annotate(text, (far, k), (9, 0), textcoords="offset points", va="center", fontsize=9, color=colour)
        axes.plot(right, k, "s", **blue)
    axes.plot([], [], "o", **red, label="published armature, the worst")
    axes.plot([], [], "s", **blue, label="armature that gears and rotors make")
    axes.set_yticks(range(len(known)), [title(r) for r in known])
    axes.set(xscale="log", xlim=(0.3, 2000), ylim=(-0.7, len(known) - 0.3))
    axes.set_xticks([1, 10, 100, 1000], ["1 %", "10 %", "100 %", "1000 %"])
    axes.set_xlabel("torque that is wrong at the worst joint, of its peak, along the same motion")
    axes.set_title("How wrong is the armature that is published?", loc="left", fontweight="bold")
    axes.grid(axis="x", color="#dddddd")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower right", frameon=True)
    return drawn


def main() -> int:
    """Write results, page and picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", nargs="+", type=Path, help="folders of checkouts, as of pin-clusters atlas")
    parser.add_argument("--check", action="store_true", help="change nothing")
    options = parser.parse_args()
    if options.files:
        from pin_clusters.studies import atlas

        result = atlas.run(folders=options.files)
        RESULTS.write_text(json.dumps(result.as_dict(), indent=1) + "\n", encoding="utf-8")
    robots: Robots = json.loads(RESULTS.read_text(encoding="utf-8"))["robots"]
    before = PAGE.read_text(encoding="utf-8")
    known = sum(bool(r["judged"]) for r in robots.values())
    count = f"{known} robots with numbers, {len(robots) - known} of which too little is public."
    after = fill(fill(fill(before, "atlas", table(robots)), "findings", findings(robots)), "count", count)
    if options.check:
        return int(after != before)
    PAGE.write_text(after, encoding="utf-8")
    figure(robots).savefig(FIGURE, dpi=110, metadata={"Software": None})
    return 0


if __name__ == "__main__":
    sys.exit(main())
