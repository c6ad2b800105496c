"""Where what ships with the package lies: inside it in a wheel, beside it in a source tree (an editable install)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Traversable


def robot_models() -> "Traversable | None":
    """Return the folder of robots and motors, None if it is missing."""
    from importlib import resources

    package = resources.files("pin_clusters")
    places = [place.joinpath("robot_models") for place in (package, getattr(package, "parent", None)) if place]
    return next((place for place in places if place.is_dir()), None)
