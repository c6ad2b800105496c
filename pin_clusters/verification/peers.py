"""What this package is timed against: Pinocchio on the approximate robot, or exact rivals where there is none.

Robots that have no approximation by armature (closed loops; dependent joints that are no rotors) are timed against
projection, and ``pin.constraintDynamics`` where it can express the loops.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ..algorithms.dynamics.aba import aba
from ..algorithms.dynamics.crba import crba
from ..algorithms.dynamics.rnea import rnea
from ..approximations.armature import independent_q
from ..errors import ModelError, NotAvailableError
from ..model import ClusterModel
from ..model.configuration import randomConfiguration
from .baselines import armature_model, constrained, projection
from .baselines._workspace import Workspace
from .timing import Call, Progress, Timing, interleaved

ALGORITHMS = ("rnea", "aba", "crba")
_CLUSTER: dict[str, Callable[..., Any]] = {"rnea": rnea, "aba": aba, "crba": crba}
_PROJECTION: dict[str, Callable[..., Any]] = {name: getattr(projection, name) for name in ALGORITHMS}
_PINOCCHIO: dict[str, Callable[..., Any]] = {name: getattr(pin, name) for name in ALGORITHMS}
OURS = "pin_clusters, exact"
ACCURACY = 1e-8
"""What an iterative rival has to reach, relative to max(1, its largest acceleration)."""


@dataclass(frozen=True, eq=False)
class State:
    """One state of a robot and of its approximation.

    Attributes:
        model: The robot.
        approximate: The same robot for Pinocchio: independent joints with armature, rotors locked into their carriers.
        q: Shape (model.nq,).
        q_approximate: Shape (approximate.nq,).
        v: Shape (nv,), for both.
        x: Acceleration or torque, shape (nv,), for both.
    """

    model: ClusterModel
    approximate: pin.Model
    q: np.ndarray
    q_approximate: np.ndarray
    v: np.ndarray
    x: np.ndarray

    def cluster_calls(self, model: ClusterModel | None = None) -> dict[str, Call]:
        """Return calls of this package's algorithms, by name.

        Args:
            model: A ClusterModel of the approximate tree, instead of the robot itself.
        """
        q = self.q if model is None else self.q_approximate
        model = model or self.model
        return _calls(_CLUSTER, model, model.createData(), q, self.v, self.x)

    def pinocchio_calls(self) -> dict[str, Call]:
        """Return calls of Pinocchio's algorithms on the approximate robot, by name."""
        tree = self.approximate
        return _calls(_PINOCCHIO, tree, tree.createData(), self.q_approximate, self.v, self.x)


def state(model: ClusterModel, seed: int = 0) -> State:
    """Return a random state.

    Raises:
        PinClustersError: The robot has no armature approximation.
    """
    approximate = armature_model(model, "diagonal")
    q, v, x = _random(model, seed)
    return State(model, approximate, q, np.ascontiguousarray(q[independent_q(model, approximate)]), v, x)


