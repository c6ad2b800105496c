"""Write tables of bad and unusual inputs, mainly for closed loops, and of the resulting errors.

Usage: python benchmarks/bad_inputs.py  (writes docs/bad_inputs.md; --print writes to stdout)
"""

from __future__ import annotations

import math
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "bad_inputs.md"
sys.path.insert(0, str(ROOT / "tests"))

from samples import bad_extended_urdf, bad_mjcf, bad_sdf, stumbles  # noqa: E402
from samples import bad_loops as loop_bad_inputs  # noqa: E402

import pin_clusters as pc  # noqa: E402

HEAD = """# Bad inputs

This page lists invalid and unusual inputs. Each input either raises an exception or gives correct results. The
package's tests check each case. Each exception message names the input and the joint or loop, and suggests a fix.
[Exceptions and warnings](errors.md) explains the exception classes.

`benchmarks/bad_inputs.py` writes this page.
"""
FILES = """
## Files and states

These inputs have crashed other programs or caused silently wrong results.
"""
MJCF = """
## MJCF files

These are inputs to `pc.buildModelFromMJCF`.
"""
SDF = """
## SDF files

These are inputs to `pc.buildModelFromSdf`.
"""
YAML = """
## Extended URDF

These are inputs to `pc.buildModelFromYAML`.
"""
CALLS = """
## Calls

These calls contain invalid constraints, poses or names.
"""
FIRST = """
## First steps

These are common mistakes made by Pinocchio users.

| input | result |
|---|---|
"""


def cell(text: str) -> str:
    """Return text escaped for a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def verdict(case: loop_bad_inputs.Case) -> str:
    """Return the result of an input as text: the error, or how far the results are from projection."""
    found = loop_bad_inputs.judge(case)
    if found.error is not None:
        return f"`{type(found.error).__name__}`: {cell(str(found.error))}"
    # a power of ten, so that the table is the same on all machines
    bound = max(1e-12, 10.0 ** math.ceil(math.log10(max(found.worst, 1e-300))))
    said = "".join(f" Warning: {cell(text)}" for text in found.warnings)
    return f"**correct**, within {bound:.0e} of projection.{said}"


def told(case: stumbles.Case) -> str:
    """Return the result of a common mistake as text."""
    error, warned = stumbles.judge(case)
    if error is None:
        return " ".join(f"Warning: {cell(text)}" for text in warned) or "**works**"
    if case.cure:
        first = " ".join(str(error).split("(")[0].split())
        what = f"{first}(ClusterModel, ...) did not match C++ signature"
        return f"Pinocchio's own `{type(error).__name__}`: {what}. Instead: {case.cure}"
    return f"`{type(error).__name__}`: {cell(str(error))}"


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for head, cases in ((FILES, loop_bad_inputs.FILES), (CALLS, loop_bad_inputs.CALLS)):
        parts.append(f"{head}\n| input | result |\n|---|---|\n")
        parts += [f"| {cell(case.what)} | {verdict(case)} |\n" for case in cases.values()]
    parts.append(FIRST)
    parts += [f"| {cell(case.what)} | {told(case)} |\n" for case in stumbles.CASES.values()]
    documents = (
        (MJCF, pc.buildModelFromMJCF, {what: text for what, (text, _) in bad_mjcf.CASES.items()}),
        (SDF, pc.buildModelFromSdf, {what: text for what, (text, *_) in bad_sdf.CASES.items()}),
        (YAML, extended_urdf, {what: text for what, (text, _) in bad_extended_urdf.CASES.items()}),
    )
    for head, read, texts in documents:
        parts.append(f"{head}\n| input | result |\n|---|---|\n")
        parts += [f"| {cell(what)} | {refusal(read, text)} |\n" for what, text in texts.items()]
    return "".join(parts)


def extended_urdf(text: str | bytes) -> object:
    """Read the text of a YAML file beside the URDF of the cases."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "robot.urdf").write_text(bad_extended_urdf.LEG, encoding="utf-8")
        file = Path(folder) / "robot.yaml"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        try:
            return pc.buildModelFromYAML(file)
        except pc.PinClustersError as error:
            raise type(error)(str(error).replace(f"{folder}/", "")) from None


def refusal(read: Callable[[Any], object], text: str | bytes) -> str:
    """Return the error of a reader for a document, or that it was read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            read(text)
    except pc.PinClustersError as error:
        return f"`{type(error).__name__}`: {cell(str(error))}"
    return "**read**"


if __name__ == "__main__":
    text = page()
    if "--print" in sys.argv[1:]:
        sys.stdout.write(text)
    else:
        PAGE.write_text(text)
