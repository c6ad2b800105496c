"""Compute the error of the approximations as a function of the gear ratio, at constant reflected inertia.

If a motor's gear ratio is multiplied by f and its rotor inertia by 1 / f^2, the reflected inertia does not change. The
error of the armature approximation changes: gyroscopic moments of rotors on moving carriers are proportional to ratio
times inertia, so they decrease as 1 / f. The off-diagonal terms of belts do not depend on f.
"""

import dataclasses
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support import old_names
from ..._support.trees import coordinate, set_coordinate
from ...compiler.choice import engine
from ...constraints import LinearCoupling, Rotor
from ...constraints.rows import Row
from ...errors import ArgumentTypeError, InertiaError, ModelError
from ...model import ClusterModel, check_model
from ...verification.timing import Progress
from .. import study
from ..pages.results import Result
from .engine import run as sweep
from .result import SweepError

FACTORS = (1.0 / 3.0, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0)
"""Default factors by which all gear ratios are multiplied."""


@dataclass(frozen=True, eq=False)
class RatioSweep(Result):
    """Errors of the approximations for several factors by which all gear ratios are multiplied.

    Attributes:
        robot: Name of the robot.
        factors: Factors by which all ratios are multiplied, shape (F,).
        joints: Names of the joints that the motion moves.
        units: Unit of each joint's torque.
        ratios: Largest original gear ratio, in magnitude, of the rotors that each joint drives, shape (joints,). It is
            NaN for joints without rotors.
        levels: Names of the approximation levels.
        rms: RMS torque errors, shape (F, levels, joints), [N m] or [N].
        peak: Largest magnitude of the exact torques, shape (F, joints), [N m] or [N].
        motion: Description of the motion.
        drop_rotors: Whether the approximations omit the masses of the rotors.
        kept: Names of rotors that the sweep does not change. Rotors driven by closed loops have no constant ratio.
    """

    robot: str
    factors: np.ndarray
    joints: tuple[str, ...]
    units: tuple[str, ...]
    ratios: np.ndarray
    levels: tuple[str, ...]
    rungs = old_names.attribute("levels")
    rms: np.ndarray
    peak: np.ndarray
    motion: str
    drop_rotors: bool
    kept: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return all results for JSON."""
        return {
            "robot": self.robot,
            "motion": self.motion,
            "rotors_of_approximations": "dropped" if self.drop_rotors else "locked into their carriers",
            "scaling": "ratios multiplied by factor, rotor inertias divided by factor^2: equal reflected inertia",
            "rotors_left_as_they_are": list(self.kept),
            "joints": list(self.joints),
            "units": list(self.units),
            "ratio_at_factor_1": [None if np.isnan(x) else float(x) for x in self.ratios],
            "factors": self.factors.tolist(),
            "rms_error": {level: self._by_joint(self.rms[:, r]) for r, level in enumerate(self.levels)},
            "max_exact": self._by_joint(self.peak),
        }

    def _by_joint(self, values: np.ndarray) -> dict[str, list[float]]:
        return dict(zip(self.joints, values.T.tolist(), strict=True))


@engine("tables")  # each case has another robot, so robot-specific code would not pay off
def run(
    model: ClusterModel,
    factors: Sequence[float] = FACTORS,
    *,
    drop_rotors: bool = False,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    **motion: Any,
) -> RatioSweep:
    """Compute the errors of the approximations for several gear ratios, at constant reflected inertia.

    Args:
        model: The robot, which must have rotors.
        factors: Positive factors by which all gear ratios are multiplied.
        drop_rotors: As in ``study.run``.
        executor: As in ``sweeps.run``.
        workers: As in ``sweeps.run``.
        progress: As in ``sweeps.run``.
        **motion: ``amplitude``, ``frequency``, ``duration``, ``dt`` of a ``study.Sine`` with all joints in phase.

    Returns:
        RMS errors and peak torques for each factor.

    Raises:
        ArgumentTypeError: A factor is not a positive number.
        ModelError: The robot has no rotor with a constant ratio, or it has no approximations.
        SweepError: The study failed for a factor.
    """
    values = np.asarray(factors, dtype=float).ravel()
    if not values.size or not np.all(np.isfinite(values)) or np.any(values <= 0.0):
        raise ArgumentTypeError(f"factors must be finite and greater than 0, got {np.asarray(factors).tolist()}.")
    values = np.unique(values)
    cases = [scaled(model, f) for f in values.tolist()]
    first = study.Sine(**motion, in_phase=True)
    function = partial(_errors, drop_rotors=drop_rotors, sine=first)
    result = sweep(function, cases, executor=executor, workers=workers, chunk=1, progress=progress)
    if result.failures:
        failure = result.failures[0]
        raise SweepError(
            f"the study of {model.name!r} failed for factor {values[failure.case]:g} and {len(result.failures) - 1} "
            f"other factors: {failure.type}: {failure.message}",
            result,
        )
    joints, units, levels = (tuple(map(str, result[key][0])) for key in ("joints", "units", "rungs"))
    columns = [model.joint_idx_v(name) for name in joints]
    largest = np.max([np.abs(r.row[columns]) for r in model.rotors], axis=0)
    amplitude = f"{float(result['amplitude'].min()):g}"
    return RatioSweep(
        robot=model.name,
        factors=values,
        joints=joints,
        units=units,
        ratios=np.where(largest > 0.0, largest, np.nan),
        levels=levels,
        rms=result["rms"],
        peak=result["peak"],
        motion=f"{amplitude} sin(2 pi {first.frequency:g} Hz t) for {first.duration:g} s at every joint, base fixed",
        drop_rotors=drop_rotors,
        kept=_kept(model),
    )


def scaled(model: ClusterModel, factor: float) -> ClusterModel:
    """Return a robot whose rotors turn ``factor`` times faster and have 1 / factor^2 of the inertia.

    Reflected inertias, masses and centres of mass do not change. If a ``Rotor`` has only an axial inertia, the inertia
    of its carrier already includes the locked rotor and does not change either.

    Args:
        model: The robot.
        factor: Factor by which all ratios are multiplied, greater than 0.

    Returns:
        A new model.

    Raises:
        ModelError: The robot has no rotor with a constant ratio.
        InertiaError: The centre of mass of a rotor is not on its axis, so its reflected inertia depends on its mass.
    """
    check_model(model)
    bodies = _scalable(model)
    if not bodies and not any(r.joint_id is None for r in model.rotors):
        raise ModelError(
            f"model {model.name!r} has no rotor with a constant gear ratio"
            + (f": {', '.join(unscaled)} are motors of closed loops." if (unscaled := _kept(model)) else ".")
            + " Add a pc.Rotor, or a rotor in the tree with pc.Gear or pc.Belt."
        )
    tree, armature = model.tree.copy(), np.array(model.tree.armature)
    for j in bodies:
        body = tree.inertias[j]
        rotor = next(r for r in model.rotors if r.joint_id == j)
        axis = rotor.placement.rotation.T @ rotor.axis
        offset = float(np.linalg.norm(np.cross(axis, body.lever)))
        if body.mass > 0.0 and offset > 1e-9:
            raise InertiaError(
                f"the centre of mass of rotor {tree.names[j]!r} is {offset:g} m off its axis, so a larger ratio "
                "would increase the reflected inertia. Balance the rotor."
            )
        tree.inertias[j] = _slower(body, factor)
        armature[tree.idx_vs[j]] /= factor**2
    tree.armature = armature
    constraints: list[Any] = []
    for source in model.constraints:
        rows = [row for row in model.coupling_rows if row.source is source]
        if isinstance(source, Rotor):
            constraints.append(_rotor(model, source, factor, bodies))
        elif any(bodies & {row.dependent, *row.masters} for row in rows):
            constraints += [_coupling(model, row, factor, bodies) for row in rows]
        else:
            constraints.append(source)
    reference = _reference(model, constraints, bodies) if model.closures else None
    independent = model.independent_joints if model.closures else None
    return ClusterModel(
        tree, constraints, reference, independent=independent, name=model.name, collision=model.collision
    )


@engine("tables")
def _errors(case: ClusterModel, *, drop_rotors: bool, sine: study.Sine) -> dict[str, Any]:
    study_result = study.run(case, sine, drop_rotors=drop_rotors)
    return {
        "joints": np.array(study_result.joints),
        "units": np.array(study_result.units),
        "rungs": np.array(list(study_result.approximate)),
        "rms": np.array([study_result.rms_error[level] for level in study_result.approximate]),
        "peak": study_result.max_exact,
        "amplitude": float(getattr(study_result.trajectory, "amplitude", np.nan)),
    }


def _scalable(model: ClusterModel) -> set[int]:
    """Return the joint ids of rotors that are bodies and follow other joints with constant ratios."""
    rotors = {r.joint_id for r in model.rotors if r.joint_id is not None}
    return {row.dependent for row in model.coupling_rows if row.dependent in rotors}


def _kept(model: ClusterModel) -> tuple[str, ...]:
    with_ratio = _scalable(model) | {row.dependent for row in model.coupling_rows}
    return tuple(r.name for r in model.rotors if r.joint_id is not None and r.joint_id not in with_ratio)


def _coupling(model: ClusterModel, row: Row, factor: float, bodies: set[int]) -> LinearCoupling:
    names, follows = model.tree.names, row.dependent in bodies
    terms = {}
    for m, c in zip(row.masters, row.coefficients, strict=True):
        # A driving rotor already turns ``factor`` times faster. A link that follows a rotor must keep its old speed.
        leads = m in bodies
        terms[names[m]] = c * (1.0 if follows == leads else factor if follows else 1.0 / factor)
    return LinearCoupling(names[row.dependent], terms, row.offset)


def _rotor(model: ClusterModel, rotor: Rotor, factor: float, bodies: set[int]) -> Rotor:
    assert isinstance(rotor.ratios, tuple)
    element = next(r for r in model.rotors if r.source is rotor)
    faster = {model.tree.idx_vs[j] for j in bodies}  # driving rotors already turn ``factor`` times faster
    ratios = [
        ratio if iv in faster else ratio * factor for (iv, _), ratio in zip(element.drivers, rotor.ratios, strict=True)
    ]
    changes: dict[str, Any] = {"ratios": ratios}
    if rotor.inertia is None:
        assert rotor.axial_inertia is not None
        changes["axial_inertia"] = rotor.axial_inertia / factor**2
    else:
        changes["inertia"] = _slower(rotor.inertia, factor)
    return dataclasses.replace(rotor, **changes)


def _slower(body: pin.Inertia, factor: float) -> pin.Inertia:
    return pin.Inertia(body.mass, body.lever, body.inertia / factor**2)


def _reference(model: ClusterModel, constraints: Sequence[Any], bodies: set[int]) -> np.ndarray:
    tree, q = model.tree, np.array(model.q_reference)
    new = {row.dependent: row for c in constraints if isinstance(c, LinearCoupling) for row in c.rows(tree)}
    for old in model.coupling_rows:  # the rows are sorted, so that driving joints precede driven joints
        if old.dependent not in bodies:
            continue
        row = new[old.dependent]
        turned = sum(c * coordinate(tree, m, q) for m, c in zip(row.masters, row.coefficients, strict=True))
        set_coordinate(tree, old.dependent, q, row.offset + turned)
    return q
