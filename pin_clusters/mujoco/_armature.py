"""Armature of MuJoCo's joints, tendons and actuators, which Delta M replaces."""

from typing import Any

import numpy as np

from ._library import library
from ._matching import Match
from ._program import Traced
from ._rotor_table import RotorTable


def covered_armature(matched: Match, table: RotorTable, traced: Traced | None) -> set[int]:
    """Return the velocities whose armature is a part of the exact model: joints that turn rotors or have armature."""
    covered = {int(i) for i in np.flatnonzero(np.diag(table.block))} | set(traced.loop_dofs if traced else ())
    for r in matched.model.rotors:
        covered |= {int(i) for i in matched.dofs[np.flatnonzero(r.row)]}
    return covered


def stays(mj_model: Any, covered: set[int]) -> list[str]:
    """Return the joints, tendons and actuators with armature that the exact model does not cover."""
    names = [f"joint {_name(mj_model, int(i))!r}" for i in np.flatnonzero(mj_model.dof_armature) if i not in covered]
    names += [
        f"tendon {mj_model.tendon(int(t)).name!r}"
        for t in np.flatnonzero(mj_model.tendon_armature)
        if not _of_tendon(mj_model, int(t)) <= covered
    ]
    names += [
        f"actuator {mj_model.actuator(int(a)).name!r}"
        for a in np.flatnonzero(mj_model.actuator_armature)
        if not _of_actuator(mj_model, int(a)) <= covered
    ]
    return names


def keep_softness(mj_model: Any, covered: set[int], diagonal: np.ndarray) -> None:
    """Compute the inverse weights with armature, then set the armature to 0."""
    fields = mj_model.dof_armature, mj_model.tendon_armature, mj_model.actuator_armature
    if not any(field.any() for field in fields):
        hinges = [i for i in covered if mj_model.jnt_type[mj_model.dof_jntid[i]] > 1]
        mj_model.dof_armature[hinges] = np.maximum(diagonal[hinges], 0.0)
    library().mj_setConst(mj_model, library().MjData(mj_model))
    simple = np.flatnonzero(mj_model.dof_simplenum)
    mj_model.dof_M0[simple] -= mj_model.dof_armature[simple]  # MuJoCo copies these numbers to the mass matrix.
    for field in fields:
        field[:] = 0.0


def _name(mj_model: Any, dof: int) -> str:
    return str(mj_model.joint(int(mj_model.dof_jntid[dof])).name)


def _of_tendon(mj_model: Any, t: int) -> set[int]:
    """Return the velocities of the joints of a fixed tendon; -1 for a spatial tendon."""
    first, joint = int(mj_model.tendon_adr[t]), int(library().mjtWrap.mjWRAP_JOINT)
    wraps = range(first, first + int(mj_model.tendon_num[t]))
    return {int(mj_model.jnt_dofadr[mj_model.wrap_objid[w]]) if mj_model.wrap_type[w] == joint else -1 for w in wraps}


def _of_actuator(mj_model: Any, a: int) -> set[int]:
    kinds, target = library().mjtTrn, int(mj_model.actuator_trnid[a, 0])
    if mj_model.actuator_trntype[a] == kinds.mjTRN_TENDON:
        return _of_tendon(mj_model, target)
    joints = (kinds.mjTRN_JOINT, kinds.mjTRN_JOINTINPARENT)
    return {int(mj_model.jnt_dofadr[target])} if mj_model.actuator_trntype[a] in joints else {-1}
