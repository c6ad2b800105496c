"""Tables and calls of the kernel ``points``; the positions of the points can change between calls."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from ..._support.arrays import on_a_page
from ...compiler import entry_points as kernels
from ...compiler.choice import code_of
from ...kernels.tables import columns_layout as at
from ...model import ClusterData, ClusterModel, with_loops
from . import check as _check
from .force_columns import laid_out, store
from .reach import arrays_of, home_of


class Points:
    """Tables of the kernel ``points``. J is the Jacobian of all points; several points may be on one body.

    Attributes:
        joints: Ids of the joints that move the bodies.
        arguments: Kernel arguments after q and v. The last four are results: J M^-1 J', M^-1 J', positions and J v.
    """

    __slots__ = ("_offsets", "_places", "_to_body", "arguments", "joints")

    def __init__(self, model: ClusterModel, joints: Sequence[int], *, columns: bool = True, rates: bool = True) -> None:
        """Create the tables; ``columns`` selects the results J M^-1 J' and M^-1 J', and ``rates`` selects J v."""
        self.joints = tuple(joints)
        n = len(self.joints)
        picks = [[(3 * i + r, r) for r in range(3 * columns)] for i in range(n)]
        axes, origin = int(pin.LOCAL_WORLD_ALIGNED), (np.eye(3), np.zeros(3))
        out = laid_out(
            model, [((j, *origin), axes, p) for j, p in zip(self.joints, picks, strict=True)], 3 * n * columns, columns
        )
        index, numbers, panel = arrays_of(model, out, 3 * n * columns)
        places = index[1 : 1 + n, at.Touch._fields.index("at")][:, None]
        self._places, self._offsets = places + np.arange(9, 12), places + at.OFFSET + np.arange(3)
        self._to_body = np.array([home_of(model, j)[3] for j in self.joints]).reshape(n, 3, 3)
        m = 3 * n * columns
        results = np.zeros((m, m)), np.zeros((model.nv, m)), np.zeros((n, 3)), np.zeros(3 * n * rates)
        self.arguments: tuple[np.ndarray, ...] = (index, numbers, panel, *results)

    def again(self) -> "Points":
        copy = object.__new__(Points)
        for name in ("joints", "_places", "_offsets", "_to_body"):
            setattr(copy, name, getattr(self, name))
        index, numbers, panel, gram, response, positions, velocities = self.arguments
        results = gram.copy(), response.copy(), positions.copy(), velocities.copy()
        copy.arguments = (index.copy(), numbers.copy(), *on_a_page(panel), *results)
        return copy

    def put(self, places: np.ndarray, offsets: np.ndarray | float = 0.0) -> None:
        """Set the positions in joint frames, and additional offsets in world axes; both have shape (n, 3), [m]."""
        self.arguments[1][self._places] = np.einsum("nji,nj->ni", self._to_body, places)
        self.arguments[1][self._offsets] = offsets

    def run(
        self, model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, results: tuple[np.ndarray, ...]
    ) -> None:
        run = code_of(data._functions, kernels.of("points", with_loops(model)))
        _check.status(model, run.call(data._pointers["Minv"], q, v, *self.arguments[:3], *results), q)


def points_of(model: ClusterModel, data: ClusterData, joints: tuple[int, ...]) -> Points:
    points: Points | None = data._plans.get(("points", joints))
    return store(data, ("points", joints), Points(model, joints)) if points is None else points
