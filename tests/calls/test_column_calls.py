"""Fast calls of input matrices and operational inertia: the bits and the errors of the Python functions."""

from __future__ import annotations

import gc
import pickle
import random
import sys
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support.fast import Counts, needed, python
from support.forms import FAST_FORMS, OTHER_FORMS, alike, outcome

import pin_clusters as pc

# the published inertias of some robots are no real bodies'
pytestmark = [needed, pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")]
OSIM, INPUTS = "inverse_operational_inertia", "inverse_input_matrix"
REFERENCES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)


def usual(name: str) -> tuple[pc.ClusterModel, pc.ClusterData, np.ndarray]:
    model = pc.load(name)
    data = model.createData()
    pin.seed(0)
    q = pc.randomConfiguration(model)
    pc.inverse_input_matrix(model, data, q)  # compiled now
    return model, data, q


@pytest.mark.parametrize("robot", ["mini_cheetah", "tello", "four_bar"])
def test_the_usual_call_is_fast(robot: str, rng: np.random.Generator) -> None:
    """From the second one with the same frames on; by place or by name."""
    model, data, q = usual(robot)
    last = model.nframes - 1
    frames = [last, model.tree.frames[last - 3].name]
    B = rng.normal(size=(model.nv, 3))
    closed = B.copy()
    closed.setflags(write=False)
    own = [] if model.rotors and model.closures else [None]  # those depend on q, and are Python's
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        (OSIM, (frames,), {}),
        (OSIM, (tuple(frames),), {"rows": "linear"}),
        (OSIM, (list(frames), pin.WORLD), {}),
        (OSIM, (frames, pin.WORLD, None), {}),
        (OSIM, (frames[:1], pin.WORLD, 3), {}),
        (OSIM, (frames,), {"rows": "linear", "reference": pin.LOCAL_WORLD_ALIGNED}),
        (INPUTS, (closed,), {}),
        *[(INPUTS, (x, frames), {"reference": r}) for x in (*own, B) for r in REFERENCES],
        *[(INPUTS, (x,), {"contacts": frames, "reference": pin.LOCAL}) for x in (*own, B)],
        *[(INPUTS, (), {"contacts": frames, "B": x}) for x in (*own, B)],
    ]
    for name, given, options in calls:
        wanted = getattr(pc, name)(model, data, q, *given, **options)
        assert np.array_equal(wanted, python(name)(model, data, q, *given, **options))
        slow = Counts()
        for form in FAST_FORMS:
            found = getattr(pc, name)(model, data, form(q), *given, **options)
            assert np.array_equal(found, wanted), (name, given, options)
            assert found.flags.owndata
        assert not slow.all(), (name, given, options)


@pytest.mark.parametrize("robot", pool.some(["mini_cheetah", "four_bar"], ["mini_cheetah"], rest="ci"))
def test_any_call(robot: str, request: pytest.FixtureRequest) -> None:
    choose, rng = random.Random(robot), np.random.default_rng(3)
    model, data, _ = usual(robot)
    twin, foreign, checking = pc.load(robot), pc.load("mit_humanoid").createData(), model.createData()
    checking.check = True
    nv, last = model.nv, model.nframes - 1
    few: list[Any] = [[last, 3], (last, model.tree.frames[2].name)]
    odd: list[Any] = [
        [last, last],
        ["nobody"],
        [True],
        [1.0],
        [np.int64(last)],
        np.array([last]),
        "x",
        None,
        {last},
        [10**30],
        [[1]],
    ]
    option = request.config.getoption
    taken, times = 0, 30_000 if option("--long") else 1500 if option("--ci") else 500
    slow = Counts()
    for _ in range(times):
        name = choose.choice([OSIM, INPUTS, INPUTS])
        q = choose.choice(FAST_FORMS if choose.random() < 0.9 else OTHER_FORMS)(pc.randomConfiguration(model))
        own = choose.choice([data] * 30 + [model.createData(), checking, foreign, None, "data", model])
        arguments: list[Any] = [choose.choice([model] * 40 + [None, 3, twin]), own, q]
        frames = choose.choice(few * 12 + odd + [[], ()])
        B = rng.normal(size=(nv, choose.randrange(4)))
        B = choose.choice(
            [None] * 4
            + [B] * 4
            + [closed_copy(B), np.asfortranarray(B), B.tolist(), B[:1], B[0], B * 1j, np.zeros((nv, 4))[:, ::2], 3]
        )
        options: dict[str, Any] = {}
        given = [frames] if name == OSIM else [B, frames]
        for key in ("frames",) if name == OSIM else ("contacts", "B"):
            if choose.random() < 0.2:
                options[key] = given.pop()
            else:
                break
        if choose.random() < 0.4:
            options["reference"] = choose.choice([*REFERENCES] * 4 + [0, None, "world"])
        if name == OSIM and choose.random() < 0.4:
            options["rows"] = choose.choice([None, "linear", 0, 5, "linear", [0, 2], 99, True, "rows", [], 2.0])
        match choose.randrange(24):
            case 0:
                given += [pin.LOCAL, None][: choose.randrange(3)]
            case 1:
                options["unknown"] = 1
            case 2:
                arguments = arguments[: choose.randrange(3)]
        arguments += given
        before = slow[name]
        found = outcome(getattr(pc, name), arguments, options)
        taken += slow[name] == before
        assert alike(found, outcome(python(name), arguments, options)), (name, arguments, options, found)
    assert taken > times / 10, taken


