"""Kernels compiled ahead of time, for wheels; nothing here runs in an installed package."""
