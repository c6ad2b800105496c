"""The arrays of one robot that native code reads, and calls of native code from Python."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..compiler.machine_code.function import Compiled
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
        addresses: Index in ``mjData.M`` of each pair (row, column) of the lower triangle that MuJoCo stores, in order.
    """

    def __init__(self, matched: Match, parts: Difference, motors: Sequence[MotorSpace]) -> None:
        mj_model = self.mj_model = matched.mj_model
        adr, sizes, columns = mj_model.M_rowadr.tolist(), mj_model.M_rownnz.tolist(), mj_model.M_colind.tolist()
        stored = [((i, columns[k]), k) for i in range(mj_model.nv) for k in range(adr[i], adr[i] + sizes[i])]
        addresses = self.addresses = dict(sorted(stored, key=lambda x: x[1]))
        self.rows, self.columns = np.array(list(addresses)).T
        self.limits = trace_limits(matched, motors)
        self.rotors, self.traced = trace_rotors(matched, parts, addresses), trace_difference(matched, parts)
        self.pairs = self.rotors.pairs | set(self.traced.pairs if self.traced else ())
        self.check_pairs(matched.model.name, sorted(self.pairs - set(addresses)))
        words = dict.fromkeys(ENTRY, 0) | {"nq": mj_model.nq, "nv": mj_model.nv, "nC": mj_model.nC}
        self._compiled, self.size, arrays = [Compiled(self.rotors.program)], 0, dict[str, Any]()
        words["rotors"] = _address(self._compiled[0])
        if traced := self.traced:
            nd, loops = traced.dependent.size, len(traced.loop_qpos)
            self.size = USER + nd if nd else 0
            self._compiled.append(Compiled(traced.program))
            words["program"] = _address(self._compiled[1])
            words |= {"entries": len(traced.pairs), "nd": nd, "loops": loops, "newton": int(traced.newton)}
            arrays["entry_places"] = [addresses[pair] for pair in traced.pairs]
            arrays |= {"loop_qpos": traced.loop_qpos, "loop_dofs": traced.loop_dofs}
            arrays["reference"] = np.concatenate([traced.reference, traced.dependent])
        more = 0
        if limits := self.limits:
            more, arrays["limited_dofs"] = len(limits.dofs), limits.dofs
            self._compiled.append(Compiled(limits.program))
            words |= {"limits": _address(self._compiled[-1]), "limited": more}
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
        self._diagonal = [addresses[i, i] for i in range(mj_model.nv)]

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
        for name, x in (("place", self._diagonal[dof]), ("dof", dof), ("body", int(self.mj_model.dof_bodyid[dof]))):
            self._words[ENTRY.index(name)] = x

    def at_reference(self) -> Any:
        """Return data at ``qpos0``, with the mass matrix of the tree."""
        mujoco, data = library(), library().MjData(self.mj_model)
        for function in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_makeM):
            function(self.mj_model, data)
        return data

    def native(self, data: Any, save: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return Delta M at the places of ``data.M``, and Delta h, from the poses and velocities of the bodies."""
        entries, dh = np.zeros(self.mj_model.nC), np.zeros(self.mj_model.nv)
        function = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64)(module().address("delta"))
        function(self.address, data._address, entries.ctypes.data, dh.ctypes.data, save)
        return entries, dh

    def limit(self, data: Any) -> None:
        """Add the effect of the torque limits to ``data.qfrc_passive``, which MuJoCo has just computed."""
        data.userdata[self._limit_user :] = 0.0
        function = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * 3)(module().address("limit"))
        function(self.address, self.mj_model._address, data._address)

    def delta(self, data: Any, save: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return Delta M and Delta h; if ``save``, store the dependent joints of loops in ``data.userdata``."""
        mujoco = library()
        for function in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_comVel):
            function(self.mj_model, data)
        entries, dh = self.native(data, save)
        dM = np.zeros((len(dh), len(dh)))
        dM[self.rows, self.columns] = dM[self.columns, self.rows] = entries
        return dM, dh

    def count(self, data: Any) -> int:
        return int(data.userdata[self.user + COUNT]) if self.size else 0


def _address(program: Compiled) -> int:
    return ctypes.cast(program.one, ctypes.c_void_p).value or 0  # type: ignore[arg-type]
