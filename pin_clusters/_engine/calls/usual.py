"""The machine code of most functions, as data: what a kernel is given, and what of that is returned."""

from typing import NamedTuple

from llvmlite import ir

from .. import operations
from ..owed import OWED, ROOMS
from .code import Function
from .writer import DOUBLE, I64, Module


class Usual(NamedTuple):
    """A usual call: look at model, data and arguments, run the kernel with rooms of the desk, return copies."""

    words: str  # what the kernel is given, as ``Function.words`` says; ``f?``: external forces, which may be left out
    # what is returned behind new arrays: ``shape=room``, a new array of a shape, copied from a room; or which energy,
    # such as ``kinetic_energy``
    gives: str = ""
    leaves: str = ""  # rooms to which new arrays are copied; the same room again, here and above: one behind the other
    keeps: str = ""  # the room of the state, of which more may be asked later
    couples: bool = False  # whether G is brought to the state
    # whether the kernel's mass matrix is another one, of which users see a copy: they may write there
    changes: bool = False
    kernels: bool = False  # whether the kernel is also given those of forward and inverse dynamics, first


def _of_declared(one: operations.Function) -> Usual:
    result = {"vector": "=nv", "matrix": "=matrix"}.get(one.operation.result)
    return Usual(
        " ".join(["(f)" if size == "f" else size for size in one.sizes] + ([result] if result else [])),
        gives="" if result else one.gives,
        leaves="tau" if "f" in one.sizes else "",  # the kernel's result has forces behind it
        keeps="after_aba" if one.operation == operations.ABA else "",
        changes=one.operation == operations.CRBA,
    )


_ENERGIES = ("kinetic_energy", "potential_energy", "mechanical_energy")
_RATES = "matrix=dtau_dq matrix=dtau_dv matrix=M"
USUAL = {
    **{one.name: _of_declared(one) for one in operations.DIRECT},
    "hybrid_dynamics": Usual("q v v v m +nv +nv"),
    "computeRNEADerivatives": Usual("q v v f? tau dtau_dq dtau_dv M -", _RATES, keeps="after_rnea", changes=True),
    "computeGeneralizedGravityDerivatives": Usual("q 0 0 - unasked dtau_dq dtau_dv scratch -", "matrix=dtau_dq"),
    "computeStaticTorqueDerivatives": Usual("q 0 0 f unasked dtau_dq dtau_dv scratch -", "matrix=dtau_dq"),
    "computeCoriolisMatrix": Usual("q v 0 - unasked - C scratch -", "matrix=C", keeps="after_rnea"),
    "computeCentroidalDynamicsDerivatives": Usual(
        "q v v - unasked - - - total", " ".join(4 * ["motion=total"]), keeps="after_rnea"
    ),
    "computeABADerivatives": Usual(
        "velocities sides factors q v v ddq f? unasked dtau_dq dtau_dv M - ~matrix ~matrix ~matrix",
        leaves="ddq_dq_dv ddq_dq_dv Minv",
        keeps="after_aba",
        changes=True,
        kernels=True,
    ),
    "computeJointTorqueRegressor": Usual("q v v +regressor", couples=True),
    "computeStaticRegressor": Usual("q - static - -", "static_regressor=static"),
    "computeKineticEnergyRegressor": Usual("q v - kinetic -", "parameters=kinetic", couples=True),
    "computePotentialEnergyRegressor": Usual("q - - - potential", "parameters=potential"),
}


class UsualCall(Function):
    """Writes one of them."""

    def __init__(self, name: str, module: Module) -> None:
        super().__init__(name, module)
        self.how = USUAL[name]

    def write(self) -> None:
        """Write the function."""
        b, words = self.b, self.how.words
        given = sum(word in ("q", "v", "m", "f", "(f)") for word in words.split())
        if "=" in words:
            self.count(2 + given)
            self.begin()
            self.answer(words)
        elif "f?" not in words:
            self.open(given)
            self.answer(words)
        else:  # two ways, as the kernel takes forces as one array more
            self.open(given, given + 1)
            more, go = self.block(), self.block()
            b.cbranch(b.icmp_unsigned("==", self.nargs, I64(2 + given)), go, more).set_weights([1000, 1])
            b.position_at_end(more)
            self.count(3 + given)
            self.answer(words.replace("f?", "f"))
            self.begin_again(2 + given)
            b.position_at_end(go)
            self.answer(words.replace("f?", "-"))
        self.hand_over()

    def answer(self, names: str) -> None:
        """Write one way to the result."""
        how, desk = self.how, self.desk
        first = self._kernels(" f " in names) if how.kernels else []
        words = list(zip(names.split(), self.words(names), strict=True))
        if how.keeps:
            self.copies(getattr(desk, how.keeps), self.state)
        owed = OWED.get(self.f.name)
        if owed is not None:
            changes = self.changes(owed)
            self.keep(owed.room, owed.clears, self.state[: len(ROOMS[owed.room].split())], changes)
        kernel = self.kernel
        if " f? " in how.words and " f " in names and not how.kernels:  # which the kernel may leave to another
            kernel = desk.inverse_forces
            self.need(self.there(kernel))
        fine = self.run(kernel, self.tables, [*first, *(word for name, word in words if name != "(f)")])
        self.need(fine)
        if how.changes:
            self.copies(desk.M_live, [desk.array("M")])
        if owed is not None:
            self.owe(owed, changes)
        self.leave(how.leaves, [word for name, word in words if name[0] in "+~="])
        if how.gives in _ENERGIES:
            self._energy(how.gives)
            return
        behind: dict[str, ir.Value] = {}
        for shape, room in (x.split("=") for x in how.gives.split()):
            source, size = behind.get(room) or getattr(desk, room), self.product(*desk.sizes(shape))
            self.common("copy", self.fresh(*desk.dims(shape)), source, size)
            behind[room] = self.b.add(source, self.b.mul(I64(8), size))
        self.give()

    def accepted(self) -> None:
        """Bring G to the state."""
        if self.how.couples:
            self.couple(self.state[0][0], self.state[1][0])

    def _kernels(self, forces: bool) -> list[ir.Value]:
        kernel, tables = self.desk.all("aba")
        inverse = self.desk.computeRNEADerivatives
        if forces:  # read behind its result, by the kernel alone: not by a function of the robot's own, if there is one
            kernel, (_, tables) = self.desk.forward_kernel, self.desk.all("computeStaticTorque")
            inverse = self.desk.inverse_forces
        self.need(self.there(kernel))
        self.need(self.there(inverse))
        return [kernel, tables, inverse]

    def _energy(self, which: str) -> None:
        b, kept = self.b, self.desk.kept
        kinetic, potential = (self.item(self.desk.energies, I64(i), DOUBLE) for i in range(2))
        values = kinetic, potential, b.fadd(kinetic, potential)
        for i, (name, value) in enumerate(zip(_ENERGIES, values, strict=True)):
            if which in (name, "mechanical_energy"):
                self.put_item(value, kept, I64(i))
        b.ret(self.call(self.found("new_float"), I64, values[_ENERGIES.index(which)]))
