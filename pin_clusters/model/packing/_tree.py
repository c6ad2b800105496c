"""Writes the tables of the spanning tree, which ``kernels.tables.tree_layout`` defines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.tables import Table
from ..._support.trees import in_v
from ...constraints.closures import lumps_of
from ...kernels.tables import layout as at
from ...kernels.tables import tree_layout as tl
from ..elements import RotorElement
from ..primitives import Primitive, primitives_of
from ..topology import Topology
from ._writer import put_body, shuffle

NEVER = 1 << 40  # request bit for fields that are never copied
# Fields of pin.Data: name, size and number of items, requests that fill the field, required input (0 q, 1 v, 2 a).
_FIELDS = (
    ("oMi", 12, "njoints", 0, 0),
    ("liMi", 12, "njoints", 0, 0),
    ("v", 6, "njoints", tl.MOTION, 1),
    ("a", 6, "njoints", tl.MOTION, 2),
    ("ov", 6, "njoints", tl.RATES, 1),
    ("com", 3, "njoints", tl.SUBTREES | tl.WORLD, 0),
    ("vcom", 3, "njoints", tl.SUBTREES, 1),
    ("acom", 3, "njoints", tl.SUBTREES, 2),
    ("J", 6, "nv", tl.COLUMNS | tl.MAP | tl.JCOM | tl.AXES, 0),
    ("dJ", 6, "nv", tl.RATES, 0),
    ("Ag", 6, "nv", tl.MAP, 0),
    ("Jcom", 3, "nv", tl.JCOM, 0),
    ("hg", 6, "", tl.MOMENTUM, 1),
    ("dhg", 6, "", tl.MOMENTUM, 2),
    ("Ig", 10, "", tl.WHOLE, 0),
    ("oMf", 12, "nframes", NEVER, 0),
)
# Fields in which only the entry for the whole robot is filled: name, requests, required input.
_OF_THE_WHOLE = (
    ("com", tl.CENTERS | tl.MAP | tl.JCOM | tl.WHOLE, 0),
    ("vcom", tl.CENTERS | tl.MAP_RATE, 1),
    ("acom", tl.CENTERS, 2),
)


@dataclass(frozen=True)
class TreeTables:
    """The tables for the kernels of the spanning tree."""

    index: np.ndarray  # integers, shape (rows, ROW_WIDTH); each data object adds the addresses of its fields
    params: np.ndarray  # floats, a flat array
    work: int  # size of the workspace
    out: int  # size of the results
    sections: tl.Sections  # offsets of the fields of ``pin.Data`` in the results
    own: tl.Own  # offsets of the results for independent joints
    derived: tl.Derived  # offsets of derivatives and their intermediate results
    fields: tuple[tuple[int, str], ...]  # (row in the index, name) of each field that is copied to ``pin.Data``
    link_of_joint: np.ndarray  # link that each joint moves, shape (njoints,)
    settles: bool  # whether pin.Data contains motion axes that only Pinocchio can set or update
    curved: tuple[int, ...]  # indices in the tree's v whose rows of G depend on q
    masses: np.ndarray  # mass of the subtree of each joint, including rods that are not in a link, [kg]


def pack_tree(
    tree: pin.Model, inertia_tree: pin.Model, topology: Topology, rotors: Sequence[RotorElement]
) -> TreeTables:
    """Return the tables of a tree; ``inertia_tree`` is the result of ``trees.inertia_tree_of``."""
    nv, nvt = topology.G.shape[1], tree.nv
    chains: list[list[Primitive]] = [[]] + [
        primitives_of(tree.joints[j], tree.jointPlacements[j], tree.names[j]) for j in range(1, tree.njoints)
    ]
    links: list[tl.Link] = []
    dofs: list[list[int]] = [[0] * 6 for _ in range(nvt)]
    link_of_joint = np.zeros(tree.njoints, dtype=np.int64)
    out = Table([None], [0.0] * (at.BODY_PARAMS * (1 + sum(map(len, chains)))))
    aligns = [np.eye(3)]
    for j in range(1, tree.njoints):
        parent = int(link_of_joint[tree.parents[j]])
        upper = parent
        for i, p in enumerate(chains[j]):
            last, b = i == len(chains[j]) - 1, len(links) + 1
            inertia = inertia_tree.inertias[j] if last else pin.Inertia.Zero()
            exchanges = put_body(out, b, p, aligns[parent], inertia, p.align.T), shuffle(p.align.T)
            links.append(tl.Link(parent, p.kind, p.iq, p.iv, p.nv, *exchanges, j if last else 0, upper, int(i == 0)))
            for d in range(p.nv):
                screw = b * at.BODY_PARAMS + at.PITCH if p.kind == at.HELICAL else -1
                dofs[p.iv + d] = [b, *_axis(p, d), screw, 0, 0]
            aligns.append(p.align)
            parent = b
        link_of_joint[j] = parent
    out.add_all(links)
    dof0, dof1 = out.add_all([None] * nvt)
    for iv, columns in enumerate(_pattern(tree, topology)):
        dofs[iv][4:] = out.add_all(tl.Term(k, iv * nv + k) for k in columns)
    out.rows[dof0:dof1] = [tl.Dof(*d) for d in dofs]
    spins = [r for r in rotors if r.source is not None]
    spin0, spin1 = out.add_all([None] * len(spins))
    for i, r in enumerate(spins, spin0):
        b = int(link_of_joint[r.carrier_id])
        momentum = out.append(aligns[b].T @ r.axis * r.axial_inertia)
        drivers = out.add_all(tl.Driver(iv, out.append(ratio)) for iv, ratio in r.drivers)
        out.rows[i] = tl.Spin(b, momentum, *drivers)
    lumps = lumps_of(tree, topology.closures)
    lump0 = len(out.rows)
    for mass, ends, common in lumps:
        a, b = (int(link_of_joint[j]) for j, _ in ends)
        points = [aligns[link_of_joint[j]].T @ point for j, point in ends]
        out.add(tl.Lump(out.append([mass, *np.ravel(points)]), a, b, int(link_of_joint[common])))
    lump1 = len(out.rows)
    widest = max((max(1, len(columns)) for _, columns in _blocks(tree, topology)), default=0)
    sections, own, derived, work, size = _places(tree, nv, len(links), widest)
    where, _ = out.add_all([sections, own, derived])
    counts = {name: item * _items(tree, count) for name, item, count, *_ in _FIELDS}
    copies = [(name, getattr(sections, name), counts[name], what, level) for name, _, _, what, level in _FIELDS]
    copies += [(name, getattr(sections, name), 3, what, level) for name, what, level in _OF_THE_WHOLE]
    copies.append(("dAg", derived.tree_dAg, 6 * nvt, tl.MAP_RATE, 1))
    copies.append(("mass", own.mass, tree.njoints, tl.CENTERS | tl.JCOM, 0))
    back = [(name, getattr(sections, name), counts[name], NEVER, 0) for name in ("oMi", "J", "dJ", "v", "oMf", "ov")]
    field0, _ = out.add_all(tl.Field(place, n, 0, what, level) for _, place, n, what, level in (*copies, *back))
    fields = tuple((field0 + i, name) for i, (name, *_) in enumerate((*copies, *back)))
    place0 = len(out.rows)
    places = [(j, pin.SE3.Identity()) for j in range(tree.njoints)]
    places += [(frame.parentJoint, frame.placement) for frame in tree.frames]
    for j, M in places:
        b = int(link_of_joint[j])
        A = aligns[b].T
        frames = (A @ M.rotation, A @ M.translation), (M.rotation, M.translation)
        out.add(tl.Place(b, j, out.append([x for R, p in frames for x in (*R.flat, *p)])))
    out.rows[0] = tl.TreeHeader(
        len(links), tree.nq, nv, nvt, dof0, spin0, spin1, where, field0, field0 + len(copies),
        int(bool(topology.closures)), place0, len(out.rows), tree.njoints, lump0, lump1,
    )  # fmt: skip
    return TreeTables(
        out.index(at.ROW_WIDTH),
        np.array(out.params),
        work,
        size,
        sections,
        own,
        derived,
        fields,
        link_of_joint,
        _settles(tree),
        tuple(iv for rows, _ in _blocks(tree, topology) for iv in rows),
        _masses(tree, inertia_tree, lumps),
    )


def _axis(p: Primitive, d: int) -> tuple[int, int]:
    """Return the index of the axis of velocity d of a primitive, and 1 for a rotation or 0 for a translation."""
    if p.kind in (at.SPHERICAL, at.FREEFLYER):
        return d % 3, int(p.kind == at.SPHERICAL or d > 2)
    if p.kind == at.PLANAR:
        return d, int(d == 2)
    return 2, int(p.kind != at.PRISMATIC)


def _pattern(tree: pin.Model, topology: Topology) -> list[list[int]]:
    pattern = [np.flatnonzero(row).tolist() for row in topology.G]
    for rows, columns in _blocks(tree, topology):
        for iv in rows:
            pattern[iv] = columns
    return pattern


def _blocks(tree: pin.Model, topology: Topology) -> list[tuple[list[int], list[int]]]:
    blocks = []
    for joints, loop in zip(topology.clusters, topology.loops, strict=True):
        if loop is not None:
            rows = [iv for j in joints for iv in in_v(tree, j)]
            blocks.append((rows, [k for k, iv in enumerate(topology.independent) if int(iv) in rows]))
    return blocks


def _masses(tree: pin.Model, inertia_tree: pin.Model, lumps: list[Any]) -> np.ndarray:
    masses = np.array([inertia.mass for inertia in inertia_tree.inertias])
    masses[0] = 0.0  # As in Pinocchio, bodies fixed to the universe are excluded.
    for j in range(tree.njoints - 1, 0, -1):
        masses[tree.parents[j]] += masses[j]
    for mass, _, common in lumps:
        masses[list({0, *(int(j) for j in tree.supports[common])})] += mass
    return masses


def _items(tree: pin.Model, count: str) -> int:
    return int(getattr(tree, count)) if count else 1


def _places(tree: pin.Model, nv: int, links: int, widest: int) -> tuple[tl.Sections, tl.Own, tl.Derived, int, int]:
    """Return the offsets in the results and in the workspace, and the sizes of the workspace and of the results."""
    offset, places = 0, []
    for _, item, count, _, _ in _FIELDS:
        places.append(offset)
        offset += item * _items(tree, count)
    nvt, behind = tree.nv, (1 + links) * tl.LINK_WORK
    sizes = [6 * nv, 6 * nv, 3 * nv, 6 * nv, nvt * nv, nvt, nvt * nv, nvt * nv, 1, tree.njoints]
    for_loops = [count * nvt * nv if widest else 0 for count in (4, 2, 1 + widest)]  # Without loops, G is constant.
    sizes += [6 * nvt, 6 * nv, *for_loops, tree.nq, 1, tree.nq, 1, tree.nq, nv, nv, 1, 1]
    at_out: list[int] = (offset + np.cumsum([0, *sizes])).tolist()
    own = tl.Own._make([*at_out[:10], behind, behind + nvt, behind + 2 * nvt])
    derived = tl.Derived._make([*at_out[10:-1], behind + 8 * nvt])
    if not widest:
        derived = derived._replace(coupled=own.G, turned=own.G, bends=own.G)
    return tl.Sections(*places), own, derived, behind + 8 * nvt + 1, at_out[-1]


def _settles(tree: pin.Model) -> bool:
    """Return whether a new ``pin.Data`` lacks some motion axes, or has motion axes that depend on q."""
    at_rest = np.zeros(tree.nv)
    for joint in list(tree.joints)[1:]:
        data = joint.createData()
        axes = [np.array(data.S)]
        for x in (0.4, 0.7):
            joint.calc(data, np.full(tree.nq, x), at_rest)
            axes.append(np.array(data.S))
        if not all(np.array_equal(S, axes[2]) for S in axes[:2]):
            return True
    return False
