"""``pc.simulate``."""

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

    Every configuration is on the manifold: free flyers, quaternions, couplings and closed loops. With ``ground`` and
    ``limits`` contacts come and go by themselves: feet land, stick, slide and leave, joints stop. What is given as
    ``contacts`` is kept closed all the time, also where a foot would rather leave the ground.

    Methods, with the order of the error at the end in dt:

    - ``"rk4"``: Runge-Kutta. 4 where all independent joints have one degree of freedom; 2 in the pose of free flyers,
      spherical and planar joints, whose velocities do not commute.
    - ``"rkmk4"``: Runge-Kutta-Munthe-Kaas: 4 everywhere; the same as ``"rk4"`` without such joints.
    - ``"semi_implicit"``: Euler, the configuration moved with the new velocity. 1, with one call of ``aba`` per step.

    With ``ground`` or ``limits`` the method is ``"moreau"``: Moreau's midpoint rule, Signorini's and Coulomb's laws at
    the velocities of the end of each step (impacts without rebound), solved by Pinocchio. 2 in flight, 1 where contacts
    or stops push. ``tau`` is then asked once per step and held during it.

    ``method="events"`` is a second opinion on the same laws, for studies: steps of order 5, at most ``dt`` long, within
    ``rtol`` and ``atol``, with ``tau`` at every stage, that end where, by interpolation of order 4, something lands,
    lets go, slips, stands, or meets or leaves a stop. It knows points and balls; 200 events in a step are too many.

    Near a dead centre, where the independent joints do not determine the others, it goes on with other independent
    joints inside (``pc.with_independent``). Results and torques stay in the coordinates of ``model``; ``switches`` and
    ``v_tree`` of the result say the rest.

    The loop is compiled, around the calls of ``tau`` if it is a function, if there are neither contacts nor
    ``dynamics``, and the model has no ``Coupling`` on a Python function, no (cos, sin) joint in a coupling, and of
    passive forces none but springs and the like along sums of joints and losses of motors whose ``actuation_matrix``
    is constant, carried by no ball joint inside the robot; otherwise it runs in Python. The results are the same up to
    rounding, and ``rtol`` of the losses.

    Dry friction and losses of gears turn their sign within ``FRICTION_SPEED``, 0.01 rad/s or m/s, or, where that is
    more, within the speed that they would take away in a step: what they hold creeps at a part of it, of order 1 in dt.
    What a gear loses follows from its load, and so from the acceleration, which is corrected until losses are
    right to ``rtol``; on a ground, and with stops, loads are those of the last step, with what contacts push.

    Args:
        model: Cluster model.
        q0: Start, shape (nq,), on the manifold.
        v0: Start, shape (nv,), [rad/s] or [m/s].
        tau: None for no torque; shape (nv,) for a constant one; shape (steps, nv), row k held during step k (zero-order
            hold); or a function ``tau(t, q, v)`` that returns shape (nv,), called at every stage, more than once per
            time. [N m] or [N].
        duration: [s]. If it is no multiple of ``dt``, the last step is shorter.
        dt: Length of a step, [s].
        method: ``"rk4"`` (the default), ``"semi_implicit"`` or ``"rkmk4"``; with a ground ``"moreau"``
            (the default) or ``"events"``.
        record: Keep every n-th step; start and end are always kept.
        dynamics: A function ``(q, v, tau)`` that returns the acceleration, shape (nv,), in place of ``pc.aba``: an
            approximation, to be seen beside the exact robot. Independent joints are then not changed.
        switch: Whether independent joints may be changed inside; if not, a dead centre is an error.
        progress: Called with (steps done, steps in total) now and then.
        contacts: ``pin.RigidConstraintModel`` objects (``pc.RigidConstraintModel``). One without gains and desired
            motion is held where it is at the start, and brought back there after each step; of others the
            acceleration is prescribed as by ``pc.constraintDynamics``. The steps then run in Python.
        passive: Whether springs, dampers, dry friction and held weight of the model (``model.passive``) act, as by
            ``pc.passive_torque``, and motors and gears lose what they do; ``tau`` of the result is without them, and
            their energy is not in ``energy``.
        ground: A plane with friction; other fixed shapes stand in the geometry, on the universe.
        touching: What may touch: points of frames or joints, as ``pc.contact_points`` takes them, or a
            ``pin.GeometryModel`` of ``model.tree``. By default ``model.collision``.
        limits: Whether joints stop at the ends of their ranges (``lowerPositionLimit``, ``upperPositionLimit``),
            dependent ones too, and torques at what motors give (``effortLimit``); ``"position"`` or ``"effort"`` for
            one of them.
        self_collisions: Whether the pairs of the robot's own shapes (``collisionPairs``) may touch.
        rtol: Of ``"events"``, by default 1e-8: velocity and increment err by ``atol + rtol * abs(v).max()`` in a step.
            Without ground and stops, where gears have losses: of these, beside the largest load, by default 1e-3.
        atol: By default 1e-10, [rad/s], [m/s]; of the increment [rad], [m].

    Returns:
        The samples.

    Raises:
        SimulationError: An argument is not allowed, the simulation diverged, a loop cannot follow, or a function of the
            user raised or gave NaN; its ``result`` has the samples until then.
        SimulationInterrupted: Ctrl-C (it is a ``KeyboardInterrupt``); its ``result`` has the samples until then.
        ConfigurationError: ``q0`` is off the manifold.
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.

    Warns:
        PinClustersWarning: No torque acts, but the energy did not stay within 5 % of the largest kinetic energy: the
            step is too large (not said of ``"semi_implicit"``).

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
    chosen = settings(
        model, q0, v0, tau, duration, dt, method, record, dynamics, switch, progress, contacts, passive,
        ground, touching, limits, self_collisions, rtol=rtol, atol=atol,
    )  # fmt: skip
    recorder = Recorder(chosen) if chosen.world is None else GroundRecorder(chosen, chosen.world)
    engine = engine_for(chosen, recorder)
    run = _Run(Choices(model, engine.coordinates, chosen.contacts), recorder, engine, State(0, chosen.q0, chosen.v0))
    try:
        run.go()
    except KeyboardInterrupt as stop:
        raise SimulationInterrupted(recorder.result()) from stop
    return recorder.result()


