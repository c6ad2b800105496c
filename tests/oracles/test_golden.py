"""Another library's numbers for two robots, rebuilt from its bodies, and for the robots that ship with this package."""

from __future__ import annotations

import json
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.tolerances import GOLDEN, relative

import pin_clusters as pc
from pin_clusters.verification import reference
from pin_clusters.verification.baselines import lagrange, projection

ROBOTS = ("mini_cheetah", "mit_humanoid_leg")
LINEAR_FIRST = [3, 4, 5, 0, 1, 2]


@lru_cache
def golden(robot: str) -> dict[str, Any]:
    return json.loads((Path(__file__).parent / "golden" / f"{robot}.json").read_text())


def rebuilt(robot: str) -> tuple[pc.ClusterModel, dict[str, int]]:
    """The robot from the bodies and from G, in the file's order; and the joint of each body."""
    numbers = golden(robot)
    tree, joint_of = pin.Model(), {}
    tree.gravity = pin.Motion(np.array(numbers["gravity"], dtype=float), np.zeros(3))
    ids = [0]
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
        joint_of[b["name"]] = j
    for e in numbers["end_effectors"]:
        where = pin.SE3(np.eye(3), np.array(e["offset"], dtype=float))
        tree.addFrame(pin.Frame(f"end of {e['body']}", joint_of[e["body"]], 0, where, pin.FrameType.OP_FRAME), False)
    joints = {b["joint"]: b for b in numbers["bodies"]}
    columns = [
        name for name in numbers["independent_joints"] for _ in range(6 if joints[name]["joint_type"] == "free" else 1)
    ]
    constraints = []
    for b in numbers["bodies"]:
        if b["joint"] in numbers["independent_joints"]:
            continue
        row = np.array(numbers["G"][b["v_index"]])
        constraints.append(pc.LinearCoupling(b["joint"], {columns[i]: row[i] for i in np.flatnonzero(row)}))
    return pc.ClusterModel(tree, constraints), joint_of


