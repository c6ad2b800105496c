"""How kernels move the joints of a model: what they get beside the state, see ``kernels/tables/plan.py``."""

from typing import Any, NamedTuple

import numpy as np

from .._support.arrays import on_a_page
from ..compiler import entry_points as kernels
from ..compiler.choice import code_of
from ..kernels.tables import plan as at
from ..model import ClusterModel, loops_of, once, with_loops
from ..model.configuration.manifold import manifold
from ._groups import parts_of

Plan = tuple[np.ndarray, np.ndarray]
"""Rows of what moves how, and ratios."""


class Called(NamedTuple):
    """Tables of what kernels of steps call."""

    aba: kernels.Pointer
    energy: kernels.Pointer
    coupling: kernels.Pointer
    moves: kernels.Pointer
    openness: kernels.Pointer


def calls_of(model: ClusterModel, functions: Any, tables: Called, *, own: bool = True) -> np.ndarray:
    """Return the addresses of what kernels of steps call: of code of the model's own, if it has functions.

    ``own``: the torques are of its independent joints.
    """
    calls, closed = np.zeros(at.CALLS, dtype=np.int64), with_loops(model)
    calls[[at.ABA_AT, at.ENERGY_AT, at.COUPLING_AT, at.MOVE_AT, at.OPENNESS_AT]] = [x.address for x in tables]
    calls[at.OWN] = own
    calls[at.ABA] = code_of(functions, kernels.of("aba", closed)).address()
    calls[at.ENERGY] = code_of(functions, kernels.of("energy", closed), "computeMechanicalEnergy").address()
    if model.closures:
        calls[at.MOVE] = code_of(functions, kernels.move).address()
        calls[at.COUPLING] = code_of(functions, kernels.coupling).address()
        calls[at.OPENNESS] = code_of(functions, kernels.openness).address()
    return calls


class Workspace:
    """What kernels of steps call and work on, for one thread, with all that has an address.

    Attributes:
        pointer: Tables for aba.
        work: Workspace of aba.
        tables: Tables of what kernels of steps call.
        coupling: Where the coupling function leaves G and its bias.
        energies: Where the energy function leaves both energies, then the openness function by how much loops are open.
        calls: Addresses of functions and of their tables.
    """

    def __init__(self, model: ClusterModel, functions: Any, *, own: bool = True) -> None:
        """Lay out; ``own``: the torques are of the model's independent joints."""
        G = model.tables.topology.G
        (self.work,) = on_a_page(model.tables.work)
        self.pointer = kernels.Pointer(model.tables.index, model.tables.params, self.work, np.zeros(model.nv))
        self.coupling, self.energies = np.concatenate([G.ravel(), np.zeros(len(G))]), np.zeros(3)
        results = self.energies, self.coupling, np.zeros(1), self.energies[2:]
        self.tables = Called(self.pointer, *(self.pointer.beside(self.work, x) for x in results))
        self.calls = calls_of(model, functions, self.tables, own=own)


def can_move(model: ClusterModel) -> bool:
    """Whether kernels know all that moves: no function of the user in Python, no (cos, sin) joint in a coupling."""
    known = not model.tables.supplies and manifold(model).linear
    return known and (not model.closures or loops_of(model).compiled)


@once
def plan_of(model: ClusterModel) -> Plan:
    """Return the plan for torques of the model's own independent joints."""
    return make_plan(model, model.idx_v_independent)


def make_plan(model: ClusterModel, columns: np.ndarray) -> Plan:
    """Return the plan of a model that ``can_move``; columns are those in the tree's v whose torques are given."""
    shape = manifold(model)
    joints = np.array([(p.kind, p.iq, p.at) for p in parts_of(model)], dtype=np.int64).reshape(-1, 3)
    entries = left = np.zeros(0, dtype=np.int64)
    if model.closures:
        loops = loops_of(model)
        entries, left = loops.entries, loops.independent_entries
    follower, leader = np.nonzero(shape.map)
    ends = np.searchsorted(follower, np.arange(len(shape.dependents) + 1))
    followers = np.stack([shape.dependents, ends[:-1], ends[1:]], axis=1)
    lists = np.concatenate([shape.leaders[leader], entries, left, columns])
    rows = np.zeros((len(lists), 3), dtype=np.int64)
    rows[:, 0] = lists
    sizes = [len(joints), len(followers), len(leader)], [bool(model.closures), len(entries), len(left)]
    plan = np.concatenate([sizes, joints, followers, rows]).astype(np.int64)
    return plan, np.concatenate([shape.map[follower, leader], shape.offsets])
