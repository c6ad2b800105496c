"""The function ``pc.simulate``, which checks its arguments, chooses an engine and runs the time steps in batches."""

import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..compiler import entry_points as kernels
from ..compiler.call_layer import native
from ..errors import BranchLost, PinClustersError, PinClustersWarning, SimulationError, SingularClusterError
from ..model import ClusterModel
from . import _messages
from ._compiled import CompiledEngine, MixedEngine
from ._coordinates import GAIN, Choices
from ._engine import Diverged, NearSingular, PythonEngine, State, StepFailed
from ._plan import can_move
from ._recorder import Recorder
from ._settings import Settings, settings
from .ground.compiled_engine import CompiledGroundEngine, ground_engine_for
from .ground.plane import Ground
from .ground.recording import GroundRecorder
from .result import SimulationInterrupted, SimulationResult, Switch


def simulate(
    model: ClusterModel,
    q0: ArrayLike,
    v0: ArrayLike,
    tau: ArrayLike | Callable[..., Any] | None = None,
    duration: float = 1.0,
    dt: float = 1e-3,
    *,
    method: str | None = None,
    record: int = 1,
    dynamics: Callable[..., Any] | None = None,
    switch: bool = True,
    progress: Callable[[int, int], Any] | None = None,
    contacts: Any = (),
    passive: bool = True,
    ground: Ground | None = None,
    touching: Any = None,
    limits: bool | str = False,
    self_collisions: bool = False,
    rtol: float | None = None,
    atol: float | None = None,
) -> SimulationResult:
    """Simulate the motion of a robot under joint torques, with steps of fixed length.

    Every recorded configuration satisfies all couplings and loop-closure constraints. See ``docs/simulation.md`` for
    integrators, held contacts and singular configurations, and ``docs/ground.md`` for contact with the ground.

    Args:
        model: Cluster model.
        q0: Initial configuration, shape (nq,), which must satisfy the constraints.
        v0: Initial velocity of the independent joints, shape (nv,), [rad/s] or [m/s].
        tau: Torques of the independent joints, [N m] or [N]: None for zero, shape (nv,) for constant torques, shape
            (steps, nv) with one row per step, or a function ``tau(t, q, v)`` that returns shape (nv,). The integrator
            calls the function at every stage of a step, except ``"moreau"``, which calls it once per step.
        duration: Simulated time, [s]. The last step may be shorter.
        dt: Time step, [s]. ``"events"`` uses variable steps, and ``dt`` is the longest step.
        method: ``"rk4"`` (default), ``"rkmk4"`` or ``"semi_implicit"``. If ``ground``, ``touching`` or ``limits`` is
            used, the method is ``"moreau"`` (default) or ``"events"``.
        record: Record every n-th step. The first and the last state are always recorded.
        dynamics: A function ``(q, v, tau)`` that replaces ``pc.aba`` and returns the acceleration, shape (nv,). If
            ``dynamics`` is given, ``switch`` has no effect.
        switch: Whether ``simulate`` may choose other independent joints near a singularity. If False, a singularity
            raises ``SimulationError``. Results always refer to the joints of ``model``.
        progress: Function that is called with the number of completed steps and the number of all steps.
        contacts: Held contacts, which stay closed: ``pin.RigidConstraintModel`` objects. For contacts with gains or a
            desired motion, only the acceleration is prescribed, as in ``pc.constraintDynamics``.
        passive: Whether springs, dampers, dry friction, gravity compensation (``model.passive``) and losses of motors
            and gears act. ``tau`` and ``energy`` of the result exclude these forces.
        ground: A ``pc.Ground``, which is a plane with friction, or None.
        touching: Parts of the robot that can touch the ground or other shapes: frames or points as in
            ``pc.contact_points``, or a ``pin.GeometryModel`` of ``model.tree``. The default is ``model.collision``.
        limits: ``"position"`` stops joints at their position limits, ``"effort"`` limits the motor torques, and True
            activates both limits.
        self_collisions: Whether the two bodies of a collision pair of the robot can touch each other.
        rtol: Relative tolerance of ``"events"``, by default 1e-8. Without contacts and limits, it is the tolerance of
            the gear losses relative to the largest gear load, by default 1e-3.
        atol: Absolute tolerance of ``"events"``, by default 1e-10: in [rad/s] or [m/s] for velocities, and in [rad] or
            [m] for increments.

    Returns:
        The recorded samples.

    Raises:
        SimulationError: An argument is not allowed, the simulation diverged, a loop cannot be closed, or a user
            function raised an exception or returned NaN. ``error.result`` contains the samples up to the error.
        SimulationInterrupted: The user pressed Ctrl-C. The exception also has the attribute ``result``.
        ConfigurationError: ``q0`` violates a constraint.
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.

    Warns:
        PinClustersWarning: No torque acts, but the energy changed by more than 5 % of the largest kinetic energy, so
            ``dt`` is too large. ``"semi_implicit"`` does not emit this warning.

    References:
        Moreau, "Unilateral contact and dry friction in finite freedom dynamics", 1988; De Saxce and Feng, "The
        bipotential method", 1998; Munthe-Kaas, "High order Runge-Kutta methods on manifolds", 1999; Hairer, Lubich and
        Wanner, "Geometric Numerical Integration", chapters IV and VI.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> result = pc.simulate(model, pc.neutral(model), np.zeros(model.nv), duration=0.5, dt=1e-3)
        >>> bool(abs(result.energy - result.energy[0]).max() < 1e-6)
        True
    """
    checked = settings(
        model, q0, v0, tau, duration, dt, method, record, dynamics, switch, progress, contacts, passive,
        ground, touching, limits, self_collisions, rtol=rtol, atol=atol,
    )  # fmt: skip
    recorder = Recorder(checked) if checked.world is None else GroundRecorder(checked, checked.world)
    engine = engine_for(checked, recorder)
    run = _Run(Choices(model, engine.coordinates, checked.contacts), recorder, engine, State(0, checked.q0, checked.v0))
    try:
        run.go()
    except KeyboardInterrupt as stop:
        raise SimulationInterrupted(recorder.result()) from stop
    return recorder.result()


