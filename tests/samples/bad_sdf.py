"""SDF documents that are refused: the error, and names and numbers of its message.

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
    "empty": ("", LoadError, "version"),
    "malformed": (model(ONE)[:-7], LoadError, ""),
    "deep nesting": ("<sdf>" + "<a>" * 100_000 + "</a>" * 100_000 + "</sdf>", LoadError, "100"),
    "XML entity": (LAUGHS + '<sdf version="1.7"><model name="&b;"/></sdf>', LoadError, ""),
    "document type declaration": ('<!DOCTYPE sdf SYSTEM "http://localhost:1/x.dtd"><sdf/>', LoadError, ""),
    "a URDF": ("<robot/>", LoadError, "<robot> <sdf>"),
    "no version": ("<sdf/>", LoadError, "1.7"),
    "future version": (model(ONE, version="2.0"), LoadError, "2.0 1.2 1.12"),
    "version of 5000 digits": (model(ONE, version="1." + "9" * 5000), LoadError, "1.7 <sdf>"),
    "large number": (model(link("a", "1e31 0 0 0 0 0"), J), LoadError, "<pose> 1e+30"),
    "no model": ('<sdf version="1.7"/>', LoadError, "<model>"),
    "no links": (model(), LoadError, "<link>"),
    "two models": (f'<sdf version="1.7">{BARE}{BARE}</sdf>', LoadError, "'r'"),
    "two worlds": ('<sdf version="1.7"><world name="a"/><world name="b"/></sdf>', LoadError, ""),
    "joints of the world": (
        f'<sdf version="1.10"><world name="w">{BARE}{J}</world></sdf>',
        LoadError,
        "'j'",
    ),
    # names
    "no name": (model(link(""), J), LoadError, "<link>"),
    "duplicate link name": (model(link("a"), link("a"), J), LoadError, "'a'"),
    "link and joint of one name": (model(link("a"), joint("a", "world", "a")), LoadError, "'a'"),
    "reserved name": (model(link("world"), J), LoadError, "'world'"),
    "unknown parent": (
        model(link("shin"), joint("j", "chin", "shin")),
        LoadError,
        "'j' 'chin' 'shin'",
    ),
    "unknown model": (model(link("a"), joint("j", "m::x", "a")), LoadError, "'m' 'm::x'"),
    "unknown frame": (model(link("a", "0 0 0 0 0 0", relative_to="f"), J), LoadError, "'a' 'f'"),
    "no parent": (model(ONE).replace("<parent>world</parent>", ""), LoadError, "'j' <parent>"),
    "child is the world": (model(link("a"), joint("j", "a", "world")), LoadError, "'j'"),
    "parent is the child": (model(link("a"), joint("j", "a", "a")), LoadError, "'a'"),
    "cyclic relative poses": (
        model(link("a", "0 0 0 0 0 0", relative_to="b"), link("b", "0 0 0 0 0 0", relative_to="a"), J),
        LoadError,
        "a b",
    ),
    "frame attached to itself": (
        model(link("a"), '<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>', J),
        LoadError,
        "'f'",
    ),
    "long pose chain": (
        model(*(link(f"l{i}", "0 0 0 0 0 0", relative_to=f"l{i + 1}") for i in range(5000)), link("l5000"), J),
        LoadError,
        "200",
    ),
    "deeply nested models": (
        model(link("a"), "".join(f'<model name="m{i}">' for i in range(40)) + "</model>" * 40, J),
        LoadError,
        "20",
    ),
    "pose before 1.7": (
        model(link("a", "0 0 0 0 0 0").replace("<pose>0 0 0 0 0 0<", '<pose frame="x">0 0 0 0 0 0<'), J, version="1.6"),
        LoadError,
        "1.7",
    ),
    "unconnected link": (model(link("a"), link("b"), J), LoadError, "'world' 'b'"),
    # numbers
    "pose": (model(link("a", "0 0 0"), J), LoadError, "<pose> 6 '0 0 0'"),
    "nan": (model(link("a", "0 0 0 0 0 nan"), J), LoadError, "<pose>"),
    "quaternion": (
        model(link("a", "0 0 0 0 0 0 0").replace("<pose>0 0", '<pose rotation_format="quat_xyzw">0 0', 1), J),
        LoadError,
        "<pose>",
    ),
    "unknown rotation format": (
        model(link("a", "0 0 0 0 0 0").replace("<pose>0 0 0 0 0 0<", '<pose rotation_format="axis">0 0 0 0 0 0<'), J),
        LoadError,
        "rotation_format 'axis'",
    ),
    "mass": (body("<inertial><mass>-1</mass></inertial>"), InertiaError, "-1"),
    "mass text": (
        body("<inertial><mass>heavy</mass></inertial>"),
        LoadError,
        "'heavy'",
    ),
    "inertia": (
        body("<inertial><inertia><ixx>1</ixx><iyy>1</iyy><izz>-1</izz></inertia></inertial>"),
        InertiaError,
        "'a' -1 1",
    ),
    "automatic inertia": (body('<inertial auto="true"/>'), LoadError, "'a'"),
    "inertial frame": (body('<inertial><pose relative_to="j"/></inertial>'), LoadError, "'a' relative_to <inertial>"),
    "axis zero": (moving(axis("0 0 0")), LoadError, "<axis>"),
    "axis short": (moving(axis("0 1")), LoadError, "3"),
    "no axis": (moving(""), LoadError, "<axis>"),
    "unknown frame of axis": (moving(axis("0 0 1", expressed_in="f")), LoadError, "'f'"),
    "limits": (
        moving(axis("0 0 1", "<limit><lower>1</lower><upper>0</upper></limit>")),
        LoadError,
        "1",
    ),
    "flag": (
        moving(axis("0 0 1", "<use_parent_model_frame>yes</use_parent_model_frame>"), "1.6"),
        LoadError,
        "'j' 'yes' <use_parent_model_frame>",
    ),
    # joints
    "type": (model(link("a"), joint("j", "world", "a", "hinge")), LoadError, "'hinge'"),
    "zero pitch": (
        model(link("a"), joint("j", "world", "a", "screw", axis() + "<screw_thread_pitch>0</screw_thread_pitch>")),
        LoadError,
        "0",
    ),
    "tiny pitch": (
        model(link("a"), joint("j", "world", "a", "screw", axis() + "<thread_pitch>1e20</thread_pitch>")),
        LoadError,
        "-1e-20",
    ),
    "huge pitch": (
        model(link("a"), joint("j", "world", "a", "screw", axis() + "<thread_pitch>1e-20</thread_pitch>")),
        LoadError,
        "-1e+20",
    ),
    "no second axis": (model(link("a"), joint("j", "world", "a", "universal")), LoadError, "<axis2>"),
    "mimic unknown": (follows('<mimic joint="x"/>'), LoadError, "'k' <mimic> 'x'"),
    "mimic without joint": (follows("<mimic/>"), LoadError, "'k'"),
    "mimic a link": (follows('<mimic joint="a"/>'), LoadError, "'k' 'a' <mimic>"),
    "mimic second axis": (follows('<mimic joint="j" axis="axis2"/>'), LoadError, "'k' 'j' <mimic>"),
    "mimic zero": (follows('<mimic joint="j"><multiplier>0</multiplier></mimic>'), LoadError, "'k' 0 <mimic>"),
    "joint mimics itself": (follows('<mimic joint="k"/>'), LoadError, "'k' LinearCoupling <mimic>"),
    "mimic misspelt": (
        follows('<mimic joint="j"><multiplyer>2</multiplyer></mimic>'),
        LoadError,
        "<multiplyer> <mimic>",
    ),
    "gear ratio": (
        model(GEARS, joint("jb", "base", "b"), gearbox("a", "b", "base", "0")),
        LoadError,
        "gearbox_ratio 0",
    ),
    "gearbox without reference": (
        model(GEARS, joint("jb", "base", "b"), gearbox("a", "b", "", "2")),
        LoadError,
        "<gearbox_reference_body>",
    ),
    "joint not parallel to gearbox": (
        model(GEARS, joint("jb", "base", "b", inside=axis("1 0 0")), gearbox("a", "b", "base", "2")),
        LoadError,
        "'gears' 'jb'",
    ),
    "gearbox on prismatic joint": (
        model(GEARS, joint("jb", "base", "b", "prismatic"), gearbox("a", "b", "base", "2")),
        LoadError,
        "'gears' 'jb' 'b'",
    ),
    "gearbox with one joint": (
        model(GEARS, joint("jb", "base", "b", "fixed", ""), gearbox("a", "b", "base", "2")),
        LoadError,
        "'gears' 1 <parent>",
    ),
    "two gears": (
        model(
            GEARS,
            joint("jb", "base", "b"),
            gearbox("a", "b", "base", "2"),
            gearbox("a", "b", "base", "3").replace('"gears"', '"more"'),
        ),
        PinClustersError,
        "'jb' 'ja'",
    ),
    # what changes the dynamics
    "link without gravity": (body("<gravity>0</gravity>" + BODY), LoadError, "<gravity>"),
    "kinematic": (body("<kinematic>1</kinematic>" + BODY), LoadError, "'a' <kinematic>"),
    "drag": (body("<velocity_decay><linear>0.1</linear></velocity_decay>" + BODY), LoadError, "velocity_decay"),
    "added mass": (body("<inertial><mass>1</mass><fluid_added_mass/></inertial>"), LoadError, "fluid_added_mass"),
    "bushing": (
        model(ONE, '<d:linear_bushing_rpy xmlns:d="http://drake.mit.edu"/>'),
        LoadError,
        "<drake:linear_bushing_rpy>",
    ),
    "rotor": (
        moving(axis() + '<d:rotor_inertia xmlns:d="http://drake.mit.edu">1</d:rotor_inertia>'),
        LoadError,
        "rotor_inertia",
    ),
    "misspelt": (model(ONE, "<jiont/>"), LoadError, "<jiont> <joint>"),
    "misplaced": (moving(axis() + "<inertia/>"), LoadError, "<inertia> <joint>"),
    "include in text": (
        model(ONE, "<include><uri>model://x</uri></include>"),
        LoadError,
        "'model://x' <include>",
    ),
}
