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


def bends(x: np.ndarray) -> np.ndarray:
    s, c = np.sin(x[0]), np.cos(x[0])
    wave, root = 0.05 * np.sin(2.0 * x[0] + x[1]), np.sqrt(1.0 - 0.09 * s * s)
    H = np.zeros((2, 3, 3))
    H[0, 0, 0] = 0.2 * s + 4.0 * wave
    H[0, 0, 1] = H[0, 1, 0] = 2.0 * wave
    H[0, 1, 1] = wave
    H[1, 0, 0] = 0.3 * c + 0.09 * (c * c - s * s) / root + (0.09 * s * c) ** 2 / root**3
    H[1, 1, 2] = H[1, 2, 1] = 0.1
    return H


def twists(x: np.ndarray) -> np.ndarray:
    s, c = np.sin(x[0]), np.cos(x[0])
    wave, root = 0.05 * np.cos(2.0 * x[0] + x[1]), np.sqrt(1.0 - 0.09 * s * s)
    T = np.zeros((2, 3, 3, 3))
    for turns in np.ndindex(2, 2, 2):
        T[(0, *turns)] = wave * 2.0 ** (3 - sum(turns))
    T[0, 0, 0, 0] += 0.2 * c
    slope, double = 0.09 * s * c, 0.09 * (c * c - s * s)
    T[1, 0, 0, 0] = -0.3 * s - 0.36 * s * c / root + 3.0 * slope * double / root**3 + 3.0 * slope**3 / root**5
    return T


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


@numba.cfunc("void(CPointer(float64), CPointer(float64))")
def compiled_bends(x: Any, out: Any) -> None:
    s, c = np.sin(x[0]), np.cos(x[0])
    wave, root = 0.05 * np.sin(2.0 * x[0] + x[1]), np.sqrt(1.0 - 0.09 * s * s)
    for i in range(18):
        out[i] = 0.0
    out[0] = 0.2 * s + 4.0 * wave
    out[1] = out[3] = 2.0 * wave
    out[4] = wave
    out[9] = 0.3 * c + 0.09 * (c * c - s * s) / root + (0.09 * s * c) ** 2 / root**3
    out[14] = out[16] = 0.1


@numba.cfunc("void(CPointer(float64), CPointer(float64))")
def compiled_twists(x: Any, out: Any) -> None:
    s, c = np.sin(x[0]), np.cos(x[0])
    wave, root = 0.05 * np.cos(2.0 * x[0] + x[1]), np.sqrt(1.0 - 0.09 * s * s)
    slope, double = 0.09 * s * c, 0.09 * (c * c - s * s)
    for i in range(54):
        out[i] = 0.0
    for i in range(2):
        for j in range(2):
            for k in range(2):
                out[9 * i + 3 * j + k] = wave * 2.0 ** (3 - i - j - k)
    out[0] += 0.2 * c
    out[27] = -0.3 * s - 0.36 * s * c / root + 3.0 * slope * double / root**3 + 3.0 * slope**3 / root**5


COMPILED: dict[str, Any] = {"phi": compiled, "jacobian": compiled_slopes, "size": 2}
PYTHON: dict[str, Any] = {"phi": real_cam_and_slide, "jacobian": slopes}
FUNCTIONS: dict[str, dict[str, Any]] = {
    "Python": {"phi": cam_and_slide},
    "Python, no complex numbers": {"phi": real_cam_and_slide},
    "Python, Jacobian": PYTHON,
    "Python, Hessian": PYTHON | {"hessian": bends},
    "Python, third": PYTHON | {"hessian": bends, "third": twists},
    "compiled": {"phi": compiled, "size": 2},
    "compiled, Jacobian": COMPILED,
    "compiled, Hessian": COMPILED | {"hessian": compiled_bends},
    "compiled, third": COMPILED | {"hessian": compiled_bends, "third": compiled_twists},
}


def mechanism(rng: np.random.Generator, how: str) -> mechanisms.Mechanism:
    b = mechanisms.Builder(rng)
    b.add("base", None, pin.JointModelFreeFlyer(), np.zeros(3))
    b.add("shaft", "base", trees.unit(rng), trees.placement(rng), 0.4)
    b.add("lever", "base", trees.unit(rng), trees.placement(rng), 0.1)
    b.add("slide", "shaft", pin.JointModelPrismaticUnaligned(trees.unit(rng)), trees.placement(rng), 1.2)
    tie = pc.Coupling(["shaft", "lever", "slide"], independent=["shaft"], **FUNCTIONS[how])
    return b.mechanism([tie], ("base", "shaft"), 7)
