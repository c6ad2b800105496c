"""Kernels of Pinocchio's functions on the spanning tree, with the independent velocities as arguments."""