def engine_for(settings: Settings, recorder: Any) -> PythonEngine | CompiledGroundEngine:
    """Return the fastest engine that supports the settings."""
    compiled = kernels.JIT and can_move(settings.model)
    if settings.world is not None:
        return ground_engine_for(settings, recorder, settings.world, compiled)
    if not compiled:
        return PythonEngine(settings, recorder)
    callback_supported = not callable(settings.torque) or native is not None
    passive_in_python = settings.passive is not None and not settings.passive.compiled
    stages_in_python = passive_in_python or settings.dynamics is not None or settings.contacts is not None
    return (CompiledEngine if callback_supported and not stages_in_python else MixedEngine)(settings, recorder)


class _Run:
    """Runs batches of steps, and changes the independent joints between batches if necessary."""

    def __init__(self, choices: Choices, recorder: Recorder, engine: Any, state: State) -> None:
        self.choices, self.recorder, self.engine, self.state = choices, recorder, engine, state
        self.settings, self.on = recorder.settings, choices.first
        self.watch = None if self.settings.world is not None else _messages.Watch(recorder)  # contacts dissipate energy

    def go(self) -> None:
        s, state = self.settings, self.state
        failed_at, failures = -1, 0  # index of the last failed step, and the number of its failures
        while True:
            try:
                if state.k < s.steps:
                    self.engine.advance(self.on, state, min(s.steps, state.k + self.engine.batch))
                if state.k == s.steps:
                    self.engine.start(self.on, state)
            except NearSingular as near:
                self._try_others(near.which, GAIN)
                continue
            except (BranchLost, SingularClusterError) as lost:
                failures = failures + 1 if state.k == failed_at else 1
                failed_at = state.k
                if failures <= len(self.on.joints) and self._rescue(lost):
                    continue
                a = np.zeros_like(state.v)  # zero is used if the acceleration cannot be computed
                with suppress(PinClustersError, StepFailed):
                    a, _ = self._acceleration()
                self._fail(_messages.lost(self.recorder, state, lost, a), lost)
            except Diverged as wild:
                self._fail(_messages.diverged(self.recorder, state.k, wild.v), None)
            except StepFailed as failed:
                self._fail(f"simulate: {failed}", failed.__cause__)
            if self.watch is not None and (text := self.watch.check_samples()):
                self._fail(text, None, more=False)
            if s.progress is not None:
                try:
                    s.progress(state.k, s.steps)
                except Exception as error:
                    self._fail(f"simulate: progress raised {type(error).__name__}: {error}", error)
            if state.k == s.steps:
                if self.watch is not None and (text := self.watch.final_warning()):
                    warnings.warn(text, PinClustersWarning, stacklevel=3)
                return

    def _try_others(self, which: int, gain: float) -> bool:
        """Use other independent joints for a cluster if they reduce the condition number by the factor ``gain``.

        Otherwise, increase the limit of this cluster, so that the next search starts only at a larger condition number.
        """
        on, state = self.on, self.state
        new = self.choices.better(on, which, state.q, gain)
        if new is None:
            bound = float(on.bounds()[which])
            on.limits[which] = GAIN * bound if np.isfinite(bound) else np.inf
            return False
        v_tree = on.sample(state.q, state.v, np.zeros_like(state.v)).v_tree
        joints = on.joints[which]
        self.recorder.switches.append(
            Switch(self.settings.time(state.k), on.independents(joints), new.independents(joints))
        )
        self.on, state.v = new, v_tree[new.model.idx_v_independent]
        return True

    def _rescue(self, lost: BranchLost | SingularClusterError) -> bool:
        """Prepare to repeat a failed step with other independent joints; return whether better joints exist."""
        if not self.settings.switch or self.settings.dynamics is not None or not lost.cluster:
            return False
        names = self.on.model.own_tree.names
        for which, joints in enumerate(self.on.joints):
            if {names[j] for j in joints} == set(lost.cluster):
                with suppress(PinClustersError):  # in an exactly singular state, the new velocity is undefined
                    return self._try_others(which, 1.0)
        return False

    def _acceleration(self) -> tuple[np.ndarray, np.ndarray]:
        state = self.state
        return self.engine.acceleration(self.on, state.k, self.settings.time(state.k), state.q, state.v)

    def _fail(self, text: str, cause: BaseException | None, more: bool = True) -> None:
        """Raise a ``SimulationError`` whose result contains all samples up to the last valid state."""
        state, recorder = self.state, self.recorder
        if more and (not recorder.count or recorder.time[recorder.count - 1] < self.settings.time(state.k)):
            with suppress(PinClustersError, StepFailed):  # if the acceleration cannot be computed, no sample is added
                a, tau = self._acceleration()
                recorder.add(self.settings.time(state.k), state.q, tau, self.on.sample(state.q, state.v, a))
        raise SimulationError(text, recorder.result()) from cause
