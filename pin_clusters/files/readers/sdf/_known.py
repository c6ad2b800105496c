"""Records ignored SDF elements, and raises an error for unsupported elements that change the dynamics."""

import difflib
import xml.etree.ElementTree as ET

from ....errors import LoadError
from .._notes import MEANINGFUL, PHYSICAL, Notes, local_name, plain_name

READ = {
    "sdf": {"model", "world"},
    "world": {"model", "include", "gravity", "joint"},
    "model": {"link", "joint", "frame", "model", "include", "pose", "static"},
    "link": {"inertial", "pose", "gravity", "kinematic", "velocity_decay"},
    "frame": {"pose"},
    "inertial": {"mass", "pose", "inertia", "density", "auto_inertia_params"},
    "inertia": {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"},
    "joint": {
        "parent",
        "child",
        "pose",
        "axis",
        "axis2",
        "gearbox_ratio",
        "gearbox_reference_body",
        "screw_thread_pitch",
        "thread_pitch",
    },
    "axis": {"xyz", "limit", "dynamics", "use_parent_model_frame", "mimic"},
    "limit": {"lower", "upper", "effort", "velocity"},
    "dynamics": {"damping", "friction", "spring_stiffness", "spring_reference"},
    "mimic": {"multiplier", "offset", "reference"},
}
READ["axis2"] = READ["axis"]
# Common elements that do not affect the dynamics of rigid bodies.
SILENT = {
    "visual", "collision", "self_collide", "allow_auto_disable", "enable_wind", "must_be_base_link", "light", "sensor",
    "audio_source", "audio_sink", "projector", "battery", "particle_emitter", "state", "scene", "gui", "audio",
    "spherical_coordinates", "magnetic_field", "wind", "atmosphere", "road", "actor", "population", "density",
}  # fmt: skip
# Elements that only other programs use, for example to soften joints and limits.
FOR_OTHERS = {"plugin", "gripper", "physics", "stiffness", "dissipation", "initial_position", "joint_state"}
# Unsupported elements that change the motion.
CHANGING = {"fluid_added_mass", "linear_bushing_rpy", "ball_constraint", "distance_constraint", "wrench"}


def scan(root: ET.Element, notes: Notes) -> None:
    """Record all ignored elements; raise ``LoadError`` if one changes the dynamics or may be misspelt."""
    _scan(root, root.tag, notes)


def _scan(element: ET.Element, owner: str, notes: Notes) -> None:
    read_tags = READ.get(element.tag, set())
    for child in element:
        name = child.get("name")
        label = f"{child.tag} {name!r}" if name and child.tag in READ else owner
        if child.tag in read_tags:
            if child.tag in READ:
                _scan(child, label, notes)
        elif child.tag not in SILENT:
            _unread(child, element.tag, read_tags, owner, notes)


def _unread(child: ET.Element, parent: str, known: set[str], owner: str, notes: Notes) -> None:
    tag, local = plain_name(child.tag), local_name(child.tag)
    if parent in ("axis", "axis2") and local in ("rotor_inertia", "gear_ratio"):
        return  # ``_couplings`` reads these elements of Drake.
    for inner in (child, *child.iter()) if child.tag not in FOR_OTHERS else ():
        name = local_name(inner.tag)
        if name in CHANGING or (name in PHYSICAL and (inner is child or inner.tag != name)):
            raise LoadError(
                f"{owner}: <{plain_name(inner.tag)}> changes the dynamics and is not supported. Pass an equivalent "
                "constraint in constraints= and remove the element."
            )
    if parent in ("inertial", "inertia", "mimic"):
        raise LoadError(f"{owner}: <{tag}> in <{parent}> is not supported. Remove it.")
    if local in MEANINGFUL:
        raise LoadError(f"{owner}: <{tag}> is not allowed in a <{parent}>. Move it.")
    similar = difflib.get_close_matches(tag, known, n=1, cutoff=0.75)
    if similar and child.tag not in FOR_OTHERS:
        raise LoadError(f"{owner}: unknown element <{tag}>. Did you mean <{similar[0]}>?")
    (notes.for_others if child.tag in FOR_OTHERS else notes.unknown)[f"<{tag}>"] += 1
