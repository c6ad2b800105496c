"""Derivatives with contacts: the kernel beside dense equations, machine code beside Python, states, bad input."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support.fast import needed, no_python_calls, python
from support.messages import raises
from support.touching import contacts, correct

import pin_clusters as pc
from pin_clusters.algorithms.contacts import derivatives as contact_derivatives
from pin_clusters.compiler.entry_points import JIT
from pin_clusters.kernels.bodies.log_rates import coefficients, rate_of_log

pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
POINT, FRAME = pin.ContactType.CONTACT_3D, pin.ContactType.CONTACT_6D
AXES = (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED)
CLOSE = 1e-12
WORST = 1e6
NAMES = ("ddq_dq", "ddq_dv", "ddq_dtau", "dlambda_dq", "dlambda_dv", "dlambda_dtau")


class Feet:
    """A robot that stands on some joints, at a random state."""

    def __init__(self, name: str = "mini_cheetah", joints: tuple[int, ...] = (4, 8), kind: Any = POINT) -> None:
        rng = np.random.default_rng(0)
        self.model = pc.load(name)
        self.data = self.model.createData()
        self.q = pc.integrate(self.model, pc.neutral(self.model), 0.1 * rng.standard_normal(self.model.nv))
        self.v, self.tau = rng.standard_normal((2, self.model.nv))
        self.models = [pc.RigidConstraintModel(kind, self.model, j, pin.LOCAL) for j in joints]
        self.datas = [c.createData() for c in self.models]
        self.world = pc.RigidConstraintModel(kind, self.model, joints[0], pin.LOCAL)
        self.world.reference_frame = pin.WORLD

    def move(self, *settings: Any) -> np.ndarray:
        return pc.constraintDynamics(
            self.model, self.data, self.q, self.v, self.tau, self.models, self.datas, *settings
        )

    def hit(self, *how: Any) -> np.ndarray:
        return pc.impulseDynamics(self.model, self.data, self.q, self.v, self.models, self.datas, *how)

    def derivatives(self, *settings: Any) -> Any:
        return pc.computeConstraintDynamicsDerivatives(self.model, self.data, self.models, self.datas, *settings)

    def of_impact(self, *how: Any) -> Any:
        return pc.computeImpulseDynamicsDerivatives(self.model, self.data, self.models, self.datas, *how)


def close(found: Any, exact: Any, condition: float = 1.0) -> None:
    for i, (x, y) in enumerate(zip(found, exact, strict=True)):
        assert pool.error(x, y) < CLOSE * condition, i


@pool.each(everyday=pool.TWO)
@pytest.mark.parametrize("axes", AXES, ids=["local", "aligned"])
def test_kernel_and_dense_equations(
    key: pool.Key, axes: Any, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Columns of the recursion on one side, derivatives of the tree's motions on the other."""
    s = pool.state(key, rng)
    model, tau, by_kernel = s.model, rng.normal(size=s.model.nv), contact_derivatives.differentiate
    asked: list[bool] = []

    def watched(*given: Any) -> Any:
        found = by_kernel(*given)
        asked.append(found is not None)
        return found

    for kinds in ([POINT], [FRAME]):
        models = contacts(model, rng, kinds, axes)
        correct(models, rng)
        datas, data = [c.createData() for c in models], model.createData()
        A = pc.computeDelassusMatrix(model, data, s.q, models, datas)
        condition = float(np.linalg.cond(A + 0.1 * np.eye(len(A))) * np.linalg.cond(pc.crba(model, data, s.q)))
        settings = pin.ProximalSettings(1e-14, 0.1, 1)  # rows that repeat others do not matter

        def both(
            data: pc.ClusterData = data, models: Any = models, datas: Any = datas, settings: Any = settings
        ) -> list[Any]:
            pc.constraintDynamics(model, data, s.q, s.v, tau, models, datas, settings)
            pc.impulseDynamics(model, data, s.q, s.v, models, datas, 0.4, 0.1)
            return [
                *pc.computeConstraintDynamicsDerivatives(model, data, models, datas),
                *pc.computeImpulseDynamicsDerivatives(model, data, models, datas),
            ]

        monkeypatch.setattr(contact_derivatives, "differentiate", watched)
        found = both()
        monkeypatch.setattr(contact_derivatives, "differentiate", lambda *_: None)
        if condition < WORST:
            close(found, both(), (1e2 if model.closures else 1e1) * condition + 1e3 * s.case.exact / CLOSE)
    if not model.rotors:
        assert all(asked) or pin.__version__.startswith("3.")


