"""The summary of an ``Exact`` object."""

from dataclasses import dataclass

import numpy as np

from ..model import ClusterModel
from ._entry import Entry

_SHOWN = 3
"""Largest number of motors that the report names."""


@dataclass(frozen=True)
class Report:
    """Sizes and effects of the correction; ``str(report)`` is a text.

    Attributes:
        robot: Name of the model.
        groups: Number of groups of rotors with constant ratios (one carrier and axis per group).
        entries: Number of entries of MuJoCo's mass matrix that change, in the lower triangle.
        operations: Number of floating-point operations of the robot-specific program for loops and masses.
        loops: Names of the independent joints in closed loops.
        inertia: For each joint, the diagonal entry of Delta M at ``qpos0``, [kg m^2] or [kg], if it is not zero.
        left: Parts of the model that MuJoCo does not simulate.
    """

    robot: str
    groups: int
    entries: int
    operations: int
    loops: tuple[str, ...]
    inertia: dict[str, float]
    left: tuple[str, ...]

    @classmethod
    def of(cls, model: ClusterModel, entry: Entry) -> "Report":
        mj_model, traced = entry.mj_model, entry.traced
        names = [mj_model.joint(i).name for i in mj_model.dof_jntid]
        diagonal = np.diag(entry.delta(entry.at_reference())[0])
        inertia = {names[i]: float(x) for i, x in enumerate(diagonal) if x and mj_model.jnt_type[mj_model.dof_jntid[i]]}
        left = ["springs, friction and losses of the model (pc.passive_torque)"] if model.passive is not None else []
        limited = entry.limits.motors if entry.limits else ()
        others = [r.name for r in model.rotors if r.motor is not None and r.name not in limited]
        more = f" and {len(others) - _SHOWN} others" if len(others) > _SHOWN else ""
        left += [f"torque limits of the motors {', '.join(others[:_SHOWN])}{more} (pass motors=)"] if others else []
        flops = traced.program.flops if traced else 0
        loops = tuple(names[i] for i in traced.loop_dofs) if traced else ()
        return cls(model.name, entry.rotors.groups, len(entry.pairs), flops, loops, inertia, tuple(left))

    def __str__(self) -> str:
        lines = [
            f"Exact inertia of {self.robot!r} in MuJoCo: {self.entries} entries of the mass matrix change",
            f"  {self.groups} groups of rotors with constant ratios; {self.operations} operations for loops and masses",
            *([f"  joints in closed loops: {', '.join(self.loops)}"] if self.loops else []),
            *(f"  {name}: {x:.4g} added at qpos0" for name, x in self.inertia.items()),
            *(f"  not simulated: {x}" for x in self.left),
        ]
        return "\n".join(lines)
