"""What is said when a simulation stops before its end."""

import numpy as np
import pinocchio as pin

from ..errors import BranchLost, SingularClusterError
from ._engine import State
from ._groups import groups_of
from ._recorder import Recorder, labels

_WORTHLESS, _FROM, _POOR = 0.9, 10, 0.05
_WILD_STEP = 0.5


class Watch:
    """Looks whether energy that nobody puts in grows: without torques it must stay what it was."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder, self.seen, self.largest = recorder, 0, 0.0
        s = recorder.settings
        alone = s.torque is None and s.dynamics is None and s.passive is None and s.world is None
        self.passive = alone and (s.contacts is None or s.contacts.passive)
        self.worst = 0.0  # error of the energy, [J]
        tree = s.model.tree
        self.floor = 1e-9 * float(pin.computeTotalMass(tree)) * max(1.0, float(np.linalg.norm(tree.gravity.linear)))

    def look(self) -> str:
        """Look at the samples since the last time; return what is wrong, and drop what follows it."""
        r = self.recorder
        if not self.passive or self.seen == r.count:
            return ""
        new = slice(self.seen, r.count)
        largest = np.maximum(self.largest, np.maximum.accumulate(r.kinetic[new]))
        error = np.abs(r.energy[new] - r.energy[0])
        allowed = _WORTHLESS * largest + self.floor + 1e-9 * abs(float(r.energy[0]))
        bad = np.flatnonzero((r.time[new] >= _FROM * r.settings.dt) & ~(error <= allowed))
        if bad.size:
            i = int(bad[0])
            r.count = self.seen + i
            name, speed = _fastest(r, r.v[r.count])
            return (
                f"simulate: the simulation diverges: no torque acts, but at t = {r.time[r.count]:g} s the energy is "
                f"{error[i]:.3g} J off its start, with a kinetic energy of at most {largest[i]:.3g} J. The fastest "
                f"joint is {name} with {speed}. {_cure(r)}"
            )
        self.seen, self.largest = r.count, float(largest[-1])
        self.worst = max(self.worst, float(error.max()))
        return ""

    def doubt(self) -> str:
        """Return what is to be said of a simulation that came to its end, but whose energy did not stay."""
        s = self.recorder.settings
        if not self.passive or s.method == "semi_implicit" or not self.worst > _POOR * self.largest + self.floor:
            return ""
        better = ", or method='rkmk4'." if s.method == "rk4" and groups_of(s.model) else "."
        return (
            f"simulate: no torque acts, but the energy went off by {self.worst:.3g} J, with a kinetic energy of at "
            f"most {self.largest:.3g} J: the motion is not to be trusted. Take a smaller step (dt = {s.dt:g} s now; "
            f"try {s.dt / 4.0:g} s){better}"
        )


def diverged(r: Recorder, k: int, v: np.ndarray) -> str:
    """Return the message for velocities that are none, after step k."""
    s = r.settings
    text = f"simulate: the simulation diverges: in the step from t = {s.time(k):g} s the velocity of "
    bad = np.flatnonzero(~np.isfinite(v))
    if bad.size:
        text += f"joint {labels(s.model)[0][bad[0]]!r} stops being a number."
    else:
        text += "joint {} becomes {}.".format(*_fastest(r, v))
    return f"{text} {_history(r)}{_cure(r)}"


def lost(r: Recorder, state: State, error: BranchLost | SingularClusterError, a: np.ndarray) -> str:
    """Return the message for a loop that cannot follow from the last good state; a is the acceleration there, or 0."""
    s = r.settings
    step = f"in the step from t = {s.time(state.k):g} s"
    way = s.dt * float(np.abs(state.v).max(initial=0.0)) + s.dt**2 * float(np.abs(np.nan_to_num(a)).max(initial=0.0))
    if way > _WILD_STEP:
        return (
            f"simulate: the simulation diverges: {step} joints would move by up to {way:.3g} (rad or m). {_cure(r)} "
            f"What failed: {error}"
        )
    text = f"simulate: {step}: {error}"
    if not s.switch:
        text += " Or let simulate change them inside: switch=True."
    elif s.dynamics is not None:
        text += " With dynamics=..., simulate cannot change independent joints inside."
    elif error.cluster:
        text += (
            " simulate looked for others, and there are none with which it goes on: if a shorter step does not help, "
            "it may be a change point, where the linkage gains a freedom."
        )
    return text


def _fastest(r: Recorder, v: np.ndarray) -> tuple[str, str]:
    """Return name and velocity of the fastest joint."""
    names, units, _ = labels(r.settings.model)
    i = int(np.argmax(np.abs(v)))
    return repr(names[i]), f"{v[i]:.3g} {units[i]}/s"


def _history(r: Recorder) -> str:
    """Return what the velocity did before, if it swings from sample to sample."""
    if r.count < 4 or r.settings.record > 1:
        return ""
    last = r.v[r.count - 4 : r.count]
    if np.all(np.diff(np.sign(last[:, np.argmax(np.abs(last[-1]))])) != 0):
        return "It changed its sign from step to step before: the torques are too stiff for this step. "
    return ""


def _cure(r: Recorder) -> str:
    dt, contacts = r.settings.dt, r.settings.contacts
    text = f"Take a smaller step (dt = {dt:g} s now; try {dt / 10.0:g} s), and look at error.result for the way there."
    if contacts is None or contacts.passive:
        return text
    return (
        f"{text} If it ends there with any step, contacts with gains or a desired motion ask for what joints cannot "
        "do: the way to their goal leads beyond reach, or through a singular pose."
    )
