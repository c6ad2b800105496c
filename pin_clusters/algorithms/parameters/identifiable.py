"""Which combinations of inertial parameters the torques determine: cluster by cluster.

Parameters of a cluster change no torque, its own and those below it, only if what they change acts on the body that
carries the cluster as a rigid body there does, whatever the cluster does: what a cluster can hide, it hides in the body
below it. Each cluster is a small problem of its own (Gautier and Khalil 1990; Wensing, Niemeyer and Slotine for single
joints), here with rotors, couplings and loops in it; no two clusters are compared. Torques are asked, not energies:
armature of a joint of several freedoms has none.
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
_SURE, _LEVEL, _ROUNDING, _GAP = 1e-6, 1e-8, 1e-13, 1e4
"""Singular values above ``_SURE`` count, those below ``_LEVEL`` do not, in units of a column; between them the widest
gap decides. Rounding is at most 4e-10. A factor below ``_GAP`` is no gap: then all above ``_LEVEL`` count."""
_SMALL = 1e-9
"""Numbers below it are left out of combinations."""
_LITTLE = 1e-4
"""How long shorter columns count as, in units of the longest: their rounding is a large part of them."""
_ALONE, _LARGEST = 1e-3, 1e5
"""What part of a column must be new for it to be chosen; how often others may have to be taken to make one."""
_FAR, _NEAR, _LEAST = 8.0, 1.5, 1e-3
"""How far joints are moved in a step, without loops and with, and how far at least, [rad] or [m]."""
_REGULAR, _TRIES, _WALK = 30.0, 100, 8
"""Condition of loops up to which a pose is taken (or a few times that of the first one: rounding in it grows with the
square), how often one is looked for, and after how many poses from anew."""


def identifiable_parameters(model: ClusterModel, *, seed: int = 0) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return which combinations of parameters the torques determine, from the tree, the couplings and the loops.

    These are base parameters: each is one parameter of its own and what cannot be told from it. With the columns ``p``
    of these own parameters, ``Y @ values = Y[:, p] @ basis @ values`` at every state. They are the first ones that can
    be taken, so that ``p = (basis != 0.0).argmax(axis=1)``, but for those that torques hardly feel, or hardly tell from
    others before them (1e-3 of what others do): ``p = ((basis == 1.0) & (np.count_nonzero(basis, axis=0) ==
    1)).argmax(axis=1)`` holds for these too.

    Poses are those that the robot reaches from ``pc.neutral``. Singular values of the torques' regressor, with columns
    of length 1, decide how many combinations there are: up to a gap of a factor of 1e4 or more, and never below 1e-8.
    Loops of many bodies with few degrees of freedom may have no such gap, as each further combination changes the
    torques a little less than the one before. Then those above 1e-8 count, the equation above holds to some 1e-5 of the
    largest entry, and a warning shows the singular values.

    Args:
        model: Cluster model.
        seed: Of the poses at which mechanisms are looked at; the answer does not depend on it.

    Returns:
        ``basis``, shape (identifiable, parameters), the identity at the own parameters: ``basis @ values`` are the base
        parameters. And their labels: ``"knee: Izz + 0.09 foot: mass"``.

    Raises:
        ArgumentTypeError: ``model`` is no cluster model, or ``seed`` no whole number.
        SingularClusterError: No regular pose of a loop was found.

    Warns:
        PinClustersWarning: The singular values have no gap, so the number of combinations depends on the level 1e-8.

    References:
        Gautier and Khalil, "Direct calculation of minimum set of inertial parameters of serial robots", 1990; Wensing,
        Niemeyer and Slotine, "A geometric characterization of observability in inertial parameter identification"; Gu
        and Eisenstat, "Efficient algorithms for computing a strong rank-revealing QR factorization", 1996.

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
    seen = _torques(model, states, 0)  # by which columns are chosen, whatever the seed
    Y = seen if seed == 0 else _torques(model, states, seed)
    both, own, size = np.zeros((2, columns.width, columns.width)), list[int](), np.ones(columns.width)
    for cluster, mine in zip(model.clusters, blocks, strict=True):  # what is below comes before
        below = model.getJointId(cluster.output_body) if cluster.output_body != "universe" else 0
        there = np.arange(_BODY * (below - 1), _BODY * below) if below else np.zeros(0, dtype=np.int64)
        there, chosen = _enough(seen, there, mine, f"{', '.join(cluster.joints)} in {model.name!r}")
        others = np.setdiff1d(mine, chosen)
        for basis, given in zip(both, (seen, Y), strict=True):
            X = _combinations(given, np.concatenate([there, chosen]), others)
            basis[chosen, chosen] = 1.0
            basis[:, others] = basis[:, there] @ X[: len(there)]
            basis[np.ix_(chosen, others)] += X[len(there) :]
        own += chosen.tolist()
        size[mine] = _sizes(seen[:, mine])
    # what is below may stand behind in the order of the columns: now the first ones of all
    choose, A = both[:, own] * size[own, None] / size
    first, _ = _chosen(choose)
    A = np.linalg.solve(A[:, first], A)
    A[np.abs(A) < _SMALL] = 0.0
    A[:, first] = np.eye(len(first))
    basis = A * size / size[first, None]
    names = parameters(model)[1]
    return basis, tuple(combination(row, int(i), names) for row, i in zip(basis, first, strict=True))


def _columns_of(model: ClusterModel, columns: ParameterColumns, i: int) -> np.ndarray:
    """Columns of the parameters of a cluster."""
    cluster, tree = model.clusters[i], model.own_tree
    ids = [tree.getJointId(name) for name in cluster.joints]
    found = [np.arange(_BODY * (j - 1), _BODY * j) for j in sorted(ids)]
    found.append(np.array([columns.rotors_from + k for k, r in enumerate(columns.rotors) if r.name in cluster.rotors]))
    moving = {iv for j in ids for iv in in_v(tree, j)}
    found.append(np.array([columns.armatures_from + k for k, iv in enumerate(columns.armatures) if iv in moving]))
    mine = [k for k, rod in enumerate(columns.rods) if any(rod.source is c for c in cluster.constraints)]
    found.append(columns.rods_from + np.array(mine))
    return np.concatenate(found).astype(np.int64)


def _torques(model: ClusterModel, states: int, seed: int) -> np.ndarray:
    """Return as many rows as columns, whose products are those of the columns of the torques' regressor over states.

    Of each state the largest number is 1, so that none hides others.
    """
    rng, data = np.random.default_rng(seed), ClusterData(model)
    found: list[np.ndarray] = []
    start = q = neutral(model)
    most = max([_REGULAR, *(4.0 * loop.K_d for loop in condition(model, data, start))])
    reach, walk = (_NEAR, _WALK) if model.closures else (_FAR, 1)
    while len(found) < states:
        q = q if len(found) % walk else start  # loops go on from where they are: small steps would show little of them
        for _ in range(_TRIES):
            step = reach * rng.uniform() * rng.uniform(-1.0, 1.0, model.nv)
            try:
                moved = _moved(model, q, step)
                regular = all(loop.K_d < most for loop in condition(model, data, moved))
            except (BranchLost, SingularClusterError):
                regular = False
            if regular:
                q = moved
                break
            q = start
        Y = computeJointTorqueRegressor(model, data, q, *rng.standard_normal((2, model.nv)))
        found.append(Y / max(np.abs(Y).max(initial=0.0), np.finfo(float).tiny))
    width = parameter_columns(model).width
    return np.asarray(np.linalg.qr(np.vstack([np.zeros((1, width)), *found]), mode="r"))


def _moved(model: ClusterModel, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Move by a step, or by as much of it as loops follow."""
    while True:
        try:
            return integrate(model, q, step)
        except (BranchLost, SingularClusterError):
            step = step / 2.0
            if np.abs(step).max() < _LEAST:
                raise


