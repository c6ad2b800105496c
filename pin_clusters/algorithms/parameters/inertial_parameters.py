"""Inertial parameters of a robot, and models with other parameter values."""

import dataclasses
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import ArrayLike, array
from ..._support.trees import joint_in_v
from ...errors import InertiaError, ShapeError
from ...model import ClusterModel, alike, check_model, parameter_columns, varied

_OF_A_BODY = ("mass", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
_ROUNDING = 1e-9


def parameters(model: ClusterModel) -> tuple[np.ndarray, tuple[str, ...]]:
    """List the inertial parameters in the order of the columns of ``pc.computeJointTorqueRegressor``.

    Each body has ten parameters: mass [kg], first moment [kg m] and inertia about the origin of its joint [kg m^2], as
    in Pinocchio's ``toDynamicParameters``. The parameters of a body include each ``Rotor`` with an ``inertia`` on this
    body, but exclude rods. The last entries are the axial inertia of each ``Rotor`` [kg m^2], each non-zero
    armature [kg m^2] or [kg], and the mass of each rod with mass [kg].

    Args:
        model: Cluster model.

    Returns:
        Values, shape (parameters,), and one label per value, such as ``"knee: mass"``.

    Raises:
        ArgumentTypeError: ``model`` is not a cluster model.

    Example:
        >>> import pin_clusters as pc
        >>> values, labels = pc.parameters(pc.load("four_bar"))
        >>> len(values), labels[0]
        (30, 'crank: mass')
    """
    check_model(model, "parameters")
    tree, columns = model.own_tree, parameter_columns(model)
    bodies = [tree.inertias[j].toDynamicParameters() for j in range(1, tree.njoints)]
    for r in columns.rotors:
        if r.inertia is not None and r.carrier_id:
            bodies[r.carrier_id - 1] = bodies[r.carrier_id - 1] + r.placement.act(r.inertia).toDynamicParameters()
    values = [
        *bodies,
        [r.axial_inertia for r in columns.rotors],
        model.inertia_tree.armature[list(columns.armatures)],
        [rod.mass for rod in columns.rods],
    ]
    labels = [f"{name}: {quantity}" for name in list(tree.names)[1:] for quantity in _OF_A_BODY]
    labels += [f"{r.name}: axial inertia" for r in columns.rotors]
    labels += [f"{_joint_of(model, iv)}: armature" for iv in columns.armatures]
    labels += [f"{rod.source.label}: mass" for rod in columns.rods]
    return np.concatenate([np.ravel(x) for x in values]) if values else np.zeros(0), tuple(labels)


def with_parameters(model: ClusterModel, values: ArrayLike) -> ClusterModel:
    """Create a model with other inertial parameters, without compiling its dynamics again.

    All models that differ only in these parameters share compiled functions, which read the parameters from memory.
    The functions of ``pc.specialise``, which contain the parameters as constants, are faster.

    If a ``Rotor`` has an ``inertia``, the ``Rotor`` of the new model has only an ``axial_inertia``, because the
    parameters of the carrier contain the rest of the inertia. A rotor that is a body of the tree is not lumped if its
    new inertia is unbalanced. Rods and armatures whose new value is zero are not parameters of the new model.

    Args:
        model: Cluster model.
        values: Parameters in the order and units of ``pc.parameters``, shape (parameters,).

    Returns:
        A new model with the same constraints, reference configuration and names.

    Raises:
        ShapeError: The number of values differs from the number of parameters of the model.
        ArgumentTypeError: An argument has a wrong type.
        InertiaError: A value is not finite; a mass, an armature or an axial inertia is negative; or the inertia of a
            body is physically impossible. Bodies with unchanged or uniformly scaled parameters are not checked.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> values, labels = pc.parameters(model)
        >>> heavier = pc.with_parameters(model, 2.0 * values)
        >>> float(heavier.tree.inertias[1].mass / model.tree.inertias[1].mass)
        2.0
    """
    present, labels = parameters(model)
    values = array("with_parameters: values", values)
    if values.size != present.size:
        raise ShapeError(
            f"with_parameters: values has size {values.size}, but model {model.name!r} has {present.size} "
            "parameters. pc.parameters(model) returns their values and labels."
        )
    if not np.all(np.isfinite(values)):
        i = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InertiaError(f"with_parameters: {labels[i]} is {values[i]}; it must be finite.")
    columns, tree = parameter_columns(model), model.own_tree.copy()
    for i in range(10 * columns.bodies, columns.width):
        if values[i] < 0.0 and values[i] != present[i]:
            raise InertiaError(f"with_parameters: {labels[i]} is {values[i]:g}; it must not be negative.")
    locked = {r.carrier_id for r in columns.rotors if r.inertia is not None}
    for j in range(1, tree.njoints):
        body = slice(10 * j - 10, 10 * j)
        if j in locked or not np.array_equal(values[body], present[body]):
            share = values[body][0] / present[body][0] if present[body][0] > 0.0 < values[body][0] else 1.0
            checked = not np.allclose(values[body], share * present[body], rtol=1e-12, atol=0.0)
            tree.inertias[j] = _inertia(values[body], tree.names[j], checked)
    armature = np.array(tree.armature)
    armature[list(columns.armatures)] = values[columns.armatures_from : columns.rods_from]
    tree.armature = armature
    changed: dict[int, Any] = {}
    for r, value in zip(columns.rotors, values[columns.rotors_from :], strict=False):
        if r.inertia is not None or value != r.axial_inertia:
            changed[id(r.source)] = dataclasses.replace(r.source, axial_inertia=float(value), inertia=None)
    for rod, value in zip(columns.rods, values[columns.rods_from :], strict=True):
        if value != rod.mass:
            changed[id(rod.source)] = rod.source.with_mass(float(value))
    constraints = tuple(changed.get(id(c), c) for c in model.constraints)
    return alike(model, tree, constraints, make=varied)


def _joint_of(model: ClusterModel, iv: int) -> str:
    """Return the name of the joint of entry v_tree[iv], with an index if the joint has several velocities."""
    tree = model.own_tree
    j = joint_in_v(tree, iv)
    return str(tree.names[j]) + (f" {iv - tree.idx_vs[j]}" if tree.nvs[j] > 1 else "")


def _inertia(x: np.ndarray, name: str, checked: bool) -> pin.Inertia:
    """Convert ten parameters to an inertia; if ``checked``, raise an error for a physically impossible inertia."""
    mass, h = float(x[0]), x[1:4]
    about_origin = np.array([[x[4], x[5], x[7]], [x[5], x[6], x[8]], [x[7], x[8], x[9]]])
    lever = h / mass if mass else np.zeros(3)
    about_center = about_origin + mass * pin.skew(lever) @ pin.skew(lever)
    cure = "Constrain the estimation to parameters of real bodies, or keep the old parameters of this body."
    if checked and mass < 0.0:
        raise InertiaError(f"with_parameters: body {name!r} has mass {mass:g}; it must not be negative. {cure}")
    if checked and not mass and np.any(h):
        raise InertiaError(f"with_parameters: body {name!r} has first moment {h.tolist()} but no mass. {cure}")
    if checked:
        moments = np.linalg.eigvalsh(np.trace(about_center) / 2.0 * np.eye(3) - about_center)
        if moments[0] < -_ROUNDING * max(float(np.abs(about_origin).max()), 1e-15):
            a, b, c = np.linalg.eigvalsh(about_center)
            raise InertiaError(
                f"with_parameters: no real body has the inertia of {name!r}: its principal moments about the "
                f"centre of mass are {a:g}, {b:g}, {c:g} kg m^2. No moment may be negative or exceed the "
                f"sum of the other two. {cure}"
            )
    return pin.Inertia(mass, lever, (about_center + about_center.T) / 2.0)
