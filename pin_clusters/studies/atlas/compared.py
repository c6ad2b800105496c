"""Compute the errors caused by published and by correct armature values for one robot of the atlas."""

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
from .places import MENAGERIE, Found
from .sheets import Sheet

MOTIONS: dict[str, Trajectory] = {  # all joints move about the reference pose; the base is fixed
    "sine": study.Sine(0.5, 1.5, duration=2.0 / 3.0, dt=2e-3),
    "chirp": study.Chirp(0.2, 0.25, 3.0, duration=2.0, dt=4e-3),
}
_POSES, _GAIT_STEP = 20, 4e-3  # number of poses at which inertias are compared; sampling interval of a gait, [s]


@dataclass(frozen=True)
class Examined:
    """The results for one robot and the content of its pages."""

    entry: Entry
    picture: str = ""  # PNG image, base64-encoded
    audit: Mapping[str, str] = field(default_factory=dict)  # content of the audit's files, by file name
    said: tuple[str, ...] = ()  # warnings from reading the robot's file


def examine(sheet: Sheet, found: Found | None, any_version: bool = False, drop: float | None = None) -> Examined:
    sources = tuple(sorted({m["sure"] for m in sheet.motors if "sure" in m}))
    bare = Entry(sheet.name, sheet.robot, "known", sheet.origin, found.digest if found else "", sources)
    if sheet.unknown:
        state, reason = "unknown", "Too little is published about its motors to compute its armature."
    elif not sheet.file:
        state, reason = "no file", "Its motors are known, but no robot file is published."
    elif found is None:
        fetch = f". Download it: robot_descriptions pull {sheet.file['module']}" if "module" in sheet.file else ""
        fetch += ", or pip install 'pin-clusters[menagerie]'" * (sheet.file.get("repository") == MENAGERIE)
        state, reason = "not here", f"Its file is not on this machine{fetch}."
    elif not (found.known or any_version):
        state, reason = (
            "other version",
            f"The file found, SHA-256 {found.digest[:12]}..., is not in the sheet. Use --any-version to use it anyway.",
        )
    else:
        try:
            with warnings.catch_warnings(record=True) as notes:
                warnings.simplefilter("always")
                robot = _examined(sheet, found, bare, drop)
            return replace(robot, said=tuple({str(w.message).replace(str(found.path.parent), "..."): 0 for w in notes}))
        except PinClustersError as error:
            state, reason = "failed", " ".join(str(error).split())
    return Examined(replace(bare, state=state, verdict=reason))


def opened(sheet: Sheet, found: Found) -> tuple[ClusterModel, ClusterModel]:
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
    couplings = [row.source for row in bare.coupling_rows if row.dependent not in rotors] if not bare.closures else []
    if couplings:
        constraints = [c for c in bare.constraints if all(c is not x for x in couplings)]
        bare = ClusterModel(bare.own_tree, constraints, name=bare.name, collision=bare.collision)
    return bare, with_motors(bare, sheet.path)


def _examined(sheet: Sheet, found: Found, entry: Entry, drop: float | None) -> Examined:
    bare, model = opened(sheet, found)
    audited = audit.run(model, MOTIONS["sine"], drop=drop)
    runs = {"sine": audited.study, "chirp": study.run(model, MOTIONS["chirp"])}
    gaits = [x for x in study.motions() if robot_of(x) == sheet.file.get("shipped") and x.endswith(("_walk", "_trot"))]
    if gaits:
        runs["gait"] = study.run(model, study.motion(gaits[0], dt=_GAIT_STEP))
    correct = dict(with_rotors({}, (d for d in audited.reflected.drives if not d.own)))
    sets = [(p["where"], _named(model, p["armature"])) for p in sheet.published]
    of_file = {n: float(bare.tree.armature[bare.tree.idx_vs[bare.tree.getJointId(n)]]) for n in correct}
    equal_sets = [all(abs(named.get(n, np.inf) - x) <= SAME * x for n, x in of_file.items() if x) for _, named in sets]
    if any(of_file.values()) and not any(equal_sets):
        sets.append(("the robot's own file", of_file))
    sets = [(where, {n: x for n, x in named.items() if n in correct}) for where, named in sets]
    sets = [(where, named) for where, named in sets if named]
    entry = replace(
        entry,
        joints=_lines(model, audited, correct, [named for _, named in sets]),
        judged=(*_made(model, audited, runs, correct), *(_published(model, audited, runs, correct, *x) for x in sets)),
        gait=gaits[0] if gaits else "",
    )
    png = b""
    with suppress(NotAvailableError):  # without meshcat, the page explains why there is no picture
        from ...visualize.picture import picture

        png = picture(model, model.q_reference)
    finished_entry = replace(entry, verdict=entry.said())
    return Examined(
        finished_entry,
        base64.b64encode(png).decode("ascii"),
        {name: text() for name, text in audit.page.files(audited).items()},
    )


