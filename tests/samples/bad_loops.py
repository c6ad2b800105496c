"""Bad and unusual inputs about closed loops: what each is, and what must become of it.

``CASES`` feeds tests/inputs/test_loops.py and the table in docs/bad_inputs.md (benchmarks/bad_inputs.py).
"""

from __future__ import annotations

import functools
import math
import pickle
import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from samples import mechanisms
from support.urdf_text import INERTIAL, LEG, coupling, link, robot

import pin_clusters as pc
from pin_clusters.verification.baselines import projection

X, Y, Z = np.eye(3)


class Case(NamedTuple):
    """One input.

    Attributes:
        what: In words.
        make: Gives a model that must agree with projection (and perhaps a pose to start from), or raises.
        error: What it must raise; None: nothing.
        message: Names and numbers that the message must contain.
        warning: Names and numbers of the warning that must come with a correct result; "": there is none.
    """

    what: str
    make: Callable[[], Any]
    error: type[Exception] | None = None
    message: str = ""
    warning: str = ""


class Verdict(NamedTuple):
    """What became of an input: an error, or a model with warnings and the distance of its results from projection."""

    error: Exception | None
    warnings: tuple[str, ...]
    worst: float


# --- texts ------------------------------------------------------------------------------------------------------------


def bar(
    name: str, parent: str, x: float, z: float = 0.0, flag: str | None = None, kind: str = "revolute",
    axis: str = "0 1 0", inertial: str = INERTIAL,
) -> str:  # fmt: skip
    attribute = "" if flag is None else f' independent="{flag}"'
    return (
        f'<joint name="{name}" type="{kind}"{attribute}><origin xyz="{x} 0 {z}"/><parent link="{parent}"/>'
        f'<child link="{name}_link"/><axis xyz="{axis}"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>'
        + link(f"{name}_link", inertial)
    )


def closing(
    predecessor: str = "b_link", successor: str = "c_link", kind: str = "revolute", name: str = "closing",
    axis: str = "0 1 0", before: str = "0.21 0 0.2", after: str = "-0.16 0 0.3",
) -> str:  # fmt: skip
    return (
        f'<loop name="{name}" type="{kind}"><predecessor link="{predecessor}"><origin xyz="{before}"/></predecessor>'
        f'<successor link="{successor}"><origin xyz="{after}"/></successor><axis xyz="{axis}"/></loop>'
    )


def bars(*flags: str | None, **more: str) -> str:
    """Two bars from (0, 0) over (0, 0.1) to (0.21, 0.3), and one from (0.37, 0) to there: closed at zero."""
    a, b, c = flags or ("true", "false", "false")
    return (
        link("ground", "") + bar("a", "ground", 0.0, 0.0, a, **more) + bar("b", "a_link", 0.0, 0.1, b, **more)
        + bar("c", "ground", 0.37, 0.0, c, **more)
    )  # fmt: skip


FOUR_BAR = robot(bars(), closing())


def text(*parts: str) -> Callable[[], pc.ClusterModel]:
    return lambda: pc.buildModelFromXML(robot(*parts))


def edited(old: str, new: str, whole: str = FOUR_BAR, count: int = 1) -> Callable[[], pc.ClusterModel]:
    assert old in whole, old
    return lambda: pc.buildModelFromXML(whole.replace(old, new, count))


# a chain from the ground over crank, coupler and rocker back to the ground
SERIAL = link("ground", "") + bar("a", "ground", 0.0) + bar("b", "a_link", 0.0, 0.1) + bar("d", "b_link", 0.21, 0.2)
BACK = {"predecessor": "d_link", "successor": "ground", "before": "0.16 0 -0.3", "after": "0.37 0 0"}


def oblique() -> pc.ClusterModel:
    """The four-bar in another plane, whose normal is no coordinate axis: the same numbers, turned."""
    R = pin.rpy.rpyToMatrix(0.4, -0.7, 0.3)
    normal = " ".join(repr(float(x)) for x in R @ Y)

    def turned(found: re.Match[str]) -> str:
        return 'xyz="' + " ".join(repr(float(x)) for x in R @ np.array(found[1].split(), dtype=float)) + '"'

    return pc.buildModelFromXML(re.sub(r'xyz="([^"]*)"', turned, FOUR_BAR.replace("0 1 0", normal)))


# --- states -----------------------------------------------------------------------------------------------------------


