"""Write constraints as XML elements: couplings and loops of URDF+, and the extensions that the loader reads."""

import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.trees import common_ancestor, path_below
from ...constraints import Belt, Differential, FourBar, Gear, LinearCoupling, Loop, Motor, Rod, Rotor, SliderCrank
from ...constraints.closures import FrameClosure, RodClosure, path_of
from ...constraints.rows import Row, joint_id
from ...constraints.spring import GravityCompensation, Spring
from ...errors import ConstraintError
from ...model import ClusterModel, RotorElement, friction_of_motors
from ._joints import Place, place_of
from ._links import Links, is_identity
from ._text import Names, text

NOTHING = 1e-12
"""Coefficients below this fraction of the largest coefficient are rounding errors of the elimination."""


def rows_by_source(model: ClusterModel) -> dict[int, Row]:
    """Collect the constraint equation (row) of each coupling, by the ``id`` of the user's constraint.

    Each row is solved for its dependent joint. In a cluster with loops, the model chooses the dependent joints from all
    equations, so the dependent joint of a row may be independent in the model. The rows of such a cluster are therefore
    solved for dependent joints of the model, first for joints outside loops, because no loop determines these joints.
    Redundant rows are omitted.
    """
    tree, by_source = model.own_tree, {id(row.source): row for row in model.coupling_rows}
    looped = {j for closure in model.closures for j in path_of(model.own_tree, closure)}
    for cluster in model.clusters:
        joints = {tree.getJointId(name) for name in cluster.joints}
        if not joints & looped:
            continue
        cluster_rows = [row for row in model.coupling_rows if row.dependent in joints]
        rows = [row for row in cluster_rows if isinstance(row.source, (Gear, Belt, LinearCoupling))]
        dependent = [tree.getJointId(name) for name in cluster.dependent]
        # Mechanisms such as FourBar determine these joints; the rows of mechanisms are written separately.
        determined = {row.dependent for row in cluster_rows} - {row.dependent for row in rows}
        off_loops = [j for j in dependent if j not in looped | determined]
        stated = {row.dependent for row in rows}
        if stated <= set(dependent) and set(off_loops) <= stated:
            continue
        for row in rows:
            del by_source[id(row.source)]
        by_source |= {id(row.source): row for row in _solved(rows, off_loops, [j for j in dependent if j in looped])}
    return by_source


def _solved(rows: Sequence[Row], first: Sequence[int], then: Sequence[int]) -> list[Row]:
    """Solve each row for one joint by Gauss-Jordan elimination; prefer joints in ``first`` to joints in ``then``."""
    joints = sorted({j for row in rows for j in (row.dependent, *row.masters)})
    index = {j: i for i, j in enumerate(joints)}
    A = np.zeros((len(rows), len(joints) + 1))
    for equation, row in zip(A, rows, strict=True):
        equation[index[row.dependent]], equation[-1] = 1.0, row.offset
        for j, c in row.terms:
            equation[index[j]] -= c
    size = np.abs(A[:, :-1]).max(axis=0, initial=0.0)
    unsolved, pivots = list(range(len(rows))), dict[int, int]()
    for group in (first, then):
        while unsolved and (columns := [index[j] for j in group if j in index and index[j] not in pivots.values()]):
            block = np.abs(A[np.ix_(unsolved, columns)]) / size[columns]
            i, k = np.unravel_index(np.argmax(block), block.shape)
            if block[i, k] <= NOTHING:
                break
            pivot, column = unsolved.pop(int(i)), columns[int(k)]
            A[pivot] /= A[pivot, column]
            for equation_index in range(len(rows)):
                if equation_index != pivot:
                    A[equation_index] -= A[equation_index, column] * A[pivot]
                    A[equation_index, column] = 0.0
            pivots[pivot] = column
    solved = []
    for pivot, column in sorted(pivots.items()):
        terms = {
            j: float(-A[pivot, index[j]]) for j in joints if index[j] != column and abs(A[pivot, index[j]]) > NOTHING
        }
        row, offset = rows[pivot], float(A[pivot, -1])
        solved.append(Row(joints[column], tuple(terms), tuple(terms.values()), offset, row.source, row.tied))
    return solved


