"""Rods with a given centre and inertia: against bodies with universal and with spherical joints, in Pinocchio."""

from __future__ import annotations

import pickle

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises, warns

import pin_clusters as pc

# Cassie's achilles rod, by its published numbers, and one whose mass is at one side
RODS = {
    "achilles": (0.1567, 0.24719, 0.0044875, 3.754e-6, 0.5012),
    "heavy_end": (0.4, 0.38, 0.006, 1e-4, 0.5),
    "heavy_middle": (0.4, 0.25, 1e-3, 1e-4, 0.5),
}
X, Y, Z = np.eye(3)


def inertia(key: str, axial: float | None = None) -> pin.Inertia:
    mass, centre, across, about, _ = RODS[key]
    return pin.Inertia(mass, centre * X, np.diag([about if axial is None else axial, across, across]))


def levers() -> pin.Model:
    """Two levers about skew axes, the first on a slide: ends of a rod that moves in space."""
    tree = pin.Model()
    body = pin.Inertia(0.8, np.array([0.1, 0.02, 0.03]), np.diag([2e-3, 3e-3, 4e-3]))
    for name, joint, parent, at in (
        ("slide", pin.JointModelPX(), 0, np.zeros(3)), ("input", pin.JointModelRZ(), 1, np.zeros(3)),
        ("output", pin.JointModelRX(), 0, np.array([0.36, -0.25, 0.03])),
    ):  # fmt: skip
        j = tree.addJoint(parent, joint, pin.SE3(np.eye(3), at), name)
        tree.appendBodyToJoint(j, body, pin.SE3.Identity())
    return tree


ENDS = (("input", [0.05, 0.2, 0.1]), ("output", [0.0, 0.15, -0.18]))


def with_rod(key: str) -> pc.ClusterModel:
    return pc.ClusterModel(
        levers(), [pc.Rod(*ENDS, length=RODS[key][-1], inertia=inertia(key))], np.zeros(3),
        independent=["slide", "input"],
    )  # fmt: skip


def with_body(key: str, joint: pin.JointModel, axial: float) -> tuple[pin.Model, int, int]:
    """The rod as a body at the first end, x along it at the joint's neutral; its joint, and the output's."""
    tree, base = pin.Model(), levers()
    for j in (1, 2):
        tree.addJoint(base.parents[j], base.joints[j], base.jointPlacements[j], base.names[j])
        tree.appendBodyToJoint(j, base.inertias[j], pin.SE3.Identity())
    rod = tree.addJoint(2, joint, pin.SE3(np.eye(3), np.array(ENDS[0][1])), "rod")
    tree.appendBodyToJoint(rod, inertia(key, axial), pin.SE3.Identity())
    out = tree.addJoint(0, base.joints[3], base.jointPlacements[3], "output")
    tree.appendBodyToJoint(out, base.inertias[3], pin.SE3.Identity())
    return tree, rod, out


@pytest.mark.jitless
@pytest.mark.parametrize("key", RODS)
def test_as_a_body_that_cannot_spin(key: str, rng: np.random.Generator) -> None:
    """On a universal joint, without inertia about its axis, which that joint would turn it about."""
    model = with_rod(key)
    tree, *_ = with_body(key, pin.JointModelUniversal(Z, Y), 0.0)
    loop = pc.Loop(("rod", RODS[key][-1] * X), ENDS[1], "spherical")
    other = pc.ClusterModel(tree, [loop], independent=["slide", "input"])
    data, own = other.createData(), model.createData()
    here, there = model.q_reference, other.q_reference
    there = pc.project(other, np.concatenate([here[:2], there[2:4], here[2:]]), hold=["slide", "input"])
    assert np.abs(there[[0, 1, 4]] - here).max() < 1e-9  # the same branch
    for _ in range(3):
        step = rng.uniform(-0.1, 0.1, 2)
        here, there = pc.integrate(model, here, step), pc.integrate(other, there, step)
        v, a = rng.normal(size=(2, 2))
        M = pc.crba(other, data, there)
        assert np.abs(pc.crba(model, own, here) - M).max() < 1e-11 * np.abs(M).max()
        tau = pc.rnea(other, data, there, v, a)
        assert pc.rnea(model, own, here, v, a) == pytest.approx(tau, rel=1e-10, abs=1e-10)
        assert pc.aba(model, own, here, v, tau) == pytest.approx(a, rel=1e-9, abs=1e-9)
        for energy in (pc.computeKineticEnergy, pc.computePotentialEnergy):
            arguments = (v,) if energy is pc.computeKineticEnergy else ()
            mine, its = energy(model, own, here, *arguments), energy(other, data, there, *arguments)
            assert mine - its == pytest.approx(0.0, abs=1e-10)
        assert pc.centerOfMass(model, own, here) == pytest.approx(pc.centerOfMass(other, data, there), abs=1e-11)
        h = pc.computeCentroidalMomentum(other, data, there, v)
        assert np.abs(pc.computeCentroidalMomentum(model, own, here, v).vector - h.vector).max() < 1e-10
        derivatives = zip(
            pc.computeRNEADerivatives(model, own, here, v, a), pc.computeRNEADerivatives(other, data, there, v, a),
            strict=True,
        )  # fmt: skip
        for mine, its in derivatives:
            assert np.abs(mine - its).max() < 1e-8 * max(1.0, np.abs(its).max())


