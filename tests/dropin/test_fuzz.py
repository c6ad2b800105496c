"""Random calls of the public functions in every form: plans and the Python functions give the same outcome."""

from __future__ import annotations

import contextlib
import gc
import random
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import pytest
from support.fast import NAMES, Counts, needed, python
from support.forms import FAST_FORMS, OTHER_FORMS, outcome
from support.overloads import Form
from support.public_forms import KEYWORDS, PUBLIC
from support.twins import MEMBERS, MORE_FORMS, Guarded, Robot, read, references_of, seen

import pin_clusters as pc

# links of published robots may have inertias that no body has
pytestmark = [needed, pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")]

ROBOTS = ("mini_cheetah", "four_bar", "tello", "mixed", "arm")
OF_CI = ("Coriolis", "Derivatives", "christoffel", "hybrid")
"""In the names of functions whose kernels the everyday run does not compile."""
CALLS = {False: 5000, True: 200_000}


class Call(NamedTuple):
    """One call, and what is to be seen of it afterwards."""

    name: str
    arguments: list[Any]
    options: dict[str, Any]
    result: Any
    members: dict[str, Any]
    references: list[int]
    found: Any
    "The result itself, which later calls must leave alone."

    def visible(self) -> tuple[Any, ...]:
        return self.result, self.members, seen(self.arguments), seen(self.options)

    def keeps_no_more_than(self, other: Call) -> bool:
        """Return whether no array was lost, or is kept longer; Python functions may keep an array in data."""
        return all(0 <= mine <= theirs for mine, theirs in zip(self.references, other.references, strict=True))


class Side:
    """All robots, with calls answered by plans, or by the Python functions."""

    def __init__(self, fast: bool, robots: tuple[str, ...], names: list[str]) -> None:
        self.fast, self.names = fast, names
        self.robots = [Robot(name, fast) for name in robots]
        self.guarded: list[Guarded] = []
        self.last: tuple[()] | tuple[Robot, str, int] = ()

    def play(self, seed: int) -> Call:
        """Draw a call from a seed, and make it."""
        choose = random.Random(seed)
        if not self.last or choose.random() < 0.6:  # some plans serve the arguments of the last call
            self.last = choose.choice(self.robots), choose.choice(self.names), choose.randrange(2)
        robot, name, i = self.last
        self.history(choose, robot, i)
        arguments, options = self.given(choose, robot, choose.choice(PUBLIC[name]), i)
        robot.datas[i].check = choose.random() < 0.02
        arrays = [x for x in (*arguments, *options.values()) if isinstance(x, np.ndarray)]
        before = references_of(arrays)
        function = getattr(pc, name) if self.fast else python(name)
        pin.seed(seed % 2**31)
        found = outcome(function, arguments, options)
        result = seen(found)
        if isinstance(found, Exception):
            found = None  # the traceback has references to all arguments
            if (references_of(arrays) != before).any():
                gc.collect()
        references = (references_of(arrays) - before).tolist()
        assert all(x.whole() for x in self.guarded), (name, arguments, options)
        robot.datas[i].check = False
        members = {member: read(robot.datas[i], member) for member in choose.sample(MEMBERS, 3)}
        return Call(name, arguments, options, result, members, references, found)

    def history(self, choose: random.Random, robot: Robot, i: int) -> None:
        """Sometimes read members, write to them, or take a copy or new data in place of a data."""
        x = choose.random()
        if x < 0.01:
            found = outcome(robot.copied, [robot.datas[i]], {}) if x < 0.005 else robot.fresh()
            if not isinstance(found, Exception):  # such as a warning of NumPy where numbers are not finite
                robot.datas[i] = found
        elif x < 0.3:
            read(robot.datas[i], choose.choice([*MEMBERS, "tree"]))
        elif x < 0.33:
            member = outcome(getattr, [robot.datas[i], choose.choice(MEMBERS)], {})
            outcome(lambda: member.__setitem__(..., 2.0), [], {})

    def given(self, choose: random.Random, robot: Robot, form: Form, i: int) -> tuple[list[Any], dict[str, Any]]:
        """Draw arguments for a form, by position and by name."""
        usual, self.guarded = choose.random() < 0.6, []
        k = 0 if choose.random() < 0.8 else choose.randrange(12)  # a plan serves the contacts of the last call
        names = [*(["model", "data"] if form.needs_data else ["model"]), *form.names]
        names += [x for x in KEYWORDS.get(form.function, ()) if choose.random() < 0.15]
        values = [robot.model, robot.datas[i]][: 1 + form.needs_data]
        values += [self.value(choose, robot, name, k) for name in names[len(values) :]]
        if not usual:
            values = [self.wrong(choose) if choose.random() < 0.02 else self.form(choose, x) for x in values]
            if choose.random() < 0.05:
                del values[choose.randrange(len(values)) :]
            elif choose.random() < 0.05:
                names, values = [*names, "unknown"], [*values, None]
        by_place = len(values) if choose.random() < 0.8 else choose.randrange(len(values) + 1)
        by_place = min(
            [by_place, *(names.index(x) for x in (*KEYWORDS.get(form.function, ()), "unknown") if x in names)]
        )
        return values[:by_place], dict(zip(names[by_place:], values[by_place:], strict=False))

    def value(self, choose: random.Random, robot: Robot, name: str, k: int) -> Any:
        """Draw a usual value; ``k`` chooses contacts and their data, which belong together."""
        values = robot.pool[name]
        if name.endswith(("_models", "_datas")) and choose.random() < 0.95:
            return values[k]
        x = choose.choice(values)
        if not isinstance(x, np.ndarray) or x.dtype.kind != "f":
            return x
        if x.shape == (robot.model.nv,) and choose.random() < 0.03:  # a result of the data itself
            return getattr(robot.datas[0], choose.choice(["ddq", "_tau", "_nle", "_g"]))
        if choose.random() < 0.8:
            return choose.choice(FAST_FORMS)(x)
        self.guarded.append(Guarded(x))
        return self.guarded[-1].array

    def form(self, choose: random.Random, x: Any) -> Any:
        """Draw another form of an array."""
        if not isinstance(x, np.ndarray) or choose.random() < 0.6:
            return x
        with contextlib.suppress(Exception):  # not every form has a meaning for every array
            return choose.choice([*OTHER_FORMS, *MORE_FORMS])(x)
        return None

    def wrong(self, choose: random.Random) -> Any:
        """Draw something that is wrong in most places."""
        other = choose.choice(self.robots)
        things = [None, 3, -1, 10**6, 2**63, 0.5, float("nan"), True, "text", b"x", ..., [], {}, pin.LOCAL, pin.ARG3]
        things += [np.zeros(0), np.zeros((2, 2)), pin.SE3.Identity(), other.model, other.datas[0], other.model.own_tree]
        return choose.choice(things)


def compared(robots: tuple[str, ...], names: list[str], calls: int, seed: int) -> tuple[Counter[str], Counter[str]]:
    """Make calls on both sides and compare them; return how many of each function, and how many were fast."""
    count, fast, draw = Counter[str](), Counter[str](), random.Random(seed)
    sides = Side(True, robots, names), Side(False, robots, names)
    last: list[Call] = []
    for _ in range(calls):
        seed, slow = draw.getrandbits(48), Counts()
        ours = sides[0].play(seed)
        fast[ours.name] += ours.name in NAMES and not slow.all()
        theirs = sides[1].play(seed)
        count[ours.name] += 1
        assert ours.visible() == theirs.visible(), (seed, ours, theirs)
        assert ours.keeps_no_more_than(theirs), (seed, ours, theirs)
        assert len({repr(seen(call.found)) for call in last}) < 2, (seed, last, ours)
        last = [ours, theirs]
    return count, fast


@pytest.mark.ci
def test_everyday_calls() -> None:
    """Functions whose kernels the everyday run compiles, on robots without loops."""
    names = [name for name in PUBLIC if not any(part in name for part in OF_CI)]
    count, fast = compared(("mini_cheetah", "arm"), names, 1000, 1)
    assert fast.total() > sum(count[name] for name in NAMES) / 4


@pytest.mark.ci
@pytest.mark.slow
@pytest.mark.parametrize("engine", ["tables", pytest.param("auto", marks=pytest.mark.long)])
def test_calls_of_all_functions(engine: str, request: pytest.FixtureRequest, record_property: Any) -> None:
    calls = request.config.getoption("--calls") or CALLS[request.config.getoption("--long")]
    with pc.engine(engine):
        count, fast = compared(ROBOTS, list(PUBLIC), calls, 2)
    record_property("calls", dict(count))
    record_property("fast", dict(fast))
    assert all(count[name] > calls / len(PUBLIC) / 4 for name in PUBLIC), count
    assert all(fast[name] >= calls // 25_000 for name in PUBLIC if name in NAMES), fast
