"""Recomputes the numbers in a model's tables for new inertial parameters and the same topology."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import pinocchio as pin

from .cluster_model import ClusterModel
from .elements import RotorElement, find_rotors
from .packing import pack
from .trees import inertia_tree_of


def numbers_of(model: ClusterModel) -> np.ndarray:
    """Return the floats of the tables, followed by the initial content of the workspace."""
    return np.concatenate([model.tables.params, model.tables.work])


def repacked(
    model: ClusterModel, inertias: Sequence[pin.Inertia], armature: np.ndarray, axial: Mapping[int, float]
) -> np.ndarray:
    """Return the numbers of the tables for new body inertias (without lumped rotors), armature and rotor inertias.

    ``axial`` maps the ``id`` of a ``Rotor`` constraint to its axial inertia, [kg m^2]. If the inertias change which
    rotors are lumped (spin elements), the result has a different layout.
    """
    tree, topology = model.own_tree.copy(), model.tables.topology
    for j in range(1, tree.njoints):
        tree.inertias[j] = inertias[j]
    tree.armature = armature
    rotors = tuple(
        r if r.source is None else dataclasses.replace(r, axial_inertia=axial.get(id(r.source), r.axial_inertia))
        for r in find_rotors(tree, topology)
    )
    return packed_numbers(model, tree, inertia_tree_of(tree, rotors, topology.closures), rotors)


def packed_numbers(
    model: ClusterModel, tree: pin.Model, inertia_tree: pin.Model, rotors: Sequence[RotorElement]
) -> np.ndarray:
    """Return the numbers of the tables for other trees and rotors with the topology of a model; nothing is checked.

    ``inertia_tree`` contains the inertias of ``tree``, of the rotors and rods on its bodies, and the armature.
    """
    topology, gravity = model.tables.topology, np.array(tree.gravity.linear)
    tables = pack(tree, inertia_tree, topology, rotors, gravity, model.tables.tree)
    return np.concatenate([tables.params, tables.work])
