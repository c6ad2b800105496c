"""The functions between joints and motors as programs: of which Python calls machine code, and C is written."""

import itertools
from collections.abc import Sequence
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


class Maps:
    """Makes the programs of a mechanism.

    Args:
        mechanism: The mechanism.
        inverse: From the joints to the pose.
        forward: From what the motors turn to the pose.
    """

    def __init__(self, mechanism: Mechanism, inverse: Way, forward: Way) -> None:
        self.m, self.ways = mechanism, (inverse, forward)
        q = np.array(mechanism.model.q_reference)
        self._reference = float(determinant(self._J(Pose(q.astype(object), 0.0, 1.0))))

    def program(self, name: str) -> Program:
        """Return one of ``INPUTS``."""
        n = len(self.m.joints)
        sizes = {x: n * n if x in ("stiffness", "damping") else n for x in INPUTS[name]}
        graph, given, first = Graph(), list[np.ndarray](), 0
        for size in sizes.values():
            given.append(np.array(graph.inputs(first, size), dtype=object))
            first += size
        if name == "forward":
            pose = self.ways[1](np.linalg.inv(self.m.ratios) @ given[0])
            outputs = {"joints": self._values(pose, self.m.joints)}
        else:
            pose = self.ways[0](given[0])
            outputs = getattr(self, f"_{name}")(pose, *given[1:])
        told = [pose.residual, pose.margin]
        if name in ("torque", "limits", "gains"):
            told.append(determinant(outputs.pop("J")) / self._reference)
        outputs["status"] = np.array(told, dtype=object)
        return Program.of(f"{self.m.model.name}, {name}", list(sizes.items()), outputs)

    def _values(self, pose: Pose, ids: Sequence[int]) -> np.ndarray:
        return np.array([value(self.m.model, pose.q, j) for j in ids], dtype=object)

    def _run(self, pose: Pose, v: Any = None) -> Run:
        model = self.m.by_joints
        return Run(model, {"q": pose.q, "v": np.zeros(model.nv) if v is None else v})

    def _J(self, pose: Pose) -> np.ndarray:
        G = self._run(pose).G[:, self.m.columns(self.m.by_joints)]
        if not self.m.loops:
            G = G.astype(float) @ np.linalg.inv(self.m.of_joints(G).astype(float))
        return self.m.of_motors(G)

    def _hessian(self, pose: Pose) -> dict[str, np.ndarray]:
        n, model = len(self.m.joints), self.m.by_joints
        H = np.full((n, n, n), 0.0, dtype=object)
        if not self.m.loops:
            return {"hessian": H}
        columns = self.m.columns(model)

        def along(*axes: int) -> np.ndarray:
            v = np.zeros(model.nv)
            v[[columns[k] for k in axes]] = 1.0
            return self.m.of_motors(self._run(pose, v).bias)

        for i in range(n):
            H[:, i, i] = along(i)
        for i, j in itertools.combinations(range(n), 2):
            H[:, i, j] = H[:, j, i] = (along(i, j) - H[:, i, i] - H[:, j, j]) * 0.5
        return {"hessian": H}

    def _inverse(self, pose: Pose) -> dict[str, np.ndarray]:
        return {"motors": self.m.ratios @ self._values(pose, self.m.drivers)}

    def _configuration(self, pose: Pose) -> dict[str, np.ndarray]:
        return {"q": pose.q}

    def _jacobian(self, pose: Pose) -> dict[str, np.ndarray]:
        return {"jacobian": self._J(pose)}

    def _torque(self, pose: Pose, tau: np.ndarray) -> dict[str, np.ndarray]:
        J = self._J(pose)
        return {"motor_torque": inverse(J).T @ tau, "J": J}

    def _joint_torque(self, pose: Pose, tau: np.ndarray) -> dict[str, np.ndarray]:
        return {"joint_torque": self._J(pose).T @ tau}

    def _limits(self, pose: Pose, limit: np.ndarray) -> dict[str, np.ndarray]:
        J = self._J(pose)
        return {"limits": box(_sizes(inverse(J).T), limit), "J": J}

    def _gains(self, pose: Pose, K: np.ndarray, D: np.ndarray, tau: np.ndarray) -> dict[str, np.ndarray]:
        J, n = self._J(pose), len(tau)
        back = inverse(J)
        motor = back.T @ tau
        bent = np.tensordot(motor, self._hessian(pose)["hessian"], 1)
        found = {"motor_stiffness": back.T @ (K.reshape(n, n) + bent) @ back}
        return found | {"motor_damping": back.T @ D.reshape(n, n) @ back, "J": J}


def inverse(M: np.ndarray) -> np.ndarray:
    """Return the inverse of a square matrix of at most 3 rows."""
    n = len(M)
    found, total = np.full((n, n), 1.0, dtype=object), determinant(M)
    for i, j in itertools.product(range(n), repeat=2):
        minor = np.delete(np.delete(M, i, axis=0), j, axis=1)
        found[j, i] = (-1.0) ** (i + j) * (determinant(minor) if n > 1 else 1.0) / total
    return found


def _sizes(M: np.ndarray) -> np.ndarray:
    return np.array([[select(x, 0.0, -x, x) for x in row] for row in M], dtype=object)


def _least(values: Sequence[Number]) -> Number:
    least = values[0]
    for x in values[1:]:
        least = select(x, least, x, least)
    return least


def box(M: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Return the box b with M b <= limit whose sides are to each other as those that are possible alone; M >= 0."""
    n = len(M)
    alone = np.array([_least([limit[i] / M[i, j] for i in range(n)]) for j in range(n)], dtype=object)
    used = M @ alone
    return alone * _least([limit[i] / used[i] for i in range(n)])