class Constraints:
    """Writer of the constraints of one model, below the element ``root``."""

    def __init__(self, root: ET.Element, model: ClusterModel, links: Links) -> None:
        self.root, self.model, self.links, self.tree = root, model, links, model.own_tree
        self.couplings = Names()
        self.names = defaultdict[str, Names](Names)  # names that are in use, by the tag of the element
        self.rows = rows_by_source(model)
        self.resolved: dict[int, Any] = {id(r.source): r for r in model.rotors}
        self.resolved |= {id(c.source): c for c in model.closures}

    def add(self) -> None:
        writers: tuple[tuple[Any, Callable[[Any], None]], ...] = (
            (Rotor, self._rotor),
            (Motor, lambda _: None),  # Friction of motors is written as springs; a warning lists the other losses.
            ((Gear, Belt, LinearCoupling), self._coupling),
            (Loop, self._loop),
            (Rod, self._rod),
            (Spring, self._spring),
            (GravityCompensation, self._held),
            ((FourBar, SliderCrank, Differential), self._mechanism),
        )
        for c in (*self.model.constraints, *friction_of_motors(self.tree, self.model.rotors)):
            write = next((writer for kinds, writer in writers if isinstance(c, kinds)), None)
            if write is None:
                raise ConstraintError(
                    f"{c.label} cannot be written to a file, because code defines its equations. "
                    "Use pc.LinearCoupling for constant coefficients, or write the model without this constraint and "
                    "pass the constraint when you read the file: buildModelFromUrdf(file, constraints=[...])."
                )
            write(c)

    def _coupling(self, constraint: Gear | Belt | LinearCoupling) -> None:
        """Add a coupling with one ratio for two paths, as in URDF+; if this is impossible, use one ratio per joint."""
        row = self.rows.get(id(constraint))
        if row is None:
            return
        tree, last = self.tree, self.tree.names[row.dependent]
        element = ET.SubElement(self.root, "coupling", name=self.couplings(f"{last}_coupling"))
        belt = self._paths(constraint, row)
        if belt is None:
            ET.SubElement(element, "dependent", joint=last)
            for j, ratio in row.terms:
                ET.SubElement(element, "independent", joint=tree.names[j], ratio=text(ratio))
            offset = row.offset
        else:
            first, ratio, offset = belt
            ET.SubElement(element, "predecessor", link=self.links.of_joint[first])
            ET.SubElement(element, "successor", link=self.links.of_joint[row.dependent])
            ET.SubElement(element, "ratio", value=text(ratio))
        if offset:
            ET.SubElement(element, "offset", value=text(offset))

    def _paths(self, constraint: Any, row: Row) -> tuple[int, float, float] | None:
        """Return predecessor, ratio and offset if the row is a URDF+ coupling of two paths, else None."""
        tree, ratios = self.tree, {c for c in row.coefficients if c != -1.0}
        if len(row.masters) == 1:
            first, ratio = row.masters[0], row.coefficients[0]
        elif isinstance(constraint, Belt) and len(ratios) == 1:
            first, ratio = (
                max((m for m, c in row.terms if c in ratios), key=lambda m: len(tree.supports[m])),
                ratios.pop(),
            )
        else:
            return None
        top = common_ancestor(tree, (first, row.dependent))
        before, after = path_below(tree, top, first), path_below(tree, top, row.dependent)
        expected = {j: ratio for j in before} | {j: -1.0 for j in after[:-1]}
        if not before or not after or any(tree.nvs[j] != 1 for j in (*before, *after)):
            return None
        return (first, ratio, row.offset) if expected == dict(row.terms) else None

    def _loop(self, loop: Loop) -> None:
        closure: FrameClosure = self.resolved[id(loop)]
        name = self.couplings(loop.name or f"{loop.kind}_loop")  # Names of loops and couplings must not coincide.
        element = ET.SubElement(self.root, "loop", name=name, type=loop.kind)
        if loop.axis_b is None:
            ends = [place_of(self.tree, frame, loop.label) for frame in (loop.frame_a, loop.frame_b)]
            axis = loop.axis
        else:  # The z axes of the closure's frames are along the joint axis.
            ends = [Place(closure.joint_a, closure.placement_a), Place(closure.joint_b, closure.placement_b)]
            axis = (0.0, 0.0, 1.0)
        self._ends(element, ends)
        ET.SubElement(element, "axis", xyz=text(axis))

    def _rod(self, rod: Rod) -> None:
        closure: RodClosure = self.resolved[id(rod)]
        name = self.names["rod"](rod.name or "rod")
        element = ET.SubElement(self.root, "rod", name=name, length=text(closure.length or 0.0))
        if rod.inertia is None:
            element.set("mass", text(rod.mass))
        else:
            add_inertial(element, rod.inertia)
        ends = ((closure.joint_a, closure.point_a), (closure.joint_b, closure.point_b))
        self._ends(element, [Place(j, pin.SE3(np.eye(3), np.asarray(point))) for j, point in ends])

    def _ends(self, element: ET.Element, ends: list[Place]) -> None:
        for side, end in zip(("predecessor", "successor"), ends, strict=True):
            half = ET.SubElement(element, side, link=self.links.of_joint[end.joint])
            _origin(half, end.placement)

    def _rotor(self, rotor: Rotor) -> None:
        resolved: RotorElement = self.resolved[id(rotor)]
        element = ET.SubElement(self.root, "rotor", name=self.names["rotor"](str(rotor.name)))
        if rotor.armature is not None:
            element.set("armature", rotor.armature)
        if not rotor.driven:
            element.set("driven", "false")
        for j, ratio in zip(rotor.resolve(self.tree).joints, np.atleast_1d(rotor.ratios), strict=True):
            ET.SubElement(element, "drive", joint=self.tree.names[j], ratio=text(ratio))
        ET.SubElement(element, "carrier", link=self.links.of_joint[resolved.carrier_id])
        _origin(element, resolved.placement)
        ET.SubElement(element, "axis", xyz=text(resolved.placement.rotation.T @ resolved.axis))
        if rotor.inertia is None:
            element.set("axial_inertia", text(float(rotor.axial_inertia or 0.0)))
        else:
            add_inertial(element, rotor.inertia)

    def _spring(self, c: Spring) -> None:
        if _in_dynamics(self.tree, c) is not None:  # <dynamics> contains linear damping and dry friction.
            c = Spring(c.along, c.stiffness, c.rest, (0.0, *c.damping[1:]))
            if not any((*c.stiffness, *c.damping)):
                return
        element = ET.SubElement(self.root, "spring", name=self.names["spring"](c.name or "spring"))
        for key, value in (("stiffness", c.stiffness), ("damping", c.damping), ("friction", (c.friction,))):
            if any(value):
                element.set(key, text(value))
        if c.rest is not None:
            element.set("rest", text(c.rest))
        if isinstance(c.along, str):
            ET.SubElement(element, "drive", joint=self.tree.names[joint_id(self.tree, c.along, c.label)])
        elif isinstance(c.along, tuple):
            for point in c.along:
                self._point(element, "", point, c.label)
        else:
            for name, ratio in c.along.items():
                ET.SubElement(
                    element, "drive", joint=self.tree.names[joint_id(self.tree, name, c.label)], ratio=text(ratio)
                )

    def _held(self, c: GravityCompensation) -> None:
        joint = joint_id(self.tree, c.body, c.label)
        attributes = {"mass": text(c.mass), "center": text(c.center), "link": self.links.of_joint[joint]}
        ET.SubElement(self.root, "held_weight", {"name": self.names["held_weight"]("held_weight"), **attributes})

    def _mechanism(self, c: Any) -> None:
        plain = {"FourBar": "four_bar", "SliderCrank": "slider_crank"}
        kind = plain.get(type(c).__name__) or str(c.mechanism)
        name = self.names["mechanism"](getattr(c, "name", None) or kind)
        element = ET.SubElement(self.root, "mechanism", name=name, type=kind)
        for f in (f for f in fields(c) if f.init and f.name != "name"):
            value = getattr(c, f.name)
            if value is None:
                continue
            if f.name in c._text_fields:
                end = place_of(self.tree, value, c.label)
                ET.SubElement(element, "joint", role=f.name, joint=self.tree.names[end.joint])
            elif isinstance(value, (int, float)) or all(isinstance(x, (int, float)) for x in value):
                ET.SubElement(element, "number", role=f.name, value=text(value))
            else:
                for x in value:
                    self._point(element, f.name, x, c.label)

    def _point(self, element: ET.Element, role: str, value: Any, label: str) -> None:
        if isinstance(value, tuple):
            ET.SubElement(element, "point", role=role, xyz=text(value))
            return
        end = place_of(self.tree, value, label)
        frame = ET.SubElement(element, "frame", link=self.links.of_joint[end.joint])
        if role:
            frame.set("role", role)
        _origin(frame, end.placement)


