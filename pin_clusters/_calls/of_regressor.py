"""The machine code of the regressor of joint torques: G is brought to the state, where it depends on one."""

from __future__ import annotations

from .desk import REGRESSOR_ROWS, REGRESSOR_WIDTH
from .of_tree import OfTree
from .writer import I64


class Regressor(OfTree):
    """``computeJointTorqueRegressor(model, data, q, v, a)``."""

    def write(self) -> None:
        """Write the function."""
        self.same(self.nargs, I64(5))
        self.same(self.names, I64(0))
        kernel, tables = self.begin()
        q, v, a = self.vector(2, self.nq), self.vector(3, self.nv), self.vector(4, self.nv)
        self.couple(q[0], v[0])
        numbers = self.fresh(self.b.add(self.desk, I64(8 * REGRESSOR_ROWS)), 2)
        shape = [self.load(self.desk, 8 * at) for at in (REGRESSOR_ROWS, REGRESSOR_WIDTH)]
        self.give(self.run(kernel, tables, [q, v, a, (numbers, *shape)]))
        self.hand_over(self.place)
