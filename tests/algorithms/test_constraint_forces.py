"""Forces of constraints and bearings: against Newton and Euler body by body, and by hand."""

from __future__ import annotations

import warnings

import numpy as np
import pinocchio as pin
import pytest
from samples import mechanisms, pool
from support.messages import raises

import pin_clusters as pc
from pin_clusters.algorithms.contacts.constraint_forces import (
    ConstraintForces,
    CouplingForce,
    LoopWrench,
    RodForce,
    constraint_forces,
)
from pin_clusters.constraints.closures import FrameClosure, RodClosure
from pin_clusters.constraints.loop import Loop
from pin_clusters.verification.baselines import projection

# relative to the largest force or torque at work; cond(K_d) < 1e3 amplifies rounding
GATE = 1e-10
X, Y, Z = np.eye(3)
CASES = [*mechanisms.FIXED, *range(12)]


class State:
    """A mechanism in motion under torques on all joints and forces on all bodies, and what was found about it."""

    def __init__(self, m: mechanisms.Mechanism, rng: np.random.Generator) -> None:
        with warnings.catch_warnings():
            if m.exact:  # says that rows are dropped
                warnings.simplefilter("ignore", pc.PinClustersWarning)
            self.model = model = m.build()
        self.q = mechanisms.random_pose(model, m.q0, rng, m.spread, 10.0 * m.exact)
        self.v, self.tau = rng.normal(size=model.nv), 3.0 * rng.normal(size=model.tree.nv)
        self.fext = 3.0 * rng.normal(size=(model.njoints, 6))
        self.data = model.createData()
        self.forces = constraint_forces(model, self.data, self.q, self.v, self.tau, self.fext)
        oracle = projection.createData(model)
        oracle.couple(self.q, self.v)
        self.v_tree = oracle.loops.G @ self.v
        self.a_tree = oracle.loops.G @ self.forces.acceleration + oracle.loops.g
        self.tree, self.kinematics = model.tree, model.tree.createData()
        pin.forwardKinematics(self.tree, self.kinematics, self.q, self.v_tree, self.a_tree)
        self.span, self.expanded = oracle.span, oracle.span.tree.createData()
        self.whole = oracle.span.tree
        q, rates = self.span.configuration(self.q), (self.span.from_tree @ x for x in (self.v_tree, self.a_tree))
        pin.forwardKinematics(self.whole, self.expanded, q, *rates)
        scale = max(1.0, *(float(np.abs(x).max()) for x in (self.forces.joints, self.tau, self.fext)))
        self.gate = max(GATE, 300.0 * m.exact) * scale

    def needed(self, j: int) -> np.ndarray:
        """Newton-Euler force of the body of a joint without weight, with the rotors on it as bodies; world, origin."""
        k = int(self.span.from_tree_id[j])
        total = pin.Force.Zero()
        for i in (k, *(r for r in self.span.rotors if self.whole.parents[r] == k)):
            I, v, a = self.whole.inertias[i], self.expanded.v[i], self.expanded.a[i]
            weight = self.expanded.oMi[i].actInv(pin.Motion(self.model.gravity))
            total += self.expanded.oMi[i].act(I * a + v.cross(I * v) - I * weight)
        return total.vector

    def point(self, j: int, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A point of a body, its velocity, its acceleration."""
        if not j:
            return np.asarray(p), np.zeros(3), np.zeros(3)
        M, v, a = self.kinematics.oMi[j], self.kinematics.v[j], self.kinematics.a[j]
        speed = v.linear + np.cross(v.angular, p)
        rate = a.linear + np.cross(a.angular, p) + np.cross(v.angular, speed)
        return M.act(np.asarray(p)), M.rotation @ speed, M.rotation @ rate

    def on_bodies(self) -> np.ndarray:
        """What loops and rods do to each body, as documented; in the world, about its origin."""
        out = np.zeros((self.model.njoints, 6))
        for c, found in zip(self.model.closures, self.forces.loops, strict=True):
            if isinstance(found, LoopWrench):
                assert isinstance(c, FrameClosure)
                A, B = self.kinematics.oMi[c.joint_a] * found.placement, self.kinematics.oMi[c.joint_b] * c.placement_b
                force, moment = A.rotation @ found.wrench[:3], A.rotation @ found.wrench[3:]
                wrench = np.concatenate([force, moment + np.cross(B.translation, force)])
                out[c.joint_b] += wrench
                out[c.joint_a] -= wrench
            elif isinstance(found, RodForce):
                assert isinstance(c, RodClosure)
                for j, p, force in ((c.joint_a, c.point_a, found.force_a), (c.joint_b, c.point_b, found.force_b)):
                    out[j] += np.concatenate([force, np.cross(self.point(j, p)[0], force)])
        return out


@pytest.fixture(params=pool.some(CASES, [*pool.FIXED, *range(2)]))
def state(request: pytest.FixtureRequest, rng: np.random.Generator) -> State:
    name = request.param
    return State(mechanisms.FIXED[name](rng) if isinstance(name, str) else mechanisms.random_one(rng, name), rng)


def test_every_body_obeys_newton_and_euler(state: State) -> None:
    """Bearings, loops, rods, external forces and weight: rotors as bodies, which shares nothing with spin elements."""
    loops, oMi = state.on_bodies(), state.kinematics.oMi
    through = [oMi[j].act(pin.Force(state.forces.joints[j])).vector for j in range(state.model.njoints)]
    assert not np.any(state.forces.joints[0])
    for j in range(1, state.model.njoints):
        total = loops[j] + through[j] + oMi[j].act(pin.Force(state.fext[j])).vector
        total -= sum((through[k] for k in range(1, state.model.njoints) if state.tree.parents[k] == j), np.zeros(6))
        arm = 1.0 + np.linalg.norm(oMi[j].translation)  # moments about the origin
        assert np.abs(total - state.needed(j)).max() < state.gate * arm, state.model.names[j]


def test_joints_transmit_their_torques_along_their_motion(state: State) -> None:
    """Nothing along a free joint's axis but motors, couplings, and what rotors and armature take up."""
    model, forces = state.model, state.forces
    expected = state.tau - np.array(model.inertia_tree.armature) * state.a_tree
    for found in (*(f for f in forces.loops if isinstance(f, CouplingForce)), *forces.couplings):
        for name, torque in zip(found.joints, found.torques, strict=True):
            expected[model.tree.joints[model.getJointId(name)].idx_v] += torque
    for r, torque in zip(model.rotors, forces.rotors, strict=True):
        for i, ratio in r.drivers if r.source is not None else ():
            expected[i] -= ratio * torque
    for j in range(1, model.njoints):
        joint = state.tree.joints[j]
        own = slice(joint.idx_v, joint.idx_v + joint.nv)
        axes = pin.computeJointJacobian(state.tree, state.tree.createData(), state.q, j)[:, own]
        assert np.abs(axes.T @ forces.joints[j] - expected[own]).max(initial=0.0) < state.gate, model.names[j]


def test_loops_and_rods_do_no_work(state: State) -> None:
    for c, found in zip(state.model.closures, state.forces.loops, strict=True):
        if isinstance(found, LoopWrench):
            assert isinstance(c, FrameClosure)
            A, B = (state.kinematics.oMi[j] * p for j, p in ((c.joint_a, c.placement_a), (c.joint_b, c.placement_b)))
            twists = [state.kinematics.oMi[j].act(state.kinematics.v[j]).vector for j in (c.joint_a, c.joint_b)]
            spin = twists[1] - twists[0]
            slip = spin[:3] + np.cross(spin[3:], B.translation)
            force, moment = (A.rotation @ x for x in (found.wrench[:3], found.wrench[3:]))
            speed = 1.0 + float(np.abs(spin).max())
            assert abs(force @ slip + moment @ spin[3:]) < state.gate * speed
            assert found.joints == (state.model.names[c.joint_a], state.model.names[c.joint_b])
        elif isinstance(found, RodForce):
            assert isinstance(c, RodClosure)
            (a, va, aa), (b, vb, ab) = state.point(c.joint_a, c.point_a), state.point(c.joint_b, c.point_b)
            u = (b - a) / np.linalg.norm(b - a)
            weight = c.mass * np.asarray(state.model.gravity.linear)
            # Newton: both ends move the centre; Euler about the centre
            length = float(np.linalg.norm(b - a))
            at, inertia = (0.5 * length, c.mass * length**2 / 12.0) if c.centre is None else (c.centre, c.moment)
            total = -found.force_a - found.force_b
            assert np.abs(total - (c.mass * (aa + at / length * (ab - aa)) - weight)).max() < state.gate
            turn = np.cross(u, (ab - aa)) / length
            moment = np.cross(at * u, found.force_a) - np.cross((length - at) * u, found.force_b)
            assert np.abs(moment - inertia * turn).max() < state.gate
            if not c.mass:
                assert np.abs(found.force_a - found.tension * u).max() < state.gate
            assert abs(found.tension * u @ (vb - va)) < state.gate


def test_accelerations_are_those_of_aba(state: State) -> None:
    model, data = state.model, state.model.createData()
    tau = pc.independent_torque(model, data, state.q, state.tau)
    a = pc.aba(model, data, state.q, state.v, tau, state.fext)
    np.testing.assert_allclose(state.forces.acceleration, a, rtol=1e-12)
    np.testing.assert_array_equal(state.data.ddq, a)
    # the difference to inverse dynamics of the tree is all that constraints bring up
    needed = pc.rnea(model, data, state.q, state.v, a, state.fext)
    assert np.abs(needed - tau).max(initial=0.0) < state.gate * 10.0


UNIQUE = {
    "four_bar": False,  # axes are parallel anyway
    "four_bar_spherical": False,  # what holds the point across the plane could as well be a bearing
    "rssr": True,
    "rssr_massive": True,
    "rssr_uneven": True,
    "spatial_ball_loop": True,
    "spatial_ball_in_tree": True,
    "delta": True,
    "sarrus": False,
    "bennett": False,
    "sloppy_four_bar": False,
}


@pytest.mark.parametrize("name", UNIQUE)
def test_redundant_constraints_are_flagged(name: str, rng: np.random.Generator) -> None:
    state = State(mechanisms.FIXED[name](rng), rng)
    assert all(f.unique is UNIQUE[name] for f in state.forces.loops)
    assert bool(state.forces.unique.all()) is UNIQUE[name]
    assert state.forces.unique[0]


def test_what_is_unique_is_the_same_in_every_solution(rng: np.random.Generator) -> None:
    """Base, passenger and the bars of a planar loop: a moment across the loop may go either way, the rest may not."""
    m = mechanisms.four_bar(rng, base=True)
    model = m.build()
    data = model.createData()
    found = constraint_forces(model, data, m.q0, rng.normal(size=7), rng.normal(size=model.tree.nv))
    flags = dict(zip(model.names, found.unique, strict=True))
    assert flags["base"]
    assert not flags["crank"]
    assert not flags["rocker"]
    # in the plane all is determined: a loop that states no more has the same force there
    loop = m.constraints[0]
    kind = Loop(loop.frame_a, loop.frame_b, "spherical")
    other = pc.ClusterModel(m.tree, [kind], m.q0, independent=m.independent)
    v, tau = rng.normal(size=7), rng.normal(size=model.tree.nv)
    forces = [constraint_forces(x, x.createData(), m.q0, v, tau).loops[0] for x in (model, other)]
    in_world = [f.placement.rotation @ f.wrench[:3] for f in forces]
    axis = forces[0].placement.rotation[:, 2]
    across = np.eye(3) - np.outer(axis, axis)
    np.testing.assert_allclose(across @ in_world[0], across @ in_world[1], atol=1e-9 * np.abs(in_world[0]).max())


def two_bars(mass: float) -> tuple[pc.ClusterModel, np.ndarray]:
    """Two balanced arms carry a weight by two rods, from tips at (-+0.3, 0.1) to (0, 0.5)."""
    tree = pin.Model()
    for name, x in (("left", -0.3), ("right", 0.3)):
        j = tree.addJoint(0, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([x, 0.0, -0.2])), name)
        tree.appendBodyToJoint(j, pin.Inertia(2.0, np.zeros(3), 0.1 * np.eye(3)), pin.SE3.Identity())
    slide = tree.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "across")
    lift = tree.addJoint(slide, pin.JointModelPZ(), pin.SE3.Identity(), "up")
    tree.appendBodyToJoint(lift, pin.Inertia(5.0, np.zeros(3), 0.1 * np.eye(3)), pin.SE3.Identity())
    rods = [pc.Rod((n, [0.0, 0.0, 0.3]), "up", mass=mass, name=n) for n in ("left", "right")]
    q = np.array([0.0, 0.0, 0.0, 0.5])
    return pc.ClusterModel(tree, rods, q, independent=["left", "right"]), q


