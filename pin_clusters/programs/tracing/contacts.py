"""Dynamics with contacts that stay the same: the kernel's own passes, with what Pinocchio's objects say as numbers."""

import numpy as np

from ..._engine.kernels.tables import contacts_layout as at
from ..._engine.kernels.tables.layout import ROW_WIDTH
from ..._engine.operations import CONTACTS
from ...algorithms._shared.reach import panel_size
from ...algorithms.contacts._plans import laid_out, places_of
from ...errors import NotAvailableError
from ._sources import Copies, reading
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
    out, columns = laid_out(model, run.contacts, places)
    asked, numbers = out.index(ROW_WIDTH), np.array(out.params).astype(object)
    asked[0, at.Contacts._fields.index("wanted")] = wanted
    numbers[at.DAMPING] = run.damping
    panel, gram = run.room(panel_size(model, columns + 1)), run.room(columns + 1, columns + 1)
    forces, found = run.room(columns), run.rest
    with reading(Copies()):
        run.call(
            CONTACTS.passes, run.rest, run["q"], run["v"], tau, asked, numbers, panel, gram, forces, found,
        )  # fmt: skip
    return found, forces
