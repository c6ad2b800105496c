"""Calls that nobody should make end in a result or an error, in processes of their own, which must not die of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support import hostile
from support.fast import Counts, needed

import pin_clusters as pc
from pin_clusters.algorithms._shared import bridge
from pin_clusters.model import NOTHING

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


@pytest.mark.ci
@needed
@pytest.mark.slow
@pytest.mark.parametrize("robot", pool.some(["four_bar", "mini_cheetah", "tello"], 1))
def test_every_entry_with_everything(robot: str, request: pytest.FixtureRequest) -> None:
    every = 1 if request.config.getoption("--long") else 20
    found = run("walk", "--robots", robot, "--every", str(every))
    assert found["entries"] == len(hostile.WALKED) == len(hostile.USUAL) + len(hostile.MOVES)
    assert found["calls"] > 50_000 / every
    assert min(found[name] for name in ("kinds", "slots", "results", "changes")) > 0  # every 20th of a few dozen


@pytest.mark.ci
@needed
def test_random_calls_end_as_in_python(request: pytest.FixtureRequest) -> None:
    calls, robots = 100_000 if request.config.getoption("--long") else 1500, list(hostile.ROBOTS)
    found = run("fuzz", "--calls", str(calls), "--seed", "11", "--robots", *robots)
    assert min(found["answers"], found["errors"]) > calls / 10


@needed
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of numpy.matrix
def test_every_argument_of_a_difference_can_be_printed() -> None:
    """Also of objects of Pinocchio without __init__, whose members raise."""
    for thing in hostile.kinds(SimpleNamespace(model=pc.load("four_bar"))):  # type: ignore[arg-type]
        assert str(hostile.seen(thing))


@pytest.mark.ci
@needed
def test_the_class_that_comes_first_does_not_matter() -> None:
    code = """
import numpy as np, pin_clusters as pc
from support.fast import Counts
from support.hostile import SubData, SubModel
tree = pc.load("four_bar").tree
given = pc.load("four_bar")
sub = SubModel(given.tree, given.constraints)
for model, data in ((sub, sub.createData()), (given, SubData(given)), (given, given.createData())):
    q, v = pc.neutral(model), np.ones(1)
    for _ in range(2):
        pc.aba(model, data, q, v, v), pc.integrate(model, q, v)
slow = Counts()
pc.aba(model, data, q, v, v), pc.integrate(model, q, v), pc.integrate(sub, q, v)
assert not slow.all(), slow.all()
pc.aba(model, SubData(given), q, v, v)
assert slow.all() == {"aba": 1}, slow.all()
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-Pc", code], capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.ci
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


@pytest.mark.ci
@pytest.mark.parametrize("robot", ["four_bar", "tello", "mini_cheetah"])
def test_derivatives_where_q_is_not_finite_are_not_either(robot: str) -> None:
    model = pc.load(robot)
    data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
    pc.computeABADerivatives(model, data, q, v, v)
    for wrong in (np.nan, np.inf):
        for x in pc.computeABADerivatives(model, data, np.full(model.nq, wrong), v, v):
            assert not np.isfinite(x).any()


@needed
def test_a_call_with_another_model_is_an_error_each_time() -> None:
    model, other = pc.load("mini_cheetah"), pc.load("mini_cheetah")
    data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
    for _ in range(2):
        pc.aba(model, data, q, v, v)
    slow = Counts()
    for wrong in (other, pc.load("four_bar"), None, 5, data, pc.ClusterModel.__new__(pc.ClusterModel)):
        with pytest.raises(pc.PinClustersError):
            pc.aba(wrong, data, q, v, v)
    assert slow["aba"] == 6


@pytest.mark.ci
def test_the_end_of_a_tree_that_was_replaced_may_call() -> None:
    code = """
import numpy as np, pinocchio as pin, pin_clusters as pc
model = pc.load("four_bar")
data, q, v = model.createData(), pc.neutral(model), np.ones(1)
ended = []
class Tree(pin.Data):
    def __del__(self):
        rooms = [np.full(n, 7.0) for n in range(1, 60) for _ in range(4)]
        for _ in range(3):
            pc.forwardKinematics(model, data, q, v)
        ended.append(all((x == 7.0).all() for x in rooms))
for _ in range(20):
    pc.forwardKinematics(model, data, q, v)
    data.tree = Tree(model.own_tree)
print(len(ended), all(ended))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-Pc", code], capture_output=True, text=True, check=False,
        env=os.environ | hostile.ENVIRONMENT,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "19 True\n"), done.stderr


def knee(model: pc.ClusterModel) -> int:
    """A joint whose contacts the kernel does."""
    return int(model.getJointId("FL_knee")) if "FL_knee" in model.names else 1


@pytest.mark.ci
@pytest.mark.parametrize("robot", ["four_bar", "mini_cheetah"])
def test_states_that_are_results_are_kept_as_they_were(robot: str) -> None:
    """Torques or accelerations given as the data's own results, which the call overwrites."""
    model = pc.load(robot)
    data, again, q, v = model.createData(), model.createData(), pc.neutral(model), np.ones(model.nv)
    contacts = [pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, knee(model), pin.LOCAL)]
    contacts = contacts if robot == "mini_cheetah" else []
    datas = [c.createData() for c in contacts]
    for _ in range(3):  # by Python, then in machine code
        for call, derivatives, field in (
            (pc.aba, pc.computeABADerivatives, "ddq"),
            (pc.computeRNEADerivatives, pc.getCoriolisMatrix, "tau"),
            (
                lambda *x: pc.constraintDynamics(*x, contacts, datas),
                lambda *x: pc.computeConstraintDynamicsDerivatives(*x, contacts, datas),
                "ddq",
            ),
        ):
            mine = getattr(data, field)
            mine[:] = np.arange(model.nv)
            kept = mine.copy()
            found = np.copy(call(model, data, q, v, mine)), derivatives(model, data)
            expected = np.copy(call(model, again, q, v, kept)), derivatives(model, again)
            assert np.array_equal(found[0], expected[0])
            for x, y in zip(found[1], expected[1], strict=True):
                assert np.array_equal(x, y), field


