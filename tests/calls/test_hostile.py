"""Calls that nobody should make end in a result or an error, in processes of their own, which must not die of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import pool
from support import hostile
from support.fast import needed, python_calls

import pin_clusters as pc
from pin_clusters._calls import desk, entries, model_desk
from pin_clusters.algorithms import _quick

# the published inertias of some robots are no real bodies'
pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")


def run(*arguments: str) -> dict[str, Any]:
    command = [sys.executable, hostile.__file__, *arguments]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | hostile.ENVIRONMENT,
        cwd=Path(__file__).parent,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@needed
@pytest.mark.slow
@pytest.mark.parametrize("robot", pool.some(["four_bar", "mini_cheetah", "tello"], 1))
def test_every_entry_with_everything(robot: str, request: pytest.FixtureRequest) -> None:
    every = 1 if request.config.getoption("--long") else 20
    found = run("walk", "--robots", robot, "--every", str(every))
    assert found["entries"] == len(hostile.FAST) == len(set(entries.PYTHON))
    assert found["calls"] > 50_000 / every
    assert min(found[name] for name in ("kinds", "slots", "results", "changes")) > 1


@needed
def test_random_calls_end_as_in_python(request: pytest.FixtureRequest) -> None:
    calls = 100_000 if request.config.getoption("--long") else 3000
    found = run("fuzz", "--calls", str(calls), "--seed", "11")
    assert min(found["answers"], found["errors"]) > calls / 10


def test_desks_are_told_apart_by_their_sizes() -> None:
    sizes = desk.DESK_SIZE, len(model_desk.NUMBERS), desk.PLAN_SIZE, desk.CONTACTS_SIZE
    assert len(set(sizes)) == len(sizes)


@needed
def test_the_class_that_comes_first_does_not_matter() -> None:
    code = """
import numpy as np, pin_clusters as pc
from support.fast import python_calls
from support.hostile import SubData, SubModel
tree = pc.load("four_bar").tree
given = pc.load("four_bar")
sub = SubModel(given.tree, given.constraints)
for model, data in ((sub, sub.createData()), (given, SubData(given)), (given, given.createData())):
    q, v = pc.neutral(model), np.ones(1)
    for _ in range(2):
        pc.aba(model, data, q, v, v), pc.integrate(model, q, v)
with python_calls() as slow:
    pc.aba(model, data, q, v, v), pc.integrate(model, q, v)
    assert not any(slow.values()), slow
    pc.aba(model, SubData(given), q, v, v), pc.integrate(sub, q, v)
    assert (slow["aba"], slow["integrate"]) == (1, 1), slow
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(Path(hostile.__file__).parents[1])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("robot", ["four_bar", "mini_cheetah"])
def test_derivatives_leave_their_state(robot: str) -> None:
    model = pc.load(robot)
    data, v = model.createData(), np.ones(model.nv)
    poses = pc.neutral(model), pc.integrate(model, pc.neutral(model), 0.1 * v)
    pc.computeABADerivatives(model, data, poses[1], v, v)  # from here on in machine code
    pc.aba(model, data, poses[1], v, v)
    expected = pc.computeABADerivatives(model, data, poses[0], v, v)
    for found in (pc.computeABADerivatives(model, data), pc.computeABADerivatives(model, data, poses[0], v, v)):
        assert all(map(np.array_equal, found, expected))


@pytest.mark.parametrize("robot", ["four_bar", "tello", "mini_cheetah"])
def test_derivatives_where_q_is_not_finite_are_not_either(robot: str) -> None:
    model = pc.load(robot)
    data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
    pc.computeABADerivatives(model, data, q, v, v)
    for wrong in (np.nan, np.inf):
        for x in pc.computeABADerivatives(model, data, np.full(model.nq, wrong), v, v):
            assert not np.isfinite(x).any()


@needed
def test_what_could_be_another_robots_is_python_s() -> None:
    """Desks of one robot in the data of another: memory of both is whole, so that only the rule tells."""
    model, other = pc.load("mini_cheetah"), pc.load("mini_cheetah")
    data, foreign = model.createData(), other.createData()
    for m, d in ((model, data), (other, foreign)):
        q, v = pc.neutral(m), np.ones(m.nv)
        pc.aba(m, d, q, v, v)
    q, v = pc.neutral(model), np.ones(model.nv)
    with python_calls() as slow:
        pc.aba(model, data, q, v, v)
        for wrong in (None, 5, np.zeros(desk.DESK_SIZE), (np.zeros(desk.DESK_SIZE),), model._desk):
            twin = model.createData()
            twin._desk = wrong
            hostile.outcome(pc.aba, [model, twin, q, v, v], {})
        assert slow["aba"] == 5
    pc.inverse_operational_inertia(model, data, q, [1])
    pc.inverse_operational_inertia(other, foreign, pc.neutral(other), [1])
    own, another = (next(iter(d._plans.values())).desk for d in (data, foreign))
    assert _quick.quick_columns(model, data, q, own) is not None
    assert _quick.quick_columns(model, data, q, another) is None
