"""Kernels of one body or joint: pose, motion, inertia, force, and increments of the configuration."""
