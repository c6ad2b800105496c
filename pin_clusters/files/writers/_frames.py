"""Where on the tree a frame of a constraint is."""

from __future__ import annotations

from typing import Any, NamedTuple

import pinocchio as pin

from ...constraints._frames import resolve_frame


class Place(NamedTuple):
    """A frame on a body."""

    joint: int  # id of the joint that moves the body; 0 is the universe
    placement: pin.SE3  # in the frame of that joint


def place_of(tree: pin.Model, frame: Any, owner: str) -> Place:
    """Return where a frame is: a name, or a name and a placement, as constraints keep them."""
    return Place(*resolve_frame(tree, frame, owner))
