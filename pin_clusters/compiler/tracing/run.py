"""What kernels read and write while they are traced: tables as numbers, the state as expressions."""

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
    """A model, and what its kernels read and write.

    Attributes:
        model: The model.
        inputs: Arrays of expressions, by name.
        params: Floats of the tables; expressions where they are inputs.
        work: Workspace, with what it holds at first.
        frames: Ids of the frames that were asked for.
        reference: Axes and points of what is said of frames.
        steps: How often Newton's method closes loops.
        contacts: What is kept closed: Pinocchio's objects.
        damping: Added to the diagonal of J M^-1 J' of contacts.
        torques: What derivatives of inverse dynamics found besides.
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

    def room(self, *shape: int) -> np.ndarray:
        """Return an array of zeros, which may hold expressions."""
        return np.full(shape, 0.0, dtype=object)

    @property
    def rest(self) -> np.ndarray:
        """No velocity, or no acceleration."""
        return self.room(self.model.nv)

    @property
    def forces(self) -> np.ndarray:
        """External forces, one behind the other; nothing if there are none."""
        return self.inputs.get("fext", self.room(0))

    def call(self, passes: str, *rest: np.ndarray) -> None:
        """Run an operation's passes on the tables of the model, with its functions of Python brought to q.

        Raises:
            SingularClusterError: It says that something is singular whatever the state is.
        """
        module, _, name = passes.rpartition(".")
        self.plain(module, name + "_loops" * with_loops(self.model), *rest)

    def plain(self, module: str, name: str, *rest: np.ndarray) -> None:
        """Run a kernel that is the same for models with and without closed loops."""
        model = self.model
        supply(model, self.inputs["q"], self.work)
        kernel: Callable[..., int] = getattr(source(module), name)
        code = kernel(model.tables.index, self.params, self.work, *rest)
        if code:
            raise SingularClusterError(f"{model.name}: {name} fails at every state (code {code}).")

    @cached_property
    def G(self) -> np.ndarray:
        """Tree velocity = G v, shape (tree.nv, nv)."""
        return self._coupling[0]

    @cached_property
    def bias(self) -> np.ndarray:
        """Tree acceleration = G a + bias, shape (tree.nv,)."""
        return self._coupling[1]

    @cached_property
    def _coupling(self) -> tuple[np.ndarray, np.ndarray]:
        model = self.model
        G = model.tables.topology.G
        found = np.concatenate([G.ravel(), np.zeros(len(G))]).astype(object)
        if model.closures:
            self.plain("variations.coupling", "coupling", found, self["q"], self.inputs.get("v", self.rest))
        return found[: G.size].reshape(G.shape), found[G.size :]

    def loops(self) -> list[Any]:
        """Return the clusters that are closed loops."""
        views, index = source("tables.views"), self.model.tables.index
        n = views.header(index)
        clusters = (views.cluster(index, c) for c in range(n.cluster0, n.cluster1))
        return [C for C in clusters if C.kind == layout.LOOP]

    def opens(self, still: bool = False) -> list[Any]:
        """Return the largest value of the equations of each loop, squared, once kernels have run at q.

        Args:
            still: Whether to place the bodies anew, as ``coupling`` does, which puts back on what they stood.
        """
        model, q = self.model, self["q"]
        rooms, found = source("loops.coupling_of_loops"), []
        for C in self.loops():
            tables = model.tables.index, self.params, self.work, q, C
            if still:
                rooms.stand_still(self.work, C)
                rooms.place_bodies(*tables)
                rooms.equations(*tables)
            found.append(source("loops.closure_values").largest_value(*tables))
        return found

    def tree(self, what: int, *rates: np.ndarray) -> np.ndarray:
        """Run the kernel of the spanning tree, and return all its results.

        Args:
            what: Bits of ``kernels.tables.tree_layout``.
            rates: v, or v and a.
        """
        tables, nothing = self.model.tables.tree, self.room(0)
        out, own = self.room(tables.out), tables.own
        for first in (tables.sections.oMi, tables.sections.liMi):  # of the universe
            out[first : first + 9] = np.eye(3).ravel()
        out[own.G : own.G + self.G.size] = self.G.ravel()
        out[own.g : own.g + self.bias.size] = self.bias
        kernel: Callable[..., int] = source("tree.tree").tree
        given = [*rates, nothing, nothing][:2]
        kernel(tables.index, tables.params, self.room(tables.work), out, what | QUIET, self["q"], *given)
        return out
