"""Lines for other simulators: the block approximation in MuJoCo, the diagonal one in Pinocchio.

A rotor that one joint turns is armature of that joint, J ratio^2. A rotor that couples joints is a fixed tendon with
armature J and the ratios as coefficients, which adds exactly ``J g' g`` to MuJoCo's mass matrix.
"""

from __future__ import annotations

from dataclasses import replace
from json import dumps as quoted

import numpy as np

from ..model import ClusterModel
from .reflected import Drive, Reflected, with_rotors

MUJOCO = "3.3.1"
"""First MuJoCo whose tendons have armature (tried: 3.3.0 refuses the attribute)."""
MUJOCO_INVERSE = "3.3.4"
"""First MuJoCo whose ``mj_inverse`` has it, too."""
_DIGITS = 12
_NOTHING = 1e-12
"""Couplings that cancel leave this part of the diagonal at most, by rounding."""


def joint_armature(reflected: Reflected) -> dict[str, float]:
    """Return the armature of MuJoCo's joints: the tree's own, and rotors that need no tendon.

    Unlike ``reflected.armature`` it has no part in it of rotors that have a tendon.
    """
    alone = (d for group in _groups(reflected) if not _coupled(group) for d in group)
    total = with_rotors(reflected.own, alone)
    return {name: total[name] for name in reflected.armature if name in total}


def tendons(reflected: Reflected) -> tuple[Drive, ...]:
    """Return the rotors that couple joints, one for all that always turn together, such as the stages of a gear."""
    found: list[Drive] = []
    for d in (d for group in _groups(reflected) if _coupled(group) for d in group):
        for k, other in enumerate(found):
            times = _times(d.ratios, other.ratios)
            if times is not None:
                found[k] = replace(other, inertia=other.inertia + d.inertia * times**2)
                break
        else:
            found.append(d)
    return tuple(found)


def cancelling(reflected: Reflected) -> tuple[Drive, ...]:
    """Return the rotors that several joints turn and that need no tendon, as their couplings add up to nothing.

    Two equal motors, one for the sum and one for the difference of two joints: each joint has twice the armature.
    """
    return tuple(d for group in _groups(reflected) if not _coupled(group) for d in group if len(d.ratios) > 1)


def _groups(reflected: Reflected) -> list[list[Drive]]:
    """Return the rotors by the joints that turn them."""
    found: dict[frozenset[str], list[Drive]] = {}
    for d in reflected.drives:
        if d.ratios and not d.own:
            found.setdefault(frozenset(d.ratios), []).append(d)
    return list(found.values())


def _coupled(group: list[Drive]) -> bool:
    """Say whether rotors that the same joints turn have entries off the diagonal."""
    names = list(group[0].ratios)
    matrix = sum(d.inertia * np.outer(row, row) for d in group for row in [[d.ratios[name] for name in names]])
    diagonal = np.diag(np.diag(matrix))
    return bool(np.abs(matrix - diagonal).max() > _NOTHING * np.abs(diagonal).max())


def _times(ratios: dict[str, float], others: dict[str, float]) -> float | None:
    """Return how many times faster a rotor turns than another one that the same joints turn; None if it varies."""
    if set(ratios) != set(others):
        return None
    times = [ratios[name] / others[name] for name in others]
    return times[0] if all(abs(x - times[0]) <= 1e-12 * abs(times[0]) for x in times) else None


def locked(reflected: Reflected) -> list[str]:
    """Return the joints of the file that belong to rotors, quoted; armature replaces their spin."""
    return [quoted(d.rotor) for d in reflected.drives if d.body and not d.own]


def mujoco_xml(reflected: Reflected) -> str:
    """Return attributes for the joints of an MJCF file, and the tendons to put beside its ``<worldbody>``."""
    from xml.sax.saxutils import quoteattr

    lines = ["<!-- 1. set these attributes in the joints of your model -->"]
    lines += [
        f"<joint name={quoteattr(name)} armature={_attribute(x)}/>" for name, x in joint_armature(reflected).items()
    ]
    found = tendons(reflected)
    if not found:
        return "\n".join(lines) + "\n"
    lines += [f"<!-- 2. put this beside <worldbody>; MuJoCo {MUJOCO} or newer -->", "<tendon>"]
    for d in found:
        lines.append(f"  <fixed name={quoteattr(d.rotor)} armature={_attribute(d.inertia)}>")
        lines += [f"    <joint joint={quoteattr(j)} coef={_attribute(g)}/>" for j, g in d.ratios.items()]
        lines.append("  </fixed>")
    return "\n".join([*lines, "</tendon>"]) + "\n"


