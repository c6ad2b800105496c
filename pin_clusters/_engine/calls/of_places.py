"""The machine code of what the derivatives of motions of joints, frames and points call."""

from collections.abc import Sequence

from llvmlite import ir

from ..kernels.tables.tree_layout import COLUMNS
from .of_tree import OfTree, written
from .writer import I64

Words = list[ir.Value | list[ir.Value]]
_THERE, _FOUND = I64(0x3FF0000000000000), I64(0x4000000000000000)  # 1.0 and 2.0, as ``Derived`` says


class _OfPlace(OfTree):
    """``quick_...(model, data, index, matrix, reference_frame, kind)``: derivatives, if all was usual.

    matrix: None, or the homogeneous matrix of a placement in the joint. kind: 1 of a frame, 2 of a point.
    """

    def write(self) -> None:
        """Write the function."""
        self.open_in_tree(4)
        index, reference, kind = self.whole(2, "int"), self.whole(4, "reference_frame"), self.whole(5, "int")
        place: Words = [self.numbered(index, kind), reference, self.array_or_none(3, I64(4), 2)]
        self.do([*place, *self.results(kind)])
        self.give()
        self.hand_over()

    def results(self, kind: ir.Value) -> list[list[ir.Value]]:
        """Make what is returned, as the kernel takes it."""
        raise NotImplementedError


class _Motion(_OfPlace):
    # which of the results the kernel takes as v_q, v_v, a_q, a_v; None: nothing
    order: Sequence[int | None]

    def results(self, kind: ir.Value) -> list[list[ir.Value]]:
        """Make matrices of three rows for a point, else of six."""
        b = self.b
        is_point = b.icmp_unsigned("!=", b.and_(kind, I64(2)), I64(0))
        dims = b.select(is_point, self.desk.at("of_point"), self.desk.at("motion"))
        rows, (nothing,) = self.load(dims), self.words("--")
        made = [[self.fresh(dims, 2), rows, self.nv] for i in self.order if i is not None]
        return [nothing if i is None else made[i] for i in self.order]


class Velocities(_Motion):
    """dv/dq, dv/dv."""

    order = 0, 1, None, None


class Accelerations(_Motion):
    """dv/dq, da/dq, da/dv, da/da."""

    order = 0, 3, 1, 2


class Hessian(_OfPlace):
    """dJ/dq."""

    def results(self, kind: ir.Value) -> list[list[ir.Value]]:
        """Make it, after what loops do to Jacobians where they are differentiated, if that is not there yet."""
        b, bent = self.b, self.desk.bent
        with b.if_then(b.and_(self.with_loops(), b.icmp_unsigned("!=", self.load(bent), _FOUND))):
            self.same(self.load(bent), _THERE)
            self.differentiate("bent_q - - bends")
            self.store(_FOUND, bent)
        return self.words("~hessian")


class Hessians(OfTree):
    """``computeJointKinematicHessians(model, data[, q])``: keeps where Jacobians are differentiated."""

    def write(self) -> None:
        """Write the function."""
        self.open_in_tree(0, 1)
        b, desk = self.b, self.desk
        with b.if_then(b.icmp_unsigned("!=", self.nargs, I64(2))):
            self.count(3)
            q, *nothing = self.words("q - -")
            self.couple(q[0], desk.zeros)
            self.do([b.or_(I64(COLUMNS), desk.also), q, *nothing])
            self.common("owe", desk.owed, I64(written(COLUMNS, 0)), I64(1), I64(0), I64(0))
        self.same(self.load(desk.posed), _THERE)
        self.copies(desk.bent_q, [desk.array("posed_q")])
        self.store(_THERE, desk.bent)
        none = self.found("none")
        self.call(self.found("increase"), ir.VoidType(), none)
        b.ret(none)
        self.hand_over()


class Center(OfTree):
    """``getCenterOfMassVelocityDerivatives(model, data)``, if all is there."""

    def write(self) -> None:
        """Write the function."""
        self.open_in_tree(0)
        with self.b.if_then(self.with_loops()):
            self.need(self.there(self.load(self.desk.seen)))
            self.differentiate("seen_q seen_v - turned")
        self.do(self.words("+of_point"))
        self.give()
        self.hand_over()
