"""Exceptions and warnings that pin_clusters raises.

Every message contains the given value, the expected value, the joint or cluster, and a fix. Each class also derives
from the built-in exception that a Pinocchio user would expect to catch.
"""

from collections.abc import Iterable
from typing import Any

LONGEST, LONGEST_VALUE = 4000, 200
"""Maximum number of characters of a message and of a value in it, because names in files may have any length."""


def shortened(message: str) -> str:
    """Shorten a long message in the middle, because its end contains the fix."""
    return message if len(message) <= LONGEST else f"{message[: LONGEST - 500]} [...] {message[-400:]}"


def shown(value: object) -> str:
    """Return ``repr(value)``, or a replacement if ``repr`` raises an error, as for integers with 5,000 digits."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # __repr__ of a user's class may raise anything, but the message must still be written
        return f"a value of type {type(value).__name__} whose repr() raises an error"
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


class PinClustersError(Exception):
    """Base of all errors raised by this package."""

    def __str__(self) -> str:
        return shortened(super().__str__())


class ModelError(PinClustersError, ValueError):
    """A model or a constraint is invalid."""


class ConstraintError(ModelError):
    """A constraint is invalid or contradicts another constraint."""


class UnsupportedJointError(ModelError):
    """A joint has a type that the constraint or function does not support."""


class InertiaError(ModelError):
    """An inertia is not physically possible, or it is not suitable for a rotor."""


class ExportError(PinClustersError, OSError):
    """A file, or a folder of exported code, cannot be written."""


class UnknownNameError(PinClustersError, LookupError):
    """There is no joint, body, frame, robot or option with the given name."""


class ShapeError(PinClustersError, ValueError):
    """An array has the wrong size."""


class ArgumentTypeError(PinClustersError, TypeError):
    """An argument has the wrong type."""


class ConfigurationError(PinClustersError, ValueError):
    """A configuration violates the constraints of the model, or a quaternion does not have unit norm."""


class _ClusterError(PinClustersError):
    def __init__(self, message: str, cluster: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.cluster = cluster


class BranchLost(_ClusterError, ConfigurationError):  # noqa: N818 (the name describes the event)
    """A closed loop cannot follow a motion without passing through a singular configuration.

    Attributes:
        cluster: Names of the joints of the cluster.
    """


class SimulationError(PinClustersError, ValueError):
    """A simulation has invalid arguments, or it diverged, could not close a loop, or called a function that failed.

    Attributes:
        result: ``SimulationResult`` with the samples up to the error; None if no step was completed.
    """

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result


class DataMismatchError(PinClustersError, ValueError):
    """A data object belongs to another model, or the user's code changed ``model.tree`` or ``data.tree``."""


class SingularClusterError(_ClusterError, ArithmeticError):
    """A motion of the independent joints moves no inertia, or the loops do not determine the dependent joints.

    Attributes:
        cluster: Names of the joints of the cluster.
    """


class RankError(PinClustersError, ArithmeticError):
    """Constraint equations or contacts are redundant; the function requires linearly independent equations.

    Attributes:
        rank: Number of independent equations.
    """

    def __init__(self, message: str, rank: int = 0) -> None:
        super().__init__(message)
        self.rank = rank


class TooLargeError(PinClustersError, MemoryError):
    """The result would not fit into memory; the error is raised before anything is allocated."""


class LoadError(PinClustersError, ValueError):
    """A robot description cannot be read, or contains an element that is not supported."""


class NotAvailableError(PinClustersError, AttributeError):
    """A Pinocchio function has no counterpart in this package, or an optional dependency is missing."""


class NotComputedError(PinClustersError, RuntimeError):
    """A result is read before the function that computes it was called."""


class PinClustersWarning(UserWarning):
    """Some input is ignored or implausible; the results are exact for the input that is not ignored."""


def did_you_mean(name: str, known: Iterable[str], limit: int = 12) -> str:
    """Return a sentence that suggests similar known names, or lists ``limit`` known names if none is similar.

    Returns:
        ``" Did you mean 'x'?"`` or ``" Known names: a, b, ..."``.
    """
    from difflib import get_close_matches

    names = list(known)
    # Names over 200 characters are not compared, because the time grows with the product of both lengths.
    near = get_close_matches(name, [n for n in names if len(n) <= 200], n=3, cutoff=0.6) if len(name) <= 200 else []
    if near:
        return " Did you mean " + " or ".join(repr(n) for n in near) + "?"
    listed = ", ".join(names[:limit]) + (", ..." if len(names) > limit else "")
    return f" Known names: {listed}." if names else ""
