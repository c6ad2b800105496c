"""Versions of this package and its dependencies."""

import platform
from importlib.metadata import version

import numpy as np
import pinocchio as pin

from .._support.version import __version__
from .call_layer import layer


def show_versions() -> None:
    """Print the versions of Python and of the installed packages, and whether calls use the C extension.

    Include this output in bug reports. The command ``pin-clusters info`` prints the same information.

    Example:
        >>> import pin_clusters as pc
        >>> pc.show_versions()
        pin_clusters  ...
        calls         ...
    """
    for name, value in (
        ("pin_clusters", __version__),
        ("calls", layer()),
        ("Python", f"{platform.python_version()}, {platform.platform()}"),
        ("pinocchio", pin.__version__),
        ("NumPy", np.__version__),
        ("Numba", version("numba")),
    ):
        print(f"{name:12}  {value}")  # noqa: T201
