"""Masses, inertias and centres of mass of subtrees, including the masses of all rotors and rods."""

import ctypes
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ...compiler.calls import Form, fast, of_pinocchio, register
from ...compiler.calls.tree import begin, couple, run_tree, take_motion
from ...compiler.operations import SUBTREE_JACOBIAN, TREE
from ...compiler.owed import OF_TREE, bits
from ...errors import ArgumentTypeError, shown
from ...kernels.tables.tree_layout import MOTION
from ...model import ClusterData, ClusterModel, also_pinocchios, check_model
from .._shared import bridge as _bridge
from .._shared import check as _check
from .._shared import ids as _ids
from .._shared import tree as _tree
from .._shared.rods import lumps

_OF_BODY = bits("v a_gf")
_ROOT = "subtree_root_joint_id"
_documented = _check.documented(
    """
    Args:
        subtree_root_joint_id: ``model.getJointId(name)`` of the joint that carries the subtree; 0 is the whole robot.

    References:
        Pinocchio's ``{name}``, with the masses of rotors and rods.
    """,
    solves=False,
)


def _of_masses(owner: Any, function: Any) -> tuple[Any, ...]:
    form = Form(owner, function, "")
    has_data, total = isinstance(owner, ClusterData), function.__name__ == "computeTotalMass"
    masses = np.array(form.model.tables.tree.masses, dtype=float)
    if has_data and not lumps(form.model):
        return (of_pinocchio(form, getattr(pin, function.__name__), read=OF_TREE, inertia=True),)
    if has_data:
        row = next(row for row, name in form.model.tables.tree.fields if name == "mass")
        if row in owner._other_fields:
            return ()
        form.reads_tree()
        address, n = int(owner._tree_tables.arrays[0][row, 2]), 1 if total else len(masses)
        stored = np.ctypeslib.as_array((ctypes.c_double * n).from_address(address))
        form.work.append(("copy", n, stored, masses[:n].copy()))
    if total:
        mass = masses[0] if lumps(form.model) else pin.computeTotalMass(form.model.inertia_tree)
        form.results.append(("number", np.array([mass])))
    return (form.plan(),)


@fast(_of_masses)
@also_pinocchios
@_documented
def computeTotalMass(model: ClusterModel, data: ClusterData | None = None) -> float:
    """Compute the mass of the robot, excluding bodies that are fixed to the universe.

    Args:
        data: Optional workspace; ``data.mass[0]`` stores the result as well.

    Returns:
        Mass, [kg].

    Example:
        >>> import pin_clusters as pc
        >>> round(pc.computeTotalMass(pc.load("four_bar")), 3)
        0.73
    """
    check_model(model, cure="computeTotalMass takes (model[, data]).")
    if not lumps(model):
        if data is None:
            return pin.computeTotalMass(model.inertia_tree)
        _check.model_data(model, data)
        return pin.computeTotalMass(model.inertia_tree, data.tree)
    total = float(model.tables.tree.masses[0])
    if data is not None:
        _check.model_data(model, data)
        data.tree.mass[0] = total
    return total


@fast(_of_masses)
@also_pinocchios
@_documented
def computeSubtreeMasses(model: ClusterModel, data: ClusterData) -> None:
    """Compute ``data.mass``, the mass of each joint's subtree, [kg]. Index 0 refers to the whole robot.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data = model.createData()
        >>> pc.computeSubtreeMasses(model, data)
        >>> [round(m, 3) for m in data.mass]
        [0.73, 0.39, 0.29, 0.34]
    """
    _check.model_data(model, data)
    if not lumps(model):
        pin.computeSubtreeMasses(model.inertia_tree, data.tree)
        return
    masses = data.tree.mass
    for j, mass in enumerate(model.tables.tree.masses):
        masses[j] = float(mass)


