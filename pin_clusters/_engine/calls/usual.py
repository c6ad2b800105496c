"""The machine code of most functions, as data: what a kernel is given, and what of that is returned."""

from __future__ import annotations

from typing import NamedTuple

from llvmlite import ir

from .code import Function
from .writer import I64


class Usual(NamedTuple):
    """A usual call: look at model, data and arguments, run the kernel with rooms of the desk, return copies.

    Attributes:
        words: What the kernel is given, as ``Function.words`` says; ``f?``: external forces, which may be left out.
        gives: What is returned behind new arrays: ``shape=room``, a new array of a shape, copied from a room.
        leaves: Rooms to which new arrays are copied; the same room again, here and above: one behind the other.
        keeps: The room of the state, of which more may be asked later.
        couples: Whether G is brought to the state.
        kernels: Whether the kernel is also given those of forward and inverse dynamics, first.
    """

    words: str
    gives: str = ""
    leaves: str = ""
    keeps: str = ""
    couples: bool = False
    kernels: bool = False


_RATES = "matrix=dtau_dq matrix=dtau_dv matrix=M"
USUAL = {
    "hybrid_dynamics": Usual("q v v v m +nv +nv"),
    "computeRNEADerivatives": Usual("q v v f? tau dtau_dq dtau_dv M -", _RATES, keeps="after_rnea"),
    "computeGeneralizedGravityDerivatives": Usual("q 0 0 - unasked dtau_dq dtau_dv scratch -", "matrix=dtau_dq"),
    "computeStaticTorqueDerivatives": Usual("q 0 0 f unasked dtau_dq dtau_dv scratch -", "matrix=dtau_dq"),
    "computeCoriolisMatrix": Usual("q v 0 - unasked - C scratch -", "matrix=C"),
    "computeCentroidalDynamicsDerivatives": Usual("q v v - unasked - - - total", " ".join(4 * ["motion=total"])),
    "computeABADerivatives": Usual(
        "velocities sides factors q v v ddq f? unasked dtau_dq dtau_dv M - ~matrix ~matrix ~matrix",
        leaves="ddq_dq_dv ddq_dq_dv Minv",
        keeps="after_aba",
        kernels=True,
    ),
    "computeJointTorqueRegressor": Usual("q v v +regressor", couples=True),
    "computeStaticRegressor": Usual("q - static - -", "static_regressor=static"),
    "computeKineticEnergyRegressor": Usual("q v - kinetic -", "parameters=kinetic", couples=True),
    "computePotentialEnergyRegressor": Usual("q - - - potential", "parameters=potential"),
}


class UsualCall(Function):
    """Writes one of them."""

    def write(self) -> None:
        """Write the function."""
        b, how = self.b, USUAL[self.f.name]
        given = sum(word in "qvfm" for word in how.words.split())
        if "f?" not in how.words:
            self.open(given)
            self.answer(how.words)
        else:  # two ways, as the kernel takes forces as one array more
            self.open(given, given + 1)
            more, go = self.block(), self.block()
            b.cbranch(b.icmp_unsigned("==", self.nargs, I64(2 + given)), go, more).set_weights([1000, 1])
            b.position_at_end(more)
            self.count(3 + given)
            self.answer(how.words.replace("f?", "f"))
            self.begin_again(2 + given)
            b.position_at_end(go)
            self.answer(how.words.replace("f?", "-"))
        self.hand_over()

    def answer(self, words: str) -> None:
        """Write one way to the result."""
        how, desk = USUAL[self.f.name], self.desk
        first = self._kernels(" f " in words) if how.kernels else []
        given = self.words(words)
        fine = self.run(self.kernel, self.tables, [*first, *given])
        if " M " in words:
            desk.put(changed=I64(1))
        self.leave(how.leaves, [given[i] for i, word in enumerate(words.split()) if word[0] in "+~"])
        behind: dict[str, ir.Value] = {}
        for shape, room in (x.split("=") for x in how.gives.split()):
            source, size = behind.get(room) or getattr(desk, room), self.product(*desk.sizes(shape))
            self.common("copy", self.fresh(*desk.dims(shape)), source, size)
            behind[room] = self.b.add(source, self.b.mul(I64(8), size))
        self.give(fine)

    def accepted(self) -> None:
        """Keep the state, and bring G to it."""
        how = USUAL[self.f.name]
        if how.keeps:
            self.copies(getattr(self.desk, how.keeps), self.state)
        if how.couples:
            self.couple(self.state[0][0], self.state[1][0])

    def _kernels(self, forces: bool) -> list[ir.Value]:
        kernel, tables = self.desk.all("aba")
        if forces:  # read behind its result, by the kernel alone: not by a function of the robot's own, if there is one
            kernel, (_, tables) = self.desk.forward_kernel, self.desk.all("computeStaticTorque")
        inverse = self.desk.computeRNEADerivatives
        self.need(self.there(kernel))
        self.need(self.there(inverse))
        return [kernel, tables, inverse]
