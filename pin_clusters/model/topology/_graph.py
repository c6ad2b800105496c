"""Finds clusters, which are the connected components of joints that share constraints."""

from collections.abc import Sequence

import pinocchio as pin


def components(
    tree: pin.Model, ties: Sequence[tuple[int, set[int]]]
) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """Merge overlapping sets of coupled joints into clusters; return the clusters' joints, carriers and constraints."""
    root = list(range(tree.njoints))

    def find(j: int) -> int:
        while root[j] != j:
            root[j] = root[root[j]]
            j = root[j]
        return j

    for _, joints in ties:
        first, *joined = sorted(joints)
        for j in joined:
            root[find(j)] = find(first)
    groups: dict[int, list[int]] = {}
    for j in range(1, tree.njoints):
        groups.setdefault(find(j), []).append(j)
    members: dict[int, list[int]] = {}
    for i, joints in ties:
        constraint_ids = members.setdefault(find(min(joints)), [])
        if i not in constraint_ids:
            constraint_ids.append(i)
    # A cluster contains the paths between its joints, so exactly one body outside the cluster carries it.
    output = {}
    for r, cluster in groups.items():
        (output[r],) = {tree.parents[j] for j in cluster} - set(cluster)
    order: list[int] = []
    placed = {0}
    waiting = sorted(groups, key=lambda r: min(groups[r]))
    while waiting:
        r = next(r for r in waiting if output[r] in placed)
        waiting.remove(r)
        order.append(r)
        placed.update(groups[r])
    return (
        tuple(tuple(groups[r]) for r in order),
        tuple(output[r] for r in order),
        tuple(tuple(members.get(r, ())) for r in order),
    )
