"""Compute the matrices of all clusters in one state."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.linalg import block_diag

from ..._support.docstrings import STATE, stock
from ..._support.trees import in_v
from ...constraints.closures import RodClosure
from ...constraints.rows import joint_id
from ...errors import NotAvailableError
from ...model import ClusterModel, SpanningTree, expand
from ..null_space import NullSpace, null_space

documented = stock(STATE)


@dataclass
class Block:
    """Matrices of a cluster with n_b bodies and n_k independent velocities; its parent cluster has n_p bodies."""

    parent: int  # index of the cluster that contains the output body; -1 for the universe
    columns: np.ndarray  # indices of the cluster's independent velocities in v
    bodies: list[int]  # joint ids in the expanded tree, parents first
    # Motion transform from the parent cluster's bodies, shape (6 n_b, 6 n_p); zero outside the output body's columns.
    X: np.ndarray
    S: np.ndarray  # motion subspace X_intra S_span G, shape (6 n_b, n_k)
    X_intra: np.ndarray  # transforms between the cluster's bodies, unit lower triangular, shape (6 n_b, 6 n_b)
    S_span: np.ndarray  # joint motion subspaces, block diagonal, shape (6 n_b, sum of the joints' nv)
    G: np.ndarray  # coupling matrix of the cluster's joints, shape (sum of the joints' nv, n_k)
    I: np.ndarray  # spatial inertias, block diagonal, shape (6 n_b, 6 n_b)
    H: np.ndarray  # armature in the independent velocities, shape (n_k, n_k)
    rotor_bias: np.ndarray  # armature torques G' armature g at zero independent acceleration, shape (n_k,)
    V: np.ndarray  # stacked velocities of the bodies, shape (6 n_b,)
    c: np.ndarray  # accelerations relative to the parent cluster at zero independent acceleration, shape (6 n_b,)


@lru_cache(maxsize=16)
def expanded(model: ClusterModel) -> SpanningTree:
    return expand(model)


@lru_cache(maxsize=16)
def loops(model: ClusterModel) -> NullSpace | None:
    """Return the ``NullSpace`` of a model with loops, or None; raise an error for rods with mass."""
    for closure in model.closures:
        if isinstance(closure, RodClosure) and closure.mass > 0.0:
            raise NotAvailableError(
                f"{closure.source.label} has mass, which the reference implementation does not support. "
                "Use pin_clusters.verification.baselines.projection."
            )
    return null_space(model, expanded(model))


@lru_cache(maxsize=16)
def members(model: ClusterModel) -> tuple[tuple[list[int], int], ...]:
    """Return the bodies of each cluster (expanded tree, parents first), and the parent cluster's output body."""
    span = expanded(model)
    clusters = []
    for cluster in model.clusters:
        bodies = [span.joint_id(name) for name in cluster.joints]
        driven = {int(span.from_tree_id[model.tree.getJointId(name)]) for name in cluster.joints}
        massless = [r for r in model.rotors if r.source is not None]
        for j, rotor in zip(span.rotors, massless, strict=True):
            if int(span.from_tree_id[joint_id(model.tree, rotor.source.joints[0], rotor.source.label)]) in driven:
                bodies.append(j)
        bodies.sort()  # in depth-first order, parents have smaller ids than their children
        output = 0 if cluster.output_body == "universe" else span.joint_id(cluster.output_body)
        clusters.append((bodies, output))
    return tuple(clusters)


def blocks(model: ClusterModel, q: np.ndarray, v: np.ndarray | None = None) -> list[Block]:
    """Compute the matrices and velocities of all clusters, parents first; by default, v is zero.

    V_k = X_k V_parent + S_k v_k;  c_k = X_intra (bias of the joints + V_k x S_span G v_k + S_span g).

    References:
        Chignoli et al., arXiv 2311.13732, equations (9), (21), (29) to (31).
    """
    span, space = expanded(model), loops(model)
    q, v = np.asarray(q, dtype=float), np.zeros(model.nv) if v is None else np.asarray(v, dtype=float)
    tree = span.tree
    if space is None:
        whole_G, whole_g = span.G, np.zeros(tree.nv)
    else:
        space.at(q, v)
        whole_G, whole_g = span.from_tree @ space.G, span.from_tree @ space.g
    at_independent = span.from_tree_v[model.idx_v_independent]
    joint_data = [joint.createData() for joint in tree.joints]
    for joint, joint_state in zip(list(tree.joints)[1:], joint_data[1:], strict=True):
        joint.calc(joint_state, span.configuration(q), whole_G @ v)
    owner: dict[int, tuple[int, int]] = {}
    clusters: list[Block] = []
    for k, (bodies, output) in enumerate(members(model)):
        n, index = len(bodies), {j: i for i, j in enumerate(bodies)}
        parent, output_index = owner.get(output, (-1, 0))
        X = np.zeros((6 * n, 6 * (len(clusters[parent].bodies) if parent >= 0 else 1)))
        X_intra, inertia = np.eye(6 * n), np.zeros((6 * n, 6 * n))
        for i, j in enumerate(bodies):
            rows, up = slice(6 * i, 6 * i + 6), tree.parents[j]
            step = (tree.jointPlacements[j] * joint_data[j].M).toActionMatrixInverse()
            if up in index:
                above = slice(6 * index[up], 6 * index[up] + 6)
                X_intra[rows, : 6 * i] = step @ X_intra[above, : 6 * i]
                X[rows] = step @ X[above]
            else:
                X[rows, 6 * output_index : 6 * output_index + 6] = step
            inertia[rows, rows] = tree.inertias[j].matrix()
            owner[j] = (k, i)
        S_span = block_diag(*(np.asarray(joint_data[j].S).reshape(6, -1) for j in bodies))
        span_rows = np.array([i for j in bodies for i in in_v(tree, j)])
        columns = np.flatnonzero(np.isin(at_independent, span_rows))
        G = whole_G[np.ix_(span_rows, columns)]
        rates, g, armature = G @ v[columns], whole_g[span_rows], np.array(tree.armature)[span_rows]
        S = X_intra @ S_span @ G
        V = X @ (clusters[parent].V if parent >= 0 else np.zeros(6)) + S @ v[columns]
        bias = np.concatenate([joint_data[j].c.vector for j in bodies])
        c = X_intra @ (bias + cross(V, S_span @ rates) + S_span @ g)
        H, rotor_bias = G.T @ (armature[:, None] * G), G.T @ (armature * g)
        clusters.append(Block(parent, columns, bodies, X, S, X_intra, S_span, G, inertia, H, rotor_bias, V, c))
    return clusters


def above(values: list[np.ndarray], block: Block, universe: np.ndarray) -> np.ndarray:
    return values[block.parent] if block.parent >= 0 else universe


def cross(V: np.ndarray, W: np.ndarray, kind: Any = pin.Motion) -> np.ndarray:
    """Compute V x W for each body. If W contains forces (``kind`` is ``pin.Force``), compute V x* W."""
    pairs = zip(V.reshape(-1, 6), W.reshape(-1, 6), strict=True)
    return np.concatenate([pin.Motion(a).cross(kind(b)).vector for a, b in pairs])


def bias_forces(model: ClusterModel, clusters: list[Block], fext: Any) -> list[np.ndarray]:
    """Compute V x* I V minus the external forces for each cluster; the bodies of a cluster are stacked."""
    bias = [cross(block.V, block.I @ block.V, pin.Force) for block in clusters]
    if fext is not None:
        forces = expanded(model).fext(fext)
        for total, block in zip(bias, clusters, strict=True):
            total -= np.concatenate([forces[j].vector for j in block.bodies])
    return bias
