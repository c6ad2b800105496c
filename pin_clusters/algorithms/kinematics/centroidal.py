"""Centre of mass and momentum of the robot, including its lumped rotors and rods with mass."""

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ...compiler.calls import Form, fast, of_tree
from ...errors import ArgumentTypeError
from ...model import NOTHING, ClusterData, ClusterModel, also_pinocchios, is_pinocchios
from .._shared import bridge as _bridge
from .._shared import check as _check
from .._shared import on_demand as _on_demand
from .._shared import tree as _tree
from .._shared.rods import add_to_centers, lumps

from ...compiler.calls.tree import begin, differentiate  # isort: skip
from ...compiler.operations import CENTER_RATES  # isort: skip
from ...compiler.owed import OF_TREE, Owed, bits, owing  # isort: skip
from ...kernels.tables.tree_layout import CENTERS, JCOM, MAP, MAP_RATE, MOMENTUM  # isort: skip
from ...kernels.tables.tree_layout import MOTION, QUIET, RATES, SUBTREES, WHOLE, WORLD  # isort: skip

_CENTERS_OF_ALL = MOTION | CENTERS | SUBTREES
_QUIETLY = _CENTERS_OF_ALL | QUIET
_JCOM = owing(JCOM, "jacobianCenterOfMass")
_MAP = owing(MAP, "computeCentroidalMap")
_CCRBA = owing(MAP | WHOLE | MOMENTUM, "ccrba")
_MAP_RATE = owing(MAP | MAP_RATE | WHOLE | MOMENTUM | RATES, "dccrba")
_MOMENTUM_RATE = owing(MOTION | CENTERS | MOMENTUM, "computeCentroidalMomentumTimeVariation")
_FLAG = (bool, np.bool_, int, np.integer)  # like Pinocchio, functions accept integers as flags
_COMMON = """
References:
    Orin, Goswami, Lee, "Centroidal dynamics of a humanoid robot", Autonomous Robots 35 (2013).
"""
_RATE = """
Args:
    data: Workspace. The function stores the result in ``data.dAg``, A in ``data.Ag`` and the momentum in ``data.hg``.
        It also fills ``data.tree.J`` and ``data.tree.dJ``.

Returns:
    dA/dt, shape (6, nv), [linear; angular], in world axes, [N] and [N m] per [rad/s] or [m/s]; a new array.

Example:
    >>> import pin_clusters as pc
    >>> model = pc.load("four_bar")
    >>> pc.{name}(model, model.createData(), pc.neutral(model), [1.0]).shape
    (6, 1)
"""
_documented = _check.documented(_COMMON)
_rate = _check.documented(_COMMON, _RATE)


_of_states = of_tree(
    _CENTERS_OF_ALL, "q", "q v", "q v a", copies="_com", flag=("compute_subtree_coms", MOTION | CENTERS)
)


def _of_centers(data: ClusterData, function: Any) -> tuple[Any, ...]:
    levels = pin.POSITION, pin.VELOCITY, pin.ACCELERATION
    if lumps(data.model):  # Pinocchio ignores the masses of rods
        after_kinematics = [
            plan
            for names in ("q", "q v", "q v a")
            for plan in of_tree(
                _CENTERS_OF_ALL,
                copies="_com",
                last=names,
                flag=("compute_subtree_coms", MOTION | CENTERS),
                level_at=("kinematic_level", "q"),
            )(data, function)
        ]
    else:
        after_kinematics = [
            _plan_after_kinematics(data, function, level, position, flag)
            for level in (None, *levels)
            for position in (("q", "kinematic_level") if level is not None else ("",))
            for flag in ("", "compute_subtree_coms", "v" if position == "q" else "q")
            if flag != "q" or position != "kinematic_level"
        ]
    return (*_of_states(data, function), *after_kinematics)


def _plan_after_kinematics(data: ClusterData, function: Any, level: Any, position: str, flag: str) -> Any:
    form = Form(data, function, f"{position} {flag}")
    if position:
        form.checks.append(("member", form.positions[position], pin.KinematicLevel, int(level), -1))
    if flag:
        form.checks.append(("truth", form.positions[flag]))
    level = pin.ACCELERATION if level is None else level
    arguments = level, form.positions[flag] if flag else True
    form.checks.append(("owes", data._owed_words, OF_TREE))
    form.reads_tree()
    form.call(pin.centerOfMass, data.model.inertia_tree, data._tree, *arguments)
    form.owes(Owed(0, writes=bits("com mass" + " vcom" * (level > 0))), [])
    return form.plan()


