"""Robots as code for other programs.

``codegen`` writes C and CUDA, ``cuda`` runs programs on a GPU, ``hosts`` makes functions of PyTorch, JAX and CasADi,
and ``motor_space`` computes motor positions from joint positions and back.
"""
