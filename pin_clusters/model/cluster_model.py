"""Defines the cluster model: a spanning tree, constraints between its joints, and the tables that kernels read."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np
import pinocchio as pin

from .._support.arrays import ArrayLike, array, joint_names, on_a_page
from ..errors import ArgumentTypeError, ModelError, PinClustersWarning, ShapeError, UnknownNameError, did_you_mean
from .attachments import Attachments, checked_collision
from .cluster_data import ClusterData
from .editing import jointed, locked
from .elements import describe, find_rotors
from .fixed import FixedMotion
from .motors import with_motors
from .packing import pack, pack_tree
from .parts import checked_constraints
from .passive import passive_forces
from .plausibility import check_rotors
from .topology import resolve
from .tree_attributes import instead_of_setting
from .trees import check_tree, inertia_tree_of


class ClusterModel(Attachments):
    """A robot with exact transmissions: a ``pin.Model`` and constraints between its joints.

    ``q`` contains every joint of the tree (``model.nq == model.tree.nq``) and satisfies the couplings and loops. ``v``,
    ``a`` and ``tau`` contain only the independent joints (``model.nv``), in the order of their ``idx_v`` in the tree.
    Without constraints, all results equal Pinocchio's.

    The model is immutable and can be pickled. The algorithms read private copies of the tree, so changes to
    ``model.tree`` do not affect the results. If ``data.check`` is True, calls after such a change raise an error.
    Gravity is fixed at construction; ``with_gravity`` returns a model with a different gravity vector.

    Args:
        tree: Spanning tree, in any joint order. The constructor copies the tree.
        constraints: Instances of ``Rotor``, ``Gear``, ``Belt``, ``LinearCoupling``, ``Loop``, ``Rod``, ``FourBar``,
            ``SliderCrank``, ``Differential`` and ``Coupling``. Instances of ``Spring``, ``GravityCompensation`` and
            ``Motor`` are also accepted; they do not constrain the motion.
        q_reference: Configuration in which all loops are nearly closed, shape (nq,), [rad] or [m]. It determines the
            assembly mode (branch) of each loop, the length of each rod without ``length``, and ``pc.neutral``. The
            default is a nonsingular configuration with closed loops near Pinocchio's neutral configuration.
        independent: Names of joints whose velocities must be independent. If a cluster with loops contains any of these
            joints, they replace the automatic choice in this cluster.
        preferred: Names of joints to prefer in the automatic choice of independent joints, in order of priority, for
            example motors, then springs. They are chosen unless other joints reduce the condition number of the loop
            equations by a factor of ten. Joints with limits have the next priority.
        name: Name of the model; the default is the tree's name.
        collision: Collision shapes, a ``pin.GeometryModel`` for ``tree``. Shapes on joint 0 are fixed to the world. The
            constructor copies the shapes.

    Attributes:
        tree: The spanning tree, a ``pin.Model``.
        constraints: The constraints, a tuple.
        nq: Size of q.
        nv: Number of independent velocities.
        q_reference: Reference configuration, in which all loops are closed, shape (nq,), [rad] or [m].
        clusters: Groups of joints that are coupled by constraints, a tuple of ``Cluster``.
        rotors: All rotors, a tuple of ``RotorElement``.
        independent_joints: Names of the independent joints, in the order of v.
        dependent_joints: Names of the dependent joints.
        idx_v_independent: Index of each independent velocity in the tree's velocity, shape (nv,).
        inertia_tree: The tree as a ``pin.Model``, including the inertia of rotors and rods that are not bodies.
        passive: Springs and other passive forces; None if there are none.
        tables: A ``Tables`` object with the arrays that the kernels read; its attributes may change between versions.

    Raises:
        ArgumentTypeError: ``tree`` is not a ``pin.Model``.
        ConstraintError: A constraint is invalid, or constraints contradict each other.
        UnsupportedJointError: A constraint does not support the type of a joint, or a joint is a mimic joint.
        InertiaError: A mass is negative, an inertia is not finite, or a body has less inertia than its rotors.
        UnknownNameError: A constraint or a shape refers to an unknown joint, body or frame.
        ConfigurationError: ``q_reference`` is not near a configuration in which all loops are closed.
        ShapeError: The size of ``q_reference`` is not nq.
        ModelError: ``__init__`` is called on an existing model, or the placement of a shape is not a rigid transform.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> tree = pin.buildSampleModelManipulator()
        >>> model = pc.ClusterModel(tree, [pc.Rotor("elbow_joint", 100.0, axial_inertia=1e-5)])
        >>> model.nq == tree.nq and model.nv == tree.nv
        True
    """

    __slots__ = ()

    def __init__(
        self,
        tree: pin.Model,
        constraints: Iterable[Any] = (),
        q_reference: ArrayLike | None = None,
        *,
        independent: Iterable[str] | None = None,
        preferred: Iterable[str] = (),
        name: str | None = None,
        collision: pin.GeometryModel | None = None,
    ) -> None:
        if hasattr(self, "nq"):
            raise ModelError(f"ClusterModel is immutable: {self.name!r} already exists. Create another ClusterModel.")
        if not isinstance(tree, pin.Model):
            raise ArgumentTypeError(
                f"ClusterModel: tree must be a pinocchio.Model, got {type(tree).__name__}."
                + (" Use this ClusterModel directly." if isinstance(tree, ClusterModel) else "")
            )
        constraints = checked_constraints("ClusterModel", constraints)
        if isinstance(q_reference, str):
            raise ArgumentTypeError(
                f"ClusterModel: q_reference must be a configuration, got {q_reference!r}. Pass a name as name=..."
            )
        tree = tree.copy()
        check_tree(tree)
        shapes = checked_collision(tree, collision)
        reference = None if q_reference is None else array("q_reference", q_reference).copy()
        required = None if independent is None else joint_names("ClusterModel: independent", independent)
        preferred_names = () if preferred is None else joint_names("ClusterModel: preferred", preferred)
        topology = resolve(tree, constraints, reference, required, preferred_names)
        rotors = with_motors(find_rotors(tree, topology), constraints)
        check_rotors(tree, rotors, topology)
        inertia_tree = inertia_tree_of(tree, rotors, topology.closures)
        packed = pack_tree(tree, inertia_tree, topology, rotors)
        tables = pack(tree, inertia_tree, topology, rotors, np.array(tree.gravity.linear), packed)
        free = set(topology.independent.tolist())
        leaders = {j for j in range(1, tree.njoints) if tree.joints[j].nv == 0 or tree.joints[j].idx_v in free}
        read_only = (tables.index, tables.params, tables.work, topology.G, topology.independent, topology.q_reference)
        for table in (*read_only, *(r.row for r in rotors)):
            table.setflags(write=False)
        # The arrays are copied because Numba assigns a different type to read-only arrays.
        index, params = on_a_page(tables.index, tables.params)
        values = {
            "tree": tree,
            "constraints": constraints,
            "name": tree.name if name is None else str(name),
            "nq": tree.nq,
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
            "passive": passive_forces(tree, constraints, rotors),
            "tables": dataclasses.replace(tables, index=index, params=params),
            "_collision": shapes,
            "own_tree": tree.copy(),
            "_requested": (reference, required),
            "preferred": preferred_names,
            "_functions": None,
            "_movers": None,
            "_manifold": None,
            "_varies": False,
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def __setattr__(self, key: str, value: object) -> NoReturn:
        raise AttributeError(f"ClusterModel is immutable: {key!r} cannot be set. {instead_of_setting(type(self), key)}")

    def __delattr__(self, key: str) -> NoReturn:
        raise AttributeError(f"ClusterModel is immutable: {key!r} cannot be deleted.")

    def __reduce__(self) -> tuple[Any, ...]:
        shapes = (self._collision,) if self._collision.ngeoms else ()
        arguments = self.own_tree, self.constraints, *self._requested, self.name, self.preferred, *shapes
        recipe = self._recipe()
        if recipe is None:
            return (varied if self._varies else remake), arguments
        return _remake_special, (arguments, recipe)

    def _with_functions(self, make: Callable[[ClusterModel], Any]) -> ClusterModel:
        clone = self._but(_varies=False)
        object.__setattr__(clone, "_functions", make(clone))
        return clone

    @property
    def specialised(self) -> tuple[Any, ...]:
        """Kind, size and compile time of the code of each function that was called or passed to ``pc.specialise``."""
        return () if self._functions is None else self._functions.told()

    def __copy__(self) -> ClusterModel:
        return self

    def __deepcopy__(self, memo: object) -> ClusterModel:
        return self

    def copy(self) -> ClusterModel:
        """Return the model itself, because models are immutable."""
        return self

    @property
    def coupling_matrix(self) -> np.ndarray:
        """Coupling matrix G, shape (tree.nv, nv), read-only. The velocity of the tree is G v.

        Raises:
            ModelError: The model has closed loops, so G depends on q.
        """
        if self.closures:
            raise ModelError(
                f"model {self.name!r} has closed loops, so its coupling matrix depends on q. Use "
                "pc.coupling_jacobian(model, data, q)."
            )
        return self.tables.topology.G

    @property
    def gravity(self) -> pin.Motion:
        """Gravitational acceleration, [m/s^2]. It is fixed at construction; see ``with_gravity``."""
        return FixedMotion(self.own_tree.gravity)

    def with_gravity(self, g: ArrayLike) -> ClusterModel:
        """Return the same robot with a different gravity.

        Args:
            g: Linear acceleration, shape (3,), [m/s^2], or a ``pin.Motion``.

        Returns:
            A new model.

        Raises:
            ShapeError: The size of ``g`` is not 3.
            ArgumentTypeError: ``g`` does not contain real numbers.
            ModelError: ``g`` is not finite or has an angular part.

        Example:
            >>> import pin_clusters as pc
            >>> float(pc.load("four_bar").with_gravity([0.0, 0.0, -1.62]).gravity.linear[2])
            -1.62
        """
        tree = self.own_tree.copy()
        if not isinstance(g, pin.Motion):
            linear = array("with_gravity: g", [g] if np.ndim(g) == 0 else g)
            if linear.size != 3:
                raise ShapeError(f"with_gravity: g has size {linear.size}, expected 3 (x, y, z in m/s^2).")
            g = pin.Motion(linear, np.zeros(3))
        tree.gravity = g
        changed = alike(self, tree)
        recipe = self._recipe()
        restored: ClusterModel = changed if recipe is None else recipe.restore(changed)
        return restored

    def with_locked(self, joints: Iterable[Any], q: ArrayLike) -> ClusterModel:
        """Return the same robot with some joints locked at their positions in q.

        The body of each locked joint is merged into its parent body; all frames and shapes are kept. Constraints
        between the other joints are kept. A rotor that is driven only by locked joints is merged into its carrier.

        Args:
            joints: Names or ids of the joints to lock. If a constraint couples several joints (dependent ones
                included), lock all of these joints or none.
            q: Configuration of the whole tree, shape (nq,), [rad] or [m]; only the entries of locked joints are read.

        Returns:
            A new model without the locked joints. Its q contains the entries of the other joints, in the same order.

        Raises:
            UnknownNameError: No joint has one of the names.
            ConstraintError: A constraint couples locked joints to joints that are not locked.
            ShapeError: The size of q is not nq.
            ModelError: All joints are locked.

        Example:
            >>> import pin_clusters as pc
            >>> model = pc.load("mini_cheetah")  # doctest: +SKIP
            >>> model.with_locked(["FR_knee", "FR_knee_rotor"], pc.neutral(model)).nv  # doctest: +SKIP
            17
        """
        reduced: ClusterModel = locked(self, joints, q)[0]
        return reduced

    def with_joint(
        self,
        name: str,
        joint: Any,
        *,
        parent: str | None = None,
        placement: Any = None,
        before: str | None = None,
        inertia: pin.Inertia | None = None,
        constraints: Iterable[Any] = (),
    ) -> ClusterModel:
        """Return the same robot with an additional joint on a body, or between an existing joint and its parent.

        If ``parent`` is given, the entries of the new joint are the last entries of q and v. If ``before`` is given,
        they directly precede the entries of the existing joint. To model a series-elastic actuator, insert a joint with
        a spring before a motor's joint: the coordinate of the existing joint is then the motor's angle, and the
        coordinate of the new joint is the deflection of the spring. Rotors stay on their carriers. The limits of the
        new joint are Pinocchio's defaults. In all named configurations, the new joint is in its neutral position.

        Args:
            name: Name of the new joint and of its frame.
            joint: Joint model of Pinocchio, such as ``pin.JointModelRY()``.
            parent: Joint, body, frame or ``"universe"`` that carries the new joint.
            placement: Placement of the new joint relative to ``parent``; the default is the identity. If ``before`` is
                given, the placement is relative to the parent of the existing joint, and the default is the existing
                joint's placement. The frame of the existing joint does not move.
            before: Name of the existing joint before which the new joint is inserted.
            inertia: Inertia of the new body in the frame of the new joint, [kg], [m] and [kg m^2]; zero by default.
            constraints: Constraints to add, such as a ``Rod`` or a ``Spring``.

        Returns:
            A new model.

        Raises:
            ArgumentTypeError: Neither or both of ``parent`` and ``before`` are given, or an argument has a wrong type.
            UnknownNameError: The model has no joint, body or frame with the name given as ``parent`` or ``before``.
            ModelError: The name is already used.
            ConstraintError: The placement is not a rigid transform, or a constraint does not fit the new tree.

        Example:
            >>> import pinocchio as pin, pin_clusters as pc
            >>> tree = pin.buildSampleModelManipulator()
            >>> model = pc.ClusterModel(tree, [pc.Rotor("elbow_joint", 9.0, axial_inertia=1e-4)])
            >>> forces = [pc.Spring("elbow_spring", stiffness=300.0)]
            >>> elastic = model.with_joint("elbow_spring", pin.JointModelRY(), before="elbow_joint", constraints=forces)
            >>> elastic.nv - model.nv, elastic.rotors[0].carrier
            (1, 'shoulder3_joint')
        """
        extended: ClusterModel = jointed(self, name, joint, parent, placement, before, inertia, constraints)
        return extended

    def was_changed(self) -> bool:
        """Return whether ``tree`` or ``inertia_tree`` was modified; the algorithms ignore such changes."""
        expected = inertia_tree_of(self.own_tree, self.rotors, self.closures)
        return bool(self.tree != self.own_tree or self.inertia_tree != expected)

    def createData(self) -> ClusterData:
        """Return a new workspace for the algorithms; each thread needs its own workspace."""
        return ClusterData(self)

    def check(self, data: Any) -> bool:
        """Return whether ``data`` is a workspace of this model."""
        return getattr(data, "model", None) is self

    def joint_idx_v(self, name: str) -> int:
        """Return the first index in v, a and tau of an independent joint.

        Raises:
            UnknownNameError: No joint has this name.
            ModelError: The joint is dependent, so it has no index in v.
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
        return (
            f"ClusterModel({self.name!r}, nq={self.nq}, nv={self.nv}, joints={self.njoints - 1}, "
            f"clusters={len(self.clusters)}, rotors={len(self.rotors)}"
            + (f", loops={len(self.closures)})" if self.closures else ")")
        )

    def __str__(self) -> str:
        spin = sum(r.spins for r in self.rotors)
        head = (
            f"ClusterModel {self.name!r}: nq = {self.nq}, nv = {self.nv} (spanning tree: {self.tree.nv}), "
            f"{len(self.clusters)} clusters, {len(self.rotors)} rotors ({spin} spin elements)"
        )
        return "\n".join([head, *(f"  {c}" for c in self.clusters)])


