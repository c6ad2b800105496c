"""Move inertia from bodies to their children, so that every inertia is invertible and the motion does not change.

A point mass on the axis of a revolute joint can be part of either body of the joint without changing the motion. The
same is true for inertia transverse to the axis. Only the force that the joint transmits changes. A parent therefore
lends such inertia to a child with a singular inertia, such as a rotor with only axial inertia or a link of a planar
robot. The universe can lend any amount.

If lending is impossible (massless platform behind prismatic joints, massless base), fictitious inertia is added to the
body, and additional constraint rows cancel its force.
"""

from dataclasses import replace

import numpy as np

from ._bodies import Body

_FLAT = 1e-6
"""A scaled inertia counts as singular if the ratio of its smallest to its largest eigenvalue is below this value."""


def lend(bodies: list[Body]) -> None:
    """Set ``lump``, ``share`` and ``borrowed`` of all bodies, from the base to the tips."""
    mass = max([b.inertia[0, 0] for b in bodies] + [1e-12]) / 4.0
    turn = max([float(np.trace(b.inertia[3:, 3:])) for b in bodies] + [1e-12]) / 12.0
    weight = np.array([1.0] * 3 + [np.sqrt(turn / mass)] * 3)
    children: list[list[int]] = [[] for _ in bodies]
    for i, b in enumerate(bodies[1:], start=1):
        children[b.parent].append(i)
    poor = [_poor(b.lump, weight) for b in bodies]
    poor[0] = False
    # For each joint, count the bodies that must borrow inertia through this joint.
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
    """Return the inertias that can be lent across a rotation axis: unit point mass, and unit transverse inertia."""
    point, across = np.diag([1.0] * 3 + [0.0] * 3), np.zeros((6, 6))
    across[3:, 3:] = np.eye(3) - np.outer(axis, axis)
    return point, across


def _poor(inertia: np.ndarray, weight: np.ndarray) -> bool:
    scaled = np.linalg.eigvalsh(inertia / np.outer(weight, weight))
    return bool(scaled[0] <= _FLAT * max(scaled[-1], 1e-300))


def split(bodies: list[Body]) -> tuple[list[Body], np.ndarray]:
    """Divide each body with more than three joints into rigidly connected parts with three joints and equal inertias.

    Returns the new bodies, and the index of the first part of each original body.
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
        # Each part has three joints, some between parts; the last part and a root part therefore have two children.
        places = [hangs[min(max(k - 1 + above, 0), parts - 1)] for k in range(len(child_bodies))]
        stack += [(child, new_parent) for child, new_parent in zip(child_bodies, places, strict=True)][::-1]
    return divided, new
