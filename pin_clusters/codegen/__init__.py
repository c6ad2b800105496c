"""Code for one robot, from its traces: C for controllers."""

from __future__ import annotations

from ._c import Source, c

__all__ = ["Source", "c"]
