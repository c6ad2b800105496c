"""The version number, in a module without imports."""

__version__ = "0.2.0"
__raw_version__ = __version__  # Pinocchio defines both names
