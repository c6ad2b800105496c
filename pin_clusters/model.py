"""The cluster model: a spanning tree, constraints on it, and the tables of the kernels."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pinocchio as pin

from .arrays import array
from .constraints._inertia import is_finite
from .elements import Cluster, RotorElement, describe, find_rotors
from .errors import (
    ArgumentTypeError,
    InertiaError,
    ModelError,
    PinClustersWarning,
    ShapeError,
    UnknownNameError,
    UnsupportedJointError,
    did_you_mean,
)
from .packing import Tables, pack
from .primitives import primitives
from .topology import Topology, resolve
from .tree_attributes import TreeAttributes

if TYPE_CHECKING:
    from .constraints._base import Row
    from .data import ClusterData


class ClusterModel(TreeAttributes):
    """A robot with exact transmissions: a ``pin.Model`` and constraints between its joints.

    ``q`` is a configuration of the whole tree (``model.nq == model.tree.nq``), with the couplings fulfilled; ``v``,
    ``a`` and ``tau`` belong to the independent joints (``model.nv``), in the order of their ``idx_v`` in the tree.
    Without constraints everything is Pinocchio's.

    The model is immutable and can be pickled. It keeps a private copy of the tree; changing ``model.tree`` afterwards
    has no effect on the algorithms (and is found when ``data.check`` is set). Gravity is fixed: see ``with_gravity``.

    Args:
        tree: Spanning tree, in any joint order; it is copied and never changed.
        constraints: ``Rotor``, ``Gear``, ``Belt``, ``LinearCoupling``.
        name: By default the tree's name.

    Raises:
        ArgumentTypeError: ``tree`` is not a ``pin.Model``.
        ConstraintError: The constraints are ill-formed or contradict each other.
        UnsupportedJointError: A joint cannot take the part it is given, or is a mimic joint.
        InertiaError: A body's mass is negative, or its inertia is not finite.
        UnknownNameError: A constraint names an unknown joint or body.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> tree = pin.buildSampleModelManipulator()
        >>> model = pc.ClusterModel(tree, [pc.Rotor("elbow_joint", 100.0, axial_inertia=1e-5)])
        >>> model.nq == tree.nq and model.nv == tree.nv
        True
    """

    __slots__ = (
        "_index",
        "_params",
        "_pristine",
        "_tables",
        "_topology",
        "clusters",
        "constraints",
        "coupling_matrix",
        "coupling_rows",
        "dependent_joints",
        "idx_v_independent",
        "independent_joints",
        "inertia_tree",
        "name",
        "nq",
        "nv",
        "rotors",
        "tree",
    )

    constraints: tuple[Any, ...]
    coupling_matrix: np.ndarray
    coupling_rows: tuple[Row, ...]
    clusters: tuple[Cluster, ...]
    rotors: tuple[RotorElement, ...]
    inertia_tree: pin.Model
    name: str
    nq: int
    nv: int
    _index: np.ndarray
    _params: np.ndarray
    _tables: Tables
    _topology: Topology
    _pristine: pin.Model
    independent_joints: tuple[str, ...]
    dependent_joints: tuple[str, ...]

    def __init__(self, tree: pin.Model, constraints: Iterable[Any] = (), name: str | None = None) -> None:
        if not isinstance(tree, pin.Model):
            raise ArgumentTypeError(
                f"ClusterModel: tree must be a pinocchio.Model, got {type(tree).__name__}."
                + (" Use it as it is." if isinstance(tree, ClusterModel) else "")
            )
        if not isinstance(constraints, Iterable) or isinstance(constraints, (str, bytes)):
            raise ArgumentTypeError(
                "ClusterModel: constraints must be a list of constraints, such as [pc.Gear(...)], "
                f"got {type(constraints).__name__}."
            )
        constraints = tuple(constraints)
        tree = tree.copy()
        _check_tree(tree)
        topology = resolve(tree, constraints)
        rotors = find_rotors(tree, topology)
        inertia_tree = _inertia_tree(tree, rotors)
        tables = pack(tree, inertia_tree, topology, rotors, np.array(tree.gravity.linear))
        followers = {row.dependent for row in topology.rows}
        for table in (tables.index, tables.params, topology.G, topology.independent, *(r.row for r in rotors)):
            table.setflags(write=False)
        values = {
            "tree": tree,
            "constraints": constraints,
            "name": tree.name if name is None else str(name),
            "nq": int(tree.nq),
            "nv": int(topology.G.shape[1]),
            "coupling_matrix": topology.G,
            "coupling_rows": topology.rows,
            "idx_v_independent": topology.independent,
            "independent_joints": tuple(tree.names[j] for j in range(1, tree.njoints) if j not in followers),
            "dependent_joints": tuple(tree.names[j] for j in range(1, tree.njoints) if j in followers),
            "clusters": describe(tree, topology, constraints, rotors),
            "rotors": rotors,
            "inertia_tree": inertia_tree,
            # read-only arrays have another Numba type than writable ones
            "_index": np.array(tables.index),
            "_params": np.array(tables.params),
            "_tables": tables,
            "_topology": topology,
            "_pristine": tree.copy(),
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def __setattr__(self, key: str, value: object) -> NoReturn:
        """Refuse: the model is immutable."""
        raise AttributeError(
            f"ClusterModel is immutable: {key!r} cannot be set. "
            + ("Use model.with_gravity(g)." if key == "gravity" else "Make a new ClusterModel.")
        )

    def __delattr__(self, key: str) -> NoReturn:
        """Refuse: the model is immutable."""
        raise AttributeError(f"ClusterModel is immutable: {key!r} cannot be deleted.")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what the user gave; the tables are made again."""
        return ClusterModel, (self._pristine, self.constraints, self.name)

    def __copy__(self) -> ClusterModel:
        """Return the model itself: it is immutable."""
        return self

    def __deepcopy__(self, memo: object) -> ClusterModel:
        """Return the model itself: it is immutable."""
        return self

    def copy(self) -> ClusterModel:
        """Return the model itself: it is immutable."""
        return self

    @property
    def gravity(self) -> pin.Motion:
        """A copy of the spatial gravity field; it is fixed at construction, see ``with_gravity``."""
        return pin.Motion(self._pristine.gravity)

    def with_gravity(self, g: Any) -> ClusterModel:
        """Return a new model under another gravity.

        Args:
            g: Linear acceleration, shape (3,), [m/s^2], or a ``pin.Motion``.

        Raises:
            ShapeError: ``g`` has another size.
            ArgumentTypeError: ``g`` does not hold real numbers.
            ModelError: ``g`` is not finite, or has an angular part.
        """
        tree = self._pristine.copy()
        if not isinstance(g, pin.Motion):
            linear = array("with_gravity: g", [g] if np.ndim(g) == 0 else g)
            if linear.size != 3:
                raise ShapeError(f"with_gravity: g has size {linear.size}, expected 3 (x, y, z in m/s^2).")
            g = pin.Motion(linear, np.zeros(3))
        tree.gravity = g
        return ClusterModel(tree, self.constraints, self.name)

    def was_changed(self) -> bool:
        """Whether someone changed ``tree`` or ``inertia_tree``, which the algorithms would not see."""
        pristine = _inertia_tree(self._pristine, self.rotors)
        return bool(self.tree != self._pristine or self.inertia_tree != pristine)

    def createData(self) -> ClusterData:
        """Return a workspace for the algorithms; one per thread."""
        from .data import ClusterData

        return ClusterData(self)

    def joint_idx_v(self, name: str) -> int:
        """Return the first index in v, a and tau of an independent joint.

        Raises:
            UnknownNameError: No joint has that name.
            ModelError: The joint is dependent, so it has no place in v.
        """
        joint = self._pristine.joints[self.getJointId(name)]
        if name not in self.independent_joints and name not in self.dependent_joints:
            raise UnknownNameError(f"joint {name!r} has no velocity." + did_you_mean(name, self.independent_joints))
        if name in self.dependent_joints:
            raise ModelError(
                f"joint {name!r} is dependent, so it has no index in v. Its velocity is "
                f"pc.spanning_velocity(model, data, q, v)[{joint.idx_v}]."
            )
        return int(np.searchsorted(self.idx_v_independent, joint.idx_v))

    def __repr__(self) -> str:
        """Name, sizes and numbers of clusters and rotors."""
        return (
            f"ClusterModel({self.name!r}, nq={self.nq}, nv={self.nv}, joints={self.njoints - 1}, "
            f"clusters={len(self.clusters)}, rotors={len(self.rotors)})"
        )

    def __str__(self) -> str:
        """Summarise the clusters, one per line."""
        spin = sum(r.spins for r in self.rotors)
        head = (
            f"ClusterModel {self.name!r}: nq = {self.nq}, nv = {self.nv} (spanning tree: {self.tree.nv}), "
            f"{len(self.clusters)} clusters, {len(self.rotors)} rotors ({spin} spin elements)"
        )
        return "\n".join([head, *(f"  {c}" for c in self.clusters)])


