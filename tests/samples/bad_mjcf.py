"""MJCF that is ill-formed, or says what cannot be honoured.

``CASES`` feeds tests/loaders/test_mjcf_bad_input.py and the table in docs/bad_inputs.md (benchmarks/bad_inputs.py).
"""

from __future__ import annotations

BODY = '<body name="b"><joint name="j"/><geom name="g" size="0.1"/></body>'
TWO = f'{BODY}<body name="c"><joint name="k"/><joint name="l" axis="1 0 0"/><geom size="0.1"/><site name="s"/></body>'


def world(body: str = BODY, more: str = "", name: str = "") -> str:
    return f'<mujoco model="{name or "m"}"><worldbody>{body}</worldbody>{more}</mujoco>'


def tied(text: str) -> str:
    return world(TWO, f"<equality>{text}</equality>")


def joint(text: str) -> str:
    return world(f'<body name="b"><joint name="j" {text}/><geom size="0.1"/></body>')


def geom(text: str) -> str:
    return world(f'<body name="b"><joint/><geom name="g" {text}/></body>')


def tendon(text: str) -> str:
    return world(TWO, f"<tendon>{text}</tendon>")


def mesh(text: str) -> str:
    body = '<body name="b"><joint/><geom name="g" type="mesh" mesh="m"/></body>'
    return world(body, f'<asset><mesh name="m" {text}/></asset>')


POINTS = 'vertex="0 0 0 1 0 0 0 1 0 0 0 1"'
HELD = """<body gravcomp="1"><joint name="j" actuatorgravcomp="true"/><geom size="1"/><body name="b" gravcomp="1">
  <joint name="k"/><geom size="1"/></body></body>"""
