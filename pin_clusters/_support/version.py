"""The version, below all that names it."""

__version__ = "0.1.0"
