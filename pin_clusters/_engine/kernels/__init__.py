"""Compiled kernels: flat arrays in, flat arrays out. Nothing here knows Pinocchio."""
