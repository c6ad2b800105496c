"""The text of an MJCF file: bodies with joints, motors, the keyframe, and the comment at the top."""

import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import in_order
from ..._support.trees import coordinate
from . import _masses
from ._bodies import Body, Joint
from ._geoms import Geoms
from ._joints import UNLIMITED
from ._robot import Robot
from ._text import Names, in_comment, text, wxyz

MUJOCO = "3.3.1"
"""First MuJoCo version that supports armature of tendons."""
_DESCRIPTIONS = {
    "best": "The rotors are locked into their carriers. Their reflected inertia is armature of joints, or of fixed "
    "tendons if several joints turn a rotor. The file loses gyroscopic moments, and the inertial coupling of rotors "
    "with the motion of their carriers.",
    "diagonal": "The rotors are locked into their carriers, and J ratio^2 is armature of each joint that turns a "
    "rotor. The file loses the coupling of joints that turn a rotor together, gyroscopic moments, and the inertial "
    "coupling of rotors with the motion of their carriers.",
    "exact": "Every rotor is a body that an equality constraint couples to its joints. The only loss is stiffness, "
    "because MuJoCo's equality constraints are soft.",
}


class File:
    """One MJCF file; ``visual`` is a geometry model or None; ``option`` contains the time step and the integrator."""

    def __init__(self, robot: Robot, visual: Any, option: dict[str, Any]) -> None:
        self.robot, self.model, self.tree = robot, robot.model, robot.tree
        self.bodies, self.ties, self.option = robot.bodies, robot.ties, option
        self.geoms = Geoms(self.bodies, visual)
        self.carried = self.bodies.carried()
        self.written: list[tuple[Body, Joint]] = []  # joints in the order of MuJoCo's qpos
        self.rotor_of = {self.bodies.of_rotor[r.name]: r for r in self.model.rotors if r.name in self.bodies.of_rotor}

    def text(self) -> str:
        root = ET.Element("mujoco", model=self.model.name or "robot")
        ET.SubElement(root, "compiler", angle="radian", autolimits="true")
        option = {"timestep": text(self.option["timestep"]), "integrator": str(self.option["integrator"])}
        ET.SubElement(root, "option", {"gravity": text(self.model.gravity.linear), **option})
        self.geoms.add_assets(root)
        world = ET.SubElement(root, "worldbody")
        ET.SubElement(world, "light", pos="0 0 3", dir="0 0 -1", directional="true")
        self._contents(world, self.bodies.world)
        for section in (self.ties.tendon, self.ties.equality, self._actuators(), self._keyframe()):
            if len(section):
                root.append(section)
        ET.indent(root)
        comment = "\n".join(f"     {in_comment(line)}" for line in self._remarks())
        return f"<!-- {comment.strip()}\n-->\n{ET.tostring(root, encoding='unicode')}\n"

    def _remarks(self) -> list[str]:
        remarks = [
            f"{self.model.name}, written by pc.to_mjcf, approximation {self.robot.approximation!r}.",
            _DESCRIPTIONS[self.robot.approximation] if self.model.rotors else "The robot has no rotors.",
        ]
        if len(self.ties.equality):
            remarks.append("Loops and couplings are soft equality constraints; qpos contains all joints of the tree.")
        if self.robot.tendon_of:
            remarks.append(f"Armature of tendons needs MuJoCo {MUJOCO} or newer.")
        if self.robot.across:
            remarks.append(
                f"The file also loses the coupling of the joints that turn {', '.join(map(repr, self.robot.across))}, "
                "because MuJoCo's mass matrix has no entry for joints of different branches; 'exact' keeps it."
            )
        return [*remarks, *self.bodies.remarks]

    def _contents(self, element: ET.Element, body: Body) -> None:
        self.geoms.add(element, body)
        for name, pose in body.sites:
            ET.SubElement(element, "site", name=name, pos=text(pose.translation), quat=text(wxyz(pose.rotation)))
        for child in self.carried[body]:
            pose = child.place
            inner = ET.SubElement(
                element, "body", name=child.name, pos=text(pose.translation), quat=text(wxyz(pose.rotation))
            )
            mass, centre, _ = _masses.about_centre(child.P)
            moments, axes = _masses.accepted(child.P)
            inertial = {"pos": text(centre), "quat": text(wxyz(axes)), "mass": text(mass), "diaginertia": text(moments)}
            ET.SubElement(inner, "inertial", inertial)
            for joint in child.joints:
                self._joint(inner, joint)
                self.written.append((child, joint))
            self._contents(inner, child)

    def _joint(self, element: ET.Element, joint: Joint) -> None:
        if joint.kind == "free":
            ET.SubElement(element, "freejoint", name=joint.name)
            return
        attributes = {"name": joint.name, "type": joint.kind}
        if joint.kind != "ball":
            attributes |= {"axis": text(joint.axis)}
        if np.any(joint.pos):
            attributes["pos"] = text(joint.pos)
        if joint.armature:
            attributes["armature"] = text(joint.armature)
        if joint.at_v is not None:
            i = joint.at_v.start
            for key, values in (("damping", self.tree.damping), ("frictionloss", self.tree.friction)):
                if values[i] != 0.0 and joint.name not in self.robot.springs:  # A pc.Spring takes precedence over both.
                    attributes[key] = text(values[i])
            attributes |= self.robot.springs.get(joint.name, {})
        if joint.at_q is not None and len(joint.at_q) == 1:
            k = joint.at_q.start
            low, high = float(self.tree.lowerPositionLimit[k]), float(self.tree.upperPositionLimit[k])
            if -UNLIMITED < low < high < UNLIMITED:
                attributes["range"] = text(low, high)
        ET.SubElement(element, "joint", attributes)

    def _actuators(self) -> ET.Element:
        section, names = ET.Element("actuator"), Names()
        for r in self.model.motors:
            turned = self.bodies.drives(r)
            if r.name in self.bodies.of_rotor:
                transmission = {"joint": self.bodies.of_rotor[r.name].joints[0].name}
            elif r.joint_id is not None and self.tree.names[r.joint_id] in self.robot.joints:
                transmission = {"joint": str(self.tree.names[r.joint_id])}
            elif len(turned) == 1:
                transmission = {"joint": turned[0][0], "gear": text(turned[0][1])}
            else:
                transmission = {"tendon": self.robot.tendon_of.get(r.name) or self.ties.fixed(r.name, turned)}
            motor = ET.SubElement(section, "motor", {"name": names(r.name), **transmission})
            limit = self._most_torque(turned)
            if r.motor is not None and r.motor.peak_torque is not None:
                motor.set("forcerange", text(-r.motor.peak_torque, r.motor.peak_torque))
            if limit:
                motor.set("ctrlrange", text(-limit, limit))
        if not self.model.rotors:
            for name in self.model.independent_joints:
                j = self.tree.getJointId(name)
                if self.tree.nvs[j] == 1:
                    ET.SubElement(section, "motor", name=names(name), joint=name)
        return section

    def _most_torque(self, turned: list[tuple[str, float]]) -> float:
        """Compute the torque limit of a motor [N m] from the effort limit of its only joint; 0 if unknown."""
        if len(turned) != 1:
            return 0.0
        limit = float(self.tree.effortLimit[self.tree.idx_vs[self.tree.getJointId(turned[0][0])]])
        return limit / abs(turned[0][1]) if 0.0 < limit < 1e9 else 0.0

    def _keyframe(self) -> ET.Element:
        q = np.array(self.model.q_reference)
        section = ET.Element("keyframe")
        if self.written:
            values = [self._coordinates(body, joint, q) for body, joint in self.written]
            ET.SubElement(section, "key", name="reference", qpos=text(*values))
        return section

    def _coordinates(self, body: Body, joint: Joint, q: np.ndarray) -> Any:
        if joint.at_q is None:
            rotor = self.rotor_of.get(body)
            if rotor is None:
                return 0.0
            turned = self.bodies.drives(rotor)
            return in_order(ratio * coordinate(self.tree, self.tree.getJointId(name), q) for name, ratio in turned)
        joint_q = q[list(joint.at_q)]
        if joint.kind == "free":
            pose = body.place * pin.XYZQUATToSE3(joint_q)
            return np.concatenate([pose.translation, wxyz(pose.rotation)])
        if joint.kind == "ball":
            return joint_q[[3, 0, 1, 2]]
        return np.arctan2(joint_q[1], joint_q[0]) if joint.turns else joint_q