def four_bar() -> pc.ClusterModel:
    return pc.buildModelFromXML(FOUR_BAR)


def checked(model: pc.ClusterModel, change: Callable[[np.ndarray], None]) -> Any:
    """Inverse dynamics at a changed q, by a workspace that checks what it is given."""
    data = model.createData()
    data.check = True
    q = pc.neutral(model)
    change(q)
    return pc.rnea(model, data, q, np.ones(model.nv), np.ones(model.nv))


def put(i: int, value: float) -> Callable[[np.ndarray], None]:
    def change(q: np.ndarray) -> None:
        q[i] = value

    return change


def aba(q: Any, v: Any, tau: Any) -> Any:
    model = four_bar()
    return pc.aba(model, model.createData(), q, v, tau)


# --- mechanisms -------------------------------------------------------------------------------------------------------


# where the pin of ``drawn`` is closed
CLOSED = (0.24235250868169542, -1.2492669599308845, -0.2588884692245804)


def drawn(
    q: Any = CLOSED, *, loops: Callable[[], list[Any]] | None = None, crank: float = 0.35, **more: Any
) -> pc.ClusterModel:
    """Crank, coupler 0.9, rocker 0.7, ground 1, closed by a pin or by other constraints."""
    b = mechanisms.Builder(np.random.default_rng(0))
    b.add("crank", None, Y, np.zeros(3))
    b.add("coupler", "crank", Y, crank * X)
    b.add("rocker", None, Y, X)
    b.q()
    constraints = loops() if loops else [pc.Loop(("coupler", 0.9 * X), ("rocker", 0.7 * Z), "revolute", Y, name="pin")]
    return pc.ClusterModel(b.tree, constraints, None if q is None else np.array(q), **more)


def floating(second: str) -> pc.ClusterModel:
    """A four-bar on a floating base, whose foot is tied to something."""
    m = mechanisms.four_bar(np.random.default_rng(0), base=True)
    more = [pc.Loop("rocker", second, "spherical", name="foot")]
    return pc.ClusterModel(m.tree, [*m.constraints, *more])


def rod_with_two_balls() -> pc.ClusterModel:
    b = mechanisms.Builder(np.random.default_rng(0))
    b.add("input", None, Z, np.zeros(3), 0.4)
    b.add("output", None, X, [0.9, 0.3, 0.1], 1.0)
    b.add("link", "input", pin.JointModelSpherical(), [0.3, 0.0, 0.05])
    b.q()
    loop = pc.Loop(("link", [0.8, 0.3, 0.2]), ("output", [0.05, 0.4, 0.0]), "spherical", name="ball")
    return pc.ClusterModel(b.tree, [loop])


def parallelogram(q: Any = (-1.0, -1.0, 1.0)) -> pc.ClusterModel:
    """It folds: at 0 all bars are in line."""
    tree = pin.Model()
    body = pin.Inertia(1.0, np.array([0.2, 0.0, 0.0]), 0.02 * np.eye(3))
    for name, parent, x in (("left", 0, 0.0), ("right", 0, 1.0), ("bar", 1, 0.5)):
        at = pin.SE3(np.eye(3), np.array([x, 0.0, 0.0]))
        tree.appendBodyToJoint(tree.addJoint(parent, pin.JointModelRY(), at, name), body, pin.SE3.Identity())
    loop = pc.Loop(("bar", [1.0, 0.0, 0.0]), ("right", [0.5, 0.0, 0.0]), "revolute", Y, name="close")
    return pc.ClusterModel(tree, [loop], np.array(q), independent=["left"])


def at_change_point() -> Any:
    model = parallelogram()
    return pc.crba(model, model.createData(), np.zeros(3))


def dead_centre() -> tuple[pc.ClusterModel, np.ndarray]:
    """Coupler and rocker in line: the crank cannot lead. Crank 0.6, coupler 0.5, rocker 0.4, ground 1."""
    b = mechanisms.Builder(np.random.default_rng(0))
    b.add("crank", None, Y, np.zeros(3), -0.2)
    b.add("coupler", "crank", Y, 0.6 * X, 0.5)
    b.add("rocker", None, Y, X, 0.1)
    model = b.mechanism(
        [pc.Loop(("coupler", 0.5 * X), ("rocker", 0.4 * Z), "revolute", Y, name="pin")], ("crank",), 1
    ).build()
    # |B - D| = 0.9 with B on the crank's circle, about y: x = 0.6 cos, z = -0.6 sin
    crank = -math.acos((0.36 + 1.0 - 0.81) / 1.2)
    to_d = np.array([1.0 - 0.6 * math.cos(crank), 0.6 * math.sin(crank)])  # from B to D, in x and z
    line = math.atan2(-to_d[1], to_d[0])
    rocker = line + math.pi - (-math.pi / 2.0)  # the rocker's own line is z, which is -pi/2 about y from x
    q = np.array([crank, line - crank, math.remainder(rocker, 2.0 * math.pi)])
    return model, q


