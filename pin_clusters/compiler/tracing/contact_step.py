"""One time step with ground contact as a traced function: equations (1) to (6) of ``docs/ground.md``.

The program contains every contact point and every stop. A contact that stays open gets no impulse, because its gap
divided by the time step is added to its velocity. The program therefore needs no branches and no active set, and it can
run for many robots side by side. A fixed number of sweeps of projected Gauss-Seidel solves the contact laws; the output
``violation`` is their residual.
"""

from dataclasses import dataclass, field

import numpy as np

from ...kernels.tables import tree_layout as tl
from ...model import ClusterModel, alike, parameter_columns
from .. import operations
from ._sources import source
from .contact_laws import Contacts, ContactSet
from .functions import of_kernel
from .inertial import inertial_map
from .moves import integrate
from .program import objects
from .run import Run
from .step_forces import Actuation, Gears, Lines, drive, gear_loads, passive_torques


@dataclass(frozen=True)
class ContactStep:
    """Constants of a traced time step.

    Attributes:
        dt: Time step h, [s].
        contacts: Points that can touch the ground, and joints with position limits.
        actuation: Joints with PD drives, and torque limits.
        lines: Springs, dampers and dry friction, or None.
        gears: Gears with losses, or None.
        newton: Number of Newton steps that close loops after each half of the step.
    """

    dt: float
    contacts: ContactSet = field(default_factory=ContactSet)
    actuation: Actuation = field(default_factory=Actuation)
    lines: Lines | None = None
    gears: Gears | None = None
    newton: int = 2


def contact_step(run: Run, step: ContactStep) -> dict[str, np.ndarray]:
    """Return the state after a step, the torques, and the quantities that describe the contacts.

    ``run`` needs the inputs q, v, tau, target, kp, kd, strength, friction, last and loads; a constant input is an array
    of floats. If joints are driven, its model must be the result of ``drive_model``.
    """
    phases, h, q, v = source("steps.phases"), step.dt, run["q"], run["v"]
    middle = _moved(run, q, phases.half_way(h, v))
    demand, added = drive(run, step.actuation, h)
    run = _with_armature(run, step.actuation.driven, added).at(middle["q"])
    if "wrench" in run.inputs:
        run.inputs["fext"] = _on_base(run)
    half = phases.after(0.5 * h, v, _accelerate(run, v, demand, step))
    free = phases.after(h, v, _accelerate(run, half, demand, step))
    contacts = Contacts(run, step.contacts, h, free)
    impulses = contacts.impulses(contacts.in_ground_axes(run["last"]), run["friction"][0])
    after, delay = free + contacts.response @ impulses, contacts.delay(impulses)
    a = (after - v) / h
    tau = demand - added * a
    increment = phases.correction(h, delay, free, after)
    if step.contacts.rows:  # the first displacement uses predicted gaps; the second one corrects the prediction
        end = _moved(run, run["q"], increment + contacts.out_of_ground(contacts.gaps_at_end(impulses, delay)))
        end = _moved(run, end["q"], contacts.out_of_ground(contacts.gaps_at(run.at(end["q"]))))
    else:
        end = _moved(run, run["q"], increment)
    outputs = {
        "q_next": end["q"],
        "v_next": after,
        "tau_applied": tau,
        "impulses": contacts.in_world_axes(impulses),
        "gaps": contacts.gaps,
        "violation": objects([contacts.violation(impulses, run["friction"][0])]),
    }
    if step.gears is not None:
        outputs["loads_next"] = gear_loads(run, half, tau, a, step.gears)
    if "residual" in end:
        outputs["residual"] = end["residual"]
    return outputs


def drive_model(model: ClusterModel, driven: np.ndarray) -> ClusterModel:
    """Return the model with 1 kg m^2 or 1 kg of armature added to each driven joint, so that its tables contain it."""
    tree = model.own_tree.copy()
    armature = np.array(tree.armature)
    armature[model.idx_v_independent[driven[:, 1]]] += 1.0
    tree.armature = armature
    return alike(model, tree=tree) if len(driven) else model


def _moved(run: Run, q: np.ndarray, increment: np.ndarray) -> dict[str, np.ndarray]:
    moving = run.at(q)
    moving.inputs["v"] = increment
    return integrate(moving)


def _accelerate(run: Run, v: np.ndarray, tau: np.ndarray, step: ContactStep) -> np.ndarray:
    run = run.at(run["q"])
    (a,) = of_kernel(run, operations.ABA, run["q"], v, tau + passive_torques(run, v, step.lines, step.gears))
    return np.asarray(a)


def _on_base(run: Run) -> np.ndarray:
    """Return external forces in joint frames; ``wrench`` acts on joint 1, in world axes at the origin of its frame."""
    forces, first = run.zeros(6 * run.model.njoints), run.model.tables.tree.sections.oMi + 12
    R = run.at(run["q"]).tree(tl.MOTION)[first : first + 9].reshape(3, 3)  # rows: axes of the joint
    forces[6:9], forces[9:12] = R @ run["wrench"][:3], R @ run["wrench"][3:]
    return forces


def _with_armature(run: Run, driven: np.ndarray, added: np.ndarray) -> Run:
    """Return a run in which ``added`` replaces the armature that ``drive_model`` has added."""
    if not len(driven):
        return run
    model, numbers = run.model, np.concatenate([run.params.astype(object), run.work])
    terms, columns = inertial_map(model), parameter_columns(model)
    for k in driven[:, 1].tolist():
        column = columns.armatures_from + columns.armatures.index(int(model.idx_v_independent[k]))
        for i in np.flatnonzero(terms.of == column).tolist():
            numbers[terms.to[i]] = numbers[terms.to[i]] + terms.coefficients[i] * (added[k] - 1.0)
    changed = run.at(run["q"])
    changed.params, changed.work = numbers[: run.params.size], numbers[run.params.size :]
    return changed
