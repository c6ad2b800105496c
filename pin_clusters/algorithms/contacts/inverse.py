"""Inverse dynamics with frictional point contacts; Pinocchio computes the contact forces."""

from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import ArrayLike, vector
from ...errors import ArgumentTypeError, ConstraintError, NotAvailableError, ShapeError, SimulationError
from ...model import ClusterData, ClusterModel, also_pinocchios
from .._shared import bridge as _bridge
from .._shared import check as _check
from .._shared import on_demand as _on_demand
from ..dynamics.rnea import rnea


@also_pinocchios
@_check.documented()
def contactInverseDynamics(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    dt: float,
    contact_models: Any,
    contact_datas: Any,
    constraint_correction: ArrayLike,
    settings: pin.ProximalSettings,
    lambda_guess: ArrayLike | None = None,
    solve_ncp: bool = True,
) -> tuple[bool, np.ndarray, np.ndarray]:
    """Compute the torques of a motion with compliant contacts and Coulomb friction.

    Args:
        data: Workspace; ``data.tau`` and ``data.lambda_c`` store the results as well.
        dt: Time step, [s]. The forces depend on the velocities of the contact points at the end of the step.
        contact_models: ``pc.PointContactConstraintModel`` objects, with friction and compliance (Pinocchio 4).
        contact_datas: Result of ``createData()`` of each contact, in the same order.
        constraint_correction: Velocities added to the velocities of the contact points, shape (3 contacts,), [m/s].
        settings: ``pin.ProximalSettings`` with the accuracy, mu > 0 and the maximum number of iterations.
        lambda_guess: Initial guess of the forces, shape (3 contacts,), [N].
        solve_ncp: If True, solve the nonlinear complementarity problem of Coulomb friction; else its convex relaxation.

    Returns:
        Whether the iterations converged; the torques of the independent joints, shape (nv,), [N m] or [N];
        and the contact forces in Pinocchio's order, shape (3 contacts,), [N].

    Raises:
        ArgumentTypeError: An object has a wrong type, or mu or dt is not positive.
        ConstraintError: A contact is on a joint that the model does not have.
        ShapeError: Lists or vectors have different lengths.
        SimulationError: The forces are not finite, because the compliance is zero or an input is not finite.
        NotAvailableError: The installed Pinocchio is older than version 4.

    References:
        Pinocchio's ``contactInverseDynamics``, which requires ``computeJointJacobians`` to be called first.
    """
    q, v, a = _check.motion(model, data, q, v, a)
    models, datas = _objects(model, contact_models, contact_datas)
    n, sizes = 3 * len(models), "3 per contact"
    correction = vector(model, "constraint_correction", constraint_correction, n, sizes)
    guess = None if lambda_guess is None else vector(model, "lambda_guess", lambda_guess, n, sizes)
    fits = isinstance(settings, pin.ProximalSettings) and isinstance(dt, (int, float, np.number))
    if not fits or not settings.mu > 0.0 or not dt > 0.0:
        raise ArgumentTypeError(
            "contactInverseDynamics requires dt > 0 and settings of type pin.ProximalSettings with mu > 0, got "
            f"settings = {settings!r} (mu = {getattr(settings, 'mu', None)}), dt = {dt!r}."
        )
    tree, scratch = model.own_tree, _on_demand.scratch(data)._tree
    G, g = _bridge.matrix_and_bias(model, data, q, v)
    motion = q, G @ v, G @ a + g
    pin.computeJointJacobians(tree, scratch, q)
    for contact, of in zip(models, datas, strict=True):
        contact.calc(tree, scratch, of)
    converged, tau, forces = pin.contactInverseDynamics(
        tree, scratch, *motion, float(dt), models, datas, correction, settings, guess, bool(solve_ncp)
    )
    if not np.isfinite(forces).all():
        raise SimulationError(
            f"contactInverseDynamics of model {model.name!r}: the contact forces are not finite: {forces}. Check that "
            "q, v, a and constraint_correction are finite, and set a compliance > 0 for each contact."
        )
    by_contacts = G.T @ (pin.rnea(tree, scratch, *motion) - tau)
    result = rnea(model, data, q, v, a) - by_contacts
    data._owe("rnea with forces")
    data._tau[:], data.lambda_c = result, forces
    return converged, result, forces


def _objects(model: ClusterModel, contact_models: Any, contact_datas: Any) -> tuple[Any, Any]:
    if not hasattr(pin, "PointContactConstraintModel"):
        raise NotAvailableError(f"contactInverseDynamics needs Pinocchio 4, but {pin.__version__} is installed.")
    models, datas = pin.StdVec_PointContactConstraintModel(), pin.StdVec_PointContactConstraintData()
    for i, contact in enumerate(contact_models):
        if not isinstance(contact, pin.PointContactConstraintModel):
            raise ArgumentTypeError(
                f"contact_models[{i}] must be a pc.PointContactConstraintModel, got {type(contact).__name__}."
            )
        if max(contact.joint1_id, contact.joint2_id) >= model.njoints:
            raise ConstraintError(
                f"contact_models[{i}] is on joint {max(contact.joint1_id, contact.joint2_id)}, but model "
                f"{model.name!r} has the joints 0 to {model.njoints - 1}."
            )
        models.append(contact)
    for i, of in enumerate(contact_datas):
        if not isinstance(of, pin.PointContactConstraintData):
            raise ArgumentTypeError(
                f"contact_datas[{i}] must be a pin.PointContactConstraintData, got {type(of).__name__}. Use "
                "[c.createData() for c in contact_models]."
            )
        datas.append(of)
    if len(models) != len(datas):
        raise ShapeError(f"contact_models has {len(models)} entries, but contact_datas has {len(datas)}.")
    return models, datas
