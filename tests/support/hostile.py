"""Calls that nobody should make, of every function with fast calls: results and errors are those of Python functions.

A program of its own, because the defects that it finds can end the process: ``python tests/support/hostile.py walk``,
``fuzz`` or ``leaks``. Freed memory is overwritten (``ENVIRONMENT``), so that code which still reads it is found.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import inspect
import json
import os
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

sys.path.insert(0, str(Path(__file__).parents[1]))
if "--native" in sys.argv:  # another build of the extension, to be loaded before the package is imported
    spec = importlib.util.spec_from_file_location("pin_clusters._native", sys.argv[sys.argv.index("--native") + 1])
    assert spec is not None
    assert spec.loader is not None
    sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[spec.name])

from support.fast import NAMES, python
from support.forms import FAST_FORMS, OTHER_FORMS, outcome
from support.twins import MORE_FORMS, seen

import pin_clusters as pc
from pin_clusters.compiler import entry_points
from pin_clusters.compiler.call_layer import native
from pin_clusters.model import contact_memory
from pin_clusters.model.parts import ModelParts

ENVIRONMENT = {"MALLOC_PERTURB_": "165", "PYTHONMALLOC": "malloc", "PYTHONFAULTHANDLER": "1"}
ROBOTS = ("mini_cheetah", "four_bar", "tello", "s:mini_cheetah", "s:four_bar")
# letters: see ``Robot.values``
USUAL = {
    "aba": "qva", "rnea": "qva", "computeStaticTorque": "qx", "nonLinearEffects": "qv", "nle": "qv",
    "computeGeneralizedGravity": "q", "crba": "q", "computeMinverse": "q", "computeKineticEnergy": "qv",
    "computePotentialEnergy": "q", "computeMechanicalEnergy": "qv", "inverse_operational_inertia": "qF",
    "inverse_input_matrix": "qNF", "hybrid_dynamics": "qvaaH", "constraintDynamics": "qvaCD",
    "computeConstraintDynamicsDerivatives": "CD", "computeRNEADerivatives": "qva",
    "computeGeneralizedGravityDerivatives": "q", "computeStaticTorqueDerivatives": "qx", "computeCoriolisMatrix": "qv",
    "computeCentroidalDynamicsDerivatives": "qva", "computeABADerivatives": "qva", "computeJointTorqueRegressor": "qva",
    "computeStaticRegressor": "q", "computeKineticEnergyRegressor": "qv", "computePotentialEnergyRegressor": "q",
    "forwardKinematics": "qva", "framesForwardKinematics": "q", "updateFramePlacements": "",
    "updateFramePlacement": "f", "updateGlobalPlacements": "", "centerOfMass": "qva", "jacobianCenterOfMass": "q",
    "computeJointJacobians": "q",
    "computeJointJacobiansTimeVariation": "qv", "getJointJacobian": "jr", "getJointJacobianTimeVariation": "jr",
    "getFrameJacobian": "fr", "getFrameJacobianTimeVariation": "fr", "computeJointJacobian": "qj",
    "computeFrameJacobian": "qfr", "computeCentroidalMap": "q", "computeCentroidalMapTimeVariation": "qv",
    "computeCentroidalMomentum": "qv", "computeCentroidalMomentumTimeVariation": "qva", "ccrba": "qv", "dccrba": "qv",
    "computeAllTerms": "qv", "computeForwardKinematicsDerivatives": "qva", "getJointVelocityDerivatives": "jr",
    "getJointAccelerationDerivatives": "jr", "getFrameVelocityDerivatives": "fr",
    "getFrameAccelerationDerivatives": "fr", "getPointVelocityDerivatives": "jmr",
    "getPointClassicAccelerationDerivatives": "jmr", "getCenterOfMassVelocityDerivatives": "",
    "computeJointKinematicHessians": "q", "getJointKinematicHessian": "jr", "getFrameKinematicHessian": "fr",
    "getVelocity": "jr", "getAcceleration": "jr", "getClassicalAcceleration": "jr", "getFrameVelocity": "fr",
    "getFrameAcceleration": "fr", "getFrameClassicalAcceleration": "fr",
    "getCentroidalDynamicsDerivatives": "", "getCoriolisMatrix": "",
    "computeSubtreeMasses": "", "computeSupportedInertiaByFrame": "ft", "computeTotalMass": "",
    "frameBodyRegressor": "f", "jointBodyRegressor": "j", "jacobianSubtreeCenterOfMass": "qj",
    "getJacobianSubtreeCenterOfMass": "j", "computeKKTContactDynamicMatrixInverse": "qR",
    "getKKTContactDynamicMatrixInverse": "R",
}  # fmt: skip
OWN = ("tau", "ddq", "nle", "g")
"""Results that may be given as arguments."""
KEPT = (*OWN, "M", "Minv", "J", "Jcom", "Ag", "lambda_c", "dq_after", "dtau_dq", "ddq_dq", "C", "contact_rank", "com")
"""What is looked at now and then."""
MOVES = {
    "integrate": "qv", "difference": "qp", "project": "q", "dIntegrate": "qv", "dDifference": "qp", "distance": "qp",
    "squaredDistance": "qp", "interpolate": "qpu", "isNormalized": "q", "isSameConfiguration": "qp", "normalize": "q",
    "neutral": "", "dIntegrateTransport": "qvTA",
}  # fmt: skip
LEFT_OUT = (
    "randomConfiguration", "computeDelassusMatrix", "computeDampedDelassusMatrixInverse", "forwardDynamics",
    "getConstraintJacobian", "getConstraintsJacobian", "impulseDynamics", "initConstraintDynamics",
    "computeImpulseDynamicsDerivatives",
)  # fmt: skip
"""Functions without hostile calls: results are random, or contacts, which tests/calls/test_contact_calls.py covers."""


WALKED = tuple(name for name in NAMES if name not in LEFT_OUT)


class SubModel(pc.ClusterModel):
    """A model of a user's own class."""


