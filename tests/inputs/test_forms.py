"""What goes in stays as it is, in any form; what comes out is fresh; and a kernel allocates nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import trees
from support.calls import ALL, DYNAMICS, call, rows, state
from support.tolerances import EXACT, relative

import pin_clusters as pc
from pin_clusters.compiler import entry_points
from pin_clusters.compiler.operations import STATE_FUNCTIONS_BY_NAME

KERNELS = {name: entry_points.KERNELS_BY_NAME[STATE_FUNCTIONS_BY_NAME[name].operation.name] for name in DYNAMICS}

FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "list": lambda x: x.tolist(),
    "tuple": lambda x: tuple(x.tolist()),
    "column": lambda x: x[:, None],
    "row": lambda x: x[None, :],
    "strided": lambda x: np.repeat(x, 3)[::3],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "Fortran": lambda x: np.asfortranarray(np.stack([x, x], axis=1))[:, 0],
    "part": lambda x: np.concatenate([[0.0], x])[1:],
    "read-only": lambda x: np.frombuffer(x.tobytes()),
    "matrix": lambda x: x[:, None].view(np.matrix),
    "other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "unaligned": lambda x: np.frombuffer(b"x" + x.tobytes(), offset=1),
    "longdouble": lambda x: x.astype(np.longdouble),
    "masked": lambda x: np.ma.masked_less(x, 0.0),  # its numbers are taken, as Pinocchio does
    "subclass": lambda x: x.view(np.recarray),
}
# these round, so the input is rounded first
ROUNDED: dict[str, type] = {
    "float32": np.float32,
    "float16": np.float16,
    "int": np.int64,
    "uint8": np.uint8,
    "bool": bool,
}


def arrays(result: Any) -> list[np.ndarray]:
    return [np.asarray(getattr(result, "vector", result))]


@pytest.mark.parametrize("form", [*FORMS, *ROUNDED])
@pytest.mark.parametrize("name", DYNAMICS)
def test_any_form_of_input_will_do(name: str, form: str) -> None:
    s = state()
    if form in ROUNDED:
        s = s._replace(**{x: np.abs(getattr(s, x)).astype(ROUNDED[form]).astype(float) for x in "qva"})
        convert: Callable[[np.ndarray], Any] = lambda x: x.astype(ROUNDED[form])  # noqa: E731
    else:
        convert = FORMS[form]
    wanted = np.array(call(name, s))
    given = {x: convert(getattr(s, x)) for x in DYNAMICS[name][1]}
    before = {x: np.array(y, copy=True) for x, y in given.items()}
    assert np.array_equal(call(name, s, **given), wanted)
    assert all(np.array_equal(np.asarray(given[x]), y) for x, y in before.items())


def test_no_form_of_input_compiles_anew() -> None:
    s = state()
    for name, kernel in KERNELS.items():
        for convert in [*FORMS.values(), *(lambda x, t=t: x.astype(t) for t in ROUNDED.values())]:
            call(name, s, **{x: convert(getattr(s, x)) for x in DYNAMICS[name][1]})
        assert len(kernel.fast.signatures) == 1, name
    frozen = lambda x: np.frombuffer(x.tobytes()).reshape(x.shape)  # noqa: E731
    for function in (pc.batch.rnea, pc.batch.aba):
        for convert in (np.asfortranarray, list, lambda x: x.astype(np.float32), lambda x: x[::-1], frozen):
            function(s.model, *(convert(x) for x in rows(s)))
    assert len(entry_points.rows.fast.signatures) == 1


def test_rows_in_any_form() -> None:
    s = state()
    tables = tuple(x + 0.01 * np.arange(11)[:, None] for x in rows(s, 11))
    forces = np.random.default_rng(2).normal(size=(11, s.model.njoints, 6))
    for function in (pc.batch.rnea, pc.batch.aba):
        wanted = function(s.model, *tables, forces)
        for convert in (np.asfortranarray, np.ndarray.tolist, lambda x: np.repeat(x, 2, axis=0)[::2]):
            assert np.array_equal(function(s.model, *(convert(x) for x in tables), convert(forces)), wanted)
        forces_as_objects = [[pin.Force(f) for f in each] for each in forces]
        assert np.array_equal(function(s.model, *tables, forces_as_objects), wanted)


@pytest.mark.jitless
@pytest.mark.parametrize("name", ["rnea", "aba"])
def test_any_form_of_forces_will_do(name: str) -> None:
    s = state()
    f = s.fext
    wanted = getattr(pc, name)(*s)
    vector = pin.StdVec_Force()
    for x in f:
        vector.append(pin.Force(x))
    forms = [
        vector, list(vector), tuple(vector), list(f), f.tolist(), np.asfortranarray(f), np.repeat(f, 2, axis=1)[:, ::2],
        f.astype(np.longdouble),
    ]  # fmt: skip
    for form in forms:
        assert np.array_equal(getattr(pc, name)(*s[:5], form), wanted)
    whole = np.rint(f)
    assert np.array_equal(getattr(pc, name)(*s[:5], whole.astype(int)), getattr(pc, name)(*s[:5], whole))


def reachable(data: pc.ClusterData) -> list[np.ndarray]:
    names = ("tau", "ddq", "nle", "g", "M", "Minv", "J", "Jcom", "Ag", "_work", "_M_kernel")
    return [getattr(data, n) for n in names] + [p.arrays[-1] for p in data._pointers.values()]


@pytest.mark.jitless
@pytest.mark.parametrize("name", ALL)
def test_results_are_fresh_and_inputs_untouched(name: str) -> None:
    s = state()
    kept = [x.copy() for x in s[2:]]
    first = call(name, s)
    if first is None:
        return
    second = call(name, s)
    for x, y in zip(arrays(first), arrays(second), strict=True):
        assert not np.shares_memory(x, y)
        assert not any(np.shares_memory(x, mine) for mine in (*reachable(s.data), *s[2:]))
        if x.ndim:
            assert x.flags.writeable
            x[...] = 7.0
            assert np.array_equal(np.asarray(getattr(call(name, s), "vector", call(name, s))), y)
    assert all(np.array_equal(x, y) for x, y in zip(kept, s[2:], strict=True))


@pytest.mark.jitless
def test_a_result_in_data_may_be_written_to() -> None:
    """As when somebody fills the lower triangle, which Pinocchio leaves empty."""
    s = state(trees.random_robot(np.random.default_rng(3), 7).build())
    for name, attribute in (
        ("crba", "M"), ("computeMinverse", "Minv"), ("rnea", "tau"), ("aba", "ddq"), ("nonLinearEffects", "nle"),
        ("computeJointJacobians", "J"), ("computeCentroidalMap", "Ag"), ("jacobianCenterOfMass", "Jcom"),
    ):  # fmt: skip
        wanted = call(name, s)
        wanted = np.array(getattr(s.data, attribute) if wanted is None else wanted)
        assert np.array_equal(getattr(s.data, attribute), wanted)
        getattr(s.data, attribute)[...] = 7.0
        assert np.all(getattr(s.data, attribute) == 7.0)
        call(name, s)
        assert np.array_equal(getattr(s.data, attribute), wanted), attribute


def test_rows_may_be_written_over_their_input() -> None:
    s = state()
    q, v, tau = (x + 0.01 * np.arange(37)[:, None] for x in rows(s, 37))
    wanted = pc.batch.aba(s.model, q, v, tau, threads=2)
    out = np.empty_like(wanted)
    assert pc.batch.aba(s.model, q, v, tau, out=out) is out
    assert np.array_equal(out, wanted)
    buffer = np.zeros((38, s.model.nv))  # the rows of v lie one behind those of the result
    buffer[:-1] = v
    assert np.array_equal(pc.batch.aba(s.model, q, buffer[:-1], tau, out=buffer[1:]), wanted)
    assert np.array_equal(pc.batch.aba(s.model, q, v, tau, out=tau), wanted)
    assert pc.batch.aba(s.model, q[:0], v[:0], tau[:0], np.zeros((0, s.model.njoints, 6))).shape == (0, s.model.nv)


@pytest.mark.jitless
def test_a_robot_without_joints() -> None:
    model = pc.ClusterModel(pin.Model())
    data = model.createData()
    empty: list[float] = []
    assert pc.rnea(model, data, empty, empty, empty).shape == (0,)
    assert pc.aba(model, data, empty, empty, empty).shape == (0,)
    assert pc.crba(model, data, empty).shape == pc.computeMinverse(model, data, empty).shape == (0, 0)
    assert pc.computeMechanicalEnergy(model, data, empty, empty) == 0.0
    assert pc.batch.aba(model, *(np.zeros((3, 0)) for _ in range(3))).shape == (3, 0)


ALLOCATIONS = """
import numpy as np
from support.calls import DYNAMICS, call, state
from support.fast import python
from numba.core.runtime import rtsys
import pin_clusters as pc
from inputs import test_forms as here