@pytest.mark.ci
@needed
@pytest.mark.parametrize("kind", [POINT, FRAME], ids=["point", "frame"])
@pytest.mark.parametrize("robot", ["mini_cheetah", "tello"])
def test_machine_code_gives_what_python_gives(robot: str, kind: Any) -> None:
    if pin.__version__.startswith("3."):
        pytest.skip("Pinocchio 3 keeps gains elsewhere: all is Python")
    x = Feet(robot, (4,) if robot == "tello" else (4, 8), kind)
    for _ in range(2):  # the second time the kernels are compiled, and the state is kept by machine code
        x.move()
        found = x.derivatives()
    kept = [getattr(x.data, name) for name in NAMES]
    if x.data.contact_rank == len(x.data.lambda_c):
        with no_python_calls():
            x.move()
            found = x.derivatives()
    other = x.model.createData()
    python("constraintDynamics")(x.model, other, x.q, x.v, x.tau, x.models, x.datas)
    exact = python("computeConstraintDynamicsDerivatives")(x.model, other, x.models, x.datas)
    close(found, exact)
    close(kept, exact)
    close([getattr(other, name) for name in NAMES], exact)
    # the state of a call that is not usual must not remain
    x.v = -x.v
    x.move()
    close(x.derivatives()[2:3], exact[2:3])
    assert pool.error(x.derivatives()[1], exact[1]) > 1e-3
    # nor those of contacts that have changed
    x.models[0].joint1_placement = pin.SE3.Random()
    x.move()
    assert pool.error(x.derivatives()[5], exact[5]) > 1e-6
    x.models.pop()
    x.datas.pop()
    if x.models:
        x.move()
        assert x.derivatives()[3].shape == (3 if kind == POINT else 6, x.model.nv)


@pytest.mark.jitless
def test_results_are_fresh_and_kept() -> None:
    x = Feet()
    x.move()
    found = x.derivatives()
    for name, given in zip(NAMES, found, strict=True):
        kept = getattr(x.data, name)
        assert np.array_equal(kept, given)
        given[:] = 0.0
        assert np.array_equal(getattr(x.data, name), kept)
    x.hit(0.3)
    after_dq, after_dv, impulse_dq, impulse_dv = x.of_impact()
    kept = [x.data.ddq_dq, x.data.ddq_dv, x.data.dlambda_dq, x.data.dlambda_dv]
    close(kept, [after_dq, after_dv - np.eye(x.model.nv), impulse_dq, impulse_dv])
    close(x.of_impact(0.3), x.of_impact())


@pytest.mark.jitless
def test_impacts_and_motions_do_not_disturb_each_other() -> None:
    x = Feet()
    x.move()
    first = [y.copy() for y in x.derivatives()]
    x.hit(0.5, 0.1)
    second = [y.copy() for y in x.of_impact()]
    close(x.derivatives(), first)
    close(x.of_impact(), second)
    pc.computeABADerivatives(x.model, x.data, x.q, 0.0 * x.v, x.tau)
    pc.rnea(x.model, x.data, x.q, 0.0 * x.v, x.tau)
    close(x.derivatives(), first)


