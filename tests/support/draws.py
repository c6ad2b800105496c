"""Draws of random numbers that are chosen: where one at random may be outside of what a test is about."""

from __future__ import annotations

import zlib

import numpy as np


def draw(name: str) -> np.random.Generator:
    """A generator that depends on the name alone."""
    return np.random.default_rng(zlib.crc32(name.encode()))
