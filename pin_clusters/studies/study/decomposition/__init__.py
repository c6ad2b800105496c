"""Why an approximation is wrong: its torque error split into parts with a name each."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .... import approximations
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
    "carrier on joint": "acceleration of the carrier, felt by the joint, J g s.alpha",
    "spin on carrier": "acceleration of the rotor's spin, felt by the carrier, J s (g a)",
    "gyroscopic": "turning of the spinning rotor with its carrier, w x J s (g v)",
    "coupling rate": "change of the coupling with the pose, J Gdot v",
    "asymmetric rotors": "rotor bodies that are not balanced and axisymmetric",
    "rotor mass": "rotor mass left out",
    "dependents' torque": "torque of the joints that loops drive",
    "dependents' acceleration": "acceleration of the joints that loops drive",
    "coupling bias": "acceleration of the loops at constant speed, M g",
    "dependents' velocity": "velocity of the joints that loops drive",
}
"""What the parts are, in words."""
PARTS = tuple(PART_LABELS)

_CHUNK = 1000


@dataclass(frozen=True, eq=False)
class Decomposition(Result):
    """The torque error of an approximation, exact minus approximate, and its parts.

    Attributes:
        robot: Name of the robot.
        rung: Name of the approximation.
        drop_rotors: Whether the approximation lacks the rotors' mass.
        names: One per column: the joint, with the number of the axis if it has several, ``"base[3]"``.
        exact: Exact torques, shape (N, nv).
        total: Exact minus approximate, from their own algorithms, shape (N, nv).
        parts: Each part in the order of ``PARTS``, shape (N, nv); zero where it does not apply.
    """

    robot: str
    rung: str
    drop_rotors: bool
    names: tuple[str, ...]
    exact: np.ndarray
    total: np.ndarray
    parts: dict[str, np.ndarray]

    @property
    def residual(self) -> float:
        """Largest distance between the sum of the parts and the total, of all samples and columns.

        Relative to the exact torque of the same sample and column, or to 1 N m where that is less.
        """
        off = np.abs(sum(self.parts.values()) - self.total)
        return float(np.max(off / np.maximum(1.0, np.abs(self.exact)), initial=0.0))

    @property
    def rms(self) -> dict[str, np.ndarray]:
        """RMS of each part over the samples, shape (nv,), and of the ``total``."""
        return {name: rms(x) for name, x in {**self.parts, "total": self.total}.items()}

    @property
    def share(self) -> dict[str, np.ndarray]:
        """Share of each part in the error of each column, ``<part, total> / <total, total>``, shape (nv,).

        The shares of a column add up to 1. One is negative where a part makes the error smaller. All are 0 where the
        error is rounding only, below 1e-12 of the exact torque or of 1 N m.
        """
        square = np.sum(self.total**2, axis=0)
        nothing = square <= 1e-24 * np.maximum(len(self.total), np.sum(self.exact**2, axis=0))
        scale = np.where(nothing, np.inf, square)
        return {name: np.sum(x * self.total, axis=0) / scale for name, x in self.parts.items()}

    @property
    def overall(self) -> dict[str, float]:
        """Share of each part in the error of all columns together; of joints that turn and slide, a mix of units."""
        square = float(np.sum(self.total**2))
        if square <= 1e-24 * max(self.total.size, float(np.sum(self.exact**2))):
            return dict.fromkeys(self.parts, 0.0)
        return {name: float(np.sum(x * self.total)) / square for name, x in self.parts.items()}

    def as_dict(self) -> dict[str, Any]:
        """Return RMS and shares as plain numbers, ready for JSON."""
        head = told(self, "robot rung", rotors=locked(self.drop_rotors), samples=len(self.total))
        return head | told(self, "residual rms share overall_share:overall")


@documented
def decompose(
    model: ClusterModel, q: ArrayLike, v: ArrayLike, a: ArrayLike, rung: str | None = None, drop_rotors: bool = False
) -> Decomposition:
    """Split the torque error of an approximation into its parts, each from its own formula.

    The formulas are on the page "Decomposition" of the documentation. Nothing is found by subtraction: the sum
    of the parts is a second computation of exact minus approximate, and ``residual`` says how well they agree.

    Args:
        model: The robot; without closed loops its dependent joints must be rotors.
        q: Configurations of the tree, shape (N, nq); or one, shape (nq,).
        rung: An approximation of ``approximations.names(model)``; by default ``"diagonal"``, or, with closed loops,
            ``"armature"`` if there are rotors and ``"frozen"`` if not.
        drop_rotors: Leave the rotors' mass out of the approximation; ``unconstrained`` and ``frozen`` keep it.

    Returns:
        The parts, their RMS and shares.

    Raises:
        SingularClusterError: The independent velocities do not determine the others at a sample.

    Example:
        >>> import pin_clusters as pc
        >>> from pin_clusters import study
        >>> model = pc.load("mit_humanoid_leg")
        >>> _, q, v, a = study.Sine(duration=1.0, dt=0.01).states(model)
        >>> found = study.decompose(model, q, v, a, "diagonal")
        >>> knee = found.names.index("knee")
        >>> max(found.parts, key=lambda part: found.share[part][knee])
        'reflected, off-diagonal'
    """
    check_model(model, "study.decompose")
    if rung is None:
        rung = usual(approximations.names(model))
    q, v, a = rows(model, q, v, a)
    approximation = chosen(model, (rung,), drop_rotors)[rung]
    terms, data = _Terms(model, rung, drop_rotors), model.createData()
    exact, total = np.empty_like(v), np.empty_like(v)
    parts = {name: np.empty_like(v) for name in PARTS}
    for start in range(0, len(q), _CHUNK):
        at = slice(start, start + _CHUNK)
        for name, x in terms.at(q[at], v[at], a[at]).items():
            parts[name][at] = x
    for i in range(len(q)):
        exact[i] = rnea(model, data, q[i], v[i], a[i])
        total[i] = exact[i] - approximation.rnea(q[i], v[i], a[i])
    return Decomposition(model.name, rung, bool(drop_rotors), column_names(model), exact, total, parts)


class _Terms:
    """Evaluates the parts for one rung, which may lack the rotors' mass."""

    def __init__(self, model: ClusterModel, rung: str, drop_rotors: bool) -> None:
        self.model, self.rung = model, rung
        self.span = expand(model)
        self.bodies = _rotors.spinning_bodies(model, self.span)
        self.keeps_rotors = rung in ("unconstrained", "frozen")
        self.dropped = drop_rotors and not self.keeps_rotors
        self.placed = _rotors.placements_needed(self.bodies, self.dropped)
        rows = np.array([b.row for b in self.bodies], dtype=np.int64)
        self.locked = _loops.Locked(model, rows) if model.closures else None
        self.G0 = np.zeros(0)
        if rung == "frozen":
            self.G0 = self.span.from_tree @ coupling_jacobian(model, model.createData(), model.q_reference)
        elif rung == "unconstrained":
            self.G0 = np.zeros((self.span.tree.nv, model.nv))
            self.G0[self.span.from_tree_v[model.idx_v_independent], np.arange(model.nv)] = 1.0

    def at(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[str, np.ndarray]:
        """Return the parts at N states, each of shape (N, nv), in the order of ``PARTS``."""
        exact = self._exact(q, v, a)
        reflected = _rotors.reflected_matrix(self.bodies, exact.G)
        terms = {k: apply(transposed(exact.G), x) for k, x in _rotors.spin_terms(self.bodies, exact).items()}
        found = dict.fromkeys(PARTS, np.zeros_like(v)) | terms
        if self.keeps_rotors:
            moves = exact.motion  # loops are left out (at the true velocity) or frozen
            if self.rung == "frozen":
                moves = motion(self.span, q, apply(self.G0, v), self.placed)
            rung = Spin(self.G0, moves, apply(self.G0, a), np.zeros_like(exact.bias))
            for k, x in _rotors.spin_terms(self.bodies, rung).items():
                found[k] = terms[k] - apply(rung.G.T, x)
            reflected = reflected - _rotors.reflected_matrix(self.bodies, rung.G)
            assert self.locked is not None  # these rungs belong to closed loops
            found |= self.locked.terms(q, exact, rung)
        elif self.rung == "diagonal":
            reflected = reflected * (1.0 - np.eye(self.model.nv))
        elif self.rung == "block":
            reflected = np.zeros_like(reflected)
        elif self.rung == "armature":
            armature = self._driver_armature()
            on_drivers = armature[:, None] * exact.G
            reflected = reflected - transposed(exact.G) @ on_drivers
            found["coupling rate"] = terms["coupling rate"] - apply(transposed(on_drivers), exact.bias)
        found["reflected, diagonal"] = np.einsum("...ii->...i", reflected) * a
        found["reflected, off-diagonal"] = apply(reflected * (1.0 - np.eye(self.model.nv)), a)
        if self.dropped:
            found["rotor mass"] = apply(transposed(exact.G), _rotors.rotor_mass(self.bodies, exact))
        return found

    def _exact(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Spin:
        if self.locked is None:
            G, g = self.span.G, np.zeros((len(q), self.span.tree.nv))
        else:
            G, g = self.locked.coupling(q, v)
        return Spin(G, motion(self.span, q, apply(G, v), self.placed), apply(G, a), g)

    def _driver_armature(self) -> np.ndarray:
        """Return ``J ratio^2`` of all rotors on the joints that drive them, in the expanded tree."""
        armature = np.zeros(self.span.tree.nv)
        for b, r in zip(self.bodies, self.model.rotors, strict=True):
            for iv, ratio in r.drivers:
                armature[self.span.from_tree_v[iv]] += b.reflected * ratio**2
        return armature
