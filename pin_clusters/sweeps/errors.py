"""What can stop a sweep. Every one of them keeps what is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import PinClustersError

if TYPE_CHECKING:
    from .result import SweepResult


class SweepError(PinClustersError, RuntimeError):
    """A sweep cannot go on: a worker died, or a chunk cannot be sent or brought back.

    Attributes:
        result: What was done before; None if nothing could be started.
    """

    def __init__(self, message: str, result: SweepResult | None = None) -> None:
        super().__init__(message)
        self.result = result


class SweepFolderError(PinClustersError, OSError):
    """A folder cannot be written, or holds something that is not this sweep."""


class SweepInterrupted(KeyboardInterrupt):
    """Ctrl-C: the rest was cancelled. It is a KeyboardInterrupt, so that ``except Exception`` does not swallow it.

    Attributes:
        result: What was done before.
    """

    def __init__(self, message: str, result: SweepResult) -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[type, tuple[str, SweepResult]]:
        """Pickle: an exception would be made again from its message alone."""
        return type(self), (str(self), self.result)
