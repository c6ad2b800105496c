"""Identifiable combinations of inertial parameters (base parameters), computed cluster by cluster.

A change of a cluster's parameters has no effect on torques under two conditions. First, in every motion, the change
acts like an additional rigid body on the carrier, which is the body to which the cluster is attached. Second, a change
of the carrier's parameters cancels this additional body. Therefore, each cluster and its carrier form a separate
problem. For single joints, see Gautier and Khalil 1990 and Wensing, Niemeyer and Slotine; this module adds
rotors, couplings and loops. Energies are not used, because the kinetic energy excludes some armatures of ball joints.
"""

import warnings

import numpy as np

from ..._support.arrays import whole_number
from ..._support.trees import in_v
from ...errors import BranchLost, PinClustersWarning, SingularClusterError
from ...model import ClusterData, ClusterModel, ParameterColumns, check_model, parameter_columns
from ...model.configuration import integrate, neutral
from ..dynamics.condition import condition
from .inertial_parameters import parameters
from .regressors import computeJointTorqueRegressor

_BODY = 10
_CERTAIN, _LEVEL, _ROUNDING, _GAP = 1e-6, 1e-8, 1e-13, 1e4
"""Thresholds for singular values of a matrix with columns of norm 1. Values above ``_CERTAIN`` are significant, and
values below ``_LEVEL`` are not. Between them, values above the gap (largest ratio of neighbours) are significant if the
ratio is at least ``_GAP``; otherwise, all values are significant. Rounding errors are below 4e-10."""
_SMALL = 1e-9
"""Limit below which coefficients are set to zero."""
_SHORTEST = 1e-4
"""Smallest norm by which a column is divided, relative to the largest norm; rounding dominates in shorter columns."""
_NEW, _LARGEST = 1e-3, 1e5
"""``_NEW``: minimum norm of a column minus its projection on those chosen before; ``_LARGEST``: largest coefficient."""
_FAR, _NEAR, _LEAST = 8.0, 1.5, 1e-3
"""Largest step between poses for models without loops and with loops, and smallest step, [rad] or [m]."""
_REGULAR, _TRIES, _WALK = 30.0, 100, 8
"""``_REGULAR``: limit of the condition number of loops, raised to 4 times the number at the first pose if necessary.
Rounding errors grow with its square. ``_TRIES``: attempts per pose. ``_WALK``: poses per random walk."""


