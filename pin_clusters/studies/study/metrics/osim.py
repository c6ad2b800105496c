"""The inertia that a frame shows to the world."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ....algorithms.dynamics.coupling import coupling_jacobian
from ....algorithms.dynamics.crba import crba
from ....errors import ArgumentTypeError
from ....model import ClusterModel, check_model
from ...pages.results import Result
from .._samples import chosen, documented, quotient, rows

Rows = Literal["linear", "angular", "all", "vertical"]
_ROWS = {"linear": slice(0, 3), "angular": slice(3, 6), "all": slice(0, 6), "vertical": slice(2, 3)}
_RANK = 1e-6
"""Directions in which a frame moves less than this part of the most mobile one are taken as blocked."""


@dataclass(frozen=True, eq=False)
class OsimError(Result):
    """Errors of the operational-space inertia ``Lambda = (J M^-1 J')^-1`` of a frame.

    Attributes:
        robot: Name of the robot.
        frame: Name of the frame.
        rows: Which part of the frame's motion: as ``rows_of``.
        relative: ``|Lambda_rung - Lambda| / |Lambda|`` (Frobenius norms) of each approximation at each state, (N,).
    """

    robot: str
    frame: str
    rows: Rows
    relative: dict[str, np.ndarray]

    _json = "robot frame rows samples mean largest"

    @property
    def samples(self) -> int:
        """Number of states."""
        return len(next(iter(self.relative.values()), ()))

    @property
    def mean(self) -> dict[str, float]:
        """Mean over the states; 1 is 100 %."""
        return {rung: float(np.mean(x)) for rung, x in self.relative.items()}

    @property
    def largest(self) -> dict[str, float]:
        """Largest of all states."""
        return {rung: float(np.max(x)) for rung, x in self.relative.items()}


@documented
def osim_error(
    model: ClusterModel,
    frame: str,
    q: ArrayLike,
    rungs: Iterable[str] | None = None,
    drop_rotors: bool = False,
    rows_of: Rows = "linear",
) -> OsimError:
    """Compare the inertia that a push on a frame feels.

    A direction in which the frame cannot move (of a leg of five joints, a planar linkage) is left out. J of
    ``unconstrained`` and ``frozen`` holds their own coupling.

    Args:
        rows_of: ``"linear"``: mass felt at the frame's origin; ``"angular"``: rotational inertia; ``"all"``: 6 x 6, m
            and rad alike; ``"vertical"``: mass felt along z, which is the impulse of a touch-down per speed.

    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel, ``q`` does not hold real numbers, or ``rows_of`` is unknown.
        UnknownNameError: There is no such frame or approximation.
        SingularClusterError: Closed loops cannot be solved for their dependent joints, or the mass matrix of an
            approximation is singular.
    """
    check_model(model, "metrics.osim_error")
    if rows_of not in _ROWS:
        raise ArgumentTypeError(
            f"osim_error: rows_of must be 'linear', 'angular', 'all' or 'vertical', got {rows_of!r}."
        )
    (q,) = rows(model, q)
    at, tree = model.getFrameId(frame), model.tree
    data, tree_data, ladder = model.createData(), tree.createData(), chosen(model, rungs, drop_rotors)
    for rung in ladder.values():
        rung.check(q[0])
    own: dict[str, np.ndarray] = {}
    if "frozen" in ladder:
        own["frozen"] = coupling_jacobian(model, data, model.q_reference)
    if "unconstrained" in ladder:
        own["unconstrained"] = np.eye(tree.nv)[:, model.idx_v_independent]
    relative = {name: np.empty(len(q)) for name in ladder}
    for i in range(len(q)):
        J = pin.computeFrameJacobian(tree, tree_data, q[i], at, pin.LOCAL_WORLD_ALIGNED).reshape(6, -1)[_ROWS[rows_of]]
        G = coupling_jacobian(model, data, q[i])
        exact = _inertia(J @ G, crba(model, data, q[i]))
        for name, rung in ladder.items():
            found = _inertia(J @ own.get(name, G), rung.crba(q[i]))
            relative[name][i] = quotient(np.linalg.norm(found - exact), np.linalg.norm(exact))
    return OsimError(model.name, frame, rows_of, relative)


def _inertia(J: np.ndarray, M: np.ndarray) -> np.ndarray:
    """Return (J M^-1 J')^-1, in the directions in which the frame moves."""
    U, size, _ = np.linalg.svd(J, full_matrices=False)
    moves = U[:, size > _RANK * size.max(initial=0.0)]  # by geometry alone, so that no mass matrix decides
    J = moves.T @ J
    return np.asarray(moves @ np.linalg.solve(J @ np.linalg.solve(M, J.T), moves.T))
