"""Every constraint satisfies a protocol of the contract, and so does one that derives from nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises

import pin_clusters as pc
from pin_clusters.constraints.contract import LoopConstraint, RowConstraint, SolvedConstraint
from pin_clusters.constraints.linear import make_row
from pin_clusters.constraints.rows import Row

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


class Own:
    """A user's constraint: returns the given equations, or those that the given function makes of the constraint."""

    label = "Own('knee')"

    def __init__(self, given: Any) -> None:
        self.given = given

    def rows(self, tree: pin.Model) -> Any:
        return self.given(self) if callable(self.given) else self.given


def chain() -> pin.Model:
    """Return joints a, b and c with ids 1, 2 and 3, and a spherical joint with id 4."""
    tree = pin.Model()
    for i, name in enumerate(("a", "b", "c", "ball")):
        kind = pin.JointModelSpherical() if name == "ball" else pin.JointModelRZ()
        j = tree.addJoint(i, kind, pin.SE3.Identity(), name)
        tree.appendBodyToJoint(j, pin.Inertia.Random(), pin.SE3.Identity())
    return tree


def equation(
    dependent: Any = 3, masters: Any = (1, 2), coefficients: Any = (1.0, 2.0), offset: Any = 0.0, **changes: Any
) -> Any:
    """Return a function that returns the equation of a constraint in a list."""
    return lambda source: [make_row(dependent, masters, coefficients, offset, changes.get("source", source))]


WRONG = {
    "nothing": (None, "make_row None"),
    "one": (lambda own: equation()(own)[0], "make_row 3"),
    "text": ("knee", "make_row 'knee'"),
    "NaN": (equation(coefficients=(1.0, math.nan)), "'c' nan"),
    "infinite": (equation(offset=math.inf), "'c' inf"),
    "no number": (equation(coefficients=("1", 2.0)), "'c' '1'"),
    "name": (equation(masters=("a", 2)), "['a'] moving_joint_id"),
    "too large": (equation(masters=(1, 7)), "[7] moving_joint_id"),
    "negative": (equation(dependent=-1), "[-1] moving_joint_id"),
    "NumPy's": (equation(masters=(np.int64(1), 2)), "moving_joint_id [np.int64(1)]"),
    "universe": (equation(masters=(0, 1)), "[0] moving_joint_id"),
    "ball": (equation(masters=(1, 4)), "[4] moving_joint_id"),
    "few coefficients": (equation(coefficients=(1.0,)), "'c' (1.0,)"),
    "no source": (equation(source=None), "source None"),
    "not tied": (lambda own: [Row(3, (1, 2), (1.0, 2.0), 0.0, own, ())], "tied ()"),
    "partly tied": (lambda own: [Row(3, (1, 2), (1.0, 2.0), 0.0, own, (3, 2))], "tied (3, 2)"),
    "more tied": (lambda own: [Row(3, (1, 2), (1.0, 2.0), 0.0, own, (3, 2, 1, 9))], "tied (3, 2, 1, 9)"),
    "twice": (lambda own: [Row(3, (2, 2), (1.0, 2.0), 0.0, own, (3, 2))], "'b'"),
    "itself": (lambda own: [Row(3, (3, 2), (1.0, 2.0), 0.0, own, (3, 2))], "'c'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_rows(case: str) -> None:
    given, names = WRONG[case]
    with raises(pc.ConstraintError, f"Own('knee') {names}"):
        pc.ClusterModel(chain(), [Own(given)])


@pytest.mark.parametrize("as_given", [list, tuple, iter])
def test_right_rows(as_given: Any) -> None:
    one = equation(masters=[1, 2], coefficients=np.array([1.0, 2.0]), offset=1)
    model = pc.ClusterModel(chain(), [Own(lambda own: as_given(one(own)))])
    assert model.coupling_matrix[:3, :2].tolist() == [[1.0, 0.0], [0.0, 1.0], [1.0, 2.0]]
