"""From the text of an MJCF file to a cluster model."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pinocchio as pin

from ....constraints import Rod as DistanceRod
from ....errors import ArgumentTypeError, ConfigurationError, LoadError, PinClustersWarning
from ....model import ClusterModel
from .._arguments import checked, documented
from .._notes import listing
from .._xml import in_words_of
from . import _actuators as motors
from ._actuators import Tendon, read_tendons
from ._bodies import Body, read_bodies
from ._document import Document, NotPlainError, flattened, read_document
from ._equalities import Relation, build_ties, read_equalities
from ._inertia import read_inertias
from ._keyframes import chosen, read_keyframes
from ._passive import path_length, read_passive
from ._relations import couplings, resolve, scalar_joints
from ._rods import split_balls
from ._tree import Layout, build_tree

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MOVED = 1e-6
"""A keyframe whose joints move more until its loops are closed is said to be open, [rad] or [m]."""


@documented
def buildModelFromMJCF(
    file_or_string: str | os.PathLike[str],
    root_joint: pin.JointModel | None = None,
    constraints: Iterable[Any] = (),
    q_reference: ArrayLike | None = None,
    independent: Iterable[str] | None = None,
    *,
    armature: Literal["keep", "rotor"] = "keep",
    keyframe: str | None = None,
    root_folder: str | os.PathLike[str] | None = None,
) -> ClusterModel:
    """Read an MJCF file, the format of MuJoCo, with all that ties its joints.

    ``q`` has the numbers of MuJoCo's ``qpos``, joint by joint in the same order, but for quaternions, which are
    x, y, z, w here; ``v`` has the independent joints, in Pinocchio's conventions. Each joint of the file is a joint of
    the tree under its own name, several of a body a chain; bodies and sites are frames. Names for what has none:
    joints are called by their bodies.

    - ``<connect>`` and ``<weld>`` become loops, which hold exactly (``solref`` and ``solimp`` are ignored and said
      once), ``<joint>`` and ``<tendon>`` equalities couplings; a joint that one holds at a value becomes fixed; a
      spatial tendon of constant length between two sites a massless rod.
    - Stiffness, damping, dry friction of joints and tendons, and ``gravcomp``, become ``model.passive``: see
      `pc.passive_torque`; `pc.simulate` applies them.
    - Armature of joints and actuators stays armature, or becomes rotors; that of tendons over several joints is exact
      as well. That of a free joint means another force in MuJoCo, and a warning says so.
    - A body that hangs between a ball joint and a connect can spin about itself: its ball joint becomes two hinges
      (``name_1``, ``name_2``) across the line between them, and a warning says so.
    - Driven joints, then joints with springs, are rather independent than others.

    What changes the dynamics and cannot be honoured is an error. ``<replicate>``, ``<attach>``, ``<composite>`` and
    ``<flexcomp>`` are expanded by MuJoCo if it is installed. Contacts, sensors, limits of actuators and all that is
    drawn have no effect; limits of joints stand in ``model.tree``.

    Args:
        file_or_string: Path of the file, or its XML as text.
        root_joint: Joint between the world and the only body in it, such as ``pin.JointModelFreeFlyer()``, if that is
            fixed in the file.
        q_reference: As in `ClusterModel`; by default the keyframe named ``home``, else the first, else the pose of
            the file. A keyframe that is open is closed, and a warning says how far its joints moved.
        armature: ``"rotor"`` turns the armature A of a joint that an actuator drives with gear N into
            ``pc.Rotor(joint, N, axial_inertia=A / N**2)`` on the parent body.
        keyframe: Name of the keyframe that is the reference.
        root_folder: Includes must lie in it; by default the folder of the file.

    Returns:
        The model. All keyframes stand in ``model.tree.referenceConfigurations`` as the file has them; ``pc.project``
        closes what is open.

    Raises:
        PinClustersError: ``constraints`` does not fit the model, or what the file ties cannot move.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.buildModelFromMJCF('''<mujoco><worldbody><body name="arm"><joint name="hinge" axis="0 1 0"/>
        ... <geom type="capsule" size="0.05" fromto="0 0 0 1 0 0"/></body></worldbody></mujoco>''')
        >>> model.nv, model.independent_joints
        (1, ('hinge',))
    """
    given, named = checked(root_joint, constraints, independent)
    if armature not in ("keep", "rotor"):
        raise ArgumentTypeError(f"armature must be 'keep' or 'rotor', got {armature!r}.")
    builder = _builder(file_or_string, None if root_folder is None else Path(root_folder), False)
    return builder.build(root_joint, given, q_reference, named, armature == "rotor", keyframe)


def from_mjcf(text: str, name: str, root_joint: Any, q_reference: Any, independent: Any) -> ClusterModel:
    """Return a robot that ships with the package, without warnings: its README says what they would.

    Args:
        text: The document.
        name: Of the robot.
        root_joint: ``"default"`` for what the file says; else what is above the root body instead, or None.
        q_reference: As in `ClusterModel`.
        independent: As in `ClusterModel`.
    """
    own = isinstance(root_joint, str)
    _, named = checked(None if own else root_joint, (), independent)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PinClustersWarning)
        model = _builder(text, None, not own).build(None if own else root_joint, (), q_reference, named, False, None)
    assert model.name == name
    return model


def _builder(given: Any, folder: Path | None, fixed: bool) -> _Builder:
    document = read_document(given, folder)
    try:
        bodies = read_bodies(document)
    except NotPlainError as reason:
        place, source = document.folder, document.source
        document = read_document(flattened(given, document, reason), place)
        document.folder, document.source = place, source
        document.notes.messages.append("MuJoCo wrote out what its compiler expands (replicate, attach, composite).")
        bodies = read_bodies(document)
    return _Builder(document, bodies, fixed)


class _Builder:
    """Puts a model together."""

    def __init__(self, document: Document, bodies: list[Body], fixed: bool) -> None:
        self.document, self.bodies = document, bodies
        _refuse(document)
        self.inertias = read_inertias(document, bodies)
        self.tendons = read_tendons(document, bodies)
        self.ties, relations = read_equalities(document, bodies)
        self.joints = scalar_joints(bodies)
        self.actuators = motors.read_actuators(document, bodies, self.tendons, self.joints)
        # of a spatial tendon alone: a rod
        self.rods = [r for r in relations if self._is_rod(r)]
        self.equations, self.locked = resolve([r for r in relations if r not in self.rods], self.tendons, bodies)
        for name, x in self.locked.items():
            self.joints[name].held = x
        if fixed:
            self.locked |= {j.name: 0.0 for b in bodies for j in b.joints if j.kind == "free"}
        elif self.locked:
            document.notes.messages.append(f"joints that an equality holds are fixed: {listing(sorted(self.locked))}.")
        self.balls = split_balls(document, bodies, self.ties)

    def _is_rod(self, relation: Relation) -> bool:
        tendon = self.tendons.get(relation.first) if relation.kind == "tendon" and relation.second is None else None
        return tendon is not None and tendon.kind == "spatial" and len(tendon.sites) == 2 and not tendon.wrapped

    def build(
        self, root_joint: Any, given: tuple[Any, ...], q_reference: Any, independent: tuple[str, ...], rotors: bool,
        keyframe: str | None,
    ) -> ClusterModel:  # fmt: skip
        """Return the model."""
        document, notes = self.document, self.document.notes
        layout = build_tree(document, self.bodies, self.inertias, self.locked, root_joint)
        motors.add_armature(self.actuators, layout)
        passive = read_passive(document, self.bodies, self.inertias, self.tendons, self.actuators, layout)
        found = build_ties(self.ties, layout)
        leading = motors.driven(self.actuators, self.tendons, layout)
        sprung = [s.along for s in passive if isinstance(getattr(s, "along", None), str) and any(s.stiffness)]
        leading = list(dict.fromkeys([*leading, *sprung]))
        for owner, coupling in couplings(self.equations, self.joints, leading, independent):
            with in_words_of(owner):
                _check(coupling, layout.tree)
            found.append(coupling)
        found += [_distance(r, self.tendons, layout) for r in self.rods]
        found += motors.tendon_rotors(self.actuators, self.tendons, layout)
        if rotors:
            turned, left = motors.rotors(self.actuators, layout)
            found += turned
            if left:
                notes.messages.append(
                    f"armature that no gear of an actuator belongs to stays armature: {listing(left)}."
                )
        keyframes = read_keyframes(document, self.bodies, self.balls, layout)
        for name, q in keyframes.items():
            layout.tree.referenceConfigurations[name] = q
        picked = chosen(keyframes, keyframe)
        model = self._model(layout, (*found, *passive, *given), q_reference, independent, leading, picked, keyframe)
        notes.warn(document.name, stacklevel=3)
        return model

    def _model(
        self, layout: Layout, constraints: tuple[Any, ...], q_reference: Any, independent: tuple[str, ...],
        leading: list[str], picked: tuple[str, np.ndarray] | None, asked: str | None,
    ) -> ClusterModel:  # fmt: skip
        def make(reference: Any) -> ClusterModel:
            return ClusterModel(
                layout.tree,
                constraints,
                reference,
                independent=independent or None,
                preferred=leading,
                name=self.document.name,
            )

        notes = self.document.notes.messages
        if q_reference is not None:
            return make(q_reference)
        if picked is not None:
            name, q = picked
            try:
                model = make(q)
            except ConfigurationError as error:
                if asked is not None:
                    raise
                notes.append(f"keyframe {name!r} is no assembled pose and not the reference: {error}")
            else:
                _say_moved(notes, f"keyframe {name!r}", model, q)
                return model
        try:
            model = make(layout.q0)
        except ConfigurationError:
            return make(None)
        _say_moved(notes, "the pose of the file", model, layout.q0)
        return model


def _say_moved(notes: list[str], what: str, model: ClusterModel, q: np.ndarray) -> None:
    """Say how far the joints of a pose moved until it was assembled."""
    apart = np.abs(pin.difference(model.own_tree, q, model.q_reference))
    if apart.max(initial=0.0) > MOVED:
        i = int(np.argmax(apart))
        tree = model.own_tree
        name = next(tree.names[j] for j in range(1, tree.njoints) if 0 <= i - tree.idx_vs[j] < tree.nvs[j])
        notes.append(
            f"{what} is not quite assembled; it was closed, for which joint {name!r} moved most, by {apart[i]:.2g} "
            "(rad or m)."
        )


def _refuse(document: Document) -> None:
    """Refuse sections that make bodies or forces which are not read."""
    for element in document.sections["deformable"]:
        if element.tag == "flex":
            raise LoadError("deformable: <flex> bodies are soft, and not read here. Remove them, or the robot's rest.")


def _check(coupling: Any, tree: pin.Model) -> None:
    """Resolve a coupling, so that what is refused is said of its element."""
    for method in ("rows", "closures"):
        if hasattr(coupling, method):
            getattr(coupling, method)(tree)


def _distance(relation: Relation, tendons: Mapping[str, Tendon], layout: Layout) -> DistanceRod:
    tendon = tendons[relation.first]
    length = path_length(tendon, layout, layout.q0) + relation.coefficients[0]
    with in_words_of(f"equality {relation.name!r}"):
        first, second = (layout.sites[s] for s in tendon.sites)
        return DistanceRod(first, second, length=length, name=relation.name)