@pytest.mark.parametrize("mass", [0.0, 0.8])
def test_two_bars_by_hand(mass: float) -> None:
    """Each rod: moments about its foot give the thrust H = (s / h) (W / 2 + m g / 2) with s = 0.3, h = 0.4."""
    model, q = two_bars(mass)
    g = 9.81
    weight, rod = 5.0 * g, mass * g
    thrust = 0.3 / 0.4 * (0.5 * weight + 0.5 * rod)
    # the left arm is pushed to the left, 0.3 m above its hinge: about y, z cross -x is -y
    tau_tree = np.array([0.3 * thrust, -0.3 * thrust, 0.0, 0.0])
    found = constraint_forces(model, model.createData(), q, np.zeros(2), tau_tree)
    assert isinstance(found, ConstraintForces)
    np.testing.assert_allclose(found.acceleration, 0.0, atol=1e-12)
    for k, sign in ((0, 1.0), (1, -1.0)):
        rod_force = found.loops[k]
        assert isinstance(rod_force, RodForce)
        assert rod_force.unique
        assert rod_force.constraint == f"Rod({model.names[1 + k]!r})"
        np.testing.assert_allclose(rod_force.force_a, [-sign * thrust, 0.0, -0.5 * weight - rod], atol=1e-12)
        np.testing.assert_allclose(rod_force.force_b, [sign * thrust, 0.0, 0.5 * weight], atol=1e-12)
        if not mass:
            assert rod_force.tension == pytest.approx(-0.5 * weight / 0.8, rel=1e-13)  # 0.4 up, 0.5 long
        # the hinge bears the arm's own weight and what the rod brings, and the motor's torque
        bearing = [sign * thrust, 0.0, 0.5 * weight + rod + 2.0 * g, 0.0, sign * 0.3 * thrust, 0.0]
        np.testing.assert_allclose(found.joints[1 + k], bearing, atol=1e-12)
    # the slides bear nothing
    np.testing.assert_allclose(found.joints[3:], 0.0, atol=1e-11)
    assert found.unique.all()