def identifiable_parameters(model: ClusterModel, *, seed: int = 0) -> tuple[np.ndarray, tuple[str, ...]]:
    """Compute the combinations of inertial parameters that the torques determine (base parameters).

    Each base parameter is one parameter, called pivot, plus multiples of parameters that the torques cannot separate
    from the pivot. The pivots are usually the first independent columns with enough effect on the torques; their
    indices are ``p = ((basis == 1.0) & (np.count_nonzero(basis, axis=0) == 1)).argmax(axis=1)``. For the regressor Y of
    ``computeJointTorqueRegressor``, ``Y @ values`` equals ``Y[:, p] @ basis @ values`` in every state.

    The regressors are evaluated at random poses that are reachable from ``pc.neutral``. The number of base parameters
    is the number of significant singular values of the regressor with normalized columns. Significant values exceed
    1e-8 and are separated from smaller values by a factor of at least 1e4. Loops with many bodies and few degrees of
    freedom may have no such gap. Then all singular values above 1e-8 are significant, the equation above has errors of
    about 1e-5 of the largest entry, and a warning lists the singular values.

    Args:
        model: Cluster model.
        seed: Seed of the random poses. The result does not depend on the seed.

    Returns:
        ``basis``, shape (identifiable, parameters), and labels such as ``"knee: Izz + 0.09 foot: mass"``. The base
        parameters are ``basis @ values``, in the units of the pivots. The pivot columns of ``basis`` form the identity.

    Raises:
        ArgumentTypeError: ``model`` is not a cluster model, or ``seed`` is not an integer.
        SingularClusterError: No regular pose of a loop was found.

    Warns:
        PinClustersWarning: The singular values have no gap, so the number of base parameters depends on the threshold.

    References:
        docs/algorithms.md, (Y3); Gautier and Khalil, "Direct calculation of minimum set of inertial parameters of
        serial robots", 1990; Wensing, Niemeyer and Slotine, "A geometric characterization of observability in inertial
        parameter identification"; Gu and Eisenstat, "Efficient algorithms for computing a strong rank-revealing QR
        factorization", 1996.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> model = pc.ClusterModel(pin.buildSampleModelManipulator())
        >>> basis, labels = pc.identifiable_parameters(model)
        >>> basis.shape
        (38, 60)
    """
    check_model(model, "identifiable_parameters")
    seed = whole_number("identifiable_parameters: seed", seed, 0)
    columns = parameter_columns(model)
    blocks = [_columns_of(model, columns, i) for i in range(len(model.clusters))]
    states = 2 * max((len(block) for block in blocks), default=0) + 4 * _BODY
    Y_fixed = _torques(model, states, 0)  # fixed seed: the pivots must not depend on the user's seed
    Y = Y_fixed if seed == 0 else _torques(model, states, seed)
    bases, pivots, size = np.zeros((2, columns.width, columns.width)), list[int](), np.ones(columns.width)
    # The loop visits carriers before the clusters that they carry.
    for cluster, block in zip(model.clusters, blocks, strict=True):
        carrier = model.getJointId(cluster.output_body) if cluster.output_body != "universe" else 0
        carrier_columns = np.arange(_BODY * (carrier - 1), _BODY * carrier) if carrier else np.zeros(0, dtype=np.int64)
        carrier_columns, selected = _spanning(
            Y_fixed, carrier_columns, block, f"{', '.join(cluster.joints)} in {model.name!r}"
        )
        dependent = np.setdiff1d(block, selected)
        for basis, regressor in zip(bases, (Y_fixed, Y), strict=True):
            X = _combinations(regressor, np.concatenate([carrier_columns, selected]), dependent)
            basis[selected, selected] = 1.0
            basis[:, dependent] = basis[:, carrier_columns] @ X[: len(carrier_columns)]
            basis[np.ix_(selected, dependent)] += X[len(carrier_columns) :]
        pivots += selected.tolist()
        size[block] = _norms(Y_fixed[:, block])
    # A carrier's columns may follow the columns of its cluster, so the pivots are chosen again among all columns.
    choose, A = bases[:, pivots] * size[pivots, None] / size
    first, _ = _select(choose)
    A = np.linalg.solve(A[:, first], A)
    A[np.abs(A) < _SMALL] = 0.0
    A[:, first] = np.eye(len(first))
    basis = A * size / size[first, None]
    names = parameters(model)[1]
    return basis, tuple(combination(row, int(i), names) for row, i in zip(basis, first, strict=True))


def _columns_of(model: ClusterModel, columns: ParameterColumns, i: int) -> np.ndarray:
    cluster, tree = model.clusters[i], model.own_tree
    ids = [tree.getJointId(name) for name in cluster.joints]
    groups = [np.arange(_BODY * (j - 1), _BODY * j) for j in sorted(ids)]
    groups.append(np.array([columns.rotors_from + k for k, r in enumerate(columns.rotors) if r.name in cluster.rotors]))
    moving = {iv for j in ids for iv in in_v(tree, j)}
    groups.append(np.array([columns.armatures_from + k for k, iv in enumerate(columns.armatures) if iv in moving]))
    rods = [k for k, rod in enumerate(columns.rods) if any(rod.source is c for c in cluster.constraints)]
    groups.append(columns.rods_from + np.array(rods))
    return np.concatenate(groups).astype(np.int64)


def _torques(model: ClusterModel, states: int, seed: int) -> np.ndarray:
    """Return the R factor (QR) of stacked regressors at random states, each divided by its largest absolute entry."""
    rng, data = np.random.default_rng(seed), ClusterData(model)
    blocks: list[np.ndarray] = []
    start = q = neutral(model)
    largest_condition = max([_REGULAR, *(4.0 * loop.K_d for loop in condition(model, data, start))])
    reach, walk = (_NEAR, _WALK) if model.closures else (_FAR, 1)
    while len(blocks) < states:
        # With loops, each step starts at the last pose, because small steps from the first pose would reach few poses.
        q = q if len(blocks) % walk else start
        for _ in range(_TRIES):
            step = reach * rng.uniform() * rng.uniform(-1.0, 1.0, model.nv)
            try:
                moved = _stepped(model, q, step)
                regular = all(loop.K_d < largest_condition for loop in condition(model, data, moved))
            except (BranchLost, SingularClusterError):
                regular = False
            if regular:
                q = moved
                break
            q = start
        Y = computeJointTorqueRegressor(model, data, q, *rng.standard_normal((2, model.nv)))
        blocks.append(Y / max(np.abs(Y).max(initial=0.0), np.finfo(float).tiny))
    width = parameter_columns(model).width
    return np.asarray(np.linalg.qr(np.vstack([np.zeros((1, width)), *blocks]), mode="r"))


