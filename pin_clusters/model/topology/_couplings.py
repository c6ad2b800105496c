"""Constant couplings: who claims which joint, and in which order they are solved."""

from collections.abc import Sequence

import pinocchio as pin

from ...constraints.rows import Row
from ...errors import ConstraintError, UnsupportedJointError


def check_claims(tree: pin.Model, rows: Sequence[Row]) -> None:
    first: dict[int, Row] = {}
    for row in rows:
        other = first.setdefault(row.dependent, row)
        if other is row:
            continue
        name = tree.names[row.dependent]
        same = dict(row.terms) == dict(other.terms)
        what = (
            f"with contradictory offsets {other.offset:g} and {row.offset:g}"
            if same and row.offset != other.offset
            else "twice"
        )
        raise ConstraintError(
            f"Joint {name!r} is claimed as dependent {what}: by {other.source.label} and by {row.source.label}. "
            "Drop one, or state it so that another joint follows (pc.Belt has dependent=...)."
        )


def in_order(tree: pin.Model, rows: Sequence[Row]) -> list[Row]:
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


def check_continuous(tree: pin.Model, rows: Sequence[Row]) -> None:
    """A (cos, sin) joint does not know its turns: only whole multiples of its angle are defined."""
    for row in rows:
        for m, coefficient in row.terms:
            if tree.joints[m].nq == 2 and coefficient != round(coefficient):
                raise UnsupportedJointError(
                    f"{row.source.label}: joint {tree.names[m]!r} is continuous (cos, sin), so {coefficient:g} times "
                    "its angle is not defined after a full turn. Make it a revolute joint (type='revolute' in the "
                    "URDF, pin.JointModelRevoluteUnaligned), use a whole ratio, or use pc.Rotor, which needs no angle."
                )
