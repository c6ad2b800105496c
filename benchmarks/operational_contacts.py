"""What is exact of a state, by both oracles, and errors of contacts and impacts; for ``operational_accuracy.py``.

Contacts are points and frames, of a body (a rotor's too) with the world and with another body, in their own axes and
in those of the world, with correctors and desired motions and without; alone, and two of them. Where their rows repeat
each other the desired acceleration is one that the robot can have, and the accelerations are compared, not the forces,
of which there are many. Left out, and counted, is what lies between: rows that nearly repeat each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin
from samples import trees

import pin_clusters as pc
from pin_clusters.verification import reference
from pin_clusters.verification.baselines import contacts as by_projection
from pin_clusters.verification.baselines import projection
from pin_clusters.verification.baselines._frames import rows_of_frames

DEPENDENT, INDEPENDENT = 1e-12, 1e-6
"""Eigenvalues of J M^-1 J', relative to the largest: below, rows repeat each other; above, they do not."""
MOVES = 1e-9
"""The largest eigenvalue of contacts that move at all, [1/kg] or [1/(kg m^2)]."""
KINDS = (pin.ContactType.CONTACT_3D, pin.ContactType.CONTACT_6D)


@dataclass
class Errors:
    """Worst errors, by function and oracle; how many contacts were tried; whether M was singular."""

    worst: dict[str, dict[str, float]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    singular: int = 0

    def keep(self, function: str, oracle: str, found: Any, exact: Any, condition: float, *terms: Any) -> None:
        """Note an error if it is the largest; NaN is.

        Args:
            function: What was called.
            oracle: What knows better.
            found: Result.
            exact: The oracle's.
            condition: Number by which rounding is amplified; the error is divided by it.
            terms: Of which the result is a sum; it is also divided by their largest entry, or the result's, or 1.
        """
        found, exact = np.asarray(found), np.asarray(exact)
        assert found.shape == exact.shape, (function, oracle, found.shape, exact.shape)
        size = max(1.0, *(float(np.abs(y).max(initial=0.0)) for y in (exact, *terms)))
        self.note(function, oracle, float(np.abs(found - exact).max(initial=0.0)) / size / condition)

    def note(self, function: str, oracle: str, error: float) -> None:
        """Note an error if it is the largest so far; NaN is."""
        by = self.worst.setdefault(function, {})
        by[oracle] = error if not error <= by.get(oracle, 0.0) else by.get(oracle, 0.0)

    def join(self, other: Errors) -> None:
        """Take what is worse elsewhere."""
        for function, by in other.worst.items():
            for oracle, error in by.items():
                self.note(function, oracle, error)
        self.counts += other.counts

    def summary(self) -> str:
        """Return the worst error of each oracle."""
        oracles = sorted({oracle for by in self.worst.values() for oracle in by})
        return "  ".join(f"{o} {max(by[o] for by in self.worst.values() if o in by):.1e}" for o in oracles)


class Exact:
    """A model at a configuration, and both oracles; the dense one knows no rods with mass."""

    def __init__(self, model: pc.ClusterModel, q: np.ndarray) -> None:
        self.model, self.q, self.data = model, q, model.createData()
        self.work = projection.createData(model)
        self.dense = self.work.rods is None
        self.M = projection.crba(model, self.work, q)
        self.masses = {"projection": self.M}
        if self.dense:
            self.masses["dense"] = reference.crba(model, q)
        self.condition = float(np.linalg.cond(self.M))

    def solve(self, oracle: str, right: np.ndarray) -> np.ndarray:
        """Return M^-1 times a matrix."""
        return np.linalg.solve(self.masses[oracle], right)

    def bias(self, oracle: str, v: np.ndarray) -> np.ndarray:
        """Return the torques at a = 0."""
        if oracle == "dense":
            return reference.nonLinearEffects(self.model, self.q, v)
        return projection.rnea(self.model, self.work, self.q, v, np.zeros(self.model.nv))

    def jacobians(self, names: list[str], axes: pin.ReferenceFrame) -> dict[str, np.ndarray]:
        """Return the rows of frames, by oracle."""
        model, q, work = self.model, self.q, self.work
        projection.crba(model, work, q)  # brings G there
        found = {"projection": rows_of_frames(model, work, work.configuration(q), names, axes, None) @ work.G}
        if self.dense:
            found["dense"] = reference.frame_jacobian(model, q, names, axes)
        return found

    def drift(self, oracle: str, names: list[str], axes: pin.ReferenceFrame, v: np.ndarray) -> np.ndarray:
        """Return the accelerations of frames at a = 0."""
        tree = self.model.tree
        if axes == pin.WORLD:  # not an axis of contacts: turned from that of the frames
            data, found = tree.createData(), self.drift(oracle, names, pin.LOCAL, v).reshape(-1, 6)
            pin.framesForwardKinematics(tree, data, self.q)
            poses = [data.oMf[tree.getFrameId(n)].toActionMatrix() for n in names]
            return np.concatenate([X @ a for X, a in zip(poses, found, strict=True)])
        touching = [_contact(self.model, KINDS[1], tree.frames[tree.getFrameId(n)], axes) for n in names]
        return -self.rows(oracle, v, touching)[1]

    def rows(self, oracle: str, v: np.ndarray, touching: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of contacts, and what they ask of the acceleration."""
        if oracle == "dense":
            return reference.contact_rows(self.model, self.q, v, touching)
        return by_projection.contact_rows(self.model, self.work, self.q, v, touching)


def _contact(model: pc.ClusterModel, kind: Any, frame: pin.Frame, axes: pin.ReferenceFrame) -> Any:
    """Return the contact of a frame with the world, at rest."""
    return pc.RigidConstraintModel(kind, model, int(frame.parentJoint), frame.placement, 0, pin.SE3.Identity(), axes)


def draw(x: Exact, rng: np.random.Generator, kinds: Sequence[Any]) -> list[Any]:
    """Return contacts at random; one on a rotor's body in half of the cases where there is one."""
    model, found = x.model, []
    rotors = [r.joint_id for r in model.rotors if r.joint_id is not None]
    axes = (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED)[int(rng.integers(2))]
    for kind in kinds:
        one = int(rng.choice(rotors)) if rotors and rng.random() < 0.5 else int(rng.integers(1, model.njoints))
        two = int(rng.integers(model.njoints)) if rng.random() < 0.5 else 0
        two = two if two != one else 0
        found.append(pc.RigidConstraintModel(kind, model, one, trees.placement(rng), two, trees.placement(rng), axes))
    return found


def ask(touching: Sequence[Any], rng: np.random.Generator) -> None:
    """Give contacts a corrector and a desired motion."""
    for c in touching:
        gains = c.m_baumgarte_parameters if hasattr(c, "m_baumgarte_parameters") else c.corrector
        gains.Kp, gains.Kd = float(rng.uniform(1.0, 40.0)), float(rng.uniform(1.0, 10.0))
        c.desired_contact_placement = trees.placement(rng)
        c.desired_contact_velocity = pin.Motion(rng.normal(size=6))
        c.desired_contact_acceleration = pin.Motion(rng.normal(size=6))


def possible(x: Exact, touching: Sequence[Any], v: np.ndarray, rng: np.random.Generator) -> None:
    """Let contacts ask for an acceleration that the robot can have."""
    for c in touching:
        c.desired_contact_acceleration = pin.Motion.Zero()
    J, rest = x.rows("dense" if x.dense else "projection", v, touching)
    missing, at = J @ rng.normal(size=x.model.nv) - rest, 0
    for c in touching:
        n = 3 if c.type == KINDS[0] else 6
        c.desired_contact_acceleration = pin.Motion(np.concatenate([missing[at : at + n], np.zeros(6 - n)]))
        at += n


def contacts(x: Exact, rng: np.random.Generator, errors: Errors) -> None:
    """Judge contacts and impacts."""
    for kinds in (KINDS[:1], KINDS[1:], KINDS, KINDS[:1] * 2):
        touching, (v, tau) = draw(x, rng, kinds), rng.normal(size=(2, x.model.nv))
        J = {oracle: x.rows(oracle, v, touching)[0] for oracle in x.masses}
        w = np.maximum(np.linalg.eigvalsh(J["projection"] @ x.solve("projection", J["projection"].T)), 0.0)
        used = w > DEPENDENT * w[-1]
        if not w[-1] > MOVES or w[used][0] < INDEPENDENT * w[-1]:
            errors.counts["left out"] += 1
            continue
        free = bool(used.all())
        errors.counts["independent" if free else "redundant"] += 1
        condition = x.condition * float(w[-1] / w[used][0])
        _delassus(x, J, touching, errors)
        _impacts(x, v, touching, rng, errors, condition)
        _rows(x, J["projection"], v, tau, rng, errors, condition)
        for corrected in (False, True) if x.dense else (False,):
            if corrected:
                ask(touching, rng)
            if not free:
                possible(x, touching, v, rng)
            _dynamics(x, v, tau, touching, errors, condition, ("dense",) if corrected else tuple(x.masses), free)


def _datas(touching: Sequence[Any]) -> list[Any]:
    return [c.createData() for c in touching]


def _delassus(x: Exact, J: dict[str, np.ndarray], touching: Sequence[Any], errors: Errors) -> None:
    found = pc.computeDelassusMatrix(x.model, x.data, x.q, touching, _datas(touching))
    for oracle, rows in J.items():
        errors.keep("computeDelassusMatrix", oracle, found, rows @ x.solve(oracle, rows.T), x.condition)


def _dynamics(
    x: Exact, v: np.ndarray, tau: np.ndarray, touching: Sequence[Any], errors: Errors, condition: float,
    oracles: Sequence[str], forces: bool,
) -> None:  # fmt: skip
    """Judge accelerations, and forces if there is one answer only."""
    a = pc.constraintDynamics(x.model, x.data, x.q, v, tau, touching, _datas(touching))
    force = np.array(x.data.lambda_c)
    asked = [c.desired_contact_acceleration.vector for c in touching]
    for oracle in oracles:
        if oracle == "dense":
            exact = reference.constraintDynamics(x.model, x.q, v, tau, touching)
        else:
            exact = by_projection.constraintDynamics(x.model, x.work, x.q, v, tau, touching)
        free = x.solve(oracle, tau - x.bias(oracle, v))
        errors.keep("constraintDynamics", oracle, a, exact[0], condition, free, *asked)
        if forces:
            errors.keep("constraintDynamics: forces", oracle, force, exact[1], condition)


def _impacts(
    x: Exact, v: np.ndarray, touching: Sequence[Any], rng: np.random.Generator, errors: Errors, condition: float
) -> None:
    bounce = float(rng.random())
    found = pc.impulseDynamics(x.model, x.data, x.q, v, touching, _datas(touching), bounce)
    for oracle in x.masses:
        if oracle == "dense":
            exact = reference.impulseDynamics(x.model, x.q, v, touching, bounce)
        else:
            exact = by_projection.impulseDynamics(x.model, x.work, x.q, v, touching, bounce)
        errors.keep("impulseDynamics", oracle, found, exact[0], condition)


def _rows(
    x: Exact, J: np.ndarray, v: np.ndarray, tau: np.ndarray, rng: np.random.Generator, errors: Errors, condition: float
) -> None:
    """Judge accelerations under rows that are given, and a drift that the robot can have.

    Rows in which nothing moves but by rounding are judged apart: their forces are rounding over rounding.
    """
    drift = J @ rng.normal(size=x.model.nv)
    size = np.abs(J).max(axis=1)
    still = size < 1e-12 * size.max()
    clean = np.where(still[:, None], 0.0, J), np.where(still, 0.0, drift)
    for name, (rows, given) in {"": clean, ": rows of rounding": (J, drift)}.items():
        if name and not size[still].any():
            continue
        found = pc.forwardDynamics(x.model, x.data, x.q, v, tau, rows, given)
        for oracle, M in x.masses.items():
            free, response = np.linalg.solve(M, tau - x.bias(oracle, v)), np.linalg.solve(M, clean[0].T)
            force = np.linalg.lstsq(clean[0] @ response, -clean[1] - clean[0] @ free, rcond=DEPENDENT)[0]
            errors.keep(f"forwardDynamics{name}", oracle, found, free + response @ force, condition, free)