def test_a_swinging_rod_is_a_pendulum() -> None:
    """A rod from the universe to a light slide: its ends bear what a slender pendulum needs."""
    tree = pin.Model()
    slide = tree.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "across")
    lift = tree.addJoint(slide, pin.JointModelPZ(), pin.SE3.Identity(), "up")
    tree.appendBodyToJoint(lift, pin.Inertia(1e-6, np.zeros(3), 1e-9 * np.eye(3)), pin.SE3.Identity())
    rod = pc.Rod("universe", "up", mass=1.2)
    angle = 0.6
    q = 0.5 * np.array([np.sin(angle), -np.cos(angle)])
    model = pc.ClusterModel(tree, [rod], q, independent=["across"])
    found = constraint_forces(model, model.createData(), q, [0.0], np.zeros(2))
    alpha = -1.5 * 9.81 * np.sin(angle) / 0.5
    assert found.acceleration[0] == pytest.approx(0.5 * np.cos(angle) * alpha, rel=1e-5)
    force = found.loops[0]
    assert isinstance(force, RodForce)
    along, across = np.array([np.sin(angle), 0.0, -np.cos(angle)]), np.array([np.cos(angle), 0.0, np.sin(angle)])
    pivot = -force.force_a  # what holds the rod
    assert pivot @ along == pytest.approx(-1.2 * 9.81 * np.cos(angle), rel=1e-5)
    assert pivot @ across == pytest.approx(1.2 * 9.81 * np.sin(angle) / 4.0, rel=1e-5)
    np.testing.assert_allclose(force.force_b, 0.0, atol=1e-4)


