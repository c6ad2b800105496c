"""Kernels for Pinocchio's functions on the spanning tree; their arguments are independent velocities."""
