"""What a valid q is: couplings fulfilled, quaternions and (cos, sin) pairs of unit norm."""

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

# float32 input is off by 1e-7 of its size; a real mistake is orders larger
TOLERANCE = 1e-6
# Pinocchio writes "no limit" as the largest float
UNLIMITED = 1e100
# first entry and number of entries that must have unit norm, per kind of joint
_UNIT = {layout.FREEFLYER: (3, 4), layout.SPHERICAL: (0, 4), layout.PLANAR: (2, 2), layout.CONTINUOUS: (0, 2)}


@dataclass(frozen=True)
class Manifold:
    """The couplings and unit norms of a model, ready for use."""

    couplings: tuple[Follower, ...]  # one per row of ``model.coupling_rows``
    # those that are solved by substitution, masters before dependents; the others are in closed loops
    followers: tuple[Follower, ...]
    # name of the joint, first and last index (exclusive) in q of each group of unit norm
    units: tuple[tuple[str, int, int], ...]
    linear: bool  # whether no (cos, sin) pair is coupled; then ``q[dependents] = map @ q[leaders] + offsets``
    dependents: np.ndarray  # indices in q
    leaders: np.ndarray  # indices in q
    map: np.ndarray  # shape (dependents, leaders); chains are resolved
    offsets: np.ndarray  # shape (dependents,)
    affine: Affine  # the same, q to q
    neutral: np.ndarray  # result of ``neutral``, read-only
    bounded: np.ndarray  # per entry of q, whether ``randomConfiguration`` draws it between limits
    limits: tuple[np.ndarray, np.ndarray]  # between which it draws by default, see ``finite_limits``
    # the shortest ways onto the couplings, by held joints, as they are needed
    ways: dict[tuple[int, ...], Way] = field(default_factory=dict)

    def follow(self, q: np.ndarray) -> np.ndarray:
        """Set the dependent joints from the independent ones, in place.

        A dependent joint whose master is continuous keeps the number of turns that is nearest to its present value.
        """
        with np.errstate(invalid="ignore", over="ignore"):  # inf and NaN propagate
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
        """Return the residual of each coupling, [rad] or [m]."""
        return np.array([f.residual(q) for f in self.couplings])

    def way(self, model: ClusterModel, held: tuple[int, ...]) -> Way:
        """Return the shortest way onto the couplings for some held joints (ids), which is kept."""
        found = self.ways.get(held)
        if found is None:
            if len(self.ways) > 256:  # somebody tries all combinations
                self.ways.clear()
            found = self.ways[held] = shortest_way(model, self.followers, held)
        return found


def manifold(model: Any) -> Manifold:
    """Return the manifold of a model; made once per model.

    Raises:
        ArgumentTypeError: It is not a cluster model.
    """
    if type(model) is not ClusterModel:
        check_model(model)
    found: Manifold | None = model._manifold
    if found is None:
        found = _make(model)
        object.__setattr__(model, "_manifold", found)
    return found


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
    whole = np.array([resolved[f.iq] for f in followers]).reshape(len(followers), len(leaders) + 1)
    columns, offsets = np.ascontiguousarray(whole[:, :-1]), np.ascontiguousarray(whole[:, -1])
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
    if model.closures or model._wishes[0] is not None:
        shape.neutral[:] = model.q_reference
    else:
        shape.follow(shape.neutral)
    shape.neutral.setflags(write=False)
    return shape


def finite_limits(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return limits between which Pinocchio can draw: [-1, 1] without limits, 2 away from a single limit.

    Args:
        low: Lower limits, shape (nq,).
        high: Upper limits, shape (nq,); where they are below the lower ones, there are no limits.
    """
    no_low, no_high = ~(np.abs(low) < UNLIMITED), ~(np.abs(high) < UNLIMITED)
    none = ~(low <= high) | (no_low & no_high)
    return (
        np.where(none, -1.0, np.where(no_low, high - 2.0, low)),
        np.where(none, 1.0, np.where(no_high, low + 2.0, high)),
    )


@_documented
def residual(model: ClusterModel, q: ArrayLike) -> np.ndarray:
    """Return by how much q misses each coupling.

    Returns:
        Dependent joint minus what the coupling asks, one entry per row of ``model.coupling_rows``, [rad] or [m]; then
        the rows of ``model.closures``: see ``pc.residual_rows`` for labels and units. Where a joint of a coupling is
        continuous, whole turns are left out. Rotations are rotation vectors, [rad].
    """
    shape = manifold(model)
    q = configuration(model, "q", q)
    explicit = shape.residual(q)
    return np.concatenate([explicit, loops_of(model).every.residual(q)]) if model.closures else explicit


@dataclass(frozen=True)
class ResidualRow:
    """What one entry of ``pc.residual`` says.

    Attributes:
        label: The constraint, and which of its rows.
        unit: ``"m"``, ``"rad"`` or ``""``.
        scale: What a residual is compared with: the loop's length, 1 rad, or the norm of the row of K at the reference.
    """

    label: str
    unit: str
    scale: float


@_documented
def residual_rows(model: ClusterModel) -> tuple[ResidualRow, ...]:
    """Return label, unit and scale of each entry of ``pc.residual``.

    Returns:
        One per entry.

    References:
        The rows of ``model.coupling_rows`` and ``model.closures``.
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
        tolerance: Allowed residual of a coupling, as a part of its largest term (at least of 1 rad or 1 m), of a loop
            as a part of its length (of 1 rad), and allowed deviation of a quaternion or (cos, sin) pair from unit norm.

    Raises:
        ConfigurationError: q is not finite, off a coupling or a loop, or a quaternion or (cos, sin) pair has not unit
            norm.
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
            f"q is off the couplings of model {model.name!r}: {worst.label} is at "
            f"{value_at(q, worst.iq, worst.nq):.9g}, which is {worst.residual(q):+.3g} (rad or m) from where its "
            "masters put it. Use q = pc.project(model, q), and move q with pc.integrate."
        )
    if model.closures:
        check_closed(model, q, tolerance)


def check_norms(shape: Manifold, q: np.ndarray, tolerance: float) -> None:
    """Check the unit norms."""
    for name, first, last in shape.units:
        norm = np.linalg.norm(q[first:last])
        if not abs(norm - 1.0) <= tolerance:
            what = "quaternion" if last - first == 4 else "(cos, sin) pair"
            cure = "q = pc.project(model, q) makes it one." if norm > 0.0 else "Start from pc.neutral(model)."
            raise ConfigurationError(
                f"the {what} of joint {name!r}, q[{first}:{last}], has norm {norm:.9g} instead of 1. {cure}"
            )
