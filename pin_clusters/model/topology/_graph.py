"""Clusters as connected components: joints that share a constraint."""

from collections.abc import Sequence

import pinocchio as pin


def components(
    tree: pin.Model, ties: Sequence[tuple[int, set[int]]]
) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """Merge the tied sets that share a joint; what is tied by nothing is a cluster of its own."""
    root = list(range(tree.njoints))

    def find(j: int) -> int:
        while root[j] != j:
            root[j] = root[root[j]]
            j = root[j]
        return j

    for _, joints in ties:
        first, *others = sorted(joints)
        for j in others:
            root[find(j)] = find(first)
    groups: dict[int, list[int]] = {}
    for j in range(1, tree.njoints):
        groups.setdefault(find(j), []).append(j)
    members: dict[int, list[int]] = {}
    for i, joints in ties:
        found = members.setdefault(find(min(joints)), [])
        if i not in found:
            found.append(i)
    # by the path rule a cluster hangs from one body outside of it
    output = {}
    for r, mine in groups.items():
        (output[r],) = {tree.parents[j] for j in mine} - set(mine)
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
