"""Functions of a robot for PyTorch, JAX and CasADi."""
