from __future__ import annotations

import zlib

import numpy as np
import pytest


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator that depends on the test and its parameters only, not on the order or choice of tests."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.split("/")[-1].encode()))