def at_dead_centre() -> Any:
    model, q = dead_centre()
    assert np.abs(pc.residual(model, q)).max() < 1e-12
    return pc.crba(model, model.createData(), q)


def across_branches() -> Any:
    model = drawn()
    one, two = pc.branches(model, pc.neutral(model), "crank")
    return pc.difference(model, one, two)


def beyond_reach() -> Any:
    model, _ = dead_centre()
    return pc.integrate(model, pc.neutral(model), [2.0])


def ratio(x: np.ndarray) -> np.ndarray:
    return np.array([x[1] + 0.5 * x[0] + 0.1 * np.sin(x[0])])


def coupled(phi: Any, **more: Any) -> pc.ClusterModel:
    b = mechanisms.Builder(np.random.default_rng(0))
    b.add("one", None, Y, np.zeros(3))
    b.add("two", None, Y, X)
    b.q()
    return pc.ClusterModel(b.tree, [pc.Coupling(["one", "two"], phi, name="cam", **more)], independent=["one"])


def with_model(model: Callable[[], pc.ClusterModel], f: Callable[[pc.ClusterModel], Any]) -> Callable[[], Any]:
    return lambda: f(model())


# --- the inputs -------------------------------------------------------------------------------------------------------

# those on which another library for such files was tried; some end there in a segmentation fault or in wrong numbers
FILES: dict[str, Case] = {
    "four-bar": Case("a valid file: two chains closed by a pin", four_bar),
    "rotors by couplings": Case(
        "a valid file: a leg with geared and belted rotors", lambda: pc.buildModelFromXML(LEG)
    ),
    "loop, unknown link": Case(
        'a loop\'s predecessor is "nope"', text(bars(), closing("nope")), pc.LoadError,
        "'closing' 'nope'"
    ),
    "coupling, unknown link": Case(
        'a coupling\'s successor is "nope"', text(bars(), closing(), coupling("a_link", "nope")), pc.LoadError,
        "'belt' 'nope'",
    ),
    "ratio 0": Case("a coupling with ratio 0", edited('"12"', '"0"', LEG), pc.LoadError, "'knee_belt' ratio 0"),
    "ratio missing": Case(
        "a coupling without a ratio", edited('<ratio value="12"/>', "", LEG), pc.LoadError,
        "'knee_belt' ratio"
    ),
    "ratio is text": Case('a ratio "six"', edited('"12"', '"six"', LEG), pc.LoadError, "'knee_belt' 'six'"),
    "ratio is nan": Case('a ratio "nan"', edited('"12"', '"nan"', LEG), pc.LoadError, "'knee_belt' 'nan'"),
    "two links of one name": Case(
        "two links a_link", text(bars(), link("a_link"), closing()), pc.LoadError, "'a_link'"
    ),
    "two joints of one name": Case(
        "two joints a", edited('name="c"', 'name="a"'), pc.LoadError, "'a'"
    ),
    "two loops of one name": Case(
        "two loops of the same name", text(bars(), closing(), closing()), pc.LoadError, "'closing'"
    ),
    "malformed XML": Case("the end tag is missing", edited("</robot>", ""), pc.LoadError, ""),
    "empty": Case("an empty text", lambda: pc.buildModelFromXML(""), pc.LoadError, ""),
    "missing file": Case(
        "a file that does not exist", lambda: pc.buildModelFromUrdf("missing.urdf"), pc.LoadError, "'missing.urdf'"
    ),
    "q is NaN": Case(
        "a NaN in the q of a four-bar; checked (`data.check`)", lambda: checked(four_bar(), put(1, math.nan)),
        pc.ConfigurationError, "q[1] nan 'b'",
    ),
    "q is NaN, rotors": Case(
        "a NaN in the q of a geared leg; checked (`data.check`)",
        lambda: checked(pc.buildModelFromXML(LEG), put(0, math.nan)), pc.ConfigurationError,
        "q[0] nan 'hip'",
    ),
    "q is off the loop": Case(
        "a q whose loop is open; checked (`data.check`)", lambda: checked(four_bar(), put(1, 0.3)),
        pc.ConfigurationError, "'closing' pc.project",
    ),
    "tau of the tree": Case(
        "tau of the size of tree.nv", lambda: aba(np.zeros(3), [1.0], np.ones(3)), pc.ShapeError, "tau 3 nv 1"
    ),
    "short q": Case("q without its last entry", lambda: aba(np.zeros(2), [1.0], [1.0]), pc.ShapeError, "q 2"),
    "empty state": Case("empty vectors", lambda: aba([], [], []), pc.ShapeError, "q 0 3"),
    "no inertial": Case("a link of the loop without <inertial>", edited(INERTIAL, "")),
    "negative axis": Case("one joint turns about 0 -1 0", edited("0 1 0", "0 -1 0")),
    "loop's negative axis": Case("a loop's axis 0 -1 0", text(bars(), closing(axis="0 -1 0"))),
    "positive axis": Case("all joints turn about 0 1 0", four_bar),
    "oblique axis": Case("a plane whose normal is no coordinate axis", oblique),
    "axis not of unit length": Case(
        "a joint's axis 0 2 0", edited("0 1 0", "0 2 0"), warning="'a'"
    ),
    "loop's axis not of unit length": Case(
        "a loop's axis 0 2 0", text(bars(), closing(axis="0 2 0")), warning="'closing'"
    ),
    "fixed joint": Case(
        "a fixed joint on the path of the loop",
        text(
            bars(), link("tip"), '<joint name="weld" type="fixed"><origin xyz="0.21 0 0.2"/><parent link="b_link"/>'
            '<child link="tip"/></joint>', closing("tip", before="0 0 0"),
        ),
    ),
    "prismatic joint": Case(
        "a slider-crank", text(
            link("ground", ""), bar("a", "ground", 0.0), bar("b", "a_link", 0.0, 0.1),
            bar("c", "ground", 0.21, 0.3, kind="prismatic", axis="1 0 0"), closing(after="0 0 0"),
        ),
    ),
    "prismatic joint in the middle": Case(
        "a crank whose arm slides and is pinned to a rocker", text(
            link("ground", ""), bar("a", "ground", 0.0), bar("b", "a_link", 0.0, 0.1, kind="prismatic", axis="1 0 0"),
            bar("c", "ground", 0.37), closing(),
        ),
    ),
    "loop to an ancestor": Case(
        "crank, coupler and rocker in series, closed on the ground", text(SERIAL, closing(**BACK))
    ),
    "loop of one link": Case(
        "predecessor and successor are the same link", text(bars(), closing("b_link", "b_link")), pc.LoadError,
        "'closing'",
    ),
    "all independent": Case(
        "all joints of a loop are flagged independent", text(bars("true", "true", "true"), closing()),
        pc.ConstraintError, "3 1 'a'",
    ),
    "none independent": Case(
        "no joint of a loop is flagged independent: the library chooses", text(bars("false", "false",
        "false"), closing()),
        warning="'a' 'b' 'c'",
    ),
    "coupling, all independent": Case(
        "the joints of a coupling are all flagged independent",
        lambda: pc.buildModelFromXML(LEG.replace('independent="false"', 'independent="true"')), pc.LoadError,
        "'knee_rotor'",
    ),
    "loop type fixed": Case(
        'a four-bar whose last pin is "fixed"', text(bars(), closing(kind="fixed")), pc.ConstraintError,
        "'closing'",
    ),
    "loop type unknown": Case(
        'a loop of type "ball"', text(bars(), closing(kind="ball")), pc.LoadError, "'ball' spherical"
    ),
    "loop and coupling": Case(
        "a loop and a coupling on the same joint",
        text(bars(), bar("r", "ground", 0.1, 0.2, "false"), closing(), coupling("a_link", "r_link")),
    ),
    "massless end": Case(
        "a leaf without mass, under a torque",
        with_model(
            text(link("ground", ""), bar("a", "ground", 0.0, inertial=""), bar("b", "ground", 0.1)),
            lambda m: pc.aba(m, m.createData(), np.zeros(2), np.zeros(2), np.ones(2)),
        ), pc.SingularClusterError, "'a'",
    ),
    "negative mass": Case(
        "a mass of -1 kg", edited('mass value="1"', 'mass value="-1"'), pc.InertiaError, "'a_link' -1"
    ),
    "cannot close": Case(
        "links too short to meet", text(bars(), closing(before="5 0 0")), pc.ConstraintError,
        "'closing'",
    ),
    "one joint, no mobility": Case(
        "a robot of one hinge, and a loop that holds it", text(link("ground"), bar("a", "ground", 0.0),
        closing("ground", "a_link", "fixed", before="0 0 0", after="0 0 0")), pc.ConstraintError,
        "'closing' 'a'",
    ),
    "one joint, a loop beside it": Case(
        "a robot of one hinge, and a pin that is the same hinge", text(link("ground"), bar("a", "ground", 0.0),
        closing("ground", "a_link", before="0 0 0", after="0 0 0")),
    ),
    "redundant loop": Case("the same pin stated twice", text(bars(), closing(), closing(name="again"))),
    "two roots": Case(
        "a link without a parent", text(link("other"), bars(), closing()), pc.LoadError, "2 'other'"
    ),
    "misspelt flag": Case(
        'independent="flase"', text(bars("true", "flase", "false"), closing()), pc.LoadError, "'b' 'flase'"
    ),
    "misspelt attribute": Case(
        'indpendent="true"', edited("independent=", "indpendent="), pc.LoadError,
        "'indpendent' 'independent'"
    ),
    "unknown element": Case(
        "an element <foo/> in the robot", text(bars(), closing(), "<foo/>"), warning="<foo>"
    ),
}  # fmt: skip


