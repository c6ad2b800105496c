"""Generate code for the block approximation in MuJoCo and for the diagonal approximation in Pinocchio.

A rotor driven by one joint is exported as armature J ratio^2 of that joint. A rotor driven by several joints becomes a
fixed tendon. The armature J and the ratios g of this tendon add exactly ``J g' g`` to MuJoCo's mass matrix.
"""

from __future__ import annotations

from collections.abc import Iterable
from json import dumps as quoted
from xml.sax.saxutils import quoteattr

import numpy as np

from ...approximations.armature import joined
from ...model import ClusterModel
from .reflected import Drive, Reflected, with_rotors

MUJOCO = "3.3.1"  # First MuJoCo version that supports armature of tendons (tested: 3.3.0 rejects the attribute)
MUJOCO_INVERSE = "3.3.4"  # First MuJoCo version whose ``mj_inverse`` includes the armature of tendons
_DIGITS = 12
_NOTHING = 1e-12  # Off-diagonal terms below this fraction of the diagonal count as zero


def joint_armature(reflected: Reflected) -> dict[str, float]:
    """Return the armature of MuJoCo's joints: the armature in the file, plus J ratio^2 of rotors without a tendon."""
    total = with_rotors(reflected.own, _rotors(reflected, coupled=False))
    return {name: total[name] for name in reflected.armature if name in total}


def tendons(reflected: Reflected) -> tuple[Drive, ...]:
    return tuple(joined(_rotors(reflected, coupled=True)))


def cancelling(reflected: Reflected) -> tuple[Drive, ...]:
    """Return rotors whose off-diagonal inertias cancel, such as equal motors that drive q_1 + q_2 and q_1 - q_2."""
    return tuple(d for d in _rotors(reflected, coupled=False) if len(d.ratios) > 1)


def _rotors(reflected: Reflected, *, coupled: bool) -> list[Drive]:
    groups: dict[frozenset[str], list[Drive]] = {}
    for d in reflected.drives:
        if d.ratios and not d.own:
            groups.setdefault(frozenset(d.ratios), []).append(d)
    return [d for group in groups.values() if _coupled(group) is coupled for d in group]


def _coupled(group: list[Drive]) -> bool:
    names = list(group[0].ratios)
    matrix = sum(d.inertia * np.outer(row, row) for d in group for row in [[d.ratios[name] for name in names]])
    diagonal = np.diag(np.diag(matrix))
    return bool(np.abs(matrix - diagonal).max() > _NOTHING * np.abs(diagonal).max())


_WELD = """\
# weld the rotors that are bodies of the file; armature replaces their spin
"""
_WELD_MUJOCO = """\
for name in {}:
    joint = spec.joint(name)
    if joint is not None:
        spec.delete(joint)
"""
_WELD_PINOCCHIO = """\
rotors = {}
rotors = [model.getJointId(name) for name in rotors if model.existJointName(name)]
model = pin.buildReducedModel(model, rotors, pin.neutral(model))
"""
_TENDONS = """\
# rotors that several joints turn: name, inertia, turns per turn of each joint
rotors = [
{}]
for name, inertia, ratios in rotors:
    tendon = spec.add_tendon(name=name, armature=inertia)
    for joint, ratio in ratios.items():
        tendon.wrap_joint(joint, ratio)
"""
_DIAGONAL = """\
armature = model.armature.copy()
for name, value in values.items():
    armature[model.joints[model.getJointId(name)].idx_v] = value
model.armature = armature
"""
_BLOCK = """
# block armature adds B, which a pin.Model cannot contain: M = pin.crba(...) + B, tau = pin.rnea(...) + B @ a
import numpy as np

off_diagonal = {{
{}}}
B = np.zeros((model.nv, model.nv))
for pair, value in off_diagonal.items():
    i, k = (model.joints[model.getJointId(name)].idx_v for name in pair)
    B[i, k] = B[k, i] = value
"""


def mujoco_xml(reflected: Reflected) -> str:
    text = "<!-- 1. set these attributes in the joints of your model -->\n"
    for name, x in joint_armature(reflected).items():
        text += f"<joint name={quoteattr(name)} armature={quoteattr(_number(x))}/>\n"
    coupling_rotors = tendons(reflected)
    if not coupling_rotors:
        return text
    text += f"<!-- 2. insert this next to <worldbody>; MuJoCo {MUJOCO} or newer -->\n<tendon>\n"
    for d in coupling_rotors:
        text += f"  <fixed name={quoteattr(d.rotor)} armature={quoteattr(_number(d.inertia))}>\n"
        for joint, g in d.ratios.items():
            text += f"    <joint joint={quoteattr(joint)} coef={quoteattr(_number(g))}/>\n"
        text += "  </fixed>\n"
    return text + "</tendon>\n"


def mujoco_python(robot: str, reflected: Reflected) -> str:
    coupling_rotors = tendons(reflected)
    text = f"import mujoco  # {MUJOCO} or newer\n" if coupling_rotors else "import mujoco\n"
    text += f"\nspec = mujoco.MjSpec.from_file({quoted(robot + '.xml')})\n"
    text += _welded(reflected, _WELD_MUJOCO)
    text += f"armature = {_dict(joint_armature(reflected))}\nfor name, value in armature.items():\n"
    text += "    spec.joint(name).armature = value\n"
    if coupling_rotors:
        rows = (f"({quoted(d.rotor)}, {_number(d.inertia)}, {_dict(d.ratios, inline=True)})" for d in coupling_rotors)
        text += _TENDONS.format(_lines(rows))
    return text + "model = spec.compile()\n"


def pinocchio(robot: str, model: ClusterModel, reflected: Reflected) -> str:
    floating = model.nv > 5 and model.tree.joints[1].shortname() == "JointModelFreeFlyer"
    root = ", pin.JointModelFreeFlyer()" if floating else ""
    text = f"import pinocchio as pin\n\nmodel = pin.buildModelFromUrdf({quoted(robot + '.urdf')}{root})\n"
    text += _welded(reflected, _WELD_PINOCCHIO)
    text += f"values = {_dict(reflected.armature)}\n{_DIAGONAL}"
    if reflected.off_diagonal and not model.closures:
        entries = reflected.off_diagonal.items()
        text += _BLOCK.format(_lines(f"({quoted(a)}, {quoted(b)}): {_number(x)}" for (a, b), x in entries))
    return text


def _welded(reflected: Reflected, script: str) -> str:
    joints = [quoted(d.rotor) for d in reflected.drives if d.body and not d.own]
    return _WELD + script.format(_inside("[]", joints)) if joints else ""


def _number(value: float) -> str:
    return f"{value:.{_DIGITS}g}"


def _dict(values: dict[str, float], *, inline: bool = False) -> str:
    return _inside("{}", [f"{quoted(name)}: {_number(x)}" for name, x in values.items()], inline)


def _inside(brackets: str, entries: list[str], inline: bool = False) -> str:
    text = ", ".join(entries) if len(entries) <= 3 or inline else "\n" + _lines(entries)
    return brackets[0] + text + brackets[1]


def _lines(entries: Iterable[str]) -> str:
    return "".join(f"    {entry},\n" for entry in entries)