def _random(model: ClusterModel, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a configuration, a velocity, and an acceleration or torque."""
    rng = np.random.default_rng(seed)
    pin.seed(seed)
    return randomConfiguration(model), rng.standard_normal(model.nv), rng.standard_normal(model.nv)


def _calls(
    functions: dict[str, Callable[..., Any]], model: Any, data: Any, q: np.ndarray, v: np.ndarray, x: np.ndarray
) -> dict[str, Call]:
    return {name: (f, (model, data, q) if name == "crba" else (model, data, q, v, x)) for name, f in functions.items()}


@dataclass(frozen=True, eq=False)
class Measured:
    """Times of this package and of its rivals.

    Attributes:
        times: Per algorithm, the timing of each competitor that has it, this package's under ``OURS``.
        notes: What must be known about the rivals, one sentence or more per line.
    """

    times: dict[str, dict[str, Timing]]
    notes: tuple[str, ...]

    @property
    def rivals(self) -> tuple[str, ...]:
        """All but this package, in order."""
        found = dict.fromkeys(name for timings in self.times.values() for name in timings)
        return tuple(name for name in found if name != OURS)


def measure(model: ClusterModel, *, repeats: int = 25, progress: Progress | None = None) -> Measured:
    """Time each algorithm on one state against its rivals, interleaved.

    Raises:
        PinClustersError: The robot is singular at the reference pose.
    """
    try:
        one = state(model)
    except ModelError as error:
        calls, notes = _exact_rivals(model, str(error))
    else:
        calls = _against("Pinocchio, approximate", one.cluster_calls(), one.pinocchio_calls())
        notes = ("The approximate robot has armature and no rotor bodies. Below 1, exact is faster.",)
    found = interleaved(calls, repeats=repeats, progress=progress)
    return Measured({n: {rival: t for (of, rival), t in found.items() if of == n} for n in ALGORITHMS}, notes)


def _against(rival: str, ours: dict[str, Call], theirs: dict[str, Call]) -> dict[tuple[str, str], Call]:
    """Return the calls by algorithm and competitor."""
    return {(n, name): calls[n] for name, calls in ((OURS, ours), (rival, theirs)) for n in ALGORITHMS}


def _exact_rivals(model: ClusterModel, why: str) -> tuple[dict[tuple[str, str], Call], tuple[str, ...]]:
    """Return what is timed for a robot without approximation by armature, and notes."""
    q, v, x = _random(model)
    projected = _calls(_PROJECTION, model, projected_with_rods(model, q, v), q, v, x)
    ours = _calls(_CLUSTER, model, model.createData(), q, v, x)
    calls = _against("projection", ours, projected)
    notes = [
        "Projection: Pinocchio on the spanning tree with every rotor a body, reduced with G in NumPy; exact. "
        + ("G and its bias are given to it and cost it nothing." if model.closures else f"Armature is no rival: {why}")
    ]
    if model.closures:
        try:
            solver = constrained.createData(model, rotors="armature")
        except NotAvailableError as error:
            notes.append(f"pin.constraintDynamics is no rival: {error}")
        else:
            call, note = _contacts(solver, q, v, x)
            calls["aba", "pin.constraintDynamics"] = call
            bodiless = any(r.source is not None for r in model.rotors)
            notes.append(note + (" Rotors are approximated by armature." if bodiless else ""))
    notes.append("Below 1, pin_clusters is faster.")
    return calls, tuple(notes)


def projected_with_rods(model: ClusterModel, q: np.ndarray, v: np.ndarray) -> Workspace:
    """Return a workspace of projection that keeps G and g of a state, and has rods that cost what bodies do.

    A rod is three point masses (of a slender one by Simpson's rule): those at the ends go into the bodies there, that
    in the middle is a body on a translation joint of its own that moves with the mean of the ends. That is exact, and
    all of it is done by Pinocchio; the baseline itself adds rods in NumPy.
    """
    space = projection.createData(model)
    space.couple(q, v)
    space.hold = True
    if (rods := space.rods) is None:
        return space
    tree, own = pin.Model(space.tree), np.array(space.configuration(q))
    speed = space.G @ v
    pin.computeJointJacobians(space.tree, rods.data, own)
    jacobians = [[rods.jacobian(*end) for end in ends] for ends in rods.ends]
    pin.forwardKinematics(space.tree, rods.data, own, speed, space.g)
    G, g = [space.G], [space.g]
    for i, (rod, ends, J) in enumerate(zip(rods.closures, rods.ends, jacobians, strict=True)):
        at_a, in_middle, at_b = rod.point_masses
        for (j, point), mass in zip(ends, (at_a, at_b), strict=True):
            tree.inertias[j] += pin.Inertia(mass, point, np.zeros((3, 3)))
        middle = tree.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), f"rod {i}")
        tree.appendBodyToJoint(middle, pin.Inertia(in_middle, np.zeros(3), np.zeros((3, 3))), pin.SE3.Identity())
        G.append(0.5 * (J[0] + J[1]) @ space.G)
        g.append(0.5 * (rods.acceleration(*ends[0]) + rods.acceleration(*ends[1])))
    space.extend(tree, np.vstack(G), np.concatenate(g))
    return space


def _contacts(
    solver: constrained.ConstrainedWorkspace, q: np.ndarray, v: np.ndarray, x: np.ndarray
) -> tuple[Call, str]:
    """Return a call of ``pin.constraintDynamics`` with as few iterations as do, and what it is."""
    full_q, full_v = solver.state(q, v)
    tau = np.zeros(solver.tree.nv)
    tau[solver.independent] = x
    _, mu, _ = constrained.SETTINGS["constraintDynamics"]

    def call(iterations: int) -> Call:
        settings = pin.ProximalSettings(1e-14, mu, iterations)
        bodies = solver.tree, solver.data, full_q, full_v, tau
        return pin.constraintDynamics, (*bodies, solver.contacts, solver.contact_datas, settings)

    def solved(iterations: int) -> np.ndarray:
        function, arguments = call(iterations)
        return np.array(function(*arguments))

    most = 50
    best = solved(most)
    near = ACCURACY * max(1.0, np.abs(best).max())
    enough = next((n for n in range(1, most) if np.abs(solved(n) - best).max() <= near), most)
    return call(enough), (
        f"pin.constraintDynamics: loops cut into contacts, mu {mu:g}, as few iterations as come to {ACCURACY:g} of "
        f"its own answer ({enough})."
    )
