"""Utilities for all subpackages, independent of the robots and models of this package."""
