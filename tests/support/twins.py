"""Robots in pairs with the same history: plans answer calls on one, Python functions on the other."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
from samples import mixed
from support.fast import NoPlans
from support.forms import outcome
from support.overloads import Arguments

import pin_clusters as pc

MEMBERS = tuple(
    name
    for name, x in inspect.getmembers(pc.ClusterData)
    if not name.startswith("_") and not inspect.isroutine(x) and name not in ("model", "tree", "engine", "check")
)
MORE_FORMS: tuple[Callable[[np.ndarray], Any], ...] = (
    tuple, np.asfortranarray, lambda x: x[:-1], lambda x: x * np.inf, lambda x: 1e150 * x,
    lambda x: np.where(np.arange(x.size) == 1, np.nan, x.ravel()), lambda x: x.reshape(-1, 1, order="F"),
    np.ndarray.tolist, np.zeros_like,
)  # fmt: skip
MARGIN, MARK = 8, 7.0


class PythonData(NoPlans, pc.ClusterData):
    """Data whose calls all go to the Python functions."""

    __slots__ = ()


class PythonModel(NoPlans, pc.ClusterModel):
    """A model whose calls all go to the Python functions."""

    __slots__ = ()

    def createData(self) -> PythonData:
        return PythonData(self)


PythonModel.__name__, PythonData.__name__ = "ClusterModel", "ClusterData"  # messages print these names


class Guarded:
    """An array between numbers that nobody may write."""

    def __init__(self, x: np.ndarray) -> None:
        self.room = np.full(x.size + 2 * MARGIN, MARK)
        self.array = self.room[MARGIN:-MARGIN].reshape(x.shape)
        self.array[...] = x

    def whole(self) -> bool:
        return bool((self.room[:MARGIN] == MARK).all() and (self.room[-MARGIN:] == MARK).all())


def seen(x: Any) -> Any:
    """Return all that can be seen of an outcome or a member of data, for comparisons bit by bit."""
    name = type(x).__name__
    if isinstance(x, Exception):
        return name, str(x)
    if isinstance(x, np.ndarray):
        flags = x.flags.writeable, x.flags.c_contiguous
        return name, str(x.dtype), x.shape, flags, repr(x.tolist()) if x.dtype.kind == "O" else x.tobytes()
    for kind, read in ((pin.SE3, "homogeneous"), (pin.Motion, "vector"), (pin.Force, "vector")):
        if isinstance(x, kind):  # of Pinocchio's objects without __init__ only the exception can be seen
            return name, seen(outcome(getattr, [x, read], {}))
    if isinstance(x, pin.Inertia):
        return name, x.mass, x.lever.tobytes(), x.inertia.tobytes()
    if isinstance(x, pin.RigidConstraintData):
        return name, seen(x.contact_force)
    if name.startswith("StdVec_"):
        return name, seen(outcome(list, [x], {}))
    if isinstance(x, (list, tuple)):
        return name, [seen(item) for item in x]
    if isinstance(x, dict):
        return name, [(key, seen(item)) for key, item in x.items()]
    if dataclasses.is_dataclass(x):
        return name, [(field.name, seen(getattr(x, field.name))) for field in dataclasses.fields(x)]
    return (name, repr(x)) if isinstance(x, (bool, int, float, complex, str, bytes, np.generic, type(None))) else name


def read(data: Any, member: str) -> Any:
    """Return what can be seen of a member of data, or the exception of reading it."""
    return seen(outcome(getattr, [data, member], {}))


def references_of(arrays: list[np.ndarray]) -> np.ndarray:
    """Return how many references there are to each array."""
    return np.array([sys.getrefcount(x) for x in arrays], dtype=int)


class Robot:
    """A robot, data of it, and usual values of arguments by name."""

    def __init__(self, name: str, fast: bool) -> None:
        self.fast, self.model = fast, self._made(name)
        if not fast:
            object.__setattr__(self.model, "__class__", PythonModel)
        self.datas = [self.fresh() for _ in range(2)]
        self.pool = self._pool(self.model)

    def _made(self, name: str) -> Any:
        if name == "arm":
            return pc.ClusterModel(pin.buildSampleModelManipulator())
        return mixed.robot("fixed") if name == "mixed" else pc.load(name)

    def fresh(self) -> Any:
        """Return new data, with placements: Pinocchio leaves some of its own members unset until then."""
        found = self.model.createData()
        pc.forwardKinematics(self.model, found, pc.neutral(self.model))
        return found

    def copied(self, data: Any) -> Any:
        """Return a copy of a data, on which the same functions answer calls."""
        found = data.copy()
        found.__class__ = type(data)
        return found

    def _pool(self, model: Any) -> dict[str, list[Any]]:
        pin.seed(1)
        rng, tree, known = np.random.default_rng(1), model.own_tree, Arguments(model.own_tree)
        nv, joints = model.nv, [j for j in range(1, model.njoints) if model.names[j] in model.independent_joints]
        q = [pc.neutral(model), *(pc.randomConfiguration(model) for _ in range(3))]
        v, more = [*rng.normal(size=(4, nv)), np.zeros(nv)], [*rng.normal(size=(2, tree.nv))]
        frames = [tree.frames[i].name for i in (1, tree.nframes // 2, tree.nframes - 1)]
        ids, numbers = [1, tree.nframes - 1, np.int64(2), frames[1]], [0.0, 0.3, 1e-6, 1.0]
        coupled, switches = pc.spanning_velocity(model, self.datas[0], q[1], v[0]), [True, False]
        placements = [known.placement, pin.SE3.Identity()]
        references = [pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED]
        lists: list[Any] = [frames, frames[:1], [2], (1, frames[2])]
        settings = [pin.ProximalSettings(1e-12, 0.0, 1), pin.ProximalSettings(1e-10, 1e-6, 5), None]
        kinds = pin.ContactType.CONTACT_3D, pin.ContactType.CONTACT_6D
        contacts = [
            [pc.RigidConstraintModel(kind, model, j, placements[0], pin.LOCAL) for kind, j in listed]
            for listed in (
                [(kinds[0], joints[-1])], [(kinds[1], joints[-1])], [(kinds[0], joints[-1]), (kinds[1], joints[0])], []
            )
        ]  # fmt: skip
        rows = np.array([f.vector for f in known.fext()])
        pool: dict[str, list[Any]] = {
            **dict.fromkeys(("q", "q1", "q2"), q), **dict.fromkeys(("v", "v_before", "a", "tau"), v),
            "tau_tree": more, "v_tree": [coupled, *more], "tau_motor": [rng.normal(size=len(model.motors))],
            "fext": [known.fext(), rows, rows, list(known.fext())],
            "force": [rng.normal(size=6), pin.Force(rng.normal(size=6))], "frame": ids, "frame_id": ids,
            "joint_id": [*joints[-2:], 0, np.int64(1)], "subtree_root_joint_id": [0, 1, joints[-1]],
            "frame_placement": placements, "placement": placements, "places": [rng.normal(size=(2, 3))],
            "joints": [[joints[-1], 1], model.independent_joints[:2], (1, 1)],
            "frames": lists, "contacts": [(), *lists], "hold": [(), model.independent_joints[:1], [model.names[1]]],
            "rows": [None, "linear", [0, 2, 4]],
            "prescribed": [np.arange(nv) % 2 == 0, model.independent_joints[:2], []],
            "B": [None, rng.normal(size=(nv, 2))], "Jin": [rng.normal(size=(nv, 3))], "data": self.datas,
            "reference": references, "reference_frame": references, "argument_position": [pin.ARG0, pin.ARG1],
            "convention": [pin.Convention.WORLD, pin.Convention.LOCAL],
            "kinematic_level": [pin.POSITION, pin.ACCELERATION],
            "constraint_jacobian": [rng.normal(size=(3, nv)), rng.normal(size=(1, nv))],
            "constraint_drift": [rng.normal(size=3), rng.normal(size=1)],
            **dict.fromkeys(("compute_subtree_coms", "scaled", "with_subtree"), switches),
            **dict.fromkeys(("alpha", "damping", "mu", "r_coeff"), numbers),
            **dict.fromkeys(("restitution_coefficient", "friction_speed"), numbers),
            **dict.fromkeys(("prec", "tolerance"), numbers), **dict.fromkeys(("settings", "prox_settings"), settings),
            "lower_bound": [np.full(model.nq, -0.5)], "upper_bound": [np.full(model.nq, 0.5)],
            "out": [np.zeros(nv), np.zeros((nv, nv)), pc.FrameTerms(model, frames[1:])],
        }  # fmt: skip
        for key in ("models", "datas", "model", "data"):
            pool[f"contact_{key}"] = pool[f"constraint_{key}"] = []
        for models in contacts:
            datas = [x.createData() for x in models]
            pool["contact_model"] += models
            pool["contact_data"] += datas
            pool["contact_models"] += [models, tuple(models), _vector(models, pin.StdVec_RigidConstraintModel)]
            pool["contact_datas"] += [datas, tuple(datas), _vector(datas, pin.StdVec_RigidConstraintData)]
        return pool


def _vector(things: list[Any], kind: Any) -> Any:
    """Return Pinocchio's vector of things."""
    found = kind()
    for x in things:
        found.append(x)
    return found