@pytest.mark.ci
@pytest.mark.parametrize("robot", ["four_bar", "mini_cheetah"])
def test_results_that_are_given_as_velocities_or_torques_count_as_they_were(robot: str) -> None:
    """Although the call overwrites them before it has read them for the last time."""
    model = pc.load(robot)
    data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
    contact = pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, knee(model), pin.LOCAL)
    contacts, rows = ([contact], [contact.createData()]), (np.ones((1, model.nv)), np.ones(1))
    given = np.linspace(0.5, 1.5, model.nv)
    calls: list[tuple[str, Any, Any]] = [
        ("ddq", pc.computeABADerivatives, lambda x: (x, v)),
        ("M", pc.forwardDynamics, lambda x: (x, v, *rows)),
        ("M", pc.forwardDynamics, lambda x: (v, x, *rows)),
        ("ddq", pc.constraintDynamics, lambda x: (x, v, *contacts)),
        ("ddq", pc.constraintDynamics, lambda x: (v, x, *contacts)),
    ]
    for member, function, arguments in calls:
        for call in (function, function, getattr(function, "__wrapped__", function)):
            exact = np.array(call(model, data, q, *arguments(given)))
            mine = np.atleast_2d(getattr(data, member))[0]
            mine[:] = given
            assert np.array_equal(call(model, data, q, *arguments(mine)), exact), function.__name__


@pytest.mark.ci
def test_results_that_are_given_to_a_call_that_fails_are_left_to_python() -> None:
    """Code for one robot fails where accelerations are not finite; Python must find the arguments as they were."""
    model = pc.specialise(pc.load("four_bar"))
    data, q, v = model.createData(), pc.neutral(model), np.ones(1)
    for _ in range(2):
        pc.computeABADerivatives(model, data, q, v, v)
    data.ddq[:] = 1e300
    found = pc.computeABADerivatives(model, data, q, data.ddq, v)
    assert np.array_equal(found, pc.computeABADerivatives(model, data, q, 1e300 * v, v), equal_nan=True)


def test_forces_of_contacts_are_those_of_the_last_call() -> None:
    model = pc.load("mini_cheetah")
    data, again, q, v = model.createData(), model.createData(), pc.neutral(model), np.ones(model.nv)
    contacts = [pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, knee(model), pin.LOCAL)]
    datas = [c.createData() for c in contacts]

    def call(d: Any) -> Any:
        pc.constraintDynamics(model, d, q, v, v, contacts, datas)
        return d.lambda_c.copy(), d.contact_rank, d.contact_residual

    expected = call(again)
    for _ in range(3):
        assert np.array_equal(call(data)[0], expected[0])
    pc.impulseDynamics(model, data, q, v, contacts, datas)
    assert np.array_equal(data.lambda_c, expected[0])
    assert not np.array_equal(data.impulse_c, expected[0])
    pc.impulseDynamics(model, data, q, v, np.ones((2, model.nv)), 0.0)
    assert data.contact_rank == 1
    assert call(data)[1:] == expected[1:]
    data.lambda_c = np.zeros(5)
    assert np.array_equal(call(data)[0], expected[0])


@needed
def test_inputs_that_moved_are_found_where_they_are() -> None:
    model = pc.load("mini_cheetah")
    data, q, B = model.createData(), pc.neutral(model), np.ones((model.nv, 2))
    frames = [np.int32(5)]  # no name or id that is known again
    expected = pc.inverse_input_matrix(model, data, q, B, frames)
    B.resize((300 * model.nv, 2), refcheck=False)
    other = np.full((model.nv, 2), np.nan)  # where B was
    B.resize((model.nv, 2), refcheck=False)
    assert np.array_equal(pc.inverse_input_matrix(model, data, q, B, frames), expected)
    del other


@pytest.mark.parametrize("member", ["_turned", "_bends"])
def test_a_small_room_is_not_written_beyond(member: str) -> None:
    model = pc.load("tello")  # has clusters of two independent joints: three matrices in ``_bends``
    data = model.createData()
    v = np.ones(model.nv) if member == "_turned" else NOTHING
    size = getattr(data, member).size
    beyond = np.full(2 * size, 7.0)
    with pytest.raises(pc.ShapeError):
        bridge.derivatives(model, data, pc.neutral(model), v, NOTHING, beyond[: size - 1])
    assert (beyond == 7.0).all()
