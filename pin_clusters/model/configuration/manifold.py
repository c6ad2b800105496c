"""The manifold of valid configurations, which satisfy the couplings, the loop closures and the unit norms."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import ArrayLike, configuration
from ..._support.docstrings import COMMON, stock
from ..._support.trees import check_finite, value_at
from ...errors import ConfigurationError
from ...kernels.tables import layout
from .. import ClusterModel, Follower, check_closed, check_model, loops_of, primitives_of, rounded
from ._shortest import Affine, Way, shortest_way

_documented = stock(
    COMMON,
    """
References:
    The rows of ``model.coupling_rows``.
""",
)

TOLERANCE = 1e-6  # Values in float32 have relative errors of 1e-7; real mistakes are orders of magnitude larger.
UNLIMITED = 1e100  # Pinocchio represents "no limit" by the largest float.
# For each type of joint: first index and number of the entries that form a quaternion or a (cos, sin) pair.
_UNIT = {layout.FREEFLYER: (3, 4), layout.SPHERICAL: (0, 4), layout.PLANAR: (2, 2), layout.CONTINUOUS: (0, 2)}


@dataclass(frozen=True)
class Manifold:
    """The couplings and the unit-norm conditions of a model, as arrays for fast evaluation."""

    couplings: tuple[Follower, ...]  # one per row of ``model.coupling_rows``
    # Couplings that are solved by substitution, in evaluation order. All other couplings are in closed loops.
    followers: tuple[Follower, ...]
    # For each quaternion or (cos, sin) pair: name of the joint, first index in q, and last index in q (exclusive).
    units: tuple[tuple[str, int, int], ...]
    linear: bool  # True if no (cos, sin) pair is coupled; then ``q[dependents] = map @ q[leaders] + offsets``
    dependents: np.ndarray  # indices in q
    leaders: np.ndarray  # indices in q
    map: np.ndarray  # shape (dependents, leaders); chains of couplings are resolved
    offsets: np.ndarray  # shape (dependents,)
    affine: Affine  # ``map`` and ``offsets`` as one affine map of q
    neutral: np.ndarray  # result of ``neutral``, read-only
    bounded: np.ndarray  # whether ``randomConfiguration`` draws each entry between limits, shape (nq,)
    limits: tuple[np.ndarray, np.ndarray]  # default limits of ``randomConfiguration``, see ``finite_limits``
    # Maps held joints to the smallest correction that satisfies the couplings; entries are computed on first use.
    ways: dict[tuple[int, ...], Way] = field(default_factory=dict)

    def follow(self, q: np.ndarray) -> np.ndarray:
        """Set the dependent joints in q, in place; choose full turns so that these joints move the least."""
        with np.errstate(invalid="ignore", over="ignore"):  # Inf and NaN propagate.
            if self.linear:
                return self.affine.apply(q, q)
            for f in self.followers:
                value = f.target(q)
                if f.nq == 2:
                    q[f.iq], q[f.iq + 1] = np.cos(value), np.sin(value)
                else:
                    q[f.iq] = value + (f.period * rounded((q[f.iq] - value) / f.period) if f.period else 0.0)
        return q

    def residual(self, q: np.ndarray) -> np.ndarray:
        return np.array([f.residual(q) for f in self.couplings])

    def way(self, model: ClusterModel, held: tuple[int, ...]) -> Way:
        """Return the cached map from residuals to the smallest step that removes them without moving ``held``."""
        correction = self.ways.get(held)
        if correction is None:
            if len(self.ways) > 256:  # Limit the cache, because a program may hold many combinations of joints.
                self.ways.clear()
            correction = self.ways[held] = shortest_way(model, self.followers, held)
        return correction


def manifold(model: Any) -> Manifold:
    if type(model) is not ClusterModel:
        check_model(model)
    stored: Manifold | None = model._manifold
    if stored is None:
        stored = _make(model)
        object.__setattr__(model, "_manifold", stored)
    return stored


def _make(model: ClusterModel) -> Manifold:
    tree = model.own_tree
    couplings = [Follower.of(tree, row) for row in model.coupling_rows]
    solved = {id(row) for row in model.tables.topology.substituted}
    followers = [f for f, row in zip(couplings, model.coupling_rows, strict=True) if id(row) in solved]
    linear = not any(f.nq == 2 or f.period for f in followers)
    units = tuple(
        (tree.names[j], p.iq + _UNIT[p.kind][0], p.iq + sum(_UNIT[p.kind]))
        for j in range(1, tree.njoints)
        for p in primitives_of(tree.joints[j], tree.jointPlacements[j], tree.names[j])
        if p.kind in _UNIT
    )
    dependents = np.array([f.iq for f in followers], dtype=np.int64)
    leaders = np.array(sorted({m[0] for f in followers for m in f.masters} - {f.iq for f in followers}), dtype=np.int64)
    resolved: dict[int, np.ndarray] = {iq: np.eye(len(leaders) + 1)[i] for i, iq in enumerate(leaders.tolist())}
    for f in followers:
        line = np.zeros(len(leaders) + 1)
        line[-1] = f.offset
        resolved[f.iq] = sum((c * resolved[iq] for iq, _, _, c in f.masters), line)
    coefficients = np.array([resolved[f.iq] for f in followers]).reshape(len(followers), len(leaders) + 1)
    columns, offsets = np.ascontiguousarray(coefficients[:, :-1]), np.ascontiguousarray(coefficients[:, -1])
    affine = Affine.of_rows(
        (int(iq), float(offset), [(int(leaders[k]), float(line[k])) for k in np.flatnonzero(line)])
        for iq, offset, line in zip(dependents, offsets, columns, strict=True)
    )
    bounded = np.ones(model.nq, dtype=bool)
    for first, last in [(f.iq, f.iq + f.nq) for f in followers] + [(first, last) for _, first, last in units]:
        bounded[first:last] = False
    low, high = model.lowerPositionLimit, model.upperPositionLimit
    limits = finite_limits(np.where(bounded, low, -1.0), np.where(bounded, high, 1.0))
    shape = Manifold(
        tuple(couplings),
        tuple(followers),
        units,
        linear,
        dependents,
        leaders,
        columns,
        offsets,
        affine,
        pin.neutral(tree),
        bounded,
        limits,
    )
    if model.closures or model._requested[0] is not None:
        shape.neutral[:] = model.q_reference
    else:
        shape.follow(shape.neutral)
    shape.neutral.setflags(write=False)
    return shape


def finite_limits(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return finite limits: [-1, 1] if none is finite or low > high, an interval of length 2 if only one is finite."""
    no_low, no_high = ~(np.abs(low) < UNLIMITED), ~(np.abs(high) < UNLIMITED)
    none = ~(low <= high) | (no_low & no_high)
    return (
        np.where(none, -1.0, np.where(no_low, high - 2.0, low)),
        np.where(none, 1.0, np.where(no_high, low + 2.0, high)),
    )


