"""Where what ships with the package lies."""

from importlib import resources
from typing import Any


def robot_models() -> Any:
    """Return the folder of robots and motors: inside the package in a wheel, beside it in a source tree; or None."""
    package = resources.files("pin_clusters")
    places = [place.joinpath("robot_models") for place in (package, getattr(package, "parent", None)) if place]
    return next((place for place in places if place.is_dir()), None)
