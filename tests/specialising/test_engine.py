"""Which engine computes: what is chosen, that nothing but the model decides, and what cannot be traced."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import coupled
from support.messages import raises

import pin_clusters as pc
from pin_clusters.compiler import entry_points as kernels
from pin_clusters.compiler.machine_code import loading, store
from pin_clusters.compiler.operations import ABA, CRBA
from pin_clusters.compiler.specialising import module, robot_functions
from pin_clusters.compiler.specialising.calling import caller

pytestmark = pytest.mark.skipif(not kernels.JIT or kernels.BOUNDSCHECK, reason="nothing is traced")


def state(model: pc.ClusterModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.array(model.q_reference), *np.random.default_rng(0).normal(size=(2, model.nv))  # type: ignore[return-value]


def child(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "PIN_CLUSTERS_ENGINE"} | variables
    return subprocess.run([sys.executable, "-Pc", code], env=environment, capture_output=True, text=True, check=False)


FIRST_CALL = """
import sys
import numpy as np, pin_clusters as pc
from pin_clusters.compiler import entry_points as kernels
model = pc.load("four_bar")
data, x = model.createData(), np.ones(1)
for f in (pc.aba, pc.rnea, pc.computeABADerivatives):
    print(np.concatenate([np.ravel(y) for y in f(model, data, model.q_reference, x, x)]).tobytes().hex())
print(pc.batch.aba(model, model.q_reference[None], x[None], x[None]).tobytes().hex())
assert data.engine == "traced"
assert {one.choice for one in model.specialised} == {"traced"}
assert not [one.name for one in kernels.KERNELS if one.fast is not None]
print({"numba", "scipy"} & set(sys.modules) or "neither")
"""


def test_first_calls_compile_no_kernel_and_give_the_same_bits_each_time(tmp_path: Path) -> None:
    with pc.engine("traced"):
        model = pc.load("four_bar")
        data, x = model.createData(), np.ones(1)
        kernels.aba_loops.function()  # is compiled here, and not there
        here = pc.aba(model, data, model.q_reference, x, x).tobytes().hex()
    runs = []
    for _ in range(2):  # nothing is kept at first
        done = child(FIRST_CALL, PIN_CLUSTERS_CACHE=str(tmp_path))
        assert done.returncode == 0, done.stderr
        runs.append(done.stdout.splitlines())
    *bits, imported = runs[1]
    assert bits == runs[0][:-1]
    assert bits[0] == here
    assert imported == "neither"  # where code is kept, kernels are not even read


def test_the_choice() -> None:
    model = pc.load("four_bar")
    for name, engine in (("auto", "traced"), ("traced", "traced"), ("tables", "tables")):
        with pc.engine(name):
            assert model.createData().engine == engine
            with pc.engine("tables"):
                assert model.createData().engine == "tables"
            assert model.createData().engine == engine
    with pytest.raises(KeyError), pc.engine("auto"):
        raise KeyError
    assert model.createData().engine == "tables"  # what tests choose
    with raises(pc.UnknownNameError, "engine 'table' 'tables'"), pc.engine("table"):
        pass
    with raises(pc.ArgumentTypeError, "'auto' 'traced' 'tables' 3"), pc.engine(3):  # type: ignore[arg-type]
        pass
    done = child("import pin_clusters", PIN_CLUSTERS_ENGINE="fast")
    assert "PIN_CLUSTERS_ENGINE: no such engine: 'fast'" in done.stderr
    assert done.returncode != 0


@pytest.mark.ci
@pytest.mark.parametrize("robot", ["four_bar", "mini_cheetah", "tello"])
@pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
def test_both_engines_agree(robot: str) -> None:
    model = pc.load(robot)
    q, v, x = state(model)
    rows = [np.tile(y, (5, 1)) for y in (q, v, x)]
    found: dict[str, list[Any]] = {}
    for engine in ("tables", "auto"):
        with pc.engine(engine):
            data = model.createData()
            found[engine] = [
                pc.rnea(model, data, q, v, x), pc.aba(model, data, q, v, x), pc.crba(model, data, q),
                pc.rnea(model, data, q, v, x, np.ones((model.njoints, 6))),
                *pc.computeABADerivatives(model, data, q, v, x),
                *pc.computeABADerivatives(model, data, q, v, x, np.ones((model.njoints, 6))),
                pc.batch.aba(model, *rows), pc.batch.rnea(model, *rows),
            ]  # fmt: skip
    for ours, theirs in zip(*found.values(), strict=True):
        # rounding of two orders of operations; M of both has a condition of up to 1e5
        assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-10 * np.abs(theirs).max())


@pytest.mark.parametrize("engine", ["traced", "tables"])
def test_sines_of_huge_angles(engine: str) -> None:
    """Both engines have the sines of C's library, up to the largest numbers; rows of traced code are marked."""
    tree = pin.Model()
    tree.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "pendulum")
    tree.appendBodyToJoint(1, pin.Inertia(1.0, np.array([0.3, 0.0, 0.1]), 0.1 * np.eye(3)), pin.SE3.Identity())
    model = pc.ClusterModel(tree)
    angles = np.array([1.0, 1e9, 2.0**50 - 1.0, 2.0**50, 7.5e15, -1e16, 1e18, -1e20, 1e300])
    s, c = np.array([(math.sin(x), math.cos(x)) for x in angles]).T
    weight, mass = -9.81 * (0.3 * c + 0.1 * s), 0.1 + 0.3**2 + 0.1**2
    with pc.engine(engine):
        data = model.createData()
        for k, x in enumerate(angles):
            q, still = np.array([x]), np.zeros(1)
            assert pc.rnea(model, data, q, still, still)[0] == pytest.approx(weight[k], rel=1e-9, abs=1e-9)
            assert pc.aba(model, data, q, still, still)[0] == pytest.approx(-weight[k] / mass, rel=1e-9, abs=1e-9)
            pc.forwardKinematics(model, data, q)
            assert data.oMi[1].rotation[0, [2, 0]] == pytest.approx([s[k], c[k]], abs=1e-12)
        status = np.full(len(angles), -1, dtype=np.int8)
        rows = pc.batch.aba(model, angles[:, None], *np.zeros((2, len(angles), 1)), status=status)
    good = angles == angles if engine == "tables" else np.abs(angles) < 2.0**50
    assert status.tolist() == np.where(good, 0, 3).tolist()
    assert np.isnan(rows[~good]).all()
    assert rows[good, 0] == pytest.approx(-weight[good] / mass, rel=1e-9, abs=1e-9)


