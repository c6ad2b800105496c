"""The functions between joints and motors as programs: of which Python calls machine code, and C is written."""

import itertools
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from ..tracing.expressions import Graph, Number, select
from ..tracing.program import Program
from ..tracing.run import Run
from .mechanism import Mechanism
from .ways import Pose, Way, determinant, value

INPUTS = {
    "forward": ("motors",), "inverse": ("joints",), "configuration": ("joints",), "jacobian": ("joints",),
    "hessian": ("joints",), "torque": ("joints", "joint_torque"), "joint_torque": ("joints", "motor_torque"),
    "limits": ("joints", "motor_limit"), "gains": ("joints", "stiffness", "damping", "joint_torque"),
}  # fmt: skip
"""What each function takes; entries of matrices by rows."""
EXPORTED = tuple(name for name in INPUTS if name not in ("configuration", "hessian"))
"""What C gets."""
Outputs = dict[str, np.ndarray]


class Maps:
    """Makes the programs of a mechanism, of the ways from its joints and from what its motors turn to its pose."""

    def __init__(self, mechanism: Mechanism, inverse: Way, forward: Way) -> None:
        self.m, self.ways = mechanism, (inverse, forward)
        self._reference = float(determinant(self.J(Pose(mechanism.model.q_reference.astype(object)))))

    def program(self, name: str) -> Program:
        """Return one of ``INPUTS``; its last output is ``status``: what is open, and margins to dead centres."""
        n, graph = len(self.m.joints), Graph()
        sizes = {x: n * n if x in ("stiffness", "damping") else n for x in INPUTS[name]}
        ends = itertools.accumulate(sizes.values())
        given = [np.array(graph.inputs(end - size, size)) for end, size in zip(ends, sizes.values(), strict=True)]
        forward = name == "forward"
        pose = self.ways[forward](np.linalg.inv(self.m.ratios) @ given[0] if forward else given[0])
        outputs: Outputs = getattr(self, f"_{name}")(pose, *given[1:])
        status = [pose.residual, pose.margin]
        if "J" in outputs:  # which was inverted
            status.append(determinant(outputs.pop("J")) / self._reference)
        return Program.of(f"{self.m.model.name}, {name}", list(sizes.items()), {**outputs, "status": np.array(status)})

    def _values(self, pose: Pose, ids: Sequence[int]) -> np.ndarray:
        return np.array([value(self.m.model, pose.q, j) for j in ids], dtype=object)

    def _run(self, pose: Pose, *columns: int) -> Run:
        v = np.zeros(self.m.model.nv)
        v[[*columns]] = 1.0
        return Run(self.m.by_joints, {"q": pose.q, "v": v})

    def J(self, pose: Pose) -> np.ndarray:
        """Return d motors / d joints."""
        G = self._run(pose).G[:, self.m.columns(self.m.by_joints)]
        if not self.m.loops:
            G = G.astype(float) @ np.linalg.inv(self.m.of_joints(G).astype(float))
        return self.m.of_motors(G)

    def H(self, pose: Pose) -> np.ndarray:
        """Return d2 motors / d joints2: of biases along each joint, and along pairs of them."""
        n, columns = len(self.m.joints), self.m.columns(self.m.by_joints)
        H = np.full((n, n, n), 0.0, dtype=object)
        for i, j in itertools.combinations_with_replacement(range(n), 2) if self.m.loops else ():
            along = self.m.of_motors(self._run(pose, columns[i], columns[j]).bias)
            H[:, i, j] = H[:, j, i] = along
        for i, j in itertools.combinations(range(n), 2):
            H[:, i, j] = H[:, j, i] = (H[:, i, j] - H[:, i, i] - H[:, j, j]) * 0.5
        return H

    def _forward(self, pose: Pose) -> Outputs:
        return {"joints": self._values(pose, self.m.joints)}

    def _inverse(self, pose: Pose) -> Outputs:
        return {"motors": self.m.ratios @ self._values(pose, self.m.drivers)}

    def _configuration(self, pose: Pose) -> Outputs:
        return {"q": pose.q}

    def _jacobian(self, pose: Pose) -> Outputs:
        return {"jacobian": self.J(pose)}

    def _hessian(self, pose: Pose) -> Outputs:
        return {"hessian": self.H(pose)}

    def _torque(self, pose: Pose, tau: np.ndarray) -> Outputs:
        J = self.J(pose)
        return {"motor_torque": inverse(J).T @ tau, "J": J}

    def _joint_torque(self, pose: Pose, tau: np.ndarray) -> Outputs:
        return {"joint_torque": self.J(pose).T @ tau}

    def _limits(self, pose: Pose, limit: np.ndarray) -> Outputs:
        """All torques t with M |t| <= limit: a box in proportion to what each joint can have alone."""
        J = self.J(pose)
        M = np.array([[select(x, 0.0, -x, x) for x in row] for row in inverse(J).T], dtype=object)
        alone = np.array([reduce(_less, limit / column) for column in M.T])
        return {"limits": alone * reduce(_less, limit / (M @ alone)), "J": J}

    def _gains(self, pose: Pose, K: np.ndarray, D: np.ndarray, tau: np.ndarray) -> Outputs:
        J, n = self.J(pose), len(tau)
        back = inverse(J)
        bent = np.tensordot(back.T @ tau, self.H(pose), 1)
        found = {"motor_stiffness": back.T @ (K.reshape(n, n) + bent) @ back}
        return {**found, "motor_damping": back.T @ D.reshape(n, n) @ back, "J": J}


def inverse(M: np.ndarray) -> np.ndarray:
    """Return the inverse of a square matrix of at most 3 rows."""
    found, total, n = np.full(M.shape, 1.0, dtype=object), determinant(M), range(len(M))
    for i, j in itertools.product(n, n):
        minor = np.delete(np.delete(M, i, axis=0), j, axis=1)
        found[j, i] = (-1.0) ** (i + j) * (determinant(minor) if len(minor) else 1.0) / total
    return found


def _less(x: Number, y: Number) -> Any:
    return select(x, y, x, y)
