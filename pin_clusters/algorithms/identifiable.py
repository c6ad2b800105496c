"""Which combinations of inertial parameters the torques determine: cluster by cluster.

Parameters change no torque if the energies that they give do not depend on the motion. The body that carries a cluster
moves in any way that what is below it allows, whatever the cluster does. So the energies of a cluster and of all that
it carries must be those of a rigid body there: what a cluster can hide, it hides in the body below it. Each cluster is
a small problem of its own (Gautier and Khalil 1990; Wensing, Niemeyer and Slotine for single joints), here with rotors,
couplings and loops in it; no two clusters are compared.
"""

from __future__ import annotations

import numpy as np

from ..configuration import integrate, neutral
from ..errors import ArgumentTypeError, BranchLost, SingularClusterError
from ..joints import in_v
from ..model import ClusterData, ClusterModel, ParameterColumns, parameter_columns
from .inertial_parameters import parameters
from .regressors import computeKineticEnergyRegressor, computePotentialEnergyRegressor

_BODY = 10
_SMALL = 1e-8
"""Singular values below it, in units of the largest, are rounding; those that are not are larger by far."""
_FAR, _NEAR, _LEAST = 8.0, 1.5, 1e-3
"""How far joints are moved from the neutral pose, without loops and with, and how far at least, [rad] or [m]."""


def identifiable_parameters(model: ClusterModel, *, seed: int = 0) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return which combinations of parameters the torques determine, from the tree, the couplings and the loops.

    These are base parameters: each is one parameter of its own and what cannot be told from it. With the columns ``p``
    of these own parameters (``p = (basis != 0.0).argmax(axis=1)``), ``Y @ values = Y[:, p] @ basis @ values`` at every
    state.

    Poses are those that the robot reaches from ``pc.neutral``.

    Args:
        model: Cluster model.
        seed: Of the poses at which mechanisms are looked at; the answer does not depend on it.

    Returns:
        ``basis``, shape (identifiable, parameters), in reduced row echelon form: ``basis @ values`` are the base
        parameters. And their labels: ``"knee: Izz + 0.09 foot: mass"``.

    Raises:
        ArgumentTypeError: ``model`` is no cluster model.
        SingularClusterError: No regular pose of a loop was found.

    References:
        Gautier and Khalil, "Direct calculation of minimum set of inertial parameters of serial robots", 1990; Wensing,
        Niemeyer and Slotine, "A geometric characterization of observability in inertial parameter identification".

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> model = pc.ClusterModel(pin.buildSampleModelManipulator())
        >>> basis, labels = pc.identifiable_parameters(model)
        >>> basis.shape
        (38, 60)
    """
    if not isinstance(model, ClusterModel):
        raise ArgumentTypeError(f"identifiable_parameters: model must be a ClusterModel, got {type(model).__name__}.")
    columns = parameter_columns(model)
    blocks = [_columns_of(model, columns, i) for i in range(len(model.clusters))]
    rows = 2 * max((len(block) for block in blocks), default=0) + 4 * _BODY
    kinetic, potential = _energies(model, rows, seed)
    energies = np.vstack([kinetic, potential])
    hidden = []
    for cluster, mine in zip(model.clusters, blocks, strict=True):
        below = model.getJointId(cluster.output_body) if cluster.output_body != "universe" else 0
        own = energies[:, mine]
        if below:
            there = np.arange(_BODY * (below - 1), _BODY * below)
            felt = _row_space(energies[:, there])
        else:  # a constant of the potential energy, which no torque feels
            there, felt = np.zeros(0, dtype=np.int64), np.zeros((1, 0))
        seen = energies[:, there] @ felt.T if below else np.repeat([[0.0], [1.0]], rows, axis=0)
        for x in _null_space(np.hstack([own, -seen])):
            vector = np.zeros(columns.width)
            vector[mine] = x[: len(mine)]
            vector[there] -= felt.T @ x[len(mine) :] if below else 0.0
            hidden.append(vector)
    basis, pivots = _echelon(_complement(np.array(hidden).reshape(len(hidden), columns.width)))
    names = parameters(model)[1]
    return basis, tuple(_label(row, pivot, names) for row, pivot in zip(basis, pivots, strict=True))


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


def _energies(model: ClusterModel, states: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of kinetic and potential energy at states of the robot, in which its clusters move as they like."""
    rng, data = np.random.default_rng(seed), ClusterData(model)
    kinetic, potential, start = [], [], neutral(model)
    reach = first = _NEAR if model.closures else _FAR
    for _ in range(states):
        step = rng.uniform(-reach, reach, model.nv)
        while True:  # as far as loops go; the next ones are not asked for more
            try:
                q = integrate(model, start, step)
                kinetic.append(computeKineticEnergyRegressor(model, data, q, rng.standard_normal(model.nv)))
                break
            except (BranchLost, SingularClusterError):
                step, reach = step / 2.0, max(0.8 * reach, first / 10.0)
                if np.abs(step).max() < _LEAST:
                    raise
        potential.append(computePotentialEnergyRegressor(model, data, q))
    width = parameter_columns(model).width
    return np.array(kinetic).reshape(states, width), np.array(potential).reshape(states, width)


def _scaled(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return A with columns of unit length, and what they were divided by; columns of nothing stay."""
    size = np.linalg.norm(A, axis=0)
    size = np.where(size > _SMALL * size.max(initial=0.0), size, 1.0)
    return A / size, size


def _row_space(A: np.ndarray) -> np.ndarray:
    """Orthonormal rows that span those of A."""
    _, s, V = np.linalg.svd(A, full_matrices=False)
    return np.asarray(V[s > _SMALL * s.max(initial=0.0)])


def _null_space(A: np.ndarray) -> np.ndarray:
    """Rows that A makes zero."""
    B, size = _scaled(A)
    _, s, V = np.linalg.svd(B)
    rank = int((s > _SMALL * s.max(initial=0.0)).sum())
    return np.asarray(V[rank:] / size)


def _complement(N: np.ndarray) -> np.ndarray:
    """Rows orthogonal to those of N."""
    if not len(N):
        return np.eye(N.shape[1])
    _, s, V = np.linalg.svd(N / np.linalg.norm(N, axis=1, keepdims=True))
    return np.asarray(V[int((s > _SMALL).sum()) :])


def _echelon(R: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Bring orthonormal rows to reduced row echelon form; return it and the columns of its ones."""
    pivots: list[int] = []
    R = R.copy()
    for k in range(R.shape[1]):
        row = len(pivots)
        if row == len(R):
            break
        best = row + int(np.argmax(np.abs(R[row:, k])))
        if abs(R[best, k]) < 1e3 * _SMALL:
            R[row:, k] = 0.0
            continue
        R[[row, best]] = R[[best, row]]
        R[row] /= R[row, k]
        others = np.arange(len(R)) != row
        R[others] -= np.outer(R[others, k], R[row])
        R[others, k] = 0.0
        pivots.append(k)
    R[np.abs(R) < _SMALL] = 0.0
    return R, pivots


def _label(row: np.ndarray, pivot: int, names: tuple[str, ...]) -> str:
    """Write a combination: its own parameter first."""
    parts = [names[pivot]]
    for k in np.flatnonzero(row):
        if k != pivot:
            parts.append(f"{'-' if row[k] < 0.0 else '+'} {abs(row[k]):.4g} {names[k]}")
    return " ".join(parts)
