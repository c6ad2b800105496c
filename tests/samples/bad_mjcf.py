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
CASES: dict[str, tuple[str, str]] = {  # what it is: the document, and words of the error
    "empty": ("   ", "text is empty. Expected XML that starts with <mujoco>"),
    "not well-formed": ("<mujoco><worldbody>", "not well-formed XML"),
    "another format": ("<robot name='x'/>", "no MJCF: its root element is <robot>.*buildModelFromUrdf"),
    "entities": ('<!DOCTYPE m [<!ENTITY a "x">]><mujoco>&a;</mujoco>', "document type declaration"),
    "no worldbody": ("<mujoco/>", "no <worldbody>"),
    "nothing moves": (world("<body/>"), "no joint that moves"),
    "unknown section": (world(more="<springs/>"), "unknown element <springs>"),
    "unknown element": (world("<body><jiont/></body>"), "body1.: unknown element <jiont>. Did you mean 'joint'"),
    "unknown attribute": (joint('stifness="3"'), "joint 'j' of body 'b': unknown attribute 'stifness'.*'stiffness'"),
    "unknown default": (joint('class="x"'), "class 'x' is not defined"),
    "class twice": (world(more='<default><default class="a"/><default class="a"/></default>'), "'a' is defined twice"),
    "no number": (joint('damping="much"'), "joint 'j': damping must be a finite number, got 'much'"),
    "not a number": (joint('pos="0 0 nan"'), "pos must be a finite number, got 'nan'"),
    "too few numbers": (joint('axis="1 0"'), "axis must be 3 numbers, got '1 0'"),
    "no axis": (joint('axis="0 0 0"'), "axis has no direction"),
    "kind of joint": (joint('type="screw"'), "type must be one of hinge, slide, ball, free"),
    "empty range": (joint('range="1 -1"'), "its range '1 -1' is empty"),
    "limited without range": (joint('limited="true"'), "limited is true, but range is missing"),
    "two orientations": (world('<body quat="1 0 0 0" zaxis="1 0 0" euler="0 0 0"/>'), "zaxis and euler both give"),
    "joint twice": (world(BODY + '<body><joint name="j"/></body>'), "Two joints have the name 'j'"),
    "body twice": (world(BODY + '<body name="b"/>'), "Two bodies have the name 'b'"),
    "joint in the world": (world("<joint/>"), "the world has no joints"),
    "free joint inside": (world('<body><body name="x"><freejoint/></body></body>'), "only bodies in the world"),
    "free joint and another": (world("<body><freejoint/><joint/></body>"), "must be the only joint"),
    "negative mass": (geom('size="1" mass="-1"'), "mass and density must not be negative"),
    "size missing": (geom('type="box" size="1 1"'), "a box needs 3 positive numbers as size, got '1 1'"),
    "no such mesh": (geom('type="mesh" mesh="x"'), "there is no mesh 'x'"),
    "mesh missing": (
        world('<body><joint/><geom type="mesh" mesh="x"/></body>', '<asset><mesh name="x" file="x.stl"/></asset>'),
        "no <inertial>, so its inertia is that of mesh 'x', whose file 'x.stl' is missing",
    ),
    "no inertia": (world('<body name="b"><joint/><inertial mass="1"/></body>'), "give diaginertia or fullinertia"),
    "no body has it": (
        world('<body name="b"><joint/><inertial mass="1" diaginertia="1 1 3"/></body>'), "balanceinertia='true'",
    ),
    "indefinite": (
        world('<body name="b"><joint/><inertial mass="1" diaginertia="1 -1 1"/></body>'), "not positive semidefinite",
    ),
    "fluid": (world(more='<option viscosity="1"/>'), "viscosity 1 makes forces of a fluid"),
    "global coordinates": (world(more='<compiler coordinate="global"/>'), "coordinate must be local"),
    "flow": (joint('springyield="1" stiffness="1"'), "springyield"),
    "soft bodies": (world(more='<deformable><flex name="f"/></deformable>'), "<flex> bodies are soft"),
    "no such joint": (tied('<joint joint1="x"/>'), "equality 'joint x': there is no joint 'x'"),
    "no such body": (tied('<connect body1="x" anchor="0 0 0"/>'), "there is no body 'x'"),
    "no such site": (tied('<weld site1="s" site2="t"/>'), "site2 't' does not exist"),
    "no anchor": (tied('<connect body1="b"/>'), "anchor is missing"),
    "one site": (tied('<connect site1="s"/>'), "site2 is missing"),
    "body and site": (tied('<connect site1="s" site2="s" body1="b"/>'), "two bodies or two sites"),
    "tied to itself": (tied('<joint joint1="k" joint2="k"/>'), "tied to itself"),
    "contradiction": (
        tied('<joint joint1="k" polycoef="0"/><joint joint1="k" polycoef="0.1"/>'), "contradicts.* off by 0.1",
    ),
    "contradiction along a chain": (
        tied('<joint joint1="k" polycoef="0.1"/><joint joint1="l" polycoef="0.2"/><joint joint1="k" joint2="l"/>'),
        "contradicts the other equalities",
    ),
    "said twice": (
        tied('<joint joint1="k" joint2="l"/><joint joint1="l" joint2="k" polycoef="0 2"/>'), "repeats or contradicts",
    ),
    "of welded bodies": (
        world('<body name="b"><joint/><geom size="1"/><body name="d"/></body>',
              '<equality><connect body1="b" body2="d" anchor="0 0 0"/></equality>'),
        "equality 'connect b - d'.*both frames are on one body",
    ),
    "by hand": (
        world(BODY + '<body name="m" mocap="true"/>', '<equality><weld body1="m" body2="b"/></equality>'),
        r"moved by hand \(mocap\).*active='false'",
    ),
    "what does not lead": (
        tied('<joint joint1="k" polycoef="0.3"/><joint joint1="k" joint2="l" polycoef="0 0 1"/>'), "of degree 2",
    ),
    "soft equality": (tied('<flex flex="f"/>'), "ties soft bodies"),
    "unknown equality": (tied('<gear joint1="k"/>'), "unknown element <gear>"),
    "face beyond the vertices": (mesh(f'{POINTS} face="0 1 2 0 1 99"'), "mesh 'm': a face names vertex 99.*0 to 3"),
    "face below zero": (mesh(f'{POINTS} face="0 2 1 0 1 3 0 3 2 1 2 -1"'), "mesh 'm': a face names vertex -1"),
    "half a vertex": (mesh(f'{POINTS} face="0 2 1 0 1 2.5"'), r"a face names vertex 2\.5"),
    "face of a large number": (mesh(f'{POINTS} face="0 1 2 0 1 1e30"'), r"a face names vertex 1e\+30"),
    "five numbers of faces": (mesh(f'{POINTS} face="0 1 2 0 1"'), "face must be three numbers each, got 5"),
    "14 numbers of vertices": (mesh(f'{POINTS[:-1]} 1 1"'), "vertex must be three numbers each, got 14"),
    "vertices out of proportion": (mesh(f'{POINTS} scale="1e30 1e30 1e30" refpos="-2 0 0"'), "none beyond 1e"),
    "large capsule": (geom('type="capsule" size="0.05" fromto="1e308 1e308 1e308 1 0 0"'), "fromto .*beyond 1e"),
    "small box": (geom('type="box" size="1e-200 1 1e-200" mass="1"'), "its volume or surface is 0, too little"),
    "large gear": (world(more='<actuator><motor joint="j" gear="1e308"/></actuator>'), "gear must not be beyond 1e"),
    "short springdamper": (joint('springdamper="1e-200 1"'), "springdamper 1e-200 1 is too stiff"),
    "number of 100,000 digits": (joint(f'damping="{"9" * 100_000}"'), "damping must be a finite number, got '9{50,60}"),
    "friction of a free joint": (
        joint('type="free" frictionloss="0.2"'), "'j': frictionloss of a free joint acts along.*a <freejoint/>",
    ),
    "cubic damping of a free joint": (joint('type="free" damping="1 0 1"'), "'j': damping by powers.*a <freejoint/>"),
    "held by an actuator in part": (world(HELD), "'j' has actuatorgravcomp, joint 'k' has not.*or none"),
    "tendon without a joint": (tendon('<fixed name="t"/>'), "has no joint"),
    "tendon of an unknown joint": (tendon('<fixed><joint joint="x" coef="1"/></fixed>'), "there is no joint 'x'"),
    "tendon around a geom": (
        tendon('<spatial name="t" stiffness="1"><site site="s"/><geom geom="g"/><site site="s"/></spatial>'),
        "stiffness acts along a path around geoms",
    ),
    "armature of a path": (
        tendon('<spatial name="t" armature="1"><site site="s"/><site site="s"/></spatial>'), "spatial",
    ),
    "actuator of an unknown joint": (world(more='<actuator><motor joint="x"/></actuator>'), "there is no joint 'x'"),
    "unknown actuator": (world(more='<actuator><moter joint="j"/></actuator>'), "unknown element <moter>"),
    "keyframe of another size": (
        world(more='<keyframe><key name="h" qpos="1 2"/></keyframe>'), "qpos has 2 numbers, and the joints of",
    ),
    "name that Pinocchio keeps": (world('<body><joint name="universe"/></body>'), "Pinocchio keeps for the world"),
    "include in text": (world(more='<include file="x.xml"/>'), "text has no folder"),
}  # fmt: skip