def ends(*more: Any, kind: str = "revolute", **options: Any) -> Callable[[], list[Any]]:
    return lambda: [pc.Loop(("coupler", 0.9 * X), ("rocker", 0.7 * Z), kind, Y, name="pin", **options), *more]


CALLS: dict[str, Case] = {
    "frames on one body": Case(
        "`pc.Loop` between two frames of one body", lambda: drawn(loops=lambda: [pc.Loop("crank", "crank_link",
        "fixed")]),
        pc.ConstraintError, "'crank'",
    ),
    "no mobility": Case(
        "a four-bar whose last pin is a `fixed` loop", lambda: drawn(None, loops=ends(kind="fixed")),
        pc.ConstraintError,
        "'pin' 3 'crank' 'coupler' 'rocker'",
    ),
    "no mobility, two loops": Case(
        "a rod across a four-bar",
        lambda: drawn(loops=ends(pc.Rod(("crank", 0.3 * X), ("rocker", 0.5 * Z), name="strut"))),
        pc.ConstraintError, "'strut'",
    ),
    "through the floating base": Case(
        "a loop between a foot of a floating robot and the universe", lambda: floating("universe"), pc.ConstraintError,
        "'foot' 'base' fext",
    ),
    "rod of length 0": Case(
        "`pc.Rod(..., length=0)`", lambda: pc.Rod("crank", "rocker", length=0.0), pc.ConstraintError,
        "0 pc.Loop(a, b, 'spherical')",
    ),
    "rod of length 0 at the reference": Case(
        "`pc.Rod` without a length, whose ends coincide", lambda: drawn(
            np.zeros(3), loops=lambda: [pc.Rod(("coupler", 0.65 * X), "rocker", name="strut")]
        ), pc.ConstraintError, "'strut'",
    ),
    "too many independent": Case(
        "`independent=` names two joints of a four-bar", lambda: drawn(independent=["crank", "rocker"]),
        pc.ConstraintError, "2 'crank' 'rocker' 1",
    ),
    "flag on a free joint": Case(
        'independent="false" on a joint without constraints',
        text(bars(), bar("far", "ground", 1.0, 0.0, "false"), closing()), pc.LoadError,
        "'far'",
    ),
    "flag explained by the caller": Case(
        'independent="false" on joints that only `constraints=` couples',
        lambda: pc.buildModelFromXML(
            robot(bars()),
            constraints=[pc.Loop(("b_link", [0.21, 0, 0.2]), ("c_link", [-0.16, 0, 0.3]), "revolute", (0, 1, 0))],
        ),
    ),
    "rod body with two balls": Case(
        "a body between a spherical joint and a spherical loop", rod_with_two_balls, pc.ConstraintError,
        "'ball' 'link' pc.Rod",
    ),
    "cannot close, no reference": Case(
        "links too short to meet, no reference pose", lambda: drawn(None, crank=3.0), pc.ConstraintError,
        "'pin' 0.4",
    ),
    "cannot close near the reference": Case(
        "links too short to meet, with a reference pose", lambda: drawn(crank=3.0), pc.ConfigurationError,
        "'pin' 0.4",
    ),
    "reference of another pose": Case(
        "a reference pose far from any assembled one", lambda: drawn((0.7, 0.9, 1.5)), pc.ConfigurationError,
        "'pin'",
    ),
    "reference at a change point": Case(
        "a parallelogram with its bars in line as the reference",
        lambda: (parallelogram(np.zeros(3)), np.array([-1.0, -1.0, 1.0])),
        warning="1 2",
    ),
    "reference is NaN": Case(
        "a NaN in the reference pose", lambda: drawn((0.7, math.nan, -0.3)), pc.ConfigurationError,
        "q_reference[1] nan 'coupler'",
    ),
    "reference too short": Case(
        "a reference pose of one joint", lambda: drawn((0.7,)), pc.ShapeError, "q_reference 1 3"
    ),
    "dead centre": Case(
        "`pc.crba` where coupler and rocker are in line", at_dead_centre, pc.SingularClusterError,
        "'crank' 'coupler' 'rocker' pc.with_independent",
    ),
    "change point": Case(
        "`pc.crba` where all bars of a parallelogram are in line", at_change_point, pc.SingularClusterError,
        "'left' 'right' 'bar' pc.Differential.parallelogram",
    ),
    "lambda in a pickle": Case(
        "`pickle.dumps` of a `pc.Coupling` whose phi is a lambda", lambda: pickle.dumps(coupled(lambda x: ratio(x))),
        pc.PinClustersError, "'cam'",
    ),
    "phi is NaN": Case(
        "`pc.Coupling` with a phi that returns NaN", lambda: coupled(lambda x: [math.nan]), pc.ConstraintError,
        "'cam'",
    ),
    "unknown frame": Case(
        "`pc.Loop` to the frame `rokcer`", lambda: drawn(loops=lambda: [pc.Loop("coupler", "rokcer", "revolute", Y)]),
        pc.UnknownNameError, "'rokcer' 'rocker'",
    ),
    "unknown independent joint": Case(
        "`independent=['crnk']`", lambda: drawn(independent=["crnk"]), pc.UnknownNameError,
        "'crnk' 'crank'"
    ),
    "one name as independent": Case(
        "`independent='crank'`", lambda: drawn(independent="crank"), pc.ArgumentTypeError, "'crank'"
    ),
    "unknown joint to hold": Case(
        "`pc.project(..., hold='crnk')`", with_model(drawn, lambda m: pc.project(m, pc.neutral(m), hold="crnk")),
        pc.UnknownNameError, "'crnk' 'crank'",
    ),
    "all joints held": Case(
        "`pc.project` with an open loop and all joints held",
        with_model(drawn, lambda m: pc.project(m, np.zeros(3), hold=["crank", "coupler", "rocker"])),
        pc.ConfigurationError, "'pin'",
    ),
    "unknown cluster": Case(
        "`pc.branches(..., 'crnk')`", with_model(drawn, lambda m: pc.branches(m, pc.neutral(m), "crnk")),
        pc.UnknownNameError, "'crnk' 'crank'",
    ),
    "difference across branches": Case(
        "`pc.difference` between two assemblies", across_branches, pc.BranchLost,
        "'crank' 'coupler' 'rocker' pc.branches"
    ),
    "difference to an open loop": Case(
        "`pc.difference` to a q whose loop is open",
        with_model(drawn, lambda m: pc.difference(m, pc.neutral(m), np.add(pc.neutral(m), [0.0, 0.1, 0.0]))),
        pc.ConfigurationError, "difference q2 'pin' pc.project",
    ),
    "motion beyond reach": Case(
        "`pc.integrate` beyond a dead centre", beyond_reach, pc.BranchLost,
        "'crank' 'coupler' 'rocker' 'pin' pc.with_independent",
    ),
    "project a NaN": Case(
        "`pc.project` of a q that is not finite", with_model(drawn, lambda m: pc.project(m, [math.nan, 0.0, 0.0])),
        pc.ConfigurationError, "'crank' project q",
    ),
    "project another size": Case(
        "`pc.project` of a q of another size", with_model(drawn, lambda m: pc.project(m, [0.0])), pc.ShapeError,
        "q 1 3",
    ),
    "unknown kind": Case(
        "`pc.Loop(..., 'revolut')`", lambda: pc.Loop("a", "b", "revolut"), pc.ConstraintError, "'revolute'"
    ),
    "no axis": Case(
        "`pc.Loop(..., axis=(0, 0, 0))`", lambda: pc.Loop("a", "b", "revolute", axis=(0, 0, 0)), pc.ConstraintError,
        "axis",
    ),
    "opposite axes": Case(
        "`pc.Loop(..., 'prismatic', axis, -axis)`", lambda: pc.Loop("a", "b", "prismatic", X, -X), pc.ConstraintError,
        "b",
    ),
    "oblique planar loop, fixed rows": Case(
        "a four-bar closed by a `spherical` loop: one row is redundant", lambda: drawn(loops=ends(kind="spherical"))
    ),
    "loop, coupling and rotor": Case(
        "a loop, a coupling and a rotor on the same joints",
        lambda: mechanisms.rotors_on_a_loop(np.random.default_rng(0)).build(),
    ),
    "loop to the base": Case(
        "a serial four-bar closed on its floating base",
        lambda: mechanisms.four_bar(np.random.default_rng(0), serial=True, base=True).build(),
    ),
    "sloppy geometry": Case(
        "a planar loop written with 1.5708 for a quarter turn",
        lambda: mechanisms.sloppy_four_bar(np.random.default_rng(0)).build(), warning="1.5708",
    ),
    "class instead of a constraint": Case(
        "`constraints=[pc.Loop]`", lambda: drawn(loops=lambda: [pc.Loop]), pc.ConstraintError, "pc.Loop"
    ),
}  # fmt: skip