class SubData(pc.ClusterData):
    """A data of a user's own class."""

    __slots__ = ("more",)


class Evil:
    """Every conversion raises an error that no function of the package raises."""

    def _fail(self, *arguments: Any, **options: Any) -> Any:
        raise ZeroDivisionError("evil")

    __float__ = __index__ = __array__ = __len__ = __iter__ = __bool__ = _fail
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise ZeroDivisionError("evil")


class SubForce(pin.Force):
    """A force of a user's own class, of which the extension does not know the memory."""


class SubFloat(float):
    """A number that converts to another one."""

    def __float__(self) -> float:
        return 7.0


class SubName(str):
    """A name of an argument that is not exactly a string."""


class Robot:
    """A robot, two data of it, one of which leaves all calls to the Python functions, and arguments by letter."""

    def __init__(self, name: str) -> None:
        self.model = pc.specialise(pc.load(name[2:])) if name.startswith("s:") else pc.load(name)
        self.fast, self.slow = self.model.createData(), self.model.createData()
        self.slow._accept_model(None)
        pin.seed(1)
        q, rng = pc.randomConfiguration(self.model), np.random.default_rng(1)
        v, a = rng.normal(size=(2, self.model.nv))
        joints = [j for j in range(1, self.model.njoints) if self.model.names[j] in self.model.independent_joints]
        contacts = [pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.model, j, pin.LOCAL) for j in joints[-1:]]
        frames = [self.model.nframes - 1]
        self.datas = {id(d): [c.createData() for c in contacts] for d in (self.fast, self.slow)}
        self.values: dict[str, Any] = {
            "q": q, "v": v, "a": a, "p": pc.integrate(self.model, q, 0.1 * v),
            "x": rng.normal(size=(self.model.njoints, 6)), "j": joints[-1],
            "f": frames[0], "r": pin.LOCAL, "F": frames, "N": None, "1": 1, "C": contacts,
            "u": 0.5, "t": True, "A": pin.ARG0,
            "T": rng.normal(size=(self.model.nv, 2)), "R": rng.normal(size=(1, self.model.nv)),
            "H": self.model.independent_joints[:1],
            "m": pin.SE3(np.eye(3), v[:3] if v.size > 2 else np.ones(3)),
        }  # fmt: skip
        for _ in range(2):
            for function in USUAL:
                for data in (self.fast, self.slow):
                    outcome(getattr(pc, function), self.arguments(function, data), {})
            for data in (self.fast, self.slow):
                pc.computeAllTerms(self.model, data, q, v, frames=frames)
            for function in MOVES:
                outcome(getattr(pc, function), self.arguments(function), {})

    def arguments(self, function: str, data: Any = None) -> list[Any]:
        if function in MOVES:
            return [self.model, *(self.values[x] for x in MOVES[function])]
        letters = USUAL[function]
        data = self.fast if data is None else data
        return [self.model, data, *(self.datas.get(id(data)) if x == "D" else self.values[x] for x in letters)]

    def differing(self) -> list[str]:
        """Return the names of the members that are not the same in both data."""
        return [field for field in KEPT if seen(member(self.fast, field)) != seen(member(self.slow, field))]

    def wanted(self, function: str, arguments: list[Any], options: dict[str, Any]) -> Any:
        """Return the outcome of the Python function, on a data of its own."""
        own = {id(getattr(self.fast, f"_{field}")): field for field in OWN}
        others: dict[int, Any] = {x: getattr(self.slow, f"_{field}") for x, field in own.items()}
        others |= {id(self.fast): self.slow, id(self.datas[id(self.fast)]): self.datas[id(self.slow)]}
        given = [others.get(id(x), x) for x in arguments]
        return outcome(python(function), given, {name: others.get(id(x), x) for name, x in options.items()})


