"""How the numbers were made."""

from __future__ import annotations

from ... import approximations
from ...study import report
from ...study.trajectories import Wave
from .._html import Child, Element, formula, tag
from ..result import AuditResult
from ..verdict import label


def method(result: AuditResult) -> Element:
    """Return the motion, the approximations and the definitions."""
    study = result.study
    motion = f"Inverse dynamics with a {study.base} base, {report.motion(study)}; {len(study.time)} samples in "
    motion += f"{study.time[-1] - study.time[0]:.3g} s. "
    if isinstance(study.trajectory, Wave):
        motion += "Every independent joint with one degree of freedom does so, [rad] or [m]; all else is held. "
    motion += report.ground(study)
    where = "left out" if study.drop_rotors else "locked into their carriers"
    rotors = f"In the approximations the rotors are {where}, mass and all. " if result.reflected.drives else ""
    definitions: list[Child] = []
    for rung in study.approximate:
        definitions += [tag("dt", label(rung)), tag("dd", formula(f"{approximations.DEFINITIONS[rung]}."))]
    cut = report.cut(study)
    return tag(
        "section",
        tag("h2", "Method"),
        tag("h3", "Motion"),
        tag("p", motion),
        tag("p", cut) if cut else None,
        tag("h3", "Approximations"),
        tag("p", f"{rotors}Exact is inverse dynamics with all rotors and loops."),
        tag("dl", definitions),
        tag("h3", "Numbers"),
        tag(
            "ul",
            tag("li", "Error: approximate minus exact torque at the same configuration, velocity and acceleration."),
            tag(
                "li",
                "Per cent: RMS of the error over all samples, divided by the largest magnitude of the joint's exact "
                "torque on the same motion. Another motion has other numbers; a joint with little load has large ones.",
            ),
            tag(
                "li",
                f"Verdict: {label(result.verdict.asked)} is enough if this is at most {result.verdict.threshold:g} % "
                "at every joint that moves. The threshold is a choice: set it to what your controller or your data can "
                "tell apart.",
            ),
            tag(
                "li", "Friction, backlash, elasticity and the inertia of gears between rotor and joint are in neither."
            ),
        ),
        tag("p", "All numbers of this page, and more digits, are in ", tag("code", "audit.json"), " beside it."),
    )


def footer(result: AuditResult) -> Element:
    """Return who computed it, without a date, so that the same input gives the same page."""
    import pinocchio as pin

    from ... import __version__

    command = f"pin-clusters audit {result.robot}"
    return tag(
        "footer",
        f"pin-clusters {__version__}, Pinocchio {pin.__version__}. Made by ",
        tag("code", command),
        ".",
    )
