"""The robots of the curves, chains and trees of the links of ``geared_chain``; approximate robots; what is timed."""

import itertools
import warnings
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pinocchio as pin

from ...._support.trees import in_v
from ....algorithms._shared import force_columns as _columns
from ....algorithms.dynamics.aba import aba
from ....approximations.armature import armature_model, reflected_inertia
from ....compiler import entry_points as kernels
from ....constraints import LinearCoupling, Rotor
from ....errors import ModelError, PinClustersError, PinClustersWarning
from ....files.readers.chains import RATIO
from ....model import ClusterModel, depth_first
from ....model.configuration import neutral
from ....verification.baselines import projection
from ....verification.timing import Call

AXIAL = 1e-4
"""Inertia of a rotor about its axis, that of ``geared_chain``, [kg m^2]."""
_LINK = pin.Inertia(1.0, np.array([0.5, 0.0, 0.0]), np.diag([0.0, 0.0, 1.0]))
_BALL = pin.Inertia(1.0, np.array([0.5, 0.0, 0.0]), np.diag([0.02, 0.1, 0.1]))


def _tree(name: str, joint: type, body: pin.Inertia, places: Iterable[tuple[int, pin.SE3]]) -> pin.Model:
    """Return a tree of equal joints and bodies, each at a place on the body of a joint; the world is 0."""
    tree = pin.Model()
    tree.name = name
    tree.gravity.linear = np.array([9.81, 0.0, 0.0])
    for parent, place in places:
        j = tree.addJoint(parent, joint(), place, f"joint_{tree.njoints}")
        tree.addJointFrame(j)
        tree.appendBodyToJoint(j, body, pin.SE3.Identity())
    return tree


def _along(first: bool, turn: float = 0.0) -> pin.SE3:
    """Return the placement of a link at the end of another one, turned about its length."""
    rotation = pin.AngleAxis(turn, np.array([1.0, 0.0, 0.0])).toRotationMatrix()
    return pin.SE3(rotation, np.array([0.0 if first else 1.0, 0.0, 0.0]))


def _geared(tree: pin.Model) -> ClusterModel:
    """Return the model with a rotor for every joint, carried by the link before it."""
    rotors = [Rotor(name, RATIO, axial_inertia=AXIAL) for name in list(tree.names)[1:]]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*can hold", PinClustersWarning)  # the links have no thickness
        return ClusterModel(tree, rotors)


def _row(name: str, n: int) -> pin.Model:
    """Return the tree of ``n`` links one behind the other."""
    return _tree(name, pin.JointModelRZ, _LINK, ((k, _along(k == 0)) for k in range(n)))


def chain(n: int) -> ClusterModel:
    """Return the geared chain of ``n`` links whose rotors are no bodies of the tree."""
    return _geared(_row(f"chain of {n}", n))


def branched(n: int, branches: int) -> ClusterModel:
    """Return a geared link that carries branches of ``n / branches`` geared links, each turned about its length."""
    each = n // branches
    places = [(0, _along(True))]
    for b, k in itertools.product(range(branches), range(each)):
        place = _along(False, 2.0 * np.pi * b / branches + 0.5 * k)
        places.append((len(places) if k else 1, place))
    return _geared(_tree(f"{branches} branches of {each}", pin.JointModelRZ, _LINK, places))


def grouped(n: int, size: int) -> ClusterModel:
    """Return a chain of ``n`` links in groups, the last of each of which keeps the orientation of the one before it.

    That one coupling ties ``size`` bodies into a cluster with ``size - 1`` degrees of freedom; a group of one is free.
    """
    ties = []
    for first in range(1, n, size) if size > 1 else ():
        leaders = {f"joint_{j}": -1.0 for j in range(first, first + size - 1)}
        ties.append(LinearCoupling(f"joint_{first + size - 1}", leaders))
    return ClusterModel(_row(f"clusters of {size}", n), ties)


def balls(parents: Sequence[int]) -> pin.Model:
    """Return bodies on spherical joints, each hanging from the body of a number, from 1, or from the world, 0."""
    count: dict[int, int] = {}
    fan = np.array([0.0, 0.8, 0.6])
    places = []
    for parent in parents:
        k = count[parent] = count.get(parent, -1) + 1
        turn = pin.AngleAxis(0.9 * k, fan).toRotationMatrix()
        places.append((parent, pin.SE3(turn, np.array([1.0 if parent else 0.0, 0.0, 0.0]))))
    tree = _tree(f"{len(parents)} spherical joints", pin.JointModelSpherical, _BALL, places)
    tree.gravity.linear = np.array([0.0, 0.0, -9.81])
    return tree