def friction_of(tree: pin.Model, constraints: Iterable[Any]) -> np.ndarray:
    coefficients = np.zeros((2, tree.nv))
    for c in constraints:
        if (i := _in_dynamics(tree, c)) is not None:
            coefficients[:, i] += c.damping[0], c.friction
    return coefficients


def _in_dynamics(tree: pin.Model, c: Any) -> int | None:
    """Return the joint's index in v if an unnamed spring acts on one joint with one degree of freedom, else None."""
    simple = isinstance(c, Spring) and isinstance(c.along, str) and c.name is None
    j = joint_id(tree, c.along, c.label) if simple else 0
    return int(tree.idx_vs[j]) if tree.nvs[j] == 1 else None


def add_inertial(parent: ET.Element, inertia: pin.Inertia) -> None:
    element = ET.SubElement(parent, "inertial")
    ET.SubElement(element, "origin", xyz=text(inertia.lever), rpy="0 0 0")
    ET.SubElement(element, "mass", value=text(inertia.mass))
    I = np.array(inertia.inertia)
    entries = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    ET.SubElement(element, "inertia", {key: text(I[i, k]) for key, (i, k) in entries.items()})


def add_origin(parent: ET.Element, placement: pin.SE3) -> None:
    ET.SubElement(parent, "origin", xyz=text(placement.translation), rpy=text(pin.rpy.matrixToRpy(placement.rotation)))


def _origin(parent: ET.Element, placement: pin.SE3) -> None:
    if not is_identity(placement):
        add_origin(parent, placement)
