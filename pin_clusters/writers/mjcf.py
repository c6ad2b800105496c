"""``pc.to_mjcf``: a cluster model as a complete MuJoCo model."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from typing import Any, Literal

import numpy as np
import pinocchio as pin

from .. import __version__
from ..approximations import followers
from ..armature import axial_inertia
from ..errors import ArgumentTypeError
from ..joints import in_q
from ..model import ClusterModel, RotorElement
from . import _masses
from ._bodies import Bodies, Body, Joint
from ._files import write
from ._geoms import Geoms
from ._joints import UNLIMITED
from ._names import Names, in_comment
from ._numbers import text, wxyz
from ._ties import Ties, drives

APPROXIMATIONS = ("best", "diagonal", "exact")
MUJOCO = "3.3.1"
"""First MuJoCo whose tendons have armature."""
_SAID = {
    "best": "The rotors are locked into their carriers. What their spin adds to the mass matrix while the carriers "
    "stand is armature: of joints, and of fixed tendons where several joints turn a rotor. Lost: their gyroscopic "
    "moments, and what the acceleration of the carriers does to them.",
    "diagonal": "The rotors are locked into their carriers, and J ratio^2 is armature of each joint that turns one. "
    "Lost: the coupling of joints that turn a rotor together, gyroscopic moments, and what the acceleration of the "
    "carriers does to the rotors.",
    "exact": "Every rotor is a body, tied to the joints that turn it by an equality. Nothing is lost but the "
    "stiffness: equalities of MuJoCo give way.",
}


def to_mjcf(
    model: ClusterModel,
    approximation: Literal["best", "diagonal", "exact"] = "best",
    *,
    visual_model: pin.GeometryModel | None = None,
    file: str | os.PathLike[str] | None = None,
    timestep: float = 1e-3,
    integrator: Literal["Euler", "implicitfast", "implicit", "RK4"] = "implicitfast",
    solref: float | None = None,
) -> str:
    """Write a model for MuJoCo: bodies, joints, loops, motors, sites, and what can be drawn.

    ==============  =====================================================  ==========================================
    approximation   rotors                                                 mass matrix
    ==============  =====================================================  ==========================================
    ``"best"``      armature of joints, and of fixed tendons for those     that of the approximation ``block``
                    that several joints turn (MuJoCo 3.3.1 or newer)
    ``"diagonal"``  armature of joints                                     ``diagonal``; with loops ``armature``
    ``"exact"``     bodies, tied by stiff equalities                       exact, projected onto the equalities
    ==============  =====================================================  ==========================================

    Loops are equalities in all of them: ``connect`` (two for a revolute loop), ``weld``, a tendon of constant length
    for a rod without mass; a rod with mass is a body. A loop of another kind is closed by a joint of its own, on half
    of the inertia of one of its bodies, which is welded to the rest. Motors are on the joints that turn a rotor, with
    its ratio as gear, or on the rotor: their control is the torque of the motor itself, [N m]. The keyframe
    ``reference`` is the reference pose.

    Args:
        model: The robot.
        approximation: What becomes of the rotors.
        visual_model: Geometry that is drawn, such as that of ``pin.buildGeomFromUrdf``; meshes are named by their
            paths. Without it, and where MuJoCo cannot read a mesh, boxes with the inertia of the links.
        file: Where to write it; it is replaced whole, or left as it was. None writes nothing.
        timestep: Of the file's ``<option>``, [s].
        integrator: Of the file's ``<option>``.
        solref: Time constant of the equalities, [s]; by default two time steps, the stiffest that MuJoCo takes.

    Returns:
        The text. A comment at its top says what is lost.

    Raises:
        ArgumentTypeError: An argument has the wrong type or value.
        ConstraintError: No equality of MuJoCo says a constraint (Tello's differentials, a `Coupling` on a function).
        UnsupportedJointError: A joint is nothing that MuJoCo knows (screws, ...).
        ModelError: A body is none that MuJoCo takes, or a name has characters that XML cannot hold.
        ExportError: The file cannot be written.

    Example:
        >>> import pin_clusters as pc
        >>> text = pc.to_mjcf(pc.load("mit_humanoid_leg"))
        >>> text.count("<motor"), text.count("<fixed")
        (5, 2)
    """
    _check(model, approximation, visual_model, timestep, integrator, solref)
    return write(_Writer(model, approximation, visual_model, timestep, integrator, solref).text(), file)


def _check(model: object, approximation: object, visual: object, timestep: object, how: object, solref: object) -> None:
    if not isinstance(model, ClusterModel):
        raise ArgumentTypeError(
            f"to_mjcf: model must be a ClusterModel, got {type(model).__name__}. Make one: pc.ClusterModel(tree)."
        )
    integrators = ("Euler", "implicitfast", "implicit", "RK4")
    for name, value, known in (("approximation", approximation, APPROXIMATIONS), ("integrator", how, integrators)):
        if not isinstance(value, str) or value not in known:
            raise ArgumentTypeError(f"to_mjcf: {name} must be one of {', '.join(map(repr, known))}, got {value!r}.")
    if visual is not None and not isinstance(visual, pin.GeometryModel):
        raise ArgumentTypeError(
            f"to_mjcf: visual_model must be a pinocchio.GeometryModel, got {type(visual).__name__}."
        )
    for name, value in (("timestep", timestep), ("solref", solref)):
        if value is None and name == "solref":
            continue
        ok = isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and 0.0 < float(value) < 1.0
        if not ok:
            raise ArgumentTypeError(f"to_mjcf: {name} must be a time between 0 and 1 s, got {value!r}.")


class _Writer:
    """Makes one file; see `to_mjcf` for the arguments."""

    def __init__(
        self, model: ClusterModel, rung: str, visual: Any, timestep: float, integrator: str, solref: float | None
    ) -> None:
        self.model, self.tree, self.rung = model, model.own_tree, rung
        self.timestep, self.integrator = float(timestep), integrator
        self.stiff = {"solref": text(2.0 * timestep if solref is None else solref, 1.0), "solimp": "0.9999 0.9999 0.001"}
        following = {row.dependent for row in model.coupling_rows}
        free = set(followers(model))
        self.locked_rotors = [
            r
            for r in model.rotors
            if rung != "exact" and (r.joint_id is None or (r.joint_id in following and r.name not in free))
        ]
        locked = {r.joint_id for r in self.locked_rotors if r.joint_id is not None}
        self.bodies = Bodies(model, locked, rung == "exact")
        self._sites()
        self.ties = Ties(model, self.bodies, self.stiff)
        for row in model.coupling_rows:
            if row.dependent not in locked:
                self.ties.add_row(row)
        for r in model.rotors:
            if r.name in self.bodies.of_rotor:
                self.ties.follow(self.bodies.of_rotor[r.name].joints[0].name, drives(r, self.tree))
        self.bodies.merge()
        self.bodies.settle()
        for closure in model.closures:
            self.ties.add_closure(closure)
        self.joints = {joint.name: joint for body in self.bodies.all for joint in body.joints}
        self._armature()
        self.geoms = Geoms(model, self.bodies, visual)

    # --- rotors

    def _armature(self) -> None:
        """Put the reflected inertia of locked rotors on joints, and for ``best`` on tendons."""
        shared: list[tuple[str, float, dict[str, float]]] = []
        for r in self.locked_rotors:
            turned, inertia = dict(drives(r, self.tree)), axial_inertia(self.model, r)
            if len(turned) == 1 or self.rung == "diagonal":
                for joint, ratio in turned.items():
                    self.joints[joint].armature += inertia * ratio**2
                continue
            for k, (name, total, others) in enumerate(shared):
                times = _times(turned, others)
                if times is not None:
                    shared[k] = (name, total + inertia * times**2, others)
                    break
            else:
                shared.append((r.name, inertia, turned))
        self.tendon_of = {}
        for name, inertia, turned in shared:
            self.tendon_of[name] = self.ties.fixed(name, list(turned.items()), inertia)

    def _sites(self) -> None:
        """Add a site for each frame that is no joint or body of its own."""
        for f in list(self.tree.frames)[1:]:
            own = f.type == pin.FrameType.JOINT or np.array_equal(f.placement.homogeneous, np.eye(4))
            if own or (f.type == pin.FrameType.FIXED_JOINT and self._has_body(f)):
                continue
            body, place = self.bodies.of_joint[f.parentJoint]
            body.sites.append((self.bodies.site_names(f.name), place * f.placement))

    def _has_body(self, frame: pin.Frame) -> bool:
        k = self.tree.getFrameId(frame.name, frame.type)
        return any(f.parentFrame == k and f.type == pin.FrameType.BODY for f in self.tree.frames)

    # --- the file

    def text(self) -> str:
        """Return the file."""
        root = ET.Element("mujoco", model=self.model.name or "robot")
        ET.SubElement(root, "compiler", angle="radian", autolimits="true")
        option = {"timestep": text(self.timestep), "integrator": self.integrator}
        ET.SubElement(root, "option", gravity=text(self.model.gravity.linear), **option)
        self.geoms.add_assets(root)
        world = ET.SubElement(root, "worldbody")
        ET.SubElement(world, "light", pos="0 0 3", dir="0 0 -1", directional="true")
        self._contents(world, self.bodies.world)
        for section in (self.ties.tendon, self.ties.equality, self._actuators(), self._keyframe()):
            if len(section):
                root.append(section)
        ET.indent(root)
        said = "\n".join(f"     {in_comment(line)}" for line in self._remarks())
        return f"<!-- {said.strip()}\n-->\n{ET.tostring(root, encoding='unicode')}\n"

    def _remarks(self) -> list[str]:
        said = [
            f"{self.model.name}, written by pc.to_mjcf of pin_clusters {__version__}, approximation {self.rung!r}.",
            _SAID[self.rung] if self.model.rotors else "The robot has no rotors.",
        ]
        if len(self.ties.equality):
            said.append(
                "Loops and couplings are equalities, which give way a little: coordinates of all joints of the tree."
            )
        if self.tendon_of:
            said.append(f"Armature of tendons needs MuJoCo {MUJOCO} or newer.")
        return [*said, *self.bodies.remarks, *self.geoms.remarks, "There are no contacts: no geom collides."]

    def _contents(self, element: ET.Element, body: Body) -> None:
        """Write what is on a body, and the bodies that it carries."""
        self.geoms.add(element, body)
        for name, place in body.sites:
            ET.SubElement(element, "site", name=name, pos=text(place.translation), quat=text(wxyz(place.rotation)))
        for child in self.bodies.children(body):
            place = child.place
            inner = ET.SubElement(
                element, "body", name=child.name, pos=text(place.translation), quat=text(wxyz(place.rotation))
            )
            _inertial(inner, child)
            for joint in child.joints:
                self._joint(inner, joint)
            self._contents(inner, child)

    def _joint(self, element: ET.Element, joint: Joint) -> None:
        if joint.kind == "free":
            ET.SubElement(element, "freejoint", name=joint.name)
            return
        given = {"name": joint.name, "type": joint.kind}
        if joint.kind != "ball":
            given |= {"axis": text(joint.axis)}
        if np.any(joint.pos):
            given["pos"] = text(joint.pos)
        if joint.armature:
            given["armature"] = text(joint.armature)
        if joint.at_v is not None:
            i = joint.at_v.start
            for key, values in (("damping", self.tree.damping), ("frictionloss", self.tree.friction)):
                if values[i] != 0.0:
                    given[key] = text(values[i])
        if joint.at_q is not None and len(joint.at_q) == 1:
            k = joint.at_q.start
            low, high = float(self.tree.lowerPositionLimit[k]), float(self.tree.upperPositionLimit[k])
            if -UNLIMITED < low < high < UNLIMITED:
                given["range"] = text(low, high)
        ET.SubElement(element, "joint", given)

    def _actuators(self) -> ET.Element:
        """Return a motor for each rotor; of a robot without rotors, for each independent joint."""
        section, names = ET.Element("actuator"), Names()
        for r in self.model.rotors:
            turned = drives(r, self.tree)
            if r.name in self.bodies.of_rotor:
                at = {"joint": self.bodies.of_rotor[r.name].joints[0].name}
            elif r.joint_id is not None and self.tree.names[r.joint_id] in self.joints:
                at = {"joint": str(self.tree.names[r.joint_id])}
            elif len(turned) == 1:
                at = {"joint": turned[0][0], "gear": text(turned[0][1])}
            else:
                at = {"tendon": self.tendon_of.get(r.name) or self.ties.fixed(r.name, turned)}
            motor = ET.SubElement(section, "motor", {"name": names(r.name), **at})
            most = self._most_torque(r, turned)
            if most:
                motor.set("ctrlrange", text(-most, most))
        if not self.model.rotors:
            for name in self.model.independent_joints:
                j = self.tree.getJointId(name)
                if self.tree.nvs[j] == 1:
                    ET.SubElement(section, "motor", name=names(name), joint=name)
        return section

    def _most_torque(self, r: RotorElement, turned: list[tuple[str, float]]) -> float:
        """Return the largest torque of a motor, from the effort limit of the joint that it turns; 0 if unknown."""
        if len(turned) != 1:
            return 0.0
        limit = float(self.tree.effortLimit[self.tree.idx_vs[self.tree.getJointId(turned[0][0])]])
        return limit / abs(turned[0][1]) if 0.0 < limit < 1e9 else 0.0

    def _keyframe(self) -> ET.Element:
        """Return the reference pose; what the file adds is at 0 there."""
        q = np.array(self.model.q_reference)
        values: list[Any] = []

        def walk(body: Body) -> None:
            for child in self.bodies.children(body):
                for joint in child.joints:
                    values.append(self._coordinates(child, joint, q))
                walk(child)

        walk(self.bodies.world)
        section = ET.Element("keyframe")
        if values:
            ET.SubElement(section, "key", name="reference", qpos=text(*values))
        return section

    def _coordinates(self, body: Body, joint: Joint, q: np.ndarray) -> Any:
        """Return MuJoCo's coordinates of a joint at a configuration of the model."""
        if joint.at_q is None:
            rotor = next((r for r in self.model.rotors if self.bodies.of_rotor.get(r.name) is body), None)
            if rotor is None:
                return 0.0
            names = drives(rotor, self.tree)
            return sum(ratio * self._angle(q, name) for name, ratio in names)
        mine = q[list(joint.at_q)]
        if joint.kind == "free":
            pose = body.place * pin.XYZQUATToSE3(mine)
            return np.concatenate([pose.translation, wxyz(pose.rotation)])
        if joint.kind == "ball":
            return mine[[3, 0, 1, 2]]
        return np.arctan2(mine[1], mine[0]) if joint.turns else mine

    def _angle(self, q: np.ndarray, name: str) -> float:
        j = self.tree.getJointId(name)
        mine = q[list(in_q(self.tree, j))]
        return float(np.arctan2(mine[1], mine[0]) if len(mine) == 2 else mine[0])


def _times(ratios: dict[str, float], others: dict[str, float]) -> float | None:
    """Return how many times faster a rotor turns than another that the same joints turn; None if it varies."""
    if set(ratios) != set(others):
        return None
    times = [ratios[name] / others[name] for name in others]
    return times[0] if all(abs(x - times[0]) <= 1e-12 * abs(times[0]) for x in times) else None


def _inertial(element: ET.Element, body: Body) -> None:
    mass, centre, _ = _masses.about_centre(body.P)
    found, axes = _masses.accepted(body.P)
    given = {"pos": text(centre), "quat": text(wxyz(axes)), "mass": text(mass), "diaginertia": text(found)}
    ET.SubElement(element, "inertial", given)
