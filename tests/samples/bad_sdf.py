"""SDF documents that are refused: the error, and words of its message.

``CASES`` feeds tests/loaders/test_sdf_bad_input.py and the table in docs/bad_inputs.md (benchmarks/bad_inputs.py).
"""

from __future__ import annotations

from support.sdf_text import BODY, axis, gearbox, joint, link, model

from pin_clusters.errors import InertiaError, LoadError, PinClustersError

J = joint("j", "world", "a")
ONE = link("a") + J
BARE = '<model name="r">' + ONE + "</model>"
LAUGHS = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'


def body(inside: str) -> str:
    return model(link("a", inside=inside), J)


def moving(inside: str, version: str = "1.7") -> str:
    return model(link("a"), joint("j", "world", "a", inside=inside), version=version)


def follows(inside: str) -> str:
    return model(link("a"), link("b"), J, joint("k", "a", "b", inside=axis("0 0 1", inside)), version="1.11")


GEARS = link("base") + joint("w", "world", "base", "fixed", "") + link("a") + link("b") + joint("ja", "base", "a")
CASES = {
    # the document
    "empty": ("", LoadError, "empty.*<sdf version"),
    "malformed": (model(ONE)[:-7], LoadError, "not well-formed"),
    "deep": ("<sdf>" + "<a>" * 100_000 + "</a>" * 100_000 + "</sdf>", LoadError, "within each other"),
    "entity": (LAUGHS + '<sdf version="1.7"><model name="&b;"/></sdf>', LoadError, "document type"),
    "external": ('<!DOCTYPE sdf SYSTEM "http://localhost:1/x.dtd"><sdf/>', LoadError, "document type"),
    "a URDF": ("<robot/>", LoadError, "<robot>, expected <sdf>"),
    "no version": ("<sdf/>", LoadError, 'version="1.7", got'),
    "future version": (model(ONE, version="2.0"), LoadError, "version 2.0; 1.2 to 1.12"),
    "version of 5000 digits": (model(ONE, version="1." + "9" * 5000), LoadError, "a version such as"),
    "large number": (model(link("a", "1e31 0 0 0 0 0"), J), LoadError, r"<pose> must not be beyond 1e\+30"),
    "no model": ('<sdf version="1.7"/>', LoadError, "has no <model>"),
    "no links": (model(), LoadError, "has no <link>"),
    "two models": (f'<sdf version="1.7">{BARE}{BARE}</sdf>', LoadError, "several models: 'r', 'r'"),
    "two worlds": ('<sdf version="1.7"><world name="a"/><world name="b"/></sdf>', LoadError, "several worlds"),
    "joints of the world": (
        f'<sdf version="1.10"><world name="w">{BARE}{J}</world></sdf>',
        LoadError,
        "joints between",
    ),
    # names
    "no name": (model(link(""), J), LoadError, "a <link> has no name"),
    "name twice": (model(link("a"), link("a"), J), LoadError, "a link and a link have the name 'a'"),
    "name of a joint": (model(link("a"), joint("a", "world", "a")), LoadError, "a link and a joint have the name 'a'"),
    "reserved name": (model(link("world"), J), LoadError, "'world' has a name that is kept"),
    "unknown parent": (
        model(link("shin"), joint("j", "chin", "shin")),
        LoadError,
        "'j': 'chin' does not exist. Did you mean 'shin'",
    ),
    "unknown model": (model(link("a"), joint("j", "m::x", "a")), LoadError, "no model 'm' in 'm::x'"),
    "unknown frame": (model(link("a", "0 0 0 0 0 0", relative_to="f"), J), LoadError, "link 'a': 'f' does not exist"),
    "no parent": (model(ONE).replace("<parent>world</parent>", ""), LoadError, "joint 'j': <parent> is missing"),
    "child is the world": (model(link("a"), joint("j", "a", "world")), LoadError, "child is the world"),
    "itself": (model(link("a"), joint("j", "a", "a")), LoadError, "the same link 'a'"),
    "circle of poses": (
        model(link("a", "0 0 0 0 0 0", relative_to="b"), link("b", "0 0 0 0 0 0", relative_to="a"), J),
        LoadError,
        "a -> b -> a are relative",
    ),
    "circle of frames": (
        model(link("a"), '<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>', J),
        LoadError,
        "attached to itself|relative to each other",
    ),
    "long row of poses": (
        model(*(link(f"l{i}", "0 0 0 0 0 0", relative_to=f"l{i + 1}") for i in range(5000)), link("l5000"), J),
        LoadError,
        "more than 200 poses",
    ),
    "models in models": (
        model(link("a"), "".join(f'<model name="m{i}">' for i in range(40)) + "</model>" * 40, J),
        LoadError,
        "more than 20 models",
    ),
    "pose before 1.7": (
        model(link("a", "0 0 0 0 0 0").replace("<pose>0 0 0 0 0 0<", '<pose frame="x">0 0 0 0 0 0<'), J, version="1.6"),
        LoadError,
        "before SDF 1.7",
    ),
    "two islands": (model(link("a"), link("b"), J), LoadError, "no joints connect these links to 'world'.*'b'"),
    # numbers
    "pose": (model(link("a", "0 0 0"), J), LoadError, "<pose> must be 6 numbers, got '0 0 0'"),
    "nan": (model(link("a", "0 0 0 0 0 nan"), J), LoadError, "<pose> must be a finite number"),
    "quaternion": (
        model(link("a", "0 0 0 0 0 0 0").replace("<pose>0 0", '<pose rotation_format="quat_xyzw">0 0', 1), J),
        LoadError,
        "quaternion of <pose> is zero",
    ),
    "form of rotation": (
        model(link("a", "0 0 0 0 0 0").replace("<pose>0 0 0 0 0 0<", '<pose rotation_format="axis">0 0 0 0 0 0<'), J),
        LoadError,
        "rotation_format 'axis' is unknown",
    ),
    "mass": (body("<inertial><mass>-1</mass></inertial>"), InertiaError, "mass is -1 kg"),
    "mass text": (
        body("<inertial><mass>heavy</mass></inertial>"),
        LoadError,
        "mass must be a finite number, got 'heavy'",
    ),
    "inertia": (
        body("<inertial><inertia><ixx>1</ixx><iyy>1</iyy><izz>-1</izz></inertia></inertial>"),
        InertiaError,
        "semidef",
    ),
    "auto": (body('<inertial auto="true"/>'), LoadError, "from shapes"),
    "inertial frame": (body('<inertial><pose relative_to="j"/></inertial>'), LoadError, "relative to the link"),
    "axis zero": (moving(axis("0 0 0")), LoadError, "<axis> is zero"),
    "axis short": (moving(axis("0 1")), LoadError, "must be 3 numbers"),
    "no axis": (moving(""), LoadError, "a revolute joint needs <axis>"),
    "unknown frame of axis": (moving(axis("0 0 1", expressed_in="f")), LoadError, "'f' does not exist"),
    "limits": (
        moving(axis("0 0 1", "<limit><lower>1</lower><upper>0</upper></limit>")),
        LoadError,
        "lower limit 1 is above",
    ),
    "flag": (
        moving(axis("0 0 1", "<use_parent_model_frame>yes</use_parent_model_frame>"), "1.6"),
        LoadError,
        "true or false",
    ),
    # joints
    "type": (model(link("a"), joint("j", "world", "a", "hinge")), LoadError, "type 'hinge' is not one of SDF"),
    "screw": (
        model(link("a"), joint("j", "world", "a", "screw", axis() + "<screw_thread_pitch>0</screw_thread_pitch>")),
        LoadError,
        "pitch 0",
    ),
    "screw of no pitch": (
        model(link("a"), joint("j", "world", "a", "screw", axis() + "<thread_pitch>1e20</thread_pitch>")),
        LoadError,
        "pitch -1e-20 is a revolute joint",
    ),
    "screw of nothing but pitch": (
        model(link("a"), joint("j", "world", "a", "screw", axis() + "<thread_pitch>1e-20</thread_pitch>")),
        LoadError,
        r"pitch -1e\+20 is a prismatic joint",
    ),
    "no second axis": (model(link("a"), joint("j", "world", "a", "universal")), LoadError, "needs <axis2>"),
    "mimic unknown": (follows('<mimic joint="x"/>'), LoadError, "'k', <mimic>: 'x' does not exist"),
    "mimic nobody": (follows("<mimic/>"), LoadError, "names no joint"),
    "mimic a link": (follows('<mimic joint="a"/>'), LoadError, "which is no joint"),
    "mimic second axis": (follows('<mimic joint="j" axis="axis2"/>'), LoadError, "does not have"),
    "mimic zero": (follows('<mimic joint="j"><multiplier>0</multiplier></mimic>'), LoadError, "stands still"),
    "mimic itself": (follows('<mimic joint="k"/>'), LoadError, "coupled to itself"),
    "mimic misspelt": (
        follows('<mimic joint="j"><multiplyer>2</multiplyer></mimic>'),
        LoadError,
        "<multiplyer> in <mimic>",
    ),
    "gear ratio": (
        model(GEARS, joint("jb", "base", "b"), gearbox("a", "b", "base", "0")),
        LoadError,
        "gearbox_ratio is 0",
    ),
    "no reference": (
        model(GEARS, joint("jb", "base", "b"), gearbox("a", "b", "", "2")),
        LoadError,
        "gearbox_reference_body> is missing",
    ),
    "gear across": (
        model(GEARS, joint("jb", "base", "b", inside=axis("1 0 0")), gearbox("a", "b", "base", "2")),
        LoadError,
        "'gears': joint 'jb' between.*does not turn about the axis",
    ),
    "gear on a slide": (
        model(GEARS, joint("jb", "base", "b", "prismatic"), gearbox("a", "b", "base", "2")),
        LoadError,
        "does not turn",
    ),
    "gear of one": (
        model(GEARS, joint("jb", "base", "b", "fixed", ""), gearbox("a", "b", "base", "2")),
        LoadError,
        "couple",
    ),
    "two gears": (
        model(
            GEARS,
            joint("jb", "base", "b"),
            gearbox("a", "b", "base", "2"),
            gearbox("a", "b", "base", "3").replace('"gears"', '"more"'),
        ),
        PinClustersError,
        "more|claimed|cycle|couple",
    ),
    # what changes the dynamics
    "weightless": (body("<gravity>0</gravity>" + BODY), LoadError, "<gravity>false"),
    "kinematic": (body("<kinematic>1</kinematic>" + BODY), LoadError, "kinematic"),
    "drag": (body("<velocity_decay><linear>0.1</linear></velocity_decay>" + BODY), LoadError, "velocity_decay"),
    "added mass": (body("<inertial><mass>1</mass><fluid_added_mass/></inertial>"), LoadError, "fluid_added_mass"),
    "bushing": (
        model(ONE, '<d:linear_bushing_rpy xmlns:d="http://drake.mit.edu"/>'),
        LoadError,
        "drake:linear_bushing_rpy.*changes",
    ),
    "rotor": (
        moving(axis() + '<d:rotor_inertia xmlns:d="http://drake.mit.edu">1</d:rotor_inertia>'),
        LoadError,
        "rotor_inertia",
    ),
    "misspelt": (model(ONE, "<jiont/>"), LoadError, "unknown element <jiont>. Did you mean <joint>"),
    "misplaced": (moving(axis() + "<inertia/>"), LoadError, "<inertia> does not belong in a <joint>"),
    "include in text": (
        model(ONE, "<include><uri>model://x</uri></include>"),
        LoadError,
        "given as text includes nothing",
    ),
}
