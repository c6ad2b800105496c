"""The version, below all that names it."""

__version__ = "0.2.0"
__raw_version__ = __version__  # Pinocchio has both names
