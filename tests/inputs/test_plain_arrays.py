"""Arrays as the kernels take them pass the checks as they are; all others become such, or are refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from samples import trees
from support.messages import raises

import pin_clusters as pc
from pin_clusters._support import arrays
from pin_clusters.errors import ArgumentTypeError, ShapeError

GIVEN = np.array([1.0, 2.0, 3.0])


def test_what_the_kernels_take_is_not_copied() -> None:
    for check in (arrays.plain, lambda x: arrays.array("x", x), lambda x: arrays.numbers("x", x)):
        assert check(GIVEN) is GIVEN
    unpickled = np.array(GIVEN, dtype=np.dtype("<f8").newbyteorder("="))
    assert arrays.plain(unpickled) is unpickled


def closed(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


def shifted(x: np.ndarray) -> np.ndarray:
    """The same numbers at an address that is no multiple of eight."""
    room = np.zeros(x.nbytes + 8, dtype=np.uint8)
    away = room[1 : 1 + x.nbytes].view(np.float64)
    away[:] = x
    return away


OTHERS = {
    "list": GIVEN.tolist(),
    "float32": GIVEN.astype(np.float32),
    "integers": GIVEN.astype(int),
    "big endian": GIVEN.astype(">f8"),
    "every second": np.repeat(GIVEN, 2)[::2],
    "read only": closed(GIVEN),
    "not aligned": shifted(GIVEN),
    "a subclass": np.ma.masked_array(GIVEN),
    "a column": GIVEN[:, None],
    "a row": GIVEN[None],
}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_they_do_not_take_becomes_what_they_take(kind: str) -> None:
    found = arrays.array("x", OTHERS[kind])
    assert type(found) is np.ndarray
    assert found.dtype == np.float64
    assert found.dtype.isnative
    assert found.flags.carray
    assert found.ndim == 1
    assert np.array_equal(found, GIVEN)


def test_sizes_are_checked_of_plain_arrays_too() -> None:
    with raises(ShapeError, "(2, 2)"):
        arrays.array("x", np.zeros((2, 2)))
    with raises(ShapeError):
        arrays.array("x", np.array(1.0))
    with raises(ArgumentTypeError, "complex128 ndarray"):
        arrays.array("x", GIVEN.astype(complex))


@pytest.mark.jitless
def test_results_go_where_a_subclass_has_its_numbers() -> None:
    model = trees.geared_arm().build()
    data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
    rows = [np.tile(x, (2, 1)) for x in (q, v, v)]
    for call, shape in (
        (lambda out: pc.rnea(model, data, q, v, v, out=out), (model.nv,)),
        (lambda out: pc.batch.rnea(model, *rows, out=out), (2, model.nv)),
    ):
        out = np.zeros(shape).view(np.recarray)
        with raises(ArgumentTypeError, "recarray np.asarray"):
            call(out)
        call(np.asarray(out))
        assert np.array_equal(np.asarray(out), call(None))


def test_sums_are_those_of_compiled_code() -> None:
    """One after the other: the builtin's are compensated since Python 3.12, and robots would have other last bits."""
    terms, total = [1.0, 1e-16, 1e-16, 3e-17, 1e-16] * 3, 0.0
    for x in terms:
        total += x
    assert arrays.in_order(terms) == total != math.fsum(terms)