def member(data: Any, field: str) -> Any:
    """What a member of `data` holds, or None where the last call left it without a value."""
    try:
        return np.array(getattr(data, field))
    except pc.NotComputedError:
        return None


def compiled_again() -> int:
    """How often kernels were compiled again for other types of arguments, which takes seconds during a call."""
    used = [kernel.fast for kernel in entry_points.KERNELS if kernel.fast is not None]
    return sum(len(function.overloads) - 1 for function in used)  # type: ignore[attr-defined]


def kinds(robot: Robot) -> list[Any]:
    """Things of all kinds, in the place of any argument."""
    n = robot.model.nv
    foreign = pc.load("delta")
    numbers = [
        0,
        1,
        -1,
        2**31,
        2**63 - 1,
        2**63,
        -(2**63),
        10**30,
        0.5,
        float("nan"),
        True,
        1j,
        np.int64(1),
        np.float32(2),
    ]
    arrays = [
        np.zeros(0), np.zeros(()), np.zeros(n + 1), np.zeros((n, 1)), np.zeros((1, n)), np.zeros((n, n)),
        np.zeros((6, 6)), np.zeros(n, np.float32), np.zeros(n, ">f8"), np.zeros(n, int), np.zeros(n, bool),
        np.zeros(n, complex), np.zeros(n, object), np.zeros(n, "U5"),
        np.zeros(n, "M8[s]"), np.zeros(n, [("a", float)]), np.zeros(2 * n)[::2], np.zeros(n)[::-1],
        np.full(n, np.nan), np.zeros((0, 6)), np.zeros((2, 2, 2)), np.ma.zeros(n), np.broadcast_to(0.0, n), np.eye(4),
    ]  # fmt: skip
    lists = [[], [0.0] * n, (), (0.0,) * n, [None], ["x"], [[]], {}, set(), "x", b"x", bytearray(8), memoryview(b"1"),
             range(3), pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()]  # fmt: skip
    made = [
        pc.ClusterModel.__new__(pc.ClusterModel), pc.ClusterData.__new__(pc.ClusterData), SubModel.__new__(SubModel),
        SubData.__new__(SubData), SubData(robot.model), foreign, foreign.createData(), robot.model.own_tree,
        robot.model.own_tree.createData(), pin.Model(), object(), object, pc.ClusterModel, np.ndarray, len, pc.aba,
        native.Owner(), native.Plan(0, 0, [], None), pin.LOCAL, pin.SE3.Identity(), pin.SE3.__new__(pin.SE3), Evil(),
        [Evil()] * n, [SubFloat(3)] * n, [10**400] * n, [2**62 + 1] * n, [True] * n, [np.float32(2)] * n, ["1"] * n,
        [[1.0]] * n, np.zeros(n, np.float16), np.zeros(n, np.longdouble), np.zeros(n, np.uint64), np.zeros(n, "m8[s]"),
        np.matrix(np.zeros(n)), memoryview(np.zeros(n)), bytearray(8 * n), iter([1.0]), lambda: 0, Exception(),
        NotImplemented, ...,
    ]  # fmt: skip
    count = robot.model.njoints
    forces = [pin.Force(np.full(6, float(i))) for i in range(count)]
    vector, empty = pin.StdVec_Force(), pin.Force.__new__(pin.Force)
    for force in forces:
        vector.append(force)
    of_forces = [
        forces, tuple(forces), vector, [vector[i] for i in range(count)], [f.vector for f in forces],
        np.array([f.vector for f in forces]), forces[:-1], forces * 2, [empty, *forces[1:]],
        [SubForce(f) for f in forces], [pin.Motion(f.vector) for f in forces], [None] * count,
        np.zeros((count, 6), np.float32), np.asfortranarray(np.ones((count, 6))), np.zeros((6, count)),
        pin.StdVec_Force(), pin.StdVec_Force.__new__(pin.StdVec_Force), [[1.0] * 6] * count, [np.zeros(5)] * count,
        np.zeros((count, 6), complex),
    ]  # fmt: skip
    return [None, *numbers, *arrays, *lists, *made, *of_forces]


