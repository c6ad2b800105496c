"""Armature of MuJoCo's joints, tendons and actuators, which Delta M replaces."""

from typing import Any

import numpy as np

from ._library import library
from ._matching import Match
from ._program import Traced
from ._rotors import Rotors


def covered_armature(matched: Match, rotors: Rotors, traced: Traced | None) -> set[int]:
    """Return the degrees of freedom whose armature Delta M replaces: joints with rotors or armature, or in loops."""
    covered = {int(i) for i in np.flatnonzero(np.diag(rotors.block))} | set(traced.loop_dofs if traced else ())
    for r in matched.model.rotors:
        covered |= {int(i) for i in matched.dofs[np.flatnonzero(r.row)]}
    return covered


def stays(mj_model: Any, covered: set[int]) -> list[str]:
    """Return the joints with joint, tendon or actuator armature that the exact model lacks."""
    fields, with_armature = _fields(mj_model), _diagonal(mj_model)
    values = [field.copy() for field in fields]
    for field in fields:
        field[:] = 0.0
    changed = np.abs(with_armature - _diagonal(mj_model)) > 1e-12 * with_armature
    for field, value in zip(fields, values, strict=True):
        field[:] = value
    left = {int(i) for i in np.flatnonzero(changed | (mj_model.dof_armature > 0.0))} - covered
    return [repr(mj_model.joint(mj_model.dof_jntid[i]).name) for i in sorted(left)]


def keep_softness(mj_model: Any, covered: set[int], diagonal: np.ndarray) -> None:
    """Compute ``invweight0`` with armature, or with ``diagonal`` if there is none; then set the armature to 0."""
    fields = _fields(mj_model)
    if not any(field.any() for field in fields):
        hinges = [i for i in covered if mj_model.jnt_type[mj_model.dof_jntid[i]] > 1]
        mj_model.dof_armature[hinges] = np.maximum(diagonal[hinges], 0.0)
    library().mj_setConst(mj_model, library().MjData(mj_model))
    simple = np.flatnonzero(mj_model.dof_simplenum)
    mj_model.dof_M0[simple] -= mj_model.dof_armature[simple]  # MuJoCo copies these numbers to the mass matrix.
    for field in fields:
        field[:] = 0.0


def _fields(mj_model: Any) -> tuple[np.ndarray, ...]:
    return mj_model.dof_armature, mj_model.tendon_armature, mj_model.actuator_armature


def _diagonal(mj_model: Any) -> np.ndarray:
    """Return the diagonal of the mass matrix at ``qpos0``."""
    mujoco, data, M = library(), library().MjData(mj_model), np.zeros((mj_model.nv, mj_model.nv))
    stages = mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_tendon, mujoco.mj_transmission, mujoco.mj_makeM
    for function in stages:
        function(mj_model, data)
    mujoco.mj_fullM(mj_model, data, M)
    return np.diag(M).copy()
