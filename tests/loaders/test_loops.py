"""URDF+ <loop>: what each type becomes, flags of independence, and bad input."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises, warns
from support.urdf_text import coupling, joint, link, robot

import pin_clusters as pc
from pin_clusters.files.readers.urdf import parse_urdf

pytestmark = pytest.mark.jitless

Y = "0 1 0"
KEEPS = {"fixed": 6, "revolute": 5, "continuous": 5, "prismatic": 5, "cylindrical": 4, "spherical": 3, "universal": 4}
KEEPS["planar"] = 3


def bar(name: str, parent: str, x: float, z: float = 0.0, flag: str | None = None, kind: str = "revolute") -> str:
    attribute = "" if flag is None else f'independent="{flag}"'
    return (
        f'<joint name="{name}" type="{kind}" {attribute}><origin xyz="{x} 0 {z}"/><parent link="{parent}"/>'
        f'<child link="{name}_link"/><axis xyz="{Y}"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>'
        + link(f"{name}_link")
    )


def loop(
    predecessor: str = "b_link",
    successor: str = "c_link",
    kind: str | None = "revolute",
    name: str = "closing",
    axis: str | None = Y,
    before: str = '<origin xyz="0.21 0 0.2"/>',
    after: str = '<origin xyz="-0.16 0 0.3"/>',
    inside: str = "",
) -> str:
    kind = "" if kind is None else f' type="{kind}"'
    direction = "" if axis is None else f'<axis xyz="{axis}"/>'
    return (
        f'<loop name="{name}"{kind}><predecessor link="{predecessor}">{before}</predecessor>'
        f'<successor link="{successor}">{after}</successor>{direction}{inside}</loop>'
    )


def bars(a: str | None = None, b: str | None = None, c: str | None = None, kind: str = "revolute") -> tuple[str, ...]:
    """A four-bar that is closed at zero: (0, 0) to (0, 0.1) to (0.21, 0.3), and (0.37, 0) to there."""
    return (
        link("ground", ""), bar("a", "ground", 0.0, 0.0, a, kind), bar("b", "a_link", 0.0, 0.1, b, kind),
        bar("c", "ground", 0.37, 0.0, c, kind),
    )  # fmt: skip


def only_loop(text: str) -> pc.Loop:
    (constraint,) = parse_urdf(text).constraints
    assert isinstance(constraint, pc.Loop)
    return constraint


@pytest.mark.parametrize("kind", KEEPS)
def test_types(kind: str) -> None:
    constraint = only_loop(robot(*bars(), loop(kind=kind)))
    assert constraint.kind == ("revolute" if kind == "continuous" else kind)
    tree = parse_urdf(robot(*bars(), loop(kind=kind))).tree
    (closure,) = constraint.closures(tree)
    assert closure.size == KEEPS[kind]
    assert [tree.names[closure.joint_a], tree.names[closure.joint_b]] == ["b", "c"]
    assert "closing" in constraint.label


def test_placements_and_axis() -> None:
    text = robot(
        *bars(), loop(axis=None, before='<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>', after='<origin rpy="0 0 1.5708"/>')
    )
    constraint = only_loop(text)
    assert tuple(constraint.axis) == (1.0, 0.0, 0.0)
    M = constraint.frame_a.placement
    assert M.isApprox(pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), np.array([1.0, 2.0, 3.0])), 1e-15)
    assert constraint.frame_b.placement.rotation[1, 0] == pytest.approx(1.0, abs=1e-9)
    assert only_loop(robot(*bars(), loop(before="", after=""))).frame_a.placement == pin.SE3.Identity()


def test_links_behind_fixed_joints() -> None:
    tip = link("tip") + joint("weld", "b_link", "tip", "fixed", axis=None, limit="")
    parts = parse_urdf(robot(*bars(), tip, loop("tip", "ground", axis=None, before='<origin xyz="0 0 1"/>')))
    (closure,) = parts.constraints[0].closures(parts.tree)
    frame = parts.tree.frames[parts.tree.getFrameId("tip")]
    assert parts.tree.names[closure.joint_a] == "b"
    assert closure.joint_b == 0
    np.testing.assert_allclose(closure.placement_a.translation, frame.placement.act(np.array([0.0, 0.0, 1.0])))


def test_loop_to_an_ancestor_and_negative_axis() -> None:
    chain = (*bars()[:3], bar("d", "b_link", 0.21, 0.2))
    to_ground = loop(
        "d_link", "ground", axis="0 -1 0", before='<origin xyz="0.16 0 -0.3"/>', after='<origin xyz="0.37 0 0"/>'
    )
    model = pc.buildModelFromXML(robot(*chain, to_ground))
    assert model.nv == 1


@pytest.mark.parametrize("axis", ["0 2 0", "0 1e-200 0", "0.5 0.5 0"])
def test_axes_are_normalised_and_it_is_said(axis: str) -> None:
    with warns(pc.PinClustersWarning, "'closing'"):
        constraint = only_loop(robot(*bars(), loop(axis=axis, kind="cylindrical")))
    assert np.linalg.norm(constraint.axis) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    ("flags", "wish"),
    [
        ((None, None, None), ()),
        (("true", "false", "false"), ("a",)),
        (("true", None, None), ("a",)),
        ((None, "false", "false"), ("a",)),
        (("false", None, "false"), ("b",)),
        (("true", "true", None), ("a", "b")),
    ],
)
def test_flags(flags: tuple[str | None, ...], wish: tuple[str, ...]) -> None:
    assert parse_urdf(robot(*bars(*flags), loop())).independent == wish


def test_none_independent() -> None:
    with warns(pc.PinClustersWarning, "'a' 'b' 'c'"):
        model = pc.buildModelFromXML(robot(*bars("false", "false", "false"), loop()))
    assert model.nv == 1


@pytest.mark.parametrize("flags", [("true", "true", "true"), ("true", "true", "false")])
def test_too_many_independent(flags: tuple[str, ...]) -> None:
    with raises(pc.ConstraintError, "'a' 'b' 'c'"):
        pc.buildModelFromXML(robot(*bars(*flags), loop()))


def test_the_callers_wish_comes_first() -> None:
    text = robot(*bars("true", "false", "false"), loop())
    assert parse_urdf(text, independent=["c"]).independent == ("c",)
    assert pc.buildModelFromXML(text, independent=["c"]).independent_joints == ("c",)
    with raises(pc.ArgumentTypeError, "'c'"):
        parse_urdf(text, independent="c")


def test_reference_pose() -> None:
    text = robot(*bars("true", "false", "false"), loop())
    model = pc.buildModelFromXML(text, q_reference=np.zeros(3))
    np.testing.assert_allclose(pc.neutral(model), 0.0, atol=1e-13)


def test_loop_and_coupling_and_rotor_in_one_cluster() -> None:
    rotor = bar("r", "ground", 0.1, 0.2, "false")
    text = robot(*bars("true", "false", "false"), rotor, loop(), coupling("a_link", "r_link", "6"))
    parts = parse_urdf(text, None, [pc.Rotor("c", 9.0, axial_inertia=1e-5)])
    assert parts.independent == ("a",)
    assert [type(c).__name__ for c in parts.constraints] == ["Belt", "Loop", "Rotor"]
    model = pc.buildModelFromXML(text)
    assert (model.nv, len(model.clusters)) == (1, 1)


def test_redundant_loops() -> None:
    twin = loop(name="again", kind="spherical")
    assert pc.buildModelFromXML(robot(*bars(), loop(), twin)).nv == 1


def test_fixed_and_prismatic_joints() -> None:
    slider = bar("c", "ground", 0.21, 0.3, "false", "prismatic").replace(Y, "1 0 0")
    text = robot(*bars("true", "false")[:3], slider, loop(after=""))
    assert pc.buildModelFromXML(text).nv == 1
    welded = robot(*bars()[:3], bar("c", "ground", 0.37, 0.0, kind="fixed"), loop())
    with raises(pc.ConstraintError, "'closing'"):  # two bars between fixed points cannot move
        pc.buildModelFromXML(welded)


def test_continuous_joints_count_turns() -> None:
    with warns(pc.PinClustersWarning, "'a' 'b' 'c'"):
        parts = parse_urdf(robot(*bars(kind="continuous"), loop()))
    assert parts.tree.nq == 3


def test_flags_that_only_given_constraints_explain() -> None:
    text = robot(*bars(None, "false", "false"))
    with raises(pc.PinClustersError, "'b'"):
        parse_urdf(text)
    ends = ("b_link", (0.21, 0.0, 0.2)), ("c_link", (-0.16, 0.0, 0.3))
    model = pc.buildModelFromXML(text, constraints=[pc.Loop(*ends, "revolute", (0, 1, 0))])
    assert model.independent_joints == ("a",)
    touched = robot(*bars(None, "false", "false"), bar("far", "ground", 1.0, 0.0, "false"))
    with raises(pc.PinClustersError, "'far'"):
        parse_urdf(touched, None, [pc.Loop(*ends, "revolute", (0, 1, 0))])


BAD = {
    "no type": (loop(kind=None), "'closing'"),
    "unknown type": (loop(kind="ball"), "'closing' 'ball'"),
    "misspelt type": (loop(kind="sphrical"), "'sphrical' 'spherical'"),
    "no name": (loop().replace('name="closing"', ""), "<loop>"),
    "two names": (loop() + loop(), "'closing'"),
    "a coupling's name": (loop() + coupling("a_link", "c_link", name="closing"), "'closing'"),
    "unknown predecessor": (loop("nope"), "'closing' predecessor 'nope'"),
    "unknown successor": (loop(successor="c"), "'closing' successor 'c' c_link"),
    "no predecessor": (loop().replace("predecessor", "before"), "'closing'"),
    "no successor": (re.sub("<successor.*</successor>", "", loop()), "'closing' successor"),
    "link without name": (loop().replace(' link="b_link"', ""), "'closing' predecessor"),
    "two predecessors": (loop(inside='<predecessor link="a_link"/>'), "'closing' 2 <predecessor>"),
    "same link": (loop("b_link", "b_link"), "'closing'"),
    "zero axis": (loop(axis="0 0 0"), "'closing'"),
    "axis of two": (loop(axis="0 1"), "'closing' 3"),
    "axis text": (loop(axis="0 one 0"), "'closing' 'one'"),
    "axis nan": (loop(axis="0 nan 0"), "'closing' 'nan'"),
    "axis without xyz": (loop(axis=None, inside="<axis/>"), "'closing' <axis>"),
    "two axes": (loop(inside='<axis xyz="0 0 1"/>'), "'closing' 2 <axis>"),
    "origin text": (loop(before='<origin xyz="0 0 a"/>'), "'closing' predecessor 'a'"),
    "origin of two": (loop(after='<origin rpy="0 0"/>'), "'closing' successor 3"),
    "two origins": (loop(before="<origin/><origin/>"), "'closing' predecessor 2 <origin>"),
    "misspelt element": (loop(before='<orign xyz="0 0 1"/>'), "'closing' predecessor <orign> <origin>"),
    "misspelt attribute": (loop(before='<origin xzy="0 0 1"/>'), "'closing' predecessor 'xzy'"),
    "unknown attribute": (loop().replace("<loop", '<loop independent="true"'), "'closing' 'independent'"),
    "origin of the loop": (loop(inside='<origin xyz="0 0 1"/>'), "'closing' <origin> <loop>"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_loops(case: str) -> None:
    text, message = BAD[case]
    with raises(pc.LoadError, message):
        parse_urdf(robot(*bars(), text))


def test_unclosable() -> None:
    with raises(pc.PinClustersError, "'closing'"):
        pc.buildModelFromXML(robot(*bars(), loop(before='<origin xyz="5 0 0"/>')))


def test_what_is_ignored_is_said() -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        parse_urdf(robot(*bars(), loop(inside='<limit lower="0" upper="1"/>')))
    assert "<limit>" in str(said[0].message)
