"""One function that computes kinematics, dynamics and frame terms for a model-based controller."""

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ...compiler.calls import fast, is_fast
from ...compiler.calls.state import leave_energies
from ...compiler.calls.tree import begin, couple, run_tree
from ...compiler.operations import CRBA, ENERGY, FRAME_TERMS, RNEA, TREE
from ...compiler.owed import OWED, bits, owing
from ...errors import ArgumentTypeError, DataMismatchError
from ...kernels.tables import tree_layout as tl
from ...model import ClusterData, ClusterModel, also_pinocchios, check_model
from .._shared import check as _check
from .._shared import ids as _ids
from .._shared import tree as _tree
from .crba import crba
from .energy import computeMechanicalEnergy
from .rnea import computeGeneralizedGravity, nonLinearEffects

_MOST_TERMS = 4
_ALL = tl.MOTION | tl.COLUMNS | tl.CENTERS | tl.SUBTREES | tl.MOMENTUM | tl.MAP | tl.JCOM | tl.WHOLE

_OWING = owing(_ALL, "computeAllTerms")
_WITH_FRAMES = owing(_ALL, "computeAllTerms with frames")


class FrameTerms:
    """Preallocated results of ``computeAllTerms`` for a whole-body controller.

    All arrays are views of one memory block. Read these arrays, but do not replace them. The acceleration of frame i is
    ``J[i] @ a + spatial_drift[i]`` (``getFrameAcceleration``) or ``J[i] @ a + classical_drift[i]``
    (``getFrameClassicalAcceleration``). The classical drift of a fixed point is zero.

    Args:
        model: Cluster model.
        frames: Names or ids of frames, without duplicates.
        reference_frame: ``pin.LOCAL``, ``pin.WORLD`` or ``pin.LOCAL_WORLD_ALIGNED``.

    Attributes:
        frames: Ids of the n frames.
        reference_frame: Frame in which J, velocities and drifts are expressed, as in ``getFrameJacobian``.
        M: Mass matrix, shape (nv, nv), [kg m^2], [kg m] or [kg].
        nle: Coriolis, centrifugal, gyroscopic and gravity torques, shape (nv,), [N m] or [N].
        g: Gravity torques, shape (nv,), [N m] or [N].
        oMf: Placements in the world as homogeneous matrices, shape (n, 4, 4). ``pin.SE3(oMf[i])`` converts a matrix.
        J: Jacobians, shape (n, 6, nv), [linear; angular].
        velocity: Frame velocities J v, shape (n, 6), [m/s] and [rad/s].
        spatial_drift: Spatial accelerations for a = 0, shape (n, 6), [m/s^2] and [rad/s^2].
        classical_drift: Classical accelerations of the frame origins for a = 0, shape (n, 6).
        com: Centre of mass in the world, shape (3,), [m].
        vcom: Velocity of the centre of mass, shape (3,), [m/s].
        acom: Drift of the centre of mass, which is its acceleration for a = 0, shape (3,), [m/s^2].
        Jcom: Jacobian of the centre of mass, shape (3, nv).

    Raises:
        UnknownNameError: The model has no such frame.
        ArgumentTypeError: An argument has a wrong type, or a frame occurs twice.

    Example:
        >>> import pin_clusters as pc
        >>> terms = pc.FrameTerms(pc.load("four_bar"), ["coupler"])
        >>> terms.J.shape, terms.M.shape, terms.oMf.shape
        ((1, 6, 1), (1, 1), (1, 4, 4))
    """

    __slots__ = (
        "J", "Jcom", "M", "_block", "_model", "_of_kernel", "_places", "acom", "classical_drift", "com", "frames", "g",
        "nle", "oMf", "reference_frame", "spatial_drift", "vcom", "velocity",
    )  # fmt: skip

    def __init__(self, model: ClusterModel, frames: Any, reference_frame: pin.ReferenceFrame = pin.LOCAL) -> None:
        check_model(model, cure="FrameTerms takes (model, frames, reference_frame).")
        self._model, self.reference_frame = model, _ids.reference(reference_frame)
        self.frames = tuple(_ids.frames(model, "frames", frames))
        n, nv = len(self.frames), model.nv
        sizes = 6 * nv * n, 3 * nv, tl.FRAME_NUMBERS * n, 9, nv * nv, nv, nv
        self._block = np.zeros(sum(sizes))
        J, Jcom, of_frames, of_center, M, self.nle, self.g = np.split(self._block, np.cumsum(sizes)[:-1])
        self.J, self.Jcom, self.M = J.reshape(n, 6, nv), Jcom.reshape(3, nv), M.reshape(nv, nv)
        placed, self.velocity, self.spatial_drift, self.classical_drift = np.split(
            of_frames.reshape(n, tl.FRAME_NUMBERS), [16, 22, 28], axis=1
        )
        self.oMf = placed.reshape(n, 4, 4)
        self.com, self.vcom, self.acom = of_center.reshape(3, 3)
        self._places, self._of_kernel = model.njoints + np.array(self.frames), self._block[: sum(sizes[:4])]

    def __reduce__(self) -> tuple[Any, ...]:
        return FrameTerms, (self._model, self.frames, self.reference_frame), self._block

    def __setstate__(self, numbers: np.ndarray) -> None:
        self._block[:] = numbers


