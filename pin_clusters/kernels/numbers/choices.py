"""What depends on which number is less; the tracer has functions of its own in the place of these."""

from ...compiler.numba_jit.jit import inline


@inline
def if_less(a, b, x, y):
    """Return x where a < b, else y."""
    return x if a < b else y


@inline
def may_be_less(x, limit):
    """Return whether x < limit; True of an expression: both ways are written down, and chosen from later."""
    return x < limit


@inline
def too_small(x, limit):
    """Return whether x <= limit; False of an expression, whose value is looked at where it is known."""
    return x <= limit
