"""Installation, removal, several models, other callbacks, threads, copies, processes and interruptions."""

from __future__ import annotations

import _thread
import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
import pytest
from support import exact_mujoco as em
from support.messages import raises

import pin_clusters as pc
from pin_clusters.mujoco import _library, _registry

pytest.importorskip("mujoco", minversion="3.11.0")

PENDULUM = "<mujoco><worldbody><body><joint name='j'/><geom size='.1' pos='.1 0 0'/></body></worldbody></mujoco>"


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    mujoco.set_mju_user_warning(lambda _: None)  # otherwise, MuJoCo writes a file with warnings about the states
    yield
    mujoco.set_mju_user_warning(None)
    mujoco.set_mjcb_passive(None)
    assert _registry._owners == {}


def made(name: str = "mini_cheetah") -> tuple[Any, Any]:
    model = em.exact(name)
    tree = em.tree_of(model)
    return tree, pc.mujoco.Exact(model, tree)


def acceleration(tree: Any) -> np.ndarray:
    d = mujoco.MjData(tree)
    d.qvel[:] = np.linspace(0.1, 1.0, tree.nv)
    mujoco.mj_forward(tree, d)
    return d.qacc.copy()


def test_install_and_remove() -> None:
    tree, exact = made()
    before = acceleration(tree)
    assert not exact.installed
    assert exact.install() is exact
    assert exact.install().installed  # a second call changes nothing
    assert np.abs(acceleration(tree) - before).max() > 0.1
    exact.remove()
    exact.remove()
    assert not exact.installed
    np.testing.assert_array_equal(acceleration(tree), before)
    assert _library.callback_cell("mjcb_passive").value is None


def test_an_exception_ends_the_installation() -> None:
    _, exact = made()
    with pytest.raises(ZeroDivisionError), exact:
        1 / (not exact.installed)
    assert not exact.installed


def test_several_models_at_once() -> None:
    pairs = [made(name) for name in ("mini_cheetah", "mit_humanoid", "ankle_2rsu")]
    other = mujoco.MjModel.from_xml_string(PENDULUM)
    alone = acceleration(other)
    expected = []
    for tree, exact in pairs:
        with exact:
            expected.append(acceleration(tree))
    for _, exact in pairs:
        exact.install()
    for (tree, _), x in zip(pairs, expected, strict=True):
        np.testing.assert_array_equal(acceleration(tree), x)
    np.testing.assert_array_equal(acceleration(other), alone)
    pairs[1][1].remove()
    np.testing.assert_array_equal(acceleration(pairs[0][0]), expected[0])
    np.testing.assert_array_equal(acceleration(pairs[2][0]), expected[2])
    assert np.abs(acceleration(pairs[1][0]) - expected[1]).max() > 0.1
    for _, exact in pairs:
        exact.remove()


def test_one_object_per_model() -> None:
    tree, exact = made()
    second = pc.mujoco.Exact(em.exact("mini_cheetah"), tree)
    with exact, raises(pc.ModelError, "MjModel"):
        second.install()
    with second:
        assert not exact.installed


def test_a_callback_of_the_user_is_called_too() -> None:
    tree, exact = made()
    with exact:
        expected = acceleration(tree)
    calls = []

    def push(m: Any, d: Any) -> None:
        calls.append(m)
        d.qfrc_passive[7] += 1.0

    mujoco.set_mjcb_passive(push)
    with exact:
        pushed = acceleration(tree)
        d = mujoco.MjData(tree)
        mujoco.mj_forward(tree, d)
        M = np.zeros((tree.nv, tree.nv))
        mujoco.mj_fullM(tree, d, M)
    np.testing.assert_allclose(pushed - expected, np.linalg.solve(M, np.eye(tree.nv)[7]), rtol=1e-9)
    assert calls
    count = len(calls)
    acceleration(tree)
    assert len(calls) == count + 1  # it is set again after the removal
    assert mujoco.get_mjcb_passive() is push


def test_a_callback_that_is_set_later_replaces_this_one() -> None:
    tree, exact = made()
    with exact:
        expected = acceleration(tree)
        mujoco.set_mjcb_passive(lambda m, d: None)
        assert not exact.installed
        assert np.abs(acceleration(tree) - expected).max() > 0.1
        exact.install()
        np.testing.assert_array_equal(acceleration(tree), expected)
        mujoco.set_mjcb_passive(None)
        assert not exact.installed
    assert _library.callback_cell("mjcb_passive").value is None


