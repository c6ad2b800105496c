"""Another library's numbers for Tello with its differentials and for a four-bar, at its states as they are."""

from __future__ import annotations

import json
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import pin_clusters as pc
from pin_clusters.verification import reference
from pin_clusters.verification.baselines import lagrange, projection

LIMIT = 1e-10
LINEAR_FIRST = [3, 4, 5, 0, 1, 2]
GEAR = 6.0
PI = 3.1415  # what the other library's knee-ankle equation was computed with


def hip(x: np.ndarray) -> np.ndarray:
    """Closure of Tello's hip: angles of two rotors, gimbal and thigh."""
    y, l1, l2 = np.array([x[0], x[1]]) / GEAR, x[2], x[3]
    s = np.array([1.0, -1.0])
    sin, cos = np.sin, np.cos
    return (
        0.0228 * sin(y) - 0.0098 * cos(l1) - s * 0.01995 * sin(l1) - 0.0128 * cos(y) * cos(l2)
        - 0.0228 * cos(l1) * sin(l2) - s * 0.0112 * sin(y) * sin(l1) + s * 0.0112 * sin(l1) * sin(l2)
        - 0.0128 * cos(l1) * sin(y) * sin(l2) + 0.01888125
    )  # fmt: skip


def knee_ankle(x: np.ndarray) -> np.ndarray:
    """Closure of Tello's knee and ankle: angles of two rotors, shin and foot."""
    y1, y2, l1, l2 = x[0] / GEAR, x[1] / GEAR, x[2], x[3]
    d = (y1 - y2) / 2.0
    sin, cos = np.sin, np.cos
    return np.array([
        0.00336 * cos(d + 1979.0 * PI / 4500.0) - 0.0208 * cos(d + 493.0 * PI / 1500.0) - 0.02184 * cos(PI / 9.0)
        - 0.0028 * sin(d + l2 + 231.0 * PI / 500.0) + 0.0182 * sin(l2 + 2.0 * PI / 15.0)
        - 0.00294 * sin(l2 + PI / 45.0) + 0.02613584,
        l1 - (y1 + y2) / 2.0,
    ])  # fmt: skip


def tello(how: str) -> list[Any]:
    constraints: list[Any] = []
    for side in ("left", "right"):
        clamp = f"torso-to-{side}-hip-clamp"
        constraints.append(pc.LinearCoupling(f"{clamp}-rotor", {clamp: GEAR}))
        hips = [f"{side}-hip-clamp-to-hip-rotor-{i}" for i in (1, 2)]
        knees = [f"{side}-thigh-to-knee-ankle-rotor-{i}" for i in (1, 2)]
        links = [f"{side}-hip-clamp-to-gimbal", f"{side}-gimbal-to-thigh"]
        shins = [f"{side}-thigh-to-shin", f"{side}-shin-to-foot"]
        if how == "differentials":
            constraints.append(pc.Differential.tello_hip(*hips, *links))
            constraints.append(pc.Differential.tello_knee_ankle(*knees, *shins, pi=PI))
        else:
            constraints.append(pc.Coupling([*hips, *links], hip, independent=hips))
            constraints.append(pc.Coupling([*knees, *shins], knee_ankle, independent=knees))
    return constraints


def four_bar(how: str) -> list[Any]:
    return [pc.Loop(("joint2", [1.0, 0.0, 0.0]), ("joint3", [0.5, 0.0, 0.0]), "revolute", axis=(0, 0, 1))]


ROBOTS = {"tello": tello, "four_bar": four_bar}


@lru_cache
def golden(robot: str) -> dict[str, Any]:
    return json.loads((Path(__file__).parent / "golden" / f"{robot}.json").read_text())