CASES = {**FILES, **CALLS}


# --- judging ----------------------------------------------------------------------------------------------------------


def away_from_projection(model: pc.ClusterModel, start: np.ndarray, states: int = 3) -> float:
    """Largest difference over max(1, size) of rnea, crba, aba, G and g, at random assembled states."""
    rng, worst = np.random.default_rng(0), 0.0
    sloppy = any(x is not None and x.dropped > 1e-12 for x in model.tables.topology.loops)
    data, exact = model.createData(), projection.createData(model)
    for _ in range(states):
        if model.closures:
            q = mechanisms.random_pose(model, start, rng, 0.3, 1e-4 * sloppy)
            if sloppy:
                q = pc.project(model, q)
        else:
            q = pc.integrate(model, start, rng.normal(size=model.nv))
        v, a, tau = rng.normal(size=(3, model.nv))
        fext = rng.normal(size=(model.njoints, 6))
        M = projection.crba(model, exact, q)
        pairs = [
            (pc.rnea(model, data, q, v, a, fext), projection.rnea(model, exact, q, v, a, fext)),
            (pc.crba(model, data, q), M),
            (pc.aba(model, data, q, v, tau, fext), projection.aba(model, exact, q, v, tau, fext)),
            (pc.aba(model, data, q, v, pc.rnea(model, data, q, v, a)), a),
        ]
        if model.closures:
            exact.couple(q, v)
            pairs.append((pc.coupling_jacobian(model, data, q), exact.loops.G))
            pairs.append((pc.coupling_bias(model, data, q, v), exact.loops.g))
        for x, y in pairs:
            worst = max(worst, float(np.abs(x - y).max()) / max(1.0, float(np.abs(y).max())))
    return worst if math.isfinite(worst) else math.inf


@functools.cache  # a test of each, one of all, and the page in the docs ask
def judge(case: Case) -> Verdict:
    """Try an input."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", message=".*called from Python at each state.*")
        try:
            result = case.make()
        except Exception as error:  # the table shows whatever comes
            return Verdict(error, (), 0.0)
        said = tuple(str(w.message) for w in caught)
    model, start = result if isinstance(result, tuple) else (result, None)
    assert isinstance(model, pc.ClusterModel), f"no error, and a {type(model).__name__}"
    return Verdict(None, said, away_from_projection(model, pc.neutral(model) if start is None else start))
