"""Compute the atlas, and write its table, findings and figure to docs/atlas.md.

Usage: python benchmarks/atlas.py --files FOLDER ...  (some minutes; writes results/atlas.json, docs/atlas.md and
docs/figures/atlas.png). Without --files, the script uses the existing results. --check changes nothing and returns exit
code 1 if the page is out of date.
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
    """Return the joint with the largest error of a set, and that error, [%]."""
    return max(judged["percent"].get(motion, {}).items(), key=lambda x: round(x[1], 9), default=("", math.nan))


def sets(robot: dict[str, Any], name: str = "published") -> list[dict[str, Any]]:
    """Return the results of the published sets, or of ``none``, ``right armature`` or ``block armature``."""
    return [j for j in robot["judged"] if j["name"] == name]


def title(robot: dict[str, Any]) -> str:
    """Return a short name of the robot."""
    return str(robot["robot"]).split(",")[0].split(" (")[0]


def two(x: float) -> str:
    """Return a number with two digits."""
    return "" if math.isnan(x) else f"{x:.0f}" if x >= 99.5 else f"{x:.2g}"


def span(low: float, high: float) -> str:
    """Return a range of quotients as text."""
    return f"{low:.2g}" if high - low < 0.01 else f"{low:.2g} to {high:.2g}"


def table(robots: Robots) -> str:
    """Return a row per robot."""
    rows = []
    for name, r in robots.items():
        if not r["judged"]:
            rows.append([f"{title(r)} (`{name}`)", r["state"], *[""] * 7])
            continue
        found = sets(r)
        shown = max(found, key=lambda j: worst(j)[1], default=None)
        quotient = span(min(j["low"] for j in found), max(j["high"] for j in found)) if found else "no published value"
        errors = [worst(shown)[1] if shown else math.nan]
        errors += [worst(j)[1] for x in ("none", "right armature") for j in sets(r, x)]
        errors += [worst(j)[1] for j in sets(r, "block armature")] or [math.nan]
        ends = [max(shown[x].values(), default=math.nan) if shown else math.nan for x in ("inertia", "touch")]
        rows.append([f"{title(r)} (`{name}`)", quotient, *map(two, [*errors, *ends]), ", ".join(r["sure"])])
    kinds = [f"{x} [%]" for x in ("published", "no armature", "correct armature", "block armature")]
    ends = ["inertia at hands and feet, published [%]", "touch-down, published [%]"]
    return markdown(["robot", "published / correct", *kinds, *ends, "source"], rows)


def by_set(robot: dict[str, Any], joint: str) -> str:
    """Return a table of the published sets of a robot: quotient, and errors at the worst joint and at a given joint."""
    rows = []
    for j in sets(robot):
        at, most = worst(j)
        of = two(j["percent"]["sine"].get(joint, math.nan))
        ends = [two(max(j[x].values(), default=math.nan)) for x in ("inertia", "touch")]
        where = j["where"].replace("|", "/")
        rows.append([where, span(j["low"], j["high"]), f"{two(most)} (`{at}`)", of, *ends])
    ends = ["inertia at hands and feet [%]", "touch-down [%]"]
    return markdown(["published in", "published / correct", "worst joint [%]", f"`{joint}` [%]", *ends], rows)


def listed(parts: list[str]) -> str:
    """Return the parts as an enumeration."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def findings(robots: Robots) -> str:
    """Return the text about published values, with the numbers."""
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
        "joint (and equal joints)",
        "ratio",
        "rotor [kg m^2]",
        "ratio^2 J",
        "all stages",
        "published",
        "rotor / all stages [%]",
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
    times = listed([f"{j['low']:.2g}" for j in sets(duck)])
    used = listed([span(j["low"], j["high"]) for j in sets(go1)])
    at, most = worst(copy)
    return f"""### Unitree G1: the values of the maker are sums over the gear stages

The armature values of the maker equal the sum of the reflected inertias of all gear stages to three digits. mjlab and
others use these values. The rotor contributes 98.5 to 100 % of the sum. Other files use 0.01 kg m^2 for all joints.
This value is {low:.2g} to {high:.2g} times the sum, and causes an error of {one(g1)}.

{stages}

### PAL: 1 % (TALOS) and 5 % (Kangaroo, TIAGo Pro) of the reflected inertia

The public training files multiply the reflected inertia `ratio^2 J` by 0.01 or 0.05 and give no reason. The torque
error is {one(talos)} for TALOS ({two(knee)} % at its knee), {hand} for Kangaroo, and
{leg} for TIAGo Pro. With the full `ratio^2 J`, the errors at the worst joints are {right(talos)}, {right(kangaroo)} and
{right(tiago)} %. A policy may be robust to such an error, but feed-forward torques are not.

### Booster T1: six sets of values

{by_set(t1, "Left_Knee_Pitch")}

The atlas takes the rotor inertias from the first set, the newest set of the maker. This set is therefore correct by
construction, except at the head. The second, third and fourth sets use 0.005, 0 and 0.01 kg m^2 for all joints.

### Unitree H1-2: three sets of values

{by_set(h12, "left_knee_joint")}

### Berkeley Humanoid: one wrong value in a copy

The file of the makers has correct values. The copy for MuJoCo has 0.0056 kg m^2 at the knee instead of
1.5e-4 * 81 = 0.01215 kg m^2. This is {copy["low"]:.2g} times the correct value, and causes an error of
{two(most)} % of the peak torque at `{at}`.

### iCub: armature is not enough

Three motors drive the joints of the torso together, and three motors drive each shoulder. There, correct diagonal
armature still has an error of {right(icub)} % of the peak torque. Block armature, which includes the coupling of the
joints, has an error of {block} %.

### Open Duck Mini and Unitree Go1: several values in use

Three files of the Open Duck project use {times} times the measured armature of the same servo. The last value
causes an error of {one(duck, len(sets(duck)) - 1)}. Three sets of values for Go1 are {used}
times the correct value. The second set causes an error of {one(go1, 1)}."""


def figure(robots: Robots) -> Any:
    """Draw the errors of published and of correct armature for each robot."""
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
        text, colour = (f"{two(max(published))} %", "#a04000") if published else ("no published value", "#777777")
        axes.annotate(text, (far, k), (9, 0), textcoords="offset points", va="center", fontsize=9, color=colour)
        axes.plot(right, k, "s", **blue)
    axes.plot([], [], "o", **red, label="published armature, worst set")
    axes.plot([], [], "s", **blue, label="correct armature (gear ratio, rotor inertia)")
    axes.set_yticks(range(len(known)), [title(r) for r in known])
    axes.set(xscale="log", xlim=(0.3, 2000), ylim=(-0.7, len(known) - 0.3))
    axes.set_xticks([1, 10, 100, 1000], ["1 %", "10 %", "100 %", "1000 %"])
    axes.set_xlabel("RMS torque error at the worst joint [% of peak torque]")
    axes.set_title("Torque error of published armature", loc="left", fontweight="bold")
    axes.grid(axis="x", color="#dddddd")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower right", frameon=True)
    return drawn


def main() -> int:
    """Write the results, the page and the figure."""
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
    others = len(robots) - known
    count = f"The table has numbers for {known} robots. Motors or files of {others} other robots are not public."
    after = fill(fill(fill(before, "atlas", table(robots)), "findings", findings(robots)), "count", count)
    if options.check:
        return int(after != before)
    PAGE.write_text(after, encoding="utf-8")
    figure(robots).savefig(FIGURE, dpi=110, metadata={"Software": None})
    return 0


if __name__ == "__main__":
    sys.exit(main())
