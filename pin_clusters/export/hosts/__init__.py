"""Packages that run a robot's functions in their own way: PyTorch, JAX, CasADi."""