CASES: dict[str, tuple[str, str]] = {  # what it is: the document, and names and numbers of the message
    "empty": ("   ", "<mujoco>"),
    "not well-formed": ("<mujoco><worldbody>", ""),
    "another format": ("<robot name='x'/>", "<robot> pc.buildModelFromUrdf"),
    "XML entity": ('<!DOCTYPE m [<!ENTITY a "x">]><mujoco>&a;</mujoco>', ""),
    "no worldbody": ("<mujoco/>", "<worldbody>"),
    "no movable joint": (world("<body/>"), ""),
    "unknown section": (world(more="<springs/>"), "<springs>"),
    "unknown element": (world("<body><jiont/></body>"), "'body1' <jiont> 'joint'"),
    "unknown attribute": (joint('stifness="3"'), "'j' 'b' 'stifness' 'stiffness'"),
    "unknown default": (joint('class="x"'), "'x'"),
    "duplicate default class": (world(more='<default><default class="a"/><default class="a"/></default>'), "'a'"),
    "non-numeric value": (joint('damping="much"'), "'j' 'much'"),
    "NaN": (joint('pos="0 0 nan"'), "'nan'"),
    "too few numbers": (joint('axis="1 0"'), "3 '1 0'"),
    "no axis": (joint('axis="0 0 0"'), "'j' 0"),
    "unknown joint type": (joint('type="screw"'), "'j' 'b' 'screw'"),
    "empty range": (joint('range="1 -1"'), "'1 -1'"),
    "limited without range": (joint('limited="true"'), "'j'"),
    "two orientations": (world('<body quat="1 0 0 0" zaxis="1 0 0" euler="0 0 0"/>'), "'body1'"),
    "duplicate joint name": (world(BODY + '<body><joint name="j"/></body>'), "'j'"),
    "duplicate body name": (world(BODY + '<body name="b"/>'), "'b'"),
    "joint in the world": (world("<joint/>"), "'world'"),
    "nested free joint": (world('<body><body name="x"><freejoint/></body></body>'), "'x'"),
    "free joint and another": (world("<body><freejoint/><joint/></body>"), "'body1'"),
    "negative mass": (geom('size="1" mass="-1"'), "'g' 'b'"),
    "size missing": (geom('type="box" size="1 1"'), "3 '1 1'"),
    "no such mesh": (geom('type="mesh" mesh="x"'), "'x'"),
    "mesh missing": (
        world('<body><joint/><geom type="mesh" mesh="x"/></body>', '<asset><mesh name="x" file="x.stl"/></asset>'),
        "<inertial> 'x' 'x.stl'",
    ),
    "no inertia": (world('<body name="b"><joint/><inertial mass="1"/></body>'), "'b'"),
    "unphysical inertia": (
        world('<body name="b"><joint/><inertial mass="1" diaginertia="1 1 3"/></body>'), "balanceinertia='true'",
    ),
    "indefinite inertia": (
        world('<body name="b"><joint/><inertial mass="1" diaginertia="1 -1 1"/></body>'), "'b' -1.0 1.0",
    ),
    "fluid": (world(more='<option viscosity="1"/>'), "1"),
    "global coordinates": (world(more='<compiler coordinate="global"/>'), "2.3.4"),
    "plastic spring": (joint('springyield="1" stiffness="1"'), "'j'"),
    "soft bodies": (world(more='<deformable><flex name="f"/></deformable>'), "<flex>"),
    "no such joint": (tied('<joint joint1="x"/>'), "'joint x' 'x'"),
    "no such body": (tied('<connect body1="x" anchor="0 0 0"/>'), "'x'"),
    "no such site": (tied('<weld site1="s" site2="t"/>'), "site2 't'"),
    "no anchor": (tied('<connect body1="b"/>'), "'connect b' body1"),
    "one site": (tied('<connect site1="s"/>'), "site2"),
    "body and site": (tied('<connect site1="s" site2="s" body1="b"/>'), "'connect s - s - b'"),
    "joint coupled to itself": (tied('<joint joint1="k" joint2="k"/>'), "'joint k - k' 'k' joint2"),
    "contradiction": (
        tied('<joint joint1="k" polycoef="0"/><joint joint1="k" polycoef="0.1"/>'), "0.1",
    ),
    "contradiction along a chain": (
        tied('<joint joint1="k" polycoef="0.1"/><joint joint1="l" polycoef="0.2"/><joint joint1="k" joint2="l"/>'),
        "'joint k - l' 0.1",
    ),
    "redundant coupling": (
        tied('<joint joint1="k" joint2="l"/><joint joint1="l" joint2="k" polycoef="0 2"/>'), "'joint l - k' 'l' 'k'",
    ),
    "loop of welded bodies": (
        world('<body name="b"><joint/><geom size="1"/><body name="d"/></body>',
              '<equality><connect body1="b" body2="d" anchor="0 0 0"/></equality>'),
        "'connect b - d'",
    ),
    "welded mocap body": (
        world(BODY + '<body name="m" mocap="true"/>', '<equality><weld body1="m" body2="b"/></equality>'),
        "active='false'",
    ),
    "non-invertible coupling": (
        tied('<joint joint1="k" polycoef="0.3"/><joint joint1="k" joint2="l" polycoef="0 0 1"/>'), "2",
    ),
    "soft equality": (tied('<flex flex="f"/>'), "'flex 0' <flex>"),
    "unknown equality": (tied('<gear joint1="k"/>'), "<gear>"),
    "vertex index too large": (mesh(f'{POINTS} face="0 1 2 0 1 99"'), "'m' 99 0 3"),
    "negative vertex index": (mesh(f'{POINTS} face="0 2 1 0 1 3 0 3 2 1 2 -1"'), "'m' -1"),
    "fractional vertex index": (mesh(f'{POINTS} face="0 2 1 0 1 2.5"'), "2.5"),
    "vertex index 1e30": (mesh(f'{POINTS} face="0 1 2 0 1 1e30"'), "1e+30"),
    "face with 5 numbers": (mesh(f'{POINTS} face="0 1 2 0 1"'), "5"),
    "vertex with 14 numbers": (mesh(f'{POINTS[:-1]} 1 1"'), "14"),
    "vertices too large": (mesh(f'{POINTS} scale="1e30 1e30 1e30" refpos="-2 0 0"'), "'m' 1e+30"),
    "large capsule": (geom('type="capsule" size="0.05" fromto="1e308 1e308 1e308 1 0 0"'), "'g' 'b' '1e308'"),
    "small box": (geom('type="box" size="1e-200 1 1e-200" mass="1"'), "0"),
    "large gear": (world(more='<actuator><motor joint="j" gear="1e308"/></actuator>'), "'1e308' 0 1e+30"),
    "short springdamper": (joint('springdamper="1e-200 1"'), "1e-200 1"),
    "number of 100,000 digits": (joint(f'damping="{"9" * 100_000}"'), "'j'"),
    "friction of a free joint": (
        joint('type="free" frictionloss="0.2"'), "'j' <freejoint/>",
    ),
    "cubic damping of a free joint": (joint('type="free" damping="1 0 1"'), "'j' <freejoint/>"),
    "partial gravity compensation": (world(HELD), "'j' 'k'"),
    "tendon without a joint": (tendon('<fixed name="t"/>'), "'t'"),
    "tendon of an unknown joint": (tendon('<fixed><joint joint="x" coef="1"/></fixed>'), "'x'"),
    "tendon around a geom": (
        tendon('<spatial name="t" stiffness="1"><site site="s"/><geom geom="g"/><site site="s"/></spatial>'),
        "'t'",
    ),
    "armature of spatial tendon": (
        tendon('<spatial name="t" armature="1"><site site="s"/><site site="s"/></spatial>'), "'t' armature",
    ),
    "actuator of an unknown joint": (world(more='<actuator><motor joint="x"/></actuator>'), "'x'"),
    "unknown actuator": (world(more='<actuator><moter joint="j"/></actuator>'), "<moter>"),
    "keyframe of wrong size": (
        world(more='<keyframe><key name="h" qpos="1 2"/></keyframe>'), "2",
    ),
    "reserved name": (world('<body><joint name="universe"/></body>'), "'universe'"),
    "include in text": (world(more='<include file="x.xml"/>'), "'x.xml'"),
}  # fmt: skip