class Share:
    """Of what the walk does, every so many."""

    def __init__(self, every: int) -> None:
        self.every, self.count = every, Counter[str]()

    def of(self, things: Any) -> list[Any]:
        return list(things)[:: self.every]


def walk_arguments(robot: Robot, share: Share) -> None:
    """Each entry with 0 to n + 2 arguments, and with things of all kinds in each place, by place and by name."""
    things, count = kinds(robot), share.count
    count["kinds"] = len(things)
    for name in WALKED:
        function, usual = getattr(pc, name), robot.arguments(name)
        count["entries"] += 1
        for data in (robot.fast, robot.slow):  # the state of which getters tell: other entries change it on one side
            pc.computeJointJacobiansTimeVariation(robot.model, data, robot.values["q"], robot.values["v"])
        calls: list[tuple[list[Any], dict[str, Any]]] = []
        for n in range(len(usual) + 3):
            more = [*usual, None, None][:n]
            calls += [
                (more, {}),
                (more, {"out": None}),
                (more, {"unknown": 1}),
                (more, {"out": np.empty(robot.model.nv)}),
            ]
        for i in range(len(usual)):
            calls += [([*usual[:i], x, *usual[i + 1 :]], {}) for x in things]
        for x in things:
            calls += [
                ([*usual, x], {}),
                (usual, {"out": x}),
                ([*usual, x, x], {}),
                (usual, {"hold": x}),
                (usual, {"reference": x}),
            ]
        for thing in things:  # the same everywhere
            calls += [([thing] * n, {}) for n in range(1, len(usual) + 3)]
        # all numbers of arguments each time
        few = 4 * (len(usual) + 3)
        for arguments, options in calls[:few] + share.of(calls[few:]):
            count["calls"] += 1
            found = outcome(function, arguments, options)
            found = seen(found)
            wanted = seen(robot.wanted(name, arguments, options))
            assert found == wanted, (name, arguments, options, found, wanted)


def all_calls(robot: Robot, data: Any, model: Any = None) -> int:
    """Call every entry with a data, or a model, that is not as it should be."""
    for name in WALKED:
        arguments = robot.arguments(name, data)
        if model is not None:
            arguments[0] = model
        outcome(getattr(pc, name), arguments, {})
    return len(WALKED)


def warmed(robot: Robot) -> Any:
    data = robot.model.createData()
    robot.datas[id(data)] = [c.createData() for c in robot.values["C"]]
    for _ in range(2):
        for name in USUAL:
            outcome(getattr(pc, name), robot.arguments(name, data), {})
    return data


def forget(robot: Robot, data: Any) -> None:
    del robot.datas[id(data)]


def walk_slots(robot: Robot, name: str, share: Share) -> None:
    """Each slot deleted, and filled with what does not belong there."""
    count = share.count
    foreign = pc.load("mit_humanoid")
    others = None, 5, np.zeros(3), (), (np.zeros(3),), foreign, foreign.createData(), robot.fast
    for slot in share.of(slot for kind in pc.ClusterData.__mro__[:-1] for slot in getattr(kind, "__slots__", ())):
        data = warmed(robot)
        if hasattr(data, slot):
            delattr(data, slot)
            gc.collect()
            count["calls"] += all_calls(robot, data)
            count["slots"] += 1
        forget(robot, data)
    for other in others:
        data = warmed(robot)
        data._accept_model(other)
        count["calls"] += all_calls(robot, data)
        count["calls"] += all_calls(robot, data, other)
        forget(robot, data)
    for slot in share.of(ModelParts.__slots__):
        other = Robot(name)
        object.__delattr__(other.model, slot)
        gc.collect()
        count["calls"] += all_calls(other, other.fast)
        count["slots"] += 1


