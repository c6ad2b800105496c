"""Equal limbs of a robot: legs of a quadruped, both arms of a humanoid. What is done for one is done for all at once.

Only the structure counts: numbers may differ, so that mirrored limbs are equal. What is found here is a proposal: code
whose operations turn out to be different is not wrong, only slower.
"""

from typing import NamedTuple

import numpy as np

from ...model import ClusterModel


class Limb(NamedTuple):
    """Places of a limb in q, v and external forces, in the same order for all limbs of a group."""

    q: tuple[int, ...]
    v: tuple[int, ...]
    fext: tuple[int, ...]


Group = tuple[Limb, ...]


def limbs_of(model: ClusterModel) -> list[Group]:
    """Return groups of equal limbs: subtrees of one cluster; none is part of another."""
    tree, clusters = model.own_tree, model.tables.topology.clusters
    home = {j: c for c, joints in enumerate(clusters) for j in joints}
    children: dict[int, list[int]] = {c: [] for c in range(-1, len(clusters))}
    for c, joints in enumerate(clusters):
        above = {home.get(int(tree.parents[j]), -1) for j in joints} - {c}
        children[max(above, default=-1)].append(c)
    signatures: dict[int, int] = {}  # numbers of what subtrees look like
    numbers: dict[tuple[object, ...], int] = {}
    for c in reversed(range(len(clusters))):
        looks = _signature(model, clusters[c], [signatures[k] for k in children[c]])
        signatures[c] = numbers.setdefault(looks, len(numbers))
    found: list[Group] = []
    waiting = [-1]
    while waiting:
        alike: dict[int, list[int]] = {}
        for c in children[waiting.pop()]:
            alike.setdefault(signatures[c], []).append(c)
        for same in alike.values():
            if len(same) > 1:
                found.append(tuple(_limb(model, _joints(c, clusters, children, signatures)) for c in same))
            else:
                waiting += same
    return found


def _signature(model: ClusterModel, joints: tuple[int, ...], below: list[int]) -> tuple[object, ...]:
    tree, place = model.own_tree, {j: i for i, j in enumerate(joints)}
    own = tuple((tree.joints[j].shortname()[:7], place.get(int(tree.parents[j]), -1)) for j in joints)
    free = sum(model.idx_v_independent.searchsorted(tree.idx_vs[j] + np.arange(tree.nvs[j])).size for j in joints)
    return (own, free, tuple(sorted(below)))


def _joints(
    c: int, clusters: tuple[tuple[int, ...], ...], children: dict[int, list[int]], signatures: dict[int, int]
) -> list[int]:
    """Return the joints of a subtree; equal subtrees have equal ones at equal places."""
    found: list[int] = []
    waiting = [c]
    while waiting:
        found += clusters[c := waiting.pop()]
        waiting += sorted(children[c], key=lambda k: (signatures[k], k), reverse=True)
    return found


def _limb(model: ClusterModel, joints: list[int]) -> Limb:
    tree, column = model.own_tree, {int(iv): i for i, iv in enumerate(model.idx_v_independent)}
    q = [tree.idx_qs[j] + i for j in joints for i in range(tree.nqs[j])]
    v = [column[tree.idx_vs[j] + i] for j in joints for i in range(tree.nvs[j]) if tree.idx_vs[j] + i in column]
    return Limb(tuple(map(int, q)), tuple(v), tuple(6 * j + i for j in joints for i in range(6)))
