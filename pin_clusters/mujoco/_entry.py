"""The arrays of one robot that native code reads, and calls of native code from Python."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..compiler.machine_code.function import Compiled
from ..compiler.tracing.program import Program
from ..errors import ModelError
from ..export.motor_space import MotorSpace
from ._difference import Difference
from ._library import library
from ._loop_code import COUNT, USER
from ._matching import Match
from ._motor_limits import trace_limits
from ._native import module
from ._program import trace_difference
from ._rotors import trace_rotors
from ._writer import ENTRY


class Entry:
    """Delta M and Delta h of one robot.

    Attributes:
        size: Number of entries of ``userdata`` for loops, which start at ``user``; entries for limits follow.
        address: Address of the words that ``_writer`` describes.
        addresses: Index in ``mjData.M`` of each pair (row, column) of the lower triangle that MuJoCo stores.
    """

    def __init__(self, matched: Match, parts: Difference, motors: Sequence[MotorSpace]) -> None:
        mj_model = self.mj_model = matched.mj_model
        adr, sizes, columns = mj_model.M_rowadr.tolist(), mj_model.M_rownnz.tolist(), mj_model.M_colind.tolist()
        addresses = {(i, columns[k]): k for i in range(mj_model.nv) for k in range(adr[i], adr[i] + sizes[i])}
        self.addresses, (self.rows, self.columns) = addresses, np.array(list(addresses)).T
        self.limits = trace_limits(matched, motors)
        self.rotors, self.traced = trace_rotors(matched, parts), trace_difference(matched, parts)
        self.pairs = [*self.rotors.pairs, *(self.traced.pairs if self.traced else ())]
        self.dofs = [*self.rotors.dofs, *(self.traced.dofs if self.traced else ())]
        self.check_pairs(matched.model.name, sorted(set(self.pairs) - set(addresses)))
        arrays: dict[str, Any] = {"places": [addresses[pair] for pair in self.pairs], "dofs": self.dofs}
        words = dict.fromkeys(ENTRY, 0) | {"nq": mj_model.nq, "nv": mj_model.nv}
        words |= {"entries": len(self.pairs), "first": len(self.rotors.pairs)}
        words |= {"torques": len(self.dofs), "first_torque": len(self.rotors.dofs)}
        self._compiled, self.size = list[Compiled](), 0
        if self.rotors.pairs:
            words["rotors"] = self._load(self.rotors.program)
        if traced := self.traced:
            nd, loops = traced.dependent.size, len(traced.loop_qpos)
            self.size = USER + nd if nd else 0
            words["program"] = self._load(traced.program)
            words |= {"nd": nd, "loops": loops, "newton": int(traced.newton)}
            arrays |= {"loop_qpos": traced.loop_qpos, "loop_dofs": traced.loop_dofs}
            arrays["reference"] = np.concatenate([traced.reference, traced.dependent])
        more = 0
        if limits := self.limits:
            more, arrays["limited_dofs"] = len(limits.dofs), limits.dofs
            words |= {"limits": self._load(limits.program), "limited": more}
        if mj_model.nuserdata < self.size + more:
            raise ModelError(
                f"Exact: the loops and motors of {matched.model.name!r} need {self.size + more} numbers in "
                f"mjData.userdata, but nuserdata is {mj_model.nuserdata}. Add "
                f'<size nuserdata="{self.size + more}"/> to the file.'
            )
        self.user = words["user"] = mj_model.nuserdata - self.size - more
        self._limit_user = words["limit_user"] = self.user + self.size
        self._arrays = {name: np.array(x, dtype=getattr(x, "dtype", np.int64)) for name, x in arrays.items()}
        words |= {name: x.ctypes.data for name, x in self._arrays.items()}
        self._words = np.array([words[name] for name in ENTRY], dtype=np.int64)
        self.address = self._words.ctypes.data

    def check_pairs(self, robot: str, lost: list[tuple[int, int]]) -> None:
        """Raise ``ModelError`` if there are pairs that MuJoCo's mass matrix does not contain."""
        of = self.mj_model.dof_jntid
        names = [f"{self.mj_model.joint(of[j]).name!r} with {self.mj_model.joint(of[i]).name!r}" for i, j in lost[:5]]
        if names:
            raise ModelError(
                f"Exact: {robot!r} couples joints on different branches of the tree: {', '.join(names)}. MuJoCo's mass "
                "matrix has no entries for such couplings. Simulate pc.to_mjcf(model, 'exact')."
            )

    def select_probe(self, dM: np.ndarray) -> None:
        """Select the diagonal entry by which the callback recognises a mass matrix that already contains Delta M."""
        M, data = np.zeros_like(dM), self.at_reference()
        library().mj_fullM(self.mj_model, data, M)
        dof = int(np.argmax(np.abs(np.diag(dM)) / np.diag(M)))
        words = {"place": self.addresses[dof, dof], "dof": dof, "body": int(self.mj_model.dof_bodyid[dof])}
        parts = self.rotors.pairs, self.traced.pairs if self.traced else []
        for name, first, part in zip(("probe_a", "probe_b"), (0, len(parts[0])), parts, strict=True):
            # The number after the last entry is zero.
            words[name] = first + part.index((dof, dof)) if (dof, dof) in part else len(self.pairs)
        for name, x in words.items():
            self._words[ENTRY.index(name)] = x

    def at_reference(self) -> Any:
        """Return data at ``qpos0``, with the mass matrix of the tree."""
        mujoco, data = library(), library().MjData(self.mj_model)
        for function in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_makeM):
            function(self.mj_model, data)
        return data

    def native(self, data: Any, save: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return Delta M and Delta h, shapes (nv, nv) and (nv,), from the poses and velocities of the bodies."""
        entries, torques = np.zeros(len(self.pairs) + 1), np.zeros(len(self.dofs))
        function = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64)(module().address("delta"))
        function(self.address, data._address, entries.ctypes.data, torques.ctypes.data, save)
        dM, dh = np.zeros((self.mj_model.nv, self.mj_model.nv)), np.zeros(self.mj_model.nv)
        np.add.at(dM, tuple(np.array(self.pairs, dtype=int).reshape(-1, 2).T), entries[:-1])
        np.add.at(dh, np.array(self.dofs, dtype=int), torques)
        return dM + np.tril(dM, -1).T, dh

    def limit(self, data: Any) -> None:
        """Add the effect of the torque limits to ``data.qfrc_passive``, which MuJoCo has just computed."""
        library().mj_fwdActuation(self.mj_model, data)
        data.userdata[self._limit_user :] = 0.0
        function = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * 3)(module().address("limit"))
        function(self.address, self.mj_model._address, data._address)

    def applied(self, data: Any) -> np.ndarray:
        torques: np.ndarray = data.qfrc_actuator.copy()
        if self.limits:
            torques[list(self.limits.dofs)] += data.userdata[self._limit_user :]
        return torques

    def delta(self, data: Any, save: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return Delta M and Delta h; if ``save``, store the dependent joints of loops in ``data.userdata``."""
        mujoco = library()
        for function in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_comVel):
            function(self.mj_model, data)
        return self.native(data, save)

    def count(self, data: Any) -> int:
        return int(data.userdata[self.user + COUNT]) if self.size else 0

    def _load(self, program: Program) -> int:
        """Compile a program, keep it in memory, and return the address of its function."""
        self._compiled.append(Compiled(program))
        return ctypes.cast(self._compiled[-1].one, ctypes.c_void_p).value or 0  # type: ignore[arg-type]
