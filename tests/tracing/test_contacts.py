"""Contacts in traces: against the kernels, and against derivatives of the kernels; in CasADi, JAX and C."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support import touching
from support.messages import raises

import pin_clusters as pc
from pin_clusters.algorithms._shared.reach import body_of
from pin_clusters.compiler.machine_code.function import Compiled

pytestmark = [
    pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning"),
    pytest.mark.skipif(pin.__version__.startswith("3."), reason="Pinocchio 3 keeps gains elsewhere: all is Python"),
]


def error(x: Any, y: Any) -> float:
    return float(np.max(np.abs(np.subtract(x, y)), initial=0.0) / max(1.0, np.max(np.abs(y), initial=0.0)))


@pytest.mark.parametrize(
    "key", pool.some(pool.ALL, ["tree-0", "rotors_on_a_loop_on_free_flyer", "delta_pairs"], everyday=1)
)
def test_they_are_the_kernels(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    model, q = s.model, s.q
    for kinds in touching.KINDS:
        for axes in touching.AXES:
            contacts = touching.contacts(model, rng, kinds, axes)
            touching.correct(contacts, rng)
            t = touching.Touching(model, q, rng, contacts)
            if not t.independent or t.condition > touching.WORST:
                continue
            if not all(body_of(model, j) for c in contacts for j in (c.joint1_id, c.joint2_id) if j):
                with raises(pc.NotAvailableError):
                    pc.trace(model, "constraintDynamics", contacts=contacts)
                continue
            program = pc.trace(model, "constraintDynamics", contacts=contacts, status=True)
            ddq, forces, pivot, *_ = program(q, t.v, t.tau)
            assert pivot[0] > 0.0
            limit = 1e-13 * max(1e2, t.condition)  # sums in another order, times what amplifies them
            assert error(np.concatenate([ddq, forces]), t.dynamics(q, t.v, t.tau)) < limit
            after = np.concatenate(pc.trace(model, "impulseDynamics", contacts=contacts)(q, t.v))
            assert error(after, t.impact(q, t.v, 0.0)) < limit


def stance() -> tuple[Any, ...]:
    """A Mini Cheetah on two feet that have drifted from where they are wanted."""
    model, rng = pc.load("mini_cheetah"), np.random.default_rng(0)
    feet = [model.getJointId(name) for name in ("FL_knee", "HR_knee")]
    spot = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.2]))
    contacts = [
        pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, j, spot, pin.LOCAL_WORLD_ALIGNED) for j in feet
    ]
    for c in contacts:
        c.m_baumgarte_parameters.Kp, c.m_baumgarte_parameters.Kd = 30.0, 5.0
    pin.seed(0)
    return model, contacts, pc.randomConfiguration(model), *rng.normal(size=(2, model.nv))


@pytest.mark.long
def test_derivatives_of_a_stance_by_casadi_jax_and_the_program() -> None:
    model, contacts, q, v, tau = stance()
    data, datas = model.createData(), [c.createData() for c in contacts]
    a = pc.constraintDynamics(model, data, q, v, tau, contacts, datas)
    pc.computeConstraintDynamicsDerivatives(model, data, contacts, datas)
    T = pc.trace(model, "tangent")(q)
    program = pc.trace(model, "constraintDynamics", contacts=contacts)
    own = {name: x(q, v, tau) for name, x in ((name, program.jacobian(name)) for name in ("q", "v", "tau"))}
    assert error(own["q"][0] @ T, data.ddq_dq) < 1e-9
    assert error(own["q"][1] @ T, data.dlambda_dq) < 1e-9
    for k, (name, first, second) in enumerate((("v", "ddq_dv", "dlambda_dv"), ("tau", "ddq_dtau", "dlambda_dtau"))):
        assert error(own[name][0], getattr(data, first)) < 1e-9, k
        assert error(own[name][1], getattr(data, second)) < 1e-9, k
    ca = pytest.importorskip("casadi")
    assert ca
    f = pc.casadi.function(model, "constraintDynamics", contacts=contacts)
    J = f.jacobian()
    found = dict(zip((J.name_out(i) for i in range(J.n_out())), map(np.array, J(q, v, tau, 0, 0)), strict=True))
    assert error(np.array(f(q, v, tau)[0])[:, 0], a) < 1e-12
    assert error(found["jac_ddq_q"] @ T, data.ddq_dq) < 1e-9
    assert error(found["jac_lambda_c_q"] @ T, data.dlambda_dq) < 1e-9
    assert error(found["jac_ddq_v"], data.ddq_dv) < 1e-9


@pytest.mark.ci
def test_jax() -> None:
    jax = pytest.importorskip("jax")
    model, contacts, q, v, tau = stance()
    data, datas = model.createData(), [c.createData() for c in contacts]
    a = pc.constraintDynamics(model, data, q, v, tau, contacts, datas)
    pc.computeConstraintDynamicsDerivatives(model, data, contacts, datas)
    with jax.enable_x64(True):
        f = pc.jax.function(model, "constraintDynamics", contacts=contacts)
        assert error(f(q, v, tau)[0], a) < 1e-12
        by_q = np.asarray(jax.jacobian(lambda x: f(x, v, tau)[0])(q))
        assert error(by_q @ pc.trace(model, "tangent")(q), data.ddq_dq) < 1e-9
        contacts[0].m_baumgarte_parameters.Kp = 99.0  # another contact now
        other = pc.jax.function(model, "constraintDynamics", contacts=contacts)
        assert error(other(q, v, tau)[0], a) > 1e-3


def test_c_and_machine_code() -> None:
    model, contacts, q, v, tau = stance()
    program = pc.trace(model, "constraintDynamics", contacts=contacts)
    assert "constraintDynamics" in pc.codegen.c(model, [program]).source
    assert error(Compiled(program)(q, v, tau)[0], program(q, v, tau)[0]) < 1e-12


def test_what_depends_on_numbers_of_the_robot() -> None:
    model, contacts, q, v, tau = stance()
    program = pc.trace(model, "constraintDynamics", contacts=contacts, parameters=["gravity"])
    data, datas = model.createData(), [c.createData() for c in contacts]
    for g in ([0.0, 0.0, -9.81], [1.0, 2.0, 3.0]):
        other = model.with_gravity(np.array(g))
        own = other.createData()
        expected = pc.constraintDynamics(other, own, q, v, tau, contacts, datas)
        assert error(program(q, v, tau, np.array(g))[0], expected) < 1e-12
    assert data is not None


def test_damped_and_redundant_rows() -> None:
    model, contacts, q, v, tau = stance()
    twice = [contacts[0], contacts[0]]
    *_, pivot = pc.trace(model, "constraintDynamics", contacts=twice, status=True)(q, v, tau)
    assert pivot[0] <= 0.0
    data, datas = model.createData(), [c.createData() for c in twice]
    found, forces, pivot = pc.trace(model, "constraintDynamics", contacts=twice, damping=1e-3, status=True)(q, v, tau)
    J_a = pc.constraintDynamics(model, data, q, v, tau, contacts[:1], datas[:1])
    assert pivot[0] > 0.0
    assert error(found, J_a) < 0.1
    assert np.allclose(forces[:3], forces[3:], rtol=1e-9)


def test_bad_input() -> None:
    model, contacts, *_ = stance()
    with raises(pc.ArgumentTypeError, "constraintDynamics"):
        pc.trace(model, "constraintDynamics")
    with raises(pc.ArgumentTypeError, "aba"):
        pc.trace(model, "aba", contacts=contacts)
    with raises(pc.ArgumentTypeError, "pin.RigidConstraintModel"):
        pc.trace(model, "constraintDynamics", contacts=[1])
    other = pc.load("mit_humanoid_leg")
    with raises(pc.ConstraintError, "0"):
        pc.trace(other, "constraintDynamics", contacts=contacts)
    on_itself = pin.SE3.Identity()
    kind, axes = pin.ContactType.CONTACT_3D, pin.LOCAL
    same = pin.RigidConstraintModel(kind, model.tree, 5, on_itself, 5, on_itself, axes)
    with raises(pc.NotAvailableError):
        pc.trace(model, "constraintDynamics", contacts=[same])
