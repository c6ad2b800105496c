"""The numbers of a model's tables for other inertial parameters: the same robot, nothing resolved again."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import pinocchio as pin

from .cluster_model import ClusterModel
from .elements import find_rotors
from .packing import pack
from .trees import inertia_tree_of


def numbers_of(model: ClusterModel) -> np.ndarray:
    """Return the floats of the tables, and what the workspace holds when it is made."""
    return np.concatenate([model.tables.params, model.tables.work])


def repacked(
    model: ClusterModel, inertias: Sequence[pin.Inertia], armature: np.ndarray, axial: Mapping[int, float]
) -> np.ndarray:
    """Return these numbers for other inertial parameters.

    Args:
        model: The model.
        inertias: Of each joint's body, the universe's first, without the rotors that are locked into it.
        armature: Of the tree, shape (tree.nv,).
        axial: Axial inertia of rotors that are no bodies, by the identity of their constraint.

    Returns:
        As ``numbers_of``, unless rotors that spin do no longer, or others do: then they have another size or meaning.
    """
    tree, topology = model.own_tree.copy(), model.tables.topology
    for j in range(1, tree.njoints):
        tree.inertias[j] = inertias[j]
    tree.armature = armature
    rotors = tuple(
        r if r.source is None else dataclasses.replace(r, axial_inertia=axial.get(id(r.source), r.axial_inertia))
        for r in find_rotors(tree, topology)
    )
    inertia_tree = inertia_tree_of(tree, rotors, topology.closures)
    tables = pack(tree, inertia_tree, topology, rotors, np.array(tree.gravity.linear), model.tables.tree)
    return np.concatenate([tables.params, tables.work])