def shipped(robot: str) -> tuple[pc.ClusterModel, dict[str, int]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.load(robot)
    joint_of = {}
    for b in golden(robot)["bodies"]:
        joint_of[b["name"]] = 1 if b["joint_type"] == "free" else model.getJointId(b["name"].removesuffix("_link"))
    return model, joint_of


class Case:
    """A state of the file in the conventions of this package."""

    def __init__(self, robot: str, model: pc.ClusterModel, joint_of: dict[str, int], state: dict[str, Any]) -> None:
        self.model, tree, numbers = model, model.tree, golden(robot)
        by_joint = {b["joint"]: b for b in numbers["bodies"]}
        self.q = np.zeros(model.nq)
        for b in numbers["bodies"]:
            joint, i = tree.joints[joint_of[b["name"]]], b["q_index"]
            given = np.array(state["q_spanning"][i : i + joint.nq])
            self.q[joint.idx_q : joint.idx_q + joint.nq] = given if joint.nq == 1 else given[[0, 1, 2, 4, 5, 6, 3]]
        self.index = np.zeros(model.nv, dtype=int)  # where each of our entries is in the file
        at = 0
        for name in numbers["independent_joints"]:
            joint = tree.joints[joint_of[by_joint[name]["name"]]]
            k = int(np.searchsorted(model.idx_v_independent, joint.idx_v))
            self.index[k : k + joint.nv] = at + (np.array(LINEAR_FIRST) if joint.nv == 6 else np.arange(joint.nv))
            at += joint.nv
        self.v = self.vector(state["v_independent"])
        self.state = state
        self.fext = np.zeros((model.njoints, 6))
        if "f_ext_world_origin" in state:
            data = tree.createData()
            pin.forwardKinematics(tree, data, self.q)
            for b, given in zip(numbers["bodies"], state["f_ext_world_origin"], strict=True):
                j = joint_of[b["name"]]
                self.fext[j] = data.oMi[j].actInv(pin.Force(np.array(given)[LINEAR_FIRST])).vector

    def vector(self, given: Any) -> np.ndarray:
        return np.array(given, dtype=float)[self.index]

    def matrix(self, given: Any) -> np.ndarray:
        return np.array(given, dtype=float)[np.ix_(self.index, self.index)]


# the files have external forces at the first state only
FIRST = [(robot, source, 0) for robot in ROBOTS for source in ("rebuilt", "shipped")]
BOTH = [*FIRST, *((robot, source, 1) for robot, source, _ in FIRST)]


@pytest.fixture(params=BOTH, ids=str)
def case(request: pytest.FixtureRequest) -> Case:
    robot, source, k = request.param
    model, joint_of = rebuilt(robot) if source == "rebuilt" else shipped(robot)
    return Case(robot, model, joint_of, golden(robot)["states"][k])


@pytest.mark.jitless
def test_kernels(case: Case) -> None:
    model, s, q, v = case.model, case.state, case.q, case.v
    data, zero = model.createData(), np.zeros(case.model.nv)
    assert relative(pc.rnea(model, data, q, v, case.vector(s["ydd_id"])), case.vector(s["tau_id"])) < GOLDEN
    assert relative(pc.aba(model, data, q, v, case.vector(s["tau"])), case.vector(s["ydd_fd"])) < GOLDEN
    assert relative(pc.crba(model, data, q), case.matrix(s["H"])) < GOLDEN
    assert relative(pc.nonLinearEffects(model, data, q, v), case.vector(s["C"])) < GOLDEN
    assert relative(pc.rnea(model, data, q, v, zero), case.vector(s["C"])) < GOLDEN
    assert relative(pc.computeMinverse(model, data, q) @ case.matrix(s["H"]), np.eye(model.nv)) < GOLDEN


@pytest.mark.jitless
@pytest.mark.parametrize("case", FIRST, indirect=True, ids=str)
def test_kernels_with_external_forces(case: Case) -> None:
    model, s, q, v, fext = case.model, case.state, case.q, case.v, case.fext
    assert np.abs(fext).max() > 0.1
    data = model.createData()
    tau, a = case.vector(s["tau_id_with_fext"]), case.vector(s["ydd_fd_with_fext"])
    for given in (fext, [pin.Force(f) for f in fext]):
        assert relative(pc.rnea(model, data, q, v, case.vector(s["ydd_id"]), given), tau) < GOLDEN
        assert relative(pc.aba(model, data, q, v, case.vector(s["tau"]), given), a) < GOLDEN


@pytest.mark.jitless
@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("k", [0, 1])
def test_operational_inertia(robot: str, k: int) -> None:
    """Its C-EFPA for four feet at once, and for one."""
    model, joint_of = rebuilt(robot)
    case = Case(robot, model, joint_of, golden(robot)["states"][k])
    ends = [f"end of {e['body']}" for e in golden(robot)["end_effectors"]]
    own = [6 * i + r for i in range(len(ends)) for r in LINEAR_FIRST]
    expected = np.array(case.state["lambda_inv"])[np.ix_(own, own)]
    data = projection.createData(model)
    for found in (
        pc.inverse_operational_inertia(model, model.createData(), case.q, ends),
        reference.inverse_operational_inertia(model, case.q, ends),
        projection.inverse_operational_inertia(model, data, case.q, ends),
    ):
        assert relative(found, expected) < GOLDEN


def test_oracles(case: Case) -> None:
    """What the other tests compare with agrees with an outsider as well."""
    model, s, q, v = case.model, case.state, case.q, case.v
    fext = case.fext if "tau_id_with_fext" in s else None
    tau_id, ydd_fd = ("tau_id", "ydd_fd") if fext is None else ("tau_id_with_fext", "ydd_fd_with_fext")
    tau, a = case.vector(s["tau"]), case.vector(s["ydd_id"])
    data, kkt = projection.createData(model), lagrange.createData(model)
    assert relative(projection.rnea(model, data, q, v, a, fext), case.vector(s[tau_id])) < GOLDEN
    assert relative(projection.crba(model, data, q), case.matrix(s["H"])) < GOLDEN
    assert relative(projection.aba(model, data, q, v, tau, fext), case.vector(s[ydd_fd])) < GOLDEN
    assert relative(lagrange.aba(model, kkt, q, v, tau, fext), case.vector(s[ydd_fd])) < GOLDEN
    assert relative(reference.rnea(model, q, v, a, fext), case.vector(s[tau_id])) < GOLDEN
    assert relative(reference.crba(model, q), case.matrix(s["H"])) < GOLDEN
    assert relative(reference.aba(model, q, v, tau, fext), case.vector(s[ydd_fd])) < GOLDEN


@pytest.mark.parametrize("robot", ROBOTS)
def test_coupling_matrix_of_shipped_robots(robot: str) -> None:
    model, joint_of = shipped(robot)
    case = Case(robot, model, joint_of, golden(robot)["states"][0])
    G = np.array(golden(robot)["G"])[:, case.index]
    for b in golden(robot)["bodies"]:
        joint = model.tree.joints[joint_of[b["name"]]]
        order = LINEAR_FIRST if joint.nv == 6 else [0]
        rows = model.coupling_matrix[joint.idx_v : joint.idx_v + joint.nv]
        np.testing.assert_allclose(rows, G[np.array(order) + b["v_index"]], atol=1e-15)
