"""Machine code of what moves configurations: ``integrate``, ``difference`` and ``project`` of a model.

Pinocchio moves the tree, called as Python calls it, so that nothing is compiled before the first call and every joint
does what it does there; loops are carried along by their kernels, joints that follow others by an affine map. Kernels
and the room of a model are used between two calls of Python, never across one: the interpreter lock keeps others off.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir

from ..native.process import ALIGNED, C_CONTIGUOUS, WRITEABLE
from .records import ModelDesk, Way
from .writer import DOUBLE, I64, Module, Numbers, Writer

SAME_POSE = 1e-6  # [rad] or [m]: within it joints stand alike
FAR = 0.5  # [rad] or [m]: a loop that was closed from farther away is looked at again
_ROUND = 6755399441055744.0  # 1.5 * 2^52: what is added to it loses its fraction


class _Move(Writer):
    """Writes a function of a model and configurations."""

    allowed: str  # number of the desk
    arguments: int

    def __init__(self, name: str, module: Module) -> None:
        super().__init__(module, name)
        _, self.args, self.nargs, self.names = self.f.args
        self.take()
        model = self.given(0)
        self.same(self.load(model, self.found("type")), self.found("model_class"))
        self.desk = self.desk_of(self.load(model, self.found("model_desk")), ModelDesk)
        self.need(self.there(getattr(self.desk, self.allowed)))
        self.nq, self.nv, self.nv_tree = self.desk.nq, self.desk.nv, self.desk.nv_tree

    def take(self) -> None:
        """See that there are as many arguments as there should be."""
        self.count(self.arguments)
        self.same(self.names, I64(0))

    def write(self) -> None:
        self.b.ret(self.usual())
        self.hand_over()

    def usual(self) -> ir.Value:
        """Write what is done, and return the result."""
        raise NotImplementedError

    def vector(self, i: int, n: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Argument i, an array of n numbers, and where these are."""
        x = self.given(i)
        return x, self.array(x, n, 1, C_CONTIGUOUS | ALIGNED)

    def new(self, size: str) -> tuple[ir.Value, ir.Value]:
        """Make an array of a size that the desk has."""
        x = self.own(self.new_array(self.desk.at(size), 1))
        return x, self.load(x, self.found("data"))

    def pinocchio(self, name: str, n: ir.Value, *arguments: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Call a function of Pinocchio for the tree, which returns n numbers."""
        x = self.own(self.call_python(self.found(name), self.desk.tree, *arguments))
        return x, self.array(x, n, 1, C_CONTIGUOUS | ALIGNED | WRITEABLE)

    def spread(self, v: ir.Value, v_tree: ir.Value) -> None:
        """Write independent velocities among zeros."""
        self.common("zeros", v_tree, self.nv_tree)
        self.common("put_each", v_tree, self.desk.independent_at, v, self.nv)

    def closed(self) -> Any:
        """For what is written next: only if the model has closed loops."""
        return self.b.if_then(self.there(self.desk.closed))

    def carry(self, q: ir.Value, v: ir.Value, target: ir.Value) -> None:
        """Move the joints of loops in target, where the others are already."""
        kernel, held, spare = self.desk.move, self.desk.held, self.desk.spare
        self.need(self.there(kernel))
        self.need(self.there(self.common("finite", q, self.nq)))
        self.need(self.there(self.common("finite", v, self.nv)))
        self.common("copy", held, q, self.nq)
        arrays = [(held, self.nq), (v, self.nv), (target, self.nq), (spare, self.nq)]
        self.need(self.run(kernel, self.desk.move_tables, arrays))
        places = self.desk.left_at
        with self.loop(self.desk.left) as i:
            k = self.item(places, i)
            self.put_item(self.item(held, k), target, k)

    def follow(self, q: ir.Value) -> None:
        """Set the joints that follow others."""
        self.common("affine", self.desk.follow, q, q)

    def size(self, x: ir.Value) -> ir.Value:
        """The absolute value of a number."""
        return self.b.call(self.module.m.declare_intrinsic("llvm.fabs", [DOUBLE]), [x])


class Integrate(_Move):
    """``integrate(model, q, v)``."""

    allowed, arguments = "integrates", 3

    def usual(self) -> ir.Value:
        """Move the independent joints, with Pinocchio where that is more than a sum, then what depends on them."""
        (q, q_at), (_, v_at) = self.vector(1, self.nq), self.vector(2, self.nv)
        result = self.room(1)
        with self.b.if_else(self.there(self.desk.adds)) as (adds, turns):
            with adds:
                moved, moved_at = self.new("nq")
                self.common("copy", moved_at, q_at, self.nq)
                with self.loop(self.nv) as i:
                    place = self.item(self.desk.added_at, i)
                    x = self.b.fadd(self.item(q_at, place, DOUBLE), self.item(v_at, i, DOUBLE))
                    self.put_item(x, moved_at, place)
                self.store(self.owned.pop(), result)
            with turns:
                v_tree, v_tree_at = self.new("nv_tree")
                self.spread(v_at, v_tree_at)
                self.pinocchio("pin_integrate", self.nq, q, v_tree)
                self.store(self.owned.pop(), result)
                self.release(v_tree)
        moved = self.own(self.load(result))
        moved_at = self.load(moved, self.found("data"))
        with self.closed():
            self.carry(q_at, v_at, moved_at)
        self.follow(moved_at)
        return moved


class Difference(_Move):
    """``difference(model, q1, q2)``."""

    allowed, arguments = "differs", 3

    def usual(self) -> ir.Value:
        """Take Pinocchio's difference of the independent joints; with loops, see whether it leads from q0 to q1."""
        (q0, q0_at), (q1, q1_at) = self.vector(1, self.nq), self.vector(2, self.nq)
        with self.closed():
            self.need(self.there(self.common("finite", q1_at, self.nq)))
        way, way_at = self.pinocchio("pin_difference", self.nv_tree, q0, q1)
        v, v_at = self.new("nv")
        self.common("take_each", v_at, way_at, self.desk.independent_at, self.nv)
        with self.closed():
            self.spread(v_at, way_at)
            reached, reached_at = self.pinocchio("pin_integrate", self.nq, q0, way)
            self.carry(q0_at, v_at, reached_at)
            apart, apart_at = self.pinocchio("pin_difference", self.nv_tree, reached, q1)
            places, turns = self.desk.dependents_at, self.desk.turns_at
            with self.loop(self.desk.dependents) as i:
                x, turn = self.item(apart_at, self.item(places, i), DOUBLE), self.item(turns, i, DOUBLE)
                # whole turns left out: turn is 2 pi (or more) where they mean nothing, else larger than any difference
                count = self.b.fsub(self.b.fadd(self.b.fdiv(x, turn), DOUBLE(_ROUND)), DOUBLE(_ROUND))
                rest = self.size(self.b.fsub(x, self.b.fmul(count, turn)))
                self.need(self.b.fcmp_ordered("<", rest, DOUBLE(SAME_POSE)))
            self.release(reached, apart)
        self.release(way)
        return v


class Tangent(_Move):
    """``dIntegrate(model, q, v)`` and ``dDifference(model, q1, q2)``, by one argument or by both."""

    allowed, arguments = "leaders", 3

    def take(self) -> None:
        """Take the position of an argument, if it is one of Pinocchio's own two objects."""
        self.count(self.arguments, self.arguments + 1)
        self.same(self.names, I64(0))
        self.asked = self.b.sub(self.nargs, I64(self.arguments))
        with self.b.if_then(self.there(self.asked)):
            which = self.item(self.args, I64(self.arguments))
            self.need(self.b.or_(*(self.b.icmp_unsigned("==", which, self.found(x)) for x in ("first", "second"))))

    def usual(self) -> ir.Value:
        """Ask Pinocchio for the independent joints alone."""
        room, sizes = self.room(4), [self.nq, self.nq if self.f.name == "dDifference" else self.nv]
        self.put_item(self.desk.leaders, room, I64(0))
        for i, n in enumerate(sizes, start=1):
            x, at = self.vector(i, n)
            if n is self.nq:
                x = self.own(self.new_array(self.desk.at("leading", 1), 1))
                self.common("take_each", self.load(x, self.found("data")), at, *self.desk.all("leading"))
            self.put_item(x, room, I64(i))
        with self.b.if_then(self.there(self.asked)):
            self.put_item(self.item(self.args, I64(self.arguments)), room, I64(3))
        n = self.b.add(self.asked, I64(3))
        found = self.own(self.call(self.found("call_any"), I64, self.found(f"pin_{self.f.name}"), room, n, I64(0)))
        self.release(*self.owned[:-1])
        return found


class Project(_Move):
    """``project(model, q, hold)``."""

    allowed, arguments = "projects", 2

    def take(self) -> None:
        """Take ``hold`` by its place or by its name."""
        b, named = self.b, self.room(1)
        self.store(I64(0), named)
        with b.if_then(self.there(self.names)):
            self.same(self.load(self.names, self.found("names")), I64(1))
            self.same(self.load(self.names, self.found("in_tuple")), self.found("hold"))
            self.store(I64(1), named)
        self.count(self.arguments, self.arguments + 1)
        self.given_hold = b.sub(b.add(self.nargs, self.load(named)), I64(self.arguments))
        self.need(b.icmp_unsigned("<=", self.given_hold, I64(1)))

    def find_way(self) -> Numbers:
        """The way for the joints that are held."""
        b, way = self.b, self.room(1)
        self.store(self.desk.way, way)
        with b.if_then(self.there(self.given_hold)):
            hold, none = self.item(self.args, I64(self.arguments)), I64(0)
            self.store(self.common("recall", self.desk.holds, hold, none, none, none), way)
        found = self.load(way)
        self.need(self.there(found))
        return Numbers(self, Way, found)

    def usual(self) -> ir.Value:
        """Renew unit norms, close loops, then take the shortest way onto the couplings."""
        way = self.find_way()
        _, q_at = self.vector(1, self.nq)
        self.need(self.there(self.common("finite", q_at, self.nq)))
        q, x = self.new("nq")
        self.common("copy", x, q_at, self.nq)
        units = self.desk.units_at
        with self.loop(self.desk.units) as i:
            first = self.b.add(x, self.b.mul(I64(8), self.item(units, self.b.mul(I64(2), i))))
            length = self.item(units, self.b.add(self.b.mul(I64(2), i), I64(1)))
            self._normalise(first, length)
        with self.closed():
            self._close(x, way.free)
        result = self.room(1)
        self.store(q, result)
        with self.b.if_then(self.there(way.outside)):
            step, step_at = self.new("nv_tree")
            self.common("affine", way.residual, x, way.residuals)
            self.common("affine", way.step, way.residuals, step_at)
            moved, moved_at = self.pinocchio("pin_integrate", self.nq, q, step)
            self.follow(moved_at)
            with self.loop(way.held) as i:
                k = self.item(way.held_at, i)
                self.put_item(self.item(x, k), moved_at, k)
            self.store(moved, result)
            self.drop(step)
            self.drop(q)
        return self.load(result)

    def _normalise(self, x: ir.Value, n: ir.Value) -> None:
        total = self.room(1)
        self.store(DOUBLE(0.0), total)
        with self.loop(n) as i:
            y = self.item(x, i, DOUBLE)
            self.store(self.b.fadd(self.load(total, 0, DOUBLE), self.b.fmul(y, y)), total)
        root = self.module.m.declare_intrinsic("llvm.sqrt", [DOUBLE])
        norm = self.b.call(root, [self.load(total, 0, DOUBLE)])
        self.need(self.b.fcmp_ordered(">", norm, DOUBLE(math.sqrt(np.finfo(float).tiny))))
        self.need(self.b.fcmp_ordered("<", norm, DOUBLE(math.inf)))
        with self.loop(n) as i:
            self.put_item(self.b.fdiv(self.item(x, i, DOUBLE), norm), x, i)

    def _close(self, x: ir.Value, free: ir.Value) -> None:
        kernel, held = self.desk.close, self.desk.held
        self.need(self.there(kernel))
        self.common("copy", held, x, self.nq)
        arrays = [(x, self.nq), (free, self.nv_tree)]
        self.need(self.run(kernel, self.desk.close_tables, arrays))
        with self.loop(self.nq) as i:
            way = self.size(self.b.fsub(self.item(x, i, DOUBLE), self.item(held, i, DOUBLE)))
            self.need(self.b.fcmp_ordered("<=", way, DOUBLE(FAR)))