def test_what_is_long_is_left_to_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    model = pc.load("mit_humanoid_leg")
    given = state(model)
    expected = pc.rnea(model, model.createData(), *given)
    rows = [np.tile(y, (3, 1)) for y in given]
    expected_rows = pc.batch.rnea(model, *rows)
    monkeypatch.setattr(robot_functions, "MOST", 300)
    with pc.engine("auto"):
        data = model.createData()
        assert np.array_equal(pc.rnea(model, data, *given), expected)
        assert np.array_equal(pc.batch.rnea(model, *rows), expected_rows)
        assert [(one.function, one.choice) for one in model.specialised] == [
            ("rnea", "tables"),
            ("batch.rnea", "tables"),
        ]
    with pc.engine("traced"):
        assert np.allclose(pc.rnea(model, model.createData(), *given), expected, rtol=1e-12)
        assert model.specialised[0].choice == "traced"


@pytest.mark.ci
def test_a_robot_of_a_thousand_links_is_not_traced() -> None:
    tree = pin.Model()
    for i in range(1000):
        tree.addJoint(i, pin.JointModelRX() if i % 2 else pin.JointModelRY(), pin.SE3.Random(), f"j{i}")
        tree.appendBodyToJoint(i + 1, pin.Inertia(1.0, np.array([0.0, 0.1, 0.2]), np.eye(3)), pin.SE3.Identity())
    model = pc.ClusterModel(tree)
    with pc.engine("auto"):  # rows, as Pinocchio's data of such a tree takes 32 GB
        pc.batch.rnea(model, *(x[None] for x in state(model)))
    assert [one.choice for one in model.specialised] == ["tables"]


