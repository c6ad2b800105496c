"""Time steps in Python, which support all kinds of torques, dynamics and models."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support.arrays import velocity
from ..errors import ModelError, PinClustersError
from ._coordinates import Coordinates
from ._methods import METHODS, step
from ._recorder import SampleRecorder
from ._settings import Settings

FASTEST = 1e8
"""Velocity above which a simulation has diverged, [rad/s] or [m/s]."""


@dataclass
class State:
    """State of a simulation at the start of step k."""

    k: int  # number of completed steps
    q: np.ndarray  # shape (nq,)
    v: np.ndarray  # in the current coordinates, shape (nv,)


class NearSingular(Exception):  # noqa: N818 - a request for other coordinates, not an error
    """The bound on a cluster's condition number exceeds its limit at the start of a step."""

    def __init__(self, which: int) -> None:
        self.which = which


class Diverged(Exception):  # noqa: N818 - internal, named after the event
    """The velocity after a step is not finite or exceeds ``FASTEST``."""

    def __init__(self, v: np.ndarray) -> None:
        self.v = v


class StepFailed(Exception):  # noqa: N818 - internal, named after the event
    """A step failed; the text becomes the message of the ``SimulationError``."""


class FunctionFailed(StepFailed):
    """A user function raised an exception or returned an invalid value."""


def _finite(x: np.ndarray) -> bool:
    return np.isfinite(x).all()


class PythonEngine:
    """Runs the time steps in Python with NumPy."""

    batch = 50
    """Number of steps between two calls of ``progress``."""
    coordinates: type[Coordinates] = Coordinates
    """Class that is instantiated for each set of independent joints."""

    def __init__(self, settings: Settings, recorder: SampleRecorder) -> None:
        self.settings, self.recorder = settings, recorder
        self.method = METHODS.get(settings.method, METHODS["rk4"])

    def advance(self, on: Coordinates, state: State, end: int) -> None:
        """Run until step ``end``; ``state`` is the state after the last valid step, even if an exception is raised."""
        s = self.settings

        def f(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            return self.acceleration(on, k, t, q, v)[0]

        while state.k < end:
            k, t = state.k, s.time(state.k)
            a = self.start(on, state)
            with np.errstate(over="ignore", invalid="ignore"):
                q, v, _ = step(self.method, f, on, t, s.step(k), state.q, state.v, a)
                if not np.abs(v).max(initial=0.0) < FASTEST or not _finite(q):
                    raise Diverged(on.velocity(q, v) if _finite(q) and _finite(v) else v)
            state.k, (state.q, state.v) = k + 1, on.settle(q, v)

    def start(self, on: Coordinates, state: State) -> np.ndarray:
        """Compute the acceleration at the state, and record the state if a sample is due."""
        s, k, t = self.settings, state.k, self.settings.time(state.k)
        a, tau = self.acceleration(on, k, t, state.q, state.v)
        if s.switch and s.dynamics is None and (which := on.near_singular()) is not None:
            raise NearSingular(which)
        if self.recorder.wants(k):
            self.recorder.add(t, state.q, tau, on.sample(state.q, state.v, a))
        return a

    def acceleration(
        self, on: Coordinates, k: int, t: float, q: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the acceleration in the current coordinates, and the user's torque."""
        s = self.settings
        tau = self.torque(on, k, t, q, v)
        if s.dynamics is None:
            try:
                return on.accelerate(q, v, tau, s.passive), tau
            except ModelError as error:
                raise StepFailed(f"at t = {t:g} s: {error}") from error
        total_torque = tau.copy() if s.passive is None else on.acting(q, v, tau, s.passive)
        return self._call("dynamics", t, s.dynamics, q.copy(), v.copy(), total_torque), tau

    def torque(self, on: Coordinates, k: int, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        torque, nv = self.settings.torque, self.settings.model.nv
        if torque is None:
            return np.zeros(nv)
        if not callable(torque):
            return torque[min(k, len(torque) - 1)]
        return self._call("tau", t, torque, t, q.copy(), on.velocity(q, v).copy())

    def _call(self, name: str, t: float, function: Any, *arguments: Any) -> np.ndarray:
        model = self.settings.model
        try:
            reply = function(*arguments)
        except Exception as error:
            raise FunctionFailed(f"{name} raised at t = {t:g} s: {type(error).__name__}: {error}") from error
        if type(reply) is np.ndarray and reply.shape == (model.nv,) and reply.dtype == np.float64 and _finite(reply):
            return reply.copy()
        try:
            if np.ndim(reply) == 0 and model.nv == 1 and reply is not None:
                reply = [reply]
            vector = velocity(model, f"the return value of {name}", reply)
        except PinClustersError as error:
            raise FunctionFailed(f"{name} at t = {t:g} s: {error}") from error
        bad = np.flatnonzero(~np.isfinite(vector))
        if bad.size:
            raise FunctionFailed(
                f"{name} returned {vector[bad[0]]} in entry {bad[0]} at t = {t:g} s, but all entries must be "
                "finite" + (". If v grows without bound before t, dt is too large." if name == "tau" else ".")
            )
        return vector.copy()
