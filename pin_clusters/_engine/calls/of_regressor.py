"""The machine code of regressors: G is brought to the state, where it depends on one and velocities are asked for."""

from __future__ import annotations

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
        numbers = self.fresh(self.desk.at("regressor"), 2)
        shape = self.desk.all("regressor")
        self.give(self.run(kernel, tables, [q, v, a, (numbers, *shape)]))
        self.hand_over()


class EnergyRegressor(OfTree):
    """``computeStaticRegressor(model, data, q)`` and those of both energies; results are copies of the data's own."""

    def write(self) -> None:
        """Write the function."""
        b, given = self.b, self.entry.arguments
        self.count(2 + len(given))
        self.same(self.names, I64(0))
        kernel, tables = self.begin()
        nothing = self.desk.zeros, I64(0)
        q, v = self.vector(2, self.nq), self.vector(3, self.nv) if "v" in given else nothing
        if "v" in given:
            self.couple(q[0], v[0])
        width = self.desk.all("regressor")[1]
        of_centre = self.entry.returns == "static"
        size = b.mul(I64(3), self.desk.all("static_regressor")[1]) if of_centre else width
        places = ("static", "kinetic", "potential")
        kept = getattr(self.desk, self.entry.returns), size
        results = [kept if name == self.entry.returns else nothing for name in places]
        numbers = self.fresh(
            self.desk.at("static_regressor") if of_centre else self.desk.at("regressor", 1), 1 + of_centre
        )
        fine = self.run(kernel, tables, [q, v, *results])
        self.common("copy", numbers, *kept)
        self.give(fine)
        self.hand_over()
