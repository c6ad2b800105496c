"""From a tree and constraints to clusters: order of the couplings, the matrix G, connected components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from .constraints import Rotor
from .constraints._base import Row, common_ancestor, path_below
from .constraints.rotor import RotorRow
from .errors import ConstraintError, UnsupportedJointError


@dataclass(frozen=True)
class Topology:
    """Clusters of a tree under constraints, in joint ids.

    Attributes:
        rows: Couplings, ordered so that masters are determined before dependents.
        rotors: Resolved rotors that are not bodies.
        clusters: Joint ids of each cluster, ascending; every joint is in one. Parents come before children.
        outputs: Output body of each cluster.
        members: Indices into the constraints, per cluster.
        G: Coupling matrix, shape (tree.nv, nv): tree velocity = G v.
        independent: idx_v in the tree of each independent velocity, ascending.
    """

    rows: tuple[Row, ...]
    rotors: tuple[RotorRow, ...]
    clusters: tuple[tuple[int, ...], ...]
    outputs: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]
    G: np.ndarray
    independent: np.ndarray


def resolve(tree: pin.Model, constraints: Sequence[Any]) -> Topology:
    """Find the clusters of a tree.

    Args:
        tree: Spanning tree.
        constraints: What the user stated.

    Returns:
        The clusters and the coupling matrix.

    Raises:
        ConstraintError: A joint is claimed twice, couplings form a cycle, or something is no constraint.
        UnsupportedJointError: A continuous joint leads a position at a ratio that is not whole.
        UnknownNameError: A name is unknown.
    """
    rows: list[Row] = []
    rotors: list[RotorRow] = []
    ties: list[tuple[int, set[int]]] = []
    for i, constraint in enumerate(constraints):
        if isinstance(constraint, type):
            raise ConstraintError(
                f"constraints[{i}] is the class {constraint.__name__}; make one, as in pc.{constraint.__name__}(...)."
            )
        if isinstance(constraint, Rotor):
            rotor = constraint.resolve(tree)
            rotors.append(rotor)
            ties.append((i, _rotor_path(tree, rotor)))
        elif hasattr(constraint, "rows"):
            for row in constraint.rows(tree):
                rows.append(row)
                ties.append((i, _tied_path(tree, row.tied)))
        else:
            raise ConstraintError(
                f"constraints[{i}] is a {type(constraint).__name__}, not a constraint. "
                "Use pc.Rotor, pc.Gear, pc.Belt or pc.LinearCoupling."
            )
    _check_names(tree, rotors)
    _check_claims(tree, rows)
    ordered = _sorted(tree, rows)
    _check_continuous(tree, ordered)
    G, independent = _coupling_matrix(tree, ordered)
    clusters, outputs, members = _components(tree, ties)
    return Topology(tuple(ordered), tuple(rotors), clusters, outputs, members, G, independent)


def _tied_path(tree: pin.Model, tied: Sequence[int]) -> set[int]:
    """Joints between the tied ones and their nearest common ancestor, the tied ones included."""
    top = common_ancestor(tree, [int(tree.parents[j]) for j in tied])
    return {k for j in tied for k in path_below(tree, top, j)}


def _rotor_path(tree: pin.Model, rotor: RotorRow) -> set[int]:
    top = common_ancestor(tree, [rotor.carrier, *(int(tree.parents[j]) for j in rotor.joints)])
    return {k for j in (rotor.carrier, *rotor.joints) for k in path_below(tree, top, j)}


def _check_names(tree: pin.Model, rotors: Sequence[RotorRow]) -> None:
    names = [r.name for r in rotors]
    for name in names:
        if names.count(name) > 1:
            raise ConstraintError(f"Two rotors are named {name!r}. Give each its own with name=...")
        if tree.existJointName(name):
            raise ConstraintError(f"A rotor is named {name!r}, as is a joint. Give it its own name with name=...")


def _check_claims(tree: pin.Model, rows: Sequence[Row]) -> None:
    first: dict[int, Row] = {}
    for row in rows:
        other = first.setdefault(row.dependent, row)
        if other is row:
            continue
        name = tree.names[row.dependent]
        same = dict(zip(row.masters, row.coefficients, strict=True)) == dict(
            zip(other.masters, other.coefficients, strict=True)
        )
        what = (
            f"with contradictory offsets {other.offset:g} and {row.offset:g}"
            if same and row.offset != other.offset
            else "twice"
        )
        raise ConstraintError(
            f"Joint {name!r} is claimed as dependent {what}: by {other.source.label} and by {row.source.label}. "
            "Drop one, or state it so that another joint follows (pc.Belt has dependent=...)."
        )


def _sorted(tree: pin.Model, rows: Sequence[Row]) -> list[Row]:
    """Order the couplings so that masters come before dependents."""
    waiting = {row.dependent: row for row in rows}
    ordered: list[Row] = []
    while waiting:
        ready = [row for row in waiting.values() if not any(m in waiting for m in row.masters)]
        if not ready:
            circle = _circle(waiting)
            names = ", ".join(repr(tree.names[j]) for j in circle)
            labels = ", ".join(waiting[j].source.label for j in circle)
            raise ConstraintError(
                f"The couplings {labels} form a cycle: each of the joints {names} waits for another one. "
                "Leave one joint independent."
            )
        for row in ready:
            ordered.append(row)
            del waiting[row.dependent]
    return ordered


def _circle(waiting: dict[int, Row]) -> list[int]:
    """Return joints that wait for each other in turn; every joint given waits for one of the others."""
    j, seen = next(iter(waiting)), list[int]()
    while j not in seen:
        seen.append(j)
        j = next(m for m in waiting[j].masters if m in waiting)
    return seen[seen.index(j) :]


def _check_continuous(tree: pin.Model, rows: Sequence[Row]) -> None:
    """A (cos, sin) joint does not know its turns: only whole multiples of its angle are defined."""
    for row in rows:
        for m, coefficient in zip(row.masters, row.coefficients, strict=True):
            if tree.joints[m].nq == 2 and coefficient != round(coefficient):
                raise UnsupportedJointError(
                    f"{row.source.label}: joint {tree.names[m]!r} is continuous (cos, sin), so {coefficient:g} times "
                    "its angle is not defined after a full turn. Make it a revolute joint (type='revolute' in the "
                    "URDF, pin.JointModelRevoluteUnaligned), use a whole ratio, or use pc.Rotor, which needs no angle."
                )


def _coupling_matrix(tree: pin.Model, rows: Sequence[Row]) -> tuple[np.ndarray, np.ndarray]:
    dependent = {int(tree.joints[row.dependent].idx_v) for row in rows}
    independent = np.array([i for i in range(tree.nv) if i not in dependent], dtype=np.int64)
    G = np.zeros((tree.nv, len(independent)))
    G[independent, np.arange(len(independent))] = 1.0
    for row in rows:
        at = tree.joints[row.dependent].idx_v
        for m, coefficient in zip(row.masters, row.coefficients, strict=True):
            G[at] += coefficient * G[tree.joints[m].idx_v]
    return G, independent


def _components(
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
    output = {r: _output_body(tree, joints) for r, joints in groups.items()}
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


def _output_body(tree: pin.Model, joints: Sequence[int]) -> int:
    """Return the one body outside the cluster from which it hangs (design: clusters hang from one body)."""
    inside = set(joints)
    outside = {int(tree.parents[j]) for j in joints} - inside
    if len(outside) != 1:
        raise AssertionError("a cluster hangs from several bodies")  # excluded by the path rule
    return outside.pop()