@pytest.mark.jitless
def test_no_contacts() -> None:
    x = Feet(joints=(4,))
    x.models, x.datas = [], []
    x.move()
    found = x.derivatives()
    close(found[:3], pc.computeABADerivatives(x.model, x.data, x.q, x.v, x.tau))
    assert [y.shape for y in found[3:]] == [(0, x.model.nv)] * 3
    x.hit()
    after_dq, after_dv, *_ = x.of_impact()
    close([after_dq, after_dv], [0.0 * after_dq, np.eye(x.model.nv)])


CURES: list[tuple[Callable[[Feet], Any], type[Exception], str]] = [
    (lambda x: x.derivatives(), pc.NotComputedError, "pc.constraintDynamics"),
    (lambda x: x.of_impact(), pc.NotComputedError, "pc.impulseDynamics"),
    (lambda x: (x.hit(), x.derivatives()), pc.NotComputedError, "pc.constraintDynamics"),
    (lambda x: (x.move(), x.of_impact()), pc.NotComputedError, "pc.impulseDynamics"),
    (lambda x: (x.hit(0.5), x.of_impact(0.4)), pc.ArgumentTypeError, "r_coeff 0.4 0.5"),
    (
        lambda x: (
            pc.impulseDynamics(x.model, x.data, x.q, x.v, np.ones((1, x.model.nv)), 0.0),
            x.of_impact(),
        ),
        pc.NotComputedError,
        "computeImpulseDynamicsDerivatives pc.impulseDynamics",
    ),
    (
        lambda x: (setattr(x, "v", np.nan * x.v), x.move(), x.derivatives()),
        pc.NotComputedError,
        "computeConstraintDynamicsDerivatives pc.constraintDynamics",
    ),
    (lambda x: (x.move(), x.datas.pop(), x.derivatives()), pc.ShapeError, "2 contact_models 1 contact_datas"),
    (
        lambda x: (x.move(), setattr(x, "datas", None), x.derivatives()),
        pc.ArgumentTypeError,
        "contact_datas",
    ),
    (lambda x: (x.move(), setattr(x, "models", [1, 2]), x.derivatives()), pc.ArgumentTypeError, "contact_models[0]"),
    (lambda x: (x.move(), x.models.append(x.world), x.derivatives()), pc.ConstraintError, "WORLD"),
    (lambda x: (x.move(), x.derivatives(-1.0)), pc.ArgumentTypeError, "-1.0"),
    (lambda x: (setattr(x, "data", Feet().data), x.derivatives()), pc.DataMismatchError, "model.createData data.model"),
]


@pytest.mark.jitless
@pytest.mark.parametrize(("call", "error", "message"), CURES)
def test_bad_input(call: Callable[[Feet], Any], error: type[Exception], message: str) -> None:
    with raises(error, message):
        call(Feet())


@pytest.mark.jitless
def test_copies_know_no_state() -> None:
    x = Feet()
    x.move()
    x.derivatives()
    for other in (copy.deepcopy(x.data), x.data.copy()):
        x.data = other
        with pytest.raises(pc.NotComputedError):
            x.derivatives()
        x.move()
        x.derivatives()


@pytest.mark.jitless
@pytest.mark.skipif(JIT, reason="compiled code is called by kernels only")
def test_rates_of_logarithms(rng: np.random.Generator) -> None:
    from pin_clusters.kernels.numbers.tuples import Vec6

    for angle in (0.0, 1e-9, 1e-4, 0.3, 1.0, 2.0, 3.0, np.pi - 1e-3):
        axis = rng.normal(size=3)
        w = angle * axis / np.linalg.norm(axis)
        log = np.concatenate([rng.normal(size=3), w])
        exact = pin.Jlog6(pin.exp6(log))
        second, fourth = coefficients(Vec6(*map(float, log)))
        found = [rate_of_log(Vec6(*map(float, log)), second, fourth, Vec6(*map(float, e))) for e in np.eye(6)]
        limit = 1e-13 if angle in (0.0, 0.3, 1.0, 2.0, 3.0) else 1e-7  # Pinocchio's own near both ends
        assert np.allclose(np.array(found).T, exact, rtol=0.0, atol=limit), angle
