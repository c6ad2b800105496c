"""Measure the error of the operational-space inertia at a frame."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ...._support import old_names
from ....algorithms.dynamics.coupling import coupling_jacobian
from ....algorithms.dynamics.crba import crba
from ....errors import ArgumentTypeError
from ....model import ClusterModel, check_model
from ...pages.results import Result
from .._samples import chosen, documented, quotient, rows

Rows = Literal["linear", "angular", "all", "vertical"]
_ROWS = {"linear": slice(0, 3), "angular": slice(3, 6), "all": slice(0, 6), "vertical": slice(2, 3)}
_RANK = 1e-6  # Directions with less than this fraction of the largest mobility count as blocked


@dataclass(frozen=True, eq=False)
class OsimError(Result):
    """Errors of the operational-space inertia ``Lambda = (J M^-1 J')^-1`` at a frame.

    Attributes:
        rows: Selected rows of the frame Jacobian, as specified by the argument ``rows_of`` of ``osim_error``.
        relative: ``|Lambda_approximate - Lambda| / |Lambda|`` (Frobenius norms) for each approximation, at
            each state, shape (N,).
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
        """Mean of ``relative`` over the states; 1 is 100 %."""
        return {level: float(np.mean(x)) for level, x in self.relative.items()}

    @property
    def largest(self) -> dict[str, float]:
        """Largest value of ``relative`` over the states."""
        return {level: float(np.max(x)) for level, x in self.relative.items()}


@old_names.argument("rungs", "levels")
@documented
def osim_error(
    model: ClusterModel,
    frame: str,
    q: ArrayLike,
    levels: Iterable[str] | None = None,
    drop_rotors: bool = False,
    rows_of: Rows = "linear",
) -> OsimError:
    """Compute the errors of the apparent inertia at a frame.

    Directions in which the frame cannot move, for example out of the plane of a planar linkage, are excluded. The
    approximations ``unconstrained`` and ``frozen`` use their own coupling Jacobian in J.

    Args:
        rows_of: ``"linear"``: apparent mass at the frame's origin; ``"angular"``: rotational inertia; ``"all"``: 6 x 6
            inertia, which mixes units; ``"vertical"``: apparent mass along z, which equals the impulse
            per unit of touch-down speed.

    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel, ``q`` is not real, or ``rows_of`` is unknown.
        UnknownNameError: ``frame`` or a name in ``levels`` is unknown.
        SingularClusterError: A closed loop or the mass matrix of an approximation is singular.
    """
    check_model(model, "metrics.osim_error")
    if rows_of not in _ROWS:
        raise ArgumentTypeError(f"rows_of must be 'linear', 'angular', 'all' or 'vertical', got {rows_of!r}.")
    (q,) = rows(model, q)
    frame_id, tree = model.getFrameId(frame), model.tree
    data, tree_data, approximate_models = model.createData(), tree.createData(), chosen(model, levels, drop_rotors)
    for approximation in approximate_models.values():
        approximation.check(q[0])
    own_coupling: dict[str, np.ndarray] = {}
    if "frozen" in approximate_models:
        own_coupling["frozen"] = coupling_jacobian(model, data, model.q_reference)
    if "unconstrained" in approximate_models:
        own_coupling["unconstrained"] = np.eye(tree.nv)[:, model.idx_v_independent]
    relative = {name: np.empty(len(q)) for name in approximate_models}
    for i in range(len(q)):
        J = pin.computeFrameJacobian(tree, tree_data, q[i], frame_id, pin.LOCAL_WORLD_ALIGNED).reshape(6, -1)[
            _ROWS[rows_of]
        ]
        G = coupling_jacobian(model, data, q[i])
        exact = _inertia(J @ G, crba(model, data, q[i]))
        for name, approximation in approximate_models.items():
            approximate = _inertia(J @ own_coupling.get(name, G), approximation.crba(q[i]))
            relative[name][i] = quotient(np.linalg.norm(approximate - exact), np.linalg.norm(exact))
    return OsimError(model.name, frame, rows_of, relative)


def _inertia(J: np.ndarray, M: np.ndarray) -> np.ndarray:
    """Compute ``(J M^-1 J')^-1`` in the directions in which the frame can move."""
    U, size, _ = np.linalg.svd(J, full_matrices=False)
    moves = U[:, size > _RANK * size.max(initial=0.0)]  # approximations with the same J use the same directions
    J = moves.T @ J
    return np.asarray(moves @ np.linalg.solve(J @ np.linalg.solve(M, J.T), moves.T))
