"""Choices by comparison of numbers; the tracer replaces these functions by its own."""

from ...compiler.numba_jit.jit import inline


@inline
def if_less(a, b, x, y):
    """Return x if a < b, else y."""
    return x if a < b else y


@inline
def may_be_less(x, limit):
    """Return whether x < limit; True for a traced expression, of which both branches are recorded."""
    return x < limit


@inline
def too_small(x, limit):
    """Return whether x <= limit; False for a traced expression, whose value is checked once it is known."""
    return x <= limit
