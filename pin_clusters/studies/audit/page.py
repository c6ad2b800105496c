"""Write the page of an audit: verdict, worst joints, causes of the errors, alternatives to armature, and method."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ... import approximations
from ..pages import results, template
from ..pages.template import formula
from ..study import report
from ..study._samples import label, locked
from ..study.trajectories import Wave
from .result import AuditResult
from .sections import cure, errors, simulation, walk


def page(result: AuditResult) -> str:
    """Return the self-contained page, which needs no JavaScript and follows the reader's light or dark theme."""
    values = {
        **errors.values(result),
        **simulation.values(result),
        **walk.values(result.walk),
        **cure.values(result),
        **_method(result),
    }
    return template.page("audit", __package__, values)


def _method(result: AuditResult) -> dict[str, Any]:
    study = result.study
    return {
        "base": study.base,
        "motion": report.motion(study),
        "samples": len(study.time),
        "duration": f"{study.time[-1] - study.time[0]:.3g}",
        "wave": isinstance(study.trajectory, Wave),
        "ground": report.ground(study),
        "cut": report.cut(study),
        "rotors_are": locked(study.drop_rotors, "left out") if result.reflected.drives else "",
        "definitions": [
            {"name": label(level), "formula": formula(f"{approximations.DEFINITIONS[level]}.")}
            for level in study.approximate
        ],
        "robot": result.robot,
        "losses": ", ".join(result.losses),
    }


@results.shown_by(AuditResult)
def files(result: AuditResult) -> dict[str, Callable[[], str]]:
    return {
        "audit.html": lambda: page(result),
        "audit.json": lambda: results.as_json(result.as_dict(), allow_nan=False),
    }


def write(result: AuditResult, folder: str | Path) -> tuple[Path, Path]:
    """Write ``audit.html``, a self-contained page, and ``audit.json``, which contains all numbers.

    Each file is written atomically. If one file cannot be written, the other one is still written. Repeated audits
    write identical files, except for the version numbers on the page.

    Args:
        result: Result of ``run``.
        folder: Folder for the files; it is created if it does not exist.

    Returns:
        The paths of ``audit.html`` and ``audit.json``.

    Raises:
        OSError: A file cannot be written.

    Example:
        >>> import tempfile
        >>> import pin_clusters as pc
        >>> from pin_clusters import audit
        >>> result = audit.run(pc.load("mit_humanoid_leg"), duration=0.7)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page, numbers = audit.write(result, folder)
        >>> page.name, numbers.name
        ('audit.html', 'audit.json')
    """
    html, numbers = result.write(folder)
    return html, numbers
