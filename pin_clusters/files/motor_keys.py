"""Table of the keys in a motor file (``robot.motors.yaml``). If the meaning of a key changes, increase VERSION."""

from typing import Any, NamedTuple

VERSION = 1
ENDING = ".motors.yaml"
TEXT = "text"
BOOL = ("true", "false")


class Number(NamedTuple):
    """A value that is a number, in SI units."""

    unit: str
    signed: bool = False  # allows negative numbers
    zero: bool = False  # allows 0


class Key(NamedTuple):
    """The type of a key's value, its meaning, and whether the key is required."""

    kind: Any  # TEXT, a Number, a tuple of words, a dict of keys ("*" matches any key), or a list of one of these
    about: str
    needed: bool = False


STAGE: dict[str, Key] = {
    "ratio": Key(Number("turns per turn", signed=True), "turns of the stage's input per turn of its output", True),
    "inertia": Key(
        Number("kg m^2"),
        "axial inertia of all parts on the stage's output; for the last stage, only parts that the link excludes",
    ),
}
LIMITS: dict[str, Key] = {
    "at": Key(("joint", "motor"), "side of the gear where the limits apply", True),
    "effort": Key(Number("N m, or N for a sliding joint"), "largest torque or force"),
    "velocity": Key(Number("rad/s, or m/s for a sliding joint"), "largest speed"),
}
FRICTION: dict[str, Key] = {
    "viscous": Key(Number("N m s/rad", zero=True), "viscous friction torque divided by speed, at the rotor"),
    "coulomb": Key(Number("N m", zero=True), "dry friction, at the rotor"),
}
GEAR: dict[str, Key] = {
    "efficiency": Key(Number("1"), "output power over input power when the motor drives", True),
    "back_efficiency": Key(
        Number("1", signed=True, zero=True),
        "efficiency when the joint drives the motor, by default efficiency; 0 or less for a self-locking gear",
    ),
}
JOINTS: dict[str, Key] = {
    "*": Key(Number("turns per turn", signed=True), "turns of the gear's output per turn of the joint")
}
MOTOR: dict[str, Key] = {
    "joint": Key(TEXT, "driven joint, or a pattern with *, ? and [ab] for several; the suffix _joint is optional"),
    "joints": Key(JOINTS, "joints that turn the rotor together (instead of joint), with turns of the gear's output"),
    "name": Key(TEXT, "name of the rotor, by default rotor:JOINT"),
    "ratio": Key(Number("turns per turn", signed=True), "turns of the rotor per turn of the joint (or per m)"),
    "stages": Key([STAGE], "gear stages from the motor to the joint, instead of ratio"),
    "rotor_inertia": Key(Number("kg m^2"), "axial inertia of the rotor; the mass of a link includes the rotor's mass"),
    "model": Key(TEXT, "name of a motor in pc.motors(), for missing motor data, ratio and rotor_inertia"),
    "rated_torque": Key(Number("N m"), "largest continuous torque at the rotor"),
    "peak_torque": Key(Number("N m"), "largest torque at the rotor; voltage, torque_constant and resistance reduce it"),
    "voltage": Key(Number("V"), "supply voltage"),
    "torque_constant": Key(Number("N m/A"), "torque constant of the equivalent DC motor"),
    "resistance": Key(Number("ohm"), "resistance of the equivalent DC motor"),
    "no_load_speed": Key(Number("rad/s"), "speed of the rotor without load"),
    "friction": Key(FRICTION, "friction of the motor"),
    "gear": Key(GEAR, "efficiencies of the gear"),
    "armature": Key(("replace", "keep"), "whether the rotor replaces the file's armature or is added to it"),
    "limits": Key(LIMITS, "limits that replace the limits in the robot's file"),
    "in_file": Key(BOOL, "true if the robot's file already has this rotor; then the data are only compared"),
    "source": Key(TEXT, "source of the numbers"),
    "sure": Key(("maker", "file", "paper", "measured", "estimated"), "kind of the source"),
}
POSE: dict[str, Key] = {"*": Key(Number("rad, or m", signed=True, zero=True), "coordinate of the joint")}
ORIGIN: dict[str, Key] = {
    "shipped": Key(TEXT, "name for pc.load, instead of all other keys"),
    "module": Key(TEXT, "module of robot_descriptions"),
    "repository": Key(TEXT, "OWNER/NAME on GitHub"),
    "path": Key(TEXT, "path of the file in the repository"),
    "version": Key(TEXT, "commit of the repository"),
    "sha256": Key(TEXT, "SHA-256 of the file, or several separated by spaces"),
    "base": Key(("fixed", "floating"), "base of a URDF robot, by default fixed"),
    "pose": Key(POSE, "coordinates of some joints, if the loops are singular in the file's pose"),
}
ARMATURE: dict[str, Key] = {
    "*": Key(Number("kg m^2, or kg for a sliding joint", zero=True), "armature of these joints")
}
PUBLISHED: dict[str, Key] = {
    "where": Key(TEXT, "repository, version, path and line of the source", True),
    "armature": Key(ARMATURE, "armature of each joint; patterns are allowed, as for a motor's joint", True),
}
FILE: dict[str, Key] = {
    "motors_version": Key((str(VERSION),), f"version of the format, {VERSION}", True),
    "robot": Key(TEXT, "name of the robot"),
    "file": Key(ORIGIN, "the robot's file"),
    "published": Key([PUBLISHED], "armature published in other files"),
    "motors": Key([MOTOR], "one entry per motor", True),
    "notes": Key([TEXT], "further notes"),
    "unknown": Key(BOOL, "true if no motor data are known; motors is then an empty list"),
}
