"""Load the robots of example-robot-data that have mimic joints, and write a table for the docs.

Usage: python benchmarks/example_robots.py  (writes docs/example_robots.md; needs pip install '.[robots]')
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin

import pin_clusters as pc

SHARE = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
PAGE = Path(__file__).parents[1] / "docs" / "example_robots.md"

HEAD = """# Robots of example-robot-data

This page lists all URDF files in [example-robot-data](https://github.com/Gepetto/example-robot-data) with `<mimic>`
joints or URDF+ elements, loaded with `pc.buildModelFromUrdf`. For the other files, the model is the same as in
Pinocchio. Cassie, the only robot in the collection with closed loops, is described in an SDF file: see [Files of public
collections](files.md).

*Round trip* is the largest entry of `aba(rnea(a)) - a` at a random state, relative to `max(1, |a|)`.
`python benchmarks/example_robots.py` writes this page.

| file | elements | nv (tree) | result | round trip |
|---|---|---|---|---|
"""


def tried(path: Path) -> tuple[str, str, str]:
    """Load a file; return its size, its warnings or its error, and the error of aba(rnea)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = pc.buildModelFromUrdf(str(path))
        except (pc.PinClustersError, ValueError, RuntimeError) as error:
            return "-", f"error: {short(error)}", "-"
    told = [short(w.message) for w in caught if "for other programs" not in str(w.message)]
    said = "; ".join(["loads", *dict.fromkeys(told)])
    rng = np.random.default_rng(0)
    pin.seed(0)
    q, v, a = pc.randomConfiguration(model), rng.normal(size=model.nv), rng.normal(size=model.nv)
    data = model.createData()
    try:
        back = pc.aba(model, data, q, v, pc.rnea(model, data, q, v, a))
        error = f"{np.abs(back - a).max() / max(1.0, np.abs(a).max()):.0e}"
    except pc.PinClustersError as failure:
        error = short(failure)
    return f"{model.nv} ({model.tree.nv})", said, error


def short(message: object) -> str:
    """Return the first sentence of a message, without paths."""
    text = re.sub(r"\S*/(\S+\.urdf)", r"\1", str(message)).split("\n")[0]
    first = re.split(r"(?<=[.:]) (?=[A-Z])", text)[0]
    return first[:160].replace("|", "/")


def main() -> None:
    lines = []
    for path in sorted(SHARE.rglob("*.urdf")):
        text = path.read_text(encoding="utf-8", errors="replace")
        name = str(path.relative_to(SHARE))
        found = []
        if mimics := len(re.findall(r"<mimic\b", text)):
            found.append(f"{mimics} mimic")
        if plus := len(re.findall(r"<(?:loop|coupling)\b", text)):
            found.append(f"{plus} URDF+")
        if found:
            lines.append(f"| `{name}` | {', '.join(found)} | {' | '.join(tried(path))} |")
    PAGE.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
