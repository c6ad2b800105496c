"""Which joint of a coupling follows the others: the ``independent`` attribute of URDF+."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import LoadError
from ._couplings import Tie
from ._xml import Description


def read_flags(description: Description) -> dict[str, bool]:
    """Return the joints that carry the attribute ``independent``."""
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
    """Return the dependent joint of each coupling.

    It is the joint that the file names; else the joint on the two paths that is flagged ``independent="false"`` (if
    several are, those that other couplings need are left to them); else the last joint of the successor's path.
    """
    chosen = {i: t.after[-1] for i, t in enumerate(ties) if t.independent is not None}
    candidates = {
        i: [j for j in (*t.before, *t.after) if flags.get(j) is False] for i, t in enumerate(ties) if i not in chosen
    }
    while candidates:
        taken = set(chosen.values())
        left = {i: [j for j in joints if j not in taken] for i, joints in candidates.items()}
        i = min(left, key=lambda k: (len(left[k]) != 1, k))  # those without a choice go first
        after = ties[i].after
        chosen[i] = ([j for j in left[i] if j in after] or left[i] or after)[-1]
        del candidates[i]
    for i, name in chosen.items():
        check_not_independent(name, ties[i].owner, flags)
    return [chosen[i] for i in range(len(ties))]


def check_circles(ties: Sequence[Tie], dependents: Sequence[str]) -> None:
    """Raise if joints follow each other in a circle, in the words of the file."""
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
            f"{', '.join(follows[j].owner for j in circle)} run in a circle: each of the joints "
            f"{', '.join(map(repr, circle))} waits for another one. Let one of them follow no other joint."
        )


def check_not_independent(joint: str, owner: str, flags: Mapping[str, bool]) -> None:
    """Raise if a joint that is to follow others is said to be independent."""
    if flags.get(joint) is True:
        raise LoadError(
            f'{owner} makes joint {joint!r} follow other joints, but the file says independent="true" for it. '
            'Flag the joint that follows with independent="false", or remove the attribute.'
        )


def check_tied(flags: Mapping[str, bool], dependents: set[str], description: Description) -> None:
    """Raise if a joint is flagged ``independent="false"`` but follows no other joint."""
    for name, independent in flags.items():
        if independent or name in dependents or description.joints[name].get("type") == "fixed":
            continue
        raise LoadError(
            f'joint {name!r} is flagged independent="false", but nothing says which joints it follows. Add a '
            "<coupling>, <loop> or <mimic> to the file, pass a constraint on it in constraints=, or remove the "
            "attribute."
        )