def walk_results(robot: Robot, share: Share) -> None:
    """Results and what belongs to them resized, replaced or emptied by who holds them."""
    count = share.count
    for slot in share.of(x for x in dir(pc.ClusterData) if not x.startswith("__")):
        data = warmed(robot)
        thing = outcome(lambda data=data, slot=slot: getattr(data, slot), [], {})
        if isinstance(thing, np.ndarray):
            outcome(lambda x=thing: x.resize((0,), refcheck=False), [], {})
            outcome(lambda data=data, slot=slot: setattr(data, slot, np.zeros(1)), [], {})
            del thing
            gc.collect()
            count["calls"] += all_calls(robot, data)
            count["results"] += 1
        forget(robot, data)
    for container in ("_plans", "_pointers"):
        data = warmed(robot)
        getattr(data, container).clear()
        gc.collect()
        count["calls"] += all_calls(robot, data)
        forget(robot, data)


def changes_of_tree() -> Iterator[Callable[[Any], Any]]:
    """Ways to change the memory of a ``pin.Data``."""
    other = pc.load("mit_humanoid").own_tree
    small = pc.load("four_bar").own_tree
    for name in ("oMi", "liMi", "oMf", "v", "a", "ov", "com", "vcom", "acom"):
        yield lambda t, name=name: [getattr(t, name).append(getattr(t, name)[0]) for _ in range(200)]
        yield lambda t, name=name: getattr(t, name).__delitem__(slice(1, None))
        yield lambda t, name=name: getattr(t, name).__delitem__(slice(0, None))
        yield lambda t, name=name: setattr(t, name, getattr(other.createData(), name))
        yield lambda t, name=name: setattr(t, name, getattr(small.createData(), name))
    for name in ("J", "dJ", "Ag", "dAg", "Jcom"):
        for n in (0, 1, 200):
            yield lambda t, name=name, n=n: setattr(t, name, np.zeros((3 if name == "Jcom" else 6, n)))
    yield lambda t: t.__init__(other)
    yield lambda t: t.__init__(small)
    yield lambda t: t.loadFromString(small.createData().saveToString())
    yield lambda t: t.loadFromString(other.createData().saveToString())


def walk_tree(robot: Robot, share: Share) -> None:
    """The tree's data changed in memory, or another."""
    count = share.count
    for change in share.of(changes_of_tree()):
        data = warmed(robot)
        outcome(change, [data.tree], {})
        room = [np.full(997, 7.0) for _ in range(50)]  # who writes to what was freed writes here
        count["calls"] += all_calls(robot, data)
        assert all((x == 7.0).all() for x in room)
        count["changes"] += 1
        forget(robot, data)
    other = pc.load("delta").own_tree
    for thing in (None, "x", 3, other, other.createData(), pin.Data(other), pin.Data.__new__(pin.Data), object(), []):
        data = warmed(robot)
        before = data.tree
        found = outcome(lambda data=data, thing=thing: setattr(data, "tree", thing), [], {})
        assert isinstance(found, Exception), thing
        assert data.tree is before
        count["calls"] += all_calls(robot, data)
        count["changes"] += 1
        forget(robot, data)


def owned(contacts: Any) -> bool:
    """Whether a list has contacts of its own, and not items of Pinocchio's lists."""
    return type(contacts) in (list, tuple) and contact_memory.holds_itself(contacts[0])


def changes_of_contacts() -> Iterator[Callable[[Any, Any], Any]]:
    yield lambda c, d: (c.clear(), d.clear())
    yield lambda c, d: c.clear()
    yield lambda c, d: d.clear()
    yield lambda c, d: (c.__delitem__(slice(0, None)), d.__delitem__(slice(0, None)))
    yield lambda c, d: c.__delitem__(0)
    yield lambda c, d: c.extend([c[0]] * 1000)
    yield lambda c, d: [c.append(c[0]) for _ in range(1000)]
    yield lambda c, d: [(c.append(c[0]), d.append(d[0])) for _ in range(100)]
    yield lambda c, d: c.__setitem__(0, None)
    yield lambda c, d: c.__setitem__(0, "x")
    yield lambda c, d: d.__setitem__(0, c[0])
    # of Pinocchio's own lists and their items this alone, without this package, ends the process
    yield lambda c, d: type(c) is list and c.__init__()
    yield lambda c, d: owned(c) and c[0].__init__(pin.ContactType.CONTACT_6D, pc.load("delta").own_tree, 1, pin.LOCAL)
    yield lambda c, d: owned(c) and d[0].__init__(c[0])
    yield lambda c, d: setattr(c[0], "joint1_id", 10**6)
    yield lambda c, d: setattr(c[0], "joint1_id", 2**63)
    yield lambda c, d: setattr(c[0], "type", pin.ContactType.CONTACT_6D)
    yield lambda c, d: setattr(c[0], "reference_frame", pin.WORLD)