def _plans(data: ClusterData, function: Any) -> tuple[Any, ...]:
    form = _plan(data, function, None)
    return () if form is None else (form.plan(),)


_WRITTEN = bits("liMi oMi v J com mass vcom hg Ag Ig Jcom M nle g")


def _plan(data: ClusterData, function: Any, terms: FrameTerms | None) -> Any:
    begun = begin(data, function, TREE, "q v" + " out" * (terms is not None))
    codes = {
        operation: data._code(name, operation.name)
        for name, operation in (("crba", CRBA), ("computeMechanicalEnergy", ENERGY), ("terms", FRAME_TERMS))
    }
    nle, gravity = (data._code(name, RNEA.name) for name in ("nonLinearEffects", "computeGeneralizedGravity"))
    needed = [codes[CRBA], codes[ENERGY], nle, gravity, *[codes[FRAME_TERMS]] * (terms is not None)]
    if begun is None or not all(needed):
        return None
    form, code = begun
    results = (data._tau, data._ddq, data._nle, data._g)
    form.checks += [("apart", form.size(x), form.word(x), y.size, y) for x in ("q", "v") for y in results]
    if terms is not None:
        form.checks.append(("same", form.positions["out"], terms))
        block = terms._block
        form.checks += [("apart", form.size(x), form.word(x), block.size, block) for x in ("q", "v")]
    if not couple(form, "v"):
        return None
    derivatives = data._derivatives  # without terms, the kernel still needs arrays for these results
    arrays = (
        {"M_out": derivatives.scratch, "nle_out": derivatives.tau, "g_out": derivatives.tau}
        if terms is None
        else {"M_out": terms.M, "nle_out": terms.nle, "g_out": terms.g}
    )
    form.arrays |= arrays
    pointers = data._pointers
    form.run(CRBA, codes[CRBA], pointers["M"], "q M_out")
    form.run(ENERGY, codes[ENERGY], pointers["energy"], "q v")
    owed = OWED["computeAllTerms" + " with frames" * (terms is not None)]
    owed = owed._replace(writes=_WRITTEN | bits("a dhg") * (terms is not None))
    run_tree(form, code, _ALL, "q v" if terms is None else "q v zeros", also=owed)
    if terms is not None:
        form.arrays |= {"places": terms._places, "to": terms._of_kernel}
        numbers = {"reference": int(terms.reference_frame)}
        form.run(FRAME_TERMS, codes[FRAME_TERMS], data._tree_tables, "places reference to", numbers)
    form.run(RNEA, nle, pointers["nle"], "q v zeros nle_out")
    form.run(RNEA, gravity, pointers["g"], "q zeros zeros g_out")
    leave_energies(form)
    form.work.append(("copy", data._M.size, data._M, data._M_kernel))
    if terms is not None:
        form.results.append(("thing", terms))
    return form