def _chooses(x: np.ndarray) -> np.ndarray:
    return np.array([2.0 * x[0] if x[0] > 0.0 else 3.0 * x[0]])


@pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
def test_functions_that_choose_by_value(capfd: pytest.CaptureFixture[str]) -> None:
    tree = pin.buildSampleModelManipulator()
    names = list(tree.names)[1:3]
    model = pc.ClusterModel(tree, [pc.Coupling((names[0], names[1]), lambda x: np.array([x[1]]) - _chooses(x))])
    given = state(model)
    expected = pc.rnea(model, model.createData(), *given)
    with pc.engine("auto"):
        data = model.createData()
        for _ in range(2):
            assert np.array_equal(pc.rnea(model, data, *given), expected)
            pc.aba(model, data, *given)
    assert capfd.readouterr().err.count("uses generic kernels") == 1
    with raises(pc.NotAvailableError):
        pc.specialise(model)


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
def test_what_the_user_compiled_is_left_to_kernels_where_it_was_not_asked_for(rng: np.random.Generator) -> None:
    """A model with code of its own for no function: questions, frames and masks are answered by tables."""
    given = coupled.mechanism(rng, "compiled, third")
    model = pc.ClusterModel(given.tree, given.constraints)
    with raises(pc.NotAvailableError):
        pc.specialise(model)
    special, results = pc.specialise(model, ()), []
    q, v, tau = state(model)
    for one in (model, special):
        data = one.createData()
        pc.forwardKinematics(one, data, q, v, tau)
        hybrid = pc.hybrid_dynamics(one, data, q, v, tau, tau, np.arange(one.nv) % 2 == 0)
        operational = pc.inverse_operational_inertia(one, data, q, [one.nframes - 1])
        results.append([*hybrid, operational, data.tree.a[one.njoints - 1].vector.copy()])
    for x, y in zip(*results, strict=True):
        assert np.array_equal(x, y)


@pytest.mark.parametrize("file", ["compiler/operations.py", "kernels/loops/closure_rows.py", "_support/arrays.py"])
def test_code_on_disk_is_made_anew_when_what_makes_it_is_another(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller(("i0", *CRBA.kinds))  # is loaded once per process, and must stay
    monkeypatch.setattr(store, "folder", lambda: tmp_path)
    of = Path(pc.__file__).parent / file
    read, changed = Path.read_bytes, list[bool]()
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"#" * (bool(changed) and path == of))
    counts = []
    for again in range(3):
        if again == 2:
            changed.append(True)
        module.sources.cache_clear()
        monkeypatch.setattr(loading, "_loaded", {})
        with pc.engine("traced"):
            model = pc.load("four_bar")
            pc.crba(model, model.createData(), model.q_reference)
        counts.append(len(list(tmp_path.glob("*.o"))))
    assert (counts[0], counts[1], counts[2]) == (1, 1, 2)
    monkeypatch.undo()
    module.sources.cache_clear()


def test_code_on_disk_that_is_damaged_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    caller(("i0", *ABA.kinds))  # must stay when the test ends
    monkeypatch.setattr(store, "folder", lambda: tmp_path)
    found = []
    for damage in (lambda x: x, lambda x: x[:100], lambda x: x[:-1] + b"?", lambda x: b""):
        for file in tmp_path.glob("*.o"):
            file.write_bytes(damage(file.read_bytes()))
        monkeypatch.setattr(loading, "_loaded", {})
        with pc.engine("auto"):
            model = pc.load("four_bar")
            found.append(pc.aba(model, model.createData(), *state(model)))
            assert model.specialised[0].choice == "traced"
    assert len({x.tobytes() for x in found}) == 1
    assert list(tmp_path.glob("*.o"))


