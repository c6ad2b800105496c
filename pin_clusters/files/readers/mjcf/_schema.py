"""Elements of MJCF that can change the dynamics, and the types of their attributes.

Elements and attributes that are not listed do not affect rigid bodies (materials, cameras, contacts, sensors) or are
unknown to MuJoCo.
"""

import math

from .._numbers import Type, flag, one, powers, several, text, vector, word

SECTIONS = {
    "compiler", "option", "size", "visual", "statistic", "default", "custom", "extension", "asset", "worldbody",
    "contact", "deformable", "equality", "tendon", "actuator", "sensor", "keyframe",
}  # fmt: skip
BODY = {
    "inertial", "joint", "freejoint", "geom", "body", "frame", "site", "camera", "light", "plugin", "attach",
    "replicate", "composite", "flexcomp",
}  # fmt: skip
ACTUATORS = (
    "general",
    "motor",
    "position",
    "velocity",
    "intvelocity",
    "orientation",
    "pid",
    "damper",
    "cylinder",
    "muscle",
    "dcmotor",
    "plugin",
)
INSIDE = {
    "tendon": {"fixed", "spatial"},
    "actuator": {*ACTUATORS, "adhesion"},
    "keyframe": {"key"},
    "equality": {"connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain", "distance"},
}
"""Allowed tags in each section that is read."""
MAIN = "main"
KINDS = ("hinge", "slide", "ball", "free")
TYPES = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")
RULES = ("legacy", "exact", "convex", "shell")
WATER = 1000.0  # MuJoCo's default density, [kg/m^3]
MANY = 10**7  # largest number of values of an attribute
LOOSE = {"soft equality", "site", "mesh", "actuator"}
"""Keys of ``ATTRIBUTES`` whose elements may have unknown attributes, which are ignored."""
Types = dict[str, Type | None]
"""Types of attributes by name; None for known attributes that are not read."""


def _types(unread: str = "", **read: Type) -> Types:
    return dict.fromkeys(unread.split()) | read


_AUTO = word("auto", "true", "false", "auto")
_POWERS = Type((0.0, 0.0, 0.0), powers)
_RANGE = several(None, 2, 2, math.inf)
_ORIGIN = vector((0.0, 0.0, 0.0))
_PLACE = _types(
    pos=_ORIGIN,
    quat=vector(None, 4),
    axisangle=vector(None, 4),
    xyaxes=vector(None, 6),
    zaxis=vector(None),
    euler=vector(None),
)
_LIMITS = _types("solreflimit solimplimit solreffriction solimpfriction margin group user", range=_RANGE, limited=_AUTO)
_PASSIVE = _types(
    stiffness=_POWERS,
    damping=_POWERS,
    frictionloss=one(),
    armature=one(),
    springyield=one(),
    actuatorfrcrange=_RANGE,
    actuatorfrclimited=_AUTO,
)
_SOFT = _types("name class", active=flag(True), solref=text(), solimp=text())
_TIE = _types(body1=text(""), body2=text(""), site1=text(""), site2=text(""), anchor=_ORIGIN) | _SOFT
_POLYNOMIAL = _types(polycoef=several((0.0, 1.0), 1, 5)) | _SOFT
_TENDON = _types("name class", springlength=several((-1.0,), 1, 2)) | _LIMITS | _PASSIVE
ATTRIBUTES: dict[str, Types] = {
    "compiler": _types(
        "conflict convexhull discardvisual fitaabb fusestatic passthrough savecanonical savecompiled saveinertial "
        "texturedir usethread",
        alignfree=text("false"), angle=text("degree"), assetdir=text(""), autolimits=flag(True), balanceinertia=flag(),
        boundinertia=one(), boundmass=one(), coordinate=text("local"), eulerseq=text("xyz"), exactmeshinertia=flag(),
        inertiafromgeom=_AUTO, inertiagrouprange=several((0.0, 5.0), 2, 2, math.inf), meshdir=text(""),
        settotalmass=one(-1.0), strippath=flag(),
    ),
    "body": _types("name childclass user sleep fuse simple", mocap=flag(), gravcomp=one()) | _PLACE,
    "frame": _types("name childclass") | _PLACE,
    "inertial": _types(mass=one(None), diaginertia=vector(None), fullinertia=vector(None, 6)) | _PLACE,
    "joint": _types(
        "name class", type=word("hinge", *KINDS), axis=vector((0.0, 0.0, 1.0)), pos=_ORIGIN, ref=one(),
        springref=one(), springdamper=several((0.0, 0.0), 2, 2), actuatorgravcomp=flag(),
    ) | _LIMITS | _PASSIVE,
    "freejoint": _types("name group align"),
    "geom": _types(
        "name class hfield adhesion condim castshadow fitscale fluidcoef fluidshape friction gap "
        "margin material priority rgba solimp solmix solref surfacevel user",
        contype=one(1.0), conaffinity=one(1.0),
        type=word("sphere", *TYPES), mesh=text(), size=vector((), 1, 3), fromto=vector(None, 6), mass=one(None),
        density=one(WATER), shellinertia=flag(), group=one(),
    ) | _PLACE,
    "connect": _TIE,
    "weld": _types(relpose=vector(None, 7), torquescale=one(1.0)) | _TIE,
    "equality joint": _types(joint1=text(), joint2=text()) | _POLYNOMIAL,
    "equality tendon": _types(tendon1=text(), tendon2=text()) | _POLYNOMIAL,
    "soft equality": _SOFT,
    "fixed": _TENDON,
    "spatial": _types("width material rgba") | _TENDON,
    "tendon joint": _types(joint=text(""), coef=one(None)),
    "site": _types(fromto=vector(None, 6)) | _PLACE,
    "mesh": _types(
        inertia=word("legacy", *RULES), refpos=_ORIGIN, refquat=vector(None, 4), scale=vector((1.0, 1.0, 1.0)),
        vertex=vector(None, 12, MANY), face=vector(None, 3, MANY), file=text(""),
    ),
    "actuator": _types(
        joint=text(), jointinparent=text(), tendon=text(), gear=several((1.0,), 1, 6), armature=one(), damping=_POWERS,
        forcerange=_RANGE, ctrlrange=_RANGE, motorconst=several(None, 1, 2), resistance=one(),
        nominal=several(None, 3, 3), saturation=several(None, 1, 3), forcelimited=_AUTO, ctrllimited=_AUTO,
        gaintype=text("fixed"), biastype=text("none"), dyntype=text("none"), gainprm=several((1.0,), 1, MANY),
        biasprm=several((), 0, MANY), inheritrange=one(), delay=one(), tags=text(""),
    ),
    "sensor": _types(
        site=text(""), objtype=text(""), objname=text(""), reftype=text(""), refname=text(""), noise=one(),
        cutoff=one(), delay=one(), interval=several((0.0,), 1, 2),
    ),
    "key": _types(qpos=vector(None, 0, MANY)),
    "option": _types(gravity=vector(None), density=one(), viscosity=one()),
}  # fmt: skip
