"""Everything that a model-based controller asks for, at once."""

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
    """Where ``computeAllTerms`` writes what a whole-body controller asks for: made once, filled in each cycle.

    All arrays are views of one block, always the same: read them, put no others in their place. In the reference frame
    ``J[i] @ a + spatial_drift[i]`` is what ``getFrameAcceleration`` returns of frame i, ``J[i] @ a +
    classical_drift[i]`` what ``getFrameClassicalAcceleration`` does, which is zero of a point that stays where it is.

    Attributes:
        frames: Ids of the n frames.
        reference_frame: Of J, velocities and drifts, as for ``getFrameJacobian``.
        M: Mass matrix, shape (nv, nv).
        nle: Nonlinear effects, shape (nv,).
        g: Gravity torques, shape (nv,).
        oMf: Placements in the world, homogeneous, shape (n, 4, 4); ``pin.SE3(oMf[i])``.
        J: Jacobians, shape (n, 6, nv), [linear; angular].
        velocity: J v, shape (n, 6).
        spatial_drift: Spatial accelerations at zero independent acceleration, shape (n, 6).
        classical_drift: Classical ones, those of the origins, shape (n, 6).
        com: Centre of mass, shape (3,), [m].
        vcom: Its velocity, shape (3,).
        acom: Its acceleration at zero independent acceleration: the drift of ``Jcom``, shape (3,).
        Jcom: Its Jacobian, shape (3, nv).
    """

    __slots__ = (
        "J", "Jcom", "M", "_block", "_model", "_of_kernel", "_places", "acom", "classical_drift", "com", "frames", "g",
        "nle", "oMf", "reference_frame", "spatial_drift", "vcom", "velocity",
    )  # fmt: skip

    def __init__(self, model: ClusterModel, frames: Any, reference_frame: pin.ReferenceFrame = pin.LOCAL) -> None:
        """Make the arrays, of zeros.

        Args:
            model: Cluster model.
            frames: Names or ids of frames, none twice.
            reference_frame: ``pin.LOCAL``, ``pin.WORLD`` or ``pin.LOCAL_WORLD_ALIGNED``.

        Raises:
            UnknownNameError: There is no such frame.
            ArgumentTypeError: A type is wrong, or a frame is given twice.
        """
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
        """Pickle and copy the numbers; the arrays of a copy are its own."""
        return FrameTerms, (self._model, self.frames, self.reference_frame), self._block

    def __setstate__(self, numbers: np.ndarray) -> None:
        self._block[:] = numbers


def _plans(data: ClusterData, function: Any) -> tuple[Any, ...]:
    """Return the plan of ``computeAllTerms`` without frames."""
    form = _plan(data, function, None)
    return () if form is None else (form.plan(),)


_WRITTEN = bits("liMi oMi v J com mass vcom hg Ag Ig Jcom M nle g")


def _plan(data: ClusterData, function: Any, terms: FrameTerms | None) -> Any:
    """Return a form of a call with the arrays of these terms; None if some kernel is missing."""
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
    mine = data._derivatives  # rooms of results that nobody asked for
    arrays = (
        {"M_out": mine.scratch, "nle_out": mine.tau, "g_out": mine.tau}
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
    """Compute the kinematics, M, the nonlinear effects, gravity, Jacobians, momentum and energies.

    Args:
        data: Its workspace; fills ``oMi``, ``v``, ``M``, ``nle``, ``g``, ``J``, ``Jcom``, ``com``, ``vcom``, ``mass``,
            ``Ag``, ``hg``, ``kinetic_energy``, ``potential_energy`` and ``mechanical_energy``; with frames also ``a``,
            ``acom`` and ``dhg`` at zero independent acceleration, which are the drifts of joints, of the centre of mass
            and of the momentum.
        frames: Names or ids of frames of which placements, Jacobians, velocities and drifts are wanted.
        reference_frame: Theirs, ``pin.LOCAL`` if it is not given.
        out: In place of both: where to write that, made once, as each call with ``frames`` makes new arrays.

    Returns:
        With ``frames`` or ``out`` their ``FrameTerms``, M, nle and the centre of mass among them; else None.

    Raises:
        UnknownNameError (frames): There is no such frame.
        DataMismatchError: ``data`` or ``out`` belongs to another model.

    References:
        Pinocchio's ``computeAllTerms``; the functions that it calls name their own.

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
        raise ArgumentTypeError("reference_frame needs frames, of which Jacobians and drifts are expressed in it.")
    q, v = _check.state(model, data, q, v)
    if terms is not None and (np.may_share_memory(terms._block, q) or np.may_share_memory(terms._block, v)):
        raise ArgumentTypeError("q or v is part of out, which is written while they are read. Pass a copy.")
    # what the next ones write in data
    q, v = (x.copy() if x.base is data._nle.base else x for x in (q, v))
    M = crba(model, data, q)
    computeMechanicalEnergy(model, data, q, v)
    nle = nonLinearEffects(model, data, q, v)
    g = computeGeneralizedGravity(model, data, q)
    rest = None if terms is None else data._zeros
    what = _OWING if rest is None else _WITH_FRAMES
    _tree.compute(model, data, what, q, v, *(() if rest is None else (rest,)))
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
    """See that terms are those of a model, and nothing else is asked for."""
    if type(out) is not FrameTerms:
        raise ArgumentTypeError(f"out must be a pc.FrameTerms, made once for its frames, got {type(out).__name__}.")
    if frames is not None or reference_frame is not None:
        raise ArgumentTypeError("out has its own frames and reference frame: leave frames and reference_frame out.")
    if out._model is not model:
        raise DataMismatchError(f"out was made by another model ({out._model!r}). Use pc.FrameTerms of this model.")
