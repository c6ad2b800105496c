"""``pc.buildModelFromMJCF``: build a cluster model from an MJCF document."""

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
"""Above this condition number of the dependent joints' Jacobian K_d, a pose of the file is reported as singular."""
MOVED = 1e-6
"""If closing the loops of a pose moves a joint by more than this value, [rad] or [m], the motion is reported."""


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
    """Read an MJCF file, the format of MuJoCo, with all constraints between its joints.

    ``q`` equals MuJoCo's ``qpos``, with the joints in the same order, but quaternions are ordered x, y, z, w. ``v``
    contains the velocities of the independent joints, in Pinocchio's conventions. Each joint of the file is a joint of
    the tree with the same name; several joints of a body form a chain. Bodies and sites are frames. Joints without a
    name are named after their body.

    - ``<connect>`` and ``<weld>`` become exact loop-closure constraints; a warning states that ``solref`` and
      ``solimp`` are ignored. ``<joint>`` and ``<tendon>`` equalities become couplings. A joint that an equality locks
      becomes fixed. A spatial tendon of constant length between two sites becomes a massless rod.
    - Stiffness, damping and dry friction of joints and tendons, and ``gravcomp``, are stored in ``model.passive``.
      ``pc.passive_torque`` computes their torques, and ``pc.simulate`` applies them.
    - The armature of joints and actuators is kept, or converted to rotors (argument ``armature``). The armature of a
      tendon over several joints becomes a rotor. A warning explains how a free joint's armature acts in MuJoCo.
    - A body between a ball joint and a connect can spin about the line between them. Therefore, two hinges
      perpendicular to that line (``name_1``, ``name_2``) replace its ball joint, and a warning is emitted.
    - Driven joints are preferred as independent joints, followed by joints with springs. A coupling between a joint and
      its motor's rotor becomes a ``Gear``.

    Unsupported contents that change the dynamics raise ``LoadError``. If MuJoCo is installed, it expands
    ``<replicate>``, ``<attach>``, ``<composite>`` and ``<flexcomp>``. Contacts, sensors, actuator limits and visual
    geometry have no effect. ``model.tree`` contains the joint limits. Geoms with nonzero ``contype`` or ``conaffinity``
    become shapes of ``model.collision``. Planes become half spaces; meshes become convex hulls.

    Args:
        mjcf_filename: Path of the file, or its XML as text.
        root_joint_name: Name of the root joint, ``"root_joint"`` by default.
        root_joint: Joint that is added between the world and the robot, such as ``pin.JointModelFreeFlyer()``. The
            world must have only one child body, which must be fixed to the world in the file.
        q_reference: Reference pose as in ``ClusterModel``, shape (nq,), [rad] or [m]; by default the keyframe ``home``,
            else the first keyframe, else the pose of the file. If loops are not closed in a keyframe, the loader closes
            them, and a warning names the joint that moves most.
        armature: If an actuator drives a joint with gear N, ``"rotor"`` converts the joint's armature A to
            ``pc.Rotor(joint, N, axial_inertia=A / N**2)`` on the parent body. The rotor's ``Motor`` receives the
            joint's linear damping and dry friction, and the actuator's force limit and constants (``<dcmotor>``).
        keyframe: Name of the keyframe for the reference pose.
        root_folder: Folder that must contain all included files; by default the folder of the file.

    Returns:
        The model. ``model.tree.referenceConfigurations`` contains all keyframes as in the file; call ``pc.project`` to
        close their loops.

    Raises:
        PinClustersError: ``constraints`` do not match the model, or the constraints of the file prevent every motion.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.buildModelFromMJCF('''<mujoco><worldbody><body name="arm"><joint name="hinge" axis="0 1 0"/>
        ... <geom type="capsule" size="0.05" fromto="0 0 0 1 0 0"/></body></worldbody></mujoco>''')
        >>> model.nv, model.independent_joints
        (1, ('hinge',))
    """
    root, constraints, q_reference = as_pinocchio(root_joint, constraints, q_reference, root_joint_name, None)
    extra, named = checked(root.joint if isinstance(root, Root) else root, constraints, independent)
    if armature not in ("keep", "rotor"):
        raise ArgumentTypeError(f"armature must be 'keep' or 'rotor', got {armature!r}.")
    document, bodies = read(mjcf_filename, None if root_folder is None else Path(root_folder))
    return _build(document, bodies, root, extra, q_reference, named, armature == "rotor", keyframe)


def from_mjcf(text: str, name: str, root_joint: Any, q_reference: Any, independent: Any) -> ClusterModel:
    """Load a shipped robot without warnings, because its README documents them; ``root_joint`` is as in ``load``."""
    keeps_base = isinstance(root_joint, str)
    _, named = checked(None if keeps_base else root_joint, (), independent)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PinClustersWarning)
        document, bodies = read(text, None)
        for joint in (j for b in bodies for j in b.joints if j.kind == "free" and not keeps_base):
            joint.held = 0.0
        model = _build(document, bodies, None if keeps_base else root_joint, (), q_reference, named)
    assert model.name == name
    return model


