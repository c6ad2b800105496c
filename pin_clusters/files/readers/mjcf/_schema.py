"""What MJCF has: elements and attributes, as far as they may change the dynamics.

What is not here is unknown to MuJoCo too, or does not matter to a rigid body: materials, cameras, contacts, sensors.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

from ....errors import LoadError, did_you_mean

SECTIONS = {
    "compiler", "option", "size", "visual", "statistic", "default", "custom", "extension", "asset", "worldbody",
    "contact", "deformable", "equality", "tendon", "actuator", "sensor", "keyframe",
}  # fmt: skip
_LIMITS = {
    "solreflimit",
    "solimplimit",
    "solreffriction",
    "solimpfriction",
    "margin",
    "range",
    "limited",
    "group",
    "user",
}
_PASSIVE = {"stiffness", "damping", "frictionloss", "armature", "springyield", "actuatorfrcrange", "actuatorfrclimited"}
_PLACE = {"pos", "quat", "axisangle", "xyaxes", "zaxis", "euler"}
_SOFT = {"name", "class", "active", "solref", "solimp"}
ATTRIBUTES = {
    "compiler": {
        "alignfree", "angle", "assetdir", "autolimits", "balanceinertia", "boundinertia", "boundmass", "conflict",
        "convexhull", "coordinate", "discardvisual", "eulerseq", "exactmeshinertia", "fitaabb", "fusestatic",
        "inertiafromgeom", "inertiagrouprange", "meshdir", "passthrough", "savecanonical", "savecompiled",
        "saveinertial", "settotalmass", "strippath", "texturedir", "usethread",
    },
    "body": {"name", "childclass", "mocap", "gravcomp", "user", "sleep", "fuse", "simple", *_PLACE},
    "frame": {"name", "childclass", *_PLACE},
    "inertial": {"mass", "diaginertia", "fullinertia", *_PLACE},
    "joint": {
        "name", "class", "type", "axis", "pos", "ref", "springref", "springdamper", "actuatorgravcomp", *_LIMITS,
        *_PASSIVE,
    },
    "freejoint": {"name", "group", "align"},
    "geom": {
        "name", "class", "type", "mesh", "hfield", "size", "fromto", "mass", "density", "shellinertia", "group",
        "adhesion", "conaffinity", "contype", "condim", "castshadow", "fitscale", "fluidcoef", "fluidshape",
        "friction", "gap", "margin", "material", "priority", "rgba", "solimp", "solmix", "solref", "surfacevel",
        "user", *_PLACE,
    },
    "connect": {"body1", "body2", "anchor", "site1", "site2", *_SOFT},
    "weld": {"body1", "body2", "anchor", "relpose", "site1", "site2", "torquescale", *_SOFT},
    "equality joint": {"joint1", "joint2", "polycoef", *_SOFT},
    "equality tendon": {"tendon1", "tendon2", "polycoef", *_SOFT},
    "fixed": {"name", "class", "springlength", *_LIMITS, *_PASSIVE},
    "spatial": {"name", "class", "springlength", "width", "material", "rgba", *_LIMITS, *_PASSIVE},
    "tendon joint": {"joint", "coef"},
}  # fmt: skip
BODY = {
    "inertial", "joint", "freejoint", "geom", "body", "frame", "site", "camera", "light", "plugin", "attach",
    "replicate", "composite", "flexcomp",
}  # fmt: skip
EQUALITIES = {"connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain", "distance"}
TENDONS = {"fixed", "spatial"}


def check_attributes(element: ET.Element, kind: str, owner: str) -> None:
    """Raise if an element of the dynamics has an attribute that MJCF does not know: it may be misspelt."""
    known = ATTRIBUTES[kind]
    for key in element.attrib:
        if key not in known:
            raise LoadError(
                f"{owner}: unknown attribute {key!r} of <{element.tag}>, which would be lost although it may change "
                f"the dynamics.{did_you_mean(key, sorted(known))} Correct or remove it."
            )


def check_tag(element: ET.Element, known: set[str], parent: str) -> None:
    """Raise if MJCF knows no such element there."""
    if element.tag not in known:
        raise LoadError(f"{parent}: unknown element <{element.tag}>.{did_you_mean(str(element.tag), sorted(known))}")
