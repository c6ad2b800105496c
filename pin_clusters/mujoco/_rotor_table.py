"""The table of rotors with constant ratios, from which native code computes their part of Delta M and Delta h.

A rotor has the axial inertia J, the axis s on the carrier c, and the speed rho = r v relative to the carrier. Let
omega be the angular velocity of the carrier, J_c its Jacobian, and alpha0 its angular acceleration for a = 0. Then::

    Delta M = J (r' r + r' sigma + sigma' r),    sigma = s' J_c
    Delta h = J r' (s' alpha0) + J_c' (omega x s) J rho

The first term of Delta M is constant. The other terms only depend on the sum of J r over all rotors with the same
carrier and axis, so the table has one group for all of these rotors, such as the stages of a gear.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UnsupportedJointError
from ._difference import Difference
from ._matching import FREE, SLIDE, Match

_SAME_AXIS = 1e-12


@dataclass(frozen=True, eq=False)
class RotorTable:
    """The rotors as arrays for native code.

    Attributes:
        block: Constant part of Delta M, shape (nv, nv) in MuJoCo's order, [kg m^2].
        groups: Number of groups.
        integers: For each group: offsets of its carrier in ``xmat``, in ``cvel`` and in the sums of the sweeps; number
            of drivers and of pairs; velocities of the drivers; offset in ``cdof`` and address in ``M`` of each pair.
        floats: For each group: axis in the frame of the body (3), sum of J r for each driver, factor of each pair.
        parents: For each velocity, the offset of its parent in the sums of the sweeps.
        pairs: The pairs (row, column) of Delta M that can differ from zero.
    """

    block: np.ndarray
    groups: int
    integers: np.ndarray
    floats: np.ndarray
    parents: np.ndarray
    pairs: set[tuple[int, int]]


def rotor_table(matched: Match, parts: Difference, addresses: dict[tuple[int, int], int]) -> RotorTable:
    mj_model, tree = matched.mj_model, matched.model.own_tree
    block = np.zeros((mj_model.nv, mj_model.nv))
    block[matched.dofs, matched.dofs] = parts.armature
    sums: list[tuple[int, np.ndarray, np.ndarray]] = []  # body, axis in the frame of the body, sum of J r
    for r, row in parts.constant:
        ratios = np.zeros(mj_model.nv)
        ratios[matched.dofs] = row
        block += r.axial_inertia * np.outer(ratios, ratios)
        if r.carrier_id:
            i = matched.joints[tree.names[r.carrier_id]][1]
            body = int(mj_model.jnt_bodyid[i])
            if i + 1 < mj_model.body_jntadr[body] + mj_model.body_jntnum[body]:
                raise UnsupportedJointError(
                    f"Exact: rotor {r.name!r} is carried by joint {r.carrier!r}, whose <body> in MuJoCo has another "
                    "joint. Write each joint in its own <body>."
                )
            _add(sums, body, matched.turns[r.carrier_id] @ r.axis, r.axial_inertia * ratios)
    integers, floats, pairs = list[int](), list[float](), {(int(i), int(j)) for i, j in np.argwhere(np.tril(block))}
    sums = [x for x in sums if x[2].any() and mj_model.body_weldid[x[0]]]
    for body, axis, moment in sums:
        drivers, above = np.flatnonzero(moment).tolist(), ancestors_of(mj_model, body)
        turning = [a for a in above if not slides(mj_model, a)]
        of_group = [(a, p, (max(a, p), min(a, p))) for a in turning for p in drivers]
        pairs |= {pair for *_, pair in of_group}
        integers += [9 * body, 6 * body, 3 * (above[0] + 1), len(drivers), len(of_group), *drivers]
        integers += [x for a, _, pair in of_group for x in (6 * a, addresses.get(pair, -1))]
        # An entry on the diagonal is in r' sigma and in sigma' r.
        floats += [*axis, *moment[drivers], *(moment[p] * (2.0 if a == p else 1.0) for a, p, _ in of_group)]
    parents = 3 * (np.array(mj_model.dof_parentid, dtype=np.int64) + 1)
    whole = np.array(integers, dtype=np.int64)
    return RotorTable(block, len(sums), whole, np.array(floats), parents, pairs)


def _add(sums: list[tuple[int, np.ndarray, np.ndarray]], body: int, axis: np.ndarray, moment: np.ndarray) -> None:
    for other, known, total in sums:
        if other == body and abs(abs(known @ axis) - 1.0) < _SAME_AXIS:
            total += np.sign(known @ axis) * moment
            return
    sums.append((body, axis, moment))


def ancestors_of(mj_model: Any, body: int) -> list[int]:
    """Return the velocities that move a body."""
    b = int(mj_model.body_weldid[body])  # the body itself, or the moving body to which it is fixed
    i = int(mj_model.body_dofadr[b] + mj_model.body_dofnum[b] - 1) if b else -1
    above = []
    while i >= 0:
        above.append(i)
        i = int(mj_model.dof_parentid[i])
    return above


def slides(mj_model: Any, dof: int) -> bool:
    """Return whether a velocity turns no body: a sliding joint, or the translation of a free joint."""
    joint = int(mj_model.dof_jntid[dof])
    kind = int(mj_model.jnt_type[joint])
    return kind == SLIDE or (kind == FREE and dof < mj_model.jnt_dofadr[joint] + 3)
