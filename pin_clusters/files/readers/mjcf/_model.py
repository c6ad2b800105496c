"""From the text of an MJCF file to a cluster model."""

import os
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ...._support.trees import centred, joint_in_v
from ....algorithms.dynamics.condition import condition
from ....constraints import Gear, Rod, Spring
from ....errors import ArgumentTypeError, ConfigurationError, LoadError, PinClustersWarning
from ....model import ClusterModel
from .._arguments import Root, as_pinocchio, checked, documented
from .._independence import check_fit
from .._shapes import collision_of
from .._xml import in_words_of
from . import _actuators as motors
from ._actuators import read_tendons
from ._bodies import Body, read_bodies
from ._document import Document, NotPlainError, flattened, read_document
from ._equalities import build_ties, read_equalities
from ._inertia import read_inertias
from ._keyframes import chosen, read_keyframes
from ._meshes import Meshes
from ._passive import path_length, read_passive
from ._relations import couplings, resolve
from ._rods import split_balls
from ._shapes import read_shapes
from ._tree import build_tree

SINGULAR = 1e6
"""Above this condition of the dependent joints a pose of the file is called a dead centre."""
MOVED = 1e-6
"""A keyframe whose joints move more until its loops are closed is said to be open, [rad] or [m]."""


@documented
def buildModelFromMJCF(
    mjcf_filename: str | os.PathLike[str],
    root_joint: pin.JointModel | None = None,
    constraints: Iterable[Any] = (),
    q_reference: ArrayLike | None = None,
    independent: Iterable[str] | None = None,
    *,
    armature: Literal["keep", "rotor"] = "keep",
    keyframe: str | None = None,
    root_folder: str | os.PathLike[str] | None = None,
    root_joint_name: str | None = None,
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
      ``pc.passive_torque``; ``pc.simulate`` applies them.
    - Armature of joints and actuators stays armature, or becomes rotors; that of tendons over several joints is exact
      as well. That of a free joint means another force in MuJoCo, and a warning says so.
    - A body that hangs between a ball joint and a connect can spin about itself: its ball joint becomes two hinges
      (``name_1``, ``name_2``) across the line between them, and a warning says so.
    - Driven joints, then joints with springs, are rather independent than others; rotors of motors follow, as gears.

    What changes the dynamics and cannot be honoured is an error. ``<replicate>``, ``<attach>``, ``<composite>`` and
    ``<flexcomp>`` are expanded by MuJoCo if it is installed. Contacts, sensors, limits of actuators and all that is
    drawn have no effect; limits of joints stand in ``model.tree``. Geoms that may collide (``contype`` or
    ``conaffinity`` is not 0) are shapes of ``model.collision``: a plane is a half space, a mesh its convex hull.

    Args:
        mjcf_filename: Path of the file, or its XML as text.
        root_joint_name: Name of the root joint, ``"root_joint"`` by default.
        root_joint: Joint between the world and the only body in it, such as ``pin.JointModelFreeFlyer()``, if that is
            fixed in the file.
        q_reference: As in ``ClusterModel``; by default the keyframe named ``home``, else the first, else the pose of
            the file. A keyframe that is open is closed, and a warning says how far its joints moved.
        armature: ``"rotor"`` turns the armature A of a joint that an actuator drives with gear N into
            ``pc.Rotor(joint, N, axial_inertia=A / N**2)`` on the parent body; linear damping and dry friction of that
            joint, and largest force and constants of the actuator (``<dcmotor>``), become its ``Motor``.
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
    root, constraints, q_reference = as_pinocchio(root_joint, constraints, q_reference, root_joint_name, None)
    given, named = checked(root.joint if isinstance(root, Root) else root, constraints, independent)
    if armature not in ("keep", "rotor"):
        raise ArgumentTypeError(f"armature must be 'keep' or 'rotor', got {armature!r}.")
    document, bodies = _read(mjcf_filename, None if root_folder is None else Path(root_folder))
    return _build(document, bodies, root, given, q_reference, named, armature == "rotor", keyframe)


def from_mjcf(text: str, name: str, root_joint: Any, q_reference: Any, independent: Any) -> ClusterModel:
    """Return a robot that ships with the package, without warnings: its README says what they would.

    ``root_joint`` is ``"default"`` for what the file says; else what is above the root body instead, or None.
    """
    own = isinstance(root_joint, str)
    _, named = checked(None if own else root_joint, (), independent)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PinClustersWarning)
        document, bodies = _read(text, None)
        for joint in (j for b in bodies for j in b.joints if j.kind == "free" and not own):
            joint.held = 0.0
        model = _build(document, bodies, None if own else root_joint, (), q_reference, named)
    assert model.name == name
    return model


def _read(given: Any, folder: Path | None) -> tuple[Document, list[Body]]:
    """Read a document and its bodies; what MuJoCo's compiler expands, it writes out first."""
    document = read_document(given, folder)
    try:
        return document, read_bodies(document)
    except NotPlainError as reason:
        place, source = document.folder, document.source
        document = read_document(flattened(given, document, reason), place)
        document.folder, document.source = place, source
        document.notes.messages.append("MuJoCo wrote out what its compiler expands (replicate, attach, composite).")
        return document, read_bodies(document)