@fast(_of_centers)
@_documented
def centerOfMass(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    a: ArrayLike | None = None,
    compute_subtree_coms: bool = True,
    *,
    kinematic_level: pin.KinematicLevel | None = None,
) -> np.ndarray:
    """Compute the centre of mass, its velocity if v is given, and its acceleration if v and a are given.

    The function fills ``data.com``, ``data.vcom``, ``data.acom`` and ``data.mass``. Index 0 refers to the whole robot.

    Args:
        q: Configuration of the spanning tree, shape (nq,). The default is the state of the last ``forwardKinematics``.
        a: Independent acceleration, shape (nv,), [rad/s^2] or [m/s^2]; requires v.
        compute_subtree_coms: Whether to also compute the centre of mass of each joint's subtree, in the joint frame. As
            in Pinocchio, this flag can be passed in place of q, v or a.
        kinematic_level: ``pin.POSITION``, ``pin.VELOCITY`` or ``pin.ACCELERATION``. If a level is passed
            instead of q, the function uses the last ``forwardKinematics`` up to this level of derivatives.

    Returns:
        Position of the centre of mass in the world, shape (3,), [m]; a new array.

    Raises:
        ArgumentTypeError: An argument has a wrong type, v is passed without q, or a is passed without v.

    References:
        Pinocchio's ``centerOfMass``. The masses of all rotors are included.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.centerOfMass(model, model.createData(), pc.neutral(model)).round(4)
        array([0.1768, 0.    , 0.1562])
    """
    subtrees = bool(compute_subtree_coms)
    state, level = [q, v, a], kinematic_level
    for i, x in enumerate(state):  # as in Pinocchio, a level or a flag can be passed in place of q, v or a
        if isinstance(x, pin.KinematicLevel):
            level, state[i] = x, None
        elif isinstance(x, _FLAG):
            subtrees, state[i] = bool(x), None
    q, v, a = state
    if is_pinocchios(model, data):
        arguments = [x for x in (q, v, a, level) if x is not None]
        return np.asarray(pin.centerOfMass(model, data, *arguments, subtrees))
    _check.model_data(model, data)
    if (v is not None and q is None) or (a is not None and v is None) or (level is not None and q is not None):
        raise ArgumentTypeError(
            "centerOfMass: v requires q, a requires v, and kinematic_level excludes q, v and a. Call (model, data[, "
            "q[, v[, a]]]) or (model, data, kinematic_level)."
        )
    if q is None:
        return _from_last_kinematics(model, data, pin.ACCELERATION if level is None else level, subtrees)
    outputs = _CENTERS_OF_ALL if subtrees else MOTION | CENTERS
    q = _check.pose(model, data, q)
    if v is None:
        _tree.place(model, data, outputs, q)
    else:
        _tree.compute(model, data, outputs, q, *_check.rates(model, v, a))
    return data._com.copy()


def _from_last_kinematics(
    model: ClusterModel, data: ClusterData, level: pin.KinematicLevel, subtrees: bool
) -> np.ndarray:
    tree, moved, posed = data.tree, data._section("seen_q", model.nq), data._section("posed_q", model.nq)
    available = level == pin.POSITION or (data._section("seen", 1)[0] >= int(level) and np.array_equal(moved, posed))
    if lumps(model) and available:  # Pinocchio ignores the masses of rods
        name, needed = "centerOfMass", "forwardKinematics(model, data, q, v, a)"
        state = data._last(int(level), name, needed) if level != pin.POSITION else [data._last_pose(name)]
        _tree.compute(model, data, _CENTERS_OF_ALL if subtrees else MOTION | CENTERS, *state)
        return data._com.copy()
    pin.centerOfMass(model.inertia_tree, tree, level, subtrees)
    add_to_centers(model, data, 1 + int(level), subtrees)
    data._note(bits("com mass" + " vcom" * (level != pin.POSITION)))
    return np.array(data._tree.com[0])


