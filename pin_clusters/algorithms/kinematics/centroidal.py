"""Centre of mass and momentum, with the mass and the spin of the rotors that are no bodies, and rods with mass."""

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ...compiler.calls import Form, fast, of_tree
from ...errors import ArgumentTypeError
from ...model import NOTHING, ClusterData, ClusterModel, also_pinocchios, is_pinocchios
from .._shared import bridge as _bridge
from .._shared import check as _check
from .._shared import paying as _paying
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
_FLAG = (bool, np.bool_, int, np.integer)  # Pinocchio takes whole numbers as well
_COMMON = """
References:
    Orin, Goswami, Lee, "Centroidal dynamics of a humanoid robot", Autonomous Robots 35 (2013).
"""
_RATE = """
Args:
    data: Its workspace; ``data.dAg`` keeps the result, ``data.Ag`` the matrix, ``data.hg`` the momentum.
        ``data.tree.J`` and ``data.tree.dJ`` are filled as well.

Returns:
    Shape (6, nv), [linear; angular], in axes of the world; a fresh array.
"""
_documented = _check.documented(_COMMON)
_rate = _check.documented(_COMMON, _RATE)


_of_states = of_tree(
    _CENTERS_OF_ALL, "q", "q v", "q v a", copies="_com", flag=("compute_subtree_coms", MOTION | CENTERS)
)


