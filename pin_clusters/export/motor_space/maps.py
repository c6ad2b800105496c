"""Programs for the maps between joints and motors; they run as machine code, and ``codegen`` exports them as C."""

import itertools
from functools import reduce

import numpy as np

from ...compiler.tracing.expressions import Graph, select
from ...compiler.tracing.program import Program, objects
from ...compiler.tracing.run import Run
from .mechanism import Mechanism
from .pose_solvers import Pose, PoseSolver, determinant, larger, value

INPUTS = {
    "forward": ("motors",),
    "inverse": ("joints",),
    "configuration": ("joints",),
    "jacobian": ("joints",),
    "hessian": ("joints",),
    "torque": ("joints", "joint_torque"),
    "joint_torque": ("joints", "motor_torque"),
    "limits": ("joints", "motor_limit"),
    "gains": ("joints", "stiffness", "damping", "joint_torque"),
}
"""Names of the inputs of each map; matrices are stored by rows."""
EXPORTED = tuple(name for name in INPUTS if name not in ("configuration", "hessian"))
"""Names of the maps that can be exported as C."""


class Maps:
    """Makes a mechanism's programs; ``inverse`` finds poses from joint positions, ``forward`` from driver positions."""

    def __init__(self, mechanism: Mechanism, inverse: PoseSolver, forward: PoseSolver) -> None:
        self.m, self.solvers = mechanism, (inverse, forward)

    def program(self, name: str) -> Program:
        """Return the program of a map in ``INPUTS``, with the additional output ``status``, shape (4,).

        ``status`` contains the loop residual and three margins. The first is 0 at singularities of this map, the second
        at singularities of the opposite map, and the third at the largest allowed change by Newton's method.
        """
        n, graph, forward = len(self.m.joints), Graph(), name == "forward"
        sizes = {x: n * n if x in ("stiffness", "damping") else n for x in INPUTS[name]}
        ends = zip(itertools.accumulate(sizes.values()), sizes.values(), strict=True)
        positions, *arguments = (np.array(graph.inputs(end - size, size)) for end, size in ends)
        pose = self.solvers[forward](np.linalg.inv(self.m.ratios) @ positions if forward else positions)
        back, reach = self.solvers[not forward], pose.reach
        if self.m.loops and not forward:  # the pose must also be within reach of the forward solver's guess
            reach = -larger(-reach, -back.reach(pose.q, self.m.joints))
        status = [pose.residual, pose.margin, back.margin(pose.q), reach]
        if name in ("torque", "limits", "gains"):
            J = self.J(pose)
            outputs = self._inverted(name, pose, inverse(J), *arguments)
        elif name in ("forward", "inverse"):
            values = objects([value(self.m.model, pose.q, j) for j in (self.m.joints if forward else self.m.drivers)])
            outputs = {"joints": values} if forward else {"motors": self.m.ratios @ values}
        elif name == "joint_torque":
            outputs = {name: self.J(pose).T @ arguments[0]}
        else:
            outputs = {name: pose.q if name == "configuration" else (self.J if name == "jacobian" else self.H)(pose)}
        return Program.of(f"{self.m.model.name}, {name}", [*sizes.items()], {**outputs, "status": objects(status)})

    def _run(self, pose: Pose, *columns: int) -> Run:
        v = np.zeros(self.m.model.nv)
        v[[*columns]] = 1.0
        return Run(self.m.by_joints, {"q": pose.q, "v": v})

    def J(self, pose: Pose) -> np.ndarray:
        """Return the derivative of the motor positions with respect to the joint positions, shape (n, n)."""
        G = self._run(pose).G[:, self.m.columns(self.m.by_joints)]
        if not self.m.loops:
            G = G.astype(float) @ np.linalg.inv(self.m.of_joints(G).astype(float))
        return self.m.of_motors(G)

    def H(self, pose: Pose) -> np.ndarray:
        """Return the second derivatives of the motor positions with respect to the joint positions, shape (n, n, n)."""
        n, columns = len(self.m.joints), self.m.columns(self.m.by_joints)
        H = np.full((n, n, n), 0.0, dtype=object)
        for i, j in itertools.combinations_with_replacement(range(n), 2) if self.m.loops else ():
            H[:, i, j] = self.m.of_motors(self._run(pose, columns[i], columns[j]).bias)
        for i, j in itertools.combinations(range(n), 2):
            H[:, i, j] = H[:, j, i] = (H[:, i, j] - H[:, i, i] - H[:, j, j]) * 0.5
        return H

    def _inverted(self, name: str, pose: Pose, back: np.ndarray, *given: np.ndarray) -> dict[str, np.ndarray]:
        if name == "torque":
            return {"motor_torque": back.T @ given[0]}
        if (
            name == "limits"
        ):  # scale the limits of single joints so that all torques t within them satisfy M |t| <= limit
            M = np.array([[select(x, 0.0, -x, x) for x in row] for row in back.T], dtype=object)
            single_joint_limits = np.array([1.0 / reduce(larger, column / given[0]) for column in M.T])
            return {"limits": single_joint_limits / reduce(larger, (M @ single_joint_limits) / given[0])}
        K, D, tau = given
        bent = np.tensordot(back.T @ tau, self.H(pose), 1)
        K, D = (back.T @ M @ back for M in (K.reshape(bent.shape) + bent, D.reshape(bent.shape)))
        return {"motor_stiffness": K, "motor_damping": D}


def inverse(M: np.ndarray) -> np.ndarray:
    result, total, n = np.empty(M.shape, dtype=object), determinant(M), range(len(M))
    for i, j in itertools.product(n, n):
        minor = np.delete(np.delete(M, i, axis=0), j, axis=1)
        result[j, i] = (-1.0) ** (i + j) * determinant(minor) / total
    return result
