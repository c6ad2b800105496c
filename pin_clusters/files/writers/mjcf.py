"""``pc.to_mjcf``: write a cluster model as a complete MuJoCo model."""

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
    """Write a model for MuJoCo: bodies, joints, loops, motors, sites, visual and collision shapes.

    ==============  =====================================================  ==========================================
    approximation   rotors                                                 mass matrix
    ==============  =====================================================  ==========================================
    ``"best"``      armature of joints, and of fixed tendons if several    equal to the approximation ``block``
                    joints turn a rotor (MuJoCo 3.3.1 or newer)
    ``"diagonal"``  armature of joints                                     ``diagonal``; with loops ``armature``
    ``"exact"``     bodies that stiff equality constraints couple          exact, projected onto the equalities
    ==============  =====================================================  ==========================================

    Loops are always equality constraints: ``connect`` (two for a revolute loop), ``weld``, or a tendon of constant
    length for a rod without mass. A rod with mass is a body. For a loop of another kind, one body is split into two
    halves: the loop's joint moves one half, and a ``weld`` connects both halves. Tello's differentials are written as
    equivalent cranks and rods; their rotors are always bodies. A motor acts on its rotor, or on the joints that turn
    the rotor; in the second case, ``gear`` is the gear ratio. The control input is the motor torque, [N m]. The
    keyframe ``reference`` is the reference pose. Shapes of ``model.collision`` collide with the world and with shapes
    in collision pairs. The text contains only the model. If the model was read from an MJCF file, other contents of
    that file (visual geoms, sensors, contact pairs and excludes) are lost; ``into_mjcf`` keeps them.

    Motor friction becomes ``damping`` and ``frictionloss`` of joints and tendons; ``peak_torque`` becomes
    ``forcerange``. MJCF cannot represent gear losses and speed-dependent torque limits; a warning lists them.

    Args:
        model: The robot.
        approximation: Approximation of the rotors; see the table.
        visual_model: Visual geometry, such as the result of ``pin.buildGeomFromUrdf``; the file refers to meshes by
            path. A body without shapes that MuJoCo can read is drawn as a box with the same inertia.
        file: Path of the output, which is replaced completely or not at all. If None, no file is written.
        timestep: Time step in the file's ``<option>``, [s].
        integrator: Integrator in the file's ``<option>``.
        solref: Time constant of the equality constraints, [s]; by default two time steps, MuJoCo's stiffest value.

    Returns:
        The MJCF text, in SI units and radians. A comment at the top lists the parts of the model that are lost.

    Raises:
        ArgumentTypeError: An argument has the wrong type or value.
        ConstraintError: A constraint has no equivalent in MuJoCo, such as ``Coupling`` or ``GravityCompensation``.
        UnsupportedJointError: MuJoCo does not support a joint, such as a screw.
        ModelError: MuJoCo does not accept a body, or a name contains characters that XML does not allow.
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
    for name, value, choices in (("approximation", approximation, APPROXIMATIONS), ("integrator", how, integrators)):
        if not isinstance(value, str) or value not in choices:
            raise ArgumentTypeError(f"to_mjcf: {name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")
    if visual is not None and not isinstance(visual, pin.GeometryModel):
        raise ArgumentTypeError(f"to_mjcf: visual_model must be a pin.GeometryModel, got {type(visual).__name__}.")
    for name, value in (("timestep", timestep), ("solref", solref)):
        if value is None and name == "solref":
            continue
        ok = isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and 0.0 < float(value) < 1.0
        if not ok:
            raise ArgumentTypeError(f"to_mjcf: {name} must be a time between 0 and 1 s, got {value!r}.")
