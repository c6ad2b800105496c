"""Speed and accuracy of ``pc.Worlds`` for a robot, next to MuJoCo with the exported robot."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, PinClustersError
from ..files.writers import to_mjcf
from ..model import ClusterModel
from ..simulation import Ground
from ..simulation.holding import Hold
from ..worlds import Drive, Worlds

_WORLDS, _ROUNDS, _SUBSTEPS = 512, 15, 10
_STATES, _SPREAD = 16, 0.1
"""Number of worlds whose next control step ``pc.simulate`` repeats, and range of their random targets, [rad] or [m]."""


@dataclass(frozen=True)
class Rates:
    """Speed and accuracy of worlds.

    Attributes:
        operations: Number of operations of a time step.
        seconds: CPU time per time step and world by number type, [s]; smallest of 15 measurements.
        nbytes: Memory per world with float64, [bytes].
        differences: Largest joint-speed difference to ``pc.simulate`` after a time step, one per state, [rad/s].
        violation: Residuals of the contact laws in these steps, [m/s].
        residual: Largest relative residual of the loops.
        failed: Number of worlds that failed.
        mujoco: CPU time per ``mj_step`` of the exported robot by approximation, [s]; empty without MuJoCo.
        notes: Reasons for missing numbers.
    """

    operations: int
    seconds: dict[str, float]
    nbytes: float
    differences: np.ndarray
    violation: np.ndarray
    residual: float
    failed: int
    mujoco: dict[str, float]
    notes: tuple[str, ...]


def measure(
    model: ClusterModel,
    q: np.ndarray | None = None,
    *,
    ground: Ground | None = None,
    touching: Any = None,
    dt: float = 2e-3,
    sweeps: int = 10,
    kp: float | None = None,
    kd: float | None = None,
) -> Rates:
    """Step robots with random targets near a pose, and measure time and accuracy.

    Args:
        model: The robot.
        q: Pose, shape (nq,); by default that of ``pc.Worlds``.
        ground: As in ``pc.Worlds``.
        touching: As in ``pc.Worlds``.
        dt: Time step, [s].
        sweeps: As in ``pc.Worlds``.
        kp: Stiffness of all driven joints, [N m/rad] or [N/m]; by default as in ``pc.simulation.holding.Hold``.
        kd: Damping of all driven joints, [N m s/rad] or [N s/m]; by default as in ``Hold``.
    """
    home = Worlds(model, 1, ground=ground, touching=touching, dt=dt, q=q).q[0].astype(float) if q is None else q
    hold = Hold(model, home, dt, ground, touching, kp, kd)
    joints = [n for n in model.independent_joints if hold.kp[_column(model, n)] or hold.kd[_column(model, n)]]
    if not joints:
        raise ArgumentTypeError(f"model {model.name!r} has no joints that a drive can move.")
    columns = [_column(model, name) for name in joints]
    drive = Drive(hold.kp[columns], hold.kd[columns], joints=joints)
    options: dict[str, Any] = {
        "ground": ground,
        "touching": touching,
        "dt": dt,
        "sweeps": sweeps,
        "drive": drive,
        "q": home,
    }
    seconds = {}
    for dtype in ("float64", "float32"):
        worlds = Worlds(model, _WORLDS, substeps=_SUBSTEPS, dtype=dtype, **options)
        targets = _targets(worlds, np.random.default_rng(0))
        seconds[dtype] = _least(partial(worlds.step, targets)) / (_WORLDS * _SUBSTEPS)
    few, rng = Worlds(model, _STATES, **options), np.random.default_rng(1)
    differences, violation, residual = [], [], 0.0
    for _ in range(5):
        targets = _targets(few, rng)
        for _ in range(40):
            few.step(targets)
        residual = max(residual, float(few.residual.max()))
        good = np.flatnonzero(few.status == 0)
        differences += [d.v for d in few.exact(good) if d.status == 0]
        violation += few.violation[good].tolist()
    times, notes = _of_mujoco(model, home, few, ground)
    return Rates(
        operations=len(few.program.operations),
        seconds=seconds,
        nbytes=few.nbytes / _STATES,
        differences=np.array(differences),
        violation=np.array(violation),
        residual=residual,
        failed=int(np.count_nonzero(few.status)),
        mujoco=times,
        notes=notes,
    )


def _column(model: ClusterModel, name: str) -> int:
    column = model.joint_idx_v(name)
    return column if isinstance(column, int) else int(np.ravel(column)[0])


def _targets(worlds: Worlds, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(worlds.rest + _SPREAD * rng.uniform(-1.0, 1.0, (worlds.n, worlds.nu)))


def _least(call: Callable[[], Any]) -> float:
    call()
    times = []
    for _ in range(_ROUNDS):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return min(times)


def _of_mujoco(
    model: ClusterModel, q: np.ndarray, worlds: Worlds, ground: Ground | None
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Time ``mj_step`` of the exported robot, with small spheres at the contact points and the same ground."""
    try:
        import mujoco
    except ImportError:
        return {}, ("MuJoCo is not installed: pip install mujoco.",)
    times, notes = {}, []
    for name in ("exact", "diagonal"):
        try:
            spec = mujoco.MjSpec.from_string(to_mjcf(model, name, timestep=worlds.dt))
        except PinClustersError as error:
            notes.append(f"MuJoCo, {name}: {error}")
            continue
        if ground is not None:
            spec.worldbody.add_geom(
                type=mujoco.mjtGeom.mjGEOM_PLANE, size=[10, 10, 1], friction=[ground.friction, 0, 0]
            )
            constants = worlds._step.constants.contacts
            for joint, place, radius in zip(constants.joints, constants.places, constants.radii, strict=True):
                body = _body(spec, model.names[joint])
                if body is not None:
                    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[max(radius, 1e-3), 0, 0], pos=place)
        compiled = spec.compile()
        data = mujoco.MjData(compiled)
        times[name] = _least(partial(_steps, mujoco, compiled, data)) / 100
    return times, tuple(notes)


def _body(spec: Any, joint: str) -> Any:
    for body in spec.bodies:
        if any(x.name == joint for x in body.joints) or body.name == joint:
            return body
    return None


def _steps(mujoco: Any, model: Any, data: Any) -> None:
    mujoco.mj_resetData(model, data)
    for _ in range(100):
        mujoco.mj_step(model, data)
