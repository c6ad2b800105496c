"""Shaft, lever and slide on a floating base, tied by a function of a user: in Python and compiled, with and without
derivatives of its own."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pinocchio as pin
from samples import mechanisms, trees

import pin_clusters as pc


def cam_and_slide(x: np.ndarray) -> np.ndarray:
    """A cam's lever and a connecting rod's slide over a shaft."""
    rod = np.sqrt(1.0 - (0.3 * np.sin(x[0])) ** 2)
    return np.array([
        x[1] - 0.2 * np.sin(x[0]) - 0.05 * np.sin(2.0 * x[0] + x[1]),
        x[2] - 0.3 * np.cos(x[0]) - rod + 0.1 * x[1] * x[2],
    ])  # fmt: skip


def slopes(x: np.ndarray) -> np.ndarray:
    s, c = np.sin(x[0]), np.cos(x[0])
    wave = 0.05 * np.cos(2.0 * x[0] + x[1])
    bend = 0.3 * s + 0.09 * s * c / np.sqrt(1.0 - (0.3 * s) ** 2)
    return np.array([[-0.2 * c - 2.0 * wave, 1.0 - wave, 0.0], [bend, 0.1 * x[2], 1.0 + 0.1 * x[1]]])


def real_cam_and_slide(x: np.ndarray) -> np.ndarray:
    """The same, which no complex step can differentiate."""
    return cam_and_slide(np.array([float(number) for number in x]))


@numba.cfunc("void(CPointer(float64), CPointer(float64))")
def compiled(x: Any, out: Any) -> None:
    out[0] = x[1] - 0.2 * np.sin(x[0]) - 0.05 * np.sin(2.0 * x[0] + x[1])
    out[1] = x[2] - 0.3 * np.cos(x[0]) - np.sqrt(1.0 - (0.3 * np.sin(x[0])) ** 2) + 0.1 * x[1] * x[2]


@numba.cfunc("void(CPointer(float64), CPointer(float64))")
def compiled_slopes(x: Any, out: Any) -> None:
    s, c = np.sin(x[0]), np.cos(x[0])
    wave = 0.05 * np.cos(2.0 * x[0] + x[1])
    out[0] = -0.2 * c - 2.0 * wave
    out[1] = 1.0 - wave
    out[2] = 0.0
    out[3] = 0.3 * s + 0.09 * s * c / np.sqrt(1.0 - (0.3 * s) ** 2)
    out[4] = 0.1 * x[2]
    out[5] = 1.0 + 0.1 * x[1]


FUNCTIONS: dict[str, dict[str, Any]] = {
    "Python": {"phi": cam_and_slide},
    "Python, no complex numbers": {"phi": real_cam_and_slide},
    "Python, Jacobian": {"phi": real_cam_and_slide, "jacobian": slopes},
    "compiled": {"phi": compiled, "size": 2},
    "compiled, Jacobian": {"phi": compiled, "jacobian": compiled_slopes, "size": 2},
}


def mechanism(rng: np.random.Generator, how: str) -> mechanisms.Mechanism:
    b = mechanisms.Builder(rng)
    b.add("base", None, pin.JointModelFreeFlyer(), np.zeros(3))
    b.add("shaft", "base", trees.unit(rng), trees.placement(rng), 0.4)
    b.add("lever", "base", trees.unit(rng), trees.placement(rng), 0.1)
    b.add("slide", "shaft", pin.JointModelPrismaticUnaligned(trees.unit(rng)), trees.placement(rng), 1.2)
    tie = pc.Coupling(["shaft", "lever", "slide"], independent=["shaft"], **FUNCTIONS[how])
    return b.mechanism([tie], ("base", "shaft"), 7)