@_documented
def residual(model: ClusterModel, q: ArrayLike) -> np.ndarray:
    """Return the residual of each coupling and loop-closure constraint at q.

    Returns:
        Residuals of ``model.coupling_rows`` (dependent joint minus prescribed value, [rad] or [m]), followed by the
        residuals of ``model.closures``. ``pc.residual_rows`` returns their labels and units. Residuals of couplings
        with a continuous joint ignore full turns. Residuals of rotations are rotation vectors, [rad].

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> bool(abs(pc.residual(model, pc.neutral(model))).max() < 1e-12)
        True
    """
    shape = manifold(model)
    q = configuration(model, "q", q)
    explicit = shape.residual(q)
    return np.concatenate([explicit, loops_of(model).every.residual(q)]) if model.closures else explicit


@dataclass(frozen=True)
class ResidualRow:
    """Label, unit and scale of one entry of ``pc.residual``.

    Attributes:
        label: Name of the constraint, and of the equation within the constraint.
        unit: ``"m"``, ``"rad"`` or ``""``.
        scale: Reference value for the residual: the loop length [m], 1 rad, or the norm of the row of the constraint
            Jacobian K at the reference pose.

    Example:
        >>> import pin_clusters as pc
        >>> row = pc.residual_rows(pc.load("four_bar"))[0]
        >>> row.label, row.unit
        ("Loop('coupler_to_rocker'): x", 'm')
    """

    label: str
    unit: str
    scale: float


@_documented
def residual_rows(model: ClusterModel) -> tuple[ResidualRow, ...]:
    """Return the label, unit and scale of each entry of ``pc.residual``.

    Returns:
        One ``ResidualRow`` per entry of ``pc.residual``.

    References:
        The rows of ``model.coupling_rows`` and ``model.closures``.

    Example:
        >>> import pin_clusters as pc
        >>> [row.unit for row in pc.residual_rows(pc.load("four_bar"))]
        ['m', 'm', 'm', 'rad', 'rad']
    """
    shape, tree = manifold(model), model.own_tree
    slides = {tree.idx_vs[j] for j in range(1, tree.njoints) if tree.joints[j].shortname().startswith("JointModelP")}
    rows = [ResidualRow(f.label, "m" if f.iv in slides else "rad", 1.0) for f in shape.couplings]
    if model.closures:
        every = loops_of(model).every
        rows += [
            ResidualRow(*row) for row in zip(every.labels, every.units, every.scales(model.q_reference), strict=True)
        ]
    return tuple(rows)


@_documented
def check(model: ClusterModel, q: ArrayLike, tolerance: float = TOLERANCE) -> None:
    """Check that q is a valid configuration.

    Args:
        tolerance: Largest allowed residual of a coupling, relative to its largest term (at least 1 rad or 1 m), and of
            a loop, relative to the loop length (or 1 rad). Also the largest allowed deviation of the norm of a
            quaternion or (cos, sin) pair from 1.

    Raises:
        ConfigurationError: q is not finite, violates a coupling or a loop, or a quaternion or (cos, sin) pair does not
            have unit norm.
    """
    shape = manifold(model)
    q = configuration(model, "q", q)
    check_finite(model.own_tree, "q", q)
    check_norms(shape, q, tolerance)
    worst, excess = None, 1.0
    for f in shape.couplings:
        terms = [abs(c * value_at(q, iq, nq)) for iq, nq, _, c in f.masters]
        allowed = tolerance * max(1.0, abs(f.offset), *terms)
        if abs(f.residual(q)) > excess * allowed:
            worst, excess = f, abs(f.residual(q)) / allowed
    if worst is not None:
        raise ConfigurationError(
            f"q violates the couplings of model {model.name!r}: {worst.label} is at "
            f"{value_at(q, worst.iq, worst.nq):.9g}, which is {worst.residual(q):+.3g} (rad or m) from the value that "
            "the coupling prescribes. Use q = pc.project(model, q), and move q with pc.integrate."
        )
    if model.closures:
        check_closed(model, q, tolerance)


def check_norms(shape: Manifold, q: np.ndarray, tolerance: float) -> None:
    for name, first, last in shape.units:
        norm = np.linalg.norm(q[first:last])
        if not abs(norm - 1.0) <= tolerance:
            kind = "quaternion" if last - first == 4 else "(cos, sin) pair"
            cure = "Use q = pc.project(model, q)." if norm > 0.0 else "Start from pc.neutral(model)."
            raise ConfigurationError(
                f"the {kind} of joint {name!r}, q[{first}:{last}], has norm {norm:.9g} instead of 1. {cure}"
            )
