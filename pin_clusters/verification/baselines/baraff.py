"""Exact forward dynamics in maximal coordinates with Lagrange multipliers, which are the forces of all joints.

The unknowns are six accelerations per body (rotors are bodies), and one multiplier per direction in which a joint
transmits a force:

    [M  -J'] [  a   ]   [ b ]
    [-J -C ] [lambda] = [-d ]

M contains the inertias, b the loads, J the force directions, d the bias accelerations, and C the compliance of joints
with armature, which also transmit torques. For a chain, J M^-1 J' + C and its Cholesky factor have the same bandwidth.
For a tree, the graph of this system is a tree, so L D L' factorisation from the tips to the base creates no fill-in.

The constraints of gears, belts, loops and rods with mass remain as a dense system. As in ``yamane_nakamura``, bodies
lend inertia to their children, so that every inertia is invertible.

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
        band: Half bandwidth, including the diagonal, of J M^-1 J' for a chain; 0 for a tree.
    """

    def __init__(self, model: ClusterModel, form: str) -> None:
        pattern, function = _FORMS[form]
        super().__init__(model, pattern, function)
        self.form = form
        self.band = self.tables.band

    @property
    def nnz_H(self) -> int:
        """Number of entries in the lower triangle of the system (chain: J M^-1 J'), with all blocks counted as full."""
        return self._entries[0]

    @property
    def nnz_L(self) -> int:
        """Number of non-zero entries of the factor, determined by scalar elimination."""
        return self._entries[1]

    @cached_property
    def _entries(self) -> tuple[int, int]:
        bodies, counts = self.tables.bodies, self.tables.counts
        columns: list[set[int]] = []
        indices: list[tuple[range, range]] = [(range(0), range(0))] * len(bodies)
        n = 0
        for i in range(len(bodies) - 1, 0, -1):
            size = 6 if self.form == "tree" else 0
            indices[i] = range(n, n + size), range(n + size, n + size + counts[i])
            n += size + counts[i]
        for i in range(len(bodies) - 1, 0, -1):
            body, joint = indices[i]
            above = indices[bodies[i].parent][0 if self.form == "tree" else 1]
            columns += [{*range(k, body.stop), *joint} for k in body]
            columns += [{*range(k, joint.stop), *above} for k in joint]
        before = sum(len(x) for x in columns)
        for k, column in enumerate(columns):
            below = sorted(column - {k})
            if below:
                columns[below[0]] |= set(below)
        return before, sum(len(x) for x in columns)


def createData(model: ClusterModel, form: str | None = None) -> Multipliers:
    """Create a workspace for the functions of this module; use one per thread.

    Args:
        model: Cluster model.
        form: ``"chain"`` uses banded Cholesky of J M^-1 J'; ``"tree"`` uses the sparse system of bodies and joints. The
            default is ``"chain"`` if each body carries at most one other body, including rotors.

    Raises:
        ArgumentTypeError: ``form`` is invalid.
        NotAvailableError: ``form`` is ``"chain"`` but the robot is not a chain, or the baseline does not support a
            constraint of the model.
    """
    if form is not None and form not in _FORMS:
        raise ArgumentTypeError(f"form must be 'chain', 'tree' or None, got {form!r}.")
    # Rotors count as bodies, so a robot may be a tree even if the robot without rotors is a chain.
    expanded = expand(model).tree if form != "tree" else model.own_tree
    fork = next((j for j in range(1, expanded.njoints) if expanded.parents[j] != j - 1), 0)
    if fork and form == "chain":
        parent = int(expanded.parents[fork])
        first = next(j for j in range(1, expanded.njoints) if expanded.parents[j] == parent)
        raise NotAvailableError(
            f"Model {model.name!r} is not a chain: {expanded.names[parent]!r} carries {expanded.names[first]!r} and "
            f"{expanded.names[fork]!r}, so J M^-1 J' is not banded. Use form='tree'."
        )
    return Multipliers(model, form if form is not None else "tree" if fork else "chain")


aba, joint_forces = functions_of(Multipliers, __name__)
