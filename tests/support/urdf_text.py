"""Small URDF texts for the tests of the loaders."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

INERTIAL = (
    '<inertial><mass value="1"/><origin xyz="0.1 0 0.2"/>'
    '<inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" ixz="0" iyz="0"/></inertial>'
)
LIMIT = '<limit lower="-2" upper="3" effort="4" velocity="5"/>'


def link(name: str, inside: str = INERTIAL) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(
    name: str,
    parent: str,
    child: str,
    kind: str = "revolute",
    axis: str | None = "0 0 1",
    limit: str = LIMIT,
    inside: str = "",
    attributes: str = "",
) -> str:
    direction = "" if axis is None else f'<axis xyz="{axis}"/>'
    return (
        f'<joint name="{name}" type="{kind}" {attributes}><origin xyz="0.1 0.2 0.3" rpy="0.4 0 0"/>'
        f'<parent link="{parent}"/><child link="{child}"/>{direction}{limit}{inside}</joint>'
    )


def robot(*parts: str) -> str:
    return '<?xml version="1.0"?><robot name="test_robot">' + "".join(parts) + "</robot>"


def coupling(
    predecessor: str,
    successor: str,
    ratio: str | None = "6",
    name: str = "belt",
    attributes: str = "",
    inside: str = "",
) -> str:
    value = "" if ratio is None else f'<ratio value="{ratio}"/>'
    return (
        f'<coupling name="{name}" {attributes}><predecessor link="{predecessor}"/><successor link="{successor}"/>'
        f"{value}{inside}</coupling>"
    )


FOLLOWS = 'independent="false"'

# ground - hip - thigh; the thigh carries the knee's shank and foot, and two rotors
LEG_PARTS = (
    link("ground", ""),
    link("thigh"),
    link("shank"),
    link("foot"),
    link("knee_rotor_link"),
    link("ankle_rotor_link"),
    joint("hip", "ground", "thigh", axis="1 0 0"),
    joint("knee", "thigh", "shank", axis="0 1 0"),
    joint("ankle", "shank", "foot", axis="0 1 0"),
    joint("knee_rotor", "thigh", "knee_rotor_link", axis="0 1 0", attributes=FOLLOWS),
    joint("ankle_rotor", "thigh", "ankle_rotor_link", axis="0 1 0", attributes=FOLLOWS),
)
LEG = robot(
    *LEG_PARTS,
    coupling("shank", "knee_rotor_link", "12", "knee_belt"),
    coupling("foot", "ankle_rotor_link", "-8", "ankle_belt"),
)


def rows(tree: pin.Model, constraints: tuple) -> dict[str, tuple[dict[str, float], float]]:
    """Return all couplings by the names of their joints: dependent -> (coefficients, offset)."""
    return {
        tree.names[row.dependent]: (
            {tree.names[m]: c for m, c in zip(row.masters, row.coefficients, strict=True)},
            row.offset,
        )
        for constraint in constraints
        for row in constraint.rows(tree)
    }


def coupling_matrix(tree: pin.Model, constraints: tuple) -> np.ndarray:
    """Return G of a tree, for couplings whose masters are independent or come earlier."""
    resolved = [row for constraint in constraints for row in constraint.rows(tree)]
    dependent = {tree.joints[row.dependent].idx_v for row in resolved}
    independent = [i for i in range(tree.nv) if i not in dependent]
    G = np.zeros((tree.nv, len(independent)))
    G[independent, np.arange(len(independent))] = 1.0
    for row in resolved:
        G[tree.joints[row.dependent].idx_v] = sum(
            c * G[tree.joints[m].idx_v] for m, c in zip(row.masters, row.coefficients, strict=True)
        )
    return G
