"""From a tree and constraints to clusters: order of the couplings, independent joints, G, connected components."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.trees import between
from ...constraints import Rotor
from ...constraints.closures import Closure, path_of
from ...constraints.rotor import RotorRow
from ...constraints.rows import Row, joint_id
from ...errors import ConstraintError
from ..assembly import ClusterLoops, LoopAnalysis, analyse
from ..assembly.evaluate import Equations
from ._couplings import check_claims, check_continuous, in_order
from ._graph import components


@dataclass(frozen=True)
class Topology:
    """Clusters of a tree under constraints, in joint ids."""

    rows: tuple[Row, ...]  # constant couplings, ordered so that masters are determined before dependents
    closures: tuple[Closure, ...]  # implicit equations, as stated
    rotors: tuple[RotorRow, ...]  # resolved rotors that are not bodies
    # joint ids of each cluster, ascending; every joint is in one. Parents come before children
    clusters: tuple[tuple[int, ...], ...]
    outputs: tuple[int, ...]  # output body of each cluster
    members: tuple[tuple[int, ...], ...]  # indices into the constraints, per cluster
    loops: tuple[LoopAnalysis | None, ...]  # analysis of the closures per cluster; None where there are none
    q_reference: np.ndarray  # assembled configuration of the whole tree
    G: np.ndarray  # coupling matrix, shape (tree.nv, nv): tree velocity = G v; with closures at the reference pose
    independent: np.ndarray  # idx_v in the tree of each independent velocity, ascending

    @property
    def analyses(self) -> tuple[LoopAnalysis, ...]:
        """Analyses of the clusters that have closures."""
        return tuple(loop for loop in self.loops if loop is not None)

    @property
    def substituted(self) -> tuple[Row, ...]:
        """Couplings whose dependent joint follows its masters; the others are equations of their loops."""
        solved = {id(row) for loop in self.analyses for row in loop.followers}
        inside = {j for loop in self.analyses for j in loop.joints}
        return tuple(row for row in self.rows if row.dependent not in inside or id(row) in solved)


def resolve(
    tree: pin.Model,
    constraints: Sequence[Any],
    q_reference: np.ndarray | None = None,
    independent: Sequence[str] | None = None,
    preferred: Sequence[str] = (),
) -> Topology:
    """Find the clusters of a tree.

    Args:
        tree: Spanning tree.
        constraints: What the user stated.
        q_reference: Fixes the branches of closed loops, shape (nq,).
        independent: Names of joints that shall be independent, for every cluster that holds one of them.
        preferred: Names of joints that shall rather be independent where that is chosen, best first.

    Returns:
        The clusters and the coupling matrix.

    Raises:
        ConstraintError: A joint is claimed twice, couplings form a cycle, a loop cannot close or move, or something is
            no constraint.
        UnsupportedJointError: A continuous joint leads a position at a ratio that is not whole.
        UnknownNameError: A name is unknown.
        ConfigurationError: ``q_reference`` is not near an assembled pose.
    """
    rows: list[Row] = []
    rotors: list[RotorRow] = []
    closures: list[Closure] = []
    ties: list[tuple[int, set[int]]] = []
    owner: list[int] = []  # of each closure: index into the constraints
    for i, constraint in enumerate(constraints):
        if isinstance(constraint, type):
            raise ConstraintError(
                f"constraints[{i}] is the class {constraint.__name__}; make one, as in pc.{constraint.__name__}(...)."
            )
        if isinstance(constraint, Rotor):
            rotor = constraint.resolve(tree)
            rotors.append(rotor)
            ties.append((i, between(tree, (rotor.carrier, *rotor.joints), rotor.joints)))
            continue
        if not hasattr(constraint, "rows") and not hasattr(constraint, "closures"):
            raise ConstraintError(
                f"constraints[{i}] is a {type(constraint).__name__}, not a constraint. "
                "Use pc.Rotor, pc.Gear, pc.Belt, pc.LinearCoupling, pc.Loop, pc.Rod, pc.FourBar, pc.SliderCrank, "
                "pc.Differential or pc.Coupling."
            )
        for row in constraint.rows(tree) if hasattr(constraint, "rows") else ():
            rows.append(row)
            ties.append((i, between(tree, row.tied, row.tied)))
        for closure in constraint.closures(tree) if hasattr(constraint, "closures") else ():
            closures.append(closure)
            owner.append(i)
            ties.append((i, path_of(tree, closure)))
    _check_names(tree, constraints, rotors)
    check_claims(tree, rows)
    ordered = in_order(tree, rows)
    check_continuous(tree, ordered)
    clusters, outputs, members = components(tree, ties)
    wishes = _wishes(tree, independent, ordered, clusters, closures)
    rather = [joint_id(tree, name, "preferred") for name in preferred]
    groups: list[ClusterLoops | None] = []
    for joints, mine in zip(clusters, members, strict=True):
        own = [c for c, i in zip(closures, owner, strict=True) if i in mine]
        if not own:
            groups.append(None)
            continue
        # wishes of constraints hold only together: several of them may not fit one cluster
        wished = {
            joint_id(tree, name, constraints[i].label)
            for i in mine
            if hasattr(constraints[i], "closures")
            for name in getattr(constraints[i], "independent", ())
        }
        inside = tuple(row for row in ordered if row.dependent in joints)
        groups.append(ClusterLoops(joints, tuple(own), inside, tuple(sorted(wished))))
    assembly = analyse(tree, [g for g in groups if g is not None], ordered, q_reference, wishes, rather)
    found = iter(assembly.loops)
    loops = tuple(None if g is None else next(found) for g in groups)
    resolved = {
        id(a): b
        for g, loop in zip(groups, loops, strict=True)
        if g is not None and loop is not None
        for a, b in zip(g.closures, loop.closures, strict=True)
    }
    closed, none = tuple(resolved[id(c)] for c in closures), np.zeros(0)
    draft = Topology(
        tuple(ordered), closed, tuple(rotors), clusters, outputs, members, loops, assembly.q_reference, none, none
    )
    G, free = _coupling_matrix(tree, draft)
    return dataclasses.replace(draft, G=G, independent=free)


def _wishes(
    tree: pin.Model,
    names: Sequence[str] | None,
    rows: Sequence[Row],
    clusters: Sequence[tuple[int, ...]],
    closures: Sequence[Closure],
) -> list[int] | None:
    """Turn the names of joints that shall be independent to ids; no coupling outside loops may determine one."""
    if names is None:
        return None
    found = []
    for name in names:
        j = joint_id(tree, name, "independent")
        closed = any(j in c and any(path_of(tree, k) & set(c) for k in closures) for c in clusters)
        row = next((row for row in rows if row.dependent == j), None)
        if row is not None and not closed:
            raise ConstraintError(
                f"independent: joint {name!r} is the dependent one of {row.source.label}. State that coupling so that "
                "another joint follows, or leave the name out."
            )
        found.append(j)
    return found


def _check_names(tree: pin.Model, constraints: Sequence[Any], rotors: Sequence[RotorRow]) -> None:
    """Refuse names that would stand for two things: of forces, residuals and parameters one asks by them."""
    given = [c.label for c in constraints if getattr(c, "name", None) is not None and not isinstance(c, Rotor)]
    for label in given:
        if given.count(label) > 1:
            raise ConstraintError(f"There are two of {label}. Give each its own with name=...")
    names = [r.name for r in rotors]
    for name in names:
        if names.count(name) > 1:
            raise ConstraintError(f"Two rotors are named {name!r}. Give each its own with name=...")
        if tree.existJointName(name):
            raise ConstraintError(f"A rotor is named {name!r}, as is a joint. Give it its own name with name=...")


def _coupling_matrix(tree: pin.Model, topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    """Return G, at the reference pose, and the independent velocities."""
    rows = topology.substituted
    dependent = {tree.joints[row.dependent].idx_v for row in rows}
    dependent |= {iv for loop in topology.analyses for iv in loop.dependents}
    independent = np.array([i for i in range(tree.nv) if i not in dependent], dtype=np.int64)
    G = np.zeros((tree.nv, len(independent)))
    G[independent, np.arange(len(independent))] = 1.0
    for loop in topology.analyses:
        K = Equations(tree, loop.kept).jacobian(topology.q_reference) / loop.scales[:, None]
        free = np.flatnonzero(np.isin(independent, loop.independents))
        held = np.ix_(np.array(loop.dependents, dtype=np.int64), free)
        G[held] = -np.linalg.lstsq(K[:, list(loop.dependents)], K[:, independent[free]], rcond=None)[0]
    for row in rows:
        at = tree.joints[row.dependent].idx_v
        for m, coefficient in row.terms:
            G[at] += coefficient * G[tree.joints[m].idx_v]
    return G, independent
