"""What the docstrings of all batches have in common."""

from __future__ import annotations

from .._support.docstrings import stock

documented = stock(
    """
    Args:
        model: Cluster model.
        q: Configurations of the whole tree, shape (N, nq), on the couplings (not checked).
        v: Independent velocities, shape (N, nv), [rad/s] or [m/s].
        a: Independent accelerations, shape (N, nv), [rad/s^2] or [m/s^2].
        tau: Torques of the independent joints, shape (N, nv), [N m] or [N].
        fext: External forces in joint frames, shape (N, njoints, 6), [linear; angular], [N] and [N m].
        threads: How many threads share the rows.
        out: Where to write the result: float64, contiguous, of its shape. It may be one of the arguments.
        status: Where to write what became of each row, shape (N,), int8: 0 it is good, 1 a closed loop is open (by more
            than 1e-6 of its length, or rad), 2 a loop is singular or a joint moves no inertia, 3 the input is not
            finite. Rows that are not good are NaN; without ``status`` a warning says how many loops failed.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong; ``out`` cannot be written to; ``threads`` is no whole number, at least 1.
        TooLargeError: So many rows do not fit into memory; nothing has been allocated.
    """,
)