@pytest.mark.parametrize("key", RODS)
def test_as_a_body_that_could_spin_and_does_not(key: str, rng: np.random.Generator) -> None:
    """Between two ball joints with all of its inertia: at rest about its axis it stays so, and moves the same."""
    model = with_rod(key)
    tree, rod, out = with_body(key, pin.JointModelSpherical(), RODS[key][3])
    data, own = tree.createData(), model.createData()
    tie = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D, tree, rod, pin.SE3(np.eye(3), RODS[key][-1] * X), out,
        pin.SE3(np.eye(3), np.array(ENDS[1][1])), pin.ReferenceFrame.LOCAL,
    )  # fmt: skip
    ties, tied = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    ties.append(tie)
    tied.append(tie.createData())
    try:
        pin.initConstraintDynamics(tree, data, ties, tied)
    except TypeError:  # before Pinocchio 4
        pin.initConstraintDynamics(tree, data, ties)
    for _ in range(3):
        q = pc.integrate(model, model.q_reference, rng.uniform(-0.1, 0.1, 2))
        v, tau = rng.normal(size=(2, 2))
        rates = pc.spanning_velocity(model, own, q, v)
        # the rod from its ends: x along it, turning only across itself
        pin.forwardKinematics(model.tree, own.tree, q, rates)
        (ja, a), (jb, b) = ((model.tree.getJointId(n), np.array(p)) for n, p in ENDS)
        pa, pb = own.tree.oMi[ja].act(a), own.tree.oMi[jb].act(b)
        va, vb = (
            own.tree.oMi[j].rotation @ (own.tree.v[j].linear + np.cross(own.tree.v[j].angular, p))
            for j, p in ((ja, a), (jb, b))
        )
        n = (pb - pa) / np.linalg.norm(pb - pa)
        turn = pin.Quaternion.FromTwoVectors(X, own.tree.oMi[ja].rotation.T @ n)
        spin = np.cross(n, vb - va) / np.linalg.norm(pb - pa)
        carrier = own.tree.oMi[ja].rotation @ own.tree.v[ja].angular
        relative = (own.tree.oMi[ja].rotation @ turn.matrix()).T @ (spin - carrier)
        whole = np.concatenate([q[:2], turn.coeffs(), q[2:]])
        whole_v = np.concatenate([rates[:2], relative, rates[2:]])
        torques = np.concatenate([tau, np.zeros(4)])
        found = pin.constraintDynamics(
            tree, data, whole, whole_v, torques, ties, tied, pin.ProximalSettings(1e-12, 1e-12, 50)
        )
        assert pc.aba(model, own, q, v, tau) == pytest.approx(found[:2], rel=1e-8, abs=1e-8)


def test_a_slender_rod_is_one_with_the_inertia_of_a_slender_rod(rng: np.random.Generator) -> None:
    slender = pin.Inertia(0.3, 0.25 * X, np.diag([0.0, 0.3 * 0.25 / 12.0, 0.3 * 0.25 / 12.0]))
    models = [
        pc.ClusterModel(levers(), [pc.Rod(*ENDS, length=0.5, **given)], independent=["slide", "input"])
        for given in ({"mass": 0.3}, {"inertia": slender})
    ]
    q, v, a = pc.neutral(models[0]), *rng.normal(size=(2, 2))
    one, two = (pc.rnea(m, m.createData(), q, v, a) for m in models)
    assert one == pytest.approx(two, rel=1e-13)
    again = pickle.loads(pickle.dumps(models[1]))
    assert pc.rnea(again, again.createData(), q, v, a) == pytest.approx(two, rel=1e-13)


def test_an_inertia_that_is_not_round() -> None:
    mass, centre, across, about, length = RODS["achilles"]
    near = np.diag([about, across, 1.004 * across])
    with warns(pc.PinClustersWarning, "0.004"):
        pc.Rod(*ENDS, length=length, inertia=pin.Inertia(mass, centre * X, near))
    for wrong in (
        pin.Inertia(mass, centre * X, np.diag([about, across, 1.1 * across])),
        pin.Inertia(mass, centre * Y, np.diag([across, about, across])),
        pin.Inertia(mass, np.array([centre, 0.05, 0.0]), np.diag([about, across, across])),
    ):
        with raises(pc.InertiaError, "b"):
            pc.Rod(*ENDS, length=length, inertia=wrong)


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"inertia": 3.0}, pc.ArgumentTypeError, "inertia pinocchio.Inertia float"),
        ({"inertia": inertia("achilles"), "mass": 0.3}, pc.InertiaError, "0.3 0.1567"),
        ({"inertia": pin.Inertia.Zero()}, pc.InertiaError, "0"),
        ({"inertia": pin.Inertia(1.0, X, np.diag([3.0, 1.0, 1.0]))}, pc.InertiaError, ""),
    ],
)  # fmt: skip
def test_refused(given: dict[str, object], kind: type[Exception], words: str) -> None:
    with raises(kind, words):
        pc.Rod(*ENDS, length=0.5, **given)  # type: ignore[arg-type]


def test_a_mass_too_uneven_for_a_light_body() -> None:
    """A lump at a third: the end near it counts as less than nothing."""
    tree = levers()
    tree.inertias[3] = pin.Inertia(0.01, np.zeros(3), 1e-3 * np.eye(3))
    lump = pin.Inertia(1.0, 0.15 * X, np.diag([1e-5, 1e-4, 1e-4]))
    with raises(pc.InertiaError, "'output'"):
        pc.ClusterModel(tree, [pc.Rod(*ENDS, length=0.5, inertia=lump)], independent=["slide", "input"])


def test_with_another_mass() -> None:
    rod = pc.Rod(*ENDS, length=0.5, inertia=inertia("heavy_end"))
    double = rod.with_mass(0.8)
    assert double.mass == 0.8
    assert double._moments == pytest.approx((0.38, 0.012))
    assert rod.with_mass(0.0).inertia is None
    assert pc.Rod(*ENDS, mass=0.3).with_mass(0.5) == pc.Rod(*ENDS, mass=0.5)