def _of_subtree(data: ClusterData, function: Any) -> tuple[Any, ...]:
    plans = []
    for pose, joint in (("q", _ROOT), ("", _ROOT), ("", "q")):
        if "q" in (pose, joint) and "q" not in function.positions:
            continue
        begun, code = begin(data, function, SUBTREE_JACOBIAN, f"{pose} {joint}"), data._code("", TREE.name)
        if begun is None or not code:
            return ()
        form = begun[0]
        if not pose:
            form.arrays |= take_motion(form, ["q"])
        if not couple(form):
            return ()
        if pose:
            run_tree(form, code, MOTION, "q")
        words = form.run(SUBTREE_JACOBIAN, begun[1], data._tree_tables, "q . +of_point")
        form.checks.append(("index", form.positions[joint], data.model.njoints, 0, words.word("joint")))
        plans.append(form.plan())
    return tuple(plans)


@fast(_of_subtree)
@also_pinocchios
@_documented
def jacobianSubtreeCenterOfMass(
    model: ClusterModel, data: ClusterData, q: ArrayLike | None = None, subtree_root_joint_id: Any = None
) -> np.ndarray:
    """Compute the Jacobian of a subtree's centre of mass.

    Args:
        q: Configuration of the spanning tree, shape (nq,). The default is the last q passed to a function of this
            package, not to Pinocchio functions with ``data.tree``. To use the default, pass the joint id instead of q.

    Returns:
        Jacobian, shape (3, nv), in world axes, [m/rad] or [m/m]; a new array.

    Raises:
        SingularClusterError: At q, the loops do not determine the velocities of the dependent joints.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.jacobianSubtreeCenterOfMass(model, model.createData(), pc.neutral(model), 3).shape
        (3, 1)
    """
    if subtree_root_joint_id is None:
        q, subtree_root_joint_id = None, q
    _check.model_data(model, data)
    root, result = _ids.joint(model, subtree_root_joint_id), np.empty((3, model.nv))
    if q is None:
        q = data._last_pose("jacobianSubtreeCenterOfMass")
    else:
        q = _check.pose(model, data, q)
        _tree.compute(model, data, MOTION, q)
    # The kernel computes the placements from q, because robot-specific code does not store them in the workspace.
    _bridge.bring(model, data, q, data._zeros)
    data._run_in_tree(SUBTREE_JACOBIAN.name, data._tree_tables, q, root, result)
    return result


@fast(_of_subtree)
@also_pinocchios
@_documented
def getJacobianSubtreeCenterOfMass(model: ClusterModel, data: ClusterData, subtree_root_joint_id: int) -> np.ndarray:
    """Return the Jacobian of a subtree's centre of mass; call ``jacobianCenterOfMass`` first.

    Returns:
        Jacobian, shape (3, nv), in world axes, [m/rad] or [m/m]; a new array.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data = model.createData()
        >>> _ = pc.jacobianCenterOfMass(model, data, pc.neutral(model))
        >>> pc.getJacobianSubtreeCenterOfMass(model, data, 3).shape
        (3, 1)
    """
    return jacobianSubtreeCenterOfMass(model, data, subtree_root_joint_id)


def _of_supported(data: ClusterData, function: Any) -> tuple[Any, ...]:
    form = Form(data, function, "frame_id with_subtree")
    form.checks.append(("index", form.positions["frame_id"], data.model.nframes, 0, register()))
    form.checks.append(("truth", form.positions["with_subtree"]))
    names = "frame_id", "with_subtree"
    return (of_pinocchio(form, pin.computeSupportedInertiaByFrame, *names, read=OF_TREE, inertia=True),)


@fast(_of_supported)
@also_pinocchios
@_documented
def computeSupportedInertiaByFrame(
    model: ClusterModel, data: ClusterData, frame_id: int, with_subtree: bool
) -> pin.Inertia:
    """Compute the inertia, expressed in a frame, of the links that the frame carries rigidly.

    Call ``forwardKinematics`` first.

    Args:
        with_subtree: Whether to also include the links that these links carry through joints.

    Returns:
        Inertia, [kg] and [kg m^2]. It includes lumped rotors as parts of their carriers, and the end masses of rods.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data = model.createData()
        >>> pc.forwardKinematics(model, data, pc.neutral(model))
        >>> round(pc.computeSupportedInertiaByFrame(model, data, model.getFrameId("crank"), True).mass, 3)
        0.29
    """
    _check.model_data(model, data)
    if not isinstance(with_subtree, (bool, np.bool_, int, np.integer)):
        raise ArgumentTypeError(f"with_subtree must be True or False, got {shown(with_subtree)}.")
    where = _ids.frame(model, frame_id), bool(with_subtree)
    return pin.computeSupportedInertiaByFrame(model.inertia_tree, data.tree, *where)


