"""The program of all rotors with constant ratios: their part of Delta M and Delta h.

A rotor has the axial inertia J, the axis s on the carrier c, and the speed rho = r v relative to the carrier. Let
omega be the angular velocity of the carrier, J_c its Jacobian, and alpha0 its angular acceleration for a = 0. Then::

    Delta M = J (r' r + r' sigma + sigma' r),    sigma = s' J_c
    Delta h = J r' (s' alpha0) + J_c' (omega x s) J rho

The first term of Delta M is constant. The other terms only depend on the sum of J r over all rotors with the same
carrier and axis, so all of these rotors, such as the stages of a gear, form one group. MuJoCo has already computed the
axes, the Jacobians and the velocities.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compiler.tracing.expressions import Expression, Graph
from ..compiler.tracing.program import Program
from ..errors import UnsupportedJointError
from ._difference import Difference
from ._matching import FREE, SLIDE, Match

INPUTS = ("xmat", "cdof", "cdof_dot", "cvel", "qvel")
"""Fields of ``mjData`` that are the inputs of the program."""
_SAME_AXIS = 1e-12
_ROUNDING = 1e-15
Group = tuple[int, np.ndarray, np.ndarray]
"""Body of the carrier, axis in the frame of this body, and sum of J r for each degree of freedom."""


@dataclass(frozen=True, eq=False)
class Rotors:
    """The rotors with constant ratios.

    Attributes:
        block: Constant part of Delta M, shape (nv, nv) in MuJoCo's order, [kg m^2].
        groups: Number of groups.
        pairs: The pairs (row, column) of Delta M that can differ from zero, in the lower triangle, ordered.
        dofs: The degrees of freedom whose entry of Delta h can differ from zero.
        program: Program with the inputs ``INPUTS`` and the outputs ``dM``, one number per pair, and ``dh``, one number
            per degree of freedom.
    """

    block: np.ndarray
    groups: int
    pairs: list[tuple[int, int]]
    dofs: list[int]
    program: Program


def trace_rotors(matched: Match, parts: Difference) -> Rotors:
    mj_model = matched.mj_model
    nv, nbody, parents = mj_model.nv, mj_model.nbody, mj_model.dof_parentid.tolist()
    block, groups = _grouped(matched, parts)
    sizes = {"xmat": 9 * nbody, "cdof": 6 * nv, "cdof_dot": 6 * nv, "cvel": 6 * nbody, "qvel": nv}
    inputs = np.split(np.array(Graph().inputs(0, sum(sizes.values()))), np.cumsum([*sizes.values()])[:-1])
    xmat, cvel, qvel = inputs[0].reshape(-1, 3, 3), inputs[3].reshape(-1, 6)[:, :3], inputs[4]
    cdof, cdof_dot = (inputs[k].reshape(-1, 6)[:, :3] for k in (1, 2))
    M: dict[tuple[int, int], Any] = {(int(i), int(j)): block[i, j] for i, j in np.argwhere(np.tril(block))}
    h, turns = np.zeros(nv, dtype=object), {i for i in range(nv) if not slides(mj_model, i)}
    # For each degree of freedom: angular acceleration of its body for a = 0, and gyroscopic torque on its subtree.
    alphas, torques = (np.zeros((nv, 3), dtype=object) for _ in range(2))
    for i in range(nv):
        alphas[i] = (alphas[parents[i]] if parents[i] >= 0 else 0.0) + (cdof_dot[i] * qvel[i] if i in turns else 0.0)
    for body, axis, moment in groups:
        s, above, drivers = xmat[body] @ axis, ancestors_of(mj_model, body), np.flatnonzero(moment).tolist()
        for p in drivers:
            h[p] = h[p] + moment[p] * (s @ alphas[above[0]])
            for a in above:
                if a in turns:
                    pair = max(a, p), min(a, p)
                    # An entry on the diagonal is in r' sigma and in sigma' r.
                    M[pair] = M.get(pair, 0.0) + (2.0 if a == p else 1.0) * moment[p] * (s @ cdof[a])
        speed = sum(moment[p] * qvel[p] for p in drivers)
        torques[above[0]] = torques[above[0]] + np.array(list(_cross(cvel[body], s))) * speed
    for i in reversed(range(nv)):
        h[i] = h[i] + (cdof[i] @ torques[i] if i in turns else 0.0)
        if parents[i] >= 0:
            torques[parents[i]] = torques[parents[i]] + torques[i]
    pairs, dofs = sorted(M), [i for i in range(nv) if isinstance(h[i], Expression)]
    outputs = {"dM": np.array([M[pair] for pair in pairs], dtype=object), "dh": h[dofs]}
    program = Program.of(f"{matched.model.name}, rotors", [*sizes.items()], outputs)
    return Rotors(block, len(groups), pairs, dofs, program.ordered())


def _grouped(matched: Match, parts: Difference) -> tuple[np.ndarray, list[Group]]:
    """Return the constant part of Delta M, and the groups whose carriers can turn."""
    mj_model, tree, groups = matched.mj_model, matched.model.own_tree, list[Group]()
    block = np.zeros((mj_model.nv, mj_model.nv))
    block[matched.dofs, matched.dofs] = parts.armature
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
            axis = matched.turns[r.carrier_id] @ r.axis
            _add(groups, body, np.where(np.abs(axis) < _ROUNDING, 0.0, axis), r.axial_inertia * ratios)
    return block, [x for x in groups if x[2].any() and mj_model.body_weldid[x[0]]]


def _add(groups: list[Group], body: int, axis: np.ndarray, moment: np.ndarray) -> None:
    for other, known, total in groups:
        if other == body and abs(abs(known @ axis) - 1.0) < _SAME_AXIS:
            total += np.sign(known @ axis) * moment
            return
    groups.append((body, axis, moment))


def ancestors_of(mj_model: Any, body: int) -> list[int]:
    """Return the degrees of freedom that move a body."""
    b = int(mj_model.body_weldid[body])  # the body itself, or the moving body to which it is fixed
    i = int(mj_model.body_dofadr[b] + mj_model.body_dofnum[b] - 1) if b else -1
    above = []
    while i >= 0:
        above.append(i)
        i = int(mj_model.dof_parentid[i])
    return above


def slides(mj_model: Any, dof: int) -> bool:
    """Return whether a degree of freedom is a translation."""
    joint = int(mj_model.dof_jntid[dof])
    kind = int(mj_model.jnt_type[joint])
    return kind == SLIDE or (kind == FREE and dof < mj_model.jnt_dofadr[joint] + 3)


def _cross(x: np.ndarray, y: np.ndarray) -> Iterator[Any]:
    for i, j in ((1, 2), (2, 0), (0, 1)):
        yield x[i] * y[j] - x[j] * y[i]
