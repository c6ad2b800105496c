"""What users who come from Pinocchio try first and what does not fit: what they do, and what they are told.

``CASES`` feeds tests/inputs/test_stumbles.py and a table of docs/bad_inputs.md (benchmarks/bad_inputs.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pinocchio as pin

import pin_clusters as pc
from pin_clusters._support import memory


class Case(NamedTuple):
    """One stumble.

    Attributes:
        what: In words.
        make: Does it.
        error: What it must raise; None: nothing.
        message: Names and numbers that the message, or the warning, must contain; "": it just works.
        cure: In words, where the message is not ours.
    """

    what: str
    make: Callable[[], Any]
    error: type[Exception] | None = None
    message: str = ""
    cure: str = ""


class Verdict(NamedTuple):
    """What became of it: an error, or warnings."""

    error: Exception | None
    warnings: tuple[str, ...]


def judge(case: Case) -> Verdict:
    """Do it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            case.make()
        except Exception as error:  # the table shows whatever comes
            return Verdict(error, ())
    return Verdict(None, tuple(str(w.message) for w in caught))


# --- robots -----------------------------------------------------------------------------------------------------------


def leg() -> pc.ClusterModel:
    return pc.load("mit_humanoid_leg", root_joint=None)


def arm(
    *constraints: Any, floating: bool = False, armature: float = 0.0, limits: tuple[float, float] = (-2.0, 2.0)
) -> Any:
    """Two links of 2 and 1 kg, and a hand of 60 g: joints shoulder, elbow, wrist."""
    tree, j = pin.Model(), 0
    tree.name = "arm"
    bodies = [("shoulder", pin.JointModelRY(), 2.0, 0.3), ("elbow", pin.JointModelRY(), 1.0, 0.25)]
    bodies.append(("wrist", pin.JointModelRX(), 0.06, 0.06))
    if floating:
        bodies.insert(0, ("base", pin.JointModelFreeFlyer(), 8.0, 0.4))
    for name, joint, mass, size in bodies:
        j = tree.addJoint(j, joint, pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.25 if j else 0.0])), name)
        moments = np.diag([1.0, 1.0, 0.2]) * mass * size**2 / 12
        tree.appendBodyToJoint(j, pin.Inertia(mass, np.array([0.0, 0.0, size / 2]), moments), pin.SE3.Identity())
    at = tree.idx_qs[tree.getJointId("elbow")]
    low, high = np.array(tree.lowerPositionLimit), np.array(tree.upperPositionLimit)
    low[at], high[at] = limits
    tree.lowerPositionLimit, tree.upperPositionLimit = low, high
    values = np.zeros(tree.nv)
    values[-1] = armature
    tree.armature = values
    return pc.ClusterModel(tree, constraints)


def rotor(joint: str, ratio: float, axial: float, **options: Any) -> pc.Rotor:
    return pc.Rotor(joint, ratio, axial_inertia=axial, **options)


def pink() -> None:
    """The first line of pink's ``Configuration``."""
    model: Any = leg()
    model.tangent = np.eye(model.nv)


def chain_of_500() -> None:
    tree, j = pin.Model(), 0
    tree.name = "chain"
    for i in range(500):
        j = tree.addJoint(j, pin.JointModelRX(), pin.SE3.Identity(), f"j{i}")
    # said before it is made
    with mock.patch.object(memory.pin, "Data"), mock.patch.object(memory, "available", return_value=None):
        memory.data_of(tree)


def called(f: Callable[[pc.ClusterModel, pc.ClusterData, np.ndarray, np.ndarray], Any], name: str = "") -> Any:
    def make() -> Any:
        model = pc.load(name) if name else leg()
        return f(model, model.createData(), np.array(pc.neutral(model)), np.ones(model.nv))

    return make


def bad(x: np.ndarray) -> np.ndarray:
    return np.full_like(x, np.nan)


def asked(name: str) -> Callable[[], Any]:
    return lambda: getattr(pc, name)


_OWN = "ClusterModel"
_UNIT = "1e-7 kg m^2"
_PINS = "`pc.{f}`; or, for the tree without couplings, `pin.{f}` with `model.tree` and `data.tree`."

