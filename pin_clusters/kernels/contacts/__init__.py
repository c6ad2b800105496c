"""Kernels for contacts as bilateral constraints: constrained dynamics, impacts, Jacobians and derivatives."""
