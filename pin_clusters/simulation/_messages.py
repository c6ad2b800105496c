"""Messages for simulations that stop before their end."""

import numpy as np
import pinocchio as pin

from ..errors import BranchLost, SingularClusterError
from ._engine import State
from ._groups import groups_of
from ._recorder import Recorder, labels

_DIVERGED, _FIRST_STEP, _INACCURATE = 0.9, 10, 0.05
"""Energy errors, relative to the largest kinetic energy, for divergence (checked from step 10) and for a warning."""
_WILD_STEP = 0.5
"""If a joint moves farther than this in one step, the simulation has diverged, [rad] or [m]."""


class Watch:
    """Monitors the energy, which must stay constant if no torques act."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder, self.seen, self.largest = recorder, 0, 0.0
        s = recorder.settings
        unforced = s.torque is None and s.dynamics is None and s.passive is None and s.world is None
        self.passive = unforced and (s.contacts is None or s.contacts.passive)
        self.worst = 0.0  # largest energy error, [J]
        tree = s.model.tree
        self.tolerance = 1e-9 * float(pin.computeTotalMass(tree)) * max(1.0, float(np.linalg.norm(tree.gravity.linear)))

    def check_samples(self) -> str:
        """Check the samples since the last call; return an error message or "", and drop all samples after an error."""
        r = self.recorder
        if not self.passive or self.seen == r.count:
            return ""
        new = slice(self.seen, r.count)
        largest = np.maximum(self.largest, np.maximum.accumulate(r.kinetic[new]))
        error = np.abs(r.energy[new] - r.energy[0])
        allowed = _DIVERGED * largest + self.tolerance + 1e-9 * abs(float(r.energy[0]))
        bad = np.flatnonzero((r.time[new] >= _FIRST_STEP * r.settings.dt) & ~(error <= allowed))
        if bad.size:
            i = int(bad[0])
            r.count = self.seen + i
            name, speed = _fastest(r, r.v[r.count])
            return (
                f"simulate: the simulation diverges: no torque acts, but by t = {r.time[r.count]:g} s the energy has "
                f"changed by {error[i]:.3g} J, and the largest kinetic energy was {largest[i]:.3g} J. "
                f"The fastest joint is {name} with {speed}. {_cure(r)}"
            )
        self.seen, self.largest = r.count, float(largest[-1])
        self.worst = max(self.worst, float(error.max()))
        return ""

    def final_warning(self) -> str:
        """Return a warning if the energy of a completed simulation changed too much, otherwise an empty string."""
        s = self.recorder.settings
        if (
            not self.passive
            or s.method == "semi_implicit"
            or not self.worst > _INACCURATE * self.largest + self.tolerance
        ):
            return ""
        better = ", or use method='rkmk4'." if s.method == "rk4" and groups_of(s.model) else "."
        return (
            f"simulate: no torque acts, but the energy changed by {self.worst:.3g} J, while the largest kinetic energy "
            f"was {self.largest:.3g} J. The result is inaccurate. Reduce the step (dt = {s.dt:g} s now; try "
            f"{s.dt / 4.0:g} s){better}"
        )


def diverged(r: Recorder, k: int, v: np.ndarray) -> str:
    s = r.settings
    text = f"simulate: the simulation diverges: in the step from t = {s.time(k):g} s the velocity of "
    bad = np.flatnonzero(~np.isfinite(v))
    if bad.size:
        text += f"joint {labels(s.model)[0][bad[0]]!r} is no longer finite."
    else:
        text += "joint {} becomes {}.".format(*_fastest(r, v))
    return f"{text} {_history(r)}{_cure(r)}"


def lost(r: Recorder, state: State, error: BranchLost | SingularClusterError, a: np.ndarray) -> str:
    """Return the message for a loop that cannot be closed; ``a`` is the acceleration in ``state``, zero if unknown."""
    s = r.settings
    step = f"in the step from t = {s.time(state.k):g} s"
    motion = s.dt * float(np.abs(state.v).max(initial=0.0)) + s.dt**2 * float(np.abs(np.nan_to_num(a)).max(initial=0.0))
    if motion > _WILD_STEP:
        return (
            f"simulate: the simulation diverges: {step} joints would move by up to {motion:.3g} (rad or m). {_cure(r)} "
            f"Cause: {error}"
        )
    text = f"simulate: {step}: {error}"
    if not s.switch:
        text += " Alternatively, pass switch=True: simulate then changes the independent joints if necessary."
    elif s.dynamics is not None:
        text += " With dynamics=..., simulate cannot change the independent joints."
    elif error.cluster:
        text += (
            " simulate found no other independent joints with which it can continue. If a smaller step does not help, "
            "this may be a bifurcation (change point), where the linkage gains a degree of freedom."
        )
    return text


def _fastest(r: Recorder, v: np.ndarray) -> tuple[str, str]:
    names, units, _ = labels(r.settings.model)
    i = int(np.argmax(np.abs(v)))
    return repr(names[i]), f"{v[i]:.3g} {units[i]}/s"


def _history(r: Recorder) -> str:
    """Return a hint if the fastest joint's velocity has changed its sign in each of the last steps."""
    if r.count < 4 or r.settings.record > 1:
        return ""
    last = r.v[r.count - 4 : r.count]
    if np.all(np.diff(np.sign(last[:, np.argmax(np.abs(last[-1]))])) != 0):
        return "The sign of this velocity changed in each of the last steps: the torques are too stiff for this dt. "
    return ""


def _cure(r: Recorder) -> str:
    dt, contacts = r.settings.dt, r.settings.contacts
    text = f"Reduce the step (dt = {dt:g} s now; try {dt / 10.0:g} s). error.result contains the previous motion."
    if contacts is None or contacts.passive:
        return text
    return (
        f"{text} If every step size fails, a contact with gains or with a desired motion may have a goal out of reach, "
        "or the path to the goal passes through a singular configuration."
    )
