"""The summary of an ``Exact`` object."""

from dataclasses import dataclass

import numpy as np

from ._matching import Match
from ._program import Traced
from ._rotor_table import RotorTable


@dataclass(frozen=True)
class Report:
    """Sizes and effects of the correction; ``str(report)`` is a text.

    Attributes:
        robot: Name of the model.
        groups: Number of groups of rotors with constant ratios (one carrier and axis per group).
        entries: Number of entries of MuJoCo's mass matrix that change, in the lower triangle.
        constant: Number of these entries that do not depend on the pose.
        operations: Number of floating-point operations of the robot-specific program for loops and masses.
        loops: Names of the independent joints in closed loops.
        inertia: For each joint with rotors, the diagonal entry of Delta M at ``qpos0``, [kg m^2].
        left: Parts of the model that MuJoCo does not simulate.
    """

    robot: str
    groups: int
    entries: int
    constant: int
    operations: int
    loops: tuple[str, ...]
    inertia: dict[str, float]
    left: tuple[str, ...]

    @classmethod
    def of(cls, matched: Match, table: RotorTable, traced: Traced | None, dM: np.ndarray) -> "Report":
        model, mj_model = matched.model, matched.mj_model
        names = {int(mj_model.jnt_dofadr[i]): name for name, (j, i) in matched.joints.items() if model.tree.nvs[j] == 1}
        pairs = table.pairs | set(traced.pairs if traced else ())
        block = {(int(i), int(j)) for i, j in np.argwhere(np.tril(table.block))}
        varying = set(traced.pairs if traced else ()) | table.varying
        left = []
        if model.passive is not None:
            left.append("springs, friction and gear losses of the model; add them by pc.passive_torque")
        if any(r.motor is not None for r in model.rotors):
            left.append("torque limits of the motors")
        return cls(
            model.name,
            table.groups,
            len(pairs),
            len(block - varying),
            traced.program.flops if traced else 0,
            tuple(names[i] for i in (traced.loop_dofs if traced else ())),
            {name: float(dM[i, i]) for i, name in names.items() if dM[i, i]},
            tuple(left),
        )

    def __str__(self) -> str:
        lines = [
            f"Exact inertia of {self.robot!r} in MuJoCo",
            f"  {self.groups} groups of rotors with constant ratios; program for loops and masses: {self.operations} "
            "floating-point operations",
            f"  {self.entries} entries of the mass matrix change, {self.constant} of them by a constant",
        ]
        if self.loops:
            lines.append(f"  joints in closed loops: {', '.join(self.loops)}")
        lines += [f"  {name}: {x:.4g} kg m^2 added at qpos0" for name, x in self.inertia.items()]
        return "\n".join([*lines, *(f"  not simulated: {x}" for x in self.left)])
