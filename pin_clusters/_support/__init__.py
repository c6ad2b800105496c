"""Utilities for all subpackages, which do not depend on robots or models."""