def approximate(model: ClusterModel) -> tuple[pin.Model, str]:
    """Return the approximate robot for Pinocchio, and a note where armature alone does not give one."""
    try:
        return armature_model(model, "diagonal"), ""
    except ModelError as error:
        return serial(model), f"baselines.armature_model cannot express {model.name}: {error}"


def serial(model: ClusterModel) -> pin.Model:
    """Return the tree without rotors, all of its joints free, and what rotors reflect to them as armature.

    What simulators use for a differential: its links' joints are driven directly. The armature is the diagonal of what
    the rotors reflect at the reference pose.

    Raises:
        ModelError: The joints that are left are not as many as the robot has degrees of freedom.
    """
    rotors = [r for r in model.rotors if r.joint_id is not None]
    tree = depth_first(model.inertia_tree.copy(), [r.joint_id for r in rotors if r.joint_id is not None])
    if tree.nv != model.nv:
        raise ModelError(
            f"{model.name}: without its rotors the tree has {tree.nv} degrees of freedom, the robot {model.nv}, so "
            "that no serial robot stands for it."
        )
    space = projection.createData(model)
    space.couple(model.q_reference)
    G = space.G[space.span.from_tree_v]
    free = [i for name in list(tree.names)[1:] for i in in_v(model.tree, model.tree.getJointId(name))]
    of_links = np.linalg.inv(G[free])
    tree.armature = tree.armature + np.diag(of_links.T @ reflected_inertia(model, G[None], rotors)[0] @ of_links)
    return tree


def leaves(tree: pin.Model) -> list[int]:
    """Return the joints at the ends of the branches."""
    return sorted({*range(1, tree.njoints)} - {*tree.parents})


def state(model: ClusterModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a random q near the neutral configuration (it itself, if joints are tied), v and tau."""
    rng = np.random.default_rng(model.nv)
    q = np.array(neutral(model))
    if model.nv == model.nq:
        q += 0.1 * rng.uniform(-1.0, 1.0, model.nq)
    v, tau = rng.standard_normal((2, model.nv))
    return q, v, tau


def forward_dynamics(
    methods: Mapping[str, tuple[ModuleType, dict[str, Any]]], model: ClusterModel, *state: np.ndarray
) -> tuple[dict[str, Call], dict[str, str]]:
    """Return calls of forward dynamics: ``pc.aba``, Pinocchio's ``aba``, and modules of ``baselines`` with options.

    The second dictionary has the reason for each baseline that cannot express the robot.
    """
    found: dict[str, Call] = {
        "aba": (aba, (model, model.createData(), *state)),
        "pin.aba": (pin.aba, (model.tree, model.tree.createData(), *state)),
    }
    missing = {}
    for how, (module, options) in methods.items():
        try:
            data = module.createData(model, **options)
            module.aba(model, data, *state)
            found[how] = module.aba, (model, data, *state)
        except PinClustersError as error:
            missing[how] = f"baselines.{module.__name__.rpartition('.')[2]} cannot express {model.name}: {error}"
    return found, missing


def kernel(model: ClusterModel, name: str, *given: np.ndarray) -> Call:
    """Return the kernel of ``aba`` or ``rnea`` alone, without a ``ClusterData``: that has a ``pin.Data``.

    Pinocchio's data has four tables of nv^3 numbers, 32 GB for 1000 links.
    """
    one: kernels.Kernel = getattr(kernels, name)
    room = np.zeros(model.nv + 6 * model.njoints)
    work = np.array(model.tables.work)
    pointer = kernels.Pointer(model.tables.index, model.tables.params, work, room)
    return one.call, (pointer, *given, np.zeros(model.nv))


def kernel_of_frame(model: ClusterModel, q: np.ndarray, frame: int) -> Call:
    """Return the kernel of ``inverse_operational_inertia`` alone, of one frame and as above."""
    plan = _columns.plan_of_frames(model, [frame], pin.LOCAL, None)
    tables = model.tables
    pointer = kernels.Pointer(tables.index, tables.params, np.array(tables.work), np.zeros(model.nv**2))
    panel, out = np.zeros_like(plan.panel), np.zeros((plan.tasks, plan.tasks))
    return kernels.columns.call, (pointer, q, plan.index, plan.numbers, panel, plan.B, out, np.zeros(plan.shapes[1]))


def delassus(tree: pin.Model, data: pin.Data, q: np.ndarray, joints: Sequence[int]) -> dict[str, Call]:
    """Return Pinocchio's own way to the inverse operational inertia of bodies, if its version has one."""
    if not hasattr(pin, "computeDelassusMatrix"):
        return {}
    contacts, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for j in joints:
        contacts.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, tree, j, pin.LOCAL))
        datas.append(contacts[-1].createData())
    return {"pinocchio": (pin.computeDelassusMatrix, (tree, data, q, contacts, datas, 0.0))}
