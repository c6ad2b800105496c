"""One robot of the atlas: published armature beside that of its gears and rotors, and what either gets wrong."""

from __future__ import annotations

import base64
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pinocchio as pin

from ... import approximations
from ...algorithms.dynamics.coupling import coupling_bias, coupling_jacobian
from ...algorithms.dynamics.crba import crba
from ...errors import LoadError, NotAvailableError, PinClustersError
from ...files import readers
from ...files.readers.motors import joints_of, with_motors
from ...model import ClusterModel
from .. import audit, study
from ..audit.reflected import with_rotors
from ..audit.simulated import ends
from ..pages.results import Result
from ..study import StudyResult, Trajectory
from ..study._samples import spread, usual
from ..study.accuracy import states
from ..study.metrics.osim import felt
from ..study.trajectories import robot_of
from .places import Found
from .sheets import Sheet

MOTIONS: dict[str, Trajectory] = {
    "sine": study.Sine(0.5, 1.5, duration=2.0 / 3.0, dt=2e-3),
    "chirp": study.Chirp(0.2, 0.25, 3.0, duration=2.0, dt=4e-3),
}
"""Common to all robots: every joint about its reference pose, the base held."""
NONE, DIAGONAL, BLOCK = "none", "diagonal", "block"
_POSES, _SAME, _GAIT_STEP = 20, 0.01, 4e-3


@dataclass(frozen=True)
class JointLine(Result):
    """The motors of joints that are alike, and the armature of each.

    Attributes:
        joints: Names.
        turns: Of each motor of one of them, turns per turn of the joint and inertia of the rotor, [kg m^2].
        first: ``ratio^2 J`` of these, [kg m^2] ([kg] of a sliding joint).
        total: The same with what turns with further stages.
        published: The same as each published set has it; None where that does not name the joint.
    """

    joints: tuple[str, ...]
    turns: tuple[tuple[float, float], ...]
    first: float
    total: float
    published: tuple[float | None, ...]


@dataclass(frozen=True)
class Judged(Result):
    """What one set of armature gets wrong.

    Attributes:
        name: ``"none"``, ``"diagonal"`` and ``"block"`` of what gears and rotors make, or ``"published"``.
        where: Where it was published.
        low: Smallest quotient of its armature and the right one.
        high: Largest.
        percent: By motion and joint: RMS of the torque error, as per cent of the joint's peak torque.
        inertia: By frame: mean error of the inertia that a push on it feels, [%].
    """

    name: str
    where: str
    low: float
    high: float
    percent: dict[str, dict[str, float]]
    inertia: dict[str, float]

    def worst(self, motion: str) -> tuple[str, float]:
        """Return the joint at which it is worst along a motion, and its error, [%]; NaN of what is not known."""
        return max(self.percent.get(motion, {}).items(), key=lambda x: round(x[1], 9), default=("", float("nan")))

    @property
    def push(self) -> float:
        """Largest error of the inertia at a frame, [%]."""
        return max(self.inertia.values(), default=float("nan"))


@dataclass(frozen=True)
class Entry(Result):
    """A robot of the atlas.

    Attributes:
        name: Of its sheet.
        robot: What robot it is.
        state: ``"known"``, ``"unknown"``, or why nothing was computed: ``"no file"``, ``"not here"``, ``"other
            version"``, ``"failed"``.
        file: Where its file comes from, in words.
        digest: SHA-256 of that.
        sure: Who vouches for the numbers.
        joints: Its motors.
        judged: ``"none"``, ``"diagonal"``, ``"block"`` and each published set.
        gait: Its own motion, if one ships.
        loops: Whether closed loops are in its file.
        landing: What was found of a touch-down, if that was asked for.
        verdict: What was found, in one sentence.
        seconds: How long it took.
    """

    name: str
    robot: str
    state: str
    file: str = ""
    digest: str = ""
    sure: tuple[str, ...] = ()
    joints: tuple[JointLine, ...] = ()
    judged: tuple[Judged, ...] = ()
    gait: str = ""
    loops: bool = False
    landing: str = ""
    verdict: str = ""
    seconds: float = field(default=0.0, compare=False)

    def named(self, name: str) -> Judged | None:
        """Return what was found of none, diagonal or block."""
        return next((j for j in self.judged if j.name == name), None)

    @property
    def published(self) -> list[Judged]:
        """What was found of published armature."""
        return [j for j in self.judged if j.name == "published"]

    @property
    def worst(self) -> Judged | None:
        """The published set that is worst on the sine."""
        return max(self.published, key=lambda j: j.worst("sine")[1], default=None)


