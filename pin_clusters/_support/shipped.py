"""Location of the data files of the package."""

from importlib import resources
from typing import Any


def robot_models() -> Any:
    """Return the folder of robots and motors, inside the package (wheel) or next to it (source tree), or None."""
    package = resources.files("pin_clusters")
    folders = [folder.joinpath("robot_models") for folder in (package, getattr(package, "parent", None)) if folder]
    return next((folder for folder in folders if folder.is_dir()), None)
