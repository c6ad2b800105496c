"""The machine code of regressors: G is brought to the state, where it depends on one and velocities are asked for."""

from __future__ import annotations

from .desk import KINETIC, POTENTIAL, REGRESSOR_ROWS, REGRESSOR_WIDTH, STATIC, STATIC_ROWS, STATIC_WIDTH, ZEROS
from .of_tree import OfTree
from .writer import I64


class Regressor(OfTree):
    """``computeJointTorqueRegressor(model, data, q, v, a)``."""

    def write(self) -> None:
        """Write the function."""
        self.count(5)
        self.same(self.names, I64(0))
        kernel, tables = self.begin()
        q, v, a = self.vector(2, self.nq), self.vector(3, self.nv), self.vector(4, self.nv)
        self.couple(q[0], v[0])
        numbers = self.fresh(self.b.add(self.desk, I64(8 * REGRESSOR_ROWS)), 2)
        shape = [self.load(self.desk, 8 * at) for at in (REGRESSOR_ROWS, REGRESSOR_WIDTH)]
        self.give(self.run(kernel, tables, [q, v, a, (numbers, *shape)]))
        self.hand_over(self.place)


class EnergyRegressor(OfTree):
    """``computeStaticRegressor(model, data, q)`` and those of both energies; results are copies of the data's own."""

    def write(self) -> None:
        """Write the function."""
        b, given = self.b, self.entry.arguments
        self.count(2 + len(given))
        self.same(self.names, I64(0))
        kernel, tables = self.begin()
        nothing = self.load(self.desk, 8 * ZEROS), I64(0)
        q, v = self.vector(2, self.nq), self.vector(3, self.nv) if "v" in given else nothing
        if "v" in given:
            self.couple(q[0], v[0])
        width = self.load(self.desk, 8 * REGRESSOR_WIDTH)
        of_centre = self.entry.returns == "static"
        size = b.mul(I64(3), self.load(self.desk, 8 * STATIC_WIDTH)) if of_centre else width
        places = {"static": STATIC, "kinetic": KINETIC, "potential": POTENTIAL}
        kept = self.load(self.desk, 8 * places[self.entry.returns]), size
        results = [kept if name == self.entry.returns else nothing for name in places]
        numbers = self.fresh(b.add(self.desk, I64(8 * (STATIC_ROWS if of_centre else REGRESSOR_WIDTH))), 1 + of_centre)
        fine = self.run(kernel, tables, [q, v, *results])
        self.common("copy", numbers, *kept)
        self.give(fine)
        self.hand_over(self.place)