def rebuilt(robot: str) -> pin.Model:
    """The tree from the bodies, in the file's order."""
    numbers, tree, ids = golden(robot), pin.Model(), [0]
    tree.gravity = pin.Motion(np.array(numbers["gravity"], dtype=float), np.zeros(3))
    for b in numbers["bodies"]:
        free = b["joint_type"] == "free"
        joint = pin.JointModelFreeFlyer() if free else pin.JointModelRevoluteUnaligned(np.array(b["axis"], dtype=float))
        where = pin.SE3.Identity() if free else pin.SE3(np.array(b["Xtree_E"]).T, np.array(b["Xtree_r"], dtype=float))
        j = tree.addJoint(ids[b["parent"] + 1], joint, where, b["joint"])
        m, h = b["mass"], np.array(b["first_moment"], dtype=float)
        c = h / m if m else h
        about_centre = np.array(b["I_origin"]) - m * (c @ c * np.eye(3) - np.outer(c, c))
        tree.inertias[j] = pin.Inertia(m, c, about_centre)
        ids.append(j)
    for e in numbers["end_effectors"]:
        j = ids[1 + [b["name"] for b in numbers["bodies"]].index(e["body"])]
        tree.addFrame(
            pin.Frame(
                f"end of {e['body']}",
                j,
                0,
                pin.SE3(np.eye(3), np.array(e["offset"], dtype=float)),
                pin.FrameType.OP_FRAME,
            ),
            False,
        )
    return tree


class Case:
    """A state of the file in the conventions of this package."""

    def __init__(self, robot: str, how: str, k: int) -> None:
        self.robot, numbers = robot, golden(robot)
        s = self.state = numbers["states"][k]
        tree = rebuilt(robot)
        self.q = np.zeros(tree.nq)
        self.rows = np.zeros(tree.nv, dtype=int)  # where each entry of the tree's velocity is in the file
        for b in numbers["bodies"]:
            joint, i, n = tree.joints[tree.getJointId(b["joint"])], b["q_index"], b["v_index"]
            given = np.array(s["q_spanning"][i : i + joint.nq])
            self.q[joint.idx_q : joint.idx_q + joint.nq] = given if joint.nq == 1 else given[[0, 1, 2, 4, 5, 6, 3]]
            order = np.array(LINEAR_FIRST) if joint.nv == 6 else np.zeros(1, dtype=int)
            self.rows[joint.idx_v : joint.idx_v + joint.nv] = n + order
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)  # Python functions are slow, which it says once
            self.model = model = pc.ClusterModel(
                tree, ROBOTS[robot](how), self.q, independent=tuple(numbers["independent_joints"])
            )
        self.index = np.zeros(model.nv, dtype=int)  # where each of our entries is in the file
        first = 0
        for name in numbers["independent_joints"]:
            nv, own = model.tree.joints[model.getJointId(name)].nv, model.joint_idx_v(name)
            self.index[own : own + nv] = first + (np.array(LINEAR_FIRST) if nv == 6 else np.arange(nv))
            first += nv
        self.v = self.vector(s["v_independent"])
        self.G = np.array(s["G"], dtype=float).reshape(tree.nv, model.nv)[np.ix_(self.rows, self.index)]
        # the file's derivative of the base's velocity is spatial as well: its rows of g are zero
        self.g = np.array(s["g"], dtype=float)[self.rows]
        self.fext = None
        if "f_ext_world_origin" in s:
            self.fext = np.zeros((model.njoints, 6))
            data = tree.createData()
            pin.forwardKinematics(tree, data, self.q)
            for b, given in zip(numbers["bodies"], s["f_ext_world_origin"], strict=True):
                j = tree.getJointId(b["joint"])
                self.fext[j] = data.oMi[j].actInv(pin.Force(np.array(given)[LINEAR_FIRST])).vector

    def vector(self, given: Any) -> np.ndarray:
        return np.array(given, dtype=float)[self.index]

    def matrix(self, given: Any) -> np.ndarray:
        return np.array(given, dtype=float)[np.ix_(self.index, self.index)]


