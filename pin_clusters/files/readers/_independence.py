"""Choose the independent joints of couplings and closed loops from the attribute ``independent`` of URDF+."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pinocchio as pin

from ..._support.trees import between
from ...constraints import Rotor
from ...constraints.closures import path_of
from ...errors import LoadError
from ._notes import Notes, listing
from ._trees import merged
from ._urdf_couplings import Tie
from ._xml import Description, in_words_of


def read_flags(description: Description) -> dict[str, bool]:
    flags: dict[str, bool] = {}
    for name, joint in description.joints.items():
        text = joint.get("independent")
        if text is None:
            continue
        if text not in ("true", "True", "false", "False"):
            raise LoadError(f"joint {name!r}: independent must be 'true' or 'false', got {text!r}.")
        flags[name] = text in ("true", "True")
    return flags


def choose_dependents(ties: Sequence[Tie], flags: Mapping[str, bool]) -> list[str]:
    """Choose the dependent joint of each coupling.

    A coupling can name its dependent joint. Otherwise, the dependent joint is a joint of the coupling's two paths that
    has ``independent="false"`` and that no other coupling has chosen. If there is no such joint, it is the last joint
    on the successor's path.
    """
    dependents = {i: t.after[-1] for i, t in enumerate(ties) if t.independent is not None}
    candidates = {
        i: [j for j in (*t.before, *t.after) if flags.get(j) is False]
        for i, t in enumerate(ties)
        if i not in dependents
    }
    while candidates:
        used = set(dependents.values())
        available = {i: [j for j in joints if j not in used] for i, joints in candidates.items()}
        i = min(available, key=lambda k: (len(available[k]) != 1, k))  # Couplings with one candidate come first.
        after = ties[i].after
        dependents[i] = ([j for j in available[i] if j in after] or available[i] or after)[-1]
        del candidates[i]
    for i, name in dependents.items():
        check_not_independent(name, ties[i].owner, flags)
    return [dependents[i] for i in range(len(ties))]


def check_circles(ties: Sequence[Tie], dependents: Sequence[str]) -> None:
    follows = dict(zip(dependents, ties, strict=True))
    leaders = {name: [j for j in tie.joints if j != name] for name, tie in follows.items()}
    while follows:
        waiting = {name: tie for name, tie in follows.items() if any(j in follows for j in leaders[name])}
        if len(waiting) < len(follows):
            follows = waiting
            continue
        name, path = next(iter(follows)), list[str]()
        while name not in path:
            path.append(name)
            name = next(j for j in leaders[name] if j in follows)
        circle = path[path.index(name) :]
        raise LoadError(
            f"{', '.join(follows[j].owner for j in circle)} form a cycle: each of the joints "
            f"{', '.join(map(repr, circle))} depends on another of them. Remove one of these couplings."
        )


def check_not_independent(joint: str, owner: str, flags: Mapping[str, bool]) -> None:
    if flags.get(joint) is True:
        raise LoadError(
            f'{owner} makes joint {joint!r} dependent, but the file has independent="true" for it. '
            'Set independent="false" for the dependent joint, or remove the attribute.'
        )


def check_tied(flags: Mapping[str, bool], dependents: set[str], description: Description) -> None:
    for name, independent in flags.items():
        if independent or name in dependents or description.joints[name].get("type") == "fixed":
            continue
        raise LoadError(
            f'joint {name!r} has independent="false", but no constraint couples it to other joints. Add a '
            "<coupling>, <loop> or <mimic> to the file, pass a constraint on it in constraints=, or remove the "
            "attribute."
        )


@dataclass(frozen=True)
class Ties:
    """Names of the joints that the constraints of a model couple."""

    groups: tuple[frozenset[str], ...]  # for each equation, closure or rotor: its joints, and all joints between them
    coupled: frozenset[str]  # joints of couplings, and joints in closed loops
    closed: frozenset[str]  # joints in closed loops
    followers: Mapping[str, str]  # maps each dependent joint to the label of its coupling


def ties_of(constraints: Iterable[Any], tree: pin.Model) -> Ties:
    groups: list[frozenset[str]] = []
    coupled, closed = set[str](), set[str]()
    followers: dict[str, str] = {}
    for constraint in constraints:
        label = getattr(constraint, "label", type(constraint).__name__)
        for row in _call(constraint, "rows", tree):
            groups.append(_names(tree, between(tree, row.tied, row.tied)))
            coupled |= _names(tree, row.tied)
            followers[tree.names[row.dependent]] = label
        for closure in _call(constraint, "closures", tree):
            path = _names(tree, path_of(tree, closure))
            groups.append(path)
            closed |= path
        if isinstance(constraint, Rotor):
            rotor = constraint.resolve(tree)
            groups.append(_names(tree, between(tree, (rotor.carrier, *rotor.joints), rotor.joints)))
    return Ties(tuple(groups), frozenset(coupled | closed), frozenset(closed), followers)


def check_fit(constraints: Mapping[str, Any], tree: pin.Model) -> None:
    for owner, constraint in constraints.items():
        with in_words_of(owner):
            ties_of([constraint], tree)


def flagged_independent(
    ties: Ties, flags: Mapping[str, bool], named: Iterable[str], tree: pin.Model, notes: Notes
) -> tuple[str, ...]:
    """Choose the independent joints of clusters with loops from the flags (attributes ``independent``) in the file.

    ``ClusterModel`` chooses the independent joints of clusters without flags. If a cluster has a flag ``false``, its
    joints without a flag are independent, as in URDF+. If all its flags are ``true``, only the flagged joints of its
    loops are independent. If the caller selects joints of a cluster in ``named``, its flags have no effect.
    """
    named_set = set(named)
    independent = list(dict.fromkeys(named))
    order = {name: j for j, name in enumerate(tree.names)}
    for cluster in merged(ties.groups):
        if not cluster & ties.closed or cluster & named_set:
            continue
        free = sorted((n for n in cluster if n not in ties.followers), key=order.__getitem__)
        flagged = {flags[n] for n in free if n in flags}
        if not flagged:
            continue
        chosen_here = [n for n in free if flags.get(n, False in flagged or n not in ties.closed)]
        flagged_true = {n for n in chosen_here if flags.get(n)}  # A flagged joint may drive a loop through a coupling.
        if ties.closed.intersection(chosen_here) or ties.coupled & flagged_true:
            independent += chosen_here
        else:
            notes.messages.append(
                f'the joints {listing(free)} close a loop and all have independent="false", but at least one must be '
                "independent. Their flags are ignored."
            )
    return tuple(independent)


def _call(constraint: Any, method: str, tree: pin.Model) -> Sequence[Any]:
    function = getattr(constraint, method, None)
    return function(tree) if callable(function) and not isinstance(constraint, type) else ()


def _names(tree: pin.Model, joints: Iterable[int]) -> frozenset[str]:
    return frozenset(tree.names[j] for j in joints)