def engine_for(settings: Settings, recorder: Any) -> PythonEngine | CompiledGroundEngine:
    """Return the fastest engine that can do what is asked."""
    compiled = kernels.JIT and can_move(settings.model)
    if settings.world is not None:
        return ground_engine_for(settings, recorder, settings.world, compiled)
    if not compiled:
        return PythonEngine(settings, recorder)
    alone = not callable(settings.torque) or native is not None
    passive = settings.passive is not None and not settings.passive.compiled
    in_python = passive or settings.dynamics is not None or settings.contacts is not None
    return (CompiledEngine if alone and not in_python else MixedEngine)(settings, recorder)


class _Run:
    """A simulation under way: runs batches of steps, and changes coordinates between them."""

    def __init__(self, choices: Choices, recorder: Recorder, engine: Any, state: State) -> None:
        self.choices, self.recorder, self.engine, self.state = choices, recorder, engine, state
        self.settings, self.on = recorder.settings, choices.first
        self.watch = None if self.settings.world is not None else _messages.Watch(recorder)  # contacts take energy

    def go(self) -> None:
        s, state = self.settings, self.state
        failed_at, failures = -1, 0  # the step that failed last, and how often
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
                a = np.zeros_like(state.v)  # if there is none
                with suppress(PinClustersError, StepFailed):
                    a, _ = self._acceleration()
                self._fail(_messages.lost(self.recorder, state, lost, a), lost)
            except Diverged as wild:
                self._fail(_messages.diverged(self.recorder, state.k, wild.v), None)
            except StepFailed as failed:
                self._fail(f"simulate: {failed}", failed.__cause__)
            if self.watch is not None and (text := self.watch.look()):
                self._fail(text, None, more=False)
            if s.progress is not None:
                try:
                    s.progress(state.k, s.steps)
                except Exception as error:
                    self._fail(f"simulate: progress raised {type(error).__name__}: {error}", error)
            if state.k == s.steps:
                if self.watch is not None and (text := self.watch.doubt()):
                    warnings.warn(text, PinClustersWarning, stacklevel=3)
                return

    def _try_others(self, which: int, gain: float) -> bool:
        """Change the coordinates of a cluster if others are better; if not, look again when they are worse still."""
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
        """Do a failed step again in other coordinates, if there are better ones."""
        if not self.settings.switch or self.settings.dynamics is not None or not lost.cluster:
            return False
        names = self.on.model.own_tree.names
        for which, joints in enumerate(self.on.joints):
            if {names[j] for j in joints} == set(lost.cluster):
                with suppress(PinClustersError):  # singular at the state itself: no velocity to start from
                    return self._try_others(which, 1.0)
        return False

    def _acceleration(self) -> tuple[np.ndarray, np.ndarray]:
        """Return acceleration and torque at the state."""
        state = self.state
        return self.engine.acceleration(self.on, state.k, self.settings.time(state.k), state.q, state.v)

    def _fail(self, text: str, cause: BaseException | None, more: bool = True) -> None:
        """Raise a SimulationError, with everything up to the last good state."""
        state, recorder = self.state, self.recorder
        if more and (not recorder.count or recorder.time[recorder.count - 1] < self.settings.time(state.k)):
            with suppress(PinClustersError, StepFailed):  # the last sample is then the one before
                a, tau = self._acceleration()
                recorder.add(self.settings.time(state.k), state.q, tau, self.on.sample(state.q, state.v, a))
        raise SimulationError(text, recorder.result()) from cause
