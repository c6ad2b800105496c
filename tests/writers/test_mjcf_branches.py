"""A motor between two branches of the tree: what MuJoCo's mass matrix has no place for is said."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import pin_clusters as pc

pytestmark = pytest.mark.jitless


def two_joints(parent_of_second: int) -> pc.ClusterModel:
    tree = pin.Model()
    for name, parent in (("a", 0), ("b", parent_of_second)):
        j = tree.addJoint(parent, pin.JointModelRY(), pin.SE3.Identity(), name)
        tree.appendBodyToJoint(j, pin.Inertia(1.0, np.array([0.1, 0.0, 0.0]), np.eye(3) * 0.01), pin.SE3.Identity())
    motor = pc.Rotor(["a", "b"], [5.0, 5.0], axial_inertia=1e-4, carrier="universe", axis=(0, 1, 0), name="motor")
    return pc.ClusterModel(tree, [motor])


@pytest.mark.parametrize("approximation", ["best", "diagonal", "exact"])
def test_a_coupling_of_branches_is_lost_and_said(approximation: str) -> None:
    """MuJoCo keeps the products of ratios where one joint moves the other, and drops them across branches."""
    mujoco = pytest.importorskip("mujoco")
    for parent, lost in ((0, True), (1, False)):
        text = pc.to_mjcf(two_joints(parent), approximation)  # type: ignore[arg-type]
        said = "The file also loses" in text
        assert said == (lost and approximation == "best")
        if approximation != "best":
            continue
        there = mujoco.MjModel.from_xml_string(text)
        data, column = mujoco.MjData(there), np.zeros(2)
        mujoco.mj_forward(there, data)
        mujoco.mj_mulM(there, data, column, np.array([1.0, 0.0]))
        plain = pc.ClusterModel(two_joints(parent).tree)
        without = pc.crba(plain, plain.createData(), np.zeros(2))
        assert column[1] - without[0, 1] == pytest.approx(0.0 if lost else 25e-4)