CASES: dict[str, Case] = {
    "wrapper": Case(
        "`pin.RobotWrapper(model)` with a `ClusterModel`", lambda: pin.RobotWrapper(leg()), TypeError, _OWN,
        "`pc.RobotWrapper(model)`; `pin.RobotWrapper(model.tree)` leaves rotors and couplings out.",
    ),
    "pin.rnea": Case(
        "`pin.rnea(model, ...)` with a `ClusterModel`", called(lambda m, d, q, v: pin.rnea(m, d, q, v, v)), TypeError,
        _OWN, _PINS.format(f="rnea"),
    ),
    "pin.integrate": Case(
        "`pin.integrate(model, q, v)` with a `ClusterModel`", called(lambda m, d, q, v: pin.integrate(m, q, v)),
        TypeError, _OWN, "`pc.integrate`, which also moves the dependent joints.",
    ),
    "pc.rnea of a tree": Case(
        "`pc.rnea(tree, ...)` with a `pin.Model` and a `ClusterData`",
        called(lambda m, d, q, v: pc.rnea(m.tree, d, q, v, v)), pc.DataMismatchError, "pinocchio.Model data.model",
    ),
    "pink": Case("`pink.Configuration(model, data, q)`", pink, AttributeError, "'tangent' model.tree"),
    "convention": Case(
        "`pc.aba(model, data, q, v, tau, convention=pin.Convention.WORLD)`",
        called(lambda m, d, q, v: pc.aba(m, d, q, v, v, convention=pin.Convention.WORLD)),
    ),
    "convention that is none": Case(
        "`pc.crba(model, data, q, pin.WORLD)`", called(lambda m, d, q, v: pc.crba(m, d, q, pin.WORLD)),
        pc.ArgumentTypeError, "convention pin.Convention",
    ),
    "motor torque, nan": Case(
        "`pc.motor_torque` at a NaN pose, which returns NaN",
        called(lambda m, d, q, v: pc.motor_torque(m, d, bad(q), v), "ankle_2rsu"),
    ),
    "other release": Case(
        "`buildGeomFromSdf`, which exists only in other builds of Pinocchio", asked("buildGeomFromSdf"),
        pc.NotAvailableError, "'buildGeomFromSdf'",
    ),
    "model's name": Case(
        "`model.nvs`", called(lambda m, d, q, v: m.nvs), pc.NotAvailableError, "model.tree.nvs",
    ),
    "g cm^2": Case(
        "a rotor of 92 g cm^2 as `axial_inertia=92.0`", lambda: arm(rotor("elbow", 9.0, 92.0)), pc.InertiaError,
        "'shoulder' " + _UNIT,
    ),
    "kg cm^2": Case(
        "9.2e-5 kg m^2 as `axial_inertia=0.92` (kg cm^2)", lambda: arm(rotor("elbow", 9.0, 0.92), floating=True),
        pc.InertiaError, "'shoulder' " + _UNIT,
    ),
    "too much for its link": Case(
        "a rotor with more inertia than the link that includes it", lambda: arm(rotor("elbow", 7.0, 2e-2)), None,
        "'shoulder' " + _UNIT,
    ),
    "too much for what it turns": Case(
        "a rotor on the ground, 1e3 times too large",
        lambda: arm(rotor("wrist", 9.0, 9.2e-3, carrier="universe", axis=(1, 0, 0))), None,
        "'wrist' " + _UNIT,
    ),
    "mass and inertia": Case(
        "`inertia=` of 55 g and 0.063 kg m^2",
        lambda: arm(pc.Rotor("elbow", 9.0, inertia=pin.Inertia(0.055, np.zeros(3), 0.063 * np.eye(3)))), None,
        "1.07 " + _UNIT,
    ),
    "twice": Case(
        "a `Rotor` and the armature of the same motor", lambda: arm(rotor("wrist", 100.0, 1e-6, armature="keep"),
        armature=0.01), None, "armature='replace'",
    ),
    "ratio 1e300": Case(
        "a ratio of 1e300", lambda: pc.Gear("elbow", "wrist", 1e300), pc.ConstraintError,
        "ratio 1e+300 1e-08",
    ),
    "ratio 1e-300": Case(
        "a ratio of 1e-300", lambda: rotor("elbow", 1e-300, 1e-5), pc.ConstraintError, "1e-300",
    ),
    "limits": Case(
        "a lower limit above the upper one", lambda: arm(limits=(1.0, -1.0)), None,
        "'elbow' 1 -1",
    ),
    "500 joints": Case(
        "`model.createData()` of a chain of 500 joints", chain_of_500, None, "4.0 nv^3 pc.batch",
    ),
    "old names": Case(
        "`change.velocity` of `pc.with_independent`",
        called(lambda m, d, q, v: pc.with_independent(m, ["rocker"])[1].velocity(q, v), "four_bar"),
        None, "velocity_to_new velocity_to_old",
    ),
}  # fmt: skip
