"""Split the torque error of an approximation into physical parts."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .... import approximations
from ...._support import old_names
from ....algorithms.dynamics.coupling import coupling_jacobian
from ....algorithms.dynamics.rnea import rnea
from ....model import ClusterModel, check_model, expand
from ...pages.results import Result, told
from .._samples import chosen, column_names, documented, locked, rms, rows, usual
from . import _loops, _rotors
from ._motion import apply, motion, transposed
from ._rotors import Spin

PART_LABELS = {
    "reflected, diagonal": "reflected inertia of the joint itself, J g_i^2 a_i",
    "reflected, off-diagonal": "reflected inertia shared with other joints, J g_i g_k a_k",
    "carrier on joint": "angular acceleration of the carrier, as torque on the joint, J g s.alpha",
    "spin on carrier": "acceleration of the rotor's spin, as moment on the carrier, J s (g a)",
    "gyroscopic": "gyroscopic moment of the spinning rotor on its carrier, w x J s (g v)",
    "coupling rate": "change of the coupling with the pose, J Gdot v",
    "asymmetric rotors": "rotor bodies that are unbalanced or not axisymmetric",
    "rotor mass": "omitted rotor mass",
    "dependents' torque": "torque of the dependent joints",
    "dependents' acceleration": "acceleration of the dependent joints",
    "coupling bias": "acceleration of the dependent joints at constant independent velocity, M g",
    "dependents' velocity": "velocity of the dependent joints",
}
"""Description of each part, as printed in tables."""
PARTS = tuple(PART_LABELS)

_CHUNK = 1000  # Number of samples that are evaluated at once; limits the memory


@dataclass(frozen=True, eq=False)
class Decomposition(Result):
    """The torque error (exact minus approximate torque) of an approximation, and the parts of this error.

    Attributes:
        level: Name of the approximation.
        drop_rotors: Whether the approximation omits the rotors' mass.
        names: Joint name of each column; if a joint has several axes, the axis index follows, as in ``"base[3]"``.
        exact: Exact torques, shape (N, nv).
        total: Exact minus approximate torques, computed by inverse dynamics and not from ``parts``, shape (N, nv).
        parts: Each part of the error by name, in the order of ``PARTS``, shape (N, nv); zero if it does not occur.
    """

    robot: str
    level: str
    drop_rotors: bool
    names: tuple[str, ...]
    exact: np.ndarray
    total: np.ndarray
    parts: dict[str, np.ndarray]
    rung = old_names.attribute("level")

    @property
    def residual(self) -> float:
        """Largest relative difference between the sum of the parts and the total, over all samples and columns.

        The scale is the exact torque of the same sample and column, or 1 N m if that torque is smaller.
        """
        difference = np.abs(sum(self.parts.values()) - self.total)
        return float(np.max(difference / np.maximum(1.0, np.abs(self.exact)), initial=0.0))

    @property
    def rms(self) -> dict[str, np.ndarray]:
        """RMS of each part and of the ``total`` over all samples, shape (nv,)."""
        return {name: rms(x) for name, x in {**self.parts, "total": self.total}.items()}

    @property
    def share(self) -> dict[str, np.ndarray]:
        """Share of each part in the error of each column, ``<part, total> / <total, total>``, shape (nv,).

        The shares of a column add up to 1. A share is negative if the part reduces the error. If the error is
        only rounding (below 1e-12 times the exact torque or 1 N m), all shares are 0.
        """
        square = np.sum(self.total**2, axis=0)
        nothing = square <= 1e-24 * np.maximum(len(self.total), np.sum(self.exact**2, axis=0))
        scale = np.where(nothing, np.inf, square)
        return {name: np.sum(x * self.total, axis=0) / scale for name, x in self.parts.items()}

    @property
    def overall(self) -> dict[str, float]:
        """Share of each part in the total error of all columns; mixes units if there are prismatic joints."""
        square = float(np.sum(self.total**2))
        if square <= 1e-24 * max(self.total.size, float(np.sum(self.exact**2))):
            return dict.fromkeys(self.parts, 0.0)
        return {name: float(np.sum(x * self.total)) / square for name, x in self.parts.items()}

    def as_dict(self) -> dict[str, Any]:
        head = told(self, "robot rung:level", rotors=locked(self.drop_rotors), samples=len(self.total))
        return head | told(self, "residual rms share overall_share:overall")


@old_names.argument("rung", "level")
@documented
def decompose(
    model: ClusterModel, q: ArrayLike, v: ArrayLike, a: ArrayLike, level: str | None = None, drop_rotors: bool = False
) -> Decomposition:
    """Split the torque error of an approximation into parts, each of which is computed from its own formula.

    The page "Decomposition" of the documentation derives the formulas. No part is computed as a remainder, so
    the sum of the parts is independent of ``total``. ``residual`` is the difference between this sum and ``total``.

    Args:
        model: The robot. If it has no closed loops, all its dependent joints must be rotors.
        q: Configurations of the tree, shape (N, nq), or one configuration, shape (nq,).
        level: One of ``approximations.names(model)``. The default is ``"diagonal"``. With closed loops, the default is
            ``"armature"`` if there are rotors and ``"frozen"`` otherwise.
        drop_rotors: Omit the rotors' mass in the approximation; ``unconstrained`` and ``frozen`` keep this mass.

    Returns:
        The parts, [N m] or [N], with their RMS values and shares.

    Raises:
        SingularClusterError: The independent velocities do not determine the dependent velocities at a sample.

    Example:
        >>> import pin_clusters as pc
        >>> from pin_clusters import study
        >>> model = pc.load("mit_humanoid_leg")
        >>> _, q, v, a = study.Sine(duration=1.0, dt=0.01).states(model)
        >>> split = study.decompose(model, q, v, a, "diagonal")
        >>> knee = split.names.index("knee")
        >>> max(split.parts, key=lambda part: split.share[part][knee])
        'reflected, off-diagonal'
    """
    check_model(model, "study.decompose")
    if level is None:
        level = usual(approximations.names(model))
    q, v, a = rows(model, q, v, a)
    approximation = chosen(model, (level,), drop_rotors)[level]
    terms, data = _Terms(model, level, drop_rotors), model.createData()
    exact, total = np.empty_like(v), np.empty_like(v)
    parts = {name: np.empty_like(v) for name in PARTS}
    for start in range(0, len(q), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        for name, x in terms.at(q[chunk], v[chunk], a[chunk]).items():
            parts[name][chunk] = x
    for i in range(len(q)):
        exact[i] = rnea(model, data, q[i], v[i], a[i])
        total[i] = exact[i] - approximation.rnea(q[i], v[i], a[i])
    return Decomposition(model.name, level, bool(drop_rotors), column_names(model), exact, total, parts)


class _Terms:
    def __init__(self, model: ClusterModel, level: str, drop_rotors: bool) -> None:
        self.model, self.level = model, level
        self.span = expand(model)
        self.bodies = _rotors.spinning_bodies(model, self.span)
        self.keeps_rotors = level in ("unconstrained", "frozen")
        self.dropped = drop_rotors and not self.keeps_rotors
        self.placed = _rotors.placements_needed(self.bodies, self.dropped)
        rows = np.array([b.row for b in self.bodies], dtype=np.int64)
        self.locked = _loops.Locked(model, rows) if model.closures else None
        self.G0 = np.zeros(0)
        if level == "frozen":
            self.G0 = self.span.from_tree @ coupling_jacobian(model, model.createData(), model.q_reference)
        elif level == "unconstrained":
            self.G0 = np.zeros((self.span.tree.nv, model.nv))
            self.G0[self.span.from_tree_v[model.idx_v_independent], np.arange(model.nv)] = 1.0

    def at(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[str, np.ndarray]:
        """Evaluate the parts at N states, in the order of ``PARTS``; each part has shape (N, nv)."""
        exact = self._exact(q, v, a)
        reflected = _rotors.reflected_matrix(self.bodies, exact.G)
        terms = {k: apply(transposed(exact.G), x) for k, x in _rotors.spin_terms(self.bodies, exact).items()}
        parts = dict.fromkeys(PARTS, np.zeros_like(v)) | terms
        if self.keeps_rotors:
            # "unconstrained" keeps the exact tree velocity; "frozen" uses the coupling Jacobian of the reference pose.
            approximate_motion = exact.motion
            if self.level == "frozen":
                approximate_motion = motion(self.span, q, apply(self.G0, v), self.placed)
            approximate = Spin(self.G0, approximate_motion, apply(self.G0, a), np.zeros_like(exact.bias))
            for k, x in _rotors.spin_terms(self.bodies, approximate).items():
                parts[k] = terms[k] - apply(approximate.G.T, x)
            reflected = reflected - _rotors.reflected_matrix(self.bodies, approximate.G)
            assert self.locked is not None  # these approximations require closed loops
            parts |= self.locked.terms(q, exact, approximate)
        elif self.level == "diagonal":
            reflected = reflected * (1.0 - np.eye(self.model.nv))
        elif self.level == "block":
            reflected = np.zeros_like(reflected)
        elif self.level == "armature":
            armature = self._driver_armature()
            on_drivers = armature[:, None] * exact.G
            reflected = reflected - transposed(exact.G) @ on_drivers
            parts["coupling rate"] = terms["coupling rate"] - apply(transposed(on_drivers), exact.bias)
        parts["reflected, diagonal"] = np.einsum("...ii->...i", reflected) * a
        parts["reflected, off-diagonal"] = apply(reflected * (1.0 - np.eye(self.model.nv)), a)
        if self.dropped:
            parts["rotor mass"] = apply(transposed(exact.G), _rotors.rotor_mass(self.bodies, exact))
        return parts

    def _exact(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Spin:
        if self.locked is None:
            G, g = self.span.G, np.zeros((len(q), self.span.tree.nv))
        else:
            G, g = self.locked.coupling(q, v)
        return Spin(G, motion(self.span, q, apply(G, v), self.placed), apply(G, a), g)

    def _driver_armature(self) -> np.ndarray:
        armature = np.zeros(self.span.tree.nv)
        for b, r in zip(self.bodies, self.model.rotors, strict=True):
            for iv, ratio in r.drivers:
                armature[self.span.from_tree_v[iv]] += b.reflected * ratio**2
        return armature