def test_couplings_and_rotors_by_hand() -> None:
    """A gear between two wheels, a rotor on the second, a motor on the first: no loop at all."""
    tree = pin.Model()
    tree.gravity = pin.Motion.Zero()
    for name, inertia in (("one", 0.4), ("two", 0.3)):
        j = tree.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), name)
        tree.appendBodyToJoint(j, pin.Inertia(4.0, np.zeros(3), inertia * np.eye(3)), pin.SE3.Identity())
    gear = pc.Gear("one", "two", -3.0)
    model = pc.ClusterModel(tree, [gear, pc.Rotor("two", 5.0, axial_inertia=0.01)])
    found = constraint_forces(model, model.createData(), np.zeros(2), [0.7], [2.0, 0.5])
    # 0.4 a = 2 + 3 f', and on the second, which moves at -3 a: (0.3 + 25 * 0.01)(-3 a) = 0.5 + f
    a = (2.0 - 3.0 * 0.5) / (0.4 + 9.0 * 0.55)
    f = -3.0 * 0.55 * a - 0.5
    assert found.acceleration[0] == pytest.approx(a, rel=1e-12)
    (coupling,) = found.couplings
    assert coupling.constraint == gear.label
    assert coupling.joints == ("two", "one")
    np.testing.assert_allclose(coupling.torques, [f, 3.0 * f], rtol=1e-12)
    assert coupling.unique
    rotor = {r.name: x for r, x in zip(model.rotors, found.rotors, strict=True)}
    assert rotor["two"] == pytest.approx(0.3 * -3.0 * a, rel=1e-12)
    assert found.rotors[-1] == pytest.approx(0.01 * 5.0 * -3.0 * a, rel=1e-12)
    assert found.joints[2, 5] == pytest.approx(0.3 * -3.0 * a, rel=1e-12)
    assert found.loops == ()


