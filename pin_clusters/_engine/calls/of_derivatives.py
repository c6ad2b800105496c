"""The machine code of derivatives of dynamics."""

from __future__ import annotations

from llvmlite import ir

from ..native.process import ALIGNED, C_CONTIGUOUS
from .code import Function
from .writer import I64

Array = tuple[ir.Value, ir.Value]


class Derivatives(Function):
    """Derivatives of inverse dynamics, and what the same kernel makes; results are copies of the data's own."""

    def write(self) -> None:
        """Write the function."""
        with_forces = "f" in self.entry.arguments
        given = 2 + sum(size != "0" for size in self.entry.arguments)
        if self.entry.name == "computeRNEADerivatives":
            self._either_way(given)
        else:
            self._open(given, given)
            self._answer(self._vectors(), given - 1 if with_forces else 0)
        self.hand_over()

    def _open(self, least: int, most: int) -> None:
        self.count(least, most)
        self.same(self.names, I64(0))
        self.kernel, self.tables = self.begin()
        self.mine = self.desk.part("derivatives")

    def _either_way(self, n: int) -> None:
        """Without external forces, and with them: two ways, as the kernel takes them as one array more."""
        self._open(n, n + 1)
        b, more, go = self.b, self.block(), self.block()
        b.cbranch(b.icmp_unsigned("==", self.nargs, I64(n)), go, more).set_weights([1000, 1])
        b.position_at_end(more)
        self.count(n + 1)
        self._answer(self._vectors(), n)
        self.made, self.counted = [], n
        b.position_at_end(go)
        self._answer(self._vectors(), 0)

    def _vectors(self) -> list[Array]:
        """The arrays of the state that are given; zeros for those that are not."""
        found, i = [], 2
        for size in self.entry.arguments.replace("f", ""):
            if size == "0":
                found.append((self.desk.zeros, self.nv))
            else:
                found.append(self.vector(i, self.nq if size == "q" else self.nv))
                i += 1
        return found

    def _forces(self, i: int) -> Array:
        """External forces, where the kernels read them; none if they are no argument."""
        if not i:
            return I64(0), I64(0)
        b, n, room = self.b, self.desk.njoints, self.desk.forces
        given = self.array(self.given(i), n, 2, C_CONTIGUOUS | ALIGNED, I64(6))
        size = b.mul(I64(6), n)
        self.common("copy", room, given, size)
        return b.sub(room, b.mul(I64(8), self.nv)), b.add(self.nv, size)

    def _of_data(self, name: str, size: ir.Value) -> Array:
        return getattr(self.mine, name), size

    def _answer(self, state: list[Array], forces: int) -> None:
        b, wanted = self.b, self.entry.returns.split()
        square, none = b.mul(self.nv, self.nv), (I64(0), I64(0))
        tau, acting = self._of_data("torques", self.nv), self._forces(forces)
        first, rate, scratch, C, mass = (
            self._of_data(field, square) for field in ("of_position", "of_rate", "scratch", "coriolis", "mass")
        )
        total = self._of_data("total", b.mul(I64(24), self.nv))
        asked = [first, rate, scratch, none]
        if wanted == ["coriolis"]:
            asked = [none, C, scratch, none]
        elif wanted == ["total"]:
            asked = [none, none, none, total]
        elif "mass" in wanted:
            tau, asked[2] = (self.desk.tau, self.nv), mass
            self._keep(state, self.mine.state)
        fine = self.run(self.kernel, self.tables, [*state, acting, tau, *asked])
        if "mass" in wanted:
            self.desk.put(changed=I64(1))
        twice = self.desk.at("nv")
        if wanted == ["total"]:
            block = b.mul(I64(6), self.nv)
            for i in range(4):
                to = self.fresh(self.mine.at("six_and_nv"), 2)
                self.common("copy", to, b.add(total[0], b.mul(I64(48 * i), self.nv)), block)
        else:
            sources = {"position": first, "rate": rate, "mass": mass, "coriolis": C}
            for name in wanted:
                self.common("copy", self.fresh(twice, 2), sources[name][0], square)
        self.give(fine)

    def _keep(self, state: list[Array], to: ir.Value) -> None:
        """Copy the state to where what is asked for later finds it."""
        for where, n in state:
            self.common("copy", to, where, n)
            to = self.b.add(to, self.b.mul(I64(8), n))


class AbaDerivatives(Derivatives):
    """Derivatives of forward dynamics; results are written where they are returned."""

    def write(self) -> None:
        """Write the function."""
        self._either_way(5)
        self.hand_over()

    def _answer(self, state: list[Array], forces: int) -> None:
        b, square, none = self.b, self.b.mul(self.nv, self.nv), (I64(0), I64(0))
        # a function of the robot's own, which there may be, reads no forces
        aba = self.mine.forward_kernel if forces else self.desk.aba
        inverse = self.desk.computeRNEADerivatives
        self.need(self.there(aba))
        self.need(self.there(inverse))
        mine = self.mine
        # with forces forward dynamics finds them behind its result
        _, tables = self.desk.all("computeStaticTorque" if forces else "aba")
        acting = self._forces(forces)
        factors = self._of_data("factors", mine.factors_size)
        plan = mine.all("tree")
        room = mine.all("sides")
        own = [self._of_data(field, square) for field in ("of_position", "of_rate", "mass")]
        twice = self.desk.at("nv")
        results = [(self.fresh(twice, 2), square) for _ in range(3)]
        fine = self.run(
            self.kernel, self.tables,
            [
                aba, tables, inverse, plan, room, factors, *state,
                self._of_data("acceleration", self.nv), acting, self._of_data("torques", self.nv), *own, none,
                *results,
            ],
        )  # fmt: skip
        self.desk.put(changed=I64(1))
        self._keep(state, self.desk.after_aba)
        # left in the data as well: both derivatives stand one behind the other there
        first, inverse_of = mine.of_forward, mine.inverse
        kept = (first, b.add(first, b.mul(I64(8), square)), inverse_of)
        for to, (where, _) in zip(kept, results, strict=True):
            self.common("copy", to, where, square)
        self.give(fine)