def closed_copy(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.setflags(write=False)
    return x


def test_frames_are_known_by_what_is_in_the_list() -> None:
    """And by reference, rows and number of inputs; a list that is changed in place is another one."""
    model, data, q = usual("mini_cheetah")
    last, frames = model.nframes - 1, [0, 1]
    for k in range(45):
        frames[k % 2] = last - k
        B = np.ones((model.nv, k % 3))
        for reference in REFERENCES[: 1 + k % 3]:
            for _ in range(2):
                new = model.createData()
                for arguments, options in (
                    ((frames,), {"reference": reference}), ((None, frames), {"reference": reference}),
                    ((B, frames), {"reference": reference}), ((frames, reference, "linear"), {}),
                    ((frames, reference, 7), {}),
                ):  # fmt: skip
                    name = OSIM if len(arguments) != 2 else INPUTS
                    found = getattr(pc, name)(model, data, q, *arguments, **options)
                    assert np.array_equal(found, python(name)(model, new, q, *arguments, **options))
    for other in (pickle.loads(pickle.dumps(data)), data.copy()):
        found = pc.inverse_input_matrix(other.model, other, q, None, frames)
        assert np.array_equal(found, python(INPUTS)(model, data, q, None, frames))


def test_own_inputs_and_given_ones_take_turns() -> None:
    """With as many columns: what was given last is not taken for the robot's own, nor is it kept."""
    model, data, q = usual("mini_cheetah")
    B, frames = np.arange(12.0 * model.nv).reshape(model.nv, 12), [5]
    own, given = (python(INPUTS)(model, model.createData(), q, x, frames) for x in (None, B))
    for function in (pc.inverse_input_matrix, python(INPUTS)) * 3:
        assert np.array_equal(function(model, data, q, None, frames), own)
        assert np.array_equal(function(model, data, q, B, frames), given)
    B *= 2.0
    assert np.array_equal(pc.inverse_input_matrix(model, data, q, B, frames)[:, :12], 2.0 * given[:, :12])
    count = sys.getrefcount(B)
    pc.inverse_input_matrix(model, data, q, B.copy(), frames)
    assert sys.getrefcount(B) == count


@pytest.mark.ci
def test_no_reference_is_lost_or_kept() -> None:
    model, data, q = usual("mini_cheetah")
    B, frames, short = np.ones((model.nv, 2)), [model.nframes - 1, "floating_base"], np.ones(2)
    frames[1] = model.tree.frames[3].name
    kept = pc.inverse_input_matrix(model, data, q, B, frames)
    things = (
        model,
        data,
        q,
        B,
        frames,
        frames[1],
        short,
        pin.LOCAL,
        pin.WORLD,
        "contacts",
        np.ndarray,
        np.dtype(float),
        pc.inverse_input_matrix,
    )

    def run(times: int) -> np.ndarray:
        for _ in range(times):
            pc.inverse_operational_inertia(model, data, q, frames, pin.WORLD)
            pc.inverse_input_matrix(model, data, q, contacts=frames)
            kept = pc.inverse_input_matrix(model, data, q, B, frames, reference=pin.LOCAL)
            for wrong in (short, "q"):
                with pytest.raises(pc.PinClustersError):
                    pc.inverse_input_matrix(model, data, wrong, B, frames)
            with pytest.raises(TypeError):
                pc.inverse_input_matrix(model, data, q, B, B=B)
        return kept

    kept = run(100)  # what an interpreter keeps once is kept by then
    gc.collect()
    before, blocks = [sys.getrefcount(x) for x in things], sys.getallocatedblocks()
    kept = run(1000)
    assert [sys.getrefcount(x) for x in things] == before
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 500  # of 3000 results none stays
    own = [0.0]  # how many references that is depends on the interpreter
    assert len({sys.getrefcount(x) for x in (kept, own)}) == 1
