"""Sine and cosine without branches or calls, which packs of numbers do not allow.

The nearest multiple of pi/2 is subtracted in three parts (Cody and Waite 1980). The polynomials for double and for
float are taken from the Cephes library (S. Moshier); ``angles.sincos`` of the kernels uses the polynomials for double.
The error is one unit in the last place for angles below 1e6 (float: 8e3) and grows slowly for larger angles. For angles
above 2^50 (float: 2^22), the nearest multiple cannot be determined. The result is then NaN or, if the argument ``seen``
is true, arbitrary. For inf and NaN, it is NaN.
"""

from collections.abc import Callable
from typing import NamedTuple

from .kinds import Kind


class _Numbers(NamedTuple):
    huge: float  # If an angle is too large, its product with this number overflows to infinity.
    round: float  # Adding this number to a value and subtracting it again rounds the value to an integer.
    parts: tuple[float, float, float]  # pi/2 in three parts [rad]
    sine: tuple[float, ...]
    cosine: tuple[float, ...]


TWO_OVER_PI = 0.63661977236758134308
NUMBERS = {
    "double": _Numbers(
        2.0 ** (1024 - 50),
        6755399441055744.0,  # 1.5 * 2^52; a sum with this number is rounded to an integer
        (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21),
        (1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
         -1.98412698298579493134e-04, 8.33333333332248946124e-03, -1.66666666666666324348e-01),
        (-1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
         2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02),
    ),
    "float": _Numbers(
        2.0 ** (128 - 22),
        12582912.0,
        (1.5703125, 4.837512969970703125e-4, 7.54978995489188216e-8),
        (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1),
        (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2),
    ),
}  # fmt: skip


def write_sine_and_cosine(new: Callable[[str], str], kind: Kind, x: str, *, seen: bool = False) -> tuple[str, str]:
    """Write code for the sine and cosine of x [rad]; return both LLVM names. ``seen`` permits any result for huge x."""
    numbers, t, c = NUMBERS[kind.real], kind.name, kind.constant

    def op(name: str, a: str, b: str) -> str:
        return new(f"{name} contract {t} {a}, {b}")

    def polynomial(coefficients: tuple[float, ...], z: str) -> str:
        y = c(coefficients[0])
        for a in coefficients[1:]:
            y = op("fadd", op("fmul", y, z), c(a))
        return y

    # This sum must round to an integer, so "contract" is not allowed here.
    shifted = new(f"fadd {t} {op('fmul', x, c(TWO_OVER_PI))}, {c(numbers.round)}")
    n = new(f"fsub {t} {shifted}, {c(numbers.round)}")
    r = x if seen else op("fadd", x, op("fmul", op("fmul", x, c(numbers.huge)), c(0.0)))
    for part in numbers.parts:
        r = op("fsub", r, op("fmul", n, c(part)))
    z = op("fmul", r, r)
    sine = op("fadd", r, op("fmul", op("fmul", r, z), polynomial(numbers.sine, z)))
    tail = op("fsub", op("fmul", z, c(0.5)), op("fmul", op("fmul", z, z), polynomial(numbers.cosine, z)))
    cosine = op("fsub", c(1.0), tail)
    # The last two bits of the rounded number encode the quadrant.
    w, whole_one = kind.whole, kind.whole_constant(1)
    quadrant = new(f"bitcast {t} {shifted} to {w}")
    odd = new(f"icmp ne {w} {new(f'and {w} {quadrant}, {whole_one}')}, {kind.whole_constant(0)}")
    results = []
    for first, second, turn in ((sine, cosine, quadrant), (cosine, sine, new(f"add {w} {quadrant}, {whole_one}"))):
        magnitude = new(f"select {kind.truth} {odd}, {t} {second}, {t} {first}")
        second_bit = new(f"and {w} {turn}, {kind.whole_constant(2)}")
        sign = new(f"shl {w} {second_bit}, {kind.whole_constant(8 * kind.size - 2)}")
        bits = new(f"xor {w} {new(f'bitcast {t} {magnitude} to {w}')}, {sign}")
        results.append(new(f"bitcast {w} {bits} to {t}"))
    return results[0], results[1]