def _of_centers(data: ClusterData, function: Any) -> tuple[Any, ...]:
    """Return the plans of ``centerOfMass``: of states, and of what the last ``forwardKinematics`` left."""
    levels = pin.POSITION, pin.VELOCITY, pin.ACCELERATION
    if lumps(data.model):  # Pinocchio does not know the masses of rods
        left = [
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
        left = [
            _left(data, function, level, at, flag)
            for level in (None, *levels)
            for at in (("q", "kinematic_level") if level is not None else ("",))
            for flag in ("", "compute_subtree_coms", "v" if at == "q" else "q")
            if flag != "q" or at != "kinematic_level"
        ]
    return (*_of_states(data, function), *left)


def _left(data: ClusterData, function: Any, level: Any, at: str, flag: str) -> Any:
    """Return the plan of what ``forwardKinematics`` left, with a level and a flag by the names of their positions."""
    form = Form(data, function, f"{at} {flag}")
    if at:
        form.checks.append(("member", form.positions[at], pin.KinematicLevel, int(level), -1))
    if flag:
        form.checks.append(("truth", form.positions[flag]))
    level = pin.ACCELERATION if level is None else level
    given = level, form.positions[flag] if flag else True
    form.checks.append(("owes", data._owed_words, OF_TREE))
    form.reads_tree()
    form.call(pin.centerOfMass, data.model.inertia_tree, data._tree, *given)
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
    """Compute the centre of mass (with v, its velocity; with a, its acceleration).

    Fills ``data.com``, ``data.vcom``, ``data.acom`` and ``data.mass``, index 0 for the whole robot.

    Args:
        q: Configuration of the whole tree, shape (nq,). Without it, after ``forwardKinematics``.
        a: Independent acceleration, shape (nv,), [rad/s^2] or [m/s^2]; needs v.
        compute_subtree_coms: Also for the subtree of every joint, in its frame. It may also come last by position, in
            the place of q, v or a, as in Pinocchio.
        kinematic_level: In the place of q, by position or by name: how much to compute of what ``forwardKinematics``
            left: ``pin.POSITION``, ``pin.VELOCITY`` or ``pin.ACCELERATION``.

    Returns:
        Position in the world, shape (3,), [m]; a fresh array.

    Raises:
        ArgumentTypeError: A type is wrong, v comes without q, or a without v.

    References:
        Pinocchio's ``centerOfMass``, with the mass of all rotors.
    """
    subtrees = bool(compute_subtree_coms)
    state, level = [q, v, a], kinematic_level
    for i, x in enumerate(state):  # what may stand in the place of one of them
        if isinstance(x, pin.KinematicLevel):
            level, state[i] = x, None
        elif isinstance(x, _FLAG):
            subtrees, state[i] = bool(x), None
    q, v, a = state
    if is_pinocchios(model, data):
        given = [x for x in (q, v, a, level) if x is not None]
        return np.asarray(pin.centerOfMass(model, data, *given, subtrees))
    _check.model_data(model, data)
    if (v is not None and q is None) or (a is not None and v is None) or (level is not None and q is not None):
        raise ArgumentTypeError(
            "centerOfMass: v needs q, a needs v, and a kinematic_level needs none of them: (model, data[, q[, v[, "
            "a]]]) or (model, data, kinematic_level)."
        )
    if q is None:
        return _centers_left(model, data, pin.ACCELERATION if level is None else level, subtrees)
    what = _CENTERS_OF_ALL if subtrees else MOTION | CENTERS
    q = _check.pose(model, data, q)
    if v is None:
        _tree.place(model, data, what, q)
    else:
        _tree.compute(model, data, what, q, *_check.rates(model, v, a))
    return data._com.copy()


def _centers_left(model: ClusterModel, data: ClusterData, level: pin.KinematicLevel, subtrees: bool) -> np.ndarray:
    """Return the centre of mass of what ``forwardKinematics`` left, up to a level."""
    tree, moved, posed = data.tree, data._section("seen_q", model.nq), data._section("posed_q", model.nq)
    known = level == pin.POSITION or (data._section("seen", 1)[0] >= int(level) and np.array_equal(moved, posed))
    if lumps(model) and known:  # Pinocchio does not know the masses of rods
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
    """Compute the Jacobian of the centre of mass: its velocity is J v.

    Args:
        data: Its workspace; ``data.Jcom`` keeps the result, ``data.com`` and ``data.mass`` are filled.
        q: Configuration of the whole tree, shape (nq,); by default the last one that a function of this package was
            given. Motions of ``data.tree`` by Pinocchio's own functions do not count.
        compute_subtree_coms: Also fill ``data.com`` of the subtree of every joint, in the world.

    Returns:
        Shape (3, nv), in the world; a fresh array.

    References:
        Pinocchio's ``jacobianCenterOfMass`` with the mass of all rotors, times G.
    """
    subtrees = bool(compute_subtree_coms)
    if isinstance(q, _FLAG):  # in the place of q, as in Pinocchio
        q, subtrees = None, bool(q)
    what = _JCOM | WORLD if subtrees else _JCOM
    if is_pinocchios(model, data):
        return np.asarray(pin.jacobianCenterOfMass(model, data, *([] if q is None else [q]), subtrees))
    _check.model_data(model, data)
    if q is None:
        q = data._last_pose("jacobianCenterOfMass")
    _tree.compute(model, data, what, _check.pose(model, data, q))
    return data._Jcom.copy()


@fast(of_tree(MOTION | CENTERS | MOMENTUM, "q v", copy_of="_hg", last="q v"))
@also_pinocchios
@_documented
def computeCentroidalMomentum(
    model: ClusterModel, data: ClusterData, q: ArrayLike | None = None, v: ArrayLike | None = None
) -> pin.Force:
    """Compute the momentum about the centre of mass, the spin of all rotors included.

    Without a state it is that of the last ``forwardKinematics`` with v.

    Args:
        data: Its workspace; ``data.hg`` keeps the result, ``data.com[0]`` and the kinematics are filled.

    Returns:
        [linear; angular], in axes of the world, [kg m/s] and [kg m^2/s].
    """
    if q is None and v is None:
        q, v = _check.last_motion(model, data, 1, "computeCentroidalMomentum")
    _tree.compute(model, data, MOTION | CENTERS | MOMENTUM, *_check.state(model, data, q, v))
    return data._hg.copy()


@fast(of_tree(_MAP, "q", copies="_Ag"))
@also_pinocchios
@_documented
def computeCentroidalMap(model: ClusterModel, data: ClusterData, q: ArrayLike) -> np.ndarray:
    """Compute the centroidal momentum matrix: momentum about the centre of mass = A v.

    Args:
        data: Its workspace; ``data.Ag`` keeps the result.

    Returns:
        Shape (6, nv), [linear; angular], in axes of the world; a fresh array.
    """
    _tree.compute(model, data, _MAP, _check.pose(model, data, q))
    return data._Ag.copy()


@fast(of_tree(_CCRBA, "q v", copies="_Ag"))
@also_pinocchios
@_documented
def ccrba(model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Compute the centroidal momentum matrix and the momentum.

    Args:
        data: Its workspace; ``data.Ag`` keeps the matrix, ``data.hg`` the momentum.

    Returns:
        Shape (6, nv), [linear; angular], in axes of the world; a fresh array.
    """
    _tree.compute(model, data, _CCRBA, *_check.state(model, data, q, v))
    return data._Ag.copy()


@fast(of_tree(_MAP_RATE, "q v", copies="_dAg"))
@also_pinocchios
@_rate
def computeCentroidalMapTimeVariation(model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Compute the time derivative of the centroidal momentum matrix, the spin of all rotors included.

    The rate of the momentum is ``Ag a + dAg v``.
    """
    return dccrba(model, data, q, v)


@fast(of_tree(_MAP_RATE, "q v", copies="_dAg"))
@also_pinocchios
@_rate
def dccrba(model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Compute the time derivative of the centroidal momentum matrix; ``computeCentroidalMapTimeVariation``."""
    _tree.compute(model, data, _MAP_RATE, *_check.state(model, data, q, v))
    return data._dAg.copy()


def _of_center(data: ClusterData, function: Any) -> tuple[Any, ...]:
    """Return the plan of the derivatives of the centre of mass."""
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
    """Return the derivative of the velocity of the centre of mass by q along ``pc.integrate``, v held.

    It is that at the last state of ``centerOfMass``, ``computeAllTerms`` or ``forwardKinematics`` with v. The
    derivative by v is ``jacobianCenterOfMass``.

    Returns:
        Shape (3, nv), in the world; a fresh array.

    Raises:
        NotComputedError: None of these was called before with v.
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
    """Compute the time derivative of the momentum about the centre of mass, the spin of all rotors included.

    Without a state it is that of the last ``forwardKinematics`` with v and a.

    Args:
        data: Its workspace; ``data.hg`` keeps the momentum, ``data.dhg`` its derivative.

    Returns:
        [linear; angular], in axes of the world, [N] and [N m].
    """
    if q is None and v is None and a is None:
        q, v, a = _check.last_motion(model, data, 2, "computeCentroidalMomentumTimeVariation")
    _tree.compute(model, data, _MOMENTUM_RATE, *_check.motion(model, data, q, v, a))
    return data._dhg.copy()


_paying.by(computeCentroidalMap, 1, "Ag")
_paying.by(dccrba, 2, "dAg")
_paying.by(ccrba, 2, "Ig", "hg")
_paying.by(centerOfMass, 1, "com", "mass")
_paying.by(centerOfMass, 2, "vcom")
_paying.by(jacobianCenterOfMass, 1, "Jcom")
_paying.by(computeCentroidalMomentumTimeVariation, 3, "dhg")
