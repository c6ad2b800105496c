"""Packages that parts of this one stand on, and that most users do not need: imported when they are used."""

import importlib
from types import ModuleType

from ..errors import NotAvailableError

NAMES = {"casadi": "CasADi", "jax": "JAX", "torch": "PyTorch"}
"""Modules of this package that open a door to another one of that name, and how that one is spelt."""


def package(name: str) -> ModuleType:
    """Return the package behind a door.

    Args:
        name: Of it, and of the extra that installs it.

    Raises:
        NotAvailableError: It cannot be imported.

    Example:
        >>> from pin_clusters._support import extras
        >>> sorted(extras.NAMES)
        ['casadi', 'jax', 'torch']
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise NotAvailableError(
            f"pc.{name} needs {NAMES[name]}, which cannot be imported ({error}). "
            f"Install it: pip install 'pin-clusters[{name}]'"
        ) from None
