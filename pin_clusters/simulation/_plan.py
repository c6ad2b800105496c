"""Tables that describe to kernels how the joints of a model move, see ``kernels/tables/plan.py``."""

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
"""An integer table that describes how each joint moves, and an array of the coupling ratios."""


class Called(NamedTuple):
    """Call tables for the functions that the step kernels call."""

    aba: kernels.Pointer
    energy: kernels.Pointer
    coupling: kernels.Pointer
    moves: kernels.Pointer
    openness: kernels.Pointer


def calls_of(model: ClusterModel, functions: Any, tables: Called, *, own: bool = True) -> np.ndarray:
    """Return the addresses of the functions that step kernels call; see ``Workspace`` for ``own``."""
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
    """Call tables and work arrays of step kernels for one thread; the object owns every array whose address it stores.

    Attributes:
        pointer: Call table of aba.
        work: Work array of aba.
        tables: Call tables of all functions that step kernels call.
        coupling: Result of the coupling function: the coupling matrix G, then the bias acceleration.
        energies: Kinetic and potential energy [J], then the constraint violation of loops.
        calls: Addresses of these functions and of their call tables.
    """

    def __init__(self, model: ClusterModel, functions: Any, *, own: bool = True) -> None:
        """Allocate the arrays; ``own`` states whether the torques belong to the model's own independent joints."""
        G = model.tables.topology.G
        (self.work,) = on_a_page(model.tables.work)
        self.pointer = kernels.Pointer(model.tables.index, model.tables.params, self.work, np.zeros(model.nv))
        self.coupling, self.energies = np.concatenate([G.ravel(), np.zeros(len(G))]), np.zeros(3)
        results = self.energies, self.coupling, np.zeros(1), self.energies[2:]
        self.tables = Called(self.pointer, *(self.pointer.beside(self.work, x) for x in results))
        self.calls = calls_of(model, functions, self.tables, own=own)


def can_move(model: ClusterModel) -> bool:
    """Return whether kernels support all couplings: none calls a Python function or contains a (cos, sin) joint."""
    supported = not model.tables.supplies and manifold(model).linear
    return supported and (not model.closures or loops_of(model).compiled)


@once
def plan_of(model: ClusterModel) -> Plan:
    return make_plan(model, model.idx_v_independent)


def make_plan(model: ClusterModel, columns: np.ndarray) -> Plan:
    """Build the ``Plan`` of a model that ``can_move`` accepts; the torques act on the tree velocities ``columns``."""
    shape = manifold(model)
    joints = np.array([(p.kind, p.iq, p.iv) for p in parts_of(model)], dtype=np.int64).reshape(-1, 3)
    entries = independent_entries = np.zeros(0, dtype=np.int64)
    if model.closures:
        loops = loops_of(model)
        entries, independent_entries = loops.entries, loops.independent_entries
    follower, leader = np.nonzero(shape.map)
    ends = np.searchsorted(follower, np.arange(len(shape.dependents) + 1))
    followers = np.stack([shape.dependents, ends[:-1], ends[1:]], axis=1)
    lists = np.concatenate([shape.leaders[leader], entries, independent_entries, columns])
    rows = np.zeros((len(lists), 3), dtype=np.int64)
    rows[:, 0] = lists
    sizes = [len(joints), len(followers), len(leader)], [bool(model.closures), len(entries), len(independent_entries)]
    plan = np.concatenate([sizes, joints, followers, rows]).astype(np.int64)
    return plan, np.concatenate([shape.map[follower, leader], shape.offsets])
