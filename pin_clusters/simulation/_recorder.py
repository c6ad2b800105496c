"""Record the samples of a running simulation."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..kernels.tables import layout
from ..model import ClusterModel, once, primitives_of
from ..model.configuration.manifold import manifold
from ._coordinates import Sample
from ._groups import parts_of
from ._settings import Settings
from .result import ARRAYS, SimulationResult, Switch

_SUFFIX: dict[int, Sequence[str]] = {
    layout.FREEFLYER: ("vx", "vy", "vz", "wx", "wy", "wz"),
    layout.SPHERICAL: ("wx", "wy", "wz"),
    layout.PLANAR: ("vx", "vy", "wz"),
}
_TURN = ("qx", "qy", "qz", "qw")
_COORDINATES: dict[int, Sequence[str]] = {
    layout.FREEFLYER: ("x", "y", "z", *_TURN),
    layout.SPHERICAL: _TURN,
    layout.PLANAR: ("x", "y", "cos", "sin"),
    layout.CONTINUOUS: ("cos", "sin"),
}


class SampleRecorder(Protocol):
    """Interface of the recorders that the engines call."""

    def wants(self, k: int) -> bool: ...

    def add(self, t: float, q: np.ndarray, tau: np.ndarray, sample: Sample) -> None: ...


class Recorder:
    """Preallocated arrays of all samples, which are filled in chronological order.

    Attributes:
        count: Number of recorded samples.
        switches: Changes of the independent joints.
        time: Times of the samples, shape (samples,), [s]; all other arrays have the same first axis.
    """

    def __init__(self, settings: Settings) -> None:
        model, n = settings.model, settings.samples
        self.settings, self.count, self.switches = settings, 0, list[Switch]()
        self.time, self.energy, self.kinetic, self.residual = np.zeros((4, n))
        self.q, self.v_tree = np.zeros((n, model.nq)), np.zeros((n, model.tree.nv))
        self.v, self.a, self.tau = np.zeros((3, n, model.nv))
        self.contact_forces = np.zeros((n, settings.contacts.rows if settings.contacts else 0))

    def wants(self, k: int) -> bool:
        """Return whether the state at the start of step k must still be recorded."""
        due = k % self.settings.record == 0 or k == self.settings.steps
        return due and self.count == -(-k // self.settings.record)

    def add(self, t: float, q: np.ndarray, tau: np.ndarray, sample: Sample) -> None:
        if self.count == len(self.time):  # The arrays can be full when the last valid state before an error is added
            return
        for name, value in {"time": t, "q": q, "tau": tau, **sample._asdict()}.items():
            getattr(self, name)[self.count] = value
        self.count += 1

    def result(self) -> SimulationResult:
        return SimulationResult(**self._fields())

    def _fields(self) -> dict[str, Any]:
        s, n = self.settings, self.count
        arrays = {name: getattr(self, name)[:n].copy() for name in ARRAYS}
        arrays["residual"] = np.maximum(arrays["residual"], coupling_residuals(s.model, arrays["q"]))
        names, units, idx_q = labels(s.model)
        return arrays | {
            "switches": tuple(self.switches),
            "method": s.method,
            "dt": s.dt,
            "robot": s.model.name,
            "joints": names,
            "units": units,
            "idx_q": idx_q,
            "coordinates": coordinates(s.model),
        }


def coupling_residuals(model: ClusterModel, q: np.ndarray) -> np.ndarray:
    """Compute the largest residual of all couplings with constant ratios, for each configuration, shape (N,)."""
    shape = manifold(model)
    if not shape.followers:
        return np.zeros(len(q))
    if shape.linear:
        residuals = q[:, shape.dependents] - q[:, shape.leaders] @ shape.map.T - shape.offsets
        return np.abs(residuals).max(axis=1, initial=0.0)
    return np.array([max(abs(f.residual(x)) for f in shape.followers) for x in q])


@once
def labels(model: ClusterModel) -> tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...]]:
    """Return the name, the unit (``"rad"`` or ``"m"``) and the index in q of each entry of v."""
    names, units, idx_q = [""] * model.nv, ["rad"] * model.nv, [-1] * model.nv
    for p in parts_of(model):
        for i, suffix in enumerate(_SUFFIX.get(p.kind, [""] * p.nv), p.iv):
            names[i] = ".".join(filter(None, [p.joint, str(p.number or ""), suffix]))
            if p.kind == layout.PRISMATIC or suffix.startswith("v"):
                units[i] = "m"
            if p.kind in (layout.REVOLUTE, layout.PRISMATIC, layout.HELICAL):
                idx_q[i] = p.iq
    return tuple(names), tuple(units), tuple(idx_q)


@once
def coordinates(model: ClusterModel) -> tuple[str, ...]:
    tree, labels_of_q = model.own_tree, [""] * model.nq
    for j in range(1, tree.njoints):
        chain = primitives_of(tree.joints[j], tree.jointPlacements[j], tree.names[j])
        for k, p in enumerate(chain, start=1):
            for i, suffix in enumerate(_COORDINATES.get(p.kind, ("",)), p.iq):
                name = ".".join(filter(None, [str(tree.names[j]), str(k) if len(chain) > 1 else "", suffix]))
                unit = "m" if p.kind == layout.PRISMATIC or suffix in ("x", "y", "z") else "" if suffix else "rad"
                labels_of_q[i] = f"{name} [{unit}]" if unit else name
    return tuple(labels_of_q)