def test_an_installed_object_stays_alive() -> None:
    tree, exact = made()
    expected, exact_dies, tree_address = exact.install(), weakref.ref(exact), tree._address
    del expected, exact
    gc.collect()
    assert exact_dies() is not None  # because it is installed
    del tree
    gc.collect()
    exact_dies().remove()
    gc.collect()
    assert exact_dies() is None
    assert tree_address not in _registry._owners


def test_memory_of_a_removed_model_can_be_used_by_another_model() -> None:
    addresses = set()
    for _ in range(6):
        tree, exact = made()
        exact.install()
        exact.remove()
        address = tree._address
        del tree, exact
        gc.collect()
        plain = em.tree_of(em.exact("mini_cheetah"))
        addresses.add(plain._address == address)
        d = mujoco.MjData(plain)
        mujoco.mj_forward(plain, d)
        M = d.M.copy()
        mujoco.mj_fwdVelocity(plain, d)
        np.testing.assert_array_equal(d.M, M)


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_other_models(make: Any) -> None:
    tree, exact = made()
    with exact:
        expected = acceleration(tree)
        other = make(tree)
        assert np.abs(acceleration(other) - expected).max() > 0.1  # only the tree
        again = pc.mujoco.Exact(em.exact("mini_cheetah"), other)
        with again:
            np.testing.assert_allclose(acceleration(other), expected, rtol=1e-9)
    clone = pickle.loads(pickle.dumps(exact))
    assert not clone.installed
    np.testing.assert_array_equal(clone.mj_model.dof_invweight0, tree.dof_invweight0)
    with clone:
        np.testing.assert_allclose(acceleration(clone.mj_model), expected, rtol=1e-9)


def test_a_data_can_be_copied() -> None:
    tree, exact = made("ankle_2rsu")
    d = mujoco.MjData(tree)
    d.qvel[:] = 1.0
    with exact:
        for _ in range(20):
            mujoco.mj_step(tree, d)
        other = copy.copy(d)
        for x in (d, other):
            mujoco.mj_step(tree, x)
    np.testing.assert_array_equal(d.qvel, other.qvel)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # JAX warns if another test has imported it
def test_fork() -> None:
    tree, exact = made()
    with exact:
        expected = acceleration(tree)
        count = _registry._owners[tree._address][0] + 2
        assert _registry._table is not None
        _registry._table[count] = 1  # as if another thread, which the child does not have, used the entry
        child = os.fork()
        if not child:
            same = bool((acceleration(tree) == expected).all()) and exact.installed
            exact.remove()
            os._exit(0 if same and not exact.installed and not _registry._abandoned else 1)
        _registry._table[count] = 0
        assert os.waitpid(child, 0)[1] == 0
        np.testing.assert_array_equal(acceleration(tree), expected)


@pytest.mark.parametrize("name", ["mini_cheetah", "ankle_2rsu"])
def test_states_that_are_not_finite(name: str) -> None:
    tree, exact = made(name)
    with exact:
        expected = acceleration(tree)
        for value in (np.nan, np.inf, 1e300):
            for field in ("qpos", "qvel"):
                d = mujoco.MjData(tree)
                getattr(d, field)[-1] = value
                mujoco.mj_forward(tree, d)
                mujoco.mj_step(tree, d)  # MuJoCo resets the state
                mujoco.mj_step(tree, d)
                assert np.isfinite(d.qacc).all()
        np.testing.assert_array_equal(acceleration(tree), expected)