def _stepped(model: ClusterModel, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    while True:
        try:
            return integrate(model, q, step)
        except (BranchLost, SingularClusterError):
            step = step / 2.0
            if np.abs(step).max() < _LEAST:
                raise


def _norms(A: np.ndarray) -> np.ndarray:
    size = np.linalg.norm(A, axis=0)
    return np.maximum(size, max(_SHORTEST * size.max(initial=0.0), np.finfo(float).tiny))


def _spanning(Y: np.ndarray, carrier: np.ndarray, cluster: np.ndarray, about: str) -> tuple[np.ndarray, np.ndarray]:
    """Choose independent columns of a carrier and of its cluster that span all columns of carrier and cluster."""
    A = Y[:, np.concatenate([carrier, cluster])]
    A = A / _norms(A)
    n = len(carrier)
    of_carrier, Q = _select(A[:, :n])
    of_cluster, _ = _select(A[:, n:] - Q @ (Q.T @ A[:, n:]), about)
    return carrier[of_carrier], cluster[of_cluster]


def _combinations(Y: np.ndarray, chosen: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Express the other columns as combinations of the chosen columns; return coefficients, shape (chosen, others)."""
    size = _norms(Y[:, np.concatenate([chosen, others])])
    by, of = size[: len(chosen)], size[len(chosen) :]
    X = np.linalg.lstsq(Y[:, chosen] / by, Y[:, others] / of, rcond=None)[0]
    X[np.abs(X) < _SMALL] = 0.0
    return X * of / by[:, None]


def _select(A: np.ndarray, about: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Choose columns, preferably the first ones, that span all columns; also return an orthonormal basis.

    If the chosen columns are almost dependent, the coefficients that express the other columns exceed ``_LARGEST``.
    Then columns are exchanged until no coefficient exceeds this limit (Gu and Eisenstat).
    """
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    rank = _rank(s, about)
    A = U[:, :rank].T @ A
    selected, residuals = list[int](), A.copy()
    for k in range(A.shape[1]):
        if len(selected) < rank and np.linalg.norm(residuals[:, k]) > _NEW:
            selected.append(k)
            residuals = _project_out(residuals, residuals[:, k])
    while len(selected) < rank:
        k = int(np.linalg.norm(residuals, axis=0).argmax())
        selected.append(k)
        residuals = _project_out(residuals, residuals[:, k])
    while rank:
        X = np.linalg.solve(A[:, selected], A)
        i, new = divmod(int(np.abs(X).argmax()), X.shape[1])
        if abs(X[i, new]) <= _LARGEST:
            break
        selected[i] = new
    return np.sort(np.array(selected, dtype=np.int64)), U[:, :rank]


def _rank(s: np.ndarray, about: str) -> int:
    """Count the significant singular values; warn if there is no gap and ``about`` is not empty."""
    first, last = int((s > _CERTAIN).sum()), int((s > _LEVEL).sum())
    ends = np.maximum(np.concatenate([[1.0], s, [0.0]]), _ROUNDING)
    gaps = (ends[:-1] / ends[1:])[first : last + 1]
    if gaps.max() >= _GAP:
        return first + int(gaps.argmax())
    if about:
        warnings.warn(
            f"identifiable_parameters: the singular values of {about} decrease without a gap: ..., "
            f"{', '.join(f'{x:.1e}' for x in s[max(last - 4, 0) : last + 3])}, ... The {last} values above "
            f"{_LEVEL:g} count as base parameters. The last few hardly affect torques, so logs cannot determine them.",
            PinClustersWarning,
            stacklevel=5,
        )
    return last


def _project_out(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    u = x / np.linalg.norm(x)
    return A - np.outer(u, u @ A)


def combination(row: np.ndarray, pivot: int, names: tuple[str, ...]) -> str:
    """Format a linear combination of parameters, starting with the pivot parameter."""
    parts = [names[pivot]]
    for k in np.flatnonzero(row):
        if k != pivot:
            parts.append(f"{'-' if row[k] < 0.0 else '+'} {abs(row[k]):.4g} {names[k]}")
    return " ".join(parts)
