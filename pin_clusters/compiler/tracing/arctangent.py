"""The angle of a point in the plane, computed only with arithmetic and selections, which every language supports."""

import math
from functools import reduce

from .expressions import Number, select

# Source: Cephes (S. Moshier). arctan x = x + x z P(z) / Q(z) with z = x^2 and |x| <= 0.66 has an error of one ulp.
_P = (
    -8.750608600031904122785e-1,
    -1.615753718733365076637e1,
    -7.500855792314704667340e1,
    -1.228866684490136173410e2,
    -6.485021904942025371773e1,
)
_Q = (
    1.0,
    2.485846490142306297962e1,
    1.650270098316988542046e2,
    4.328810604912902668951e2,
    4.853903996359136964868e2,
    1.945506571482613964425e2,
)


def arctan2(y: Number, x: Number) -> Number:
    """Compute the angle of the point (x, y) in the interval (-pi, pi], [rad]; at the origin, return NaN."""
    up, right = select(y, 0.0, -y, y), select(x, 0.0, -x, x)
    low, high = select(up, right, up, right), select(up, right, right, up)
    steep = 0.66 * high  # For low > steep, arctan(low / high) = pi/4 + arctan((low - high) / (low + high)).
    t = select(steep, low, low - high, low) / select(steep, low, low + high, high)
    top, bottom = (reduce(lambda total, c: total * (t * t) + c, coefficients) for coefficients in (_P, _Q))
    angle = t + t * (t * t * top / bottom) + select(steep, low, 0.25 * math.pi, 0.0)
    angle = select(right, up, 0.5 * math.pi - angle, angle)
    angle = select(x, 0.0, math.pi - angle, angle)
    return select(y, 0.0, -angle, angle)