@also_pinocchios
@_documented
def computeSupportedForceByFrame(model: ClusterModel, data: ClusterData, frame_id: int) -> pin.Force:
    """Compute the force, expressed in a frame, that supports all links that the frame carries.

    Call ``rnea`` without external forces first.

    Returns:
        Force that accelerates these links and compensates gravity, [linear; angular], [N] and [N m]. It includes the
        gyroscopic effects of the rotors on these links.

    Raises:
        NotComputedError: ``rnea`` was not called or was called with external forces, or the model has closed loops.

    Example:
        >>> import numpy as np, pinocchio as pin, pin_clusters as pc
        >>> model = pc.ClusterModel(pin.buildSampleModelManipulator())
        >>> data, v = model.createData(), np.zeros(model.nv)
        >>> _ = pc.rnea(model, data, pc.neutral(model), v, v)
        >>> pc.computeSupportedForceByFrame(model, data, model.getFrameId("elbow_joint")).vector.shape
        (6,)
    """
    _check.model_data(model, data)
    tree, frame = model.own_tree, model.own_tree.frames[_ids.frame(model, frame_id)]
    j, placement = frame.parentJoint, frame.placement
    f, v, a = data.f[j], data.v[j], data.a_gf[j]
    reaction = f - _moving(tree.inertias[j], v, a) if j else pin.Force.Zero()  # force of joints and rotors on the link
    carried = pin.computeSupportedInertiaByFrame(tree, data.tree, frame_id, False)
    return placement.actInv(reaction) + _moving(carried, placement.actInv(v), placement.actInv(a))


def _moving(inertia: pin.Inertia, v: pin.Motion, a: pin.Motion) -> pin.Force:
    return inertia * a + inertia.vxiv(v)


def _of_body(data: ClusterData, function: Any) -> tuple[Any, ...]:
    name = "frame_id" if "frame_id" in function.positions else "joint_id"
    form = Form(data, function, name)
    limit = data.model.nframes if name == "frame_id" else data.model.njoints
    form.checks.append(("index", form.positions[name], limit, 0, register()))
    return (of_pinocchio(form, getattr(pin, function.__name__), name, read=_OF_BODY),)


@fast(_of_body)
@also_pinocchios
@_documented
def jointBodyRegressor(model: ClusterModel, data: ClusterData, joint_id: int) -> np.ndarray:
    """Compute the regressor of a joint's body: the force on the body is the regressor times its ten parameters.

    Call ``rnea`` first, because this function reads ``data.v`` and ``data.a_gf``.

    Returns:
        Regressor, shape (6, 10), in the frame of the joint, [N] and [N m] per unit of the parameter; a new array.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data = model.createData()
        >>> _ = pc.rnea(model, data, pc.neutral(model), [1.0], [0.0])
        >>> pc.jointBodyRegressor(model, data, 3).shape
        (6, 10)
    """
    _check.model_data(model, data)
    data._bring(_OF_BODY)
    return pin.jointBodyRegressor(model.own_tree, data._tree, _ids.joint(model, joint_id))


@fast(_of_body)
@also_pinocchios
@_documented
def frameBodyRegressor(model: ClusterModel, data: ClusterData, frame_id: int) -> np.ndarray:
    """Compute the regressor of the body with this frame, expressed in the frame; see ``jointBodyRegressor``.

    Returns:
        Regressor, shape (6, 10), in the frame, [N] and [N m] per unit of the parameter; a new array.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data = model.createData()
        >>> _ = pc.rnea(model, data, pc.neutral(model), [1.0], [0.0])
        >>> pc.frameBodyRegressor(model, data, model.getFrameId("rocker_link")).shape
        (6, 10)
    """
    _check.model_data(model, data)
    data._bring(_OF_BODY)
    return pin.frameBodyRegressor(model.own_tree, data._tree, _ids.frame(model, frame_id))
