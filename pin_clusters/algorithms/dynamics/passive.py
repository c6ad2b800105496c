"""The torque of springs, dampers, dry friction and held weight."""

from numbers import Real
from typing import Any

import numpy as np

from ...errors import ArgumentTypeError
from ...model import FRICTION_SPEED, ClusterData, ClusterModel
from .._shared import bridge as _bridge
from .._shared import check as _check


@_check.documented()
def passive_torque(
    model: ClusterModel, data: ClusterData, q: Any, v: Any, *, friction_speed: float = FRICTION_SPEED
) -> np.ndarray:
    """Return the torque with which springs, dampers, dry friction and held weight act on the independent joints.

    It has the sign of MuJoCo's ``qfrc_passive``: motors give ``pc.rnea(...) - pc.passive_torque(...)``, and the
    acceleration under motor torques is ``pc.aba(model, data, q, v, tau + pc.passive_torque(model, data, q, v))``.
    `pc.simulate` adds it by itself. Zero for a model without passive forces (``model.passive`` is None).

    Args:
        friction_speed: Dry friction grows as tanh(speed / friction_speed), [rad/s] or [m/s]; 0 takes the sign,
            infinity leaves it out (in MuJoCo it is a constraint, and no part of ``qfrc_passive``).

    Returns:
        Shape (nv,), [N m] or [N]; a fresh array.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> tree = pc.load("four_bar").tree
        >>> model = pc.ClusterModel(tree, [pc.Spring("crank", 2.0, rest=0.5)])
        >>> data = model.createData()
        >>> pc.passive_torque(model, data, np.zeros(model.nq), np.zeros(model.nv))[model.joint_idx_v("crank")].item()
        1.0
    """
    q, v = _check.state(model, data, q, v)
    if isinstance(friction_speed, bool) or not isinstance(friction_speed, Real) or not friction_speed >= 0.0:
        raise ArgumentTypeError(f"passive_torque: friction_speed must be a number, at least 0, got {friction_speed!r}.")
    if model.passive is None:
        return np.zeros(model.nv)
    G = _bridge.matrix(model, data, q)
    return model.passive.torque(q, G @ v, float(friction_speed)) @ G