@fast(of_tree(_JCOM | WORLD, "q", copies="_Jcom", flag=("compute_subtree_coms", _JCOM), last="q"))
@_documented
def jacobianCenterOfMass(
    model: ClusterModel, data: ClusterData, q: ArrayLike | None = None, compute_subtree_coms: bool = True
) -> np.ndarray:
    """Compute the Jacobian J of the centre of mass. The velocity of the centre of mass is J v.

    Args:
        data: Workspace. The function stores the result in ``data.Jcom`` and fills ``data.com`` and ``data.mass``.
        q: Configuration of the spanning tree, shape (nq,). The default is the last q passed to a function of this
            package; calls of Pinocchio functions with ``data.tree`` do not change this default.
        compute_subtree_coms: Whether to also store the centres of mass of all subtrees in ``data.com``, in the world.

    Returns:
        Jacobian, shape (3, nv), in world axes, [m/rad] or [m/m]; a new array.

    References:
        Pinocchio's ``jacobianCenterOfMass``, multiplied by G. The masses of all rotors are included.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.jacobianCenterOfMass(model, model.createData(), pc.neutral(model)).round(4).ravel()
        array([0.0553, 0.    , 0.0153])
    """
    subtrees = bool(compute_subtree_coms)
    if isinstance(q, _FLAG):  # as in Pinocchio, the flag can be passed in place of q
        q, subtrees = None, bool(q)
    outputs = _JCOM | WORLD if subtrees else _JCOM
    if is_pinocchios(model, data):
        return np.asarray(pin.jacobianCenterOfMass(model, data, *([] if q is None else [q]), subtrees))
    _check.model_data(model, data)
    if q is None:
        q = data._last_pose("jacobianCenterOfMass")
    _tree.compute(model, data, outputs, _check.pose(model, data, q))
    return data._Jcom.copy()


@fast(of_tree(MOTION | CENTERS | MOMENTUM, "q v", copy_of="_hg", last="q v"))
@also_pinocchios
@_documented
def computeCentroidalMomentum(
    model: ClusterModel, data: ClusterData, q: ArrayLike | None = None, v: ArrayLike | None = None
) -> pin.Force:
    """Compute the momentum about the centre of mass, including the spin of all rotors.

    Without q and v, the function uses the state of the last ``forwardKinematics`` with v.

    Args:
        data: Workspace. The function stores the result in ``data.hg`` and fills ``data.com[0]``, ``oMi`` and ``v``.

    Returns:
        Momentum, [linear; angular], in world axes, [kg m/s] and [kg m^2/s].

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.computeCentroidalMomentum(model, model.createData(), pc.neutral(model), [1.0]).linear.round(4)
        array([0.0404, 0.    , 0.0111])
    """
    if q is None and v is None:
        q, v = _check.last_motion(model, data, 1, "computeCentroidalMomentum")
    _tree.compute(model, data, MOTION | CENTERS | MOMENTUM, *_check.state(model, data, q, v))
    return data._hg.copy()


@fast(of_tree(_MAP, "q", copies="_Ag"))
@also_pinocchios
@_documented
def computeCentroidalMap(model: ClusterModel, data: ClusterData, q: ArrayLike) -> np.ndarray:
    """Compute the centroidal momentum matrix A. The momentum about the centre of mass is A v.

    Args:
        data: Workspace; ``data.Ag`` stores the result as well.

    Returns:
        A, shape (6, nv), [linear; angular], in world axes, [kg m/s] and [kg m^2/s] per [rad/s] or [m/s]; a new array.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.computeCentroidalMap(model, model.createData(), pc.neutral(model)).shape
        (6, 1)
    """
    _tree.compute(model, data, _MAP, _check.pose(model, data, q))
    return data._Ag.copy()