def _build(
    document: Document,
    bodies: list[Body],
    root_joint: Any,
    given: tuple[Any, ...],
    q_reference: Any,
    independent: tuple[str, ...],
    rotors: bool = False,
    keyframe: str | None = None,
) -> ClusterModel:
    notes = document.notes
    for element in document.sections["deformable"]:
        if element.tag == "flex":
            raise LoadError("deformable: <flex> bodies are soft, and not read here. Remove them, or the robot's rest.")
    meshes = Meshes(document)
    inertias = read_inertias(document, bodies, meshes)
    joints = {j.name: j for b in bodies for j in b.joints}
    tendons = read_tendons(document, bodies)
    ties, stated = read_equalities(document, bodies, tendons)
    actuators = motors.read_actuators(document, joints, tendons)
    equations, held = resolve([e for e in stated if e.distance is None])
    for name, x in held.items():
        joints[name].held = x
    notes.about(sorted(held), "joints that an equality holds are fixed: {}.")
    balls = split_balls(document, bodies, ties)
    layout = build_tree(document, bodies, inertias, root_joint)
    motors.add_armature(actuators, layout)
    passive = read_passive(layout, tendons, actuators)
    found = build_ties(ties, layout)
    leading = motors.driven(actuators, tendons, layout)
    sprung = [s.along for s in passive if isinstance(getattr(s, "along", None), str) and any(s.stiffness)]
    leading = list(dict.fromkeys([*leading, *sprung]))
    inner = set(layout.tree.parents)
    round_ = [n for n, j in layout.ids.items() if j not in inner and centred(layout.tree, j)]
    for owner, coupling in couplings(equations, joints, leading, independent, round_):
        check_fit({owner: coupling}, layout.tree)
        found.append(coupling)
        if isinstance(coupling, Gear):  # what the motor drives leads
            leading = list(dict.fromkeys(coupling.link if n == coupling.rotor else n for n in leading))
    for equation, tendon in ((e, e.distance) for e in stated if e.distance is not None):
        length = path_length(tendon, layout, layout.q0) + equation.coefficients[0]
        with in_words_of(equation.owner):
            first, second = (layout.sites[site] for site in tendon.sites)
            found.append(Rod(first, second, length=length, name=equation.name))
    found += motors.tendon_rotors(actuators, tendons, layout)
    if rotors:
        turned, left = motors.rotors(actuators, layout, passive)
        passive = [s for s in passive if not isinstance(s, Spring) or any((*s.stiffness, *s.damping, s.friction))]
        found += turned
        notes.about(left, "armature that no gear of an actuator belongs to stays armature: {}.")
    keyframes = read_keyframes(layout, balls)
    for name, q in keyframes.items():
        layout.tree.referenceConfigurations[name] = q
    make = partial(
        ClusterModel,
        layout.tree,
        (*found, *passive, *given),
        independent=independent or None,
        preferred=leading,
        name=document.name,
        collision=collision_of(layout.tree, read_shapes(document, bodies, meshes)),
    )
    picked = chosen(keyframes, keyframe)
    model = (
        make(q_reference) if q_reference is not None else _at_rest(make, layout.q0, picked, keyframe, notes.messages)
    )
    notes.warn(document.name, stacklevel=3)
    return model


def _at_rest(
    make: Callable[[Any], ClusterModel],
    q0: np.ndarray,
    picked: tuple[str, np.ndarray] | None,
    asked: str | None,
    notes: list[str],
) -> ClusterModel:
    """Return the model at a keyframe; if that is no assembled pose and was not asked for, in the pose of the file."""
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
        model = make(q0)
    except ConfigurationError:
        model = make(None)
    else:
        _say_moved(notes, "the pose of the file", model, q0)
    _say_doubtful(notes, model)
    return model


def _say_doubtful(notes: list[str], model: ClusterModel) -> None:
    """Say that loops have a reference pose that is a dead centre, or outside of the ranges of their joints."""
    tree, q = model.tree, model.q_reference
    inside = (model.lowerPositionLimit <= q) & (q <= model.upperPositionLimit)
    looped = [j for x in model.tables.topology.analyses for j in x.joints if tree.nqs[j] == tree.nvs[j] == 1]
    outside = [repr(tree.names[j]) for j in looped if not inside[tree.idx_qs[j]]]
    singular = [x for c in condition(model, model.createData(), q) if not c.K_d < SINGULAR for x in c.cluster]
    said = [f"is a dead centre of the loops of {', '.join(map(repr, singular))}"] if singular else []
    said += [f"is outside of the ranges of {len(outside)} joints ({', '.join(outside)})"] if outside else []
    if said:
        notes.append(
            f"there is no keyframe to take, and the pose of the file {' and '.join(said)}. Give another reference "
            "pose: q_reference=..., or a <keyframe>. pc.project(model, q, hold=[JOINT, ...]) closes the loops of one "
            "with these joints held."
        )


def _say_moved(notes: list[str], what: str, model: ClusterModel, q: np.ndarray) -> None:
    """Say how far the joints of a pose moved until it was assembled."""
    apart = np.abs(pin.difference(model.own_tree, q, model.q_reference))
    if apart.max(initial=0.0) > MOVED:
        i = int(np.argmax(apart))
        name = model.names[joint_in_v(model.own_tree, i)]
        notes.append(
            f"{what} is not quite assembled; it was closed, for which joint {name!r} moved most, by {apart[i]:.2g} "
            "(rad or m)."
        )
