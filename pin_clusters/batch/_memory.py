"""Whether what a batch needs fits into memory: asked before anything is allocated."""

from .._support.memory import available
from ..errors import TooLargeError

_SMALL = 2**26
"""[bytes] of which nobody need ask."""


def check(name: str, rows: int, needed: int) -> None:
    """Refuse what does not fit.

    Args:
        name: Of the function.
        rows: How many there are.
        needed: [bytes].

    Raises:
        TooLargeError: There is not so much.
    """
    if needed <= _SMALL:
        return
    there = available()
    if there is not None and needed > there:
        raise TooLargeError(
            f"pc.batch.{name}: {rows} rows need {needed} bytes ({needed / 2**30:.1f} GiB) for results, copies of what "
            f"is given and room, and {there} ({there / 2**30:.1f} GiB) are free. Take at most "
            f"{max(1, rows * there // needed)} rows at a time, and pass out= to reuse the room."
        )