s = state()
for name, kernel in here.KERNELS.items():
    call(name, s)
    seen = []
    fast = kernel.fast
    spy = lambda *arguments: (seen.append(arguments), fast(*arguments))[1]
    kernel.fast = spy
    python(name)(s.model, s.data, *(getattr(s, x) for x in DYNAMICS[name][1]))  # through Kernel.call
    kernel.fast = fast
    for _ in range(2):
        before = rtsys.get_allocation_stats()
        fast(*seen[0])
        after = rtsys.get_allocation_stats()
    # each array that goes in is wrapped once
    assert after.alloc - before.alloc == len(seen[0]) - 1, (name, after.alloc - before.alloc, len(seen[0]))
    assert after.alloc - before.alloc == after.free - before.free, name
print("none")
"""


@pytest.mark.ci
def test_kernels_do_not_allocate() -> None:
    # the same package, whose kernels are compiled
    folders = Path(__file__).parents[1], Path(pc.__file__).parents[1]
    environment = {**os.environ, "NUMBA_NRT_STATS": "1", "PYTHONPATH": os.pathsep.join(map(str, folders))}
    done = subprocess.run([sys.executable, "-Pc", ALLOCATIONS], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "none"


def test_armature_is_kept_or_replaced(rng: np.random.Generator) -> None:
    """On the universe a rotor is nothing but armature, so Pinocchio knows the result."""
    tree = trees.random_tree(rng, 4, kinds=["revolute"], chain=1.0, armature=False).tree()
    own = np.array([0.3, 0.0, 0.0, 0.0])
    tree.armature = own
    q, v, tau = (rng.normal(size=4) for _ in range(3))
    for armature, kept in (("keep", 1.0), ("replace", 0.0)):
        rotor = pc.Rotor("j0", 5.0, axial_inertia=0.01, armature=armature)
        model = pc.ClusterModel(tree, [rotor])
        same = tree.copy()
        same.armature = kept * own + [0.01 * 5.0**2, 0.0, 0.0, 0.0]
        M = np.array(pin.crba(same, same.createData(), q))
        M = np.triu(M) + np.triu(M, 1).T
        data = model.createData()
        assert relative(pc.crba(model, data, q), M) < EXACT
        assert relative(pc.aba(model, data, q, v, tau), pin.aba(same, same.createData(), q, v, tau)) < 1e-11
        a = rng.normal(size=4)
        assert relative(pc.rnea(model, data, q, v, a), pin.rnea(same, same.createData(), q, v, a)) < EXACT
        assert np.array_equal(model.armature, own)  # the user's
