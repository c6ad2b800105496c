"""Constraints of an MJCF file: equalities, tendons, bodies of rods, and bodies that close loops."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pinocchio as pin

from ..._support.trees import joint_axis
from ...constraints.closures import Closure, FrameClosure, RodClosure
from ...constraints.differential import Ankle2Rsu, PushRodAnkle
from ...errors import ConstraintError
from ...model import ClusterModel
from . import _masses
from ._bodies import Bodies, Body, Joint
from ._text import Names, text

PIN = 0.1
"""A revolute loop is closed at two points on its axis; each has this distance [m] from the loop's frame."""
_AXIAL = 1e-12
"""Inertia [kg m^2] of a rod about its axis, because MuJoCo requires a positive value."""


class Ties:
    """Equality constraints and tendons of one file; ``stiff`` contains the solver attributes of all equalities."""

    def __init__(self, model: ClusterModel, bodies: Bodies, stiff: dict[str, str]) -> None:
        self.model, self.tree, self.bodies, self.stiff = model, model.own_tree, bodies, stiff
        self.equality, self.tendon = ET.Element("equality"), ET.Element("tendon")
        self.tendon_names, self.names = Names(), Names()

    @cached_property
    def at_reference(self) -> list[pin.SE3]:
        """Placements of the joints at the reference pose, computed only for loops, to save memory for large trees."""
        return _poses(self.tree, np.array(self.model.q_reference))

    @cached_property
    def at_zero(self) -> list[pin.SE3]:
        return _poses(self.tree, np.array(pin.neutral(self.tree)))

    def follow(self, joint: str, terms: list[tuple[str, float]], offset: float = 0.0) -> None:
        """Constrain a joint to ``offset + sum(ratio * joint)``, by a joint equality for one term, else by a tendon."""
        if len(terms) == 1:
            leader, ratio = terms[0]
            attributes = {"joint1": joint, "joint2": leader, "polycoef": text(offset, ratio, [0.0, 0.0, 0.0])}
            self.tie("joint", joint, attributes)
            return
        name = self.fixed(f"{joint}_coupling", [(joint, -1.0), *terms])
        self.tie("tendon", name, {"tendon1": name, "polycoef": text(-offset, [0.0] * 4)})

    def fixed(self, wanted: str, terms: list[tuple[str, float]], more: dict[str, str] | None = None) -> str:
        name = self.tendon_names(wanted)
        element = ET.SubElement(self.tendon, "fixed", {"name": name, **(more or {})})
        for joint, ratio in terms:
            ET.SubElement(element, "joint", joint=joint, coef=text(ratio))
        return name

    def add_closure(self, closure: Closure) -> None:
        source = closure.source
        if isinstance(closure, FrameClosure):
            self._frames(closure)
        elif isinstance(closure, RodClosure):
            self._rod(closure)
        elif isinstance(source, Ankle2Rsu):
            for rod in source.generic(self.tree):
                self._rod(rod.closures(self.tree)[0])
        elif isinstance(source, PushRodAnkle):
            self._push_rods(source)
        else:
            raise ConstraintError(
                f"to_mjcf: {source.label} is an equation between angles, but MuJoCo can constrain only polynomials of "
                "one joint, sums of joints, distances and points. Model the linkage with bodies, pc.Rod and pc.Loop, "
                "or use pc.simulate."
            )

    def tie(self, kind: str, name: str, given: dict[str, str]) -> None:
        ET.SubElement(self.equality, kind, {"name": self.names(name), **given, **self.stiff})

    def site(self, j: int, name: str, placement: pin.SE3) -> str:
        if j not in self.bodies.of_joint:
            raise ConstraintError(
                f"to_mjcf: {name} is on the body of joint {self.tree.names[j]!r}, which has no inertia, so the file "
                "does not contain this body. Add an inertia to the body."
            )
        body, joint_frame = self.bodies.of_joint[j]
        return self.site_on(body, name, joint_frame * placement)

    def site_on(self, body: Body, wanted: str, placement: pin.SE3) -> str:
        name = self.bodies.site_names(wanted)
        body.sites.append((name, placement))
        return name

    def _frames(self, c: FrameClosure) -> None:
        rows = tuple(int(i) for i in np.flatnonzero(c.rows.any(axis=0)))
        label = str(getattr(c.source, "name", None) or c.source.label)
        if c.rotation == "none":  # Points of a planar linkage stay in the plane, so a <connect> is exact.
            self._point(c, label, "connect", 0.0)
        elif rows == (0, 1, 2, 3, 4, 5):
            self._point(c, label, "weld", 0.0)
        elif rows == (0, 1, 2, 3, 4):
            self._point(c, f"{label} +", "connect", PIN)
            self._point(c, f"{label} -", "connect", -PIN)
        else:
            self._joint_of_its_own(c, label)

    def _point(self, c: FrameClosure, label: str, kind: str, z: float) -> None:
        along = pin.SE3(np.eye(3), np.array([0.0, 0.0, z]))
        a = self.site(c.joint_a, f"{label} a", c.placement_a * along)
        b = self.site(c.joint_b, f"{label} b", c.placement_b * along)
        self.tie(kind, label, {"site1": a, "site2": b})

    def _joint_of_its_own(self, c: FrameClosure, label: str) -> None:
        """Write a loop that has no MuJoCo equality: split a body; the loop's joint moves one half; weld both halves."""
        frames = [self.at_reference[j] * M for j, M in c.ends]
        z, x, y = frames[0].rotation[:, 2], frames[0].rotation[:, 0], frames[0].rotation[:, 1]
        free = {
            (0, 1, 3, 4, 5): [("slide", z)],
            (0, 1, 3, 4): [("slide", z), ("hinge", z)],
            (0, 1, 2, 5): [("hinge", z), ("hinge", frames[1].rotation[:, 0])],
            (2, 3, 4): [("slide", x), ("slide", y), ("hinge", z)],
        }.get(tuple(int(i) for i in np.flatnonzero(c.rows.any(axis=0))))
        if free is None:
            raise ConstraintError(
                f"to_mjcf: the constraint equations of {c.source.label} do not correspond to a MuJoCo joint. Use "
                "pc.simulate instead."
            )
        carrier, split = c.joint_a, c.joint_b
        if self.bodies.of_joint[split][0] is self.bodies.world:
            carrier, split, free = split, carrier, free[::-1]
        body, joint_frame = self.bodies.of_joint[split]
        holder, held = self.bodies.of_joint[carrier]
        frame = self.at_reference[carrier].actInv(frames[1])
        joints = [
            Joint(self.bodies.joint_names(f"{label} {k + 1}"), kind, frames[1].rotation.T @ axis)
            for k, (kind, axis) in enumerate(free)
        ]
        weld_frame = joint_frame * self.at_reference[split].actInv(frames[1])
        share = 0.5 * body.P
        body.P = body.P - share
        half = Body(
            self.bodies.names(f"{label} half"),
            holder,
            held * frame,
            joints,
            _masses.placed(weld_frame.inverse(), share),
        )
        half.drawn[:] = 0.0
        self.bodies.all.append(half)
        ends = self.site_on(half, f"{label} a", pin.SE3.Identity()), self.site_on(body, f"{label} b", weld_frame)
        self.tie("weld", label, {"site1": ends[0], "site2": ends[1]})
        self.bodies.remarks.append(f"{label}: half of the inertia of {body.name} is in a body that is welded to it.")

    def _rod(self, c: RodClosure) -> None:
        label = str(getattr(c.source, "name", None) or c.source.label)
        assert c.length is not None  # The model has computed an omitted length from the reference pose.
        a, b = (pin.SE3(np.eye(3), np.asarray(p)) for p in (c.point_a, c.point_b))
        if c.mass > 0.0:
            self._massive_rod(c, label, a, b)
            return
        name = self.spatial(label, [(c.joint_a, a), (c.joint_b, b)])
        ends = [self.at_zero[j].act(np.asarray(p)) for j, p in c.ends]
        at_zero = float(np.linalg.norm(ends[1] - ends[0]))
        self.tie("tendon", label, {"tendon1": name, "polycoef": text(c.length - at_zero, [0.0] * 4)})

    def spatial(self, label: str, points: Sequence[tuple[int, pin.SE3]], more: dict[str, str] | None = None) -> str:
        ends = "ab" if len(points) == 2 else [str(k) for k in range(len(points))]
        sites = [self.site(j, f"{label} {end}", placement) for end, (j, placement) in zip(ends, points, strict=True)]
        return self.through(label, sites, more)

    def through(self, label: str, sites: Sequence[str], more: dict[str, str] | None = None) -> str:
        name = self.tendon_names(label)
        attributes = {"name": name, "width": "0.004", "rgba": "0.3 0.3 0.3 1", **(more or {})}
        element = ET.SubElement(self.tendon, "spatial", attributes)
        for site in sites:
            ET.SubElement(element, "site", site=site)
        return name

    def _massive_rod(self, c: RodClosure, label: str, a: pin.SE3, b: pin.SE3) -> None:
        """Add a rod as a body along z, with hinges about x and y at one end and a point constraint at the other end."""
        poses = self.at_reference
        start, end = (poses[j] * M for j, M in zip((c.joint_a, c.joint_b), (a, b), strict=True))
        z = (end.translation - start.translation) / np.linalg.norm(end.translation - start.translation)
        x = self._swing(c, z)
        frame = pin.SE3(np.column_stack([x, np.cross(z, x), z]), start.translation)
        holder, held = self.bodies.of_joint[c.joint_a]
        joints = [Joint(self.bodies.joint_names(f"{label} {k + 1}"), "hinge", np.eye(3)[k]) for k in range(2)]
        placement = held * poses[c.joint_a].actInv(frame)
        P = rod_moments(c)
        rod = Body(self.bodies.names(label), holder, placement, joints, P)
        self.bodies.all.append(rod)
        tip = self.site_on(rod, f"{label} a", pin.SE3(np.eye(3), np.array([0.0, 0.0, float(c.length or 0.0)])))
        self.tie("connect", label, {"site1": tip, "site2": self.site(c.joint_b, f"{label} b", b)})

    def _swing(self, c: RodClosure, z: np.ndarray) -> np.ndarray:
        """Choose a rod's first hinge axis, perpendicular to the rod (z) and, if possible, near the axis of a joint."""
        for j in (c.joint_a, c.joint_b):
            axis = joint_axis(self.tree.joints[j]) if j and self.tree.nvs[j] == 1 else None
            if axis is None:
                continue
            across = np.array(self.at_reference[j].rotation @ axis)
            across = across - (across @ z) * z
            if np.linalg.norm(across) > 0.5:
                return across / np.linalg.norm(across)
        across = np.eye(3)[int(np.argmin(np.abs(z)))]
        across = across - (across @ z) * z
        return np.asarray(across / np.linalg.norm(across))

    def _push_rods(self, source: PushRodAnkle) -> None:
        """Couple each rod's length (a spatial tendon) to the extension of its actuator (a fixed tendon)."""
        g = source.geometry(self.tree)
        for k, (actuator, shank, foot, length) in enumerate(zip(g.actuators, g.shank, g.foot, g.lengths, strict=True)):
            label = f"{source.label} {k + 1}"
            ends = [(g.ankle.shank, pin.SE3(np.eye(3), shank)), (g.ankle.foot, pin.SE3(np.eye(3), foot))]
            points = [self.at_zero[j].act(M.translation) for j, M in ends]
            name = self.spatial(label, ends)
            extension = self.fixed(f"{label} extension", [(str(self.tree.names[actuator]), 1.0)])
            # MuJoCo measures tendon lengths relative to the zero configuration.
            offset = length - float(np.linalg.norm(points[1] - points[0]))
            poly = text(offset, 1.0, [0.0] * 3)
            self.tie("tendon", label, {"tendon1": name, "tendon2": extension, "polycoef": poly})


def rod_moments(c: RodClosure) -> np.ndarray:
    length = float(c.length or 0.0)
    weights = np.array(c.point_masses)
    positions = np.array([0.0, 0.5, 1.0]) * length
    P = np.zeros((4, 4))
    P[2, 2], P[2, 3], P[3, 3] = weights @ positions**2, weights @ positions, weights.sum()
    P[3, 2] = P[2, 3]
    P[0, 0] = P[1, 1] = 0.5 * _AXIAL
    return P


def _poses(tree: pin.Model, q: np.ndarray) -> list[pin.SE3]:
    data = tree.createData()
    pin.forwardKinematics(tree, data, q)
    return [pin.SE3(M) for M in data.oMi]
