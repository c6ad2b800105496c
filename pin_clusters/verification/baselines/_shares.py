"""Inertia that bodies lend each other, so that every body has an invertible inertia, without changing the motion.

A point mass on the axis of a joint, and an inertia transverse to the axis, move identically whether they belong to the
body before or after the joint. Only the force that the joint transmits changes, by their inertia force. The parent
lends such inertia to a rotor that only has axial inertia, or to a link of a planar robot, until its inertia is
invertible. The universe can lend any amount.

Where lending is impossible (a massless platform behind prismatic joints, a massless base), the body is given fictitious
inertia, and a row of the dense system cancels its force.
"""

from dataclasses import replace

import numpy as np

from ._bodies import Body

_FLAT = 1e-6
"""An inertia is singular if its smallest eigenvalue, scaled to the robot, is below this share of its largest."""


def lend(bodies: list[Body]) -> None:
    """Set ``lump``, ``share`` and ``borrowed`` of all bodies, parents first."""
    mass = max([b.inertia[0, 0] for b in bodies] + [1e-12]) / 4.0
    turn = max([float(np.trace(b.inertia[3:, 3:])) for b in bodies] + [1e-12]) / 12.0
    weight = np.array([1.0] * 3 + [np.sqrt(turn / mass)] * 3)
    children: list[list[int]] = [[] for _ in bodies]
    for i, b in enumerate(bodies[1:], start=1):
        children[b.parent].append(i)
    poor = [_poor(b.lump, weight) for b in bodies]
    poor[0] = False
    # Number of bodies behind each joint whose inertia must be lent through it.
    wants = [0] * len(bodies)
    for i in range(len(bodies) - 1, 0, -1):
        if poor[i] and bodies[i].turns is not None:
            wants[i] = 1 + sum(wants[k] for k in children[i])
    for i, b in enumerate(bodies):
        if i and _poor(b.lump, weight):
            b.borrowed = np.array([mass] * 3 + [turn] * 3)
            b.lump = b.lump + np.diag(b.borrowed)
        borrowers = sum(wants[k] for k in children[i])
        for k in children[i]:
            if not wants[k]:
                continue
            child, share = bodies[k], wants[k] / (1.0 + borrowers)
            borrowers -= wants[k]
            placement = child.joint[0].placement
            axis = child.turns
            assert axis is not None
            for n, form in enumerate(_forms(axis)):
                if n == 0 and child.inertia[0, 0] > 1e-9 * mass:
                    continue
                amount = (mass, turn)[n] * wants[k]
                form_in_parent = placement.toDualActionMatrix() @ form @ placement.inverse().toActionMatrix()
                if i:
                    # A larger amount would make the parent's inertia singular.
                    half = np.linalg.inv(np.linalg.cholesky(b.lump))
                    amount = share / float(np.linalg.eigvalsh(half @ form_in_parent @ half.T)[-1])
                    b.lump = b.lump - amount * form_in_parent
                child.share[n] = amount
                child.lump = child.lump + amount * form


def _forms(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the inertias that can be lent across a rotation axis: a unit mass on it, a unit transverse inertia."""
    point, across = np.diag([1.0] * 3 + [0.0] * 3), np.zeros((6, 6))
    across[3:, 3:] = np.eye(3) - np.outer(axis, axis)
    return point, across


def _poor(inertia: np.ndarray, weight: np.ndarray) -> bool:
    scaled = np.linalg.eigvalsh(inertia / np.outer(weight, weight))
    return bool(scaled[0] <= _FLAT * max(scaled[-1], 1e-300))


def split(bodies: list[Body]) -> tuple[list[Body], np.ndarray]:
    """Divide bodies with more than three joints into rigidly connected bodies with three joints.

    Each part takes an equal share of the inertia.

    Returns:
        The new bodies, and the index of the first part of each original body.
    """
    children: list[list[int]] = [[] for _ in bodies]
    for i, b in enumerate(bodies[1:], start=1):
        children[b.parent].append(i)
    divided = [bodies[0]]
    new = np.zeros(len(bodies), dtype=np.int64)

    stack = [(i, 0) for i in children[0]][::-1]
    while stack:
        i, parent = stack.pop()
        b, child_bodies = bodies[i], children[i]
        above = int(b.nv < 6 or b.armature.any())
        parts = max(1, len(child_bodies) + above - 2)
        inertia, lump = b.inertia / parts, b.lump / parts
        new[i] = len(divided)
        divided.append(replace(b, parent=parent, inertia=inertia, lump=lump))
        hangs = [len(divided) - 1]
        for _ in range(parts - 1):
            divided.append(Body(b.name, len(divided) - 1, -1, b.first + b.nv, [], inertia, np.zeros(0), lump))
            hangs.append(len(divided) - 1)
        # Each part has three joints: the first has the joint above or two children, the last has two children.
        places = [hangs[min(max(k - 1 + above, 0), parts - 1)] for k in range(len(child_bodies))]
        stack += [(child, new_parent) for child, new_parent in zip(child_bodies, places, strict=True)][::-1]
    return divided, new
