"""Forward dynamics in maximal coordinates by Lagrange multipliers, with the forces of all joints. Exact.

Six accelerations for each body, rotors included, and a multiplier for each direction in which a joint transmits a
force:

    [M  -J'] [  a   ]   [ b ]
    [-J -C ] [lambda] = [-d ]

C is the compliance of joints with armature, which transmit torques as well. Of a chain, J M^-1 J' + C is banded, and
its Cholesky factor has the same band. Of a tree it is not, but the system of bodies and joints itself is a tree: its
factors L D L', taken from the tips to the base, have no entry where the system has none, blocks counted as full.

Gears, belts, loops and rods with mass are rows of a dense system that is left for them. Inertia is lent, and borrowed,
as in ``yamane_nakamura``, so that each body can be inverted.

References:
    Baraff, "Linear-time dynamics using Lagrange multipliers".
"""

from functools import cached_property

from ...errors import ArgumentTypeError, NotAvailableError
from ...model import ClusterModel, expand
from ._method import Method, functions_of
from ._patterns import chain, tree

_FORMS = {
    "chain": (chain, ("banded", "baraff_chain", "forward dynamics by multipliers, of chains")),
    "tree": (tree, ("multipliers", "baraff_tree", "forward dynamics by multipliers, of trees")),
}


class Multipliers(Method):
    """Workspace of this module.

    Attributes:
        form: ``"chain"`` or ``"tree"``.
        band: Half bandwidth of J M^-1 J' of a chain, its diagonal included; 0 of a tree.
    """

    def __init__(self, model: ClusterModel, form: str) -> None:
        pattern, function = _FORMS[form]
        super().__init__(model, pattern, function)
        self.form = form
        self.band = self.tables.band

    @property
    def nnz_H(self) -> int:
        """Entries below and on the diagonal of the system, blocks of a body, of a joint and of two that touch full.

        The system is that of bodies and joints of a tree, or J M^-1 J' of a chain.
        """
        return self._entries[0]

    @property
    def nnz_L(self) -> int:
        """The same of its factor, found by eliminating number by number."""
        return self._entries[1]

    @cached_property
    def _entries(self) -> tuple[int, int]:
        bodies, counts = self.tables.bodies, self.tables.counts
        columns: list[set[int]] = []
        place: list[tuple[range, range]] = [(range(0), range(0))] * len(bodies)
        n = 0
        for i in range(len(bodies) - 1, 0, -1):
            size = 6 if self.form == "tree" else 0
            place[i] = range(n, n + size), range(n + size, n + size + counts[i])
            n += size + counts[i]
        for i in range(len(bodies) - 1, 0, -1):
            body, joint = place[i]
            above = place[bodies[i].parent][0 if self.form == "tree" else 1]
            columns += [{*range(k, body.stop), *joint} for k in body]
            columns += [{*range(k, joint.stop), *above} for k in joint]
        before = sum(len(x) for x in columns)
        for k, column in enumerate(columns):
            rest = sorted(column - {k})
            if rest:
                columns[rest[0]] |= set(rest)
        return before, sum(len(x) for x in columns)


def createData(model: ClusterModel, form: str | None = None) -> Multipliers:
    """Return a workspace for the functions of this module; one per thread.

    Args:
        model: Cluster model.
        form: ``"chain"``: J M^-1 J' by banded Cholesky; ``"tree"``: the sparse system of bodies and joints. By default
            the first where each body carries one other at most, rotors included.

    Raises:
        ArgumentTypeError: ``form`` is none of these.
        NotAvailableError: The robot is no chain, but ``"chain"`` was asked for; or a constraint is of a kind that has
            no rows here.
    """
    if form is not None and form not in _FORMS:
        raise ArgumentTypeError(f"form must be 'chain', 'tree' or None, got {form!r}.")
    # without its rotors a robot may be a chain; they are bodies
    expanded = expand(model).tree if form != "tree" else model.own_tree
    fork = next((j for j in range(1, expanded.njoints) if expanded.parents[j] != j - 1), 0)
    if fork and form == "chain":
        parent = int(expanded.parents[fork])
        first = next(j for j in range(1, expanded.njoints) if expanded.parents[j] == parent)
        raise NotAvailableError(
            f"model {model.name!r} is no chain: {expanded.names[parent]!r} carries {expanded.names[first]!r} and "
            f"{expanded.names[fork]!r}, so that J M^-1 J' has no band. Use form='tree'."
        )
    return Multipliers(model, form if form is not None else "tree" if fork else "chain")


aba, joint_forces = functions_of(Multipliers, __name__)