def _check_tree(tree: pin.Model) -> None:
    """Refuse what no algorithm could honour; warn of inertias that no body can have."""
    indefinite, seen = [], set()
    for j in range(1, tree.njoints):
        name, inertia = tree.names[j], tree.inertias[j]
        if name in seen:
            raise ModelError(f"Two joints of {tree.name!r} are named {name!r}. Give each its own name.")
        seen.add(name)
        if "Mimic" in tree.joints[j].shortname():
            raise UnsupportedJointError(
                f"Joint {name!r} is a mimic joint. Turn the model into a tree and couplings first: "
                "tree, constraints = pc.expand_mimic(model); pc.ClusterModel(tree, constraints)."
            )
        primitives(tree.joints[j], tree.jointPlacements[j], name)  # refuses what has no kernel
        if not is_finite(inertia):
            raise InertiaError(f"The body of joint {name!r} has an inertia that is not finite.")
        if inertia.mass < 0.0:
            raise InertiaError(f"The body of joint {name!r} has mass {inertia.mass:g}; it must not be negative.")
        low, *_, high = np.linalg.eigvalsh(np.asarray(inertia.inertia))
        if low < -max(1e-9 * high, 1e-15):  # below it is rounding
            indefinite.append(name)
    if indefinite:
        names = ", ".join(map(repr, indefinite[:5])) + (", ..." if len(indefinite) > 5 else "")
        warnings.warn(
            f"{len(indefinite)} bodies of {tree.name!r} have a rotational inertia that is not positive semidefinite "
            f"(joints {names}). They are used as they are, as Pinocchio does; the mass matrix may be indefinite.",
            PinClustersWarning,
            stacklevel=3,
        )
    bad = np.flatnonzero(~np.isfinite(tree.armature))
    if bad.size:
        name = next(n for n, i in zip(list(tree.names)[::-1], list(tree.idx_vs)[::-1], strict=True) if i <= bad[0])
        raise InertiaError(f"The armature of joint {name!r} is {tree.armature[bad[0]]}; it must be finite.")
    if not np.all(np.isfinite(tree.gravity.linear)):
        raise ModelError(f"Gravity is {tree.gravity.linear}; it must be finite.")
    if np.any(np.asarray(tree.gravity.angular)):
        raise ModelError(f"Gravity has an angular part {tree.gravity.angular}; only its linear part can be honoured.")


def _inertia_tree(tree: pin.Model, rotors: Sequence[RotorElement]) -> pin.Model:
    """Add the rotors that are no bodies to their carriers; drop armature that a rotor replaces."""
    lumped = tree.copy()
    for r in rotors:
        if r.source is None:
            continue
        if r.inertia is not None and r.carrier_id:
            lumped.inertias[r.carrier_id] = lumped.inertias[r.carrier_id] + r.placement.act(r.inertia)
        if r.source.armature == "replace":
            armature = np.array(lumped.armature)
            for name in r.source.joints:
                j = (
                    tree.getJointId(name)
                    if tree.existJointName(name)
                    else tree.frames[tree.getBodyId(name)].parentJoint
                )
                armature[tree.joints[j].idx_v] = 0.0
            lumped.armature = armature
    return lumped