@fast(of_tree(_CCRBA, "q v", copies="_Ag"))
@also_pinocchios
@_documented
def ccrba(model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Compute the centroidal momentum matrix A and the momentum A v about the centre of mass.

    Args:
        data: Workspace; ``data.Ag`` stores A, and ``data.hg`` stores the momentum.

    Returns:
        A, shape (6, nv), [linear; angular], in world axes, [kg m/s] and [kg m^2/s] per [rad/s] or [m/s]; a new array.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data = model.createData()
        >>> A = pc.ccrba(model, data, pc.neutral(model), [1.0])
        >>> bool(np.allclose(A @ [1.0], data.hg.vector))
        True
    """
    _tree.compute(model, data, _CCRBA, *_check.state(model, data, q, v))
    return data._Ag.copy()


@fast(of_tree(_MAP_RATE, "q v", copies="_dAg"))
@also_pinocchios
@_rate
def computeCentroidalMapTimeVariation(model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Compute the time derivative of the centroidal momentum matrix A, including the spin of all rotors.

    The time derivative of the momentum is ``Ag a + dAg v``, where ``dAg`` is the result.
    """
    return dccrba(model, data, q, v)


@fast(of_tree(_MAP_RATE, "q v", copies="_dAg"))
@also_pinocchios
@_rate
def dccrba(model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Compute the time derivative of the centroidal momentum matrix A; see ``computeCentroidalMapTimeVariation``."""
    _tree.compute(model, data, _MAP_RATE, *_check.state(model, data, q, v))
    return data._dAg.copy()


def _of_center(data: ClusterData, function: Any) -> tuple[Any, ...]:
    begun = begin(data, function, CENTER_RATES, "")
    if begun is None:
        return ()
    form, code = begun
    if data.model.closures:
        form.checks.append(("reaches", data._section("seen", 1), 1))
        form.arrays |= {
            "seen_q": data._section("seen_q", data.model.nq),
            "seen_v": data._section("seen_v", data.model.nv),
        }
    if not differentiate(form, "seen_q seen_v -", data._turned):
        return ()
    form.run(CENTER_RATES, code, data._tree_tables, "+of_point")
    return (form.plan(),)


@fast(_of_center)
@also_pinocchios
@_check.documented(
    """
    References:
        Pinocchio's ``{name}``, with the mass of all rotors.
    """
)
def getCenterOfMassVelocityDerivatives(model: ClusterModel, data: ClusterData) -> np.ndarray:
    """Compute the derivative of the centre-of-mass velocity with respect to q along ``pc.integrate``, for constant v.

    The function uses the state of the last ``centerOfMass``, ``computeAllTerms`` or ``forwardKinematics`` with v. The
    derivative with respect to v is ``jacobianCenterOfMass``.

    Returns:
        Derivative, shape (3, nv), in world axes, [m/s] per [rad] or [m]; a new array.

    Raises:
        NotComputedError: No earlier call computed the velocities of the joints.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data = model.createData()
        >>> _ = pc.centerOfMass(model, data, pc.neutral(model), [1.0])
        >>> pc.getCenterOfMassVelocityDerivatives(model, data).shape
        (3, 1)
    """
    _check.model_data(model, data)
    q, v = data._last(1, "getCenterOfMassVelocityDerivatives", "centerOfMass(model, data, q, v)")
    _bridge.derivatives(model, data, q, v, NOTHING, data._turned)
    if not data._standing:
        _bridge.bring(model, data, q, v)
        data._run_tree(_QUIETLY, q, v)
    result = np.empty((3, model.nv))
    data._run_in_tree("center_rates", data._tree_tables, result)
    return result


@fast(of_tree(_MOMENTUM_RATE, "q v a", copy_of="_dhg", last="q v a"))
@also_pinocchios
@_documented
def computeCentroidalMomentumTimeVariation(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    a: ArrayLike | None = None,
) -> pin.Force:
    """Compute the time derivative of the momentum about the centre of mass, including the spin of all rotors.

    Without q, v and a, the function uses the state of the last ``forwardKinematics`` with v and a.

    Args:
        data: Workspace; ``data.hg`` stores the momentum, and ``data.dhg`` stores its time derivative.

    Returns:
        Time derivative of the momentum, [linear; angular], in world axes, [N] and [N m].

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> q = pc.neutral(model)
        >>> pc.computeCentroidalMomentumTimeVariation(model, model.createData(), q, [1.0], [0.0]).linear.round(4)
        array([-0.0185,  0.    , -0.0353])
    """
    if q is None and v is None and a is None:
        q, v, a = _check.last_motion(model, data, 2, "computeCentroidalMomentumTimeVariation")
    _tree.compute(model, data, _MOMENTUM_RATE, *_check.motion(model, data, q, v, a))
    return data._dhg.copy()


_on_demand.register(computeCentroidalMap, 1, "Ag")
_on_demand.register(dccrba, 2, "dAg")
_on_demand.register(ccrba, 2, "Ig", "hg")
_on_demand.register(centerOfMass, 1, "com", "mass")
_on_demand.register(centerOfMass, 2, "vcom")
_on_demand.register(jacobianCenterOfMass, 1, "Jcom")
_on_demand.register(computeCentroidalMomentumTimeVariation, 3, "dhg")