def _sizes(A: np.ndarray) -> np.ndarray:
    """Return the lengths of columns, of very short ones what they count as."""
    size = np.linalg.norm(A, axis=0)
    return np.maximum(size, max(_LITTLE * size.max(initial=0.0), np.finfo(float).tiny))


def _enough(Y: np.ndarray, carrier: np.ndarray, own: np.ndarray, about: str) -> tuple[np.ndarray, np.ndarray]:
    """Return of the columns of a carrier, and of a cluster, those of which the rest is made."""
    A = Y[:, np.concatenate([carrier, own])]
    A = A / _sizes(A)
    n = len(carrier)
    kept, Q = _chosen(A[:, :n])
    chosen, _ = _chosen(A[:, n:] - Q @ (Q.T @ A[:, n:]), about)
    return carrier[kept], own[chosen]


def _combinations(Y: np.ndarray, chosen: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return other columns as combinations of chosen ones, shape (chosen, others)."""
    size = _sizes(Y[:, np.concatenate([chosen, others])])
    by, of = size[: len(chosen)], size[len(chosen) :]
    X = np.linalg.lstsq(Y[:, chosen] / by, Y[:, others] / of, rcond=None)[0]
    X[np.abs(X) < _SMALL] = 0.0
    return X * of / by[:, None]


def _chosen(A: np.ndarray, about: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Choose columns that span all of them, the first ones if they may be, and return an orthonormal basis of these.

    Where first ones are almost dependent, larger numbers than ``_LARGEST`` would be needed to make others of them:
    columns then change places until none are (Gu and Eisenstat, strong rank-revealing factorisation).
    """
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    rank = _rank(s, about)
    A = U[:, :rank].T @ A
    chosen, rest = list[int](), A.copy()
    for k in range(A.shape[1]):
        if len(chosen) < rank and np.linalg.norm(rest[:, k]) > _ALONE:
            chosen.append(k)
            rest = _without(rest, rest[:, k])
    while len(chosen) < rank:
        k = int(np.linalg.norm(rest, axis=0).argmax())
        chosen.append(k)
        rest = _without(rest, rest[:, k])
    while rank:
        X = np.linalg.solve(A[:, chosen], A)
        i, new = divmod(int(np.abs(X).argmax()), X.shape[1])
        if abs(X[i, new]) <= _LARGEST:
            break
        chosen[i] = new
    return np.sort(np.array(chosen, dtype=np.int64)), U[:, :rank]


def _rank(s: np.ndarray, about: str) -> int:
    """Return how many singular values count; warn if no gap tells, unless there is nothing to say it about."""
    first, last = int((s > _SURE).sum()), int((s > _LEVEL).sum())
    ends = np.maximum(np.concatenate([[1.0], s, [0.0]]), _ROUNDING)
    gaps = (ends[:-1] / ends[1:])[first : last + 1]
    if gaps.max() >= _GAP:
        return first + int(gaps.argmax())
    if about:
        warnings.warn(
            f"identifiable_parameters: the singular values of {about} decrease without a gap: ..., "
            f"{', '.join(f'{x:.1e}' for x in s[max(last - 4, 0) : last + 3])}, ... The {last} above {_LEVEL:g} count. "
            "Torques hardly change with the last of these combinations, so no log will determine them.",
            PinClustersWarning,
            stacklevel=5,
        )
    return last


def _without(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return columns without what they have along another."""
    u = x / np.linalg.norm(x)
    return A - np.outer(u, u @ A)


def combination(row: np.ndarray, pivot: int, names: tuple[str, ...]) -> str:
    """Write a combination: its own parameter first."""
    parts = [names[pivot]]
    for k in np.flatnonzero(row):
        if k != pivot:
            parts.append(f"{'-' if row[k] < 0.0 else '+'} {abs(row[k]):.4g} {names[k]}")
    return " ".join(parts)
