"""Calls of machine code from Python: the words that arrive are those of the objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from pin_clusters.compiler.machine_code.loading import load
from pin_clusters.compiler.native.words import WORDS_OF_KIND, address_of, words_of
from pin_clusters.compiler.specialising.calling import caller

DTYPES = {"f": np.float64, "i": np.int64, "b": np.int8}


def echo(count: int) -> int:
    """Return the address of a function that writes its words, from the third one on, where the third one says."""
    words = range(count)
    lines = [f"  %p{i} = getelementptr i64, ptr %to, i64 {i - 2}\n  store i64 %w{i}, ptr %p{i}\n" for i in words[2:]]
    text = (
        f"define i32 @entry({', '.join(f'i64 %w{i}' for i in words)}) {{\n  %to = inttoptr i64 %w2 to ptr\n"
        f"  %status = inttoptr i64 %w0 to ptr\n  store i64 {count}, ptr %status\n{''.join(lines)}  ret i32 0\n}}\n"
    )
    return load(text, optimise=False).address("entry")


@pytest.mark.parametrize("kinds", [["f1"], ["i0", "f1", "b1", "f2"], ["i1", "i2", *["f2"] * 20]])
def test_the_words_of_a_call(kinds: Sequence[str], rng: np.random.Generator) -> None:
    given: list[Any] = [
        -5 if kind == "i0" else np.zeros(rng.integers(5, size=int(kind[1])), DTYPES[kind[0]]) for kind in kinds
    ]
    count = 3 + sum(WORDS_OF_KIND[kind] for kind in kinds)
    found = np.zeros(count - 2, dtype=np.int64)
    assert caller(("i0", *kinds))(echo(count), address_of(found), *given) == count
    assert found.tolist() == [w for x in (address_of(found), *given) for w in words_of(x)]
