"""One robot of the atlas: published armature beside that of its gears and rotors, and what either gets wrong."""

import base64
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin

from ... import approximations
from ...algorithms.dynamics.coupling import coupling_bias, coupling_jacobian
from ...errors import LoadError, NotAvailableError, PinClustersError
from ...files import readers
from ...files.readers.motors import joints_of, with_motors
from ...model import ClusterModel
from .. import audit, study
from ..audit.reflected import with_rotors
from ..study import StudyResult, Trajectory, metrics
from ..study._samples import rms, spread, usual
from ..study.accuracy import states
from ..study.trajectories import robot_of
from .entries import BLOCK, DIAGONAL, NONE, PUBLISHED, SAME, Entry, JointLine, Judged
from .places import Found
from .sheets import Sheet

MOTIONS: dict[str, Trajectory] = {
    "sine": study.Sine(0.5, 1.5, duration=2.0 / 3.0, dt=2e-3),
    "chirp": study.Chirp(0.2, 0.25, 3.0, duration=2.0, dt=4e-3),
}
"""Common to all robots: every joint about its reference pose, the base held."""
_POSES, _GAIT_STEP = 20, 4e-3


@dataclass(frozen=True)
class Examined:
    """What was found of a robot, and for its pages."""

    entry: Entry
    picture: str = ""  # PNG, base64
    audit: Mapping[str, str] = field(default_factory=dict)  # texts by the names of files
    said: tuple[str, ...] = ()  # by readers, of the robot's file


def examine(sheet: Sheet, found: Found | None, any_version: bool = False, drop: float | None = None) -> Examined:
    """Compute one robot; what cannot be is an entry that says why."""
    sure = tuple(sorted({m["sure"] for m in sheet.motors if "sure" in m}))
    bare = Entry(sheet.name, sheet.robot, "known", sheet.origin, found.digest if found else "", sure)
    if sheet.unknown:
        state, why = "unknown", "Of its motors too little is public: nothing is guessed."
    elif not sheet.file:
        state, why = "no file", "Its motors are known, but no file of the robot is."
    elif found is None:
        fetch = f": robot_descriptions pull {sheet.file['module']}" if "module" in sheet.file else ""
        state, why = "not here", f"Its file is not on this machine{fetch}."
    elif not (found.known or any_version):
        state, why = (
            "other version",
            f"The sheet does not know its file, SHA-256 {found.digest[:12]}...: --any-version.",
        )
    else:
        try:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                done = _examined(sheet, found, bare, drop)
            return replace(done, said=tuple({str(w.message).replace(str(found.path.parent), "..."): 0 for w in told}))
        except PinClustersError as error:
            state, why = "failed", " ".join(str(error).split())
    return Examined(replace(bare, state=state, verdict=why))


def opened(sheet: Sheet, found: Found) -> tuple[ClusterModel, ClusterModel]:
    """Return a robot as its file has it, and with the motors of its sheet; fingers that follow others are let free."""
    file = sheet.file
    if "shipped" in file:
        bare = readers.load(file["shipped"])
    else:
        root = pin.JointModelFreeFlyer() if file.get("base") == "floating" else None
        bare = readers.open_robot(found.path, root)
        if "pose" in file:
            q = np.array(bare.q_reference)
            for name, value in file["pose"].items():
                q[bare.tree.idx_qs[bare.tree.getJointId(name)]] = value
            bare = readers.open_robot(found.path, root, q_reference=q)
    rotors = {r.joint_id for r in bare.rotors}
    fingers = [row.source for row in bare.coupling_rows if row.dependent not in rotors] if not bare.closures else []
    if fingers:
        kept = [c for c in bare.constraints if all(c is not x for x in fingers)]
        bare = ClusterModel(bare.own_tree, kept, name=bare.name, collision=bare.collision)
    return bare, with_motors(bare, sheet.path)


def _examined(sheet: Sheet, found: Found, entry: Entry, drop: float | None) -> Examined:
    bare, model = opened(sheet, found)
    audited = audit.run(model, MOTIONS["sine"], drop=drop)
    runs = {"sine": audited.study, "chirp": study.run(model, MOTIONS["chirp"])}
    own = [x for x in study.motions() if robot_of(x) == sheet.file.get("shipped") and x.endswith(("_walk", "_trot"))]
    if own:
        runs["gait"] = study.run(model, study.motion(own[0], dt=_GAIT_STEP))
    right = dict(with_rotors({}, (d for d in audited.reflected.drives if not d.own)))
    sets = [(p["where"], _named(model, p["armature"])) for p in sheet.published]
    of_file = {n: float(bare.tree.armature[bare.tree.idx_vs[bare.tree.getJointId(n)]]) for n in right}
    alike = [all(abs(named.get(n, np.inf) - x) <= SAME * x for n, x in of_file.items() if x) for _, named in sets]
    if any(of_file.values()) and not any(alike):
        sets.append(("the robot's own file", of_file))
    sets = [(where, {n: x for n, x in named.items() if n in right}) for where, named in sets]
    sets = [(where, named) for where, named in sets if named]
    entry = replace(
        entry,
        joints=_lines(model, audited, right, [named for _, named in sets]),
        judged=(*_made(model, audited, runs, right), *(_published(model, audited, runs, right, *x) for x in sets)),
        gait=own[0] if own else "",
    )
    drawn = b""
    with suppress(NotAvailableError):  # the page says so
        from ...visualize.picture import picture

        drawn = picture(model, model.q_reference)
    done = replace(entry, verdict=entry.said())
    return Examined(
        done,
        base64.b64encode(drawn).decode("ascii"),
        {name: text() for name, text in audit.page.files(audited).items()},
    )


