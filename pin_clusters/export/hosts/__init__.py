"""Functions of a robot for use in PyTorch, JAX and CasADi."""
