"""Exceptions and warnings of pin_clusters.

Every message says what was given, what was expected, which joint or cluster is meant, and the cure.
Each class also derives from the built-in exception that a Pinocchio user would expect to catch.
"""

from collections.abc import Iterable
from typing import Any

LONGEST, LONGEST_VALUE = 4000, 200
"""Letters of a message, and of a value in it; names and numbers in files may be of any length."""


def shortened(message: str) -> str:
    """Return a message, cut in its middle if it is longer than a page; its end says the cure."""
    return message if len(message) <= LONGEST else f"{message[: LONGEST - 500]} [...] {message[-400:]}"


def shown(value: object) -> str:
    """Return ``repr`` of a value for a message, also for values that ``repr`` refuses: integers of 5,000 digits."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # an own __repr__ may raise anything, and the message must still be written
        return f"a value of type {type(value).__name__} that repr() cannot write"
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


class PinClustersError(Exception):
    """Base of all errors raised by this package."""

    def __str__(self) -> str:
        return shortened(super().__str__())


class ModelError(PinClustersError, ValueError):
    """A model or a constraint is ill-formed."""


class ConstraintError(ModelError):
    """A constraint is ill-formed or contradicts another one."""


class UnsupportedJointError(ModelError):
    """A joint type that cannot take the part it was given."""


class InertiaError(ModelError):
    """An inertia is not physical, or not what a rotor needs."""


class ExportError(PinClustersError, OSError):
    """A file, or a folder of exported code, cannot be written."""


class UnknownNameError(PinClustersError, LookupError):
    """A joint, body, frame or robot of that name does not exist."""


class ShapeError(PinClustersError, ValueError):
    """An array has the wrong size."""


class ArgumentTypeError(PinClustersError, TypeError):
    """An argument has the wrong type."""


class ConfigurationError(PinClustersError, ValueError):
    """A configuration is not on the manifold of the model (couplings or unit norms)."""


class _ClusterError(PinClustersError):
    def __init__(self, message: str, cluster: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.cluster = cluster


class BranchLost(_ClusterError, ConfigurationError):  # noqa: N818 - says what happened
    """A closed loop cannot follow a motion without passing a singular pose.

    Attributes:
        cluster: Names of the joints of the cluster.
    """


class SimulationError(PinClustersError, ValueError):
    """A simulation cannot be run as asked, or stopped before its end: it diverged, or a loop or a function failed.

    Attributes:
        result: What was computed so far, a ``SimulationResult``; None if it stopped before the first step.
    """

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result


class DataMismatchError(PinClustersError, ValueError):
    """A data object belongs to another model, or the tree was changed behind the model's back."""


class SingularClusterError(_ClusterError, ArithmeticError):
    """The inertia seen by the independent joints of a cluster is singular, or its loops leave dependent joints free.

    Attributes:
        cluster: Names of the joints of the cluster.
    """


class RankError(PinClustersError, ArithmeticError):
    """Rows that should be independent are not.

    Attributes:
        rank: How many of them are.
    """

    def __init__(self, message: str, rank: int = 0) -> None:
        super().__init__(message)
        self.rank = rank


class TooLargeError(PinClustersError, MemoryError):
    """What is asked for does not fit into memory; said before anything is allocated."""


class LoadError(PinClustersError, ValueError):
    """A robot description cannot be read, or holds something that cannot be honoured."""


class NotAvailableError(PinClustersError, AttributeError):
    """A Pinocchio function that has no cluster version, or a missing optional dependency."""


class NotComputedError(PinClustersError, RuntimeError):
    """A result was asked for before the function that makes it was called."""


class PinClustersWarning(UserWarning):
    """Something in the input was ignored or looks doubtful; the result is still right."""


def did_you_mean(name: str, known: Iterable[str], limit: int = 12) -> str:
    """Return a sentence that names the known names nearest to one, or lists at most ``limit`` if none is near.

    Returns:
        ``" Did you mean 'x'?"`` or ``" Known names: a, b, ..."``.
    """
    from difflib import get_close_matches

    names = list(known)
    # comparing takes the product of two lengths, and no misspelt name has so many letters
    near = get_close_matches(name, [n for n in names if len(n) <= 200], n=3, cutoff=0.6) if len(name) <= 200 else []
    if near:
        return " Did you mean " + " or ".join(repr(n) for n in near) + "?"
    listed = ", ".join(names[:limit]) + (", ..." if len(names) > limit else "")
    return f" Known names: {listed}." if names else ""
