"""Code of one robot for kernels that read memory: Jacobians and derivatives of places, centres of mass, regressors.

The checks are other routes: derivatives of the operation graph, and the laws in which regressors are linear.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool

import pin_clusters as pc
from pin_clusters.compiler import entry_points as kernels
from pin_clusters.compiler.operations import FRAME_TERMS, PLACE_DERIVATIVES
from pin_clusters.compiler.specialising.robot_functions import plain
from pin_clusters.compiler.specialising.variants import IN_MEMORY

pytestmark = [
    pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning"),
    pytest.mark.skipif(not kernels.JIT or kernels.BOUNDSCHECK, reason="nothing is traced"),
]
AXES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)
OFTEN = ["tree-0", "rotors_on_a_loop_on_free_flyer"]
ROBOTS = [
    "four_bar", *(pytest.param(name, marks=pytest.mark.ci) for name in ("mini_cheetah", "tello")),
    pytest.param("kangaroo_leg", marks=pytest.mark.long),  # 55 s of compilation
]  # fmt: skip


@pytest.fixture(autouse=True)
def numba_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def refuse(kernel: kernels.Kernel) -> None:
        raise AssertionError(f"Numba would compile {kernel.name}")

    monkeypatch.setattr(kernels.Kernel, "_make", refuse)
    for kernel in kernels.KERNELS:
        monkeypatch.setattr(kernel, "fast", None)
        monkeypatch.setattr(kernel, "compiled_address", 0)
    with pc.engine("traced"):
        yield


def near(x: Any, y: Any, limit: float = 1e-12) -> None:
    assert np.abs(np.subtract(x, y)).max(initial=0.0) <= limit * max(1.0, np.abs(y).max(initial=0.0))


def derivatives_of_frames(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
    """Derivatives of velocities and accelerations are those of the operation graph of frame kinematics."""
    data = model.createData()
    last = model.nframes - 1
    for axes in AXES:
        by_graph = pc.trace(model, "getFrameAccelerationDerivatives", frames=[last], reference=axes)(q, v, a)
        of_velocity = pc.trace(model, "getFrameVelocityDerivatives", frames=[last], reference=axes)(q, v)
        pc.computeForwardKinematicsDerivatives(model, data, q, v, a)
        for _ in range(2):  # through Python, then by a plan
            found = pc.getFrameAccelerationDerivatives(model, data, last, axes)
            for x, y in zip((*found[1:], found[0]), (*by_graph, of_velocity[0]), strict=True):
                near(x, y.reshape(x.shape), 1e-10 if model.closures else 1e-12)


@pytest.mark.parametrize("name", ROBOTS)
def test_derivatives_of_shipped_robots(name: str, rng: np.random.Generator) -> None:
    model = pc.load(name)
    derivatives_of_frames(model, pc.randomConfiguration(model), *rng.normal(size=(2, model.nv)))


@pytest.mark.parametrize("key", pool.some(pool.ALL, OFTEN))
def test_derivatives_of_random_mechanisms(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    derivatives_of_frames(s.model, s.q, *rng.normal(size=(2, s.model.nv)))


@pytest.mark.parametrize("name", ROBOTS)
def test_hessians_are_differences_of_jacobians(name: str, rng: np.random.Generator) -> None:
    model, step = pc.load(name), 1e-6
    data = model.createData()
    q = np.array(model.q_reference)
    for axes in AXES:
        pc.computeJointKinematicHessians(model, data, q)
        hessian = pc.getFrameKinematicHessian(model, data, model.nframes - 1, axes)
        for k in range(model.nv):
            there, back = (pc.integrate(model, q, s * step * np.eye(model.nv)[k]) for s in (1.0, -1.0))
            ahead, behind = (pc.computeFrameJacobian(model, data, x, model.nframes - 1, axes) for x in (there, back))
            near(hessian[:, :, k], (ahead - behind) / (2.0 * step), 1e-6)


@pytest.mark.parametrize("name", ROBOTS)
def test_regressors_give_torques_energies_and_the_centre(name: str, rng: np.random.Generator) -> None:
    model = pc.load(name)
    data = model.createData()
    q, (v, a), (values, _) = np.array(model.q_reference), rng.normal(size=(2, model.nv)), pc.parameters(model)
    for _ in range(2):
        torque = pc.computeJointTorqueRegressor(model, data, q, v, a)
        near(torque @ values, pc.rnea(model, data, q, v, a), 1e-10)
        near(data.jointTorqueRegressor, torque, 0.0)
        near(pc.computeKineticEnergyRegressor(model, data, q, v) @ values, pc.computeKineticEnergy(model, data, q, v))
        potential = pc.computePotentialEnergyRegressor(model, data, q) @ values
        near(potential, pc.computePotentialEnergy(model, data, q), 1e-11)
        pc.centerOfMass(model, data, q, v)
        by_q = pc.getCenterOfMassVelocityDerivatives(model, data)
        near(by_q, pc.trace(model, "getCenterOfMassVelocityDerivatives")(q, v).reshape(by_q.shape), 1e-10)
        whole = pc.jacobianSubtreeCenterOfMass(model, data, q, 0)
        near(whole @ v, pc.jacobianCenterOfMass(model, data, q) @ v, 1e-11)


@pytest.mark.parametrize("name", ROBOTS)
def test_jacobians_of_subtrees_with_new_data(name: str, rng: np.random.Generator) -> None:
    """With q and without an earlier call; the reference is Pinocchio on the spanning tree, times G."""
    model = pc.load(name)
    q, tree = pc.integrate(model, pc.neutral(model), 0.1 * rng.normal(size=model.nv)), model.inertia_tree
    G = pc.coupling_jacobian(model, model.createData(), q)
    for joint in sorted({0, 1, model.njoints // 2, model.njoints - 1}):
        expected = pin.jacobianSubtreeCenterOfMass(tree, tree.createData(), q, joint) @ G
        near(pc.jacobianSubtreeCenterOfMass(model, model.createData(), q, joint), expected, 1e-11)


@pytest.mark.parametrize("name", ROBOTS)
def test_terms_of_frames_are_those_of_each(name: str, rng: np.random.Generator) -> None:
    model = pc.load(name)
    data, q, v = model.createData(), np.array(model.q_reference), rng.normal(size=model.nv)
    for axes in AXES:
        for frames in ([model.nframes - 1, 0], [0, 1], [model.nframes - 1]):  # lists differ in order and length
            terms = pc.FrameTerms(model, frames, axes)
            for _ in range(2):
                pc.computeAllTerms(model, data, q, v, out=terms)
                for i, frame in enumerate(frames):
                    near(terms.J[i], pc.computeFrameJacobian(model, data, q, frame, axes), 1e-11)
                    near(terms.velocity[i], terms.J[i] @ v, 1e-11)
                near(terms.vcom, terms.Jcom @ v, 1e-11)


def test_places_of_one_link_share_code() -> None:
    model = pc.load("mini_cheetah")
    data = model.createData()
    joint = model.getJointId(model.independent_joints[-1])
    frames = [i for i, frame in enumerate(model.tree.frames) if frame.parentJoint == joint]
    assert len(frames) > 1
    x = np.ones(model.nv)
    pc.computeForwardKinematicsDerivatives(model, data, model.q_reference, x, x)
    found = [pc.getFrameVelocityDerivatives(model, data, i, pin.LOCAL)[0] for i in frames]
    made = [one for one in model.specialised if one.function.startswith(PLACE_DERIVATIVES.name)]
    assert [one.choice for one in made] == ["traced"]
    assert not np.allclose(found[0], found[-1])


@pytest.mark.parametrize("other", [[1, 2, 4, 5], [1, 2, 3], [1, 2, 3, 4, 5]])
def test_a_list_that_the_table_confuses_with_another_is_left_to_the_kernel(other: list[int]) -> None:
    """Numbers of long lists may be equal; here the table leads from ``other`` to code for another list."""
    model = pc.load("four_bar")
    data, q, v = model.createData(), np.array(model.q_reference), np.ones(model.nv)
    first, second = (pc.FrameTerms(model, frames, pin.LOCAL) for frames in ([1, 2, 3, 4], other))
    for terms in (first, second):
        for _ in range(2):
            pc.computeAllTerms(model, data, q, v, out=terms)
    expected = second.J.copy(), second.velocity.copy()
    table = model.specialised and data._functions.variants[FRAME_TERMS.name].table
    assert table[0] == 2
    table[4] = table[2]  # the code of the first list, behind the number of the second one
    second.J[:], second.velocity[:] = 0.0, 0.0
    for _ in range(2):
        pc.computeAllTerms(model, data, q, v, out=second)
        near(second.J, expected[0], 1e-13)
        near(second.velocity, expected[1], 1e-13)


def test_what_is_no_number_is_left_to_the_kernel() -> None:
    """The same entries are no numbers, whichever zeros the code of the robot has left out."""
    model = pc.load("mini_cheetah")
    data = model.createData()
    q, x = np.array(model.q_reference), np.ones(model.nv)
    q[-1] = np.nan
    pc.computeForwardKinematicsDerivatives(model, data, q, x, x)
    found = pc.getFrameVelocityDerivatives(model, data, model.nframes - 1, pin.LOCAL)
    expected = np.empty((2, 6, model.nv))
    nothing, rest = np.zeros(0), np.zeros((0, model.nv))
    kernel = kernels.of(PLACE_DERIVATIVES.name, False)
    place = model.njoints + model.nframes - 1
    plain(kernel, data._moved_tables, place, int(pin.LOCAL), nothing, *expected, rest, rest)
    assert np.isnan(expected).any()
    assert np.array_equal(np.isnan(found), np.isnan(expected))


def test_all_kernels_that_read_memory_have_such_code() -> None:
    assert {one.name for one in IN_MEMORY} == {
        "frame_jacobian", "frame_terms", "place_derivatives", "place_hessian", "center_rates", "subtree_jacobian",
        "regressor", "energy_regressors",
    }  # fmt: skip
