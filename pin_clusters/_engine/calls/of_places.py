"""The machine code of what the derivatives of motions of joints, frames and points call."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from ..native.process import ALIGNED, C_CONTIGUOUS
from .of_tree import OfTree
from .writer import I64

_MATRIX = 4  # rows of a homogeneous matrix


class _OfPlace(OfTree):
    """``quick_...(model, data, index, matrix, reference_frame, kind)``: derivatives, if all was usual.

    matrix: None, or the homogeneous matrix of a placement in the joint. kind: 1 of a frame, 2 of a point.
    """

    def asked(self) -> tuple[ir.Value, ir.Value, list[ir.Value | tuple[ir.Value, ...]], ir.Value]:
        """The kernel, its tables, the place as it takes it, and the kind."""
        self.count(6)
        self.same(self.names, I64(0))
        kernel, tables = self.begin_in_tree()
        index, reference, kind = self.whole(2, "int"), self.whole(4, "reference_frame"), self.whole(5, "int")
        return kernel, tables, [self.numbered(index, kind), reference, self._matrix(3)], kind

    def _matrix(self, i: int) -> tuple[ir.Value, ir.Value]:
        """Where the numbers of argument i are, and how many; of None: none."""
        b, x = self.b, self.given(i)
        zeros = self.desk.zeros
        start, there, go = b.block, self.block(), self.block()
        b.cbranch(b.icmp_unsigned("==", x, self.found("none")), go, there)
        b.position_at_end(there)
        data = self.array(x, I64(_MATRIX), 2, C_CONTIGUOUS | ALIGNED)
        end = b.block
        b.branch(go)
        b.position_at_end(go)
        where, size = b.phi(I64), b.phi(I64)
        for phi, absent, present in ((where, zeros, data), (size, I64(0), I64(_MATRIX * _MATRIX))):
            phi.add_incoming(absent, start)
            phi.add_incoming(present, end)
        return where, size


class _Motion(_OfPlace):
    results: int
    # which of them the kernel takes as v_q, v_v, a_q, a_v; None: nothing
    order: Sequence[int | None]

    def write(self) -> None:
        """Write the function."""
        b = self.b
        kernel, tables, place, kind = self.asked()
        is_point = b.icmp_unsigned("!=", b.and_(kind, I64(2)), I64(0))
        rows_at = b.add(self.desk.where, b.select(is_point, self.desk.offset("three"), self.desk.offset("six")))
        rows, nv = self.load(rows_at), self.desk.nv
        made = [(self.fresh(rows_at, 2), rows, nv) for _ in range(self.results)]
        nothing = self.desk.zeros, I64(0), nv
        arrays = [nothing if i is None else made[i] for i in self.order]
        self.give(self.run(kernel, tables, [*place, *arrays]))
        self.hand_over()


class Velocities(_Motion):
    """dv/dq, dv/dv."""

    results, order = 2, (0, 1, None, None)


class Accelerations(_Motion):
    """dv/dq, da/dq, da/dv, da/da."""

    results, order = 4, (0, 3, 1, 2)


class Hessian(_OfPlace):
    """dJ/dq."""

    def write(self) -> None:
        """Write the function."""
        b = self.b
        kernel, tables, place, _ = self.asked()
        nv = self.desk.nv
        numbers = self.fresh(self.desk.at("six"), 3)
        nothing = self.desk.zeros, I64(0), nv
        size = b.mul(I64(6), b.mul(nv, nv))
        self.give(self.run(kernel, tables, [*place, nothing, (numbers, size)]))
        self.hand_over()


class Center(OfTree):
    """``quick_center(model, data)``: the derivative of the velocity of the centre of mass, if all is there."""

    def write(self) -> None:
        """Write the function."""
        self.count(2)
        self.same(self.names, I64(0))
        kernel, tables = self.begin_in_tree()
        rows_at, nv = self.desk.at("three"), self.desk.nv
        numbers = self.fresh(rows_at, 2)
        nothing = self.desk.zeros, I64(0), nv
        self.give(self.run(kernel, tables, [nothing, (numbers, self.load(rows_at), nv)]))
        self.hand_over()