def check_model(
    model: Any, caller: str = "", cure: str = "Create one: pc.ClusterModel(tree, constraints) or pc.load(name)."
) -> None:
    if not isinstance(model, ClusterModel):
        if isinstance(model, pin.Model):
            cure = "Wrap it: model = pc.ClusterModel(model, constraints)."
        prefix = caller and f"{caller}: "
        raise ArgumentTypeError(f"{prefix}model must be a ClusterModel, got {type(model).__name__}. {cure}")


def remake(
    tree: pin.Model,
    constraints: tuple[Any, ...],
    q_reference: np.ndarray | None,
    independent: tuple[str, ...] | None,
    name: str,
    preferred: tuple[str, ...] = (),
    collision: pin.GeometryModel | None = None,
) -> ClusterModel:
    """Rebuild a model from the user's arguments, without repeating its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PinClustersWarning)
        return ClusterModel(
            tree,
            constraints,
            q_reference,
            independent=independent,
            preferred=preferred,
            name=name,
            collision=collision,
        )


def alike(
    model: ClusterModel,
    tree: pin.Model | None = None,
    constraints: tuple[Any, ...] | None = None,
    independent: tuple[str, ...] | None = None,
    make: Callable[..., ClusterModel] | None = None,
) -> ClusterModel:
    reference, names = model._requested if independent is None else (model.q_reference, independent)
    parts = model.own_tree if tree is None else tree, model.constraints if constraints is None else constraints
    return (make or remake)(*parts, reference, names, model.name, model.preferred, model._collision)


def varied(*arguments: Any) -> ClusterModel:
    """Rebuild a model and mark its parameters as variable, so that compiled code reads them from the tables."""
    model = remake(*arguments)
    object.__setattr__(model, "_varies", True)
    return model


def _remake_special(arguments: tuple[Any, ...], recipe: Any) -> ClusterModel:
    restored: ClusterModel = recipe.restore(remake(*arguments))
    return restored


# Sweeps identify a robot by the name of the function that rebuilds it.
remake.__module__ = "pin_clusters.model"