def read(given: Any, folder: Path | None) -> tuple[Document, list[Body]]:
    document = read_document(given, folder)
    try:
        return document, read_bodies(document)
    except NotPlainError as reason:
        folder_of_file, source = document.folder, document.source
        document = read_document(flattened(given, document, reason), folder_of_file)
        document.folder, document.source = folder_of_file, source
        document.notes.messages.append("MuJoCo's compiler expanded the file (replicate, attach, composite).")
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
            raise LoadError("deformable: soft bodies (<flex>) are not supported. Remove them from the file.")
    meshes = Meshes(document)
    inertias = read_inertias(document, bodies, meshes)
    joints = {j.name: j for b in bodies for j in b.joints}
    tendons = read_tendons(document, bodies)
    ties, stated = read_equalities(document, bodies, tendons)
    actuators = motors.read_actuators(document, joints, tendons)
    equations, held = resolve([e for e in stated if e.distance is None])
    for name, x in held.items():
        joints[name].held = x
    notes.about(sorted(held), "these joints are fixed, because an equality locks them: {}.")
    balls = split_balls(document, bodies, ties)
    layout = build_tree(document, bodies, inertias, root_joint)
    motors.add_armature(actuators, layout)
    passive = read_passive(layout, tendons, actuators)
    constraints = build_ties(ties, layout)
    leading = motors.driven(actuators, tendons, layout)
    sprung = [s.along for s in passive if isinstance(getattr(s, "along", None), str) and any(s.stiffness)]
    leading = list(dict.fromkeys([*leading, *sprung]))
    inner = set(layout.tree.parents)
    round_ = [n for n, j in layout.ids.items() if j not in inner and centred(layout.tree, j)]
    for owner, coupling in couplings(equations, joints, leading, independent, round_):
        check_fit({owner: coupling}, layout.tree)
        constraints.append(coupling)
        if isinstance(coupling, Gear):  # The link becomes the independent joint, and the rotor depends on it.
            leading = list(dict.fromkeys(coupling.link if n == coupling.rotor else n for n in leading))
    for equation, tendon in ((e, e.distance) for e in stated if e.distance is not None):
        length = path_length(tendon, layout, layout.q0) + equation.coefficients[0]
        with in_words_of(equation.owner):
            first, second = (layout.sites[site] for site in tendon.sites)
            constraints.append(Rod(first, second, length=length, name=equation.name))
    constraints += motors.tendon_rotors(actuators, tendons, layout)
    if rotors:
        turned, unconverted = motors.rotors(actuators, layout, passive)
        passive = [s for s in passive if not isinstance(s, Spring) or any((*s.stiffness, *s.damping, s.friction))]
        constraints += turned
        notes.about(unconverted, "these joints keep their armature, because no actuator with a gear drives them: {}.")
    keyframes = read_keyframes(layout, balls)
    for name, q in keyframes.items():
        layout.tree.referenceConfigurations[name] = q
    make = partial(
        ClusterModel,
        layout.tree,
        (*constraints, *passive, *given),
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
    """Build the model at a keyframe; if it cannot be assembled and ``asked`` is None, use the pose of the file."""
    if picked is not None:
        name, q = picked
        try:
            model = make(q)
        except ConfigurationError as error:
            if asked is not None:
                raise
            notes.append(f"keyframe {name!r} cannot be assembled and is not used as the reference pose: {error}")
        else:
            _note_motion(notes, f"keyframe {name!r}", model, q)
            return model
    try:
        model = make(q0)
    except ConfigurationError:
        model = make(None)
    else:
        _note_motion(notes, "the pose of the file", model, q0)
    _note_doubtful(notes, model)
    return model


def _note_doubtful(notes: list[str], model: ClusterModel) -> None:
    tree, q = model.tree, model.q_reference
    inside = (model.lowerPositionLimit <= q) & (q <= model.upperPositionLimit)
    looped = [j for x in model.tables.topology.analyses for j in x.joints if tree.nqs[j] == tree.nvs[j] == 1]
    outside = [repr(tree.names[j]) for j in looped if not inside[tree.idx_qs[j]]]
    singular = [x for c in condition(model, model.createData(), q) if not c.K_d < SINGULAR for x in c.cluster]
    problems = [f"is singular (a dead centre) for the loops of {', '.join(map(repr, singular))}"] if singular else []
    problems += [f"is outside the ranges of {len(outside)} joints ({', '.join(outside)})"] if outside else []
    if problems:
        notes.append(
            f"no keyframe can be used, and the pose of the file {' and '.join(problems)}. Pass another reference pose "
            "with q_reference=..., or add a <keyframe>. pc.project(model, q, hold=[JOINT, ...]) closes the loops of a "
            "pose without moving these joints."
        )


def _note_motion(notes: list[str], what: str, model: ClusterModel, q: np.ndarray) -> None:
    motion = np.abs(pin.difference(model.own_tree, q, model.q_reference))
    if motion.max(initial=0.0) > MOVED:
        i = int(np.argmax(motion))
        name = model.names[joint_in_v(model.own_tree, i)]
        notes.append(
            f"{what} was not exactly assembled; its loops were closed, and joint {name!r} moved most, by "
            f"{motion[i]:.2g} (rad or m)."
        )