def error(x: Any, y: Any) -> float:
    """Largest difference over max(1, largest entry)."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    assert x.shape == y.shape
    return float(np.abs(x - y).max()) / max(1.0, float(np.abs(y).max()))


CASES = [(r, h, k) for r, h in (("tello", "differentials"), ("tello", "functions"), ("four_bar", "")) for k in (0, 1)]


@pytest.fixture(params=CASES, ids=str)
def case(request: pytest.FixtureRequest) -> Case:
    return Case(*request.param)


@pytest.mark.jitless
def test_kernels(case: Case) -> None:
    model, s, q, v = case.model, case.state, case.q, case.v
    data = model.createData()
    assert error(pc.coupling_jacobian(model, data, q), case.G) < LIMIT
    assert error(pc.coupling_bias(model, data, q, v), case.g) < LIMIT
    assert error(pc.rnea(model, data, q, v, case.vector(s["ydd_id"])), case.vector(s["tau_id"])) < LIMIT
    assert error(pc.aba(model, data, q, v, case.vector(s["tau"])), case.vector(s["ydd_fd"])) < LIMIT
    assert error(pc.crba(model, data, q), case.matrix(s["H"])) < LIMIT
    assert error(pc.nonLinearEffects(model, data, q, v), case.vector(s["C"])) < LIMIT
    assert error(pc.spanning_velocity(model, data, q, v), np.array(s["v_spanning"])[case.rows]) < LIMIT
    assert error(pc.computeMinverse(model, data, q) @ case.matrix(s["H"]), np.eye(model.nv)) < LIMIT
    if case.fext is not None:
        tau, a = case.vector(s["tau_id_with_fext"]), case.vector(s["ydd_fd_with_fext"])
        assert error(pc.rnea(model, data, q, v, case.vector(s["ydd_id"]), case.fext), tau) < LIMIT
        assert error(pc.aba(model, data, q, v, case.vector(s["tau"]), case.fext), a) < LIMIT


@pytest.mark.jitless
def test_operational_inertia(case: Case) -> None:
    model, q = case.model, case.q
    ends = [f"end of {e['body']}" for e in golden(case.robot)["end_effectors"]]
    own = [6 * i + r for i in range(len(ends)) for r in LINEAR_FIRST]
    expected = np.array(case.state["lambda_inv"])[np.ix_(own, own)]
    for found in (
        pc.inverse_operational_inertia(model, model.createData(), q, ends),
        reference.inverse_operational_inertia(model, q, ends),
        projection.inverse_operational_inertia(model, projection.createData(model), q, ends),
    ):
        assert error(found, expected) < LIMIT


@pytest.mark.parametrize("how", ["differentials", "functions"])
def test_derivatives_of_the_closures(how: str, rng: np.random.Generator) -> None:
    """What kernels and oracles both read, against differences; and the two ways to state the mechanism."""
    model = Case("tello", how, 0).model
    for closure, own in zip(model.closures, [hip, knee_ankle] * 2, strict=True):
        x = model.q_reference[[model.tree.joints[j].idx_q for j in closure.joints]] + 0.1 * rng.normal(size=4)
        np.testing.assert_allclose(closure.value(x), own(x), atol=1e-15)
        J, H = closure.jacobian(x).copy(), closure.hessian(x).copy()
        for i, e in enumerate(np.eye(4)):
            exact = np.imag(own(x + 1e-30j * e)) / 1e-30
            np.testing.assert_allclose(J[:, i], exact, atol=1e-15)
            h = 1e-5
            second = (closure.jacobian(x + h * e) - closure.jacobian(x - h * e)) / (2.0 * h)
            np.testing.assert_allclose(H[:, :, i], second, atol=1e-9)
        np.testing.assert_allclose(H, np.swapaxes(H, 1, 2), atol=1e-12)


def test_oracles(case: Case) -> None:
    """What the other tests compare with agrees with an outsider as well."""
    model, s, q, v = case.model, case.state, case.q, case.v
    tau_id, ydd_fd = ("tau_id", "ydd_fd") if case.fext is None else ("tau_id_with_fext", "ydd_fd_with_fext")
    tau, a = case.vector(s["tau"]), case.vector(s["ydd_id"])
    data, kkt = projection.createData(model), lagrange.createData(model)
    assert error(projection.rnea(model, data, q, v, a, case.fext), case.vector(s[tau_id])) < LIMIT
    assert error(data.loops.G, case.G) < LIMIT
    assert error(data.loops.g, case.g) < LIMIT
    assert error(projection.crba(model, data, q), case.matrix(s["H"])) < LIMIT
    assert error(projection.aba(model, data, q, v, tau, case.fext), case.vector(s[ydd_fd])) < LIMIT
    assert error(lagrange.aba(model, kkt, q, v, tau, case.fext), case.vector(s[ydd_fd])) < LIMIT
    assert error(reference.rnea(model, q, v, a, case.fext), case.vector(s[tau_id])) < LIMIT
    assert error(reference.crba(model, q), case.matrix(s["H"])) < LIMIT
    assert error(reference.aba(model, q, v, tau, case.fext), case.vector(s[ydd_fd])) < LIMIT
