"""The C extension; _engine/native/extension.py imports it."""

from typing import Final

INTERFACE: Final[int]
