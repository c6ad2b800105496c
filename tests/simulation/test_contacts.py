"""Contacts that a simulation keeps closed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises

import pin_clusters as pc

pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
POINT, WHOLE = pin.ContactType.CONTACT_3D, pin.ContactType.CONTACT_6D
FEET = ("FL_knee", "HR_knee")
SOLE = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.2]))


def feet(model: pc.ClusterModel, kind: Any = POINT, names: tuple[str, ...] = FEET) -> list[Any]:
    return [pc.RigidConstraintModel(kind, model, model.getJointId(n), SOLE, pin.LOCAL_WORLD_ALIGNED) for n in names]


class Springs:
    """A robot on its feet, held up by springs in its joints: nothing is lost."""

    def __init__(self, name: str = "mini_cheetah") -> None:
        self.model = pc.load(name)
        rng = np.random.default_rng(0)
        self.q = pc.integrate(self.model, pc.neutral(self.model), 0.1 * rng.standard_normal(self.model.nv))
        self.stiffness = np.r_[np.zeros(6), np.full(self.model.nv - 6, 40.0)]

    def torque(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return -self.stiffness * pc.difference(self.model, self.q, q)

    def simulate(self, duration: float, **options: Any) -> pc.SimulationResult:
        contacts = feet(self.model)
        return pc.simulate(
            self.model, self.q, np.zeros(self.model.nv), self.torque, duration, contacts=contacts, **options
        )

    def energy(self, result: pc.SimulationResult) -> np.ndarray:
        twists = np.array([pc.difference(self.model, self.q, q) for q in result.q])
        return np.asarray(result.energy + 0.5 * twists**2 @ self.stiffness)


def test_energy_and_drift() -> None:
    """What swings on two feet keeps its energy, up to the order of the method, and its feet where they are."""
    s, errors = Springs(), []
    for dt in (4e-3, 2e-3):
        result = s.simulate(0.2, dt=dt, method="rkmk4")
        energy = s.energy(result)
        errors.append(np.abs(energy - energy[0]).max() / np.ptp(result.energy))
        assert result.residual.max() < 1e-12  # one step of Newton's, from a drift of the order of 1e-7
    assert errors[1] < 1e-6
    assert errors[1] < errors[0] / 6.0  # between third and fourth order: the increments that close contacts are third


@pytest.mark.long
def test_ten_seconds() -> None:
    s = Springs()
    result = s.simulate(10.0, method="rkmk4", record=50)
    energy = s.energy(result)
    assert result.residual.max() < 1e-12
    assert np.abs(energy - energy[0]).max() < 1e-3 * np.ptp(result.energy)


def test_a_body_held_at_a_point_is_a_spherical_pendulum() -> None:
    """By another route: the same body on a spherical joint, without a contact."""
    pin.seed(0)
    inertia, arm = pin.Inertia.Random(), pin.Inertia.Random()
    ends = []
    for joint in (pin.JointModelFreeFlyer(), pin.JointModelSpherical()):
        tree = pin.Model()
        base = tree.addJoint(0, joint, pin.SE3.Identity(), "base")
        tree.appendBodyToJoint(base, inertia, pin.SE3.Identity())
        j = tree.addJoint(base, pin.JointModelRX(), pin.SE3(np.eye(3), np.array([0.1, 0.2, 0.3])), "arm")
        tree.appendBodyToJoint(j, arm, pin.SE3.Identity())
        model = pc.ClusterModel(tree)
        floating = joint.nv == 6
        held = [pc.RigidConstraintModel(POINT, model, 1, pin.LOCAL)] if floating else []
        v = np.array([*[0.0] * (3 if floating else 0), 1.0, -2.0, 0.5, 3.0])
        result = pc.simulate(model, pc.neutral(model), v, duration=0.2, method="rkmk4", contacts=held)
        ends.append(np.r_[result.q[-1][-5:], result.v[-1][-4:]])
    assert np.abs(ends[0] - ends[1]).max() < 1e-8  # steps of 1e-3, fourth order


@pytest.mark.parametrize("kind", [POINT, WHOLE])
def test_forces_and_momentum(kind: Any) -> None:
    """Weight and contact forces are the rate of the momentum."""
    s = Springs()
    contacts = feet(s.model, kind, FEET if kind == POINT else FEET[:1])
    result = pc.simulate(s.model, s.q, np.zeros(s.model.nv), s.torque, 0.02, contacts=contacts)
    data, weight = s.model.createData(), 9.81 * pin.computeTotalMass(s.model.tree)
    for q, v, a, f in zip(result.q, result.v, result.a, result.contact_forces, strict=True):
        pc.computeCentroidalMomentumTimeVariation(s.model, data, q, v, a)
        total = f.reshape(-1, 3).sum(axis=0) if kind == POINT else f[:3]
        assert np.allclose(data.dhg.linear, total - [0.0, 0.0, weight], rtol=0.0, atol=1e-9 * weight)


def pull(contact: Any, Kp: float, Kd: float) -> None:
    """Give a contact gains; Pinocchio 3 has one per row, and another name for them."""
    if hasattr(contact, "m_baumgarte_parameters"):
        contact.m_baumgarte_parameters.Kp, contact.m_baumgarte_parameters.Kd = Kp, Kd
    else:
        contact.corrector.Kp[:], contact.corrector.Kd[:] = Kp, Kd


@pytest.mark.parametrize("dt", [1e-3, 2e-4])
def test_gains_that_pull_beyond_reach(dt: float) -> None:
    """The tip of two links goes straight out, critically damped, until they are in line: at a time known beforehand."""
    tree, place = pin.Model(), pin.SE3.Identity()
    for name in ("shoulder", "elbow"):
        j = tree.addJoint(tree.njoints - 1, pin.JointModelRY(), place, name)
        place = pin.SE3(np.eye(3), np.array([0.5, 0.0, 0.0]))
        tree.appendBodyToJoint(j, pin.Inertia.FromSphere(1.0, 0.1), place)
    q, data = np.array([0.3, 1.2]), tree.createData()
    pin.forwardKinematics(tree, data, q)
    tip = (data.oMi[2] * place).translation
    start, goal = float(np.linalg.norm(tip)), 1.2
    contact = pc.RigidConstraintModel(
        POINT, tree, 2, place, 0, pin.SE3(np.eye(3), goal / start * tip), pin.LOCAL_WORLD_ALIGNED
    )
    pull(contact, 100.0, 20.0)
    with raises(pc.SimulationError, "'elbow' simulate dt") as caught:
        pc.simulate(pc.ClusterModel(tree), q, np.zeros(2), None, 1.0, dt, contacts=[contact])
    times = np.linspace(0.0, 1.0, 100_001)
    out = goal + (start - goal) * (1.0 + 10.0 * times) * np.exp(-10.0 * times)
    assert abs(float(caught.value.result.time[-1]) - times[np.argmax(out > 1.0)]) < 5.0 * dt


def test_gains_bring_a_contact_where_it_is_wanted() -> None:
    model = pc.load("mini_cheetah")
    (foot,) = feet(model, names=FEET[:1])
    pull(foot, 1e4, 2e2)
    data, q = model.createData(), pc.neutral(model)
    pc.forwardKinematics(model, data, q)
    there = (data.oMi[foot.joint1_id] * SOLE).translation + np.array([0.01, 0.0, 0.02])
    foot.joint2_placement = pin.SE3(np.eye(3), there)
    result = pc.simulate(model, q, np.zeros(model.nv), duration=0.15, contacts=[foot])
    pc.forwardKinematics(model, data, result.q[-1])
    off = (data.oMi[foot.joint1_id] * SOLE).translation - foot.joint2_placement.translation
    assert np.linalg.norm(off) < 1e-4


def test_files_and_no_contacts(tmp_path: Path) -> None:
    s = Springs()
    result = s.simulate(0.005)
    result.to_npz(tmp_path / "a.npz")
    assert np.array_equal(pc.SimulationResult.from_npz(tmp_path / "a.npz").contact_forces, result.contact_forces)
    assert result.contact_forces.shape == (6, 6)
    free = pc.simulate(s.model, s.q, np.zeros(s.model.nv), duration=0.005, contacts=[])
    assert free.contact_forces.shape == (6, 0)
    # a file from before contacts
    with np.load(tmp_path / "a.npz") as file:
        np.savez(tmp_path / "old.npz", **{name: file[name] for name in file if name != "contact_forces"})
    assert pc.SimulationResult.from_npz(tmp_path / "old.npz").contact_forces.size == 0


def test_bad_input() -> None:
    s = Springs()
    contacts, rest = feet(s.model), np.zeros(s.model.nv)
    with raises(pc.SimulationError, "contacts[1] 'HR_knee' v0 pc.impulseDynamics"):
        pc.simulate(s.model, s.q, np.eye(s.model.nv)[-3], contacts=contacts)
    after = pc.impulseDynamics(
        s.model, s.model.createData(), s.q, np.ones(s.model.nv), contacts, [c.createData() for c in contacts]
    )
    assert pc.simulate(s.model, s.q, after, duration=0.002, contacts=contacts).residual.max() < 1e-12
    with raises(pc.SimulationError, "dynamics"):
        pc.simulate(s.model, s.q, rest, contacts=contacts, dynamics=lambda q, v, tau: v)
    for wrong in (contacts[0], "FL_knee", 3):
        with raises(pc.ArgumentTypeError, "contacts"):
            pc.simulate(s.model, s.q, rest, contacts=wrong)
    with raises(pc.ArgumentTypeError, "pin.RigidConstraintModel"):
        pc.simulate(s.model, s.q, rest, contacts=["FL_knee"])