def _named(model: ClusterModel, armature: Mapping[str, float]) -> dict[str, float]:
    values = dict[str, float]()
    for pattern, value in armature.items():
        try:
            values = dict.fromkeys(joints_of(model, pattern, ""), value) | values
        except LoadError:  # an armature set may contain joints that this file does not have
            continue
    return values


def _made(
    model: ClusterModel, audited: audit.AuditResult, runs: Mapping[str, StudyResult], correct: Mapping[str, float]
) -> Iterator[Judged]:
    levels = audited.study.approximate
    names = {NONE: "none" if "none" in levels else "no rotor", DIAGONAL: usual(levels), BLOCK: "block"}
    for name, level in names.items():
        if level in levels:
            percent = {m: _at(run, run.share(run.rms_error)[level], audited, correct) for m, run in runs.items()}
            inertia = {x.frame: 100.0 * x.osim.mean[level] for x in audited.simulated.frames}
            scale = float(name != NONE)
            yield Judged(name, "", scale, scale, percent, inertia, _touch(model, audited, [level]))


def _published(
    model: ClusterModel,
    audited: audit.AuditResult,
    runs: Mapping[str, StudyResult],
    correct: Mapping[str, float],
    source: str,
    published: Mapping[str, float],
) -> Judged:
    tree, data, bare = model.tree, model.createData(), "no rotor" if model.closures else "none"
    armature, locked = np.zeros(tree.nv), approximations.of(model)[bare]
    for name, value in {**correct, **published}.items():
        armature[tree.idx_vs[tree.getJointId(name)]] = value

    def torque(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        G = coupling_jacobian(model, data, q)
        return np.asarray(G.T @ (armature * (G @ a + coupling_bias(model, data, q, v))))

    def crba(q: np.ndarray) -> np.ndarray:
        G = coupling_jacobian(model, data, q)
        return np.asarray(locked.crba(q) + G.T @ (armature[:, None] * G))

    percent, quotients = {}, [x / correct[n] for n, x in published.items()]
    for motion, run in runs.items():
        _, *motions = states(model, run.trajectory, run.base)
        columns = [model.joint_idx_v(run.joints[k]) for k in run.actuated]
        error = run.error(bare)
        error[:, run.actuated] += np.array([torque(*x) for x in zip(*motions, strict=True)])[:, columns]
        percent[motion] = _at(run, run.share({"": rms(error)})[""], audited, correct if model.closures else published)
    level = {"": SimpleNamespace(check=locked.check, crba=crba)}
    inertia = _felt(model, audited, level, "linear")
    return Judged(PUBLISHED, source, min(quotients), max(quotients), percent, inertia, _touch(model, audited, level))


def _touch(model: ClusterModel, audited: audit.AuditResult, level: Any) -> dict[str, float]:
    free = model.own_tree.joints[1].shortname() == "JointModelFreeFlyer"
    return _felt(model, audited, level, "vertical") if free else {}


def _felt(model: ClusterModel, audited: audit.AuditResult, level: Any, rows_of: Any) -> dict[str, float]:
    poses = states(model, audited.study.trajectory, audited.study.base)[1]
    poses, frames = poses[spread(len(poses), _POSES)], [x.frame for x in audited.simulated.frames]
    means = (metrics.osim_error(model, f, poses, level, rows_of=rows_of).mean for f in frames)
    return {f: 100.0 * next(iter(m.values())) for f, m in zip(frames, means, strict=True)}


def _at(run: StudyResult, values: Any, audited: audit.AuditResult, named: Mapping[str, float]) -> dict[str, float]:
    motors = named.keys() | {d.rotor for d in audited.reflected.drives if d.own}
    columns = [k for k in run.actuated if run.joints[k] in motors] or run.actuated
    return {run.joints[k]: float(values[k]) for k in columns}


def _lines(
    model: ClusterModel, audited: audit.AuditResult, correct: Mapping[str, float], sets: list[dict[str, float]]
) -> tuple[JointLine, ...]:
    turns: dict[str, list[tuple[float, float]]] = {name: [] for name in correct}
    for rotor, drive in zip(model.rotors, audited.reflected.drives, strict=True):
        for name, ratio in drive.ratios.items() if rotor.driven and not drive.own else ():
            turns[name].append((round(abs(ratio), 9), round(drive.inertia, 15)))
    joints_by_numbers = dict[Any, list[str]]()
    for name, total in correct.items():
        key = tuple(turns[name]), round(total, 12), tuple(x.get(name) for x in sets)
        joints_by_numbers.setdefault(key, []).append(name)
    return tuple(
        JointLine(tuple(names), motor_turns, sum(J * r**2 for r, J in motor_turns), total, published)
        for (motor_turns, total, published), names in joints_by_numbers.items()
    )
