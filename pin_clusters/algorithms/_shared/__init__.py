"""Helpers for several algorithms: argument checks, couplings and kernel calls."""
