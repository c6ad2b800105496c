"""The C extension; compiler/native/extension.py imports it."""

from typing import Final

INTERFACE: Final[int]