def test_threads_while_objects_come_and_go() -> None:
    tree, exact = made()
    start = mujoco.MjData(tree)
    kind, end = mujoco.mjtState.mjSTATE_FULLPHYSICS, threading.Event()
    state = np.zeros(mujoco.mj_stateSize(tree, kind))
    mujoco.mj_getState(tree, start, state, kind)
    with exact:
        expected, _ = mujoco.rollout.rollout(tree, [mujoco.MjData(tree)], state[None], nstep=200)
    wrong: list[Any] = []

    def come_and_go() -> None:
        while not end.is_set():
            _, other = made("mit_humanoid")
            with other:
                pass
            del other

    def roll() -> None:
        for _ in range(20):
            states, _ = mujoco.rollout.rollout(tree, [mujoco.MjData(tree)], state[None], nstep=200)
            if not np.array_equal(states, expected):
                wrong.append(states)

    with exact:
        workers = [threading.Thread(target=roll) for _ in range(2)]
        other = threading.Thread(target=come_and_go)
        for thread in (*workers, other):
            thread.start()
        for thread in workers:
            thread.join()
        end.set()
        other.join()
    assert not wrong


def test_removal_waits_for_other_threads() -> None:
    """The object is destroyed directly after its removal, while other threads still step."""
    for _ in range(5):
        tree, exact = made()
        exact.install()
        datas, end = [mujoco.MjData(tree) for _ in range(2)], threading.Event()

        def run(tree: Any = tree, d: Any = None, end: Any = end) -> None:
            while not end.is_set():
                mujoco.mj_step(tree, d, 50)

        threads = [threading.Thread(target=run, kwargs={"d": d}) for d in datas]
        for thread in threads:
            thread.start()
        end.wait(0.02)
        exact.remove()
        del exact
        gc.collect()
        end.wait(0.02)
        end.set()
        for thread in threads:
            thread.join()


def run_for_ever(tree: Any, d: Any) -> None:
    while True:
        mujoco.mj_step(tree, d)


def test_ctrl_c() -> None:
    tree, exact = made()
    d = mujoco.MjData(tree)
    # Processes that a shell starts in the background ignore SIGINT, so that no KeyboardInterrupt would occur.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.2, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt), exact:
            run_for_ever(tree, d)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not exact.installed


def test_a_process_can_end_while_an_object_is_installed() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from support import exact_mujoco as em\nimport mujoco, pin_clusters as pc\n"
        "model = em.exact('mini_cheetah'); tree = em.tree_of(model)\n"
        "pc.mujoco.Exact(model, tree).install(); d = mujoco.MjData(tree); mujoco.mj_step(tree, d)\n"
    )
    tests = os.path.dirname(os.path.dirname(__file__))
    done = subprocess.run([sys.executable, "-c", code, tests], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def with_limits() -> tuple[Any, Any]:
    """Return an ankle with loops and torque limits."""
    tree, exact = made("ankle_2rsu")
    ankle = pc.MotorSpace(exact.model, ["ankle_pitch", "ankle_roll"], ["crank_left", "crank_right"])
    return tree, pc.mujoco.Exact(exact.model, tree, [ankle])


def random_calls(n: int, seed: int) -> None:
    """Call the functions of two objects, and of MuJoCo, in random order."""
    rng, makers = np.random.default_rng(seed), (made, with_limits)
    pairs = [make() for make in makers]
    datas = [mujoco.MjData(tree) for tree, _ in pairs]
    plain = mujoco.MjModel.from_xml_string(PENDULUM)
    other = mujoco.MjData(plain)
    for _ in range(n):
        k, action = rng.integers(2), rng.integers(40)
        (tree, exact), d = pairs[k], datas[k]
        if action < 24:
            mujoco.mj_step(tree, d)
        elif action < 28:
            mujoco.mj_step(plain, other)
        elif action < 30:
            exact.install()
        elif action < 32:
            exact.remove()
        elif action < 34:
            d.qpos[-1] += rng.normal()
        elif action == 34:
            exact.delta(d)
        elif action == 35:
            exact.step(d)
        elif action == 36:
            exact.reset(d)
        elif action == 37:
            mujoco.mj_resetData(tree, d)
        elif action == 38:
            d.qvel[rng.integers(tree.nv)] = rng.choice([np.nan, 1e9, -3.0])
            d.ctrl[rng.integers(tree.nu)] = rng.choice([np.nan, 1e9, -3.0])
        elif rng.integers(200) == 0:
            exact.remove()
            pairs[k] = makers[k]()
            datas[k] = mujoco.MjData(pairs[k][0])
    for _, exact in pairs:
        exact.remove()


def test_random_calls() -> None:
    random_calls(20_000, 0)


@pytest.mark.long
def test_many_random_calls() -> None:
    random_calls(1_000_000, 1)