def test_threads_that_meet_at_the_first_call() -> None:
    with pc.engine("auto"):
        model = pc.load("delta")
        datas = [model.createData() for _ in range(4)]
    given = state(model)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda data: pc.aba(model, data, *given), datas))
    assert len({x.tobytes() for x in found}) == 1
    assert len(model.specialised) == 1


def test_copies_of_data_keep_their_engine() -> None:
    model = pc.load("four_bar")
    for name, engine in (("auto", "traced"), ("tables", "tables")):
        with pc.engine(name):
            data = model.createData()
        for other in ("auto", "tables"):
            with pc.engine(other):
                assert data.copy().engine == pickle.loads(pickle.dumps(data)).engine == engine


def test_models_are_pickled_without_what_nobody_asked_for() -> None:
    model = pc.load("four_bar")
    with pc.engine("auto"):
        pc.aba(model, model.createData(), *state(model))
    assert model.specialised
    assert not pickle.loads(pickle.dumps(model)).specialised


def test_much_time_in_traces_is_told_once(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(robot_functions, "_spent", [29.9999])
    with pc.engine("auto"):
        for robot in ("six_bar", "delta"):
            model = pc.load(robot)
            pc.aba(model, model.createData(), *state(model))
    assert capfd.readouterr().err.count("pc.engine('tables')") == 1


@pytest.mark.ci
@pytest.mark.parametrize("robot", ["four_bar", "mini_cheetah", "cassie_leg"])
@pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
def test_external_forces(robot: str) -> None:
    """They have code of their own, by whatever way a call comes to it; contacts differentiate with it, too."""
    model = pc.load(robot)
    q, v, x = state(model)
    fext = np.random.default_rng(1).normal(size=(model.njoints, 6))
    contacts = [pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, model.njoints - 1, pin.LOCAL)]

    def all_of(data: pc.ClusterData) -> list[Any]:
        there = [one.createData() for one in contacts]
        pc.constraintDynamics(model, data, q, v, x, contacts, there)
        return [
            pc.rnea(model, data, q, v, x, fext), pc.aba(model, data, q, v, x, fext), data.ddq.copy(),
            pc.computeStaticTorque(model, data, q, fext), *pc.computeRNEADerivatives(model, data, q, v, x, fext),
            *pc.computeABADerivatives(model, data, q, v, x, fext), *pc.computeABADerivatives(model, data, q, v, x),
            pc.computeStaticTorqueDerivatives(model, data, q, fext),
            *pc.computeConstraintDynamicsDerivatives(model, data, contacts, there),
        ]  # fmt: skip

    found = []
    for engine in ("tables", "auto"):
        with pc.engine(engine):
            data = model.createData()
        found.append([all_of(data) for _ in range(3)][-1])  # the last one by machine code alone
    for ours, theirs in zip(*found, strict=True):
        # rounding of two orders of operations; the mass matrices have a condition of up to 1e5
        assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-10 * np.abs(theirs).max())
    told = {one.function: one.choice for one in model.specialised}
    assert told["computeRNEADerivatives with external forces"] == told["aba with external forces"] == "traced"


def test_what_is_kept_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "folder", lambda: tmp_path)
    monkeypatch.setattr(store, "_most", lambda: 10_000.0)
    for i in range(9):
        assert store.kept(f"code{i}", lambda: bytes(1500)) == bytes(1500)
        os.utime(tmp_path / f"code{i}.o", (i, i))
    first = tmp_path / "code3.o"
    assert first.exists()
    assert store.kept("code3", lambda: b"") == bytes(1500)  # used again: it is the newest now
    for i in range(9, 12):
        store.kept(f"code{i}", lambda: bytes(1500))
    left = sorted(path.name for path in tmp_path.iterdir())
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 10_000
    assert "code3.o" in left
    assert "code11.o" in left
    assert "code4.o" not in left
    monkeypatch.undo()
    monkeypatch.setenv("PIN_CLUSTERS_PROGRAMS", "much")
    store._most.cache_clear()
    try:
        assert store._most() == 512 * 2**20
    finally:
        store._most.cache_clear()
