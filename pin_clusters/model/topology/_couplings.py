"""Checks constant couplings, and orders them for evaluation."""

import math
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import pinocchio as pin

from ...constraints.contract import RowConstraint
from ...constraints.rows import Row
from ...errors import ConstraintError, UnsupportedJointError, shown


def equations_of(tree: pin.Model, c: RowConstraint) -> list[Row]:
    """Return the equations of a constraint; raise ``ConstraintError`` for mistakes in a user's class."""
    given, single = c.rows(tree), [j for j in range(1, tree.njoints) if tree.nvs[j] == 1]
    rows: list[Any] = list(given) if isinstance(given, Iterable) else [given]
    for row in rows:
        if row is given or not isinstance(row, Row):
            raise ConstraintError(f"{c.label}: rows must return a list, such as [make_row(...)], got {shown(given)}.")
        joints, numbers = (row.dependent, *row.masters), (*row.coefficients, row.offset)
        wrong_ids = [j for j in joints if not isinstance(j, int) or j not in single]
        names = [j if j in wrong_ids else tree.names[j] for j in joints]
        wrong_numbers = [x for x in numbers if not isinstance(x, Real) or not math.isfinite(x)]
        for failed, expected, got in (
            (wrong_ids, "needs joint ids (int) from moving_joint_id, of joints with one degree of freedom", wrong_ids),
            (len({*joints}) < len(joints), "must list each joint once, by joint name or by body name", names),
            (len(numbers) != len(joints), "needs one coefficient for each master", row.coefficients),
            (wrong_numbers, "needs finite coefficients and a finite offset", wrong_numbers),
            (not {*joints} <= {*row.tied} <= {*single}, "needs tied=(dependent, *masters)", row.tied),
            (not hasattr(row.source, "label"), "needs source=self, the constraint", row.source),
        ):
            if failed:
                raise ConstraintError(f"{c.label}: the equation of joint {names[0]!r} {expected}, got {shown(got)}.")
    return rows


def check_claims(tree: pin.Model, rows: Sequence[Row]) -> None:
    first: dict[int, Row] = {}
    for row in rows:
        earlier = first.setdefault(row.dependent, row)
        if earlier is row:
            continue
        name = tree.names[row.dependent]
        contradictory = row.offset != earlier.offset and dict(row.terms) == dict(earlier.terms)
        conflict = f"with contradictory offsets {earlier.offset:g} and {row.offset:g}" if contradictory else "twice"
        raise ConstraintError(
            f"Joint {name!r} is claimed as dependent {conflict}: by {earlier.source.label} and by {row.source.label}. "
            "Remove one of them, or define it so that another joint is dependent (pc.Belt has dependent=...)."
        )


def in_order(tree: pin.Model, rows: Sequence[Row]) -> list[Row]:
    waiting = {row.dependent: row for row in rows}
    ordered: list[Row] = []
    while waiting:
        ready = [row for row in waiting.values() if not any(m in waiting for m in row.masters)]
        if not ready:
            circle = _circle(waiting)
            names = ", ".join(repr(tree.names[j]) for j in circle)
            labels = ", ".join(waiting[j].source.label for j in circle)
            raise ConstraintError(
                f"The couplings {labels} form a cycle: each of the joints {names} depends on another of "
                "them. Remove one of the couplings."
            )
        for row in ready:
            ordered.append(row)
            del waiting[row.dependent]
    return ordered


def _circle(waiting: dict[int, Row]) -> list[int]:
    """Return joints that depend on each other in a cycle; every joint in ``waiting`` depends on another joint in it."""
    j, visited = next(iter(waiting)), list[int]()
    while j not in visited:
        visited.append(j)
        j = next(m for m in waiting[j].masters if m in waiting)
    return visited[visited.index(j) :]


def check_continuous(tree: pin.Model, rows: Sequence[Row]) -> None:
    """Raise an error if a coupling multiplies a (cos, sin) joint by a fraction, because q does not count full turns."""
    for row in rows:
        for m, coefficient in row.terms:
            if tree.joints[m].nq == 2 and coefficient != round(coefficient):
                raise UnsupportedJointError(
                    f"{row.source.label}: joint {tree.names[m]!r} is continuous (cos, sin), so {coefficient:g} times "
                    "its angle is not defined after a full turn. Make it a revolute joint (type='revolute' in the "
                    "URDF, pin.JointModelRevoluteUnaligned), use a whole ratio, or use pc.Rotor, which needs no angle."
                )
