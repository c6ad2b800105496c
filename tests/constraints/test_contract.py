"""Every constraint satisfies a protocol of the contract, and so does one that derives from nothing."""

from __future__ import annotations

from typing import Any

import pinocchio as pin
import pytest

import pin_clusters as pc
from pin_clusters.constraints.contract import LoopConstraint, RowConstraint, SolvedConstraint

pytestmark = pytest.mark.jitless

PIN = (("b", [0.3, 0.0, 0.0]), ("c", [0.2, 0.0, 0.0]))


@pytest.mark.parametrize(
    ("constraint", "protocols"),
    [
        (pc.Gear("a", "b", 2.0), {RowConstraint}),
        (pc.Belt("a", "b", 2.0), {RowConstraint}),
        (pc.LinearCoupling("a", {"b": 2.0}), {RowConstraint}),
        (pc.Spring("a"), {RowConstraint}),
        (pc.Rod("a", "b", 0.1), {LoopConstraint}),
        (pc.Loop("a", "b", "spherical"), {LoopConstraint}),
        (pc.FourBar("a", "b", "c", PIN), {LoopConstraint, SolvedConstraint}),
        (pc.Differential.bevel("a", "b", "c", "d"), {RowConstraint, LoopConstraint, SolvedConstraint}),
        (3.0, set()),
    ],
)
def test_protocols(constraint: Any, protocols: set[type]) -> None:
    assert {p for p in (RowConstraint, LoopConstraint, SolvedConstraint) if isinstance(constraint, p)} == protocols


def test_a_constraint_of_another_package() -> None:
    class Twice:
        label = "Twice()"

        def rows(self, tree: pin.Model) -> list[Any]:
            return list(pc.Gear("shoulder_pan_joint", "elbow_joint", 2.0).rows(tree))

    tree = pin.Model()
    for name in ("shoulder_pan_joint", "elbow_joint"):
        j = tree.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), name)
        tree.appendBodyToJoint(j, pin.Inertia.Random(), pin.SE3.Identity())
    assert isinstance(Twice(), RowConstraint)
    assert pc.ClusterModel(tree, [Twice()]).independent_joints == ("shoulder_pan_joint",)