def walk_contacts(robot: Robot, share: Share) -> None:
    """Lists of contacts changed between two calls; of Python, of Pinocchio, and of Pinocchio's items."""
    count = share.count

    def vector(things: list[Any]) -> Any:
        of_models = isinstance(things[0], pin.RigidConstraintModel)
        found = pin.StdVec_RigidConstraintModel() if of_models else pin.StdVec_RigidConstraintData()
        for x in things:
            found.append(x)
        return found

    q, v, a = (robot.values[x] for x in "qva")
    joint = robot.values["j"]
    for container in (list, vector, lambda x: list(vector(x)), tuple):
        for change in share.of(changes_of_contacts()):
            data, other = robot.model.createData(), robot.model.createData()
            contacts = container([pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, robot.model, joint, pin.LOCAL)])
            datas = container([c.createData() for c in contacts])
            for _ in range(3):
                outcome(pc.constraintDynamics, [robot.model, data, q, v, a, contacts, datas], {})
                outcome(pc.computeConstraintDynamicsDerivatives, [robot.model, data, contacts, datas], {})
                outcome(
                    pc.constraintDynamics, [robot.model, other, q, v, a, contacts, datas], {}
                )  # the lists are shared
            outcome(change, [contacts, datas], {})
            del other
            gc.collect()
            for _ in range(2):
                outcome(pc.computeConstraintDynamicsDerivatives, [robot.model, data, contacts, datas], {})
                outcome(pc.constraintDynamics, [robot.model, data, q, v, a, contacts, datas], {})
                outcome(pc.computeConstraintDynamicsDerivatives, [robot.model, data, contacts, datas], {})
            count["calls"] += 15
            count["changes"] += 1


def walk_child(robot: Robot, share: Share) -> None:
    """All entries in a process that was forked."""
    count = share.count
    child = os.fork()
    if not child:
        all_calls(robot, robot.fast)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    count["calls"] += len(WALKED)


def walk(names: list[str], every: int) -> Counter[str]:
    """Everything above."""
    share = Share(every)
    for name in names:
        walk_arguments(Robot(name), share)
        robot = Robot(name)
        walk_slots(robot, name, share)
        for part in (walk_results, walk_tree, walk_contacts, walk_child):
            part(robot, share)
    return share.count


