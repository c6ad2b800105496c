"""Code and functions of a robot for use in other programs.

``codegen`` writes C and CUDA code. ``cuda`` runs functions on a GPU. ``hosts`` makes functions for PyTorch, JAX and
CasADi. ``motor_space`` computes motor positions from joint positions and vice versa.
"""
