"""Groups a tree's joints into clusters, orders the couplings, and computes independent joints and G."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.trees import between
from ...constraints import Rotor
from ...constraints.closures import Closure, path_of
from ...constraints.contract import LoopConstraint, RowConstraint
from ...constraints.rotor import RotorRow
from ...constraints.rows import Row, joint_id
from ...errors import ConstraintError
from ..assembly import ClusterLoops, LoopAnalysis, analyse
from ..assembly.evaluate import Equations
from ._couplings import check_claims, check_continuous, equations_of, in_order
from ._graph import components


@dataclass(frozen=True)
class Topology:
    """The clusters of a tree with constraints; joints are given by their ids."""

    rows: tuple[Row, ...]  # constant couplings, in evaluation order
    closures: tuple[Closure, ...]  # all loop-closure constraints
    rotors: tuple[RotorRow, ...]  # ``Rotor`` constraints, with joint ids
    # Joint ids of each cluster, ascending. Every joint is in one cluster; parents come before children.
    clusters: tuple[tuple[int, ...], ...]
    outputs: tuple[int, ...]  # joint id of the body that carries each cluster
    members: tuple[tuple[int, ...], ...]  # indices of the constraints of each cluster
    loops: tuple[LoopAnalysis | None, ...]  # analysis of each cluster's closures; None if it has no closures
    q_reference: np.ndarray  # assembled configuration of the whole tree, shape (nq,)
    G: np.ndarray  # coupling matrix, shape (tree.nv, nv); if there are closures, at the reference pose
    independent: np.ndarray  # index in the tree's v of each independent velocity, ascending

    @property
    def analyses(self) -> tuple[LoopAnalysis, ...]:
        return tuple(loop for loop in self.loops if loop is not None)

    @property
    def substituted(self) -> tuple[Row, ...]:
        """Couplings that are solved by substitution. All other couplings are solved as equations of loops."""
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
    """Find the clusters of a tree and its coupling matrix; the arguments are the same as for ``ClusterModel``.

    Raises:
        ConstraintError: Two couplings have the same dependent joint, couplings form a cycle, a loop cannot close or
            move, or an object is not a constraint.
        UnsupportedJointError: A coupling multiplies the angle of a continuous joint by a fraction.
        UnknownNameError: A constraint or argument refers to an unknown name.
        ConfigurationError: ``q_reference`` is not near a pose in which the loops are closed.
    """
    rows: list[Row] = []
    rotors: list[RotorRow] = []
    closures: list[Closure] = []
    coupled_sets: list[tuple[int, set[int]]] = []
    owner: list[int] = []  # index of each closure's constraint
    for i, constraint in enumerate(constraints):
        if isinstance(constraint, type):
            raise ConstraintError(
                f"constraints[{i}] is the class {constraint.__name__}. Pass an instance: pc.{constraint.__name__}(...)."
            )
        if isinstance(constraint, Rotor):
            rotor = constraint.resolve(tree)
            rotors.append(rotor)
            coupled_sets.append((i, between(tree, (rotor.carrier, *rotor.joints), rotor.joints)))
            continue
        if not isinstance(constraint, RowConstraint | LoopConstraint):
            raise ConstraintError(
                f"constraints[{i}] has the type {type(constraint).__name__}, which is not a constraint. "
                "Use pc.Rotor, pc.Gear, pc.Belt, pc.LinearCoupling, pc.Loop, pc.Rod, pc.FourBar, pc.SliderCrank, "
                "pc.Differential or pc.Coupling; pin_clusters.constraints.contract describes how to write a new class."
            )
        for row in equations_of(tree, constraint) if isinstance(constraint, RowConstraint) else ():
            rows.append(row)
            coupled_sets.append((i, between(tree, row.tied, row.tied)))
        for closure in constraint.closures(tree) if isinstance(constraint, LoopConstraint) else ():
            closures.append(closure)
            owner.append(i)
            coupled_sets.append((i, path_of(tree, closure)))
    _check_names(tree, constraints, rotors)
    check_claims(tree, rows)
    ordered = in_order(tree, rows)
    check_continuous(tree, ordered)
    clusters, outputs, members = components(tree, coupled_sets)
    required = _required_joints(tree, independent, ordered, clusters, closures)
    preferred_ids = [joint_id(tree, name, "preferred") for name in preferred]
    groups: list[ClusterLoops | None] = []
    for joints, indices in zip(clusters, members, strict=True):
        closures_of_cluster = [c for c, i in zip(closures, owner, strict=True) if i in indices]
        if not closures_of_cluster:
            groups.append(None)
            continue
        # If the requests of several constraints are incompatible, ``analyse`` raises an error.
        requested = {
            joint_id(tree, name, constraints[i].label)
            for i in indices
            if isinstance(constraints[i], LoopConstraint)
            for name in getattr(constraints[i], "independent", ())
        }
        inside = tuple(row for row in ordered if row.dependent in joints)
        groups.append(ClusterLoops(joints, tuple(closures_of_cluster), inside, tuple(sorted(requested))))
    assembly = analyse(tree, [g for g in groups if g is not None], ordered, q_reference, required, preferred_ids)
    analyses = iter(assembly.loops)
    loops = tuple(None if g is None else next(analyses) for g in groups)
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


def _required_joints(
    tree: pin.Model,
    names: Sequence[str] | None,
    rows: Sequence[Row],
    clusters: Sequence[tuple[int, ...]],
    closures: Sequence[Closure],
) -> list[int] | None:
    """Return the ids of joints that must be independent; raise an error if a coupling outside loops determines one."""
    if names is None:
        return None
    ids = []
    for name in names:
        j = joint_id(tree, name, "independent")
        closed = any(j in c and any(path_of(tree, k) & set(c) for k in closures) for c in clusters)
        row = next((row for row in rows if row.dependent == j), None)
        if row is not None and not closed:
            raise ConstraintError(
                f"independent: joint {name!r} is the dependent joint of {row.source.label}. Define this coupling "
                "so that another joint is dependent, or omit the name."
            )
        ids.append(j)
    return ids


def _check_names(tree: pin.Model, constraints: Sequence[Any], rotors: Sequence[RotorRow]) -> None:
    """Raise ``ConstraintError`` for repeated names, because users select forces, residuals and parameters by name."""
    labels = [c.label for c in constraints if getattr(c, "name", None) is not None and not isinstance(c, Rotor)]
    for label in labels:
        if labels.count(label) > 1:
            raise ConstraintError(f"Two constraints are named {label}. Rename one of them with name=...")
    names = [r.name for r in rotors]
    for name in names:
        if names.count(name) > 1:
            raise ConstraintError(f"Two rotors are named {name!r}. Rename one of them with name=...")
        if tree.existJointName(name):
            raise ConstraintError(f"A rotor and a joint are named {name!r}. Rename the rotor with name=...")


def _coupling_matrix(tree: pin.Model, topology: Topology) -> tuple[np.ndarray, np.ndarray]:
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
        follower = tree.joints[row.dependent].idx_v
        for m, coefficient in row.terms:
            G[follower] += coefficient * G[tree.joints[m].idx_v]
    return G, independent
