"""The data that kernels read and write during tracing. Tables contain numbers; the state consists of expressions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pinocchio as pin

from ...errors import SingularClusterError
from ...kernels.tables import layout
from ...kernels.tables.tree_layout import QUIET
from ...model import ClusterModel, with_loops
from ._sources import source
from .supplied import supply


@dataclass
class Run:
    """A model during tracing, with the arrays that its kernels read and write.

    Attributes:
        model: The model.
        inputs: Dictionary from the name of each input to an array of expressions.
        params: Floating-point entries of the tables; parameters that are inputs are expressions.
        work: Workspace of the kernels, with its initial contents.
        frames: Ids of the requested frames.
        reference: Reference frame in which results for frames are expressed.
        steps: Number of Newton steps that close loops.
        contacts: ``pin.RigidConstraintModel`` objects of the closed contacts.
        damping: Number that is added to the diagonal of J M^-1 J', where J is the Jacobian of the contacts.
        torques: Joint torques, an additional result of the derivatives of inverse dynamics.
    """

    model: ClusterModel
    inputs: dict[str, np.ndarray] = field(default_factory=dict)
    frames: tuple[int, ...] = ()
    reference: pin.ReferenceFrame = pin.LOCAL
    steps: int = 0
    contacts: Sequence[Any] = ()
    damping: float = 0.0
    torques: np.ndarray | None = None

    def __post_init__(self) -> None:
        self.params = self.model.tables.params
        self.work = np.asarray(self.model.tables.work, dtype=float).astype(object)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.inputs[name]

    def zeros(self, *shape: int) -> np.ndarray:
        return np.full(shape, 0.0, dtype=object)

    def at(self, q: np.ndarray) -> "Run":
        """Return a run at another configuration, with the same inputs and tables."""
        other = Run(self.model, {**self.inputs, "q": q}, steps=self.steps)
        other.params, other.work = self.params, self.work.copy()
        return other

    @property
    def rest(self) -> np.ndarray:
        return self.zeros(self.model.nv)

    @property
    def forces(self) -> np.ndarray:
        """External forces, shape (6 njoints,); empty if there are none."""
        return self.inputs.get("fext", self.zeros(0))

    def call(self, passes: str, *rest: np.ndarray) -> None:
        """Evaluate the user functions at q, then run the passes of an operation on the tables of the model."""
        module, _, name = passes.rpartition(".")
        self.plain(module, name + "_loops" * with_loops(self.model), *rest)

    def plain(self, module: str, name: str, *rest: np.ndarray) -> None:
        model = self.model
        supply(model, self.inputs["q"], self.work)
        kernel: Callable[..., int] = getattr(source(module), name)
        code = kernel(model.tables.index, self.params, self.work, *rest)
        if code:
            raise SingularClusterError(
                f"{model.name}: {name} is singular at every state: a joint moves no inertia, or a loop is singular."
            )

    @cached_property
    def G(self) -> np.ndarray:
        """Coupling matrix G, shape (tree.nv, nv), such that the velocity of the spanning tree is G v."""
        return self._coupling[0]

    @cached_property
    def bias(self) -> np.ndarray:
        """Bias of the coupling, shape (tree.nv,), such that the acceleration of the spanning tree is G a + bias."""
        return self._coupling[1]

    @cached_property
    def _coupling(self) -> tuple[np.ndarray, np.ndarray]:
        model = self.model
        G = model.tables.topology.G
        keep = np.concatenate([G.ravel(), np.zeros(len(G))]).astype(object)
        if model.closures:
            self.plain("variations.coupling", "coupling", keep, self["q"], self.inputs.get("v", self.rest))
        return keep[: G.size].reshape(G.shape), keep[G.size :]

    def loops(self) -> list[Any]:
        views, index = source("tables.views"), self.model.tables.index
        n = views.header(index)
        clusters = (views.cluster(index, c) for c in range(n.cluster0, n.cluster1))
        return [C for C in clusters if C.kind == layout.LOOP]

    def opens(self, still: bool = False) -> list[Any]:
        """Return the largest squared residual of each loop; a kernel must have run at q before.

        If ``still``, the placements of the bodies are computed again, as in the kernel ``coupling``.
        """
        model, q = self.model, self["q"]
        coupling, squares = source("loops.coupling_of_loops"), []
        for C in self.loops():
            tables = model.tables.index, self.params, self.work, q, C
            if still:
                coupling.stand_still(self.work, C)
                coupling.place_bodies(*tables)
                coupling.equations(*tables)
            squares.append(source("loops.closure_values").largest_value(*tables))
        return squares

    def tree(self, what: int, *rates: np.ndarray) -> np.ndarray:
        """Run the spanning tree's kernel and return all results; ``tree_layout`` defines the bits of ``what``."""
        tables, nothing = self.model.tables.tree, self.zeros(0)
        out, dense = self.zeros(tables.out), tables.own
        for first in (tables.sections.oMi, tables.sections.liMi):  # the placement of the universe is constant
            out[first : first + 9] = np.eye(3).ravel()
        out[dense.G : dense.G + self.G.size] = self.G.ravel()
        out[dense.g : dense.g + self.bias.size] = self.bias
        kernel: Callable[..., int] = source("tree.tree").tree
        velocities = [*rates, nothing, nothing][:2]
        kernel(tables.index, tables.params, self.zeros(tables.work), out, what | QUIET, self["q"], *velocities)
        return out