@dataclass(frozen=True)
class Examined:
    """What was found of a robot, and for its pages."""

    entry: Entry
    picture: str = ""  # PNG, base64
    audit: Mapping[str, str] = field(default_factory=dict)  # texts by the names of files
    said: tuple[str, ...] = ()  # by readers, of the robot's file


def examine(sheet: Sheet, found: Found | None, any_version: bool = False, drop: float | None = None) -> Examined:
    """Compute one robot; what cannot be is an entry that says why."""
    start = time.perf_counter()
    sure = tuple(sorted({m["sure"] for m in sheet.motors if "sure" in m}))
    bare = Entry(sheet.name, sheet.robot, "unknown", file=sheet.origin, sure=sure)
    if sheet.unknown:
        return Examined(replace(bare, verdict="No number of its motors is public: nothing is guessed."))
    if not sheet.file:
        return Examined(replace(bare, state="no file", verdict="Its motors are known, but no file of the robot is."))
    if found is None:
        fetch = f": robot_descriptions pull {sheet.file['module']}" if "module" in sheet.file else ""
        return Examined(replace(bare, state="not here", verdict=f"Its file is not on this machine{fetch}."))
    bare = replace(bare, file=found.where, digest=found.digest)
    if not (found.known or any_version):
        text = f"Its file here is of a version that the sheet does not know (SHA-256 {found.digest[:12]}...)."
        return Examined(replace(bare, state="other version", verdict=f"{text} To compute it anyway: --any-version."))
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            done = _examined(sheet, found, bare, drop)
    except PinClustersError as error:
        return Examined(replace(bare, state="failed", verdict=" ".join(str(error).split())))
    said = tuple(dict.fromkeys(str(w.message) for w in told))
    return replace(done, said=said, entry=replace(done.entry, seconds=time.perf_counter() - start))


def opened(sheet: Sheet, found: Found) -> tuple[ClusterModel, ClusterModel]:
    """Return a robot as its file has it, and with the motors of its sheet."""
    if "shipped" in sheet.file:
        bare = readers.load(sheet.file["shipped"])
    else:
        root = pin.JointModelFreeFlyer() if sheet.file.get("base") == "floating" else None
        bare = readers.open_robot(found.path, root)
    return bare, with_motors(bare, sheet.path)


def _examined(sheet: Sheet, found: Found, entry: Entry, drop: float | None) -> Examined:
    bare, model = opened(sheet, found)
    audited = audit.run(model, MOTIONS["sine"], drop=drop)
    runs = {"sine": audited.study, "chirp": study.run(model, MOTIONS["chirp"])}
    own = [x for x in study.motions() if robot_of(x) == sheet.file.get("shipped") and x.endswith(("_walk", "_trot"))]
    if own:
        runs["gait"] = study.run(model, study.motion(own[0], dt=_GAIT_STEP))
    right = dict(with_rotors({}, (d for d in audited.reflected.drives if not d.own)))
    sets = [(p["where"], _named(model, p["armature"], sheet.name)) for p in sheet.published]
    of_file = {n: float(bare.tree.armature[bare.tree.idx_vs[bare.tree.getJointId(n)]]) for n in right}
    if any(of_file.values()) and not any(_alike(of_file, x) for _, x in sets):
        sets.append(("the robot's own file", of_file))
    sets = [(where, {n: x for n, x in named.items() if n in right}) for where, named in sets]
    judged = list(_judged(model, audited, runs, right, [x for x in sets if x[1]]))
    entry = replace(
        entry, state="known", joints=_lines(model, audited, right, [named for _, named in sets]), judged=tuple(judged),
        gait=own[0] if own else "", loops=bool(model.closures),
        landing=f"{audited.walk.motion}: {audited.walk.sentence}" if audited.walk else "",
    )  # fmt: skip
    return Examined(replace(entry, verdict=_verdict(entry)), _picture(model), audit.page.files(audited))