def fuzz(names: list[str], calls: int, seed: int) -> Counter[str]:
    """Random calls of all functions, through plans and by the Python functions: the outcomes are equal."""
    choose, count = random.Random(seed), Counter[str]()
    robots = [Robot(name) for name in names]
    # no iterators: the first of two calls uses them up
    things = {id(robot): [x for x in kinds(robot) if type(x) is not type(iter([]))] for robot in robots}
    while count["calls"] < calls:
        robot, name = choose.choice(robots), choose.choice(WALKED)
        arguments, options = robot.arguments(name), dict[str, Any]()
        scale = choose.choice([1.0] * 8 + [0.0, 1e-9, 1e3, 1e150])
        for i, x in enumerate(arguments):
            if isinstance(x, np.ndarray) and x is not robot.values["p"]:
                x = x if x is robot.values["q"] else scale * x
                form = choose.choice(FAST_FORMS if choose.random() < 0.8 else (*OTHER_FORMS, *MORE_FORMS))
                arguments[i] = outcome(form, [x], {})
            if choose.random() < 0.03:
                arguments[i] = choose.choice(things[id(robot)])
            elif isinstance(x, np.ndarray) and choose.random() < 0.03 and name in USUAL:
                arguments[i] = getattr(robot.fast, "_" + choose.choice(OWN))
        parameters = list(inspect.signature(python(name)).parameters)
        match choose.randrange(12):
            case 0:
                arguments = arguments[: choose.randrange(len(arguments) + 1)]
            case 1:
                arguments.append(choose.choice(things[id(robot)]))
            case 2:
                key = choose.choice([*parameters, "x", SubName(parameters[-1])])
                options[key] = choose.choice(things[id(robot)])
            case 3:
                n = robot.model.nv
                options["out"] = np.empty((n, n) if name in ("crba", "computeMinverse") else n)
            case 4 | 5:  # by name
                first = choose.randrange(len(arguments) + 1)
                options = dict(zip(parameters[first:], arguments[first:], strict=False))
                arguments = arguments[:first]
        count["calls"] += 1
        found = outcome(getattr(pc, name), arguments, options)
        count["errors" if isinstance(found, Exception) else "answers"] += 1
        found = seen(found)
        wanted = seen(robot.wanted(name, arguments, options))
        members = [] if count["calls"] % 7 else robot.differing()
        if found != wanted or members:
            count["differences"] += 1
            told = name, count["calls"], arguments, options, found, wanted, members
            print("DIFFERENT", *(str(seen(x))[:300] for x in told), sep="\n  ", flush=True)
        if not count["calls"] % 20_000:  # positions change
            for x in robots:
                q = pc.integrate(x.model, x.values["q"], 0.1 * x.values["v"])
                x.values |= {"q": q, "p": pc.integrate(x.model, q, 0.1 * x.values["v"])}
    return count


def leaks(names: list[str], calls: int) -> Counter[str]:
    """Right and wrong calls of all functions leave no reference, no object and no page behind."""
    count, robots = Counter[str](), [Robot(name) for name in names]

    def every_call(robot: Robot, values: dict[str, Any]) -> None:
        for name in WALKED:
            usual = robot.arguments(name)
            arrays = [i for i, x in enumerate(usual) if isinstance(x, np.ndarray)]
            calls = [usual, usual[:-1], [*usual, None, None], ["x", *usual[1:]]]
            calls += [[*usual[:i], x, *usual[i + 1 :]] for i in arrays for x in (values["list"], values["short"])]
            for arguments in calls:
                outcome(getattr(pc, name), arguments, {})
                count["calls"] += 1

    def pages() -> int:
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[1])

    for robot in robots:
        more = {"list": [0.1] * robot.model.nv, "short": np.ones(2)}
        things = [robot.model, robot.fast, robot.fast.tree, robot.model.own_tree, *more.values()]
        things += [*robot.values.values(), *robot.values["C"]]
        things += [*robot.datas[id(robot.fast)], *(getattr(pc, name) for name in WALKED)]
        # everybody refers to small numbers and None
        things = [x for x in things if type(x) is not int and x is not None]
        for _ in range(20):
            every_call(robot, more)
        gc.collect()
        before = [sys.getrefcount(x) for x in things], sys.getallocatedblocks(), pages()
        end = count["calls"] + calls // len(robots)
        while count["calls"] < end:
            every_call(robot, more)
        gc.collect()
        after = [sys.getrefcount(x) for x in things]
        grown = [x - y for x, y in zip(after, before[0], strict=True)]
        count["references"] += sum(map(abs, grown))
        count["blocks"] = max(count["blocks"], sys.getallocatedblocks() - before[1])
        count["pages"] = max(count["pages"], pages() - before[2])
    count["differences"] = int(count["references"] > 20 or count["blocks"] > 1000 or count["pages"] > 100)
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["walk", "fuzz", "leaks"])
    parser.add_argument("--robots", nargs="+", default=ROBOTS)
    parser.add_argument("--every", type=int, default=1, help="of the walk, every so many")
    parser.add_argument("--calls", type=int, default=1_000_000, help="of the fuzz, or of the search for leaks")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--native", help="file of another build of the extension")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    assert native is not None, "calls are Python's here"
    assert given.native in (None, native.__file__)
    if given.what == "walk":
        count = walk(given.robots, given.every)
    elif given.what == "leaks":
        count = leaks(given.robots, given.calls)
    else:
        count = fuzz(given.robots, given.calls, given.seed)
    count["compiled_again"] = compiled_again()
    print(json.dumps({"python": sys.version.split()[0], **count}))
    return int(count["differences"] + count["compiled_again"] > 0)


if __name__ == "__main__":
    sys.exit(main())
