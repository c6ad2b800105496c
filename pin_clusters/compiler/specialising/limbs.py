"""Detection of equal limbs, such as the legs of a quadruped or the arms of a humanoid, which are computed together.

Limbs are equal if they have the same structure; their parameters may differ, for example in mirrored limbs. If the
operations of the limbs in a group differ nevertheless, the code is slower but still correct.
"""

from typing import NamedTuple

import numpy as np

from ..._support.groups import grouped
from ...model import ClusterModel


class Limb(NamedTuple):
    """Indices of a limb's entries in q, v and the external forces, in the same order for all limbs of a group."""

    q: tuple[int, ...]
    v: tuple[int, ...]
    fext: tuple[int, ...]


Group = tuple[Limb, ...]


def limbs_of(model: ClusterModel) -> list[Group]:
    """Return the groups of equal limbs. A limb is a subtree of clusters; no limb contains another limb."""
    tree, clusters = model.own_tree, model.tables.topology.clusters
    home = {j: c for c, joints in enumerate(clusters) for j in joints}
    children: dict[int, list[int]] = {c: [] for c in range(-1, len(clusters))}
    for c, joints in enumerate(clusters):
        above = {home.get(int(tree.parents[j]), -1) for j in joints} - {c}
        children[max(above, default=-1)].append(c)
    signatures: dict[int, int] = {}  # for each cluster, a number for the structure of its subtree
    numbers: dict[tuple[object, ...], int] = {}
    for c in reversed(range(len(clusters))):
        looks = _signature(model, clusters[c], [signatures[k] for k in children[c]])
        signatures[c] = numbers.setdefault(looks, len(numbers))
    groups: list[Group] = []
    waiting = [-1]
    while waiting:
        for equal_clusters in grouped((signatures[c], c) for c in children[waiting.pop()]).values():
            if len(equal_clusters) > 1:
                groups.append(tuple(_limb(model, _joints(c, clusters, children, signatures)) for c in equal_clusters))
            else:
                waiting += equal_clusters
    return groups


def _signature(model: ClusterModel, joints: tuple[int, ...], below: list[int]) -> tuple[object, ...]:
    tree, index_of_joint = model.own_tree, {j: i for i, j in enumerate(joints)}
    kinds = tuple((tree.joints[j].shortname()[:7], index_of_joint.get(int(tree.parents[j]), -1)) for j in joints)
    free = sum(model.idx_v_independent.searchsorted(tree.idx_vs[j] + np.arange(tree.nvs[j])).size for j in joints)
    return (kinds, free, tuple(sorted(below)))


def _joints(
    c: int, clusters: tuple[tuple[int, ...], ...], children: dict[int, list[int]], signatures: dict[int, int]
) -> list[int]:
    joints: list[int] = []
    waiting = [c]
    while waiting:
        joints += clusters[c := waiting.pop()]
        waiting += sorted(children[c], key=lambda k: (signatures[k], k), reverse=True)
    return joints


def _limb(model: ClusterModel, joints: list[int]) -> Limb:
    tree, column = model.own_tree, {int(iv): i for i, iv in enumerate(model.idx_v_independent)}
    q = [tree.idx_qs[j] + i for j in joints for i in range(tree.nqs[j])]
    v = [column[tree.idx_vs[j] + i] for j in joints for i in range(tree.nvs[j]) if tree.idx_vs[j] + i in column]
    return Limb(tuple(map(int, q)), tuple(v), tuple(6 * j + i for j in joints for i in range(6)))
