"""Dynamics with contacts that stay the same: the kernel's own passes, with what Pinocchio's objects say as numbers."""

from __future__ import annotations

import numpy as np

from ..._engine.kernels.tables import contacts_layout as at
from ..._engine.kernels.tables.columns_layout import AT_WORK
from ..._engine.kernels.tables.layout import ROW_WIDTH
from ..._engine.operations import CONTACTS
from ...algorithms.contacts._plans import laid_out, places_of
from ...errors import NotAvailableError
from ._sources import copy_of, reading, source
from .run import Run


def accelerations(run: Run) -> dict[str, np.ndarray]:
    """Return accelerations, and the forces of the contacts."""
    ddq, forces = _solved(run, at.DYNAMICS, run["tau"])
    return {"ddq": ddq, "lambda_c": forces}


def after_impact(run: Run) -> dict[str, np.ndarray]:
    """Return velocities after an impact, and the impulses of the contacts."""
    after, impulses = _solved(run, at.IMPACT, run.rest)
    return {"dq_after": after, "impulse_c": impulses}


def _solved(run: Run, wanted: int, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    model, datas = run.model, [c.createData() for c in run.contacts]
    places = places_of(model, run.contacts, datas)
    if places is None:
        raise NotAvailableError(
            "these contacts cannot be traced: one is between a joint and itself, on a rotor that spins, or of a "
            "Pinocchio whose objects are laid out in another way."
        )
    out, columns, packs = laid_out(model, run.contacts, places, 1)
    asked, numbers = out.index(ROW_WIDTH), np.array(out.params).astype(object)
    asked[0, at.Contacts._fields.index("wanted")] = wanted
    numbers[at.DAMPING] = run.damping
    bodies = source("tables.views").header(model._index).bodies
    panel = run.room(6 * AT_WORK * (bodies + 1) + packs * model.nv)
    forces, found = run.room(columns), run.rest
    with reading(copy_of):
        run.call(
            CONTACTS.passes, run.rest, run["q"], run["v"], tau, asked, numbers, panel, run.room(columns + 1, packs),
            forces, found,
        )  # fmt: skip
    return found, forces
