"""Inertia that bodies lend each other, so that each has some in every direction. Nothing moves otherwise by it.

A point mass on the axis of a joint, and an inertia across it, move the same whether they are taken to be part of the
body before the joint or of the one behind it. Only the force that the joint transmits changes, by what they take. A
rotor that has inertia about its axis alone, or a link of a planar robot, is given enough of them by its parent to be
invertible; the universe has any amount.

What cannot be mended so (a platform without mass behind prismatic joints, a base without mass) is given inertia that
is not there, and a row of the dense system takes back the force that it needs.
"""

from dataclasses import replace

import numpy as np

from ._bodies import Body

_FLAT = 1e-6
"""An inertia is singular if its smallest eigenvalue, in units of the robot, is below this share of its largest."""


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
    # how many bodies behind a joint live on what comes through it
    wants = [0] * len(bodies)
    for i in range(len(bodies) - 1, 0, -1):
        if poor[i] and bodies[i].turns is not None:
            wants[i] = 1 + sum(wants[k] for k in children[i])
    for i, b in enumerate(bodies):
        if i and _poor(b.lump, weight):
            b.borrowed = np.array([mass] * 3 + [turn] * 3)
            b.lump = b.lump + np.diag(b.borrowed)
        left = sum(wants[k] for k in children[i])
        for k in children[i]:
            if not wants[k]:
                continue
            child, share = bodies[k], wants[k] / (1.0 + left)
            left -= wants[k]
            at = child.joint[0].placement
            axis = child.turns
            assert axis is not None
            for n, form in enumerate(_forms(axis)):
                if n == 0 and child.inertia[0, 0] > 1e-9 * mass:
                    continue
                amount = (mass, turn)[n] * wants[k]
                there = at.toDualActionMatrix() @ form @ at.inverse().toActionMatrix()
                if i:
                    half = np.linalg.inv(np.linalg.cholesky(b.lump))  # more would make the inertia singular
                    amount = share / float(np.linalg.eigvalsh(half @ there @ half.T)[-1])
                    b.lump = b.lump - amount * there
                child.share[n] = amount
                child.lump = child.lump + amount * form


def _forms(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what may be lent across a turn about an axis: a unit mass on it, a unit inertia across it."""
    point, across = np.diag([1.0] * 3 + [0.0] * 3), np.zeros((6, 6))
    across[3:, 3:] = np.eye(3) - np.outer(axis, axis)
    return point, across


def _poor(inertia: np.ndarray, weight: np.ndarray) -> bool:
    """Whether an inertia is next to singular."""
    scaled = np.linalg.eigvalsh(inertia / np.outer(weight, weight))
    return bool(scaled[0] <= _FLAT * max(scaled[-1], 1e-300))


def split(bodies: list[Body]) -> tuple[list[Body], np.ndarray]:
    """Divide bodies with more than three joints into ones with three, rigidly joined, each with a share of the inertia.

    Returns:
        The bodies, and the number there of each of those given: of the first of its parts.
    """
    children: list[list[int]] = [[] for _ in bodies]
    for i, b in enumerate(bodies[1:], start=1):
        children[b.parent].append(i)
    found = [bodies[0]]
    new = np.zeros(len(bodies), dtype=np.int64)

    stack = [(i, 0) for i in children[0]][::-1]
    while stack:
        i, parent = stack.pop()
        b, own = bodies[i], children[i]
        above = int(b.nv < 6 or b.armature.any())
        parts = max(1, len(own) + above - 2)
        inertia, lump = b.inertia / parts, b.lump / parts
        new[i] = len(found)
        found.append(replace(b, parent=parent, inertia=inertia, lump=lump))
        hangs = [len(found) - 1]
        for _ in range(parts - 1):
            found.append(Body(b.name, len(found) - 1, -1, b.first + b.nv, [], inertia, np.zeros(0), lump))
            hangs.append(len(found) - 1)
        # three joints each: the first has the joint above or two children, the last has two
        places = [hangs[min(max(k - 1 + above, 0), parts - 1)] for k in range(len(own))]
        stack += [(child, at) for child, at in zip(own, places, strict=True)][::-1]
    return found, new