def mujoco_python(robot: str, model: ClusterModel, reflected: Reflected) -> str:
    """Return a script that puts the same into a model with ``mujoco.MjSpec``, rotors of the file welded."""
    found = tendons(reflected)
    lines = [
        f"import mujoco  # {MUJOCO} or newer" if found else "import mujoco",
        "",
        f"spec = mujoco.MjSpec.from_file({quoted(robot + '.xml')})",
    ]
    weld = locked(reflected)
    if weld:
        lines += [
            "# rotors that are bodies of the file stay as mass; armature stands for their spin",
            f"for name in {_inside('[]', weld)}:",
            "    joint = spec.joint(name)",
            "    if joint is not None:",
            "        spec.delete(joint)",
        ]
    lines += [f"armature = {_dict(joint_armature(reflected))}", "for name, value in armature.items():"]
    lines += ["    spec.joint(name).armature = value"]
    if found:
        lines += ["# rotors that several joints turn: name, inertia, turns per turn of each joint", "rotors = ["]
        lines += [f"    ({quoted(d.rotor)}, {_number(d.inertia)}, {_dict(d.ratios, inline=True)})," for d in found]
        lines += [
            "]",
            "for name, inertia, ratios in rotors:",
            "    tendon = spec.add_tendon(name=name, armature=inertia)",
            "    for joint, ratio in ratios.items():",
            "        tendon.wrap_joint(joint, ratio)",
        ]
    return "\n".join([*lines, "model = spec.compile()"]) + "\n"


def pinocchio(robot: str, model: ClusterModel, reflected: Reflected) -> str:
    """Return a script that puts the diagonal into a Pinocchio model, and what is off the diagonal into a matrix."""
    floating = model.nv > 5 and model.tree.joints[1].shortname() == "JointModelFreeFlyer"
    root = ", pin.JointModelFreeFlyer()" if floating else ""
    lines = ["import pinocchio as pin", "", f"model = pin.buildModelFromUrdf({quoted(robot + '.urdf')}{root})"]
    weld = locked(reflected)
    if weld:
        lines += [
            "# rotors that are bodies of the file stay as mass; armature stands for their spin",
            f"rotors = {_inside('[]', weld)}",
            "rotors = [model.getJointId(name) for name in rotors if model.existJointName(name)]",
            "model = pin.buildReducedModel(model, rotors, pin.neutral(model))",
        ]
    lines += [
        f"values = {_dict(reflected.armature)}",
        "armature = model.armature.copy()",
        "for name, value in values.items():",
        "    armature[model.joints[model.getJointId(name)].idx_v] = value",
        "model.armature = armature",
    ]
    if reflected.off_diagonal and not model.closures:
        lines += [
            "",
            "# block: what no pin.Model can hold; M = pin.crba(...) + B, tau = pin.rnea(...) + B @ a",
            "import numpy as np",
            "",
            "off_diagonal = {",
            *(f"    ({quoted(a)}, {quoted(b)}): {_number(x)}," for (a, b), x in reflected.off_diagonal.items()),
            "}",
            "B = np.zeros((model.nv, model.nv))",
            "for pair, value in off_diagonal.items():",
            "    i, k = (model.joints[model.getJointId(name)].idx_v for name in pair)",
            "    B[i, k] = B[k, i] = value",
        ]
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    return f"{value:.{_DIGITS}g}"


def _attribute(value: float) -> str:
    return f'"{_number(value)}"'


def _dict(values: dict[str, float], *, inline: bool = False) -> str:
    return _inside("{}", [f"{quoted(name)}: {_number(x)}" for name, x in values.items()], inline)


def _inside(brackets: str, entries: list[str], inline: bool = False) -> str:
    """Return entries in brackets; if there are many, one on each line."""
    if len(entries) <= 3 or inline:
        text = ", ".join(entries)
    else:
        text = "\n" + "".join(f"    {entry},\n" for entry in entries)
    return brackets[0] + text + brackets[1]
