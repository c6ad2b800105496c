"""Build the chains, trees and approximate robots for the figures, and the function calls that are timed."""

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

AXIAL = 1e-4  # Inertia of a rotor about its axis, as in ``geared_chain``, [kg m^2]
_LINK = pin.Inertia(1.0, np.array([0.5, 0.0, 0.0]), np.diag([0.0, 0.0, 1.0]))
_BALL = pin.Inertia(1.0, np.array([0.5, 0.0, 0.0]), np.diag([0.02, 0.1, 0.1]))


def _tree(name: str, joint: type, body: pin.Inertia, placements: Iterable[tuple[int, pin.SE3]]) -> pin.Model:
    tree = pin.Model()
    tree.name = name
    tree.gravity.linear = np.array([9.81, 0.0, 0.0])
    for parent, placement in placements:
        j = tree.addJoint(parent, joint(), placement, f"joint_{tree.njoints}")
        tree.addJointFrame(j)
        tree.appendBodyToJoint(j, body, pin.SE3.Identity())
    return tree


def _along(first: bool, turn: float = 0.0) -> pin.SE3:
    rotation = pin.AngleAxis(turn, np.array([1.0, 0.0, 0.0])).toRotationMatrix()
    return pin.SE3(rotation, np.array([0.0 if first else 1.0, 0.0, 0.0]))


def _geared(tree: pin.Model) -> ClusterModel:
    rotors = [Rotor(name, RATIO, axial_inertia=AXIAL) for name in list(tree.names)[1:]]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*can contain", PinClustersWarning)  # the links have no thickness
        return ClusterModel(tree, rotors)


def _row(name: str, n: int) -> pin.Model:
    return _tree(name, pin.JointModelRZ, _LINK, ((k, _along(k == 0)) for k in range(n)))


def chain(n: int) -> ClusterModel:
    return _geared(_row(f"chain of {n}", n))


def branched(n: int, branches: int) -> ClusterModel:
    links_per_branch = n // branches
    placements = [(0, _along(True))]
    for b, k in itertools.product(range(branches), range(links_per_branch)):
        placement = _along(False, 2.0 * np.pi * b / branches + 0.5 * k)
        placements.append((len(placements) if k else 1, placement))
    return _geared(_tree(f"{branches} branches of {links_per_branch}", pin.JointModelRZ, _LINK, placements))


def grouped(n: int, size: int) -> ClusterModel:
    """Build a chain of groups of ``size`` links; the last link of a group is parallel to the link before the group."""
    couplings = []
    for start in range(1, n, size) if size > 1 else ():
        leaders = {f"joint_{j}": -1.0 for j in range(start, start + size - 1)}
        couplings.append(LinearCoupling(f"joint_{start + size - 1}", leaders))
    return ClusterModel(_row(f"clusters of {size}", n), couplings)


def balls(parents: Sequence[int]) -> pin.Model:
    count: dict[int, int] = {}
    fan = np.array([0.0, 0.8, 0.6])
    placements = []
    for parent in parents:
        k = count[parent] = count.get(parent, -1) + 1
        turn = pin.AngleAxis(0.9 * k, fan).toRotationMatrix()
        placements.append((parent, pin.SE3(turn, np.array([1.0 if parent else 0.0, 0.0, 0.0]))))
    tree = _tree(f"{len(parents)} spherical joints", pin.JointModelSpherical, _BALL, placements)
    tree.gravity.linear = np.array([0.0, 0.0, -9.81])
    return tree


def approximate(model: ClusterModel) -> tuple[pin.Model, str]:
    try:
        return armature_model(model, "diagonal"), ""
    except ModelError as error:
        return serial(model), f"baselines.armature_model cannot express {model.name}: {error}"


def serial(model: ClusterModel) -> pin.Model:
    """Build the tree without rotors and with directly driven links, as simulators model differentials.

    The armature is the diagonal of the reflected inertia at the reference pose. If the tree and the
    robot have different numbers of degrees of freedom, ``ModelError`` is raised.
    """
    rotors = [r for r in model.rotors if r.joint_id is not None]
    tree = depth_first(model.inertia_tree.copy(), [r.joint_id for r in rotors if r.joint_id is not None])
    if tree.nv != model.nv:
        raise ModelError(
            f"{model.name}: without its rotors the tree has {tree.nv} degrees of freedom, but the robot has "
            f"{model.nv}, so no serial robot approximates it."
        )
    space = projection.createData(model)
    space.couple(model.q_reference)
    G = space.G[space.span.from_tree_v]
    free = [i for name in list(tree.names)[1:] for i in in_v(model.tree, model.tree.getJointId(name))]
    of_links = np.linalg.inv(G[free])
    tree.armature = tree.armature + np.diag(of_links.T @ reflected_inertia(model, G[None], rotors)[0] @ of_links)
    return tree


def leaves(tree: pin.Model) -> list[int]:
    return sorted({*range(1, tree.njoints)} - {*tree.parents})


def state(model: ClusterModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(model.nv)
    q = np.array(neutral(model))
    if model.nv == model.nq:
        q += 0.1 * rng.uniform(-1.0, 1.0, model.nq)
    v, tau = rng.standard_normal((2, model.nv))
    return q, v, tau


def forward_dynamics(
    methods: Mapping[str, tuple[ModuleType, dict[str, Any]]], model: ClusterModel, *state: np.ndarray
) -> tuple[dict[str, Call], dict[str, str]]:
    calls: dict[str, Call] = {
        "aba": (aba, (model, model.createData(), *state)),
        "pin.aba": (pin.aba, (model.tree, model.tree.createData(), *state)),
    }
    missing = {}
    for method, (module, options) in methods.items():
        try:
            data = module.createData(model, **options)
            module.aba(model, data, *state)
            calls[method] = module.aba, (model, data, *state)
        except PinClustersError as error:
            missing[method] = f"baselines.{module.__name__.rpartition('.')[2]} cannot express {model.name}: {error}"
    return calls, missing


def kernel(model: ClusterModel, name: str, *arguments: np.ndarray) -> Call:
    """Prepare a kernel call without a ``pin.Data``, which needs 32 GB for 1000 links (four arrays of nv^3 numbers)."""
    entry: kernels.Kernel = getattr(kernels, name)
    scratch = np.zeros(model.nv + 6 * model.njoints)
    work = np.array(model.tables.work)
    pointer = kernels.Pointer(model.tables.index, model.tables.params, work, scratch)
    return entry.call, (pointer, *arguments, np.zeros(model.nv))


def kernel_of_frame(model: ClusterModel, q: np.ndarray, frame: int) -> Call:
    plan = _columns.plan_of_frames(model, [frame], pin.LOCAL, None)
    tables = model.tables
    pointer = kernels.Pointer(tables.index, tables.params, np.array(tables.work), np.zeros(model.nv**2))
    panel, out = np.zeros_like(plan.panel), np.zeros((plan.tasks, plan.tasks))
    return kernels.columns.call, (pointer, q, plan.index, plan.numbers, panel, plan.B, out, np.zeros(plan.shapes[1]))


def delassus(tree: pin.Model, data: pin.Data, q: np.ndarray, joints: Sequence[int]) -> dict[str, Call]:
    if not hasattr(pin, "computeDelassusMatrix"):
        return {}
    contacts, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for j in joints:
        contacts.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, tree, j, pin.LOCAL))
        datas.append(contacts[-1].createData())
    return {"pinocchio": (pin.computeDelassusMatrix, (tree, data, q, contacts, datas, 0.0))}