def _named(model: ClusterModel, armature: Mapping[str, float], where: str) -> dict[str, float]:
    """Return armature by the joints that patterns fit; of two that fit one joint the first counts."""
    found = dict[str, float]()
    for pattern, value in armature.items():
        try:
            fit = joints_of(model, pattern, where)
        except LoadError:  # a set may name joints that this file has not
            continue
        found = {**{n: value for n in fit}, **found}
    return found


def _alike(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    return all(n in other and abs(other[n] - x) <= _SAME * x for n, x in one.items() if x)


def _judged(
    model: ClusterModel, audited: audit.AuditResult, runs: Mapping[str, StudyResult], right: Mapping[str, float],
    sets: Sequence[tuple[str, Mapping[str, float]]],
) -> Iterable[Judged]:  # fmt: skip
    """Return the errors of the approximations that the audit has, and of each published set, where it names joints."""
    bare = "no rotor" if model.closures else "none"
    tables = [np.array([_along_tree(model, {**right, **named}) for _, named in sets])] * bool(sets)
    errors = {motion: run.share(run.rms_error) for motion, run in runs.items()}
    extra = {m: _torques(model, run, tables[0]) - run.exact[None, :, run.actuated] for m, run in runs.items() if sets}
    frames, pushes = _push(model, audited, bare, tables[0] if sets else np.zeros((0, model.tree.nv)))
    rungs = [(NONE, bare), (DIAGONAL, usual(audited.study.approximate))]
    for k, (name, rung) in enumerate([*rungs, *[(BLOCK, "block")] * (not model.closures)]):
        percent = {m: _by_joint(run, errors[m][rung][run.actuated]) for m, run in runs.items()}
        one = 0.0 if name == NONE else 1.0
        yield Judged(name, "", one, one, percent, dict(zip(frames, pushes[k], strict=True)))
    for k, (where, named) in enumerate(sets):
        off = [x / right[n] for n, x in named.items()]
        percent = {}
        for motion, run in runs.items():
            base = run.approximate[bare][:, run.actuated]
            share = run.share(
                {"": np.concatenate([np.zeros(len(run.joints) - len(run.actuated)), _rms(base + extra[motion][k])])}
            )
            found = _by_joint(run, share[""][run.actuated])
            percent[motion] = {n: x for n, x in found.items() if n in named or model.closures}
        yield Judged("published", where, min(off), max(off), percent, dict(zip(frames, pushes[3 + k], strict=True)))


def _by_joint(run: StudyResult, values: np.ndarray) -> dict[str, float]:
    return {run.joints[k]: float(x) for k, x in zip(run.actuated, values, strict=True)}


def _rms(x: np.ndarray) -> np.ndarray:
    return np.sqrt(np.mean(x**2, axis=0))


def _along_tree(model: ClusterModel, armature: Mapping[str, float]) -> np.ndarray:
    """Return armature by the columns of the tree."""
    found = np.zeros(model.tree.nv)
    for name, value in armature.items():
        found[model.tree.idx_vs[model.tree.getJointId(name)]] = value
    return found


def _torques(model: ClusterModel, run: StudyResult, armature: np.ndarray) -> np.ndarray:
    """Return what sets of armature, shape (sets, tree.nv), add to the torques of joints: (sets, samples, joints)."""
    _, q, v, a = states(model, run.trajectory, run.base)
    columns, data = [model.joint_idx_v(run.joints[k]) for k in run.actuated], model.createData()
    found = np.empty((len(armature), len(q), len(columns)))
    G, g = coupling_jacobian(model, data, q[0]), np.zeros(model.tree.nv)
    for i in range(len(q)):
        if model.closures:
            G, g = coupling_jacobian(model, data, q[i]), coupling_bias(model, data, q[i], v[i])
        found[:, i] = (armature * (G @ a[i] + g)) @ G[:, columns]
    return found


def _push(
    model: ClusterModel, audited: audit.AuditResult, bare: str, armature: np.ndarray
) -> tuple[tuple[str, ...], np.ndarray]:
    """Return frames, and by how much the inertia there is wrong, in the mean over poses, [%]: (rungs + sets, frames)."""
    _, q, _, _ = states(model, audited.study.trajectory, audited.study.base)
    q, frames, ladder = q[spread(len(q), _POSES)], ends(model, q), approximations.of(model)
    rungs = [ladder[bare], ladder[usual(audited.study.approximate)], ladder.get("block", ladder[bare])]
    off = np.zeros((3 + len(armature), len(frames)))
    tree, data = model.tree, model.createData()
    on = tree.createData()
    for row in q:
        G, M = coupling_jacobian(model, data, row), crba(model, data, row).copy()
        masses = [rung.crba(row) for rung in rungs]
        masses += [masses[0] + G.T @ (A[:, None] * G) for A in armature]
        for k, frame in enumerate(frames):
            J = pin.computeFrameJacobian(tree, on, row, model.getFrameId(frame), pin.LOCAL_WORLD_ALIGNED)[:3] @ G
            exact = felt(J, M)
            off[:, k] += [float(np.linalg.norm(felt(J, x) - exact) / np.linalg.norm(exact)) for x in masses]
    return frames, 100.0 * off / len(q)


def _lines(
    model: ClusterModel, audited: audit.AuditResult, right: Mapping[str, float], sets: Sequence[Mapping[str, float]]
) -> tuple[JointLine, ...]:
    """Return a line for joints that are alike in all numbers."""
    turns: dict[str, list[tuple[float, float]]] = {name: [] for name in right}
    for rotor, drive in zip(model.rotors, audited.reflected.drives, strict=True):
        for name, ratio in drive.ratios.items():
            if rotor.driven and not drive.own:
                turns[name].append((round(abs(ratio), 9), drive.inertia))
    found = dict[Any, list[str]]()
    for name, total in right.items():
        of = tuple(turns[name])
        line = of, sum(J * r**2 for r, J in of), round(total, 12), tuple(x.get(name) for x in sets)
        found.setdefault(line, []).append(name)
    return tuple(JointLine(tuple(names), *line) for line, names in found.items())


def _verdict(entry: Entry) -> str:
    """Say it in one sentence."""
    none, diagonal, worst = entry.named(NONE), entry.named(DIAGONAL), entry.worst
    assert none is not None
    assert diagonal is not None
    left = f"with what gears and rotors make, {diagonal.worst('sine')[1]:.2g} % are left"
    if block := entry.named(BLOCK):
        left += f", with block armature {block.worst('sine')[1]:.2g} %"
    if worst is None:
        joint, percent = none.worst("sine")
        return f"Nobody published armature for it; without any, up to {percent:.2g} % of the peak torque are missing ({joint}); {left}."
    joint, percent = worst.worst("sine")
    right = [j for j in entry.published if abs(j.low - 1.0) < _SAME and abs(j.high - 1.0) < _SAME]
    if len(right) == len(entry.published):
        return f"Its published armature is what gears and rotors make; {left}."
    best = f", and {len(right)} of {len(entry.published)} published sets is right" if right else ""
    span = f"{worst.low:.2g}" if abs(worst.high - worst.low) < _SAME else f"{worst.low:.2g} to {worst.high:.2g}"
    return f"Published armature is up to {percent:.2g} % of the peak torque off ({joint}; {span} times the right one){best}; {left}."


def _picture(model: ClusterModel) -> str:
    try:
        from ...visualize.picture import picture
    except NotAvailableError:  # the page says so
        return ""
    return base64.b64encode(picture(model, model.q_reference)).decode("ascii")