def _named(model: ClusterModel, armature: Mapping[str, float]) -> dict[str, float]:
    """Return armature by the joints that patterns fit; of two that fit one joint the first counts."""
    found = dict[str, float]()
    for pattern, value in armature.items():
        try:
            found = dict.fromkeys(joints_of(model, pattern, ""), value) | found
        except LoadError:  # a set may name joints that this file has not
            continue
    return found


def _made(
    model: ClusterModel, audited: audit.AuditResult, runs: Mapping[str, StudyResult], right: Mapping[str, float]
) -> Iterator[Judged]:
    """Return the errors of what gears and rotors make: left out, diagonal, and with what joints share."""
    rungs = audited.study.approximate
    names = {NONE: "none" if "none" in rungs else "no rotor", DIAGONAL: usual(rungs), BLOCK: "block"}
    for name, rung in names.items():
        if rung in rungs:
            percent = {m: _at(run, run.share(run.rms_error)[rung], audited, right) for m, run in runs.items()}
            inertia = {x.frame: 100.0 * x.osim.mean[rung] for x in audited.simulated.frames}
            times = float(name != NONE)
            yield Judged(name, "", times, times, percent, inertia, _touch(model, audited, [rung]))


def _published(
    model: ClusterModel,
    audited: audit.AuditResult,
    runs: Mapping[str, StudyResult],
    right: Mapping[str, float],
    where: str,
    named: Mapping[str, float],
) -> Judged:
    """Return the errors of published armature; joints that it does not name have the right one."""
    tree, data, bare = model.tree, model.createData(), "no rotor" if model.closures else "none"
    armature, locked = np.zeros(tree.nv), approximations.of(model)[bare]
    for name, value in {**right, **named}.items():
        armature[tree.idx_vs[tree.getJointId(name)]] = value

    def torque(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        G = coupling_jacobian(model, data, q)
        return np.asarray(G.T @ (armature * (G @ a + coupling_bias(model, data, q, v))))

    def crba(q: np.ndarray) -> np.ndarray:
        G = coupling_jacobian(model, data, q)
        return np.asarray(locked.crba(q) + G.T @ (armature[:, None] * G))

    percent, off = {}, [x / right[n] for n, x in named.items()]
    for motion, run in runs.items():
        _, *motions = states(model, run.trajectory, run.base)
        columns = [model.joint_idx_v(run.joints[k]) for k in run.actuated]
        error = run.error(bare)
        error[:, run.actuated] += np.array([torque(*x) for x in zip(*motions, strict=True)])[:, columns]
        percent[motion] = _at(run, run.share({"": rms(error)})[""], audited, right if model.closures else named)
    rung = {"": SimpleNamespace(check=locked.check, crba=crba)}
    inertia = _felt(model, audited, rung, "linear")
    return Judged(PUBLISHED, where, min(off), max(off), percent, inertia, _touch(model, audited, rung))


def _touch(model: ClusterModel, audited: audit.AuditResult, rung: Any) -> dict[str, float]:
    """Return errors of impulses of touch-down, where the base is free."""
    free = model.own_tree.joints[1].shortname() == "JointModelFreeFlyer"
    return _felt(model, audited, rung, "vertical") if free else {}


def _felt(model: ClusterModel, audited: audit.AuditResult, rung: Any, rows_of: Any) -> dict[str, float]:
    """Return the mean error of the inertia at ends of one approximation, [%]."""
    poses = states(model, audited.study.trajectory, audited.study.base)[1]
    poses, frames = poses[spread(len(poses), _POSES)], [x.frame for x in audited.simulated.frames]
    means = (metrics.osim_error(model, f, poses, rung, rows_of=rows_of).mean for f in frames)
    return {f: 100.0 * next(iter(m.values())) for f, m in zip(frames, means, strict=True)}


def _at(run: StudyResult, values: Any, audited: audit.AuditResult, named: Mapping[str, float]) -> dict[str, float]:
    """Return errors at joints that have motors; where loops carry these to others, at all."""
    motors = named.keys() | {d.rotor for d in audited.reflected.drives if d.own}
    at = [k for k in run.actuated if run.joints[k] in motors] or run.actuated
    return {run.joints[k]: float(values[k]) for k in at}


def _lines(
    model: ClusterModel, audited: audit.AuditResult, right: Mapping[str, float], sets: list[dict[str, float]]
) -> tuple[JointLine, ...]:
    """Return a line for joints that are alike in all numbers."""
    turns: dict[str, list[tuple[float, float]]] = {name: [] for name in right}
    for rotor, drive in zip(model.rotors, audited.reflected.drives, strict=True):
        for name, ratio in drive.ratios.items() if rotor.driven and not drive.own else ():
            turns[name].append((round(abs(ratio), 9), round(drive.inertia, 15)))
    found = dict[Any, list[str]]()
    for name, total in right.items():
        key = tuple(turns[name]), round(total, 12), tuple(x.get(name) for x in sets)
        found.setdefault(key, []).append(name)
    return tuple(
        JointLine(tuple(names), of, sum(J * r**2 for r, J in of), total, published)
        for (of, total, published), names in found.items()
    )
