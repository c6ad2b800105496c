"""Comparisons of numbers; traced code uses other implementations of these functions."""

from ...compiler.numba_jit.jit import inline


@inline
def if_less(a, b, x, y):
    return x if a < b else y


@inline
def may_be_less(x, limit):
    """Return whether x < limit. For a traced expression, return True, because both branches are recorded."""
    return x < limit


@inline
def too_small(x, limit):
    """Return whether x <= limit. For a traced expression, return False, because its value is checked at run time."""
    return x <= limit
