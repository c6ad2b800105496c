"""Time this package and other solvers (peers): Pinocchio on the approximate robot, or exact baselines.

Robots with closed loops, or with dependent joints that are not rotors, have no armature approximation. Their peers are
the baseline ``projection``, and ``pin.constraintDynamics`` if it supports the loops.
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
"""Required accuracy of an iterative peer: largest error / max(1, largest acceleration)."""


@dataclass(frozen=True, eq=False)
class State:
    """A state of a robot, and the corresponding state of its approximation."""

    model: ClusterModel  # the exact robot
    approximate: pin.Model  # Pinocchio's model: independent joints with armature, rotors fixed to their carriers
    q: np.ndarray  # shape (model.nq,)
    q_approximate: np.ndarray  # shape (approximate.nq,)
    v: np.ndarray  # velocity of both robots, shape (nv,)
    x: np.ndarray  # acceleration or torque of both robots, shape (nv,)

    def cluster_calls(self, model: ClusterModel | None = None) -> dict[str, Call]:
        """Return a ``Call`` for each algorithm of this package, by name; ``model`` is by default the exact robot."""
        q = self.q if model is None else self.q_approximate
        model = model or self.model
        return _calls(_CLUSTER, model, model.createData(), q, self.v, self.x)

    def pinocchio_calls(self) -> dict[str, Call]:
        tree = self.approximate
        return _calls(_PINOCCHIO, tree, tree.createData(), self.q_approximate, self.v, self.x)


def state(model: ClusterModel, seed: int = 0) -> State:
    """Generate a random state; raise ``PinClustersError`` if the robot has no armature approximation."""
    approximate = armature_model(model, "diagonal")
    q, v, x = _random(model, seed)
    return State(model, approximate, q, np.ascontiguousarray(q[independent_q(model, approximate)]), v, x)


def _random(model: ClusterModel, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    pin.seed(seed)
    return randomConfiguration(model), rng.standard_normal(model.nv), rng.standard_normal(model.nv)


def _calls(
    functions: dict[str, Callable[..., Any]], model: Any, data: Any, q: np.ndarray, v: np.ndarray, x: np.ndarray
) -> dict[str, Call]:
    return {name: (f, (model, data, q) if name == "crba" else (model, data, q, v, x)) for name, f in functions.items()}


@dataclass(frozen=True, eq=False)
class Measured:
    """Times of this package and of its peers."""

    times: dict[str, dict[str, Timing]]  # times by algorithm and peer; ``OURS`` is the key of this package
    notes: tuple[str, ...]  # sentences about the peers that explain the times

    @property
    def peers(self) -> tuple[str, ...]:
        names = dict.fromkeys(name for timings in self.times.values() for name in timings)
        return tuple(name for name in names if name != OURS)


def measure(model: ClusterModel, *, repeats: int = 25, progress: Progress | None = None) -> Measured:
    """Time each algorithm and its peers in alternation, in one state; raise an error for singular reference poses."""
    try:
        robot_state = state(model)
    except ModelError as error:
        calls, notes = _exact_peers(model, str(error))
    else:
        calls = _against("Pinocchio, approximate", robot_state.cluster_calls(), robot_state.pinocchio_calls())
        notes = ("The approximate robot has no rotor bodies. A ratio below 1 means that the exact robot is faster.",)
    timings = interleaved(calls, repeats=repeats, progress=progress)
    return Measured(
        {n: {peer: t for (algorithm, peer), t in timings.items() if algorithm == n} for n in ALGORITHMS}, notes
    )


def _against(peer: str, cluster_calls: dict[str, Call], peer_calls: dict[str, Call]) -> dict[tuple[str, str], Call]:
    return {(n, name): calls[n] for name, calls in ((OURS, cluster_calls), (peer, peer_calls)) for n in ALGORITHMS}


def _exact_peers(model: ClusterModel, why: str) -> tuple[dict[tuple[str, str], Call], tuple[str, ...]]:
    q, v, x = _random(model)
    projected = _calls(_PROJECTION, model, projected_with_rods(model, q, v), q, v, x)
    cluster_calls = _calls(_CLUSTER, model, model.createData(), q, v, x)
    calls = _against("projection", cluster_calls, projected)
    notes = [
        "Projection (exact): Pinocchio on the spanning tree with every rotor as a body, reduced with G in NumPy. "
        + ("The time excludes computing G and its bias." if model.closures else f"There is no armature model: {why}")
    ]
    if model.closures:
        try:
            solver = constrained.createData(model, rotors="armature")
        except NotAvailableError as error:
            notes.append(f"pin.constraintDynamics is not timed: {error}")
        else:
            call, note = _contacts(solver, q, v, x)
            calls["aba", "pin.constraintDynamics"] = call
            bodiless = any(r.source is not None for r in model.rotors)
            notes.append(note + (" Rotors are approximated by armature." if bodiless else ""))
    notes.append("A ratio below 1 means that pin_clusters is faster.")
    return calls, tuple(notes)


def projected_with_rods(model: ClusterModel, q: np.ndarray, v: np.ndarray) -> Workspace:
    """Create a projection workspace that keeps G and g of a state and treats rods as bodies.

    Three point masses represent a rod exactly (Simpson's rule for a slender rod). The masses at the ends are added to
    the bodies. The mass in the middle is a body on its own translation joint, which has the mean velocity of both ends.
    Pinocchio's dynamics then include the rods; without this function, the baseline adds the rods in NumPy.
    """
    space = projection.createData(model)
    space.couple(q, v)
    space.hold = True
    if (rods := space.rods) is None:
        return space
    tree, q_tree = pin.Model(space.tree), np.array(space.configuration(q))
    speed = space.G @ v
    pin.computeJointJacobians(space.tree, rods.data, q_tree)
    jacobians = [[rods.jacobian(*end) for end in ends] for ends in rods.ends]
    pin.forwardKinematics(space.tree, rods.data, q_tree, speed, space.g)
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
    """Return a ``Call`` of ``pin.constraintDynamics`` with the fewest iterations that reach ACCURACY, and a note."""
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

    max_iterations = 50
    best = solved(max_iterations)
    tolerance = ACCURACY * max(1.0, np.abs(best).max())
    needed = next((n for n in range(1, max_iterations) if np.abs(solved(n) - best).max() <= tolerance), max_iterations)
    return call(needed), (
        f"pin.constraintDynamics: contacts close the loops, mu = {mu:g}. {needed} iterations suffice to reach the "
        f"converged result within {ACCURACY:g}."
    )
