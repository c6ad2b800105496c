"""Accelerations and impacts with contacts: by the kernel if it can, else by Pinocchio's functions on the tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from ..._engine.kernels.tables.contacts_layout import IMPACT
from ..._engine.kernels.tables.tree_layout import COLUMNS, MOTION
from ...model import ClusterData, ClusterModel
from .._shared import tree as _tree
from ..dynamics.aba import aba
from . import _rows as _contact_rows
from ._forces import Solution, damping_of, solved
from ._plans import Plan

Contacts = tuple[Plan | None, list[Any], list[Any]]
"""What ``_contact_plans.find`` returns."""


def accelerations(
    model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, tau: np.ndarray, contacts: Contacts, how: Any
) -> tuple[np.ndarray, Solution, Plan | None]:
    """Return accelerations, forces, and the plan if the kernel alone found them.

    Args:
        model: The model.
        data: Its workspace.
        q: Configuration.
        v: Velocity.
        tau: Torques.
        contacts: Plan, contacts and their data.
        how: As ``_contact_forces.solved`` takes it.
    """
    plan, models, datas = contacts
    if plan is not None:
        found = plan.run(model, data, q, v, tau) if how is None else None
        if found is not None:
            return found, Solution(plan.forces, len(plan.forces), np.zeros(0)), plan
        return *plan.solve(model, data, q, v, tau, how), None
    free = aba(model, data, q, v, tau)
    _tree.compute(model, data, MOTION | COLUMNS, q, v, free)
    J = _contact_rows.jacobian(model, data, models, datas)
    missing = [_contact_rows.missing(data.tree, c, d) for c, d in zip(models, datas, strict=True)]
    rest = np.concatenate(missing) if missing else np.zeros(0)
    A, response = _contact_rows.delassus(model, data, q, J)
    solution = solved(A, rest, how)
    _contact_rows.hand_out(models, datas, solution.forces)
    data._ddq[:] = free + response @ solution.forces
    return data._ddq.copy(), solution, None


def after_impact(
    model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, contacts: Contacts, bounce: float, mu: Any,
    J: np.ndarray | None = None,
) -> tuple[np.ndarray, Solution]:  # fmt: skip
    """Return the velocity after an impact, and impulses.

    Args:
        model: The model.
        data: Its workspace.
        q: Configuration.
        v: Velocity before.
        contacts: Plan, contacts and their data.
        bounce: Restitution.
        mu: Damping, or proximal settings.
        J: Rows in the place of contacts.
    """
    plan, models, datas = contacts
    if plan is not None:
        rest = data._zeros
        if not isinstance(mu, pin.ProximalSettings):
            after = plan.run(model, data, q, v, rest, IMPACT, bounce, damping_of(mu))
            if after is not None:
                return after, Solution(plan.forces, len(plan.forces), np.zeros(0))
        return plan.solve(model, data, q, v, rest, mu, IMPACT, bounce)
    if J is None:
        _tree.compute(model, data, COLUMNS, q)
        J = _contact_rows.jacobian(model, data, models, datas)
    A, response = _contact_rows.delassus(model, data, q, J)
    solution = solved(A, -(1.0 + bounce) * (J @ v), mu)
    _contact_rows.hand_out(models, datas, solution.forces)
    return v + response @ solution.forces, solution
