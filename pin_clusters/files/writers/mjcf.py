"""``pc.to_mjcf``: a cluster model as a complete MuJoCo model."""

import os
from typing import Literal

import numpy as np
import pinocchio as pin

from ...errors import ArgumentTypeError
from ...model import ClusterModel, check_model
from ._mjcf_text import File
from ._robot import Robot
from ._text import write
from .motors import warn_of_motors

APPROXIMATIONS = ("best", "diagonal", "exact")


def to_mjcf(
    model: ClusterModel,
    approximation: Literal["best", "diagonal", "exact"] = "best",
    *,
    visual_model: pin.GeometryModel | None = None,
    file: str | os.PathLike[str] | None = None,
    timestep: float = 1e-3,
    integrator: Literal["Euler", "implicitfast", "implicit", "RK4"] = "implicitfast",
    solref: float | None = None,
) -> str:
    """Write a model for MuJoCo: bodies, joints, loops, motors, sites, collision shapes, and what can be drawn.

    ==============  =====================================================  ==========================================
    approximation   rotors                                                 mass matrix
    ==============  =====================================================  ==========================================
    ``"best"``      armature of joints, and of fixed tendons for those     that of the approximation ``block``
                    that several joints turn (MuJoCo 3.3.1 or newer)
    ``"diagonal"``  armature of joints                                     ``diagonal``; with loops ``armature``
    ``"exact"``     bodies, tied by stiff equalities                       exact, projected onto the equalities
    ==============  =====================================================  ==========================================

    Loops are equalities in all of them: ``connect`` (two for a revolute loop), ``weld``, a tendon of constant length
    for a rod without mass; a rod with mass is a body. A loop of another kind is closed by a joint of its own, on half
    of the inertia of one of its bodies, which is welded to the rest. Tello's differentials become the cranks and rods
    that their equations stand for; their motors are bodies in every file. Motors are on the joints that turn a rotor,
    with its ratio as gear, or on the rotor: their control is the torque of the motor itself, [N m]. The keyframe
    ``reference`` is the reference pose. Shapes of ``model.collision`` collide with the world, and with each other where
    that has pairs of them. All is written from the model alone, even if an MJCF file was read: what else that has
    (drawn geoms, sensors, contact pairs and excludes) is not kept. ``into_mjcf`` keeps it.

    Args:
        model: The robot.
        approximation: What becomes of the rotors.
        visual_model: Geometry that is drawn, such as that of ``pin.buildGeomFromUrdf``; meshes are named by their
            paths. Without it, and where MuJoCo cannot read a mesh, boxes with the inertia of the links.
        file: Where to write it; it is replaced whole, or left as it was. None writes nothing.
        timestep: Of the file's ``<option>``, [s].
        integrator: Of the file's ``<option>``.
        solref: Time constant of the equalities, [s]; by default two time steps, the stiffest that MuJoCo takes.

    Motors give their friction to joints and tendons (``damping``, ``frictionloss``) and ``peak_torque`` as
    ``forcerange``; losses of gears, and limits by speed, are lost, and a warning says so.

    Returns:
        The text. A comment at its top says what is lost.

    Raises:
        ArgumentTypeError: An argument has the wrong type or value.
        ConstraintError: No equality of MuJoCo says a constraint (a ``Coupling`` on a function, a weight that is held).
        UnsupportedJointError: A joint is nothing that MuJoCo knows (screws, ...).
        ModelError: A body is none that MuJoCo takes, or a name has characters that XML cannot hold.
        ExportError: The file cannot be written.

    Example:
        >>> import pin_clusters as pc
        >>> text = pc.to_mjcf(pc.load("mit_humanoid_leg"))
        >>> text.count("<motor"), text.count("<fixed")
        (5, 1)
    """
    _check(model, approximation, visual_model, timestep, integrator, solref)
    warn_of_motors("to_mjcf", model)
    stiff = 2.0 * timestep if solref is None else solref
    option = {"timestep": float(timestep), "integrator": integrator}
    return write(File(Robot(model, approximation, float(stiff)), visual_model, option).text(), file)


def _check(model: object, approximation: object, visual: object, timestep: object, how: object, solref: object) -> None:
    check_model(model, "to_mjcf")
    integrators = ("Euler", "implicitfast", "implicit", "RK4")
    for name, value, known in (("approximation", approximation, APPROXIMATIONS), ("integrator", how, integrators)):
        if not isinstance(value, str) or value not in known:
            raise ArgumentTypeError(f"to_mjcf: {name} must be one of {', '.join(map(repr, known))}, got {value!r}.")
    if visual is not None and not isinstance(visual, pin.GeometryModel):
        raise ArgumentTypeError(
            f"to_mjcf: visual_model must be a pinocchio.GeometryModel, got {type(visual).__name__}."
        )
    for name, value in (("timestep", timestep), ("solref", solref)):
        if value is None and name == "solref":
            continue
        ok = isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and 0.0 < float(value) < 1.0
        if not ok:
            raise ArgumentTypeError(f"to_mjcf: {name} must be a time between 0 and 1 s, got {value!r}.")
