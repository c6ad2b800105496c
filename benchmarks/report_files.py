"""Table of files of public collections; ``report.py`` puts it into the page."""

from __future__ import annotations

import re
from typing import Any

from report_loops import markdown

LONGEST = 200  # of what a row says


def _sentence(text: str) -> str:
    """Return the first sentence of a message, without the name of the robot or of the error."""
    text = re.sub(r"^robot '[^']*': ", "", text)
    first = re.split(r"(?<=[.]) (?=[A-Z])", text)[0].replace("|", "/")
    first = first if len(first) <= LONGEST else first[: LONGEST - 3].rstrip() + "..."
    return re.sub(r"<[^<>`]+>", r"`\g<0>`", first.removesuffix("."))


def _ties(found: dict[str, Any]) -> str:
    listed = [f"{n} `{name}`" for name, n in found["constraints"].items()]
    return ", ".join(listed) if listed else "-"


def _said(found: dict[str, Any]) -> str:
    if "refused" in found:
        return f"**error**: {_sentence(found['refused'])}"
    return "; ".join(dict.fromkeys(_sentence(text) for text in found["said"])) or "-"


def _error(found: dict[str, Any]) -> str:
    error = found.get("error")
    if error is None:
        return "-"
    return f"`{error.partition(':')[0]}`" if isinstance(error, str) else f"{error:.0e}"


def _is_number(x: Any) -> bool:
    return isinstance(x, float)


def _mujoco(found: dict[str, Any]) -> str:
    error = found.get("mujoco")
    return f"{error:.0e}" if isinstance(error, float) else "-"


def _speaks(found: dict[str, Any]) -> bool:
    """Whether a URDF shows more than a plain tree: most do not, and are counted only."""
    return found["format"] != "URDF" or "refused" in found or bool(found["constraints"])


def table(results: dict[str, Any]) -> str:
    """Return how many files of each collection are read, and a row for each that is more than a plain tree."""
    counts, parts = [], []
    for name, files in results["collections"].items():
        kinds = sorted({f["format"] for f in files.values()})
        for kind in kinds:
            own = [f for f in files.values() if f["format"] == kind]
            refused = sum("refused" in f for f in own)
            counts.append([name, kind, f"{len(own)}", f"{len(own) - refused}", f"{refused}"])
        rows = [
            [f"`{place}`", f["format"]]
            + (["-", "-"] if "refused" in f else [f"{f['nv']} ({f['nv_tree']})", _ties(f)])
            + [_error(f), _mujoco(f), _said(f)]
            for place, f in files.items()
            if _speaks(f)
        ]
        if rows:
            head = [
                "file",
                "format",
                "nv (tree)",
                "constraints and springs",
                "round trip",
                "MuJoCo",
                "warning or error",
            ]
            parts.append(f"## {name}\n\n{markdown(head, rows)}")
    summary = markdown(["collection", "format", "files", "read", "errors"], counts)
    meta = results["meta"]
    compared = [
        e for files in results["collections"].values() for f in files.values() if _is_number(e := f.get("mujoco"))
    ]
    text = (
        f"Read with Pinocchio {meta['pinocchio']} on {meta['date']}. The counts include URDF files without "
        "constraints; the tables below omit them. *Round trip* is the largest entry of `aba(rnea(a)) - a` near the "
        "reference pose, relative to the largest entry of a, at least 1. *MuJoCo* is the largest difference from "
        "MuJoCo in the mass matrix, the inverse dynamics and the passive torques, relative to the largest entry. Over "
        f"{len(compared)} files it is at most {max(compared, default=0.0):.0e}; MuJoCo stores meshes in single "
        "precision."
    )
    return "\n\n".join([text, summary, *parts])
