"""The page: verdict, worst joints, reasons, what to use instead, method."""

from __future__ import annotations

from typing import Any

import pinocchio as pin

from ... import approximations
from ..pages import template
from ..pages.template import formula
from ..study import report
from ..study._samples import label, locked
from ..study.trajectories import Wave
from .result import AuditResult
from .sections import cure, errors, simulation


def page(result: AuditResult) -> str:
    """Return the whole page as text.

    It needs no network and no JavaScript, and follows the reader's light or dark theme.
    """
    values = {
        **errors.values(result),
        **simulation.values(result),
        **cure.values(result),
        **_method(result),
    }
    return template.page("page.html", __package__, values)


def _method(result: AuditResult) -> dict[str, Any]:
    """Return how it was computed, and by what; without a date, so that the same input gives the same page."""
    from ... import __version__

    study = result.study
    return {
        "base": study.base, "motion": report.motion(study), "samples": len(study.time),
        "duration": f"{study.time[-1] - study.time[0]:.3g}", "wave": isinstance(study.trajectory, Wave),
        "ground": report.ground(study), "cut": report.cut(study),
        "rotors_are": locked(study.drop_rotors, "left out") if result.reflected.drives else "",
        "definitions": [
            {"name": label(rung), "formula": formula(f"{approximations.DEFINITIONS[rung]}.")}
            for rung in study.approximate
        ],
        "version": __version__, "pinocchio_version": pin.__version__, "robot": result.robot,
    }  # fmt: skip