def test_without_constraints_it_is_pinocchio(rng: np.random.Generator) -> None:
    tree = pin.buildSampleModelManipulator()
    model = pc.ClusterModel(tree)
    q, v, tau = rng.normal(size=(3, tree.nv))
    found = constraint_forces(model, model.createData(), q, v, tau)
    data = tree.createData()
    np.testing.assert_allclose(pin.rnea(tree, data, q, v, found.acceleration), tau, atol=1e-9)
    np.testing.assert_allclose(found.joints[1:], [f.vector for f in list(data.f)[1:]], atol=1e-9)
    assert found.loops == found.couplings == ()
    assert found.unique.all()


def test_results_are_fresh_and_errors_name_the_argument(rng: np.random.Generator) -> None:
    model, q = two_bars(0.3)
    data = model.createData()
    found = constraint_forces(model, data, q, np.zeros(2), np.ones(4))
    kept = found.joints.copy(), found.loops[0].force_a.copy()
    constraint_forces(model, data, q, np.ones(2), np.zeros(4))
    np.testing.assert_array_equal(found.joints, kept[0])
    np.testing.assert_array_equal(found.loops[0].force_a, kept[1])
    with raises(pc.ShapeError, "tau_tree 2 nv 4"):
        constraint_forces(model, data, q, np.zeros(2), np.zeros(2))
    with raises(pc.ShapeError, "v 4"):
        constraint_forces(model, data, q, np.zeros(4), np.zeros(4))
    with raises(pc.ShapeError, "fext 1"):
        constraint_forces(model, data, q, np.zeros(2), np.zeros(4), [pin.Force.Zero()])
    with raises(pc.ArgumentTypeError, "ClusterModel"):
        constraint_forces(model.tree, data, q, np.zeros(2), np.zeros(4))
    # the rods lie in one line: their forces do not determine how the weight moves across
    with raises(pc.SingularClusterError, "'left'"):
        constraint_forces(model, data, [0.0, 0.0, 0.0, 0.1], np.zeros(2), np.zeros(4))
    # not a number goes through, as in aba
    broken = constraint_forces(model, data, np.full(4, np.nan), np.zeros(2), np.zeros(4))
    assert np.isnan(broken.acceleration).all()
    assert np.isnan(broken.loops[0].tension)
    assert np.isnan(broken.joints[1:]).any()
    assert not broken.unique[1:].any()
