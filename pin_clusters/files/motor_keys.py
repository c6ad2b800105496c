"""What a file of motors, ``robot.motors.yaml``, may say: one table of its keys, of which reader and template are made.

A key that is added to the table is read, checked and explained; what changes the meaning of one needs another version.
"""

from typing import Any, NamedTuple

VERSION = 1
ENDING = ".motors.yaml"
TEXT = "text"


class Number(NamedTuple):
    """A number, in SI units."""

    unit: str
    signed: bool = False  # whether it may be negative
    zero: bool = False  # whether it may be 0


class Key(NamedTuple):
    """A key: what stands there, and what that means."""

    kind: Any  # TEXT, a Number, a tuple of words, a table (a mapping is there) or [table] (a list of them)
    about: str
    needed: bool = False


STAGE: dict[str, Key] = {
    "ratio": Key(Number("turns per turn", signed=True), "turns of its input per turn of its output", True),
    "inertia": Key(
        Number("kg m^2"), "of what turns with its output, about the axis; of the last stage what the link lacks"
    ),
}
LIMITS: dict[str, Key] = {
    "at": Key(("joint", "motor"), "side of the gear on which they hold", True),
    "effort": Key(Number("N m, or N of a sliding joint"), "largest torque or force"),
    "velocity": Key(Number("rad/s, or m/s of a sliding joint"), "largest speed"),
}
FRICTION: dict[str, Key] = {
    "viscous": Key(Number("N m s/rad", zero=True), "torque per speed, at the rotor"),
    "coulomb": Key(Number("N m", zero=True), "dry friction, at the rotor"),
}
GEAR: dict[str, Key] = {
    "efficiency": Key(Number("1"), "power out by power in where the motor drives", True),
    "back_efficiency": Key(
        Number("1", signed=True, zero=True), "the same where the joint drives, by default equal; 0 or less if it locks"
    ),
}
MOTOR: dict[str, Key] = {
    "joint": Key(TEXT, "joint that it drives; with * and ? each that fits; _joint at the end may be left out", True),
    "name": Key(TEXT, "by default rotor:JOINT"),
    "ratio": Key(Number("turns per turn", signed=True), "turns of the rotor per turn of the joint (or per m)"),
    "stages": Key([STAGE], "in place of ratio: those of the gear, from the motor to the joint"),
    "rotor_inertia": Key(Number("kg m^2"), "of what turns with the motor, about its axis; in a link already"),
    "model": Key(TEXT, "of pc.motors(), in place of numbers at the rotor, ratio and rotor_inertia that are not given"),
    "rated_torque": Key(Number("N m"), "largest for long, at the rotor"),
    "peak_torque": Key(Number("N m"), "largest, at the rotor; with voltage, torque_constant and resistance by speed"),
    "voltage": Key(Number("V"), "of the supply"),
    "torque_constant": Key(Number("N m/A"), "of the motor as one of direct current"),
    "resistance": Key(Number("ohm"), "the same"),
    "no_load_speed": Key(Number("rad/s"), "at the rotor"),
    "friction": Key(FRICTION, "of the motor"),
    "gear": Key(GEAR, "what its gear loses"),
    "armature": Key(
        ("replace", "keep"), "whether the rotor stands for the armature of the robot's file, or adds to it"
    ),
    "limits": Key(LIMITS, "in place of those of the robot's file"),
    "source": Key(TEXT, "where the numbers come from"),
}
FILE: dict[str, Key] = {
    "motors_version": Key((str(VERSION),), f"version of the format, {VERSION}", True),
    "motors": Key([MOTOR], "one entry per motor, however many stages its gear has", True),
}
