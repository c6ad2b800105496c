"""Compute the inverse input matrix M^-1 [B, J_c'] for m inputs by m + 1 evaluations of forward dynamics.

The unit force method computes forward dynamics at rest, once without inputs and once per unit input. Each unit input
changes the acceleration by one column of the matrix. The method needs no mass matrix and no Jacobian. However, it
repeats all work that does not depend on the input, and subtracting accelerations that include gravity loses digits.

References:
    Extended unit force method (eUFM) of Kroeg, Gattringer and Mueller.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pinocchio as pin

from ...model import ClusterModel
from ..reference.operational import motors_of
from . import projection
from ._frames import documented_with_loops, frames_of
from ._workspace import Workspace, check


def createData(model: ClusterModel) -> Workspace:
    """Create a workspace for the functions of this module; use one per thread."""
    return Workspace(model)


@documented_with_loops
def inverse_input_matrix(
    model: ClusterModel,
    data: Workspace,
    q: np.ndarray,
    B: np.ndarray | None = None,
    contacts: Sequence[str | int] = (),
    reference: pin.ReferenceFrame = pin.LOCAL,
    *,
    forward: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> np.ndarray:
    """Compute M^-1 [B, J_c'], shape (nv, inputs + 3 len(contacts)), from differences of accelerations.

    Args:
        forward: Function that computes accelerations at ``q`` and zero velocity from torques, shape (nv,), and external
            forces, shape (njoints, 6). An example is ``lambda tau, fext: pc.aba(model, own, q, zero, tau, fext)``.
            The default is ``projection.aba``.
    """
    check(model, data, Workspace, __name__)
    q, zero = np.asarray(q, dtype=float), np.zeros(model.nv)
    if forward is None:

        def forward(tau: np.ndarray, fext: np.ndarray) -> np.ndarray:
            return projection.aba(model, data, q, zero, tau, fext)

    if B is None:
        data.couple(q)
        B = motors_of(model, data.span, data.G)
    tree, frames, nothing = model.tree, frames_of(model, contacts), np.zeros((model.njoints, 6))
    poses = tree.createData()
    pin.forwardKinematics(tree, poses, q)
    free = forward(zero, nothing)
    columns = [forward(np.array(b), nothing) - free for b in np.asarray(B, dtype=float).T]
    for f in frames:
        j = int(f.parentJoint)
        where = f.placement
        if reference == pin.WORLD:  # the force acts at the origin of the world
            where = poses.oMi[j].inverse()
        elif reference == pin.LOCAL_WORLD_ALIGNED:
            where = pin.SE3(poses.oMi[j].rotation.T, f.placement.translation)
        for direction in np.eye(3):
            fext = nothing.copy()
            fext[j] = where.act(pin.Force(direction, np.zeros(3))).vector
            columns.append(forward(zero, fext) - free)
    return np.stack(columns, axis=1) if columns else np.zeros((model.nv, 0))
