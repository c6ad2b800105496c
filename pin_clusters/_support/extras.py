"""Packages that parts of this one stand on, and that most users do not need: imported when they are used."""

import importlib
from types import ModuleType

from ..errors import NotAvailableError

NAMES = {"casadi": "CasADi", "crocoddyl": "Crocoddyl", "jax": "JAX", "pink": "Pink", "torch": "PyTorch"}
"""Modules of this package that open a door to another one of that name, and how that one is spelt."""
_EXTRAS = {"crocoddyl": "control", "pink": "control"}
_WHEELS = {"cuda": "'cuda-core[cu13]'", "dask": "distributed", "pink": "pin-pink quadprog", "viz": "meshcat"}


def cure(name: str) -> str:
    """Return what installs an extra, or the package behind a door: wherever one is, and from a checkout."""
    wheels, extra = _WHEELS.get(name, name), _EXTRAS.get(name, name)
    return f"Install it: pip install {wheels} (from a checkout of this package also pip install '.[{extra}]')."


def package(name: str) -> ModuleType:
    """Return the package behind a door.

    Args:
        name: Of it.

    Raises:
        NotAvailableError: It cannot be imported.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise NotAvailableError(
            f"pc.{name} needs {NAMES[name]}, which cannot be imported ({error}). {cure(name)}"
        ) from None
