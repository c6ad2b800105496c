"""Everything that a model-based controller asks for, at once."""

from typing import Any

import numpy as np
import pinocchio as pin

from ..._engine.calls import Desk, records
from ..._engine.kernels.tables import tree_layout as tl
from ..._engine.native.words import address_of
from ..._engine.owed import owing
from ...errors import ArgumentTypeError, DataMismatchError
from ...model import ClusterData, ClusterModel, check_model, is_pinocchios
from .._shared import check as _check
from .._shared import ids as _ids
from .._shared import tree as _tree
from .._shared.quick import quick_terms, quick_tree
from .crba import crba
from .energy import computeMechanicalEnergy
from .rnea import computeGeneralizedGravity, nonLinearEffects

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
        "J", "Jcom", "M", "_block", "_desk", "_model", "acom", "classical_drift", "com", "frames", "g", "nle", "oMf",
        "reference_frame", "spatial_drift", "vcom", "velocity",
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
        self._desk = Desk(records.TermsPlan(
            model=model._index, what=_ALL, reference=int(self.reference_frame),
            places=model.njoints + np.array(self.frames), frames=self._block[: sum(sizes[:4])], M=M, nle=self.nle,
            g=self.g, end=address_of(self._block) + self._block.nbytes,
        ))  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the numbers; the arrays of a copy are its own."""
        return FrameTerms, (self._model, self.frames, self.reference_frame), self._block

    def __setstate__(self, numbers: np.ndarray) -> None:
        self._block[:] = numbers


@_check.documented()
def computeAllTerms(
    model: ClusterModel, data: ClusterData, q: Any, v: Any, *, frames: Any = None,
    reference_frame: pin.ReferenceFrame | None = None, out: FrameTerms | None = None,
) -> FrameTerms | None:  # fmt: skip
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
    if terms is not None and quick_terms(model, data, q, v, terms._desk):
        return terms
    if type(model) is not ClusterModel and terms is None and is_pinocchios(model, data):
        pin.computeAllTerms(model, data, q, v)
        return None
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
    if not quick_tree(model, data, what, q, v, rest):
        _tree.compute(model, data, what, q, v, *(() if rest is None else (rest,)))
    if terms is not None:
        plan = terms._desk.record
        data._run_in_tree("frame_terms", data._tree_tables, plan.places, plan.reference, plan.frames)
        plan.M[:], plan.nle[:], plan.g[:] = M.ravel(), nle, g
    return terms


def _see(model: ClusterModel, out: Any, frames: Any, reference_frame: Any) -> None:
    """See that terms are those of a model, and nothing else is asked for."""
    if type(out) is not FrameTerms:
        raise ArgumentTypeError(f"out must be a pc.FrameTerms, made once for its frames, got {type(out).__name__}.")
    if frames is not None or reference_frame is not None:
        raise ArgumentTypeError("out has its own frames and reference frame: leave frames and reference_frame out.")
    if out._model is not model:
        raise DataMismatchError(f"out was made by another model ({out._model!r}). Use pc.FrameTerms of this model.")
