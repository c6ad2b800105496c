"""The versions of this package and of the packages that it needs."""

import platform
from importlib.metadata import version

import numpy as np
import pinocchio as pin

from .._support.version import __version__
from .call_layer import layer


def show_versions() -> None:
    """Print the versions of Python and of the packages, and whether the C extension takes the calls.

    The text belongs in a report of a problem; ``pin-clusters info`` prints it on the command line.

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
