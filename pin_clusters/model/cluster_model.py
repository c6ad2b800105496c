"""The cluster model: a spanning tree, constraints on it, and the tables of the kernels."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pinocchio as pin

from ..arrays import array, on_a_page
from ..constraints.closures import Closure, RodClosure
from ..errors import (
    ArgumentTypeError,
    InertiaError,
    ModelError,
    PinClustersWarning,
    ShapeError,
    UnknownNameError,
    UnsupportedJointError,
    did_you_mean,
)
from ..joints import in_v, is_finite
from .elements import Cluster, RotorElement, describe, find_rotors
from .packing import Tables, pack
from .primitives import primitives_of
from .topology import Topology, resolve
from .tree_attributes import TreeAttributes

if TYPE_CHECKING:
    from ..constraints.rows import Row
    from .cluster_data import ClusterData


class ClusterModel(TreeAttributes):
    """A robot with exact transmissions: a ``pin.Model`` and constraints between its joints.

    ``q`` is a configuration of the whole tree (``model.nq == model.tree.nq``), with the couplings fulfilled and the
    loops closed; ``v``, ``a`` and ``tau`` belong to the independent joints (``model.nv``), in the order of their
    ``idx_v`` in the tree. Without constraints everything is Pinocchio's.

    The model is immutable and can be pickled. It keeps private copies of the tree: changing ``model.tree`` afterwards
    has no effect on the algorithms, which read ``own_tree`` (and is found when ``data.check`` is set). Gravity is
    fixed: see ``with_gravity``.

    Args:
        tree: Spanning tree, in any joint order; it is copied and never changed.
        constraints: ``Rotor``, ``Gear``, ``Belt``, ``LinearCoupling``, ``Loop``, ``Rod``, ``FourBar``, ``SliderCrank``,
            ``Differential``, ``Coupling``.
        q_reference: Nearly assembled configuration, shape (nq,): it fixes the branch of each loop, the length of rods
            that have none, and ``pc.neutral``. Without it a regular assembled pose near Pinocchio's neutral is taken.
        independent: Names of joints whose velocities shall be independent, for every cluster with loops that holds one
            of them; otherwise the first joints for which the loops are solved well are taken.
        name: By default the tree's name.

    Raises:
        ArgumentTypeError: ``tree`` is not a ``pin.Model``.
        ConstraintError: The constraints are ill-formed or contradict each other.
        UnsupportedJointError: A joint cannot take the part it is given, or is a mimic joint.
        InertiaError: A body's mass is negative, or its inertia is not finite.
        UnknownNameError: A constraint names an unknown joint or body.
        ConfigurationError: ``q_reference`` is not near an assembled pose.
        ShapeError: ``q_reference`` has another size.

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
        "_tables",
        "_topology",
        "_wishes",
        "closures",
        "clusters",
        "constraints",
        "coupling_rows",
        "dependent_joints",
        "idx_v_independent",
        "independent_joints",
        "inertia_tree",
        "name",
        "nq",
        "nv",
        "own_tree",
        "q_reference",
        "rotors",
        "tree",
    )

    constraints: tuple[Any, ...]
    closures: tuple[Closure, ...]
    coupling_rows: tuple[Row, ...]
    clusters: tuple[Cluster, ...]
    rotors: tuple[RotorElement, ...]
    inertia_tree: pin.Model
    name: str
    nq: int
    nv: int
    q_reference: np.ndarray
    _index: np.ndarray
    _params: np.ndarray
    _tables: Tables
    _topology: Topology
    own_tree: pin.Model
    _wishes: tuple[np.ndarray | None, tuple[str, ...] | None]
    independent_joints: tuple[str, ...]
    dependent_joints: tuple[str, ...]

    def __init__(
        self,
        tree: pin.Model,
        constraints: Iterable[Any] = (),
        q_reference: Any = None,
        *,
        independent: Iterable[str] | None = None,
        name: str | None = None,
    ) -> None:
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
        if isinstance(q_reference, str):
            raise ArgumentTypeError(
                f"ClusterModel: q_reference must be a configuration, got {q_reference!r}. A name goes to name=..."
            )
        constraints = tuple(constraints)
        tree = tree.copy()
        _check_tree(tree)
        reference = None if q_reference is None else array("q_reference", q_reference).copy()
        wishes = _names(independent)
        topology = resolve(tree, constraints, reference, wishes)
        rotors = find_rotors(tree, topology)
        inertia_tree = _inertia_tree(tree, rotors, topology.closures)
        tables = pack(tree, inertia_tree, topology, rotors, np.array(tree.gravity.linear))
        free = set(topology.independent.tolist())
        leaders = {j for j in range(1, tree.njoints) if tree.joints[j].nv == 0 or int(tree.joints[j].idx_v) in free}
        fixed = (tables.index, tables.params, tables.work, topology.G, topology.independent, topology.q_reference)
        for table in (*fixed, *(r.row for r in rotors)):
            table.setflags(write=False)
        # copies: read-only arrays have another Numba type than writable ones
        index, params = on_a_page(tables.index, tables.params)
        values = {
            "tree": tree,
            "constraints": constraints,
            "name": tree.name if name is None else str(name),
            "nq": int(tree.nq),
            "nv": int(topology.G.shape[1]),
            "closures": topology.closures,
            "coupling_rows": topology.rows,
            "q_reference": topology.q_reference,
            "idx_v_independent": topology.independent,
            "independent_joints": tuple(tree.names[j] for j in range(1, tree.njoints) if j in leaders),
            "dependent_joints": tuple(tree.names[j] for j in range(1, tree.njoints) if j not in leaders),
            "clusters": describe(tree, topology, constraints, rotors),
            "rotors": rotors,
            "inertia_tree": inertia_tree,
            "_index": index,
            "_params": params,
            "_tables": tables,
            "_topology": topology,
            "own_tree": tree.copy(),
            "_wishes": (reference, wishes),
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
        return remake, (self.own_tree, self.constraints, *self._wishes, self.name)

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
    def coupling_matrix(self) -> np.ndarray:
        """G, shape (tree.nv, nv), read-only, where it does not depend on q.

        Raises:
            ModelError: The model has closed loops: G depends on q.
        """
        if self.closures:
            raise ModelError(
                f"model {self.name!r} has closed loops, so its coupling matrix depends on q. Use "
                "pc.coupling_jacobian(model, data, q)."
            )
        return self._topology.G

    @property
    def gravity(self) -> pin.Motion:
        """A copy of the spatial gravity field; it is fixed at construction, see ``with_gravity``."""
        return pin.Motion(self.own_tree.gravity)

    def with_gravity(self, g: Any) -> ClusterModel:
        """Return a new model under another gravity.

        Args:
            g: Linear acceleration, shape (3,), [m/s^2], or a ``pin.Motion``.

        Raises:
            ShapeError: ``g`` has another size.
            ArgumentTypeError: ``g`` does not hold real numbers.
            ModelError: ``g`` is not finite, or has an angular part.
        """
        tree = self.own_tree.copy()
        if not isinstance(g, pin.Motion):
            linear = array("with_gravity: g", [g] if np.ndim(g) == 0 else g)
            if linear.size != 3:
                raise ShapeError(f"with_gravity: g has size {linear.size}, expected 3 (x, y, z in m/s^2).")
            g = pin.Motion(linear, np.zeros(3))
        tree.gravity = g
        return remake(tree, self.constraints, *self._wishes, self.name)

    def was_changed(self) -> bool:
        """Whether someone changed ``tree`` or ``inertia_tree``, which the algorithms would not see."""
        own = _inertia_tree(self.own_tree, self.rotors, self.closures)
        return bool(self.tree != self.own_tree or self.inertia_tree != own)

    def createData(self) -> ClusterData:
        """Return a workspace for the algorithms; one per thread."""
        from .cluster_data import ClusterData

        return ClusterData(self)

    def joint_idx_v(self, name: str) -> int:
        """Return the first index in v, a and tau of an independent joint.

        Raises:
            UnknownNameError: No joint has that name.
            ModelError: The joint is dependent, so it has no place in v.
        """
        joint = self.own_tree.joints[self.getJointId(name)]
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
            f"clusters={len(self.clusters)}, rotors={len(self.rotors)}"
            + (f", loops={len(self.closures)})" if self.closures else ")")
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
        primitives_of(tree.joints[j], tree.jointPlacements[j], name)  # refuses what has no kernel
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
        name = next(tree.names[j] for j in range(1, tree.njoints) if bad[0] in in_v(tree, j))
        raise InertiaError(f"The armature of joint {name!r} is {tree.armature[bad[0]]}; it must be finite.")
    if not np.all(np.isfinite(tree.gravity.linear)):
        raise ModelError(f"Gravity is {tree.gravity.linear}; it must be finite.")
    if np.any(np.asarray(tree.gravity.angular)):
        raise ModelError(f"Gravity has an angular part {tree.gravity.angular}; only its linear part can be honoured.")


def remake(
    tree: pin.Model,
    constraints: tuple[Any, ...],
    q_reference: np.ndarray | None,
    independent: tuple[str, ...] | None,
    name: str,
) -> ClusterModel:
    """Make a model again, from what the user gave, and without the warnings that the first one gave."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PinClustersWarning)
        return ClusterModel(tree, constraints, q_reference, independent=independent, name=name)


# sweeps know robots by the name of what makes them
remake.__module__ = "pin_clusters.model"


def _names(independent: Any) -> tuple[str, ...] | None:
    if independent is None:
        return None
    given = None if isinstance(independent, (str, bytes)) else tuple(independent)
    if given is None or not all(isinstance(name, str) for name in given):
        raise ArgumentTypeError(f"ClusterModel: independent must be a list of joint names, got {independent!r}.")
    return given


def _inertia_tree(tree: pin.Model, rotors: Sequence[RotorElement], closures: Sequence[Closure]) -> pin.Model:
    """Add the rotors that are no bodies to their carriers, and a sixth of each rod's mass to the bodies of its ends.

    The rest of a rod, two thirds of its mass, moves like its middle (Simpson's rule, exact here): no body does.
    Armature that a rotor replaces is dropped.
    """
    lumped = tree.copy()
    for c in closures:
        if isinstance(c, RodClosure) and c.mass > 0.0:
            for j, p in ((c.joint_a, c.point_a), (c.joint_b, c.point_b)):
                if j:
                    lumped.inertias[j] = lumped.inertias[j] + pin.Inertia(c.mass / 6.0, np.array(p), np.zeros((3, 3)))
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
