"""Figure 14 of arXiv 2311.13732: torques along sines, by the experiment of that name."""

import warnings
from collections.abc import Callable
from typing import Any

from ....approximations import LABELS
from ....errors import PinClustersWarning
from .. import paper
from ..paper.sinusoids import TorqueSinusoids
from ..plots import Figure, named, panels
from ._drawing import STYLES, headed
from ._effort import Effort
from ._numbers import CHIGNOLI
from ._part import Found, Rows, Statement

TITLE = "Figure 14: torques along sines"
TIMED = (
    "Nothing is timed: errors of inverse dynamics, by `pin-clusters study --experiment torque-sinusoids --drop-rotors`."
)
SECONDS = (1.0, 1.0)
_SHOWN = {"none": "second", "diagonal": "approximate", "block": "other"}
SAID, DRAWN = "ankle", "knee"
"""The joint that the text names, and the one that the authors' script draws."""


def measure(effort: Effort, done: Callable[[], None]) -> Found:
    """Run the experiment."""
    short: dict[str, Any] = effort.of({}, {"dt": 2e-3}, {"dt": 1e-2, "duration": 0.2})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PinClustersWarning)
        result = paper.run("torque-sinusoids", drop_rotors=True, **short)
    assert isinstance(result, TorqueSinusoids)
    done()
    found = result.as_dict()
    kept = ("joints", "unit", "trajectory", "rms_error", "per_cent_of_largest")
    return {**found, "studies": [{key: one[key] for key in kept} for one in found["studies"]]}


def tables(found: Found) -> list[tuple[str, Rows]]:
    """Return per cent of the largest torque at the fastest sine, all joints."""
    last = found["studies"][-1]
    share = last["per_cent_of_largest"]["rms"]
    rows: Rows = [["", *last["joints"]]]
    rows += [[LABELS[rung], *(f"{x[j]:.1f}" for j in last["joints"])] for rung, x in share.items()]
    return [(f"RMS torque error at {last['trajectory']['frequency']:g} Hz, % of the joint's largest torque", rows)]


def says(found: Found) -> list[str]:
    """Return which joint it is about."""
    share = found["studies"][-1]["per_cent_of_largest"]["rms"]
    said = ", ".join(
        f"{share['none'][j]:.1f} % without and {share['diagonal'][j]:.1f} % with armature at the {j}"
        for j in (DRAWN, SAID)
    )
    return [f"The text of the paper names the {SAID}, the authors' script draws its fourth row, the {DRAWN}: {said}."]


def statements(found: Found) -> list[Statement]:
    """Say what armature leaves."""
    share = found["studies"][-1]["per_cent_of_largest"]["rms"]
    none, diagonal, block = (share[rung] for rung in _SHOWN)
    return [
        Statement(
            "Armature reduces the torque error that ignored rotors make, and does not remove it.",
            f"{CHIGNOLI}, Fig. 14",
            f"at the {DRAWN} from {none[DRAWN]:.1f} to {diagonal[DRAWN]:.1f} %, at the {SAID} from {none[SAID]:.1f} to "
            f"{diagonal[SAID]:.1f} %; with the off-diagonal terms of the belts {block[DRAWN]:.1f} and "
            f"{block[SAID]:.1f} %.",
            all(1.0 < diagonal[j] < none[j] for j in (DRAWN, SAID)),
        ),
    ]  # fmt: skip


def draw(figure: Figure, found: Found) -> None:
    """Draw the errors of all joints at all frequencies."""
    studies = found["studies"]
    joints = studies[-1]["joints"]
    top = max(x[j] for s in studies for x in s["per_cent_of_largest"]["rms"].values() for j in joints)
    all_axes = panels(figure, len(studies), gap=0.1, top=1.568, bottom=0.539)
    for k, (axes, one) in enumerate(zip(all_axes, studies, strict=True)):
        for i, (rung, key) in enumerate(_SHOWN.items()):
            share = one["per_cent_of_largest"]["rms"][rung]
            places = [m + (i - 1) * 0.27 for m in range(len(joints))]
            axes.bar(places, [share[j] for j in joints], 0.25, color=STYLES[key]["color"])
        axes.set_xticks(range(len(joints)), [j.replace("hip_", "") for j in joints])
        axes.set_ylim(0.0, 1.05 * top)
        axes.tick_params(labelleft=k == 0)
        named(axes, f"{one['trajectory']['frequency']:g} Hz", "joint", "" if k else "RMS error, % of largest torque")
        axes.grid(axis="x", visible=False)
    headed(
        figure, "Torque error of approximate transmissions along sines (figure 14)",
        ("Leg of the MIT Humanoid, base fixed, 0.5 sin(2$\\pi$ f t) rad at every joint; rotors left out of the "
         "approximations.",
         "rz, rx, ry: hip. Exact rotors: no error. At 0.5 Hz gravity and inertia nearly cancel at the knee."),
        {key: LABELS[rung] for rung, key in _SHOWN.items()}, bars=True,
    )  # fmt: skip


FIGURES = {"chignoli_14_torque_sinusoids": draw}