@fast(_plans)
@also_pinocchios
@_check.documented()
def computeAllTerms(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike,
    v: ArrayLike,
    *,
    frames: Any = None,
    reference_frame: pin.ReferenceFrame | None = None,
    out: FrameTerms | None = None,
) -> FrameTerms | None:
    """Compute kinematics, mass matrix, nonlinear effects, gravity torques, Jacobians, momentum and energies.

    Args:
        data: Workspace. The function fills ``oMi``, ``v``, ``M``, ``nle``, ``g``, ``J``, ``Jcom``, ``com``, ``vcom``,
            ``mass``, ``Ag``, ``hg``, ``kinetic_energy``, ``potential_energy`` and ``mechanical_energy``. If frames are
            given, it also fills ``a``, ``acom`` and ``dhg`` with the drift terms, which are the values for a = 0.
        frames: Names or ids of the frames whose placements, Jacobians, velocities and drifts are computed.
        reference_frame: Reference frame of the results for ``frames``; ``pin.LOCAL`` by default.
        out: Preallocated results. Without ``out``, the function allocates results for ``frames``, if they are given.

    Returns:
        A ``FrameTerms`` object if ``frames`` or ``out`` was passed, otherwise None. ``FrameTerms`` lists the units.

    Raises:
        UnknownNameError (frames): The model has no such frame.
        DataMismatchError: ``data`` or ``out`` belongs to another model.

    References:
        Pinocchio's ``computeAllTerms``; the individual functions cite their sources.

    Example:
        >>> import numpy as np, pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("tello")
        >>> data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
        >>> terms = pc.FrameTerms(model, ["left_sole", "right_sole"], pin.LOCAL_WORLD_ALIGNED)
        >>> pc.computeAllTerms(model, data, q, v, out=terms).J.shape
        (2, 6, 16)
        >>> bool(np.allclose(terms.J @ v, terms.velocity))
        True
    """
    terms = out
    if terms is not None:
        _see(model, terms, frames, reference_frame)
    elif frames is not None:
        terms = FrameTerms(model, frames, pin.LOCAL if reference_frame is None else reference_frame)
    elif reference_frame is not None:
        raise ArgumentTypeError("reference_frame has no effect without frames. Pass frames, or omit reference_frame.")
    q, v = _check.state(model, data, q, v)
    if terms is not None and (np.may_share_memory(terms._block, q) or np.may_share_memory(terms._block, v)):
        raise ArgumentTypeError("q or v shares memory with out, which this call overwrites. Pass a copy of q or v.")
    # Copy q or v if it is a field of data that the functions below overwrite.
    q, v = (x.copy() if x.base is data._nle.base else x for x in (q, v))
    M = crba(model, data, q)
    computeMechanicalEnergy(model, data, q, v)
    nle = nonLinearEffects(model, data, q, v)
    g = computeGeneralizedGravity(model, data, q)
    zeros = None if terms is None else data._zeros
    outputs = _OWING if zeros is None else _WITH_FRAMES
    _tree.compute(model, data, outputs, q, v, *(() if zeros is None else (zeros,)))
    if terms is not None:
        reference = int(terms.reference_frame)
        data._run_in_tree("frame_terms", data._tree_tables, terms._places, reference, terms._of_kernel)
        terms.M[:], terms.nle[:], terms.g[:] = M, nle, g
        if out is not None and is_fast(computeAllTerms):
            form = _plan(data, computeAllTerms, terms)
            if form is not None:
                form.remember(_MOST_TERMS)
    return terms


def _see(model: ClusterModel, out: Any, frames: Any, reference_frame: Any) -> None:
    if type(out) is not FrameTerms:
        raise ArgumentTypeError(f"out must be a pc.FrameTerms(model, frames, ...), got {type(out).__name__}.")
    if frames is not None or reference_frame is not None:
        raise ArgumentTypeError("out already defines frames and reference_frame. Omit these two arguments.")
    if out._model is not model:
        raise DataMismatchError(f"out was created for another model ({out._model!r}). Use pc.FrameTerms(model, ...).")
