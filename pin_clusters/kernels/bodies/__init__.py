"""Kernels for a single body or joint: pose, motion, inertia, force, and integration of the configuration."""
